//@ error: E0505
//! A view of a device's memory does not survive its tensor's drop.
use tenure::cuda::Tensor;

fn len(tensor: Tensor<f32>) -> usize {
    let view = tensor.view();
    #[cfg(not(bad))]
    let len = view.len();
    drop(tensor);
    #[cfg(bad)]
    let len = view.len();
    len
}

fn main() {
    let _ = len;
}
