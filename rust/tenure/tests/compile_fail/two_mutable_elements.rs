//@ error: E0499
//! Two calls of `get_mut` could meet in one element.
use tenure::TensorViewMut;

fn main() {
    let mut data = [1.0_f32; 4];
    let mut view = TensorViewMut::from_slice(&mut data, [4]).unwrap();
    let first = view.get_mut([0]).unwrap();
    #[cfg(not(bad))]
    std::mem::take(first);
    let second = view.get_mut([0]).unwrap();
    std::mem::take(second);
    #[cfg(bad)]
    std::mem::take(first);
}
