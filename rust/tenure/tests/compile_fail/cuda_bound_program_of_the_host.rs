//@ error: E0308
//! A program that is bound to the host is none of a device.
use tenure::cuda::{Stream, Tensor};
use tenure::{Bound, Program, expr::OnDevice};

fn bind(
    stream: &Stream,
    program: &Program<(f32,), f32>,
    x: &Tensor<f32>,
    out: &mut Tensor<f32>,
) -> tenure::Result<Bound<(f32,), f32, OnDevice>> {
    #[cfg(not(bad))]
    let bound = stream.bind(program, (x,), out)?;
    #[cfg(bad)]
    let bound = program.bind((&[1.0_f32, 2.0],), &mut [0.0_f32; 2])?;
    let _ = (stream, x);
    Ok(bound)
}

fn main() {
    let _ = bind;
}
