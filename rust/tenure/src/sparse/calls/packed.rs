//! Packed matrices: handles, and products.

use std::ptr::{self, NonNull};

use tenure_sys as sys;
use tenure_sys::{tnr_packed, tnr_packed_info, tnr_packed_layout};

use super::LentSparse;
use crate::dtype::Element;
use crate::error::Result;
use crate::raw::context::current;
use crate::raw::operations::scalar;
use crate::raw::{Lent, LentMut, check, entered, last_failure, traced};

/// The only handle on a packed matrix, and its description; dropping it ends the matrix.
pub(crate) struct PackedHandle {
    packed: NonNull<tnr_packed>,
    info: tnr_packed_info,
}

// SAFETY: the handle is a token, and the library takes it from any thread; the memory is its own.
unsafe impl Send for PackedHandle {}
// SAFETY: the methods that take `&self` read `info`, which only `create` writes, or multiply, which
// only reads the packed matrix; any thread may make such a call, also at the same time as others.
unsafe impl Sync for PackedHandle {}

impl Drop for PackedHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again.
        unsafe { sys::tnr_packed_release(self.packed.as_ptr()) };
    }
}

impl PackedHandle {
    /// Packs what `a` has now.
    pub(crate) fn create(a: &LentSparse<'_>, layout: tnr_packed_layout) -> Result<Self> {
        entered()?;
        traced!(pack(a.view()));
        // SAFETY: `LentSparse` guarantees the requirements on views.
        let packed = unsafe {
            sys::tnr_packed_create(
                current(),
                a.as_ptr(),
                &sys::tnr_packed_attributes {
                    struct_size: size_of::<sys::tnr_packed_attributes>() as u64,
                    layout,
                    reserved: 0,
                },
            )
        };
        let packed = NonNull::new(packed).ok_or_else(last_failure)?;
        let info = tnr_packed_info {
            struct_size: size_of::<tnr_packed_info>() as u64,
            layout: tnr_packed_layout::AUTO,
            dtype: sys::tnr_dtype(0),
            rows: 0,
            cols: 0,
            nnz: 0,
            size_bytes: 0,
            source_bytes: 0,
            break_even: 0,
            block_rows: 1,
            block_cols: 1,
        };
        let mut handle = PackedHandle { packed, info };
        // SAFETY: the handle is alive, and `info` writable as far as its `struct_size` says.
        check(unsafe { sys::tnr_packed_describe(packed.as_ptr(), &mut handle.info) })?;
        Ok(handle)
    }

    pub(crate) fn info(&self) -> &tnr_packed_info {
        &self.info
    }

    /// `out = alpha * packed b + beta * out`. With a `beta` of 0 every element of `out` is written
    /// and none read.
    pub(crate) fn matmul<S: Element>(
        &self,
        [alpha, beta]: [S; 2],
        b: Lent<'_>,
        out: LentMut<'_>,
    ) -> Result<()> {
        entered()?;
        traced!(packed_matmul(&self.info));
        let (alpha, beta) = (scalar(alpha), scalar(beta));
        // SAFETY: what `Lent` and `LentMut` promise is what the call asks; the handle and the
        // scalars are alive for it.
        check(unsafe {
            sys::tnr_packed_matmul(
                current(),
                &alpha,
                self.packed.as_ptr(),
                b.raw(),
                &beta,
                ptr::null(),
                out.raw(),
            )
        })
    }
}
