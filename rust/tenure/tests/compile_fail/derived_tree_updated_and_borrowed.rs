//@ error: E0502
//@ feature: derive
//! A tensor of a struct that a run updates is not lent as another input.
use tenure::tree::Tensors;
use tenure::{Leaves, Program, Tensor, Tree};

#[derive(Tree)]
struct Model<L: Leaves> {
    weight: L::Of<f32>,
}

fn main() {
    let tensor = || Tensor::from([1.0_f32, 2.0]);
    let (mut model, x) = (Model::<Tensors> { weight: tensor() }, tensor());
    let program = Program::trace(|graph| {
        let (inputs, x) = (graph.inputs(&model), graph.input::<f32>([2]));
        let [next] = graph.map_trees([&inputs], |[p]| [p - x]);
        graph.program((inputs.updated_by(next), x), ())
    })
    .unwrap();
    #[cfg(not(bad))]
    program.run((&mut model, &x)).unwrap();
    #[cfg(bad)]
    program.run((&mut model, &model.weight)).unwrap();
    let _ = x;
}
