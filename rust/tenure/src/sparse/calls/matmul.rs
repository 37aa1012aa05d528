//! Sparse times dense, and dense times dense where a pattern says.

use std::ptr;

use tenure_sys as sys;
use tenure_sys::tnr_orientation;

use super::LentSparse;
use crate::dtype::Element;
use crate::error::Result;
use crate::raw::context::current;
use crate::raw::operations::scalar;
use crate::raw::{Lent, LentMut, check, entered, traced};

/// The `[alpha, beta]` of plain products: 1, and nothing of what `out` held.
pub(crate) const PLAIN: [u8; 2] = [1, 0];

/// `out = alpha * a b + beta * out`, where `a` may be meant transposed. With a `beta` of 0 every
/// element of `out` is written and none read.
pub(crate) fn matmul<S: Element>(
    [alpha, beta]: [S; 2],
    a: &LentSparse<'_>,
    orientation: tnr_orientation,
    b: Lent<'_>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(matmul(orientation, a.view()));
    let (alpha, beta) = (scalar(alpha), scalar(beta));
    // SAFETY: what `LentSparse`, `Lent` and `LentMut` promise is what the call asks; the scalars
    // are alive for it.
    check(unsafe {
        sys::tnr_sparse_matmul(
            current(),
            orientation,
            &alpha,
            a.as_ptr(),
            b.raw(),
            &beta,
            ptr::null(),
            out.raw(),
        )
    })
}

/// `out[k] = alpha * (row i of x, times column j of y) [* a.values[k]]` for each entry of `a`;
/// every element of `out` is written and none read.
pub(crate) fn sddmm<S: Element>(
    alpha: S,
    a: &LentSparse<'_>,
    flags: u32,
    x: Lent<'_>,
    y: Lent<'_>,
    out: LentMut<'_>,
) -> Result<()> {
    entered()?;
    traced!(sddmm(a.view()));
    let alpha = scalar(alpha);
    // SAFETY: the arrays of `a` and the memory of `x` and `y` are alive and not written during the
    // call; the library checks offsets and indices that were not checked before; `out` is a checked
    // view of memory that no other code touches during the call; `alpha` and the attributes live
    // until the call returns.
    check(unsafe {
        sys::tnr_sparse_sddmm(
            current(),
            &alpha,
            a.as_ptr(),
            x.raw(),
            y.raw(),
            &sys::tnr_sparse_sddmm_attributes {
                struct_size: size_of::<sys::tnr_sparse_sddmm_attributes>() as u64,
                flags,
                reserved: 0,
            },
            out.raw(),
        )
    })
}
