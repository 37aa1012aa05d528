//@ error: E0505
//! A plan reads what its expression names beside the inputs, whenever it is run.
use tenure::{Plan, Tensor};

fn main() {
    let (a, weights) = (Tensor::from([1.0_f32, 2.0]), Tensor::from([3.0_f32, 4.0]));
    let plan = Plan::new((&a,), |(x,)| x * &weights).unwrap();
    #[cfg(bad)]
    drop(weights);
    plan.run((&a,)).unwrap();
}
