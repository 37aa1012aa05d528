//@ error: E0277
//@ feature: derive
//! A function of one element type is not called on a tree that has others.
use tenure::tree::Tensors;
use tenure::{Leaves, Program, Tensor, Tree};

#[derive(Tree)]
struct Model<L: Leaves> {
    weight: L::Of<f32>,
    #[cfg(not(bad))]
    count: L::Of<f32>,
    #[cfg(bad)]
    count: L::Of<i64>,
}

fn main() {
    let weight = Tensor::from([1.0_f32, 2.0]);
    let model = Model::<Tensors> { weight, count: Tensor::zeros(1).unwrap() };
    let program = Program::trace(|graph| {
        let inputs = graph.inputs(&model);
        let [next] = graph.map_trees::<f32, _, 1, 1>([&inputs], |[p]| [p * 2.0]);
        graph.program(inputs.updated_by(next), ())
    });
    drop(program);
}
