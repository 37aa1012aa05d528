//@ error: E0597
//! An owner owns: a reference to a local does not.
use tenure::SharedTensor;

fn main() {
    let data = vec![1.0_f32; 4];
    #[cfg(bad)]
    SharedTensor::<f32>::from_owner(&data, [4]).unwrap();
    #[cfg(not(bad))]
    SharedTensor::<f32>::from_owner(data, [4]).unwrap();
}
