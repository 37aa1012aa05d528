//! Attention.

use std::panic::Location;

use super::{dropout, positions};
use crate::dtype::{Bool8, Float};
use crate::error::{Error, Result};
use crate::program::{Num, Size, Traced, TracedGenerator};

/// Options of [`attention`]: masks, the scale of scores, and dropout.
#[derive(Clone, Copy, Debug)]
pub struct Attention<'g, T: Float> {
    mask: Option<Traced<'g, Bool8>>,
    bias: Option<Traced<'g, T>>,
    is_causal: bool,
    scale: Option<f64>,
    dropout: Option<(f64, TracedGenerator<'g>)>,
}

impl<T: Float> Default for Attention<'_, T> {
    fn default() -> Self {
        Attention::new()
    }
}

impl<'g, T: Float> Attention<'g, T> {
    /// Without masks and dropout; the scale is one over the root of the last extent of the queries.
    pub const fn new() -> Self {
        Attention { mask: None, bias: None, is_causal: false, scale: None, dropout: None }
    }

    /// Which keys each query sees: true where it does. The shape broadcasts to
    /// `[.., heads, queries, keys]`. The result of a query that sees no key is 0, and so are the
    /// gradients that come from it.
    #[must_use]
    pub const fn mask(mut self, mask: Traced<'g, Bool8>) -> Self {
        self.mask = Some(mask);
        self
    }

    /// Added to the scores. The shape broadcasts to `[.., heads, queries, keys]`.
    #[must_use]
    pub const fn bias(mut self, bias: Traced<'g, T>) -> Self {
        self.bias = Some(bias);
        self
    }

    /// Each query sees the keys up to its own position. The last query is at the position of the
    /// last key: with more keys than queries, the first keys are those of earlier calls. Fewer keys
    /// than queries are refused.
    #[must_use]
    pub const fn causal(mut self) -> Self {
        self.is_causal = true;
        self
    }

    /// Multiplies the scores, before the bias is added.
    #[must_use]
    pub const fn scale(mut self, scale: f64) -> Self {
        self.scale = Some(scale);
        self
    }

    /// [Drops](fn@dropout) weights of values with this probability.
    #[must_use]
    pub const fn dropout(mut self, probability: f64, generator: TracedGenerator<'g>) -> Self {
        self.dropout = Some((probability, generator));
        self
    }

    /// The weights of values: a softmax of the scores of the keys that are seen.
    #[track_caller]
    fn weights(self, scores: Traced<'g, T>) -> Traced<'g, T> {
        let scores = match self.bias {
            Some(bias) => scores + bias,
            None => scores,
        };
        let weights = match (self.mask, self.is_causal) {
            (None, false) => scores.softmax(-1),
            (None, true) => seen(causal(scores), scores),
            // The softmax of no key is NaN.
            (Some(mask), false) => mask.select(seen(mask, scores), Num(0.0)),
            (Some(mask), true) => {
                let mask = mask.logical_and(causal(scores));
                mask.select(seen(mask, scores), Num(0.0))
            }
        };
        match self.dropout {
            Some((probability, generator)) => dropout(weights, probability, generator),
            None => weights,
        }
    }
}

/// The softmax over the keys that a mask leaves.
#[track_caller]
fn seen<'g, T: Float>(mask: Traced<'g, Bool8>, scores: Traced<'g, T>) -> Traced<'g, T> {
    mask.select(scores, Num(f64::NEG_INFINITY)).softmax(-1)
}

/// Which keys are not behind a query's position.
#[track_caller]
fn causal<'g, T: Float>(scores: Traced<'g, T>) -> Traced<'g, Bool8> {
    let (graph, queries, keys) = (scores.graph(), scores.size(-2), scores.size(-1));
    // Where there are fewer keys than queries, the extent is refused.
    let before = graph.size_value(keys - queries);
    positions(graph, keys).le(positions(graph, queries).reshape((queries, 1)) + before)
}

/// Scaled dot-product attention (Vaswani et al., 2017): `softmax(scale * query * key^T) * value`.
///
/// The query is `[.., heads, queries, width]`, the key `[.., key heads, keys, width]` and the value
/// `[.., key heads, keys, value width]`; the result is `[.., heads, queries, value width]`. Adjacent
/// heads share a key head where there are fewer of those, whose number divides that of the heads:
/// grouped-query attention (Ainslie et al., 2023), and multi-query attention for one. With an equal
/// number of heads, the axes in front broadcast. Values of rank 2 have one head and no axis for it.
///
/// The scores are values of the graph: their memory grows with the product of queries and keys, and
/// [`Graph::checkpoint`](crate::Graph::checkpoint) computes them again for the gradients. `f16` and
/// `bf16` round scores and weights.
///
/// Refuses `InvalidArgument` for shapes that do not agree, a scale that is not finite, and causal
/// attention to fewer keys than queries, which is also refused in a run.
///
/// ```
/// use tenure::Program;
/// use tenure::layers::{Attention, attention};
///
/// let program = Program::trace(|graph| {
///     let words = graph.extent("words", 128);
///     let query = graph.input::<f32>((4, words, 8)); // 4 heads
///     let key = graph.input::<f32>((2, words, 8)); // each for 2 of them
///     let value = graph.input::<f32>((2, words, 1));
///     let mixed = attention(query, key, value, Attention::new().causal());
///     graph.program((query, key, value), mixed)
/// })?;
/// let (query, key) = ([[[0.0; 8]; 3]; 4], [[[1.0; 8]; 3]; 2]);
/// let value = [[[3.0], [5.0], [7.0]], [[0.0], [1.0], [2.0]]];
/// let mixed = program.run((&query, &key, &value))?;
/// assert_eq!(mixed.to_vec(), [3.0, 4.0, 5.0, 3.0, 4.0, 5.0, 0.0, 0.5, 1.0, 0.0, 0.5, 1.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
#[doc(alias("scaled_dot_product_attention", "sdpa", "multi_head", "grouped_query"))]
pub fn attention<'g, T: Float>(
    query: Traced<'g, T>,
    key: Traced<'g, T>,
    value: Traced<'g, T>,
    with: Attention<'g, T>,
) -> Traced<'g, T> {
    let shared = match checked(query, key, value, with) {
        Ok(shared) => shared,
        Err(error) => {
            query.graph().refuse_call("attention", Location::caller(), error);
            return query;
        }
    };
    let width = query.largest_shape().last().copied().unwrap_or(1);
    let scale = with.scale.unwrap_or(1.0 / (width as f64).sqrt());
    // Queries of heads that share a key are rows of one product.
    let grouped = group(query * Num(scale), shared);
    let scores = grouped.matmul(key.transpose(-1, -2));
    let rows = query.size(-2);
    let weights = with.weights(ungroup(scores, shared, rows));
    ungroup(group(weights, shared).matmul(value), shared, rows)
}

/// The number of heads that share a key.
fn checked<'g, T: Float>(
    query: Traced<'g, T>,
    key: Traced<'g, T>,
    value: Traced<'g, T>,
    with: Attention<'g, T>,
) -> Result<usize> {
    if let Some(scale) = with.scale.filter(|scale| !scale.is_finite()) {
        return Err(Error::invalid(format!("the scale is {scale} but must be finite")));
    }
    let shapes = [query, key, value].map(Traced::largest_shape);
    let [rank, key_rank, value_rank] = shapes.each_ref().map(Vec::len);
    if rank < 2 || key_rank != rank || value_rank != rank {
        return Err(Error::invalid(format!(
            "query, key and value have ranks {rank}, {key_rank} and {value_rank} but must have one \
             rank of at least 2"
        )));
    }
    if rank == 2 {
        return Ok(1);
    }
    let [heads, key_heads, value_heads] = shapes.map(|shape| shape[rank - 3]);
    if key_heads != value_heads || key_heads == 0 || heads % key_heads != 0 {
        return Err(Error::invalid(format!(
            "query, key and value have {heads}, {key_heads} and {value_heads} heads but those of \
             key and value must be equal, and divide those of query"
        )));
    }
    Ok(heads / key_heads)
}

/// `[.., heads, rows, width]` as `[.., key heads, shared * rows, width]`.
#[track_caller]
fn group<T: Float>(a: Traced<'_, T>, shared: usize) -> Traced<'_, T> {
    // A value after a refusal has no axes.
    let Some(heads) = a.rank().checked_sub(3).filter(|_| shared > 1) else { return a };
    let mut sizes = a.sizes();
    sizes[heads] = (a.largest_shape()[heads] / shared).into();
    sizes[heads + 1] = sizes[heads + 1] * shared;
    a.reshape(sizes)
}

/// The opposite of [`group`].
#[track_caller]
fn ungroup<'g, T: Float>(a: Traced<'g, T>, shared: usize, rows: Size<'g>) -> Traced<'g, T> {
    let Some(heads) = a.rank().checked_sub(3).filter(|_| shared > 1) else { return a };
    let mut sizes = a.sizes();
    sizes[heads] = sizes[heads] * shared;
    sizes[heads + 1] = rows;
    a.reshape(sizes)
}
