//@ error: E0505
//! Forgetting an exclusive view ends nothing early and leaks nothing: the loan is a lifetime and
//! no guard. While an element is borrowed from it, the data still cannot be moved.
use tenure::TensorViewMut;

fn main() {
    let mut data = vec![1.0_f32; 4];
    let mut view = TensorViewMut::from_slice(&mut data, [4]).unwrap();
    let element = view.get_mut([0]).unwrap();
    #[cfg(not(bad))]
    std::mem::take(element);
    #[cfg(not(bad))]
    std::mem::forget(view);
    drop(data);
    #[cfg(bad)]
    std::mem::take(element);
}
