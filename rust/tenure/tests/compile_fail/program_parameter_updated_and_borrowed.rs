//@ error: E0502
//! A tensor of a tree that a run updates is not lent as another input.
use tenure::{Program, Tensor};
use tenure::Tree;

fn main() {
    let program = Program::trace(|graph| {
        let weights = vec![graph.input::<f32>([2]), graph.input::<f32>([2])];
        let x = graph.input::<f32>([2]);
        let [next] = graph.map_trees([&weights], |[p]| [p - x]);
        graph.program((weights.updated_by(next), x), ())
    })
    .unwrap();
    let tensor = || Tensor::from([1.0_f32, 2.0]);
    let (mut weights, x) = (vec![tensor(), tensor()], tensor());
    #[cfg(not(bad))]
    program.run((&mut weights, &x)).unwrap();
    #[cfg(bad)]
    program.run((&mut weights, &weights[0])).unwrap();
    let _ = x;
}
