//@ error: E0505
//! A view does not survive a move of its tensor: the new place may drop it at any time.
use tenure::Tensor;

fn main() {
    let tensor = Tensor::<f32>::zeros([4]).unwrap();
    let view = tensor.view();
    #[cfg(not(bad))]
    println!("{view}");
    let moved = Box::new(tensor);
    #[cfg(bad)]
    println!("{view}");
    println!("{moved}");
}
