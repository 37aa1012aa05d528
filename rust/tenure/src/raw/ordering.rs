//! Sorting, searching and counting, for checked views. The requirements of all of these calls are
//! the invariants of `Lent` and `LentMut`.

use std::mem::size_of;
use std::ptr;

use tenure_sys as sys;
use tenure_sys::{TNR_MAX_RANK, tnr_view, tnr_view_mut};

use super::context::current;
use super::{BlobHandle, Input, Lent, LentMut, NewTensor, check, entered, owned, traced};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::layout;
use crate::tenure::Tenure;

/// The outputs of an order along an axis; one of them or both are given.
pub(crate) struct Ordered<'a> {
    pub(crate) indices: Option<LentMut<'a>>,
    pub(crate) out: Option<LentMut<'a>>,
}

fn or_null(view: &Option<LentMut<'_>>) -> *const tnr_view_mut {
    view.as_ref().map_or(ptr::null(), |view| ptr::from_ref(view.0))
}

/// An axis that no view has is refused by the library.
fn axis_number(axis: usize) -> u32 {
    u32::try_from(axis).unwrap_or(u32::MAX)
}

/// The input, which is that output where it is sorted in place.
fn input_of(a: Input<'_>, out: &Option<LentMut<'_>>) -> *const tnr_view {
    out.as_ref().map_or_else(
        || match a {
            Input::View(lent) => ptr::from_ref(lent.0),
            Input::Output => ptr::null(),
        },
        |out| a.resolve(out),
    )
}

/// Every element of the outputs is written; `flags` are those of the call.
pub(crate) fn sort(a: Input<'_>, axis: usize, flags: u32, to: Ordered<'_>) -> Result<()> {
    entered()?;
    let given = sys::tnr_sort_attributes {
        struct_size: size_of::<sys::tnr_sort_attributes>() as u64,
        flags,
        reserved: 0,
    };
    let (a, axis) = (input_of(a, &to.out), axis_number(axis));
    let (indices, out) = (or_null(&to.indices), or_null(&to.out));
    // SAFETY: `a` is the address of a lent view, or of `out` for `Input::Output`; each caller that
    // passes `Input::Output` gives an `out`, so `a` is not NULL.
    traced!(sort(unsafe { &*a }));
    // SAFETY: `a` is a lent view (checked, initialised, not written during the call), or the
    // initialised `out` where it is sorted in place; each of `indices` and `out` is NULL or a
    // checked, distinct view that nothing else touches; `given` is a local that outlives the call;
    // the library checks the context token.
    check(unsafe { sys::tnr_sort(current(), a, axis, &given, indices, out) })
}

/// Orders like [`sort`], and writes only the first elements.
pub(crate) fn top_k(a: Lent<'_>, axis: usize, flags: u32, to: Ordered<'_>) -> Result<()> {
    entered()?;
    traced!(dense_top_k(a.0));
    let given = sys::tnr_top_k_attributes {
        struct_size: size_of::<sys::tnr_top_k_attributes>() as u64,
        flags,
        reserved: 0,
    };
    let (indices, out) = (or_null(&to.indices), or_null(&to.out));
    // SAFETY: `a` is a checked view of live, initialised elements that are not written during the
    // call; each of `indices` and `out` is NULL or a checked, distinct view that nothing else
    // touches; `given` is a local that outlives the call; the library checks the context token.
    check(unsafe { sys::tnr_top_k(current(), a.0, axis_number(axis), &given, indices, out) })
}

/// Every element of the outputs is written.
pub(crate) fn partition(a: Input<'_>, axis: usize, kth: i64, to: Ordered<'_>) -> Result<()> {
    entered()?;
    let (a, axis) = (input_of(a, &to.out), axis_number(axis));
    let (indices, out) = (or_null(&to.indices), or_null(&to.out));
    // SAFETY: `a` is the address of a lent view, or of `out` for `Input::Output`; each caller that
    // passes `Input::Output` gives an `out`, so `a` is not NULL.
    traced!(partition(unsafe { &*a }));
    // SAFETY: `a` is a lent view (checked, initialised, not written during the call), or the
    // initialised `out` where it is partitioned in place; each of `indices` and `out` is NULL or a
    // checked, distinct view that nothing else touches; the library checks the context token;
    // `attributes` may be NULL.
    check(unsafe { sys::tnr_partition(current(), a, axis, kth, ptr::null(), indices, out) })
}

/// Whether the output has an axis of the quantiles in front.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Front {
    Quantiles,
    Nothing,
}

/// Every element of `out` is written, which has the axes that are not reduced, or all of them with
/// the reduced ones of extent 1, behind that of the quantiles.
pub(crate) fn quantile(
    a: Lent<'_>,
    axes: u32,
    q: &[f64],
    flags: u32,
    front: Front,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(quantile(a.0));
    let given = sys::tnr_quantile_attributes {
        struct_size: size_of::<sys::tnr_quantile_attributes>() as u64,
        flags,
        reserved: 0,
    };
    let out = in_front(a.0, axes, front, out.0)?;
    let count = u32::try_from(q.len()).unwrap_or(u32::MAX);
    // SAFETY: `a` is a checked view of live, initialised elements that are not written during the
    // call; `out` is a local over the elements of the view that was lent for writing; `q` has at
    // least `count` numbers; `given` is a local that outlives the call; the library checks the
    // context token.
    check(unsafe { sys::tnr_quantile(current(), a.0, axes, q.as_ptr(), count, &given, &out) })
}

/// The output as the library wants it: the axis of the quantiles, then the axes that stay.
fn in_front(a: &tnr_view, axes: u32, front: Front, out: &tnr_view_mut) -> Result<tnr_view_mut> {
    let view = &out.view;
    let leading = usize::from(front == Front::Quantiles);
    let (rank, given) = (a.rank as usize, view.rank as usize);
    let stays = rank - axes.count_ones() as usize;
    let keeps_axes = given == rank + leading;
    if !keeps_axes && given != stays + leading || stays >= TNR_MAX_RANK {
        return Err(Error::invalid(format!(
            "out has rank {given} but must have {}, or {} with the reduced axes of extent 1",
            stays + leading,
            rank + leading
        )));
    }
    let mut target = tnr_view { rank: stays as u32 + 1, ..*view };
    (target.shape[0], target.strides[0]) = (1, 1);
    if leading == 1 {
        (target.shape[0], target.strides[0]) = (view.shape[0], view.strides[0]);
    }
    let (mut from, mut to) = (leading, 1);
    for axis in 0..rank {
        let is_reduced = axes & (1 << axis) != 0;
        if is_reduced && keeps_axes {
            if view.shape[from] != 1 {
                return Err(Error::invalid(format!(
                    "out.shape[{from}] is {} but must be 1",
                    view.shape[from]
                )));
            }
            from += 1;
        } else if !is_reduced {
            (target.shape[to], target.strides[to]) = (view.shape[from], view.strides[from]);
            (from, to) = (from + 1, to + 1);
        }
    }
    Ok(tnr_view_mut { view: target })
}

/// Every element of `out` is written.
pub(crate) fn searchsorted(
    a: Lent<'_>,
    values: Lent<'_>,
    flags: u32,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(searchsorted(&out.0.view));
    let given = sys::tnr_searchsorted_attributes {
        struct_size: size_of::<sys::tnr_searchsorted_attributes>() as u64,
        flags,
        reserved: 0,
    };
    // SAFETY: `a` and `values` are checked views of live, initialised elements that are not written
    // during the call; `out` is a checked, distinct view that nothing else touches; `given` is a
    // local that outlives the call; the library checks the context token.
    check(unsafe { sys::tnr_searchsorted(current(), a.0, values.0, &given, out.0) })
}

/// The distinct elements, in a blob that they share with nothing. Every element of `inverse` is
/// written.
pub(crate) fn unique<T: Element>(
    a: Lent<'_>,
    inverse: Option<LentMut<'_>>,
) -> Result<NewTensor<T>> {
    entered()?;
    traced!(unique(a.0));
    let mut out = tnr_view_mut { view: layout::blank(T::DTYPE, 0) };
    let inverse = or_null(&inverse);
    // SAFETY: `a` is a checked view of live, initialised elements that are not written during the
    // call; `inverse` is NULL or a checked, distinct view that nothing else touches; `counts` may
    // be NULL; `out` is a writable local, which the library writes on success; the library checks
    // the context token.
    let blob =
        unsafe { sys::tnr_unique(current(), a.0, ptr::null(), inverse, ptr::null_mut(), &mut out) };
    let blob = owned(blob, Tenure::Allocated)?;
    out.view.owner = 0;
    // SAFETY: over all of a new blob, of the dtype of `a`, and every element is written.
    Ok(unsafe { NewTensor::new(out.view, blob) })
}

/// The distinct elements and how often each occurs, adjacent in one blob: lent to `take`.
pub(crate) fn unique_counts<T: Element, R>(
    a: Lent<'_>,
    take: impl FnOnce(usize, Lent<'_>, Lent<'_>) -> Result<R>,
) -> Result<R> {
    entered()?;
    traced!(unique(a.0));
    let mut out = tnr_view_mut { view: layout::blank(T::DTYPE, 0) };
    let mut counts = tnr_view_mut { view: layout::blank(i64::DTYPE, 0) };
    // SAFETY: `a` is a checked view of live, initialised elements that are not written during the
    // call; `inverse` may be NULL; `out` and `counts` are writable locals, which the library writes
    // on success; the library checks the context token.
    let blob =
        unsafe { sys::tnr_unique(current(), a.0, ptr::null(), ptr::null(), &mut counts, &mut out) };
    let _blob: BlobHandle = owned(blob, Tenure::Allocated)?;
    // SAFETY: valid views of memory that the handle keeps, and that is not written.
    let [values, times] = unsafe { [Lent::new(&out.view), Lent::new(&counts.view)] };
    take(out.view.shape[0] as usize, values, times)
}

/// Every element of `out` is written.
pub(crate) fn bincount(a: Lent<'_>, weights: Option<Lent<'_>>, out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(bincount(a.0));
    let given = sys::tnr_bincount_attributes {
        struct_size: size_of::<sys::tnr_bincount_attributes>() as u64,
        weights: weights.map_or(ptr::null(), |weights| ptr::from_ref(weights.0)),
    };
    // SAFETY: `a` is a checked view of live, initialised elements that are not written during the
    // call; `out` is a checked, distinct view that nothing else touches; `given` is a local that
    // outlives the call, and its `weights` is a lent view or NULL; the library checks the context
    // token.
    check(unsafe { sys::tnr_bincount(current(), a.0, &given, out.0) })
}

/// The bins of a histogram.
pub(crate) enum Bins<'a> {
    Edges(Lent<'a>),
    Even { low: f64, high: f64 },
}

/// Every element of `out` is written.
pub(crate) fn histogram(a: Lent<'_>, bins: Bins<'_>, out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(histogram(a.0));
    let (edges, low, high) = match bins {
        Bins::Edges(edges) => (ptr::from_ref(edges.0), 0.0, 0.0),
        Bins::Even { low, high } => (ptr::null(), low, high),
    };
    let given = sys::tnr_histogram_attributes {
        struct_size: size_of::<sys::tnr_histogram_attributes>() as u64,
        low,
        high,
    };
    // SAFETY: `a` is a checked view of live, initialised elements that are not written during the
    // call; `edges` is such a view or NULL; `out` is a checked, distinct view that nothing else
    // touches; `given` is a local that outlives the call; the library checks the context token.
    check(unsafe { sys::tnr_histogram(current(), a.0, edges, &given, out.0) })
}
