//@ error: E0277
//! The inputs of a bound program have the types that it was traced for.
use tenure::{Program, Tensor};

fn main() {
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        graph.program((x,), x * 2.0)
    })
    .unwrap();
    let mut out = [0.0_f32; 2];
    let bound = program.bind((&Tensor::from([1.0_f32, 2.0]),), &mut out).unwrap();
    #[cfg(not(bad))]
    let other = [3.0_f32, 4.0];
    #[cfg(bad)]
    let other = Tensor::from([3.0_f64, 4.0]);
    bound.run((&other,), &mut out).unwrap();
}
