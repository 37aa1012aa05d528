//@ error: E0505
//! A view does not survive its tensor's drop.
use tenure::Tensor;

fn main() {
    let tensor = Tensor::<f32>::zeros([4]).unwrap();
    let view = tensor.view();
    #[cfg(not(bad))]
    println!("{view}");
    drop(tensor);
    #[cfg(bad)]
    println!("{view}");
}
