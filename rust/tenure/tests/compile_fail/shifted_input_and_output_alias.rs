//@ error: E0502
//! Neither can a part of a slice be copied over another part while both are views of the whole.
use tenure::{TensorView, TensorViewMut};

fn main() {
    let mut data = [1.0_f32, 2.0, 3.0, 4.0];
    #[cfg(bad)]
    let (low, high) = (&data[..2], &mut data[2..]);
    #[cfg(not(bad))]
    let (low, high) = data.split_at_mut(2);
    let low = TensorView::from_slice(low, [2]).unwrap();
    let mut high = TensorViewMut::from_slice(high, [2]).unwrap();
    tenure::ops::copy_into(low, &mut high).unwrap();
}
