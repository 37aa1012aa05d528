//@ error: E0277
//! A run is lent inputs in the form that the program has.
use tenure::{Program, Tensor};

fn main() {
    let program = Program::trace(|graph| {
        let (a, b) = (graph.input::<f32>([2]), graph.input::<f32>([2]));
        graph.program((vec![(a, b)], ()), a + b)
    })
    .unwrap();
    let tensor = || Tensor::from([1.0_f32, 2.0]);
    #[cfg(not(bad))]
    program.run((&vec![(tensor(), tensor())], ())).unwrap();
    #[cfg(bad)]
    program.run((&vec![tensor(), tensor()], ())).unwrap();
}
