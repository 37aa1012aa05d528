//@ error: E0277
//@ says: `&tenure::TensorView<'_, f32>` is no operand on a device
//! Memory of the host is no operand of work on a device.
use tenure::TensorView;
use tenure::cuda::{Stream, Tensor};

fn sum(stream: &Stream, a: &Tensor<f32>, data: &[f32]) -> tenure::Result<Tensor<f32>> {
    let b = TensorView::from_slice(data, data.len())?;
    #[cfg(not(bad))]
    let b = stream.upload(b)?;
    stream.add(a, &b)
}

fn main() {
    let _ = sum;
}
