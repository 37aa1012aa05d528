//! Movement of elements, as the module above has the other operations.

use std::mem::size_of;
use std::ptr;

use tenure_sys as sys;
use tenure_sys::{TNR_MAX_RANK, tnr_binary_op, tnr_pad_mode, tnr_triangle, tnr_view_mut};

use super::context::current;
use super::operations::{IsView, scalar, views_of};
use super::{BlobHandle, Input, Lent, LentMut, check, entered, owned, traced};
use crate::dtype::Element;
use crate::error::Result;
use crate::tenure::Tenure;

/// Parts one behind the other along an axis.
pub(crate) fn concat(parts: &[impl IsView], axis: u32, out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(concat(&out.0.view));
    let (views, count) = views_of(parts);
    // SAFETY:
    // - `views` has `count` adjacent views that are checked, alive, initialised and not written
    //   during the call (`IsView`), or more than the library takes, which it refuses by their
    //   number.
    // - `out` is a checked, distinct view that nothing else touches (`LentMut`).
    // - the library checks the context token.
    check(unsafe { sys::tnr_concat(current(), views, count, axis, ptr::null(), out.0) })
}

/// `a` from index `before` of `out` on, and around it what the mode says.
pub(crate) fn pad<T: Element>(
    mode: tnr_pad_mode,
    a: Lent<'_>,
    before: [i64; TNR_MAX_RANK],
    value: Option<T>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(pad(&out.0.view));
    let none = sys::tnr_scalar { dtype: sys::tnr_dtype(0), reserved: 0, bytes: [0; 16] };
    let around = sys::tnr_pad_attributes {
        struct_size: size_of::<sys::tnr_pad_attributes>() as u64,
        before,
        value: value.map_or(none, scalar),
    };
    // SAFETY: `a` is a checked view of live, initialised elements that are not written during the
    // call; `out` is a checked, distinct view that nothing else touches; `around` is a local that
    // outlives the call; the library checks the context token.
    check(unsafe { sys::tnr_pad(current(), mode, a.0, &around, out.0) })
}

/// The unit that indices name: rows or elements.
#[derive(Clone, Copy)]
pub(crate) enum Names {
    Rows,
    Elements,
}

/// Reads from `a` where indices along an axis say.
pub(crate) fn take(
    names: Names,
    a: Lent<'_>,
    axis: u32,
    indices: Lent<'_>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(take(&out.0.view));
    let call = match names {
        Names::Rows => sys::tnr_take,
        Names::Elements => sys::tnr_gather,
    };
    // SAFETY: `a` and `indices` are checked views of live, initialised elements that are not
    // written during the call; `out` is a checked, distinct view that nothing else touches; the
    // library checks the context token; `attributes` may be NULL.
    check(unsafe { call(current(), a.0, axis, indices.0, ptr::null(), out.0) })
}

/// Writes to `out` where indices along an axis say; an `op` of 0 puts `a` itself. The elements of
/// `out` are initialised.
pub(crate) fn put(
    names: Names,
    op: tnr_binary_op,
    a: Lent<'_>,
    axis: u32,
    indices: Lent<'_>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(put(&out.0.view));
    let call = match names {
        Names::Rows => sys::tnr_put,
        Names::Elements => sys::tnr_scatter,
    };
    // SAFETY: `a` and `indices` are checked views of live, initialised elements that are not
    // written during the call; `out` is a checked, distinct view that nothing else touches, and its
    // elements are initialised; the library checks the context token; `attributes` may be NULL.
    check(unsafe { call(current(), op, a.0, axis, indices.0, ptr::null(), out.0) })
}

/// `out` where the mask is false, else `value`. The elements of `out` are initialised.
pub(crate) fn masked_fill(mask: Lent<'_>, value: Lent<'_>, out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(select(&out.0.view));
    let a = Input::Output.resolve(&out);
    // SAFETY: `mask` and `value` are checked views of live, initialised elements that are not
    // written during the call; `a` is `out` itself, whose elements are initialised; `out` is a
    // checked, distinct view that nothing else touches; the library checks the context token;
    // `attributes` may be NULL.
    check(unsafe { sys::tnr_select(current(), mask.0, value.0, a, ptr::null(), out.0) })
}

/// A triangle of `a`, which may be the output itself.
pub(crate) fn triangular(
    part: tnr_triangle,
    a: Input<'_>,
    diagonal: i64,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(triangular(&out.0.view));
    let struct_size = size_of::<sys::tnr_triangle_attributes>() as u64;
    let with = sys::tnr_triangle_attributes { struct_size, diagonal };
    let a = a.resolve(&out);
    // SAFETY: `a` is a lent view (checked, initialised, not written during the call) or the
    // initialised `out` itself; `out` is a checked, distinct view that nothing else touches; `with`
    // is a local that outlives the call; the library checks the context token.
    check(unsafe { sys::tnr_triangular(current(), part, a, &with, out.0) })
}

/// A blob, and the view that is all of it.
pub(crate) type Made = (BlobHandle, sys::tnr_view);

/// Runs a call that makes a blob and writes a view of it.
fn made(call: impl FnOnce(*mut tnr_view_mut) -> *mut sys::tnr_blob) -> Result<Made> {
    // SAFETY: a struct of numbers and pointers, for which zeros are valid.
    let mut out: tnr_view_mut = unsafe { std::mem::zeroed() };
    let blob = owned(call(&raw mut out), Tenure::Allocated)?;
    Ok((blob, sys::tnr_view { owner: 0, ..out.view }))
}

/// The places of the elements that are not 0: i64, a row for each.
pub(crate) fn nonzero(a: Lent<'_>) -> Result<Made> {
    entered()?;
    traced!(nonzero(a.0));
    // SAFETY: `a` is a checked view of live, initialised elements that are not written during the
    // call; `out` is a writable local of `made`, which the library writes on success; the library
    // checks the context token; `attributes` may be NULL.
    made(|out| unsafe { sys::tnr_nonzero(current(), a.0, ptr::null(), out) })
}

/// The elements of `a`, of its dtype, where the mask is true: a vector.
pub(crate) fn masked_select(a: Lent<'_>, mask: Lent<'_>) -> Result<Made> {
    entered()?;
    traced!(masked_select(a.0));
    // SAFETY: `a` and `mask` are checked views of live, initialised elements that are not written
    // during the call; `out` is a writable local of `made`, which the library writes on success;
    // the library checks the context token; `attributes` may be NULL.
    made(|out| unsafe { sys::tnr_masked_select(current(), a.0, mask.0, ptr::null(), out) })
}
