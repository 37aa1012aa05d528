//@ error: E0597
//! Inputs are alive while a program runs.
use tenure::{Program, Tensor};

fn main() {
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        graph.program((x,), x * 2.0)
    })
    .unwrap();
    #[cfg(not(bad))]
    let x = Tensor::from([1.0_f32, 2.0]);
    let inputs = {
        #[cfg(bad)]
        let x = Tensor::from([1.0_f32, 2.0]);
        (&x,)
    };
    program.run(inputs).unwrap();
}
