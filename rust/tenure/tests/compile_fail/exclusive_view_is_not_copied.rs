//@ error: E0382
//! An exclusive view moves; a second one is a reborrow.
use tenure::TensorViewMut;

fn main() {
    let mut data = [1.0_f32; 4];
    let mut view = TensorViewMut::from_slice(&mut data, [4]).unwrap();
    #[cfg(bad)]
    let mut other = view;
    #[cfg(not(bad))]
    let mut other = view.view_mut();
    other.fill(0.0);
    view.fill(1.0);
}
