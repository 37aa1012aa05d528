//@ error: E0277
//@ says: cannot be lent on a device as inputs of the types
//! Memory of the host is no input of a run on a device.
use tenure::cuda::{Stream, Tensor};
use tenure::{Program, Result, TensorView};

fn run(stream: &Stream, program: &Program<(f32,), f32>, data: &[f32]) -> Result<Tensor<f32>> {
    let x = TensorView::from_slice(data, data.len())?;
    #[cfg(not(bad))]
    let x = stream.upload(x)?;
    stream.run(program, (x,))
}

fn main() {
    let _ = run;
}
