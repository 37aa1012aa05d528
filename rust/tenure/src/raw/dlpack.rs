//! Managed tensors of DLPack, taken and made.

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use tenure_sys as sys;
use tenure_sys::{
    DLManagedTensor, DLManagedTensorVersioned, TNR_EXPORT_READ_ONLY, tnr_blob, tnr_blob_info,
    tnr_view,
};

use super::{BlobHandle, ContextHandle, check, entered, owned};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout;
use crate::tenure::Tenure;

impl BlobHandle {
    /// Takes a managed tensor over, exactly when it succeeds: a blob over its elements, and a view
    /// of them that has no owner.
    ///
    /// # Safety
    ///
    /// - The conditions of `Imported::from_raw`.
    pub(crate) unsafe fn import(
        tensor: NonNull<DLManagedTensorVersioned>,
    ) -> Result<(BlobHandle, tnr_view)> {
        // SAFETY: by this function's contract; the library writes the view.
        Self::imported(|out| unsafe { sys::tnr_blob_import(tensor.as_ptr(), out) })
    }

    /// Imports a tensor from before DLPack 1.0, like [`import`](Self::import).
    ///
    /// # Safety
    ///
    /// - The conditions of `Imported::from_raw_legacy`.
    pub(crate) unsafe fn import_legacy(
        tensor: NonNull<DLManagedTensor>,
    ) -> Result<(BlobHandle, tnr_view)> {
        // SAFETY: `tensor` meets the requirements by this function's contract; `out` is a writable
        // local of `imported`, which the library writes on success.
        Self::imported(|out| unsafe { sys::tnr_blob_import_legacy(tensor.as_ptr(), out) })
    }

    /// Imports a tensor on the device of `home`, in the order of its stream, like
    /// [`import`](Self::import).
    ///
    /// # Safety
    ///
    /// - The conditions of `Stream::import`.
    pub(crate) unsafe fn import_on(
        home: &ContextHandle,
        tensor: NonNull<DLManagedTensorVersioned>,
    ) -> Result<(BlobHandle, tnr_view)> {
        // SAFETY: the context handle is alive; `tensor` meets the requirements by this function's
        // contract; `out` is a writable local of `imported`, which the library writes on success.
        Self::imported(|out| unsafe { sys::tnr_blob_import_on(home.token(), tensor.as_ptr(), out) })
    }

    /// Imports a tensor from before DLPack 1.0, like [`import_on`](Self::import_on).
    ///
    /// # Safety
    ///
    /// - The conditions of `Stream::import_legacy`.
    pub(crate) unsafe fn import_legacy_on(
        home: &ContextHandle,
        tensor: NonNull<DLManagedTensor>,
    ) -> Result<(BlobHandle, tnr_view)> {
        // SAFETY: the context handle is alive; `tensor` meets the requirements by this function's
        // contract; `out` is a writable local of `imported`, which the library writes on success.
        Self::imported(|out| unsafe {
            sys::tnr_blob_import_legacy_on(home.token(), tensor.as_ptr(), out)
        })
    }

    fn imported(
        take: impl FnOnce(&mut tnr_view) -> *mut tnr_blob,
    ) -> Result<(BlobHandle, tnr_view)> {
        entered()?;
        let mut view = layout::blank(DType::U8, 0);
        let token = take(&mut view);
        let mut blob = owned(token, Tenure::Adopted)?;
        blob.tenure = blob.described_tenure()?;
        view.owner = 0;
        Ok((blob, view))
    }

    /// Whether the imported tensor may be written: `Adopted`, else `Shared`.
    fn described_tenure(&self) -> Result<Tenure> {
        let mut info = tnr_blob_info {
            struct_size: size_of::<tnr_blob_info>() as u64,
            data: ptr::null(),
            size_bytes: 0,
            device: sys::tnr_device { kind: sys::tnr_device_kind::CPU, index: 0 },
            tenure: sys::tnr_tenure::ADOPTED,
            holder_count: 0,
            pin_count: 0,
            reserved: 0,
        };
        // SAFETY: the handle is alive, and `info` is writable as far as its `struct_size` says.
        check(unsafe { sys::tnr_blob_describe(self.token, &mut info) })?;
        Ok(if info.tenure == sys::tnr_tenure::SHARED { Tenure::Shared } else { Tenure::Adopted })
    }

    /// A managed tensor over `view`, which is of this blob's memory; it holds on to the blob.
    pub(crate) fn export(
        &self,
        view: &tnr_view,
        is_read_only: bool,
    ) -> Result<NonNull<DLManagedTensorVersioned>> {
        let held = self.owned(view);
        let flags = if is_read_only { TNR_EXPORT_READ_ONLY } else { 0 };
        let mut tensor = ptr::null_mut();
        // SAFETY: the view is a value, whose owner the library asks; the place is writable.
        check(unsafe { sys::tnr_view_export(&held, flags, &mut tensor) })?;
        Ok(NonNull::new(tensor).expect("a tensor was written, or the status was no OK"))
    }
}

/// A managed tensor over a view on a device, for a consumer that works on the context's stream; it
/// holds on to the blob that the view names.
pub(crate) fn export_on(
    consumer: &ContextHandle,
    view: &tnr_view,
) -> Result<NonNull<DLManagedTensorVersioned>> {
    let mut tensor = ptr::null_mut();
    // SAFETY: the context is alive; the view is a value, whose owner the library asks; the place is
    // writable.
    check(unsafe { sys::tnr_view_export_on(consumer.token(), view, 0, &mut tensor) })?;
    Ok(NonNull::new(tensor).expect("a tensor was written, or the status was no OK"))
}

/// The first fields of every versioned tensor, of whatever version.
#[repr(C)]
struct ManagedHead {
    version: [u32; 2],
    manager_context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
}

/// Calls the deleter.
///
/// # Safety
///
/// - `tensor` is a managed tensor that no other code deletes, and is not used again.
pub(crate) unsafe fn delete(tensor: NonNull<DLManagedTensorVersioned>) {
    // SAFETY: by this function's contract.
    unsafe {
        if let Some(deleter) = (*tensor.as_ptr().cast::<ManagedHead>()).deleter {
            deleter(tensor.as_ptr());
        }
    }
}
