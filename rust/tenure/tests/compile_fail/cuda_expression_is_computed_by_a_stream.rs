//@ error: E0599
//@ says: no method named `eval` found for struct `Expr<'_, f32, OnDevice>`
//! What is on a device is computed by a stream of it.
use tenure::Result;
use tenure::cuda::{Stream, Tensor};

fn doubled(stream: &Stream, a: &Tensor<f32>) -> Result<Tensor<f32>> {
    let doubled = a + a;
    #[cfg(bad)]
    doubled.eval()?;
    stream.eval(&doubled)
}

fn main() {
    let _ = doubled;
}
