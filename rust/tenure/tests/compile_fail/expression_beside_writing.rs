//@ error: E0502
//! What an expression reads is not written before it is evaluated, nor into while it is.
use tenure::Tensor;

fn main() {
    let mut a = Tensor::from([1.0_f32, 2.0]);
    let doubled = &a * 2.0;
    #[cfg(bad)]
    doubled.eval_into(&mut a).unwrap();
    #[cfg(not(bad))]
    doubled.eval_into(&mut [0.0; 2]).unwrap();
    a[[0]] = 3.0;
}
