//@ error: E0502
//! The output memory of a run is no input, except an input that the program updates.
use tenure::{Program, Tensor};

fn main() {
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        graph.program((x,), x * 2.0)
    })
    .unwrap();
    let mut x = Tensor::from([1.0_f32, 2.0]);
    #[cfg(not(bad))]
    let mut out = Tensor::from([0.0_f32; 2]);
    #[cfg(not(bad))]
    program.run_into((&x,), &mut out).unwrap();
    #[cfg(bad)]
    program.run_into((&x,), &mut x).unwrap();
    x[[0]] = 0.0;
}
