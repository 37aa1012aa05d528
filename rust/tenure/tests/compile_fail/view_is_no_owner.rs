//@ error: E0308
//! An exclusive view does not turn into `&mut Tensor`: who has that could move the memory out.
use tenure::Tensor;

fn take(tensor: &mut Tensor<f32>) -> Tensor<f32> {
    std::mem::replace(tensor, Tensor::zeros([0]).unwrap())
}

fn main() {
    let mut tensor = Tensor::<f32>::zeros([4]).unwrap();
    #[cfg(bad)]
    take(&mut tensor.view_mut());
    #[cfg(not(bad))]
    take(&mut tensor);
}
