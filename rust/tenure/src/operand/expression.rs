//! The type of expressions, which operands begin and the module `expr` computes.

use std::marker::PhantomData;

use crate::dtype::Element;
use crate::raw::expression::Graph;

/// In memory of the host: [`Expr::eval`](crate::Expr::eval) computes there.
#[derive(Clone, Copy, Debug)]
pub struct Host;

/// Element-wise operations that are yet to be computed: in one pass, without a temporary for each.
///
/// Operators and methods make one, of references to tensors and views, numbers and other
/// expressions; [`eval`](Expr::eval) and [`eval_into`](Expr::eval_into) compute it, and
/// [`Tensor::update`](crate::Tensor::update) computes one in place. It borrows its operands, and
/// nothing is read or checked before that. [`AsView::expr`](crate::AsView::expr) begins one where
/// there is no operator: `x.expr().exp()`.
///
/// Each operation gives the bits that its function gives: rounded or wrapped to its element type,
/// never contracted. Up to 16 operations allocate nothing; 256 are the most.
///
/// ```
/// use tenure::{Axes, Tensor};
///
/// let a = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
/// let b = Tensor::from([10.0, 20.0]);
/// assert_eq!((&a * &b + 1.0).eval()?, [[11.0, 41.0], [31.0, 81.0]]);
///
/// // A reduction may be the last operation, or be broadcast back along the last axis.
/// assert_eq!((&a - a.expr().mean(Axes::keep(-1))).square().sum(..).eval()?.item(), Some(1.0));
/// # Ok::<(), tenure::Error>(())
/// ```
///
/// It cannot outlive its operands, E0505 "cannot move out of `a` because it is borrowed":
///
/// ```compile_fail,E0505
/// let a = tenure::Tensor::from([1.0, 2.0]);
/// let doubled = &a * 2.0;
/// drop(a);
/// doubled.eval().unwrap();
/// ```
///
/// `P` is where its operands are: [here](Host), or [on a device](crate::expr::OnDevice), where a
/// [stream](crate::cuda::Stream::eval) computes it.
#[derive(Clone)]
#[must_use = "an expression computes nothing until `eval`, `eval_into` or `update`"]
pub struct Expr<'a, T: Element, P = Host> {
    pub(crate) graph: Graph<'a>,
    pub(crate) _result: PhantomData<fn() -> (T, P)>,
}
