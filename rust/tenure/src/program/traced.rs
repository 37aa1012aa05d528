//! Values of a graph.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use super::Graph;
use super::extent::Size;
use crate::dtype::{Bool8, Element, Float};
use crate::error::{Error, Result};
use crate::layout::axis::Axis;
use half::{bf16, f16};

/// A value of a [`Graph`]: an input, a constant, or the result of an operation, which each run of
/// the program has.
///
/// It has the operators of [`Expr`](crate::Expr) and the methods by the names of functions; shapes
/// broadcast as theirs do, and there is no conversion of element types but
/// [`cast`](Traced::cast). It is a number with a name: `Copy`, and of no use outside of the closure.
///
/// ```
/// use tenure::{Axes, Program};
///
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f64>([2, 3]);
///     let centred = x - x.mean(Axes::keep(1));
///     graph.program((x,), 1.0 - centred.abs().minimum(1.0))
/// })?;
/// assert_eq!(program.run((&[[1.0, 2.0, 3.0], [0.0, 0.5, 1.0]],))?, [[0.0, 1.0, 0.0], [0.5, 1.0, 0.5]]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub struct Traced<'g, T: Element> {
    graph: Graph<'g>,
    /// `TNR_OPERAND_NONE` where something was refused before.
    value: u32,
    _element: PhantomData<fn() -> T>,
}

impl<T: Element> Clone for Traced<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Element> Copy for Traced<'_, T> {}

impl<'g, T: Element> Traced<'g, T> {
    pub(super) fn of(graph: Graph<'g>, value: u32) -> Self {
        Traced { graph, value, _element: PhantomData }
    }
    pub(crate) fn value(self) -> u32 {
        self.value
    }

    /// The graph.
    ///
    /// ```
    /// use tenure::{Program, Traced};
    ///
    /// fn scaled<'g>(x: Traced<'g, f32>) -> Traced<'g, f32> {
    ///     x * x.graph().copy_constant(&[1.0, 10.0])
    /// }
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input([2]);
    ///     graph.program((x,), scaled(x))
    /// })?;
    /// assert_eq!(program.run((&[1.0, 2.0],))?, [1.0, 20.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn graph(self) -> Graph<'g> {
        self.graph
    }

    /// The shape where all extents of the graph are at their maxima; empty after a refusal.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>((graph.extent("n", 10), 3));
    ///     assert_eq!(x.t().largest_shape(), [3, 10]);
    ///     graph.program((x,), x)
    /// })?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn largest_shape(self) -> Vec<usize> {
        self.graph.shape_of(self.value).as_slice().to_vec()
    }

    /// The extent of an axis: a number, or one that each run has. Together they are a shape for
    /// [`reshape`](Traced::reshape) and others.
    ///
    /// After a refusal it is 0. An extent that no number of the graph states before a run, such as
    /// that of a custom operation's result, is refused.
    ///
    /// ```
    /// # use tenure::*;
    /// let heads = Program::trace(|graph| {
    ///     let x = graph.input::<f32>((graph.extent("rows", 100), 6));
    ///     let (rows, width) = (x.size(0), x.size(1));
    ///     graph.program((x,), (x.reshape((rows, 2, 3)).sum(2), x.sum(0).reshape((1, width))))
    /// })?;
    /// let (sums, _) = heads.run((&[[1.0; 6]],))?;
    /// assert_eq!(sums, [[3.0, 3.0]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn size(self, axis: impl Into<Axis>) -> Size<'g> {
        let at = Location::caller();
        let number = self.graph.number(at, "size", |state| {
            let axis = self.axis(axis.into())?;
            Ok(state.handle.sizes_of(self.value)?.0[axis as usize])
        });
        Size::of(self.graph, number)
    }

    /// The extents of all axes, as [`size`](Self::size) gives them.
    #[track_caller]
    pub fn sizes(self) -> Vec<Size<'g>> {
        let at = Location::caller();
        (0..self.rank())
            .map(|axis| {
                let number = self
                    .graph
                    .number(at, "sizes", |state| Ok(state.handle.sizes_of(self.value)?.0[axis]));
                Size::of(self.graph, number)
            })
            .collect()
    }

    /// Inserts an axis of extent 1 before the axis at this index.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<i32>([graph.extent("n", 100)]);
    ///     graph.program((x,), x.unsqueeze(1) * x)
    /// })?;
    /// assert_eq!(program.run((&[1, 2],))?, [[1, 2], [2, 4]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("expand_dims", "insert_axis"))]
    pub fn unsqueeze(self, axis: usize) -> Traced<'g, T> {
        let mut sizes = self.sizes();
        if axis > sizes.len() {
            let why = format!("axis is {axis} but a has rank {}", sizes.len());
            return self.graph.refuse("unsqueeze", Location::caller(), Error::invalid(why));
        }
        sizes.insert(axis, 1_usize.into());
        self.reshape(sizes)
    }

    pub(crate) fn rank(self) -> usize {
        self.graph.shape_of(self.value).as_slice().len()
    }

    /// The number of an axis.
    pub(super) fn axis(self, axis: Axis) -> Result<i64> {
        let rank = self.rank();
        let refused = || Error::invalid(format!("axis is {axis} but a has rank {rank}"));
        axis.of(rank).map(|axis| axis as i64).ok_or_else(refused)
    }

    /// Marks this input as updated by each run: a run reads its old elements first, and then writes
    /// `value` to it.
    ///
    /// Pass the result among the inputs of [`Graph::program`]; a run takes `&mut` for it. The value
    /// is not an output as well, unless it is named as one.
    ///
    /// ```
    /// # use tenure::*;
    /// let descend = Program::trace(|graph| {
    ///     let (weights, gradient) = (graph.input::<f32>([3]), graph.input::<f32>([3]));
    ///     let next = weights - gradient * 0.5;
    ///     graph.program((weights.updated_by(next), gradient), next.abs().max(0))
    /// })?;
    /// let mut weights = Tensor::from([1.0, 2.0, 3.0]);
    /// let largest = descend.run((&mut weights, &[2.0, 2.0, -4.0]))?;
    /// assert_eq!((largest.item(), weights), (Some(5.0), Tensor::from([0.0, 1.0, 5.0])));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn updated_by(self, value: Traced<'g, T>) -> Updating<'g, T> {
        Updating { input: self, value }
    }
}

impl<T: Element> fmt::Debug for Traced<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Traced<{}>({})", T::DTYPE, self.value)
    }
}

/// An input and the value that it is given by a run: see [`Traced::updated_by`].
#[derive(Clone, Copy, Debug)]
#[must_use = "it is to stand among the inputs of the program"]
pub struct Updating<'g, T: Element> {
    pub(super) input: Traced<'g, T>,
    pub(super) value: Traced<'g, T>,
}

impl<'g, T: Element> Updating<'g, T> {
    /// The value where `flag` is true, and the input as it was elsewhere.
    #[track_caller]
    pub(crate) fn only_if(self, flag: Traced<'g, Bool8>) -> Updating<'g, T> {
        self.input.updated_by(flag.select(self.value, self.input))
    }

    /// The value that the input has after a run.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([2]);
    ///     let next = x.updated_by(x * 2.0);
    ///     graph.program((next,), next.value().sum(..))
    /// })?;
    /// assert_eq!(program.run((&mut [1.0, 2.0],))?.item(), Some(6.0));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn value(self) -> Traced<'g, T> {
        self.value
    }
}

/// An operand of an element-wise operation of a graph: a value, or a number of the element type.
/// Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of a graph's operation on `{T}` elements",
    label = "neither a value of the graph nor a number of `{T}`",
    note = "tensors become values by `graph.input`, `graph.constant` and `graph.copy_constant`",
    note = "element types are not converted: `cast` does that"
)]
pub trait IntoTraced<'g, T: Element>: sealed::Operand<'g, T> {}

pub(super) mod sealed {
    use super::super::Graph;

    pub trait Operand<'g, T> {
        fn operand(self, graph: Graph<'g>) -> u32;
    }
}

impl<'g, T: Element> IntoTraced<'g, T> for Traced<'g, T> {}
impl<'g, T: Element> sealed::Operand<'g, T> for Traced<'g, T> {
    fn operand(self, _: Graph<'g>) -> u32 {
        self.value
    }
}

/// A number in a formula for any float: it takes the element type of the other operand, rounded to
/// nearest.
#[derive(Clone, Copy)]
pub(crate) struct Num(pub(crate) f64);

impl<'g, T: Float> IntoTraced<'g, T> for Num {}
impl<'g, T: Float> sealed::Operand<'g, T> for Num {
    fn operand(self, graph: Graph<'g>) -> u32 {
        graph.scalar(self.0)
    }
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl<'g> IntoTraced<'g, $type> for $type {}
        impl<'g> sealed::Operand<'g, $type> for $type {
            fn operand(self, graph: Graph<'g>) -> u32 {
                graph.scalar(self)
            }
        }
    )*};
}
numbers! {
    f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 Bool8 num_complex::Complex<f32> num_complex::Complex<f64>
}
