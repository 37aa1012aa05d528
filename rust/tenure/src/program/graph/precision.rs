//! Mixed precision: products in f16 or bf16, and everything else in f32.

use std::panic::Location;

use super::Graph;
use super::gradients::Like;
use crate::dtype::Float;
use crate::error::Result;
use crate::program::Traced;
use crate::program::calls::GraphHandle;
use crate::program::state::CallSite;
use crate::program::tree::{Outputs, Parts, walked};

/// Mixed precision.
impl<'g> Graph<'g> {
    /// The values of the [tree](crate::tree) `of` in mixed precision, in the same form and with the
    /// same element types: products of f32 on the way to them take operands that are rounded to `N`,
    /// [`bf16`](crate::bf16) or [`f16`](struct@crate::f16), and give `N`, with sums of f32. All other
    /// operations compute in f32: normalizations, softmax, losses, reductions, optimisers. Other
    /// libraries name this autocast.
    ///
    /// Products are [`matmul`](Traced::matmul), [`einsum`](Self::einsum) of several
    /// operands, [`conv2d`](Traced::conv2d) and [`conv2d_transposed`](Traced::conv2d_transposed),
    /// also in the graphs of [`cond`](Self::cond) and [`while_loop`](Self::while_loop). A bias, views,
    /// [`relu`](Traced::relu) and [`max_pool2d`](Traced::max_pool2d) behind a product are in `N` too.
    /// A product that gives a value of `keep` stays in f32. Products of sparse matrices, of other
    /// types than f32 and in [custom operations](crate::CustomOperation) stay as they are.
    ///
    /// Operations that lead to `of` from a product are added once more, the others are shared; values
    /// that depend on no product come back themselves. [Gradients](Self::gradients) of the returned
    /// values by weights of f32 are f32, so that an [optimiser](crate::train::Optimizer) updates
    /// weights of f32. Their products are in `N` too, and they keep the rounded values: about half of
    /// the memory. Gradients of f16 are 0 below 6e-8: [`LossScale`](crate::train::LossScale) lifts
    /// them. A constant that only products read is rounded when the program is made.
    ///
    /// Refusals: `InvalidArgument` for an `N` other than f16 and bf16, and for a value of `keep` that
    /// `of` does not depend on.
    ///
    /// ```
    /// # use tenure::*;
    /// let step = Program::trace(|graph| {
    ///     let (x, y) = (graph.input::<f32>([3, 2]), graph.input::<f32>([3]));
    ///     let w = graph.input::<f32>([2]);
    ///     let loss = (x.matmul(w) - y).square().mean(..);
    ///     let loss = graph.mixed_precision::<bf16, _>(loss, &[]);
    ///     let next = w - graph.gradients(loss, w) * 0.4;
    ///     graph.program((x, y, w.updated_by(next)), loss)
    /// })?;
    /// let (x, y) = ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [2.0, -1.0, 1.0]);
    /// let mut w = Tensor::<f32>::zeros(2)?;
    /// for _ in 0..100 {
    ///     step.run((&x, &y, &mut w))?;
    /// }
    /// assert!((w.get([0]).unwrap() - 2.0).abs() < 0.02 && (w.get([1]).unwrap() + 1.0).abs() < 0.02);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("autocast", "amp", "half precision", "lower_precision"))]
    pub fn mixed_precision<N: Float, V: Outputs<'g>>(
        self,
        of: V,
        keep: &[Traced<'g, f32>],
    ) -> Like<'g, V> {
        self.rewritten("mixed_precision", Location::caller(), &of, |handle, of| {
            let keep: Vec<u32> = keep.iter().map(|value| value.value()).collect();
            handle.add_mixed_precision(of, N::DTYPE, &keep)
        })
    }

    /// Values that the library computes in another way, in the form of `of`.
    pub(super) fn rewritten<V: Outputs<'g>>(
        self,
        name: &'static str,
        at: &'static Location<'static>,
        of: &V,
        rewrite: impl FnOnce(&GraphHandle, &[u32]) -> Result<Vec<u32>>,
    ) -> Like<'g, V> {
        let site = CallSite { name, at };
        let of = walked(of);
        let mut made = Vec::new();
        if !self.state.has_failed() {
            match rewrite(&self.state.handle, &of.numbers()) {
                Ok(values) => made = values,
                Err(error) => self.fail(self.state.refused_at(site, error)),
            }
            self.state.note_added_nodes(site);
        }
        Parts::made(self, &mut made.into_iter(), &of.lens)
    }
}
