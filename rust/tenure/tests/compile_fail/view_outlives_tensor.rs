//@ error: E0597
//! A view of a tensor lives no longer than the tensor: owned memory is never a `'static` view.
use tenure::Tensor;

fn main() {
    let view;
    #[cfg(not(bad))]
    let tensor = Tensor::<f32>::zeros([2, 2]).unwrap();
    {
        #[cfg(bad)]
        let tensor = Tensor::<f32>::zeros([2, 2]).unwrap();
        view = tensor.view();
    }
    println!("{view}");
}
