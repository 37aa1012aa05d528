//@ error: E0499
//! Two calls of `as_mut_slice` cannot give two `&mut [T]` of the same bytes.
use tenure::TensorViewMut;

fn main() {
    let mut data = [1.0_f32; 4];
    let mut view = TensorViewMut::from_slice(&mut data, [4]).unwrap();
    let first = view.as_mut_slice().unwrap();
    #[cfg(not(bad))]
    first.fill(0.0);
    let second = view.as_mut_slice().unwrap();
    second.fill(1.0);
    #[cfg(bad)]
    first.fill(0.0);
}
