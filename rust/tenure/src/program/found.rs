//! Selection of elements by a condition: values with a data-dependent shape.

use std::panic::Location;

use tenure_sys::{TNR_NODE_MASKED_SELECT, TNR_NODE_NONZERO};

use super::state::Step;
use super::{Extent, Graph, Size, Traced};
use crate::dtype::{Bool8, Element, Real};

impl<'g> Graph<'g> {
    /// Adds a node with a data-dependent shape, and returns its result and a new extent for the
    /// number of elements that a run finds.
    #[track_caller]
    fn found<T: Element>(
        self,
        step: Step<'_>,
        name: &str,
        maximum: usize,
    ) -> (Traced<'g, T>, Extent<'g>) {
        let at = Location::caller();
        let count = self.extent(name, maximum);
        let value = match Size::from(count).number() {
            Ok(number) => self.step(at, &step.numbers(&[number])),
            Err(error) => self.refuse(step.name, at, error),
        };
        (value, count)
    }
}

/// Selections whose size the data of a run decide.
impl<'g, T: Real> Traced<'g, T> {
    /// The function [`nonzero`](fn@crate::ops::nonzero), of this: the places of elements that are
    /// not 0, a row for each; and their number, an extent of this name, which shapes of later
    /// values may have.
    ///
    /// A run that finds more than `maximum` is refused. Memory is planned for that many, or for all
    /// elements where these are fewer, so that it is known before. The outputs of a run have the
    /// extents that the run found.
    ///
    /// Later values that depend on these are computed for each run's own shapes, also in bodies of
    /// [`cond`](Graph::cond) and [`while_loop`](Graph::while_loop). A
    /// [preallocated](crate::Program::bind_preallocated) program has memory for the maximum.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let n = graph.extent("n", 100);
    ///     let (x, scores) = (graph.input::<i32>((n, 2)), graph.input::<f32>(n));
    ///     let (call_sites, hits) = scores.gt(0.5).nonzero("hits", 10);
    ///     graph.program((x, scores), x.take(0, call_sites.reshape(hits)))
    /// })?;
    /// let x = [[1, 2], [3, 4], [5, 6]];
    /// assert_eq!(program.run((&x, &[0.9, 0.1, 0.8]))?, [[1, 2], [5, 6]]);
    /// assert_eq!(program.run((&x, &[0.0, 0.1, 0.8]))?, [[5, 6]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("argwhere", "flatnonzero", "where"))]
    pub fn nonzero(self, name: &str, maximum: usize) -> (Traced<'g, i64>, Extent<'g>) {
        let operands = [self.value()];
        let step = Step::new("nonzero", TNR_NODE_NONZERO, &operands);
        self.graph().found(step, name, maximum)
    }
}

impl<'g, T: Element> Traced<'g, T> {
    /// The function [`masked_select`](fn@crate::ops::masked_select), of this: a vector of the
    /// elements where the mask is true; and their number, as [`nonzero`](Traced::nonzero) gives it.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([2, 3]);
    ///     let (some, _) = x.masked_select(x.gt(0.0), "some", 6);
    ///     graph.program((x,), (some.sqrt(), some.sum(0)))
    /// })?;
    /// let (roots, sum) = program.run((&[[4.0, -1.0, 9.0], [0.0, -4.0, 1.0]],))?;
    /// assert_eq!((roots.to_vec(), sum.item()), (vec![2.0, 3.0, 1.0], Some(14.0)));
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("boolean_mask", "compress", "extract"))]
    pub fn masked_select(
        self,
        mask: Traced<'g, Bool8>,
        name: &str,
        maximum: usize,
    ) -> (Traced<'g, T>, Extent<'g>) {
        let operands = [self.value(), mask.value()];
        let step = Step::new("masked_select", TNR_NODE_MASKED_SELECT, &operands);
        self.graph().found(step.named(&["a", "the mask"]), name, maximum)
    }
}
