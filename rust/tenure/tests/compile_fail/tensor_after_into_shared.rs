//@ error: E0382
//! `into_shared` consumes the tensor, so that no second owner can still write.
use tenure::Tensor;

fn main() {
    let mut tensor = Tensor::<f32>::zeros([4]).unwrap();
    #[cfg(not(bad))]
    tensor.view_mut().fill(1.0);
    let shared = tensor.into_shared();
    #[cfg(bad)]
    tensor.view_mut().fill(1.0);
    println!("{shared}");
}
