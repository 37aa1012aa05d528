//! Values that programs compute again instead of keeping them.

use std::panic::Location;

use tenure_sys::{TNR_MARK_KEEP, TNR_MARK_NON_FINITE, TNR_MARK_RECOMPUTE, tnr_value_source};

use super::Graph;
use crate::dtype::Element;
use crate::error::Result;
use crate::program::state::CallSite;
use crate::program::tree::walked;
use crate::program::{Outputs, Traced};

/// Memory for time.
impl<'g> Graph<'g> {
    /// Bounds the memory of the program that this graph becomes: its
    /// [`peak_bytes`](crate::MemoryPlan::peak_bytes), for row-major inputs and with all extents at
    /// their maxima, is at most `bytes`. Values of the forward part are computed again just before
    /// their gradients, as few as that needs. Results keep their bits: random numbers are drawn
    /// again from the same seeds and offsets.
    ///
    /// [`program`](Self::program) is `OutOfMemory` where no choice of values is enough. The message
    /// has the least peak that was reached.
    ///
    /// ```
    /// # use tenure::*;
    /// let step = |budget: Option<usize>| {
    ///     Program::trace(|graph| {
    ///         if let Some(bytes) = budget {
    ///             graph.memory_budget(bytes);
    ///         }
    ///         let (x, w) = (graph.input::<f32>([256, 32]), graph.input::<f32>([32, 32]));
    ///         let y = (0..12).fold(x, |x, _| x.matmul(w).tanh().softmax(1));
    ///         let by_w = graph.gradients(y.square().mean(..), w);
    ///         graph.program((x, w), by_w)
    ///     })
    /// };
    /// let (x, w) = (Tensor::full([256, 32], 0.5)?, Tensor::full([32, 32], 0.1)?);
    /// let (whole, least) = (step(None)?, step(Some(400_000))?);
    /// assert!(whole.memory((&x, &w))?.peak_bytes > 700_000);
    /// assert!(least.memory((&x, &w))?.peak_bytes <= 400_000);
    /// assert_eq!(whole.run((&x, &w))?, least.run((&x, &w))?);
    /// assert_eq!(step(Some(1000)).err().unwrap().kind(), ErrorKind::OutOfMemory);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn memory_budget(self, bytes: usize) {
        self.state.budget_bytes.set(bytes as u64);
    }

    /// Calls `f`, and has gradients compute the values that it adds again instead of keeping them,
    /// except for those that it returns. Other libraries name this checkpointing. A graph needs no
    /// [budget](Self::memory_budget) for it.
    ///
    /// ```
    /// # use tenure::*;
    /// fn block<'g>(x: Traced<'g, f32>, w: Traced<'g, f32>) -> Traced<'g, f32> {
    ///     x.graph().checkpoint(|| x.matmul(w).tanh().softmax(1).matmul(w).tanh())
    /// }
    /// let step = Program::trace(|graph| {
    ///     let (x, w) = (graph.input::<f32>([256, 32]), graph.input::<f32>([32, 32]));
    ///     let y = (0..12).fold(x, |x, _| block(x, w));
    ///     let by_w = graph.gradients(y.square().mean(..), w);
    ///     graph.program((x, w), by_w)
    /// })?;
    /// let (x, w) = (Tensor::full([256, 32], 0.5)?, Tensor::full([32, 32], 0.1)?);
    /// let report = step.report((&x, &w))?;
    /// assert!(report.count_of(Passes::RECOMPUTATION) > 0);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("remat", "rematerialize"))]
    pub fn checkpoint<V: Outputs<'g>>(self, f: impl FnOnce() -> V) -> V {
        let site = CallSite { name: "checkpoint", at: Location::caller() };
        let before = self.node_count();
        let values = f();
        let marked = self.node_count().and_then(|after| {
            let before = before?;
            self.state.handle.mark(before, after - before, TNR_MARK_RECOMPUTE)?;
            walked(&values).numbers().into_iter().try_for_each(|value| self.mark(value, 0))
        });
        self.keep_failure(site, marked);
        values
    }

    fn node_count(self) -> Result<u32> {
        Ok(self.state.handle.info()?.node_count)
    }

    /// Marks the node that has the value; other values are never computed again.
    fn mark(self, value: u32, marks: u32) -> Result<()> {
        let info = self.state.handle.describe_value(value)?;
        match info.source {
            tnr_value_source::NODE => self.state.handle.mark(info.index, 1, marks),
            _ => Ok(()),
        }
    }

    fn keep_failure(self, site: CallSite, result: Result<()>) {
        if let Err(error) = result {
            // An earlier refusal is kept: values have meant nothing since.
            self.fail(error.prefixed(&format!("{site}: ")));
        }
    }
}

/// Memory for time.
impl<T: Element> Traced<'_, T> {
    /// Marks the value as one that no [budget](Graph::memory_budget) and no
    /// [region](Graph::checkpoint) around it computes again, and returns it.
    #[track_caller]
    #[must_use = "the value is kept where it is this one, too"]
    pub fn keep(self) -> Self {
        self.marked("keep", TNR_MARK_KEEP, Location::caller())
    }

    /// Marks the value as one that gradients compute again instead of keeping it, and returns it.
    ///
    /// ```
    /// # use tenure::*;
    /// let step = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([1000]);
    ///     let y = x.cumsum(0).recompute();
    ///     graph.program((x,), graph.gradients(y.square().cumsum(0).square().mean(..), x))
    /// })?;
    /// assert!(step.report((&[1.0; 1000],))?.count_of(Passes::RECOMPUTATION) > 0);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[must_use = "the value is computed again where it is this one, too"]
    pub fn recompute(self) -> Self {
        self.marked("recompute", TNR_MARK_RECOMPUTE, Location::caller())
    }

    /// Accepts NaN and infinities in this value in runs that
    /// [refuse](crate::Program::refusing_nan) them, and returns it. Operations that pass them on
    /// are marked too. An input needs no mark: it is looked at when an operation reads it.
    ///
    /// ```
    /// # use tenure::*;
    /// let quotient = Program::trace(|graph| {
    ///     let (a, b) = (graph.input::<f32>([3]), graph.input::<f32>([3]));
    ///     let quotient = (a / b).allow_non_finite();
    ///     graph.program((a, b), b.eq(0.0).select(0.0, quotient))
    /// })?;
    /// assert_eq!(quotient.refusing_nan().run((&[1.0, 0.0, 3.0], &[2.0, 0.0, 1.0]))?, [0.5, 0.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[must_use = "the value is accepted where it is this one, too"]
    pub fn allow_non_finite(self) -> Self {
        self.marked("allow_non_finite", TNR_MARK_NON_FINITE, Location::caller())
    }

    fn marked(self, name: &'static str, marks: u32, at: &'static Location<'static>) -> Self {
        let graph = self.graph();
        let marked = graph.mark(self.value(), marks);
        graph.keep_failure(CallSite { name, at }, marked);
        self
    }
}
