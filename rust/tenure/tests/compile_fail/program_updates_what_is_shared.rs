//@ error: E0277
//! An input that a program updates is lent exclusively.
use tenure::{Program, Tensor};

fn main() {
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        graph.program((x.updated_by(x * 2.0),), ())
    })
    .unwrap();
    let mut x = Tensor::from([1.0_f32, 2.0]);
    #[cfg(not(bad))]
    program.run((&mut x,)).unwrap();
    #[cfg(bad)]
    program.run((&x,)).unwrap();
    x[[0]] = 0.0;
}
