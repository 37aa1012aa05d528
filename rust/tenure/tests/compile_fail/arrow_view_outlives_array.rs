//@ error: E0505
//@ feature: arrow
//! A view of an array ends before the array does; a share does not.
use arrow_array::Int32Array;
use tenure::SharedTensor;
#[cfg(bad)]
use tenure::TensorView;

fn main() {
    let array = Int32Array::from(vec![1, 2, 3]);
    #[cfg(bad)]
    let elements = TensorView::<i32>::from_arrow(&array).unwrap();
    #[cfg(not(bad))]
    let elements = SharedTensor::<i32>::from_arrow(&array).unwrap();
    let _ = SharedTensor::<i32>::from_arrow(&array);
    drop(array);
    println!("{elements}");
}
