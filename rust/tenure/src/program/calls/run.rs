//! Programs: what a run lends them, and the memory that it fills.

use std::ptr::{self, NonNull};

use tenure_sys as sys;
use tenure_sys::{tnr_memory_plan, tnr_program, tnr_view_mut};

use super::blank::{DynBlank, OutputMemory, RunExtents, Shape};
use super::fresh::{Fresh, Shapes};
use crate::dense::{DynTensor, Tensor};
use crate::dtype::DType;
use crate::error::Result;
use crate::layout;
use crate::ops::results::Extents;
use crate::program::tree::{LendAs, LendOut};
use crate::raw::call::{Counts, ProgramCall};
use crate::raw::context::current;
use crate::raw::{check, entered, owned};
use crate::tenure::Tenure;

/// One that the library is to write.
pub(super) fn memory_plan() -> tnr_memory_plan {
    tnr_memory_plan {
        struct_size: size_of::<tnr_memory_plan>() as u64,
        peak_bytes: 0,
        live_bytes: 0,
        total_bytes: 0,
        scratch_bytes: 0,
        step_count: 0,
        reserved: 0,
        packed_bytes: 0,
    }
}

/// Flags of runs that look at the results of each operation.
pub(crate) const REFUSED_VALUES: u32 = sys::TNR_RUN_REFUSE_NAN | sys::TNR_RUN_REFUSE_NON_FINITE;

/// Options of a run, in addition to its outputs.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    /// 0: none, without the flag `TNR_RUN_BUDGET`.
    pub(crate) budget_bytes: u64,
    /// Flags of the ABI.
    pub(crate) flags: u32,
}

/// The only handle on a program; dropping it ends the program.
pub(crate) struct ProgramHandle {
    program: NonNull<tnr_program>,
    counts: Counts,
}

// SAFETY: the handle is a token, and the library takes it from any thread; owners of constants are
// Send and Sync (`SharedTensor`).
unsafe impl Send for ProgramHandle {}
// SAFETY: the handle is a token, and the library takes runs of one program from any number of
// threads; owners of constants are Send and Sync (`SharedTensor`).
unsafe impl Sync for ProgramHandle {}

impl Drop for ProgramHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again.
        unsafe { sys::tnr_program_release(self.program.as_ptr()) };
    }
}

impl ProgramHandle {
    pub(super) fn new(
        program: NonNull<tnr_program>,
        [inputs, outputs, updates]: [usize; 3],
    ) -> Self {
        ProgramHandle { program, counts: Counts { inputs, outputs, updates } }
    }

    pub(super) fn raw(&self) -> *mut tnr_program {
        self.program.as_ptr()
    }
    pub(crate) fn input_count(&self) -> usize {
        self.counts.inputs
    }
    pub(crate) fn output_count(&self) -> usize {
        self.counts.outputs
    }
    pub(crate) fn update_count(&self) -> usize {
        self.counts.updates
    }

    /// The constants that are packed.
    pub(crate) fn packed(&self) -> Result<Tensor<u8>> {
        entered()?;
        let mut out = tnr_view_mut { view: layout::blank(DType::U8, 1) };
        // SAFETY: the handle is alive; `out` is written where the call succeeds.
        let blob = unsafe { sys::tnr_blob_copy_packed(current(), self.program.as_ptr(), &mut out) };
        let blob = owned(blob, Tenure::Allocated)?;
        out.view.owner = 0;
        // SAFETY: over all of a new blob, whose bytes are written.
        Ok(unsafe { Tensor::made(out.view, blob) })
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }
    /// Gives `f` room for the views of one call.
    #[inline]
    pub(super) fn with_call<'s, R>(&self, f: impl FnOnce(&mut ProgramCall<'_, 's>) -> R) -> R {
        self.counts.with_call(f)
    }

    /// Writes every element of the outputs where the answer is Ok, and before it reads one. There
    /// are two exceptions: it reads the elements of inputs that are updated, and it writes only the
    /// first part along each axis of an output with a data-dependent shape: see
    /// [`run_found`](Self::run_found).
    #[inline]
    pub(super) fn run(&self, call: &ProgramCall<'_, '_>, options: Options) -> Result<()> {
        self.run_asked(call, options, &mut [], &mut [])
    }

    /// Runs like [`run`](Self::run), and writes the nanoseconds of each step to `times`.
    pub(super) fn run_timed(
        &self,
        call: &ProgramCall<'_, '_>,
        options: Options,
        times: &mut [u64],
    ) -> Result<()> {
        self.run_asked(call, options, times, &mut [])
    }

    /// Runs like [`run`](Self::run). The result has the extents up to which each output is written,
    /// which are no more than the output's.
    fn run_found(&self, call: &ProgramCall<'_, '_>, options: Options) -> Result<Vec<RunExtents>> {
        let mut found = vec![[0; sys::TNR_MAX_RANK]; self.counts.views().1];
        self.run_asked(call, options, &mut [], &mut found)?;
        Ok(found)
    }

    /// `times` has a number for each step and `extents` an entry for each output, or they are empty
    /// and ask for nothing.
    #[inline]
    fn run_asked(
        &self,
        call: &ProgramCall<'_, '_>,
        options: Options,
        times: &mut [u64],
        extents: &mut [RunExtents],
    ) -> Result<()> {
        debug_assert!(extents.is_empty() || extents.len() == call.views().1.len());
        entered()?;
        #[cfg(feature = "tracing")]
        let _traced = call.traced();
        let attributes = sys::tnr_program_run_attributes {
            struct_size: size_of::<sys::tnr_program_run_attributes>() as u64,
            budget_bytes: options.budget_bytes,
            step_nanoseconds: match times.is_empty() {
                true => ptr::null_mut(),
                false => times.as_mut_ptr(),
            },
            step_count: times.len() as u32,
            flags: options.flags,
            output_shapes: match extents.is_empty() {
                true => ptr::null_mut(),
                false => extents.as_mut_ptr().cast(),
            },
        };
        // SAFETY: views are as the invariant of `ProgramCall` says, which is what the call asks; where
        // there is none the address is NULL, which the library refuses. Times are writable as far
        // as their count says, and there are extents of all outputs.
        check(unsafe {
            sys::tnr_program_run(
                current(),
                self.program.as_ptr(),
                call.views().0.as_ptr(),
                call.views().0.len() as u32,
                &attributes,
                call.views().1.as_ptr(),
                call.views().1.len() as u32,
            )
        })
    }

    /// The dtype and shape of an output.
    pub(super) fn shape_of(
        &self,
        call: &ProgramCall<'_, '_>,
        nth: usize,
    ) -> Result<(DType, Shape)> {
        entered()?;
        let (mut dtype, mut rank, mut shape) = (sys::tnr_dtype(0), 0, [0; sys::TNR_MAX_RANK]);
        // SAFETY: the handle is alive; each address of an input is NULL, which the library refuses,
        // or that of a checked view that outlives the call; `dtype`, `rank` and `shape` are
        // writable locals, and `shape` has room for all `TNR_MAX_RANK` extents.
        check(unsafe {
            sys::tnr_program_output_shape(
                self.program.as_ptr(),
                call.views().0.as_ptr(),
                call.views().0.len() as u32,
                u32::try_from(nth).unwrap_or(u32::MAX),
                &mut dtype,
                &mut rank,
                shape.as_mut_ptr(),
            )
        })?;
        let shape = shape.map(|extent| extent as usize);
        Ok((DType::from_raw(dtype), Shape(Extents::of(&shape[..rank as usize]))))
    }

    /// Runs into new outputs, or enqueues that where the place is a device. `lens` are the lengths
    /// of `Vec`s among them.
    pub(crate) fn run_new<I, O: Fresh<P>, P: OutputMemory>(
        &self,
        at: P::At<'_>,
        inputs: &mut impl LendAs<I, P>,
        lens: &[usize],
        options: Options,
    ) -> Result<O::Made> {
        let mut blanks = self.blanks::<I, O, P>(at, inputs, lens)?;
        let extents = self.with_call(|call| {
            inputs.lend(call);
            O::lend_blanks(&mut blanks, call);
            P::within(at, || self.run_found(call, options))
        })?;
        // Without those that update inputs: a blank that was not lent has none.
        let mut extents = extents[..self.counts.outputs].iter();
        // SAFETY:
        // - each blank of an output was lent: the library refuses NULL.
        // - written: a run that answers Ok has written every element of each up to its extents, or
        //   has enqueued that.
        // - a call takes no more blanks than there are outputs, and further ones have no extents.
        unsafe { O::written(blanks, &mut extents) }
    }

    /// New memory for the outputs of a run on these inputs.
    pub(super) fn blanks<I, O: Fresh<P>, P: OutputMemory>(
        &self,
        at: P::At<'_>,
        inputs: &mut impl LendAs<I, P>,
        lens: &[usize],
    ) -> Result<O::Blanks> {
        self.with_call(|call| {
            inputs.lend(call);
            let mut shape_of = |nth| Ok(self.shape_of(call, nth)?.1);
            let lens = lens.iter();
            O::blanks(at, &mut Shapes { next: 0, lens, shape_of: &mut shape_of })
        })
    }

    /// Runs into memory of the caller's, or enqueues that where the place is a device.
    #[inline]
    pub(crate) fn run_into<I, O, P: OutputMemory>(
        &self,
        at: P::At<'_>,
        inputs: &mut impl LendAs<I, P>,
        outputs: &mut impl LendOut<O, P>,
        options: Options,
    ) -> Result<()> {
        self.with_call(|call| {
            inputs.lend(call);
            outputs.lend_out(call);
            P::within(at, || self.run(call, options))
        })
    }

    /// Runs like [`run_into`](Self::run_into), and returns the shapes that the outputs have.
    pub(crate) fn run_into_shapes<I, O>(
        &self,
        inputs: &mut impl LendAs<I>,
        outputs: &mut impl LendOut<O>,
        options: Options,
    ) -> Result<Vec<Vec<usize>>> {
        self.with_call(|call| {
            inputs.lend(call);
            outputs.lend_out(call);
            let extents = self.run_found(call, options)?;
            let shape = |(view, extents): (&*const tnr_view_mut, &RunExtents)| {
                // SAFETY: the address of a view, by the invariant: the library has refused NULL.
                let rank = unsafe { (**view).view.rank };
                extents[..rank as usize].iter().map(|extent| *extent as usize).collect()
            };
            Ok(call.views().1.iter().zip(&extents).take(self.counts.outputs).map(shape).collect())
        })
    }

    /// Runs like [`run_new`](Self::run_new), with element types that the program knows.
    pub(crate) fn run_dyn<I>(
        &self,
        inputs: &mut impl LendAs<I>,
        options: Options,
    ) -> Result<Vec<DynTensor>> {
        let mut blanks = self.dyn_blanks(inputs)?;
        let extents = self.with_call(|call| {
            inputs.lend(call);
            for blank in &mut blanks {
                blank.0.lend(call);
            }
            self.run_found(call, options)
        })?;
        // SAFETY: `blanks` has an entry for each output, lent in the order of `extents`; no extent
        // is more than its output's; a run that answers Ok has written every element of each output
        // up to its extents.
        blanks.into_iter().zip(&extents).map(|(blank, of)| unsafe { blank.0.written(of) }).collect()
    }

    /// Allocates like [`blanks`](Self::blanks), with element types that the program knows.
    fn dyn_blanks<I>(&self, inputs: &mut impl LendAs<I>) -> Result<Vec<DynBlank>> {
        self.with_call(|call| {
            inputs.lend(call);
            let blank = |nth| {
                let (dtype, extents) = self.shape_of(call, nth)?;
                DynBlank::new(dtype, extents.as_slice())
            };
            (0..self.counts.outputs).map(blank).collect()
        })
    }

    pub(crate) fn output_shapes<I, P>(&self, inputs: &mut impl LendAs<I, P>) -> Result<Vec<Shape>> {
        self.with_call(|call| {
            inputs.lend(call);
            (0..self.counts.outputs).map(|nth| Ok(self.shape_of(call, nth)?.1)).collect()
        })
    }

    pub(crate) fn memory<I, P>(&self, inputs: &mut impl LendAs<I, P>) -> Result<tnr_memory_plan> {
        entered()?;
        self.with_call(|call| {
            inputs.lend(call);
            let mut plan = memory_plan();
            // SAFETY: the handle is alive; each address of an input is NULL, which the library
            // refuses, or that of a checked view that outlives the call; `plan` is writable as far
            // as its `struct_size` says.
            check(unsafe {
                sys::tnr_program_memory(
                    self.program.as_ptr(),
                    call.views().0.as_ptr(),
                    call.views().0.len() as u32,
                    &mut plan,
                )
            })?;
            Ok(plan)
        })
    }
}
