//! Contexts: handles on them, the calling thread's current one, and the hooks that the library
//! calls back.

use std::alloc::Layout;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

use tenure_sys as sys;
use tenure_sys::{tnr_context, tnr_context_options, tnr_engine};

use super::{entered, failure};
use crate::layout::CPU;
use crate::owner::{Boxed, contained};
use crate::{Allocator, Executor, Result, Task};

thread_local! {
    // Const and without a destructor, so that reading it is one load, also while the thread ends.
    // The library checks the token, as it checks all: a stale one would be an error.
    static CURRENT: Cell<*mut tnr_context> = const { Cell::new(ptr::null_mut()) };
}

/// The context of the calling thread's operations; NULL is the default one.
#[inline]
pub(super) fn current() -> *mut tnr_context {
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
pub(super) const PLAIN: tnr_context_options = tnr_context_options {
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
// SAFETY: as above; no method changes the handle through `&self`.
unsafe impl Sync for ContextHandle {}

impl ContextHandle {
    /// Hooks that are not taken are dropped.
    pub(crate) fn new(
        thread_count: u32,
        engine: tnr_engine,
        hooks: Hooks,
    ) -> Result<ContextHandle> {
        let mut options = tnr_context_options { thread_count, engine, ..PLAIN };
        if hooks.executor.is_some() {
            options.spawn = Some(spawn);
        }
        if hooks.allocator.is_some() {
            options.allocate = Some(allocate);
            options.deallocate = Some(deallocate);
        }
        let made = Boxed::new(hooks).hand_over(|release, hooks| {
            (options.user_context, options.release) = (hooks, release);
            // SAFETY: the hooks stay until `release` is called, and their functions take what the
            // library promises to give them, from any thread, without unwinding.
            unsafe { Self::create(&options) }
        });
        made.map(|(handle, _)| handle).map_err(|(error, _hooks)| error)
    }

    /// # Safety
    ///
    /// - The hooks and the stream that the options name are what `tnr_context_create` asks of them.
    pub(super) unsafe fn create(options: &tnr_context_options) -> Result<ContextHandle> {
        entered()?;
        // SAFETY: the options are readable; the rest by this function's contract.
        let token = unsafe { sys::tnr_context_create(options) };
        if token.is_null() {
            // SAFETY: as in `failure`; a constructor that gives NULL has written the status.
            return Err(failure(unsafe { (*sys::tnr_last_error()).status }));
        }
        Ok(ContextHandle { token })
    }

    pub(super) fn token(&self) -> *mut tnr_context {
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

// ---- what the library calls back ----

/// A context's sources of threads and memory. Every call to one is made in the default context: a
/// hook that computes does not call itself.
pub(crate) struct Hooks {
    pub(crate) executor: Option<Box<dyn Executor>>,
    pub(crate) allocator: Option<Box<dyn Allocator>>,
}

/// An executor that panics has given no thread.
///
/// # Safety
///
/// - `hooks` points to `Hooks` with an executor, which outlive the call.
unsafe extern "C" fn spawn(hooks: *mut c_void, task: u64) {
    // SAFETY: by this function's contract; executors are Sync.
    let hooks = unsafe { &*hooks.cast::<Hooks>() };
    if let Some(executor) = &hooks.executor {
        contained(|| in_default(|| executor.spawn(Task::new(task))));
    }
}

/// An allocator that panics has given no memory.
///
/// # Safety
///
/// - `hooks` points to `Hooks` with an allocator, which outlive the call.
unsafe extern "C" fn allocate(
    hooks: *mut c_void,
    size_bytes: usize,
    alignment: usize,
) -> *mut c_void {
    // SAFETY: by this function's contract; allocators are Sync.
    let hooks = unsafe { &*hooks.cast::<Hooks>() };
    // No memory has a size that is no layout's.
    let (Some(allocator), Ok(layout)) =
        (&hooks.allocator, Layout::from_size_align(size_bytes, alignment))
    else {
        return ptr::null_mut();
    };
    let memory = contained(|| in_default(|| allocator.allocate(layout)));
    memory.flatten().map_or(ptr::null_mut(), |memory| memory.as_ptr().cast())
}

/// An allocator that panics here has kept the memory.
///
/// # Safety
///
/// - `hooks` points to `Hooks` with an allocator, which outlive the call.
/// - `data` is what `allocate` gave for this size and alignment, and is not used again.
unsafe extern "C" fn deallocate(
    hooks: *mut c_void,
    data: *mut c_void,
    size_bytes: usize,
    alignment: usize,
) {
    // SAFETY: by this function's contract; allocators are Sync.
    let hooks = unsafe { &*hooks.cast::<Hooks>() };
    let (Some(allocator), Some(data), Ok(layout)) = (
        &hooks.allocator,
        NonNull::new(data.cast::<u8>()),
        Layout::from_size_align(size_bytes, alignment),
    ) else {
        return;
    };
    // SAFETY: the memory is this allocator's, with this layout, and is not used again.
    contained(|| in_default(|| unsafe { allocator.deallocate(data, layout) }));
}
