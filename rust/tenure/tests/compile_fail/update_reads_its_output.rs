//@ error: E0502
//! The closure of an update has its argument for the output, and no reference to it.
use tenure::Tensor;

fn main() {
    let mut a = Tensor::from([1.0_f32, 2.0]);
    #[cfg(bad)]
    a.update(|x| x + &a).unwrap();
    #[cfg(not(bad))]
    a.update(|x| x.clone() + x).unwrap();
}
