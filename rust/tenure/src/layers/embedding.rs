//! Embeddings of tokens and of positions.

use std::panic::Location;

use crate::dtype::{Float, Real, index::SparseIndex};
use crate::error::{Error, Result};
use crate::program::{Graph, Num, Size, Traced};

/// The rows of a table at these indices: of a table `[rows, width]` and indices of any shape, the
/// axes of the indices and then the width.
///
/// The row of the padding, where there is one, is zeros instead of the table's, and the table gets
/// no gradient from it. Without one, this is [`take`](Traced::take). The gradient of the table has
/// the shape of the table.
///
/// An index that is no row is an error of the run. Refuses `InvalidArgument` for a padding that is
/// no row of the table.
///
/// ```
/// use tenure::{Program, Tensor, layers::embedding};
///
/// let table = Tensor::from([[9.0_f32, 9.0], [0.5, 1.0], [1.5, 2.0]]).into_shared();
/// let program = Program::trace(|graph| {
///     let words = graph.input::<i64>((graph.extent("texts", 8), graph.extent("words", 128)));
///     graph.program((words,), embedding(graph.constant(&table), words, Some(0)))
/// })?;
/// assert_eq!(program.run((&[[2, 1, 0]],))?, [[[1.5, 2.0], [0.5, 1.0], [0.0, 0.0]]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
#[doc(alias("lookup", "padding_idx"))]
pub fn embedding<'g, T: Float, I: SparseIndex>(
    table: Traced<'g, T>,
    indices: Traced<'g, I>,
    padding: Option<usize>,
) -> Traced<'g, T> {
    let rows = table.take(0, indices);
    let Some(padding) = padding else { return rows };
    let row_count = table.largest_shape().first().copied().unwrap_or(0);
    match I::from_usize(padding).filter(|_| padding < row_count) {
        Some(padding) => {
            let padding = table.graph().copy_constant(&[padding]).reshape(());
            indices.ne(padding).unsqueeze(indices.rank()).select(rows, Num(0.0))
        }
        None => {
            let why = format!("the padding is {padding} but the table has {row_count} rows");
            table.graph().refuse_call("embedding", Location::caller(), Error::invalid(why));
            rows
        }
    }
}

/// The numbers 0, 1, .. of as many positions.
///
/// ```
/// use tenure::{Program, layers::positions};
///
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f32>((graph.extent("words", 128), 2));
///     graph.program((x,), positions(graph, x.size(0)))
/// })?;
/// assert_eq!(program.run((&[[0.0; 2]; 3],))?, [0, 1, 2]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
#[doc(alias("arange", "iota", "range"))]
pub fn positions<'g>(graph: Graph<'g>, count: impl Into<Size<'g>>) -> Traced<'g, i64> {
    graph.copy_constant(&[1_i64]).broadcast([count.into()]).cumsum(0) - 1
}

/// The elements that a rotation turns together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pairs {
    /// Element i of the first half and element i of the second one: as GPT-NeoX and the
    /// implementation of Llama in Transformers have it.
    #[default]
    Halves,
    /// Elements 2i and 2i + 1: as the paper, GPT-J and the weights that Meta publishes have it.
    /// ONNX says `interleaved`.
    Adjacent,
}

/// Options of [`rotary`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotary {
    base: f64,
    pairs: Pairs,
}

impl Default for Rotary {
    fn default() -> Self {
        Rotary::new()
    }
}

impl Rotary {
    /// A base of 10,000, and pairs of [halves](Pairs::Halves).
    pub const fn new() -> Self {
        Rotary { base: 10_000.0, pairs: Pairs::Halves }
    }

    /// Pair i of n turns by the position times `base^(-i / n)`. Above 0 and finite.
    #[must_use]
    #[doc(alias = "theta")]
    pub const fn base(mut self, base: f64) -> Self {
        self.base = base;
        self
    }

    /// The elements that are turned together.
    #[must_use]
    pub const fn pairs(mut self, pairs: Pairs) -> Self {
        self.pairs = pairs;
        self
    }

    /// The angles of position 1.
    fn angles(self, width: usize) -> Result<Vec<f64>> {
        if !(self.base > 0.0 && self.base.is_finite()) {
            let base = self.base;
            return Err(Error::invalid(format!(
                "the base is {base} but must be above 0 and finite"
            )));
        }
        if width % 2 != 0 {
            return Err(Error::invalid(format!("the width is {width} but must be even")));
        }
        let angle = |pair| self.base.powf(-2.0 * pair as f64 / width as f64);
        Ok((0..width / 2).map(angle).collect())
    }
}

/// Rotary position embeddings (Su et al., "RoFormer", 2021): pairs of elements along the last axis
/// of `x`, turned by angles that grow with the position. Queries and keys are turned before
/// [`attention`](fn@super::attention).
///
/// The positions broadcast to the axes of `x` but the last: `[words]` for an `x` of
/// `[.., heads, words, width]`, and `[batch, 1, words]` where each text has positions of its own.
/// The angles are computed in f64. To turn a part of the width, slice it off and join it again.
///
/// Refuses `InvalidArgument` for an odd width and for a base that is not above 0 and finite.
///
/// ```
/// use tenure::Program;
/// use tenure::layers::{Pairs, Rotary, positions, rotary};
///
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f32>((graph.extent("words", 128), 4));
///     let places = positions(graph, x.size(0));
///     graph.program((x,), rotary(x, places, Rotary::new().pairs(Pairs::Adjacent)))
/// })?;
/// let turned = program.run((&[[1.0, 0.0, 0.0, 1.0]; 2],))?;
/// let (near, far) = (1.0_f32, 0.01_f32);
/// let expected = [1.0, 0.0, 0.0, 1.0, near.cos(), near.sin(), -far.sin(), far.cos()];
/// assert!(turned.to_vec().iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6));
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
#[doc(alias("rope", "rotary_embedding"))]
pub fn rotary<'g, T: Float + Real, I: SparseIndex + Real>(
    x: Traced<'g, T>,
    positions: Traced<'g, I>,
    with: Rotary,
) -> Traced<'g, T> {
    let (graph, rank) = (x.graph(), x.rank());
    let width = x.largest_shape().last().copied().unwrap_or(1);
    let angles = match with.angles(width) {
        Ok(angles) => graph.copy_constant(&angles),
        Err(error) => {
            graph.refuse_call("rotary", Location::caller(), error);
            return x;
        }
    };
    let angles = positions.unsqueeze(positions.rank()).cast::<f64>() * angles;
    let (cos, sin) = (angles.cos().cast::<T>(), angles.sin().cast::<T>());
    let half = width / 2;
    match with.pairs {
        Pairs::Halves => {
            let (a, b) = (x.slice(-1, 0, half), x.slice(-1, half, width));
            graph.concat([a * cos - b * sin, b * cos + a * sin], -1)
        }
        Pairs::Adjacent => {
            let (a, b) = (x.slice_step(-1, 0, width, 2), x.slice_step(-1, 1, width, 2));
            let turned = [a * cos - b * sin, b * cos + a * sin];
            let turned = turned.map(|part| part.unsqueeze(rank));
            graph.concat(turned, rank as isize).reshape(x.sizes())
        }
    }
}
