//@ error: E0277
//@ says: cannot be written as `f32` elements
//! A shared view is not accepted as an output.
use tenure::{TensorView, TensorViewMut};

fn main() {
    let a = [1.0_f32; 4];
    let mut data = [0.0_f32; 4];
    #[cfg(bad)]
    let mut out = TensorView::from_slice(&data, [4]).unwrap();
    #[cfg(not(bad))]
    let mut out = TensorViewMut::from_slice(&mut data, [4]).unwrap();
    tenure::ops::copy_into(&a, &mut out).unwrap();
    let _ = TensorView::from_slice(&data, [4]);
}
