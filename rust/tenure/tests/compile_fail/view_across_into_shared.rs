//@ error: E0505
//! An exclusive view does not survive `into_shared`, which ends all writes.
use tenure::Tensor;

fn main() {
    let mut tensor = Tensor::<f32>::zeros([4]).unwrap();
    let mut view = tensor.view_mut();
    #[cfg(not(bad))]
    view.fill(1.0);
    let shared = tensor.into_shared();
    #[cfg(bad)]
    view.fill(1.0);
    println!("{shared}");
}
