//@ error: E0277
//@ feature: ndarray
//! A view lent for reading is no array for writing.
use ndarray::ArrayViewMut2;
use tenure::Tensor;

fn main() {
    let mut tensor = Tensor::<f32>::zeros([2, 3]).unwrap();
    #[cfg(bad)]
    let mut array = ArrayViewMut2::try_from(tensor.view()).unwrap();
    #[cfg(not(bad))]
    let mut array = ArrayViewMut2::try_from(tensor.view_mut()).unwrap();
    array.fill(1.0);
}
