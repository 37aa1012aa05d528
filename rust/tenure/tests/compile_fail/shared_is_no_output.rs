//@ error: E0277
//@ says: `SharedTensor<f32>` cannot be written as `f32` elements
//! Shared storage is not accepted as an output, by no spelling.
use tenure::{SharedTensor, Tensor};

fn main() {
    let a = Tensor::<f32>::zeros([2]).unwrap();
    #[cfg(bad)]
    let mut out = SharedTensor::<f32>::from_arc([1.0, 2.0].into(), [2]).unwrap();
    #[cfg(not(bad))]
    let mut out = Tensor::<f32>::zeros([2]).unwrap();
    tenure::ops::copy_into(&a, &mut out).unwrap();
}
