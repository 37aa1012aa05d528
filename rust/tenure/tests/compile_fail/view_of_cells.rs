//@ error: E0277
//@ says: `Cell<f32>` cannot be an element of a tensor
//! A `Cell` may change under a shared view.
use std::cell::Cell;
use tenure::TensorView;

fn main() {
    let data = [Cell::new(1.0_f32), Cell::new(2.0)];
    #[cfg(bad)]
    TensorView::from_slice(&data, [2]).unwrap();
    #[cfg(not(bad))]
    TensorView::from_slice(&data.map(Cell::into_inner), [2]).unwrap();
}
