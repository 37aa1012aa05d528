//! The views of a tree, as a run is lent them.

use crate::dense::{DynView, DynViewMut};
use crate::error::{Error, Result};
use crate::expr::Host;
use crate::program::tree::{LendShared, LendUnique};
use crate::raw::call::Counts;

#[cold]
fn fewer(count: usize) -> Error {
    Error::invalid(format!("the tree has fewer than {count} leaves"))
}

/// Hands `f` views of the `count` leaves of a tree.
pub(crate) fn with_views<I, R>(
    count: usize,
    tree: &impl LendShared<I, Host>,
    f: impl FnOnce(&[DynView<'_>]) -> Result<R>,
) -> Result<R> {
    Counts { inputs: count, outputs: 0, updates: 0 }.with_call(|call| {
        tree.lend_shared(call);
        let view = |address: &*const tenure_sys::tnr_view| {
            // SAFETY: by the invariant of `ProgramCall` the address is NULL, or that of a view that
            // is alive as long as the call.
            let view = unsafe { address.as_ref() }.ok_or_else(|| fewer(count))?;
            // SAFETY: by the same invariant the view is checked, its elements are initialised, and
            // nothing writes them while the tree is borrowed, which is longer than `f` runs.
            Ok(unsafe { DynView::from_raw(*view) })
        };
        f(&call.views().0.iter().map(view).collect::<Result<Vec<_>>>()?)
    })
}

/// Hands `f` exclusive views of the `count` leaves of a tree.
pub(crate) fn with_views_mut<I, R>(
    count: usize,
    tree: &mut impl LendUnique<I, Host>,
    f: impl FnOnce(&mut [DynViewMut<'_>]) -> Result<R>,
) -> Result<R> {
    Counts { inputs: count, outputs: 0, updates: count }.with_call(|call| {
        tree.lend_unique(call);
        let view = |address: &*const tenure_sys::tnr_view_mut| {
            // SAFETY: by the invariant of `ProgramCall` the address is NULL, or that of a view that
            // is alive as long as the call.
            let view = unsafe { address.as_ref() }.ok_or_else(|| fewer(count))?;
            // SAFETY: by the same invariant the view is checked, no two indices have one element,
            // the elements are initialised, and nothing else touches them while the tree is
            // borrowed, which is longer than `f` runs; each leaf is lent once.
            Ok(unsafe { DynViewMut::from_raw(view.view) })
        };
        f(&mut call.views().1.iter().map(view).collect::<Result<Vec<_>>>()?)
    })
}
