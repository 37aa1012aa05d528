//! Packed factors: handles, and products.

use std::ptr::{self, NonNull};

use tenure_sys as sys;
use tenure_sys::{tnr_factor, tnr_factor_attributes, tnr_factor_info};

use super::context::current;
use super::operations::{Epilogue, matmul_attributes, or_null, scalar};
use super::{Lent, LentMut, check, entered, last_failure, traced};
use crate::dtype::{DType, Element};
use crate::error::Result;

/// The only handle on a packed factor, and its description; dropping it ends the factor.
#[derive(Debug)]
pub(crate) struct FactorHandle {
    factor: NonNull<tnr_factor>,
    info: tnr_factor_info,
}

// SAFETY: the handle is a token, and the library takes it from any thread; the memory is its own.
unsafe impl Send for FactorHandle {}
// SAFETY: the handle is a token, and the library takes it from any thread; the factor's memory is
// its own, and no method writes it through `&self`.
unsafe impl Sync for FactorHandle {}

impl Drop for FactorHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again.
        unsafe { sys::tnr_factor_release(self.factor.as_ptr()) };
    }
}

impl FactorHandle {
    /// Packs what `b` has now, for left factors of `a_dtype`; with the scales of groups as weights of
    /// 4 bits.
    pub(crate) fn create(
        b: Lent<'_>,
        a_dtype: DType,
        group_scales: Option<Lent<'_>>,
    ) -> Result<Self> {
        entered()?;
        traced!(pack_factor(b.0));
        let attributes = tnr_factor_attributes {
            struct_size: size_of::<tnr_factor_attributes>() as u64,
            a_dtype: a_dtype.raw(),
            reserved: 0,
            group_scales: or_null(group_scales),
        };
        // SAFETY: `Lent` guarantees the requirements on views; the attributes are alive for the
        // call.
        let factor = unsafe { sys::tnr_factor_create(current(), b.0, &attributes) };
        let factor = NonNull::new(factor).ok_or_else(last_failure)?;
        let info = tnr_factor_info {
            struct_size: size_of::<tnr_factor_info>() as u64,
            dtype: sys::tnr_dtype(0),
            a_dtype: sys::tnr_dtype(0),
            rows: 0,
            cols: 0,
            size_bytes: 0,
        };
        let mut handle = FactorHandle { factor, info };
        // SAFETY: the handle is alive, and `info` writable as far as its `struct_size` says.
        check(unsafe { sys::tnr_factor_describe(factor.as_ptr(), &mut handle.info) })?;
        Ok(handle)
    }

    pub(crate) fn info(&self) -> &tnr_factor_info {
        &self.info
    }

    /// The handle, which is alive as long as `self`.
    pub(super) fn raw(&self) -> *const tnr_factor {
        self.factor.as_ptr()
    }

    /// `out = activation(alpha * a b + beta * out + bias)`. With a `beta` of 0 every element of
    /// `out` is written and none read.
    pub(crate) fn matmul<S: Element>(
        &self,
        [alpha, beta]: [S; 2],
        a: Lent<'_>,
        with: Option<Epilogue<'_>>,
        out: LentMut<'_>,
    ) -> Result<()> {
        entered()?;
        traced!(packed_factor_matmul(&out.0.view));
        let (alpha, beta) = (scalar(alpha), scalar(beta));
        let with = with.map(matmul_attributes);
        let with = with.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: what `Lent` and `LentMut` promise is what the call asks; the handle, the scalars
        // and the attributes are alive for it.
        check(unsafe {
            sys::tnr_factor_matmul(current(), &alpha, a.0, self.factor.as_ptr(), &beta, with, out.0)
        })
    }
}
