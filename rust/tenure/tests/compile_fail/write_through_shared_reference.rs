//@ error: E0596
//! A `&Tensor` cannot be written, whatever its owner would allow.
use tenure::Tensor;

#[cfg(bad)]
fn clear(tensor: &Tensor<f32>) {
    tensor.view_mut().fill(0.0);
}

#[cfg(not(bad))]
fn clear(tensor: &mut Tensor<f32>) {
    tensor.view_mut().fill(0.0);
}

fn main() {
    let mut tensor = Tensor::<f32>::zeros([4]).unwrap();
    clear(&mut tensor);
}
