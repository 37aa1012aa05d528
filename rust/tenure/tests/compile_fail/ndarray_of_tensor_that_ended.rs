//@ error: E0597
//@ feature: ndarray
//! An array over a tensor ends before the tensor does.
use ndarray::ArrayView2;
use tenure::Tensor;

fn main() {
    #[cfg(not(bad))]
    let tensor = Tensor::<f32>::zeros([2, 3]).unwrap();
    let array = {
        #[cfg(bad)]
        let tensor = Tensor::<f32>::zeros([2, 3]).unwrap();
        ArrayView2::try_from(tensor.view()).unwrap()
    };
    println!("{array}");
}
