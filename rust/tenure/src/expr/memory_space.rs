//! Where the operands of an expression are.

use crate::dtype::Float;
use crate::operand::expression::Host;

/// In memory of a device: [`Stream::eval`](crate::cuda::Stream::eval) computes there.
#[derive(Clone, Copy, Debug)]
pub struct OnDevice;

/// Where the operands of an [expression](crate::Expr) are. All operands of an expression are in
/// one memory: an expression of both does not compile. Sealed.
///
/// ```
/// use tenure::{Expr, IntoExpr, Tensor, expr::MemorySpace};
///
/// fn squared_distance<'a, P: MemorySpace>(
///     a: Expr<'a, f32, P>,
///     b: impl IntoExpr<'a, f32, P>,
/// ) -> Expr<'a, f32, P> {
///     (a - b).square()
/// }
/// let a = Tensor::from([1.0, 2.0]);
/// assert_eq!(squared_distance(a.expr(), &[3.0, 3.0]).eval()?, [4.0, 1.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub trait MemorySpace: Copy + sealed::MemorySpace {
    /// The options that `layer_norm` and `rms_norm` take there.
    type LayerNorm<'a, T: Float>: sealed::Leaves<'a>;
}

impl MemorySpace for Host {
    type LayerNorm<'a, T: Float> = crate::nn::normalize::LayerNorm<'a, T>;
}

pub(crate) mod sealed {
    use crate::dtype::Float;
    use crate::raw::expression::Leaf;

    pub trait MemorySpace {}
    impl MemorySpace for super::Host {}

    /// The `eps`, and the weight and the bias as an expression keeps them.
    pub trait Leaves<'a> {
        fn leaves(self) -> (f64, [Option<Leaf<'a>>; 2]);
    }
    impl<'a, T: Float> Leaves<'a> for crate::nn::normalize::LayerNorm<'a, T> {
        fn leaves(self) -> (f64, [Option<Leaf<'a>>; 2]) {
            self.into_leaves()
        }
    }
}
