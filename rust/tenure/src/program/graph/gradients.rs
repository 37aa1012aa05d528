//! Gradients: values that reverse-mode differentiation adds to a graph.

use std::panic::Location;

use super::Graph;
use crate::dtype::Element;
use crate::program::Traced;
use crate::program::state::CallSite;
use crate::program::tree::{Inputs, OutputTypes, Outputs, Parts, walked};

/// Values in the form of these.
pub(super) type Like<'g, V> = <<V as Inputs<'g>>::Types as OutputTypes>::Values<'g>;

/// Gradients.
impl<'g> Graph<'g> {
    /// The gradients of `of`, a value of one element, by each value of the [tree](crate::tree)
    /// `by`: in the same form, with the same element types and shapes. They are values of this graph
    /// like all others: their operations are fused, planned, saved and run on devices with the rest.
    ///
    /// Reverse-mode differentiation adds only operations that lead from `by` to `of`. The gradient
    /// by a value that `of` does not depend on is zeros. Gradients of gradients are allowed.
    /// `docs/operations.md` lists the conventions at points without a derivative, such as
    /// [`relu`](fn@crate::nn::relu) at 0. For values of complex numbers, the gradient is the
    /// direction of steepest ascent.
    ///
    /// The gradient of [`cond`](Self::cond) is a branch on the same flag. The gradient of
    /// [`while_loop`](Self::while_loop) repeats the loop and stores the states before each
    /// iteration that its derivative depends on: memory for `limit` states, however many iterations
    /// a run has. A [custom operation](crate::CustomOperation::derive) brings its derivative.
    ///
    /// Refusals: `InvalidArgument` for a value of several elements, for integers and truth values,
    /// and for numbers; `Unsupported` where an operation on the way has no derivative.
    ///
    /// ```
    /// # use tenure::*;
    /// let step = Program::trace(|graph| {
    ///     let (x, y) = (graph.input::<f64>([3, 2]), graph.input::<f64>([3]));
    ///     let (w, b) = (graph.input::<f64>([2]), graph.input::<f64>([1]));
    ///     let loss = (x.matmul(w) + b - y).square().mean(..);
    ///     let (dw, db) = graph.gradients(loss, (w, b));
    ///     let (next_w, next_b) = (w - dw * 0.4, b - db * 0.4);
    ///     graph.program((x, y, w.updated_by(next_w), b.updated_by(next_b)), loss)
    /// })?;
    /// let (x, y) = ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [2.0, -1.0, 1.0]);
    /// let (mut w, mut b) = (Tensor::<f64>::zeros(2)?, Tensor::<f64>::zeros(1)?);
    /// for _ in 0..500 {
    ///     step.run((&x, &y, &mut w, &mut b))?;
    /// }
    /// assert!((w.get([0]).unwrap() - 2.0).abs() < 1e-3 && (w.get([1]).unwrap() + 1.0).abs() < 1e-3);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("grad", "backward", "autograd", "differentiate"))]
    pub fn gradients<T: Element, V: Outputs<'g>>(self, of: Traced<'g, T>, by: V) -> Like<'g, V> {
        self.add_gradients(Location::caller(), of.value(), None, &by)
    }

    /// The gradients of the sum of `of * seed`, of one shape, by each of `by`: the product of the
    /// seed and the Jacobian matrix, which other libraries name VJP. Otherwise like
    /// [`gradients`](Self::gradients).
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let (x, seed) = (graph.input::<f32>([3]), graph.input::<f32>([3]));
    ///     let by_x = graph.gradients_with_seed(x.square(), seed, x);
    ///     graph.program((x, seed), by_x)
    /// })?;
    /// assert_eq!(program.run((&[1.0, 2.0, 3.0], &[1.0, 0.0, 2.0]))?, [2.0, 0.0, 12.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("vjp", "pullback"))]
    pub fn gradients_with_seed<T: Element, V: Outputs<'g>>(
        self,
        of: Traced<'g, T>,
        seed: Traced<'g, T>,
        by: V,
    ) -> Like<'g, V> {
        self.add_gradients(Location::caller(), of.value(), Some(seed.value()), &by)
    }

    fn add_gradients<V: Outputs<'g>>(
        self,
        at: &'static Location<'static>,
        of: u32,
        seed: Option<u32>,
        by: &V,
    ) -> Like<'g, V> {
        let site = CallSite { name: "gradients", at };
        let by = walked(by);
        let mut gradients = Vec::new();
        if !self.state.has_failed() {
            match self.state.handle.add_gradients(of, seed, &by.numbers()) {
                Ok(added) => gradients = added,
                Err(error) => self.fail(self.state.refused_at(site, error)),
            }
            self.state.note_added_nodes(site);
        }
        Parts::made(self, &mut gradients.into_iter(), &by.lens)
    }
}
