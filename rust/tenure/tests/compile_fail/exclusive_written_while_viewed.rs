//@ error: E0502
//! An exclusive view is not written while a shared view of it is in use.
use tenure::TensorViewMut;

fn main() {
    let mut data = [1.0_f32; 4];
    let mut view = TensorViewMut::from_slice(&mut data, [4]).unwrap();
    let shared = view.view();
    #[cfg(not(bad))]
    println!("{shared}");
    view.fill(1.0);
    #[cfg(bad)]
    println!("{shared}");
}
