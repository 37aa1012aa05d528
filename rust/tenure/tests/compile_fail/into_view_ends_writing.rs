//@ error: E0382
//! `into_view` gives the right to write away; `view` only pauses it.
use tenure::TensorViewMut;

fn main() {
    let mut data = [1.0_f32; 4];
    let mut view = TensorViewMut::from_slice(&mut data, [4]).unwrap();
    #[cfg(bad)]
    let shared = view.into_view();
    #[cfg(not(bad))]
    let shared = view.view();
    println!("{shared}");
    view.fill(1.0);
}
