//! Bound programs: the handle, and runs, which lend views as those of programs do.

// See `program/bound.rs` for the reason.
#![allow(clippy::result_large_err)]

use std::ffi::CStr;
use std::fmt;
use std::io::Write;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::{Mutex, TryLockError};

use tenure_sys as sys;
use tenure_sys::{tnr_bound, tnr_memory_plan, tnr_status, tnr_view, tnr_view_mut};

use super::blank::RunExtents;
use super::run::{Options, ProgramHandle, REFUSED_VALUES, memory_plan};
use crate::error::{ErrorKind, Result};
use crate::raw::call::{Counts, INLINE, ProgramCall};
use crate::raw::context::current;
use crate::raw::{check, entered, kind_of, last_failure};

/// How a program is bound.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    Plain,
    Preallocated,
    Captured,
}

/// The only handle on a bound program.
pub(crate) struct BoundHandle {
    bound: NonNull<tnr_bound>,
    counts: Counts,
    #[cfg(feature = "tracing")]
    binding: Binding,
    /// Room for the views of a run that may not allocate, where the stack has none.
    rooms: Option<Mutex<Rooms>>,
    /// Flags of each run.
    flags: u32,
}

// SAFETY: the handle is a token, and the library takes it from any thread; addresses in the rooms
// are not read before a run has written them anew.
unsafe impl Send for BoundHandle {}
// SAFETY: the handle is a token, and the library takes runs of it from any number of threads; the
// rooms are behind a lock, and addresses in them are not read before a run has written them anew.
unsafe impl Sync for BoundHandle {}

impl Drop for BoundHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again.
        unsafe { sys::tnr_bound_release(self.bound.as_ptr()) };
    }
}

/// CallSites for the inputs and outputs of a run.
struct Rooms {
    inputs: Box<[*const tnr_view]>,
    outputs: Box<[*const tnr_view_mut]>,
    values: Box<[MaybeUninit<tnr_view>]>,
    values_mut: Box<[MaybeUninit<tnr_view_mut>]>,
}

impl Rooms {
    fn of(counts: Counts) -> Rooms {
        let (inputs, outputs) = counts.views();
        Rooms {
            inputs: (0..inputs).map(|_| ptr::null()).collect(),
            outputs: (0..outputs).map(|_| ptr::null()).collect(),
            values: (0..inputs).map(|_| MaybeUninit::uninit()).collect(),
            values_mut: (0..outputs).map(|_| MaybeUninit::uninit()).collect(),
        }
    }

    /// With nothing lent yet.
    fn call<'s>(&mut self, counts: Counts) -> ProgramCall<'_, 's> {
        self.inputs.fill(ptr::null());
        self.outputs.fill(ptr::null());
        counts.call(&mut self.inputs, &mut self.outputs, &mut self.values, &mut self.values_mut)
    }
}

/// Bytes of a message of the library, at most.
const MESSAGE: usize = 256;

/// An error that is not allocated.
#[derive(Clone, Copy)]
pub(crate) struct Refusal {
    pub(crate) kind: ErrorKind,
    length: u16,
    message: [u8; MESSAGE],
}

impl Refusal {
    /// With as much of the message as there is room for.
    #[cold]
    pub(crate) fn new(kind: ErrorKind, message: fmt::Arguments<'_>) -> Refusal {
        let mut room = [0; MESSAGE];
        let mut rest = room.as_mut_slice();
        // Fails where it is cut.
        let _ = rest.write_fmt(message);
        let length = (MESSAGE - rest.len()) as u16;
        Refusal { kind, length, message: room }
    }

    /// The calling thread's last error.
    #[cold]
    fn last(status: tnr_status) -> Refusal {
        // SAFETY: the pointer is to the calling thread's own error, and no other call is made on this
        // thread while it is read; the message is NUL-terminated.
        let message = unsafe { CStr::from_ptr((*sys::tnr_last_error()).message.as_ptr()) };
        let message = message.to_bytes();
        let length = message.len().min(MESSAGE);
        let mut room = [0; MESSAGE];
        room[..length].copy_from_slice(&message[..length]);
        Refusal { kind: kind_of(status), length: length as u16, message: room }
    }

    pub(crate) fn message(&self) -> &str {
        let message = &self.message[..usize::from(self.length)];
        // Messages are of ASCII, but a name of the user's may be cut.
        match std::str::from_utf8(message) {
            Ok(message) => message,
            Err(end) => std::str::from_utf8(&message[..end.valid_up_to()]).unwrap_or(""),
        }
    }
}

/// A run answers with one by value, which is written where it is refused only.
pub(crate) type Ran = std::result::Result<(), Refusal>;

impl ProgramHandle {
    /// Binds the program to the layouts of the views that `lend` lends, in the context that `within`
    /// makes the current one. A captured one holds their blobs.
    pub(crate) fn bind<'s>(
        &self,
        binding: Binding,
        options: Options,
        lend: impl FnOnce(&mut ProgramCall<'_, 's>),
        within: impl FnOnce(&mut dyn FnMut()),
    ) -> Result<(BoundHandle, Vec<Vec<usize>>)> {
        entered()?;
        let way = match binding {
            Binding::Plain => 0,
            Binding::Preallocated => sys::TNR_BOUND_PREALLOCATED,
            Binding::Captured => sys::TNR_BOUND_CAPTURED,
        };
        let has_budget = options.flags & sys::TNR_RUN_BUDGET != 0;
        let attributes = sys::tnr_bound_attributes {
            struct_size: size_of::<sys::tnr_bound_attributes>() as u64,
            budget_bytes: options.budget_bytes,
            flags: way | if has_budget { sys::TNR_BOUND_BUDGET } else { 0 },
            reserved: 0,
        };
        self.with_call(|call| {
            lend(call);
            let (inputs, outputs) = call.views();
            let mut bound = ptr::null_mut();
            within(&mut || {
                // SAFETY: views are as the invariant of `ProgramCall` says, which is more than the
                // call asks; those of a device name their blobs as owners. Where there is no view
                // the address is NULL, which the library refuses.
                bound = unsafe {
                    sys::tnr_bound_create(
                        current(),
                        self.raw(),
                        inputs.as_ptr(),
                        inputs.len() as u32,
                        &attributes,
                        outputs.as_ptr(),
                        outputs.len() as u32,
                    )
                };
            });
            let bound = NonNull::new(bound).ok_or_else(last_failure)?;
            let counts = self.counts();
            let takes_rooms = binding == Binding::Preallocated && counts.most() > INLINE;
            let rooms = takes_rooms.then(|| Mutex::new(Rooms::of(counts)));
            let flags = options.flags & (sys::TNR_RUN_CHECKED | REFUSED_VALUES);
            let handle = BoundHandle {
                bound,
                counts,
                #[cfg(feature = "tracing")]
                binding,
                rooms,
                flags,
            };
            let shape_of = |out: &*const tnr_view_mut| {
                // SAFETY: the address of a view by the invariant: the library has refused NULL.
                let view = unsafe { &(**out).view };
                view.shape[..view.rank as usize].iter().map(|extent| *extent as usize).collect()
            };
            Ok((handle, outputs[..counts.outputs].iter().map(shape_of).collect()))
        })
    }
}

impl BoundHandle {
    /// Outputs with those that update inputs.
    pub(crate) fn output_count(&self) -> usize {
        self.counts.views().1
    }

    /// Writes every element of the outputs that `lend` lends where the answer is Ok, or enqueues
    /// that. Where a run decides how large an output is, it writes the first part along each axis.
    /// `extents` are of all outputs, or none.
    #[inline]
    pub(crate) fn run<'s>(
        &self,
        lend: impl FnOnce(&mut ProgramCall<'_, 's>),
        extents: &mut [RunExtents],
    ) -> Ran {
        let Some(rooms) = &self.rooms else {
            return self.counts.with_call(|call| {
                lend(call);
                self.run_call(call, extents)
            });
        };
        // A run that panicked may have left views there, which are overwritten.
        let mut rooms = match rooms.try_lock() {
            Ok(rooms) => rooms,
            Err(TryLockError::Poisoned(rooms)) => rooms.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let why =
                    "bound is preallocated, with memory for one run, and another thread runs it";
                return Err(Refusal::new(ErrorKind::Busy, format_args!("{why}")));
            }
        };
        let mut call = rooms.call(self.counts);
        lend(&mut call);
        self.run_call(&call, extents)
    }

    #[inline]
    fn run_call(&self, call: &ProgramCall<'_, '_>, extents: &mut [RunExtents]) -> Ran {
        assert!(extents.is_empty() || extents.len() == self.output_count());
        // A span may allocate.
        #[cfg(feature = "tracing")]
        let _traced = if self.binding == Binding::Preallocated { None } else { call.traced() };
        let attributes;
        let mut asked = ptr::null();
        if self.flags != 0 || !extents.is_empty() {
            attributes = run_attributes(self.flags, extents);
            asked = &attributes;
        }
        let (inputs, outputs) = call.views();
        // SAFETY: views are as the invariant of `ProgramCall` says, which is what the call asks;
        // where there is none the address is NULL, which the library refuses. Extents are those of
        // all outputs where the attributes are given for them.
        answered(unsafe {
            sys::tnr_bound_run(
                current(),
                self.bound.as_ptr(),
                inputs.as_ptr(),
                inputs.len() as u32,
                asked,
                outputs.as_ptr(),
                outputs.len() as u32,
            )
        })
    }

    /// Enqueues the run of a captured program, in the current context.
    ///
    /// # Safety
    ///
    /// - No other code reads or writes the elements of its outputs and of the inputs that it
    ///   updates by work that is not ordered with that of their blobs, or relies on their values.
    pub(crate) unsafe fn run_captured(&self) -> Ran {
        // SAFETY: the handle is alive, and a captured program takes no views; the memory by this
        // function's contract.
        answered(unsafe {
            let (bound, none) = (self.bound.as_ptr(), ptr::null());
            sys::tnr_bound_run(current(), bound, ptr::null(), 0, none, ptr::null(), 0)
        })
    }

    pub(crate) fn memory(&self) -> Result<tnr_memory_plan> {
        let mut plan = memory_plan();
        // SAFETY: the handle is alive, and `plan` is writable as far as its `struct_size` says.
        check(unsafe { sys::tnr_bound_memory(self.bound.as_ptr(), &mut plan) })?;
        Ok(plan)
    }
}

/// Extents are of all outputs, or none.
#[cold]
fn run_attributes(flags: u32, extents: &mut [RunExtents]) -> sys::tnr_program_run_attributes {
    sys::tnr_program_run_attributes {
        struct_size: size_of::<sys::tnr_program_run_attributes>() as u64,
        budget_bytes: 0,
        step_nanoseconds: ptr::null_mut(),
        step_count: 0,
        flags,
        output_shapes: match extents.is_empty() {
            true => ptr::null_mut(),
            false => extents.as_mut_ptr().cast(),
        },
    }
}

#[inline]
fn answered(status: tnr_status) -> Ran {
    if status == tnr_status::OK { Ok(()) } else { Err(Refusal::last(status)) }
}
