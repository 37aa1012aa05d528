//! Programs: the bits of calls one by one, shapes found in a run, errors, updates, memory.

// Operands are borrowed, as a caller writes them for types that are not `Copy`.
#![allow(clippy::needless_borrows_for_generic_args)]

mod bound;
mod calibration;
mod check;
mod control;
mod custom;
#[cfg(all(feature = "derive", feature = "programs"))]
mod derived;
mod errors;
mod extents;
mod found;
mod gradients;
mod layers;
mod nets;
mod non_finite;
mod ordering;
#[cfg(feature = "derive")]
mod parameters;
mod precision;
mod quantization;
mod random;
mod report;
mod rows;
mod runs;
mod sparse;
mod sparse_training;
mod sums;
mod table;
mod training;
mod trees;
mod updates;
mod values;

#[path = "../expr/samples.rs"]
mod samples;

use samples::*;
use tenure::*;

fn floats<const N: usize>(seed: u64, shape: [usize; N]) -> Tensor<f32> {
    tensor(&mut Random::new(seed), shape, f32::small)
}

/// With all passes, and without any.
fn traced<I, O>(
    f: impl for<'g> Fn(Graph<'g>) -> Result<Program<I, O>>,
) -> [Result<Program<I, O>>; 2] {
    [Passes::DEFAULT, Passes::NONE].map(|passes| Program::trace_with(passes, &f))
}

/// The message of what a trace refuses.
#[track_caller]
fn said<I, O>(f: impl for<'g> FnOnce(Graph<'g>) -> Result<Program<I, O>>) -> String {
    let error = Program::trace(f).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    error.message().to_owned()
}
