//@ error: E0277
//@ says: is no operand of an expression of `f32` elements
//! Element types are not converted without a word.
use tenure::Tensor;

fn main() {
    let (a, b) = (Tensor::from([1.0_f32, 2.0]), Tensor::from([1.0_f64, 2.0]));
    #[cfg(bad)]
    let sum = &a + b.expr();
    #[cfg(not(bad))]
    let sum = &a + b.expr().cast::<f32>();
    sum.eval().unwrap();
}
