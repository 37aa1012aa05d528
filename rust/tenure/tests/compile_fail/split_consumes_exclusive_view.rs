//@ error: E0382
//! Splitting an exclusive view consumes it, so that the whole and a part are never both there.
use tenure::TensorViewMut;

fn main() {
    let mut data = [1.0_f32; 4];
    let mut view = TensorViewMut::from_slice(&mut data, [2, 2]).unwrap();
    #[cfg(bad)]
    let (mut left, _right) = view.split_at(1, 1).unwrap();
    #[cfg(not(bad))]
    let (mut left, _right) = view.view_mut().split_at(1, 1).unwrap();
    left.fill(0.0);
    view.fill(1.0);
}
