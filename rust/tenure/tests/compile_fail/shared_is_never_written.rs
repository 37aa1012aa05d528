//@ error: E0599
//! Shared storage has no exclusive view; the last holder may take its Vec back instead.
use tenure::SharedTensor;

fn main() {
    let mut shared = SharedTensor::<f32>::from_arc([1.0, 2.0].into(), [2]).unwrap();
    #[cfg(bad)]
    shared.view_mut().fill(0.0);
    #[cfg(not(bad))]
    println!("{}", shared.view());
    shared = shared.clone();
    println!("{shared}");
}
