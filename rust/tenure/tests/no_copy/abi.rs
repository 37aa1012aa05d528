//! These claims for C callers: the functions of `tenure.h` as C calls them.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use tenure_sys::*;

use crate::probe::Probe;

/// A copy by the C function, released when dropped.
pub struct Blob(*mut tnr_blob);

impl Drop for Blob {
    fn drop(&mut self) {
        // SAFETY: the handle is ours and is released once.
        assert_eq!(unsafe { tnr_blob_release(self.0) }, tnr_status::OK);
    }
}

/// `tnr_blob_copy` of a tensor's elements.
pub fn copy_of(tensor: &tenure::Tensor<f32>) -> Blob {
    let view = tensor.view();
    let data = view.as_slice().unwrap();
    // SAFETY: the slice is readable for its length in bytes.
    let blob = unsafe { tnr_blob_copy(null_mut(), data.as_ptr().cast(), size_of_val(data)) };
    assert!(!blob.is_null());
    Blob(blob)
}

pub fn claims(probe: &Probe) {
    let mut data = probe.data();
    let size_bytes = probe.size_bytes();
    let address = data.as_mut_ptr().cast::<c_void>();
    // SAFETY: `data` outlives every handle made below; each is released, its borrow ended where
    // it has one, before the next is made.
    unsafe {
        held(probe, "tnr_blob_borrow", address, || tnr_blob_borrow(address, size_bytes));
        held(probe, "tnr_blob_borrow_mut", address, || tnr_blob_borrow_mut(address, size_bytes));
        held(probe, "tnr_blob_share", address, || {
            tnr_blob_share(address, size_bytes, None, null_mut())
        });
        held(probe, "tnr_blob_adopt", address, || {
            tnr_blob_adopt(address, size_bytes, None, null_mut())
        });
        let blob = probe.copies_nothing("tnr_blob_adopt", || {
            tnr_blob_adopt(address, size_bytes, None, address)
        });
        let status = probe.copies_nothing("tnr_blob_reclaim", || tnr_blob_reclaim(blob, address));
        assert_eq!(status, tnr_status::OK);
    }
    views(probe, &mut data);
}

/// Makes a blob, looks at it, retains it, views it, and ends it.
///
/// # Safety
/// - `make` lends memory at `address` that stays until this returns.
unsafe fn held(
    probe: &Probe,
    claim: &str,
    address: *mut c_void,
    make: impl FnOnce() -> *mut tnr_blob,
) {
    let shape = [probe.side as i64; 2];
    let blob = probe.copies_nothing(claim, make);
    assert!(!blob.is_null(), "{claim}");
    probe.costs_nothing(claim, || {
        // SAFETY: the handle is live; shape has two extents; the view is written on OK.
        unsafe {
            let second = tnr_blob_retain(blob);
            let mut view = MaybeUninit::uninit();
            let dtype = tnr_dtype::F32;
            let status =
                tnr_blob_view(blob, 0, dtype, 2, shape.as_ptr(), null(), view.as_mut_ptr());
            assert_eq!(status, tnr_status::OK);
            assert_eq!(view.assume_init().data, address.cast_const());
            assert_eq!(tnr_blob_data(blob), address.cast_const());
            assert_eq!(tnr_blob_release(second), tnr_status::OK);
        }
    });
    probe.copies_nothing(claim, || {
        // SAFETY: the handle is live until its one release. Only a borrow can be ended, and the
        // others answer so.
        unsafe {
            let ended = tnr_blob_end_borrow(blob);
            let expected = if claim.contains("borrow") {
                tnr_status::OK
            } else {
                tnr_status::INVALID_ARGUMENT
            };
            assert_eq!(ended, expected, "{claim}");
            assert_eq!(tnr_blob_release(blob), tnr_status::OK, "{claim}");
        }
    });
}

/// `tnr_view_lend`, `_lend_mut` and every `tnr_view_*`: not a byte.
fn views(probe: &Probe, data: &mut [f32]) {
    let side = probe.side as i64;
    let shape = [side, side];
    let size_bytes = size_of_val(data);
    let base = data.as_mut_ptr().cast::<c_void>();
    let mut view = MaybeUninit::<tnr_view>::uninit();
    let lent = probe.costs_nothing("tnr_view_lend", || {
        let (out, dtype) = (view.as_mut_ptr(), tnr_dtype::F32);
        // SAFETY: the slice is readable for its length in bytes, and shape has two extents.
        unsafe { tnr_view_lend(base, size_bytes, 0, dtype, 2, shape.as_ptr(), null(), out) }
    });
    assert_eq!(lent, tnr_status::OK);
    // SAFETY: written by the call that answered OK.
    let view = unsafe { view.assume_init() };

    let mut exclusive = MaybeUninit::<tnr_view_mut>::uninit();
    let lent = probe.costs_nothing("tnr_view_lend_mut", || {
        let (out, dtype) = (exclusive.as_mut_ptr(), tnr_dtype::F32);
        // SAFETY: as above, and the slice is exclusively ours to write.
        unsafe { tnr_view_lend_mut(base, size_bytes, 0, dtype, 2, shape.as_ptr(), null(), out) }
    });
    assert_eq!(lent, tnr_status::OK);

    let claim = |name: &str, call: &dyn Fn(*mut tnr_view) -> tnr_status| {
        let mut out = view;
        let status = probe.costs_nothing(name, || call(&mut out));
        assert_eq!(status, tnr_status::OK, "{name}");
        assert!(out.base == view.base && out.size_bytes == view.size_bytes, "{name}");
    };
    let (half, wide) = (side / 2, [3, side, side]);
    let (folded, axes) = ([2, half, side], [1_u32, 0]);
    let shape = (folded.as_ptr(), wide.as_ptr(), axes.as_ptr());
    // SAFETY: `view` lends `data`, which outlives the calls; every array has the length passed with
    // it; `out` is a view of our own.
    unsafe {
        claim("tnr_view_check", &|_| tnr_view_check(&view));
        claim("tnr_view_slice", &|out| tnr_view_slice(&view, 1, half, -1, -2, out));
        claim("tnr_view_index", &|out| tnr_view_index(&view, 0, half, out));
        claim("tnr_view_permute", &|out| tnr_view_permute(&view, 2, shape.2, out));
        claim("tnr_view_transpose", &|out| tnr_view_transpose(&view, 0, 1, out));
        claim("tnr_view_reshape", &|out| tnr_view_reshape(&view, 3, shape.0, out));
        claim("tnr_view_flatten", &|out| tnr_view_flatten(&view, out));
        claim("tnr_view_unsqueeze", &|out| tnr_view_unsqueeze(&view, 1, out));
        claim("tnr_view_squeeze", &|out| {
            let status = tnr_view_unsqueeze(&view, 0, out);
            assert_eq!(status, tnr_status::OK);
            tnr_view_squeeze(out, 0, out)
        });
        claim("tnr_view_broadcast", &|out| tnr_view_broadcast(&view, 3, shape.1, out));
        claim("tnr_view_flip", &|out| tnr_view_flip(&view, 1, out));
        claim("tnr_view_split", &|out| {
            let mut low = view;
            tnr_view_split(&view, 1, half, &mut low, out)
        });
        claim("tnr_view_chunk", &|out| tnr_view_chunk(&view, 0, 3, 2, out));
        claim("tnr_view_windows", &|out| tnr_view_windows(&view, 1, 5, 3, out));
    }
}
