//! Devices, contexts with a stream of one, events, and blobs in memory of one or for one.

use std::ffi::c_void;
use std::ptr::{self, NonNull};

use tenure_sys as sys;
use tenure_sys::{
    tnr_context_options, tnr_device, tnr_device_info, tnr_device_kind, tnr_engine, tnr_event,
    tnr_release_fn,
};

use super::context::PLAIN;
use super::{BlobHandle, ContextHandle, Lent, LentMut, check, entered, last_failure, owned};
use crate::error::Result;
use crate::tenure::Tenure;

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

/// Contexts with a stream of a device: a call in such a context is enqueued on that stream.
impl ContextHandle {
    /// A stream of its own.
    pub(crate) fn with_new_stream(index: u32, engine: tnr_engine) -> Result<ContextHandle> {
        // SAFETY: the options have no hooks and name no stream.
        unsafe { Self::create(&tnr_context_options { device: device(index), engine, ..PLAIN }) }
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

    /// Orders work that is enqueued from here on after the work that `other` has received.
    pub(crate) fn follow(&self, other: &ContextHandle) -> Result<()> {
        // SAFETY: both handles are alive.
        check(unsafe { sys::tnr_context_follow(self.token(), other.token()) })
    }
}

/// Enqueues a copy on the stream of `home`, between the host and its device.
///
/// # Safety
///
/// - What `Lent` or `LentMut` promises of the host's view holds until the copy is done. That its
///   memory is alive, the library sees to where the view names an owner.
pub(crate) unsafe fn copy_async(home: &ContextHandle, a: Lent<'_>, out: LentMut<'_>) -> Result<()> {
    // SAFETY: the context is alive; the views by this function's contract.
    check(unsafe { sys::tnr_copy_async(home.token(), a.0, ptr::null(), out.0) })
}

/// One handle on an event; dropping it releases it.
pub(crate) struct EventHandle {
    token: NonNull<tnr_event>,
}

// SAFETY: the handle is a token, and the library takes it from any thread.
unsafe impl Send for EventHandle {}
// SAFETY: the handle is a token, and the library takes it from any thread; no method changes the
// handle through `&self`.
unsafe impl Sync for EventHandle {}

impl EventHandle {
    /// The work that the context's stream has got so far.
    pub(crate) fn of(context: &ContextHandle) -> Result<EventHandle> {
        // SAFETY: the context is alive.
        let token = NonNull::new(unsafe { sys::tnr_event_create(context.token()) });
        let token = token.ok_or_else(last_failure)?;
        Ok(EventHandle { token })
    }

    /// Returns when its work is done.
    pub(crate) fn wait(&self) -> Result<()> {
        // SAFETY: the handle is alive.
        check(unsafe { sys::tnr_event_wait(self.token.as_ptr()) })
    }

    /// Whether its work is done.
    pub(crate) fn is_done(&self) -> Result<bool> {
        let mut is_done = 0;
        // SAFETY: the handle is alive, and the place is writable.
        check(unsafe { sys::tnr_event_query(self.token.as_ptr(), &mut is_done) })?;
        Ok(is_done != 0)
    }

    /// Puts what `context` gets from here on after its work.
    pub(crate) fn precede(&self, context: &ContextHandle) -> Result<()> {
        // SAFETY: both handles are alive.
        check(unsafe { sys::tnr_context_follow_event(context.token(), self.token.as_ptr()) })
    }
}

impl Drop for EventHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again.
        let _ = unsafe { sys::tnr_event_release(self.token.as_ptr()) };
    }
}

impl BlobHandle {
    /// Memory of the host that the device of `home` reaches itself; its bytes are undefined.
    pub(crate) fn alloc_pinned(home: &ContextHandle, size_bytes: usize) -> Result<BlobHandle> {
        // SAFETY: the context is alive.
        let token = unsafe { sys::tnr_blob_alloc_pinned(home.token(), size_bytes) };
        owned(token, Tenure::Allocated)
    }

    /// Takes over memory of the device of `home`; nothing is taken on failure.
    ///
    /// # Safety
    ///
    /// - The memory has `size_bytes` bytes, which only the holder reads and writes until `release`
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
