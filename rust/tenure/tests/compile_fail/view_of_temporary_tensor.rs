//@ error: E0716
//! A view cannot be taken of an owner that dies with the statement.
use tenure::Tensor;

fn main() {
    #[cfg(bad)]
    let view = Tensor::<f32>::zeros([2]).unwrap().view();
    #[cfg(not(bad))]
    let tensor = Tensor::<f32>::zeros([2]).unwrap();
    #[cfg(not(bad))]
    let view = tensor.view();
    println!("{view}");
}
