//! Devices, contexts with a stream of one, and blobs in memory of one.

use std::ffi::c_void;

use tenure_sys as sys;
use tenure_sys::{
    tnr_context_options, tnr_device, tnr_device_info, tnr_device_kind, tnr_release_fn,
};

use super::context::PLAIN;
use super::{BlobHandle, ContextHandle, check, entered, owned};
use crate::{Result, Tenure};

/// A device as the ABI names it.
pub(crate) fn device(index: u32) -> tnr_device {
    // An index beyond i32 is none of a device, and the library says so of -1.
    tnr_device { kind: tnr_device_kind::CUDA, index: i32::try_from(index).unwrap_or(-1) }
}

pub(crate) fn device_count() -> Result<u32> {
    entered()?;
    let mut count = 0;
    // SAFETY: `count` is writable.
    check(unsafe { sys::tnr_device_count(tnr_device_kind::CUDA, &mut count) })?;
    Ok(count)
}

pub(crate) fn describe(index: u32) -> Result<tnr_device_info> {
    entered()?;
    let mut info = tnr_device_info {
        struct_size: size_of::<tnr_device_info>() as u64,
        memory_bytes: 0,
        capability_major: 0,
        capability_minor: 0,
        multiprocessor_count: 0,
        reserved: 0,
        name: [0; 256],
    };
    // SAFETY: `info` is writable, and `struct_size` says how far.
    check(unsafe { sys::tnr_device_describe(device(index), &mut info) })?;
    Ok(info)
}

/// With a stream of a device: what is called in such a context is enqueued there.
impl ContextHandle {
    /// A stream of its own.
    pub(crate) fn with_new_stream(index: u32) -> Result<ContextHandle> {
        // SAFETY: the options have no hooks and name no stream.
        unsafe { Self::create(&tnr_context_options { device: device(index), ..PLAIN }) }
    }

    /// # Safety
    ///
    /// - `stream` is one of the device, or CUDA's number of a default stream, and lives longer than
    ///   the context and every blob that is made in it.
    pub(crate) unsafe fn with_stream(index: u32, stream: u64) -> Result<ContextHandle> {
        // SAFETY: the options have no hooks; the stream by this function's contract.
        unsafe { Self::create(&tnr_context_options { device: device(index), stream, ..PLAIN }) }
    }

    /// Returns when everything that was enqueued is done.
    pub(crate) fn wait(&self) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::tnr_context_wait(self.token()) })
    }

    /// Puts what is enqueued from here on after what `other` has got.
    pub(crate) fn follow(&self, other: &ContextHandle) -> Result<()> {
        // SAFETY: both handles are alive.
        check(unsafe { sys::tnr_context_follow(self.token(), other.token()) })
    }
}

impl BlobHandle {
    /// Takes over memory of the device of `home`; nothing is taken on failure.
    ///
    /// # Safety
    ///
    /// - The memory has `size_bytes` bytes, which the holder alone reads and writes until `release`
    ///   is called. Work of others on it comes before the work of `home`'s stream.
    /// - `release(context)` may be called once, from any thread, and does not unwind.
    pub(crate) unsafe fn adopt_on(
        home: &ContextHandle,
        data: *mut c_void,
        size_bytes: usize,
        release: tnr_release_fn,
        context: *mut c_void,
    ) -> Result<BlobHandle> {
        // SAFETY: the context is alive; the rest by this function's contract.
        let token =
            unsafe { sys::tnr_blob_adopt_on(home.token(), data, size_bytes, release, context) };
        owned(token, Tenure::Adopted)
    }
}
