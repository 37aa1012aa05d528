//@ error: E0505
//! An expression reads its operands when it is evaluated.
use tenure::Tensor;

fn main() {
    let a = Tensor::from([1.0_f32, 2.0]);
    let doubled = &a * 2.0;
    #[cfg(bad)]
    drop(a);
    doubled.eval().unwrap();
}
