//! Expressions of an output itself.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Expr, shape};
use crate::dense::{Tensor, TensorViewMut};
use crate::dtype::Element;
use crate::error::Result;
use crate::raw::expression::Graph;

/// The number of a call of `update`, so that its argument is known elsewhere. When they have all been
/// given out they begin again: an argument may then pass for that of a call long after, which is no
/// danger to memory.
pub(crate) fn next_call() -> u32 {
    static CALLS: AtomicU32 = AtomicU32::new(1);
    // Relaxed: nothing is published by it. 0 is none.
    CALLS.fetch_add(1, Ordering::Relaxed).max(1)
}

impl<T: Element> TensorViewMut<'_, T> {
    /// Computes an [expression](Expr) of the elements themselves in their place: `f` gets an
    /// expression that represents them.
    ///
    /// Its argument has no address, and means the elements only in this call. Nothing else of the
    /// expression can be memory of this view, which is borrowed exclusively.
    ///
    /// # Errors
    ///
    /// The errors of [`Expr::eval_into`]; of an integer divided by zero or to a negative power,
    /// some elements may have been written. `UnboundArgument`: the argument of another such call.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [1.0, 2.0, 3.0, 6.0];
    /// let mut view = TensorViewMut::from_slice(&mut data, [2, 2])?;
    /// let (mean, std) = (Tensor::from([2.0, 4.0]), 2.0);
    /// view.update(|x| (x - &mean) / std)?;
    /// assert_eq!(data, [-0.5, -1.0, 0.5, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn update<'e>(&mut self, f: impl FnOnce(Expr<'e, T>) -> Expr<'e, T>) -> Result<()> {
        let call = next_call();
        let graph = Graph::output(call, self.rank());
        let updated = f(Expr { graph, _result: PhantomData });
        updated
            .graph
            .evaluate(call, self.lent_mut())
            .map_err(|error| shape::refused(&updated.graph, error, self.shape()))
    }
}

impl<T: Element> Tensor<T> {
    /// Computes an [expression](Expr) of the elements themselves in their place: as
    /// [`TensorViewMut::update`].
    ///
    /// # Errors
    ///
    /// The errors of [`TensorViewMut::update`].
    ///
    /// ```
    /// # use tenure::*;
    /// let mut weights = Tensor::from([1.0, 2.0]);
    /// let gradient = Tensor::from([10.0, -10.0]);
    /// weights.update(|x| x - &gradient * 0.1)?;
    /// assert_eq!(weights, [0.0, 3.0]);
    ///
    /// let mut escaped = None;
    /// weights.update(|x| {
    ///     escaped = Some(x.clone());
    ///     x
    /// })?;
    /// let error = escaped.unwrap().eval().err().unwrap();
    /// assert_eq!(error.kind(), ErrorKind::UnboundArgument);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn update<'e>(&mut self, f: impl FnOnce(Expr<'e, T>) -> Expr<'e, T>) -> Result<()> {
        self.view_mut().update(f)
    }
}
