//@ error: E0502
//@ feature: ndarray
//! Nobody writes an array through `ndarray` while a view of it reads.
use tenure::TensorView;

fn main() {
    let mut array = ndarray::Array2::<f32>::zeros((2, 3));
    let view = TensorView::try_from(array.view()).unwrap();
    #[cfg(bad)]
    array.fill(1.0);
    println!("{view}");
    #[cfg(not(bad))]
    array.fill(1.0);
}
