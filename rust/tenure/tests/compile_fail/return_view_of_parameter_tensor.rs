//@ error: E0515
//! A view of an owner passed by value ends with the function.
use tenure::{Tensor, TensorView};

#[cfg(bad)]
fn transposed<'a>(tensor: Tensor<f32>) -> TensorView<'a, f32> {
    tensor.view().t()
}

#[cfg(not(bad))]
fn transposed<'a>(tensor: &'a Tensor<f32>) -> TensorView<'a, f32> {
    tensor.view().t()
}

fn main() {
    let tensor = Tensor::<f32>::zeros([2, 3]).unwrap();
    #[cfg(bad)]
    transposed(tensor);
    #[cfg(not(bad))]
    transposed(&tensor);
}
