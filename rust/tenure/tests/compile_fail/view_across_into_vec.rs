//@ error: E0505
//@ says: cannot move out of `tensor` because it is borrowed
//! A view does not survive `into_vec`, which gives the memory away.
use tenure::Tensor;

fn main() {
    let tensor = Tensor::from_vec(vec![1.0_f32; 4], [4]).unwrap();
    let view = tensor.view();
    #[cfg(not(bad))]
    println!("{view}");
    let data = tensor.into_vec().unwrap();
    #[cfg(bad)]
    println!("{view}");
    println!("{}", data.len());
}
