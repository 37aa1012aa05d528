//@ error: E0505
//@ feature: ndarray
//! A view of an array ends before the array does.
use tenure::TensorView;

fn main() {
    let array = ndarray::Array2::<f32>::zeros((2, 3));
    let view = TensorView::try_from(&array).unwrap();
    #[cfg(bad)]
    drop(array);
    println!("{view}");
    #[cfg(not(bad))]
    drop(array);
}
