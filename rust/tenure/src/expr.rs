//! Expressions: several element-wise operations that are computed in one pass.
//!
//! Operators and methods build an [`Expr`], and `eval`, `eval_into` or `update` compute it.
//!
//! ```
//! use tenure::{AsView, Tensor};
//!
//! let (a, b) = (Tensor::from([1.0, 2.0, 3.0]), Tensor::from([0.5, 0.5, 2.0]));
//! // One pass, no temporary.
//! assert_eq!((&a * &b + 1.0).eval()?, [1.5, 2.0, 7.0]);
//! assert_eq!(a.expr().square().sum(..).eval()?.item(), Some(14.0));
//! # Ok::<(), tenure::Error>(())
//! ```

pub(crate) mod functions;
pub(crate) mod memory_space;
pub(crate) mod name;
pub(crate) mod operators;
pub(crate) mod reduce;
pub(crate) mod shape;
pub(crate) mod update;

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

pub use crate::operand::expression::{Expr, Host};
pub use memory_space::{MemorySpace, OnDevice};
pub use operators::Bits;

use crate::dense::{SharedTensor, Tensor, TensorView, TensorViewMut};
use crate::dtype::{Bool8, Element};
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::ops::results::filled;
use crate::raw::expression::{Code, Graph, GraphOperand, Leaf, Single};

/// An operand of an expression: a reference to a tensor, view, slice, `Vec`, array or single
/// number, all that [`AsView`] lends; a [`TensorView`] by value; a number; an expression. On a
/// device, references to its tensors and views, and views by value, replace the first two groups.
/// Sealed.
///
/// An expression keeps the address of a view that is passed by reference, and copies a view that is
/// passed by value: 192 bytes.
///
/// ```
/// use tenure::{Expr, IntoExpr, Number, Tensor};
///
/// fn between<'a, T: Number>(
///     a: impl IntoExpr<'a, T>,
///     low: impl IntoExpr<'a, T>,
///     high: impl IntoExpr<'a, T>,
/// ) -> Expr<'a, T> {
///     a.into_expr().minimum(high).maximum(low)
/// }
/// let a = Tensor::from([1, 5, 9]);
/// assert_eq!(between(&a, 2, &[3, 4, 5]).eval()?, [2, 4, 5]);
/// assert_eq!(between(a.view(), 2, 4).eval()?, [2, 4, 4]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of an expression of `{T}` elements",
    label = "not a number, expression, view, or reference to a tensor or array of `{T}`",
    note = "tensors are operands by reference: `&a * &b`",
    note = "element types are not converted: `cast` does that"
)]
pub trait IntoExpr<'a, T: Element, P: MemorySpace = Host>:
    Sized + sealed::Operand<'a, T, P>
{
    /// An expression that has this as its only operand.
    #[inline]
    fn into_expr(self) -> Expr<'a, T, P> {
        Expr::of(self.graph_operand())
    }
}

pub(crate) mod sealed {
    use crate::raw::expression::GraphOperand;

    pub trait Operand<'a, T, P> {
        type GraphOperand: GraphOperand<'a>;
        fn graph_operand(self) -> Self::GraphOperand;
    }
}
use sealed::Operand;

impl<'a, T: Element, A: AsView<T> + ?Sized> IntoExpr<'a, T> for &'a A {}
impl<'a, T: Element, A: AsView<T> + ?Sized> Operand<'a, T, Host> for &'a A {
    type GraphOperand = Leaf<'a>;
    #[inline(always)]
    fn graph_operand(self) -> Leaf<'a> {
        self.leaf()
    }
}

impl<'a, T: Element> IntoExpr<'a, T> for TensorView<'a, T> {}
impl<'a, T: Element> Operand<'a, T, Host> for TensorView<'a, T> {
    type GraphOperand = Leaf<'a>;
    #[inline(always)]
    fn graph_operand(self) -> Leaf<'a> {
        self.into_leaf()
    }
}

impl<'a, T: Element, P: MemorySpace> IntoExpr<'a, T, P> for Expr<'a, T, P> {}
impl<'a, T: Element, P: MemorySpace> Operand<'a, T, P> for Expr<'a, T, P> {
    type GraphOperand = Graph<'a>;
    #[inline(always)]
    fn graph_operand(self) -> Graph<'a> {
        self.graph
    }
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl<'a, P: MemorySpace> IntoExpr<'a, $type, P> for $type {}
        impl<'a, P: MemorySpace> Operand<'a, $type, P> for $type {
            type GraphOperand = Single<$type>;
            #[inline(always)]
            fn graph_operand(self) -> Single<$type> {
                Single(self)
            }
        }
        impl From<$type> for Expr<'_, $type> {
            #[inline]
            fn from(number: $type) -> Self {
                number.into_expr()
            }
        }
    )*};
}
numbers! { f64 f32 half::f16 half::bf16 i8 i16 i32 i64 u8 u16 u32 u64 Bool8 }

impl<'a, T: Element, A: AsView<T> + ?Sized> From<&'a A> for Expr<'a, T> {
    #[inline]
    fn from(lent: &'a A) -> Self {
        lent.into_expr()
    }
}

/// Copies the view, as for a view that a method returns.
impl<'a, T: Element> From<TensorView<'a, T>> for Expr<'a, T> {
    #[inline]
    fn from(view: TensorView<'a, T>) -> Self {
        view.into_expr()
    }
}

/// Construction. Other constructors are the operators and the methods named after functions.
impl<'a, T: Element, P: MemorySpace> Expr<'a, T, P> {
    #[inline(always)]
    pub(crate) fn of(source: impl GraphOperand<'a>) -> Self {
        Expr { graph: Graph::of(source), _result: PhantomData }
    }

    /// Reinterprets the graph as an expression of elements `U`.
    #[inline(always)]
    fn typed<U: Element>(self) -> Expr<'a, U, P> {
        Expr { graph: self.graph, _result: PhantomData }
    }

    #[inline(always)]
    #[track_caller]
    pub(crate) fn then<U: Element>(mut self, code: Code) -> Expr<'a, U, P> {
        self.graph.unary(code, Location::caller());
        self.typed()
    }

    #[inline(always)]
    #[track_caller]
    fn then_with<U: Element>(mut self, code: Code, b: impl GraphOperand<'a>) -> Expr<'a, U, P> {
        self.graph.binary(code, b, Location::caller());
        self.typed()
    }
}

/// Computing.
impl<T: Element> Expr<'_, T> {
    /// The result, as a new row-major tensor.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: shapes that do not broadcast (the message names the operator's place in
    /// the source, both operands and both shapes), no such axis, more than 256 operations or 32
    /// different views, a reduction that is neither the last operation nor
    /// [kept](crate::Axes::keep) along the last axis, an integer divided by zero or to a negative
    /// power. `UnboundArgument`: the argument of a closure for [`update`](Tensor::update).
    /// `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let a = Tensor::from([1, 2, 3]);
    /// assert_eq!((&a * &a - 1).eval()?, [0, 3, 8]);
    ///
    /// let refused = (&a + &[1, 2]).eval().err().unwrap();
    /// assert!(refused.message().contains("a view of shape [3] and b is a view of shape [2]"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn eval(&self) -> Result<Tensor<T>> {
        self.graph.check(0)?;
        let extents = shape::of_result(&self.graph, &[])?;
        filled(extents.as_slice(), |out| self.graph.evaluate(0, out))
            .map_err(|error| shape::located(&self.graph, error))
    }

    /// The result, into memory of the caller's, to whose shape it is broadcast.
    ///
    /// The output of a reduction has the axes that are not reduced, or all of them with the reduced
    /// ones of extent 1.
    ///
    /// # Errors
    ///
    /// The errors of [`eval`](Self::eval), except that `OutOfMemory` occurs only beyond 16
    /// operations, and for a reduction amid others that has many results. `InvalidArgument` also
    /// for another shape of `out`.
    ///
    /// ```
    /// # use tenure::*;
    /// let (a, mut out) = (Tensor::from([1.0, 4.0]), [[0.0; 2]; 2]);
    /// a.expr().sqrt().eval_into(&mut out)?;
    /// assert_eq!(out, [[1.0, 2.0]; 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn eval_into(&self, out: &mut (impl AsViewMut<T> + ?Sized)) -> Result<()> {
        out.with_view_mut(|out| {
            self.graph
                .evaluate(0, out.lent_mut())
                .map_err(|error| shape::refused(&self.graph, error, out.shape()))
        })
    }
}

impl<T: Element, P> fmt::Debug for Expr<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.graph.nodes().iter().map(|node| name::of(node.code)).collect();
        write!(f, "Expr<{}>({})", T::DTYPE, names.join(", "))
    }
}

/// `expr` of owners and views, without importing [`AsView`].
macro_rules! begins {
    ($($type:ty, $make:literal;)*) => {$(
        impl<T: Element> $type {
            /// An [expression](Expr) that has this as its only operand, for methods: operators take
            /// references, and views by value.
            ///
            /// ```
            /// # use tenure::*;
            /// # let mut data = [1.0, 4.0];
            #[doc = concat!("let it = ", $make, ";")]
            /// assert_eq!(it.expr().sqrt().eval()?, [1.0, 2.0]);
            /// # Ok::<(), Error>(())
            /// ```
            #[inline]
            pub fn expr(&self) -> Expr<'_, T> {
                self.into_expr()
            }
        }
    )*};
}

begins! {
    Tensor<T>, "Tensor::from(data)";
    SharedTensor<T>, "Tensor::from(data).into_shared()";
    TensorView<'_, T>, "TensorView::from_slice(&data, 2)?";
    TensorViewMut<'_, T>, "TensorViewMut::from_slice(&mut data, 2)?";
}
