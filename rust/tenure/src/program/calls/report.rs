//! The steps of a run, as the library tells them.

use tenure_sys as sys;
use tenure_sys::{tnr_pass_info, tnr_step_info};

use super::{Fresh, Options, OutputMemory, ProgramHandle};
use crate::error::{ErrorKind, Result};
use crate::program::tree::LendAs;
use crate::raw::{check, entered};

/// A step, and the numbers of its operands: of steps, and of inputs behind all steps.
pub(crate) struct StepInfo {
    pub(crate) info: tnr_step_info,
    pub(crate) reads: Vec<usize>,
    pub(crate) step_count: usize,
}

/// One that the library is to write.
fn step_info() -> tnr_step_info {
    tnr_step_info {
        struct_size: size_of::<tnr_step_info>() as u64,
        kind: sys::tnr_step_kind(0),
        node: 0,
        node_count: 0,
        output: 0,
        flops: 0,
        read_bytes: 0,
        written_bytes: 0,
        block_offset: 0,
        block_bytes: 0,
        last_use: 0,
        dtype: sys::tnr_dtype(0),
        rank: 0,
        reserved: 0,
        shape: [0; sys::TNR_MAX_RANK],
        name: [0; 64],
    }
}

/// An info to be written by the library, like that of [`step_info`].
fn pass_info() -> tnr_pass_info {
    tnr_pass_info {
        struct_size: size_of::<tnr_pass_info>() as u64,
        pass: 0,
        is_on: 0,
        count: 0,
        name: [0; 32],
        counted: [0; 32],
    }
}

impl ProgramHandle {
    /// The `step_count` steps of a run on these inputs.
    pub(crate) fn steps<I, P>(
        &self,
        inputs: &mut impl LendAs<I, P>,
        step_count: u32,
    ) -> Result<Vec<StepInfo>> {
        entered()?;
        self.with_call(|call| {
            inputs.lend(call);
            let (lent, _) = call.views();
            let input_count = lent.len() as u32;
            let mut marks = vec![0_u8; (step_count + input_count) as usize];
            let describe = |step| {
                let mut info = step_info();
                // SAFETY: the handle is alive; each address in `lent` is NULL, which the library
                // refuses, or that of a checked view that outlives the call; `info` is writable as
                // far as its `struct_size` says; `marks` has `marks.len()` writable bytes.
                unsafe {
                    let (program, views) = (self.raw(), lent.as_ptr());
                    check(sys::tnr_program_describe_step(
                        program,
                        views,
                        input_count,
                        step,
                        &mut info,
                    ))?;
                    check(sys::tnr_program_describe_reads(
                        program,
                        views,
                        input_count,
                        step,
                        marks.as_mut_ptr(),
                        marks.len() as u32,
                    ))?;
                }
                let reads = (0..marks.len()).filter(|at| marks[*at] != 0).collect();
                Ok(StepInfo { info, reads, step_count: step_count as usize })
            };
            (0..step_count).map(describe).collect()
        })
    }

    /// Each pass, with its changes of the program and of a run on these inputs.
    pub(crate) fn passes<I, P>(
        &self,
        inputs: &mut impl LendAs<I, P>,
    ) -> Result<Vec<tnr_pass_info>> {
        entered()?;
        self.with_call(|call| {
            inputs.lend(call);
            let (lent, _) = call.views();
            let mut passes = Vec::new();
            loop {
                let mut info = pass_info();
                // SAFETY: the handle is alive; each address in `lent` is NULL, which the library
                // refuses, or that of a checked view that outlives the call; `info` is writable as
                // far as its `struct_size` says.
                let described = check(unsafe {
                    sys::tnr_program_describe_pass(
                        self.raw(),
                        lent.as_ptr(),
                        lent.len() as u32,
                        passes.len() as u32,
                        &mut info,
                    )
                });
                match described {
                    Ok(()) => passes.push(info),
                    // There is no such pass: all inputs that are refused are so of the first.
                    Err(error)
                        if error.kind() == ErrorKind::InvalidArgument && !passes.is_empty() =>
                    {
                        return Ok(passes);
                    }
                    Err(error) => return Err(error),
                }
            }
        })
    }

    /// Nanoseconds of each step of one run, into outputs that are given up.
    pub(crate) fn times<I, O: Fresh<P>, P: OutputMemory>(
        &self,
        at: P::At<'_>,
        inputs: &mut impl LendAs<I, P>,
        lens: &[usize],
        options: Options,
        step_count: usize,
    ) -> Result<Vec<u64>> {
        let mut blanks = self.blanks::<I, O, P>(at, inputs, lens)?;
        let mut times = vec![0; step_count];
        self.with_call(|call| {
            inputs.lend(call);
            O::lend_blanks(&mut blanks, call);
            P::within(at, || self.run_timed(call, options, &mut times))
        })?;
        Ok(times)
    }
}
