//@ error: E0608
//! Nothing of the host reads an element of a device's memory.
use tenure::cuda::{Stream, Tensor};

fn first(stream: &Stream, tensor: &Tensor<f32>) -> f32 {
    #[cfg(not(bad))]
    let tensor = stream.download(tensor).unwrap();
    #[cfg(bad)]
    let _ = stream;
    tensor[[0]]
}

fn main() {
    let _ = first;
}
