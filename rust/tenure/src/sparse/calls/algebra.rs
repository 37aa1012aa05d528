//! Algebra of sparse matrices. The requirements of all of these calls are the invariants of
//! `LentSparse`, `LentSparseMut`, `Lent` and `LentMut`.

use std::ptr;

use tenure_sys as sys;
use tenure_sys::{tnr_binary_op, tnr_reduce_op, tnr_sparse_norm_kind};

use super::{LentSparse, LentSparseMut, Made};
use crate::error::Result;
use crate::raw::context::current;
use crate::raw::{Lent, LentMut, check, entered, traced};

/// The product of two matrices.
pub(crate) fn product(a: &LentSparse<'_>, b: &LentSparse<'_>) -> Result<Made> {
    entered()?;
    traced!(product(a.view()));
    // SAFETY: the arrays of `a` and `b` are alive and not written during the call; the library
    // checks offsets and indices that were not checked before; the attributes may be NULL; a
    // returned handle is the only one of a new matrix, and `take` gets it at once.
    unsafe { Made::take(sys::tnr_sparse_product(current(), a.as_ptr(), b.as_ptr(), ptr::null())) }
}

/// The product of two matrices at the entries of a third.
pub(crate) fn product_masked(
    a: &LentSparse<'_>,
    b: &LentSparse<'_>,
    mask: &LentSparse<'_>,
) -> Result<Made> {
    entered()?;
    traced!(product_masked(a.view()));
    let (a, b, mask) = (a.as_ptr(), b.as_ptr(), mask.as_ptr());
    // SAFETY: the arrays of `a`, `b` and `mask` are alive and not written during the call; the
    // library checks offsets and indices that were not checked before; the attributes may be NULL;
    // a returned handle is the only one of a new matrix, and `take` gets it at once.
    unsafe { Made::take(sys::tnr_sparse_product_masked(current(), a, b, mask, ptr::null())) }
}

/// `a op b`, element by element.
pub(crate) fn binary(op: tnr_binary_op, a: &LentSparse<'_>, b: &LentSparse<'_>) -> Result<Made> {
    entered()?;
    traced!(sparse_binary(op, a.view()));
    // SAFETY: the arrays of `a` and `b` are alive and not written during the call; the library
    // checks offsets and indices that were not checked before; the attributes may be NULL; a
    // returned handle is the only one of a new matrix, and `take` gets it at once.
    unsafe {
        Made::take(sys::tnr_sparse_binary(current(), op, a.as_ptr(), b.as_ptr(), ptr::null()))
    }
}

/// `out += a`.
pub(crate) fn accumulate(a: &LentSparse<'_>, out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(accumulate(a.view()));
    // SAFETY: the arrays of `a` are alive and not written during the call; the library checks
    // offsets and indices that were not checked before; `out` is a checked view of memory that no
    // other code touches during the call; the attributes may be NULL.
    check(unsafe { sys::tnr_sparse_accumulate(current(), a.as_ptr(), ptr::null(), out.raw()) })
}

/// Multiplies rows (`axis` 0) or columns (1) by factors.
pub(crate) fn scale(factors: Lent<'_>, axis: u32, a: &LentSparseMut<'_>) -> Result<()> {
    entered()?;
    traced!(scale(a.view()));
    // SAFETY: no other code touches the values of `a` during the call; its offsets and indices were
    // checked, and they are alive and not written; `factors` is a checked view of memory that is
    // not written by other code; the attributes may be NULL.
    check(unsafe { sys::tnr_sparse_scale(current(), factors.raw(), axis, ptr::null(), a.as_ptr()) })
}

/// Softmax of the entries of each row.
pub(crate) fn softmax(a: &LentSparseMut<'_>) -> Result<()> {
    entered()?;
    traced!(softmax(a.view()));
    // SAFETY: no other code touches the values of `a` during the call; its offsets and indices were
    // checked, and they are alive and not written; the attributes may be NULL.
    check(unsafe { sys::tnr_sparse_softmax(current(), ptr::null(), a.as_ptr()) })
}

/// Reduces over rows (`axes` 1), columns (2) or both (3).
pub(crate) fn reduce(
    op: tnr_reduce_op,
    a: &LentSparse<'_>,
    axes: u32,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(sparse_reduce(op, a.view()));
    // SAFETY: the arrays of `a` are alive and not written during the call; the library checks
    // offsets and indices that were not checked before; `out` is a checked view of memory that no
    // other code touches during the call; the attributes may be NULL.
    check(unsafe {
        sys::tnr_sparse_reduce(current(), op, a.as_ptr(), axes, ptr::null(), out.raw())
    })
}

/// A norm.
pub(crate) fn norm(kind: tnr_sparse_norm_kind, a: &LentSparse<'_>) -> Result<f64> {
    entered()?;
    traced!(norm(kind, a.view()));
    let mut norm = 0.0;
    // SAFETY: the arrays of `a` are alive and not written during the call; the library checks
    // offsets and indices that were not checked before; `norm` is a writable local; the attributes
    // may be NULL.
    check(unsafe { sys::tnr_sparse_norm(current(), kind, a.as_ptr(), ptr::null(), &mut norm) })?;
    Ok(norm)
}

/// The diagonal.
pub(crate) fn diagonal(a: &LentSparse<'_>, out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(diagonal(a.view()));
    // SAFETY: the arrays of `a` are alive and not written during the call; the library checks
    // offsets and indices that were not checked before; `out` is a checked view of memory that no
    // other code touches during the call; the attributes may be NULL.
    check(unsafe { sys::tnr_sparse_diagonal(current(), a.as_ptr(), ptr::null(), out.raw()) })
}

/// The solution of a triangular system.
pub(crate) fn solve(flags: u32, a: &LentSparse<'_>, b: Lent<'_>, out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(solve(a.view()));
    // SAFETY: the arrays of `a` and the memory of `b` are alive and not written during the call;
    // the library checks offsets and indices that were not checked before; `out` is a checked view
    // of memory that no other code touches during the call; the attributes are a temporary that
    // lives until the call returns.
    check(unsafe {
        sys::tnr_sparse_solve(
            current(),
            a.as_ptr(),
            b.raw(),
            &sys::tnr_sparse_solve_attributes {
                struct_size: size_of::<sys::tnr_sparse_solve_attributes>() as u64,
                flags,
                reserved: 0,
            },
            out.raw(),
        )
    })
}
