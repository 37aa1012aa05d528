//@ error: E0308
//! The outputs of a program have the types that it was traced with.
use tenure::{Program, Tensor};

fn main() {
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        graph.program((x,), x.argmax(0))
    })
    .unwrap();
    #[cfg(not(bad))]
    let _best: Tensor<i64> = program.run((&[1.0, 2.0],)).unwrap();
    #[cfg(bad)]
    let _best: Tensor<f32> = program.run((&[1.0, 2.0],)).unwrap();
}
