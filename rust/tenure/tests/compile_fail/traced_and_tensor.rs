//@ error: E0277
//! A tensor is no operand of a graph: the caller chooses between a held and a copied constant.
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
