//! Contexts: handles on them, and the calling thread's current one.

use std::cell::Cell;
use std::ptr;

use tenure_sys as sys;
use tenure_sys::{tnr_context, tnr_context_options, tnr_engine};

use super::{entered, last_failure};
use crate::error::Result;
use crate::layout::CPU;

thread_local! {
    // Const and without a destructor, so that reading it is one load, also while the thread ends.
    // The library checks the token, as it checks all: a stale one would be an error.
    static CURRENT: Cell<*mut tnr_context> = const { Cell::new(ptr::null_mut()) };
}

/// The context of the calling thread's operations; NULL is the default one.
#[inline]
pub(crate) fn current() -> *mut tnr_context {
    CURRENT.get()
}

/// Whether another context than the default one is in force, which may have threads.
#[inline]
pub(crate) fn has_context() -> bool {
    !current().is_null()
}

/// Makes a context the calling thread's current one while `f` runs.
///
/// The way back is in this frame and in no value that a caller has, who could forget it.
#[inline]
fn with_current<R>(context: *mut tnr_context, f: impl FnOnce() -> R) -> R {
    struct Restore(*mut tnr_context);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _restore = Restore(CURRENT.replace(context));
    f()
}

/// Calls `f` in the default context.
#[inline]
pub(crate) fn in_default<R>(f: impl FnOnce() -> R) -> R {
    with_current(ptr::null_mut(), f)
}

/// A context of the calling thread and the library's memory.
pub(crate) const PLAIN: tnr_context_options = tnr_context_options {
    struct_size: size_of::<tnr_context_options>() as u64,
    thread_count: 1,
    reserved: 0,
    spawn: None,
    allocate: None,
    deallocate: None,
    user_context: ptr::null_mut(),
    release: None,
    engine: tnr_engine::ENVIRONMENT,
    reserved_end: 0,
    device: CPU,
    stream: 0,
};

/// One handle on a context; dropping it releases it.
pub(crate) struct ContextHandle {
    token: *mut tnr_context,
}

// SAFETY: the handle is a token, and the library takes it from any thread. The hooks behind it are
// Send and Sync by the traits' bounds.
unsafe impl Send for ContextHandle {}
// SAFETY: the handle is a token, and the library takes it from any thread; the hooks behind it are
// Sync by the traits' bounds; no method changes the handle through `&self`.
unsafe impl Sync for ContextHandle {}

impl ContextHandle {
    /// # Safety
    ///
    /// - The hooks and the stream that the options name are what `tnr_context_create` asks of them.
    pub(crate) unsafe fn create(options: &tnr_context_options) -> Result<ContextHandle> {
        entered()?;
        // SAFETY: the options are readable; the rest by this function's contract.
        let token = unsafe { sys::tnr_context_create(options) };
        if token.is_null() {
            return Err(last_failure());
        }
        Ok(ContextHandle { token })
    }

    pub(crate) fn token(&self) -> *mut tnr_context {
        self.token
    }

    pub(crate) fn thread_count(&self) -> usize {
        // SAFETY: the handle is alive.
        unsafe { sys::tnr_context_thread_count(self.token) as usize }
    }

    /// Makes it the calling thread's current context while `f` runs. It is borrowed meanwhile, so
    /// the context that `current` gives cannot be released.
    #[inline]
    pub(crate) fn install<R>(&self, f: impl FnOnce() -> R) -> R {
        with_current(self.token, f)
    }
}

impl Drop for ContextHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again. Calls that still use the context keep it.
        let _ = unsafe { sys::tnr_context_release(self.token) };
    }
}

/// Takes part in the call that the task stands for; if that has returned, does nothing.
pub(crate) fn run_task(task: u64) {
    // SAFETY: the library takes any number, from any thread, any number of times.
    unsafe { sys::tnr_task_run(task) }
}
