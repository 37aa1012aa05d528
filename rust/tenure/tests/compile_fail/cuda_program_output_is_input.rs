//@ error: E0502
//@ says: cannot borrow `x` as mutable
//! An output of a run on a device that is one of its inputs.
use tenure::cuda::{Stream, Tensor};
use tenure::{Program, Result};

fn run(stream: &Stream, program: &Program<(f32,), f32>, mut x: Tensor<f32>) -> Result<()> {
    #[cfg(not(bad))]
    let (y, mut x) = (stream.to_tensor(&x)?, x);
    #[cfg(bad)]
    let y = x.view();
    stream.run_into(program, (&y,), &mut x)
}

fn main() {
    let _ = run;
}
