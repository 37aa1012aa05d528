//@ error: E0277
//@ says: Vec<f32>: Copy
//! A glob import does not shadow the names of the prelude: `Copy` is still the trait.
use tenure::*;

fn twice<T: Copy>(value: T) -> (T, T) {
    (value, value)
}

fn main() {
    let data = vec![1.0_f32; 2];
    let view = TensorView::from_slice(&data, [2]).unwrap();
    #[cfg(bad)]
    twice(data.clone());
    println!("{}", twice(view).0);
}
