//@ error: E0382
//! `from_vec` takes the Vec; `into_vec` gives it back.
use tenure::Tensor;

fn main() {
    let data = vec![1.0_f32; 4];
    let tensor = Tensor::from_vec(data, [4]).unwrap();
    #[cfg(not(bad))]
    let data = tensor.into_vec().unwrap();
    println!("{}", data.len());
}
