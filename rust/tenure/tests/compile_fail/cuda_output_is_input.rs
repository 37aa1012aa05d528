//@ error: E0502
//! An output on a device is none of the inputs; in place is a method of its own.
use tenure::cuda::{Stream, Tensor};

fn double(stream: &Stream, mut a: Tensor<f32>) -> tenure::Result<()> {
    #[cfg(bad)]
    let view = a.view();
    #[cfg(bad)]
    stream.mul_into(view, 2.0, &mut a)?;
    #[cfg(bad)]
    let _ = view;
    #[cfg(not(bad))]
    stream.mul_assign(&mut a, 2.0)?;
    Ok(())
}

fn main() {
    let _ = double;
}
