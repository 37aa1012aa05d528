//! Sealed programs: all that a run needs, made beforehand, room for its views included.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use tenure_sys as sys;
use tenure_sys::{tnr_memory_plan, tnr_sealed_program, tnr_view, tnr_view_mut};

use super::run::{Call, LendAs, LendOut, ProgramHandle, memory_plan};
use crate::raw::{check, entered, failure, kind_of};
use crate::{ErrorKind, Result};

/// The only handle on a sealed program, which holds the program that it is of.
pub(crate) struct SealedHandle {
    sealed: NonNull<tnr_sealed_program>,
    rooms: Rooms,
    shapes: Shapes,
}

/// As many places as outputs have extents.
struct Shapes {
    ranks: Box<[usize]>,
    extents: Box<[i64]>,
    shape: [usize; sys::TNR_MAX_RANK],
}

// SAFETY: the handle is a token, and the library takes it from any thread; addresses in the rooms
// are not read before a run has written them anew.
unsafe impl Send for SealedHandle {}
// SAFETY: as above; `&self` runs nothing.
unsafe impl Sync for SealedHandle {}

/// As many places as a run has inputs and outputs.
struct Rooms {
    inputs: Box<[*const tnr_view]>,
    outputs: Box<[*const tnr_view_mut]>,
    values: Box<[MaybeUninit<tnr_view>]>,
    values_mut: Box<[MaybeUninit<tnr_view_mut>]>,
}

impl Rooms {
    fn of(program: &ProgramHandle) -> Rooms {
        let (inputs, outputs) = program.view_counts();
        Rooms {
            inputs: (0..inputs).map(|_| ptr::null()).collect(),
            outputs: (0..outputs).map(|_| ptr::null()).collect(),
            values: (0..inputs).map(|_| MaybeUninit::uninit()).collect(),
            values_mut: (0..outputs).map(|_| MaybeUninit::uninit()).collect(),
        }
    }

    /// With nothing lent yet.
    #[inline]
    fn call<'s>(&mut self, program: &ProgramHandle) -> Call<'_, 's> {
        self.inputs.fill(ptr::null());
        self.outputs.fill(ptr::null());
        program.call(&mut self.inputs, &mut self.outputs, &mut self.values, &mut self.values_mut)
    }
}

impl Drop for SealedHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again.
        unsafe { sys::tnr_sealed_program_release(self.sealed.as_ptr()) };
    }
}

impl SealedHandle {
    /// Of the layouts that these have, of which no element is read or written.
    pub(crate) fn new<I, O>(
        program: &ProgramHandle,
        inputs: &mut impl LendAs<I>,
        outputs: &mut impl LendOut<O>,
    ) -> Result<SealedHandle> {
        entered()?;
        let mut rooms = Rooms::of(program);
        let mut call = rooms.call(program);
        inputs.lend(&mut call);
        outputs.lend_out(&mut call);
        let (inputs, outputs) = call.views();
        // SAFETY: views are as the invariant of `Call` says, which is more than the call asks; where
        // there is none the address is NULL, which the library refuses.
        let sealed = unsafe {
            sys::tnr_sealed_program_create(
                program.raw(),
                inputs.as_ptr(),
                inputs.len() as u32,
                outputs.as_ptr(),
                outputs.len() as u32,
            )
        };
        // SAFETY: as in `failure`; a function that gives NULL has written the status.
        let sealed = NonNull::new(sealed)
            .ok_or_else(|| failure(unsafe { (*sys::tnr_last_error()).status }))?;
        // SAFETY: the program was made of them, so that none is NULL.
        let ranks = outputs.iter().map(|out| unsafe { (**out).view.rank as usize }).collect();
        let extents = vec![0; outputs.len() * sys::TNR_MAX_RANK].into();
        let shapes = Shapes { ranks, extents, shape: [0; sys::TNR_MAX_RANK] };
        Ok(SealedHandle { sealed, rooms, shapes })
    }

    /// Runs into memory of the caller's; the kind of a refusal, whose message is `last_message()`.
    #[inline]
    pub(crate) fn run_into<I, O>(
        &mut self,
        program: &ProgramHandle,
        inputs: &mut impl LendAs<I>,
        outputs: &mut impl LendOut<O>,
    ) -> Result<(), ErrorKind> {
        let mut call = self.rooms.call(program);
        inputs.lend(&mut call);
        outputs.lend_out(&mut call);
        let (inputs, outputs) = call.views();
        // SAFETY: views are as the invariant of `Call` says, which is what the call asks; where there
        // is none the address is NULL, which the library refuses.
        let status = unsafe {
            sys::tnr_sealed_program_run(
                self.sealed.as_ptr(),
                inputs.as_ptr(),
                inputs.len() as u32,
                outputs.as_ptr(),
                outputs.len() as u32,
            )
        };
        if status == sys::tnr_status::OK { Ok(()) } else { Err(kind_of(status)) }
    }

    /// That of an output of the last run; none where that failed, or where there is no such output.
    pub(crate) fn output_shape(&mut self, output: usize) -> Option<&[usize]> {
        let Shapes { ranks, extents, shape } = &mut self.shapes;
        let rank = *ranks.get(output)?;
        // SAFETY: the handle is alive, and there are as many extents as is said.
        let status = unsafe {
            sys::tnr_sealed_program_describe_shapes(
                self.sealed.as_ptr(),
                extents.as_mut_ptr(),
                extents.len() as u32,
            )
        };
        if status != sys::tnr_status::OK {
            return None;
        }
        for (extent, found) in shape.iter_mut().zip(&extents[output * sys::TNR_MAX_RANK..]) {
            *extent = *found as usize;
        }
        Some(&shape[..rank])
    }

    pub(crate) fn memory(&self) -> Result<tnr_memory_plan> {
        let mut plan = memory_plan();
        // SAFETY: the handle is alive, and `plan` is writable as far as its `struct_size` says.
        check(unsafe { sys::tnr_sealed_program_memory(self.sealed.as_ptr(), &mut plan) })?;
        Ok(plan)
    }
}

/// The bytes of the calling thread's last message, as many as there is room for; how many.
#[cold]
pub(crate) fn last_message(room: &mut [u8]) -> usize {
    // SAFETY: the pointer is to the calling thread's own error, and no other call is made on this
    // thread while it is read; the message is NUL-terminated.
    let message = unsafe { CStr::from_ptr((*sys::tnr_last_error()).message.as_ptr()) }.to_bytes();
    let count = message.len().min(room.len());
    room[..count].copy_from_slice(&message[..count]);
    count
}
