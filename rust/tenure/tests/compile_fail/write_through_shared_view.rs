//@ error: E0594
//@ says: cannot assign to data in an index of
//! A shared view gives out no place to write to.
use tenure::{TensorView, TensorViewMut};

fn main() {
    let mut data = [1.0_f32; 4];
    #[cfg(bad)]
    let mut view = TensorView::from_slice(&data, [4]).unwrap();
    #[cfg(not(bad))]
    let mut view = TensorViewMut::from_slice(&mut data, [4]).unwrap();
    view[[0]] = 2.0;
    let _ = TensorView::from_slice(&data, [4]);
}
