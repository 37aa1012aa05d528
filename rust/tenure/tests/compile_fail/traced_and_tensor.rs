//@ error: E0277
//! A tensor is no operand of a graph: whether it is held or copied is said.
use tenure::{Program, Tensor};

fn main() {
    let weights = Tensor::from([1.0_f32, 2.0]);
    Program::trace(|graph| {
        let x = graph.input::<f32>([2]);
        #[cfg(not(bad))]
        let weights = graph.copy_constant(&weights);
        #[cfg(bad)]
        let weights = &weights;
        graph.program((x,), x * weights)
    })
    .unwrap();
}
