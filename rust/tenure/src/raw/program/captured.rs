//! Captured programs: what they hold on a device, and the handle.

use std::ptr::{self, NonNull};

use tenure_sys as sys;
use tenure_sys::tnr_captured_program;

use super::run::{Call, Options, ProgramHandle};
use crate::Result;
use crate::cuda::Stream;
use crate::raw::context::current;
use crate::raw::{check, entered, failure};

/// The only handle on a captured program.
pub(crate) struct CapturedHandle(NonNull<tnr_captured_program>);

// SAFETY: the handle is a token, and the library takes it from any thread.
unsafe impl Send for CapturedHandle {}
// SAFETY: as above.
unsafe impl Sync for CapturedHandle {}

impl Drop for CapturedHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again.
        unsafe { sys::tnr_captured_program_release(self.0.as_ptr()) };
    }
}

impl CapturedHandle {
    /// Of inputs and outputs that `lend` lends, whose blobs the library holds from here on.
    pub(crate) fn new<'s>(
        program: &ProgramHandle,
        stream: &Stream,
        options: Options,
        lend: impl FnOnce(&mut Call<'_, 's>),
    ) -> Result<CapturedHandle> {
        entered()?;
        let attributes = sys::tnr_program_run_attributes {
            struct_size: size_of::<sys::tnr_program_run_attributes>() as u64,
            budget_bytes: options.budget_bytes,
            step_nanoseconds: ptr::null_mut(),
            step_count: 0,
            flags: options.flags,
            output_shapes: ptr::null_mut(),
        };
        program.with_call(|call| {
            lend(call);
            let (inputs, outputs) = call.views();
            let create = || {
                // SAFETY: views are as the invariant of `Call` says, and name their blobs as owners;
                // where there is none the address is NULL, which the library refuses.
                unsafe {
                    sys::tnr_captured_program_create(
                        current(),
                        program.raw(),
                        inputs.as_ptr(),
                        inputs.len() as u32,
                        &attributes,
                        outputs.as_ptr(),
                        outputs.len() as u32,
                    )
                }
            };
            let captured = NonNull::new(stream.within(create));
            // SAFETY: as in `failure`; a function that gives NULL has written the status.
            let captured =
                captured.ok_or_else(|| failure(unsafe { (*sys::tnr_last_error()).status }))?;
            Ok(CapturedHandle(captured))
        })
    }

    /// Enqueues the run.
    ///
    /// # Safety
    ///
    /// - Nobody else reads or writes the elements of its outputs and of the inputs that it updates
    ///   by work that is not ordered with that of their blobs, or counts on what they hold.
    pub(crate) unsafe fn run(&self, stream: &Stream) -> Result<()> {
        entered()?;
        // SAFETY: the handle is alive; the memory by this function's contract.
        let run = || unsafe { sys::tnr_captured_program_run(current(), self.0.as_ptr()) };
        check(stream.within(run))
    }
}
