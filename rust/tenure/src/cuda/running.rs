//! The stream whose program this thread runs.

use std::cell::Cell;
use std::ptr;

use tenure_sys::tnr_context;

use crate::cuda::Stream;

thread_local! {
    // Const and without a destructor, as the current context is.
    static RUNNING: Cell<*const Stream> = const { Cell::new(ptr::null()) };
}

/// Calls `f`, which runs a program, in the stream's context. Operations of users that it calls find
/// the stream by [`running`].
pub(crate) fn run_on<R>(stream: &Stream, f: impl FnOnce() -> R) -> R {
    struct Restore(*const Stream);
    impl Drop for Restore {
        fn drop(&mut self) {
            RUNNING.set(self.0);
        }
    }
    let _restore = Restore(RUNNING.replace(stream));
    stream.within(f)
}

/// The stream of the program that this thread runs, if its context is this one.
pub(crate) fn running(context: *mut tnr_context) -> Option<Stream> {
    // SAFETY: NULL, or borrowed by a frame of `run_on` below this one.
    let stream = unsafe { RUNNING.get().as_ref() }?;
    (stream.handle().token() == context).then(|| stream.clone())
}
