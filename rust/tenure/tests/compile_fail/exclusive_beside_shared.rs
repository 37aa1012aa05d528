//@ error: E0502
//@ says: cannot borrow `data` as mutable because it is also borrowed as immutable
//! No exclusive view while a shared one is in use.
use tenure::{TensorView, TensorViewMut};

fn main() {
    let mut data = vec![1.0_f32; 4];
    let shared = TensorView::from_slice(&data, [4]).unwrap();
    #[cfg(not(bad))]
    println!("{shared}");
    let mut exclusive = TensorViewMut::from_slice(&mut data, [4]).unwrap();
    exclusive.fill(0.0);
    #[cfg(bad)]
    println!("{shared}");
}
