//@ error: E0599
//! A shared view has no method that writes.
use tenure::{TensorView, TensorViewMut};

fn main() {
    let mut data = [1.0_f32; 4];
    #[cfg(bad)]
    TensorView::from_slice(&data, [4]).unwrap().fill(0.0);
    #[cfg(not(bad))]
    TensorViewMut::from_slice(&mut data, [4]).unwrap().fill(0.0);
    let _ = TensorView::from_slice(&data, [4]);
}
