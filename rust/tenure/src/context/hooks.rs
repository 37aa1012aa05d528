//! A context's hooks: executors and allocators that the library calls back.

use std::alloc::Layout;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

use tenure_sys::tnr_engine;

use super::{Allocator, Executor, Task};
use crate::error::Result;
use crate::owner::{Boxed, contained};
use crate::raw::context::PLAIN;
use crate::raw::{ContextHandle, in_default};
use tenure_sys::tnr_context_options;

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
}

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
