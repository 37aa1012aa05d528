//@ error: E0277
//! The inputs of a plan have the types that it was made for.
use tenure::{Plan, Tensor};

fn main() {
    let a = Tensor::from([1.0_f32, 2.0]);
    let plan = Plan::new((&a,), |(x,)| x * 2.0).unwrap();
    #[cfg(not(bad))]
    let other = [3.0_f32, 4.0];
    #[cfg(bad)]
    let other = Tensor::from([3.0_f64, 4.0]);
    plan.run((&other,)).unwrap();
}
