//@ error: E0277
//@ says: cannot be lent as a view of
//! A tensor on a device is no operand of the host's operations.
use tenure::cuda::{Stream, Tensor};

fn doubled(stream: &Stream, a: &Tensor<f32>) -> tenure::Result<tenure::Tensor<f32>> {
    #[cfg(not(bad))]
    let a = &stream.download(a)?;
    #[cfg(bad)]
    let _ = stream;
    tenure::ops::mul(a, 2.0_f32)
}

fn main() {
    let _ = doubled;
}
