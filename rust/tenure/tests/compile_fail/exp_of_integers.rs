//@ error: E0277
//@ says: this operation takes floats, and `i32` is none
//! Functions of floats are not offered for integers.
use tenure::Tensor;

fn main() {
    #[cfg(bad)]
    let a = Tensor::<i32>::zeros([4]).unwrap();
    #[cfg(not(bad))]
    let a = Tensor::<f32>::zeros([4]).unwrap();
    tenure::ops::exp(&a).unwrap();
}
