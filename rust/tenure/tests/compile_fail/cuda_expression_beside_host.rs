//@ error: E0277
//@ says: is no operand of an expression of `f32` elements
//! An expression is of one place: nothing is copied to a device without a word.
use tenure::cuda::Stream;
use tenure::{Result, Tensor, cuda};

fn scaled(stream: &Stream, a: &cuda::Tensor<f32>, b: &Tensor<f32>) -> Result<cuda::Tensor<f32>> {
    #[cfg(bad)]
    let scaled = a * b;
    #[cfg(not(bad))]
    let there = stream.upload(b)?;
    #[cfg(not(bad))]
    let scaled = a * &there;
    stream.eval(&scaled)
}

fn main() {
    let _ = scaled;
}
