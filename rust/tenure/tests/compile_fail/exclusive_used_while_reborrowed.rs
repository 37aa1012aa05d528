//@ error: E0499
//! An exclusive view rests while its reborrow lives.
use tenure::TensorViewMut;

fn main() {
    let mut data = [1.0_f32; 4];
    let mut view = TensorViewMut::from_slice(&mut data, [4]).unwrap();
    let mut reborrow = view.view_mut();
    #[cfg(not(bad))]
    reborrow.fill(0.0);
    view.fill(1.0);
    #[cfg(bad)]
    reborrow.fill(0.0);
}
