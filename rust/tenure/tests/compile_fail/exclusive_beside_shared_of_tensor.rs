//@ error: E0502
//! A tensor lends like a slice: no exclusive view while a shared one is in use.
use tenure::Tensor;

fn main() {
    let mut tensor = Tensor::<f32>::zeros([4]).unwrap();
    let shared = tensor.view();
    #[cfg(not(bad))]
    println!("{shared}");
    tensor.view_mut().fill(1.0);
    #[cfg(bad)]
    println!("{shared}");
}
