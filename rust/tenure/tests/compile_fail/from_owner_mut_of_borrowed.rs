//@ error: E0597
//! An exclusive owner owns: a mutable borrow of a local does not.
use tenure::Tensor;

fn main() {
    let mut data = vec![1.0_f32; 4];
    data[0] = 2.0;
    #[cfg(bad)]
    Tensor::<f32>::from_owner_mut(&mut data[..], [4]).unwrap();
    #[cfg(not(bad))]
    Tensor::<f32>::from_owner_mut(data, [4]).unwrap();
}
