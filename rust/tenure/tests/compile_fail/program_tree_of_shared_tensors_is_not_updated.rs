//@ error: E0277
//! A tree that a run updates is borrowed exclusively.
use tenure::{Program, Tensor, Tree};

fn main() {
    let program = Program::trace(|graph| {
        let list = vec![graph.input::<f32>([2])];
        let [next] = graph.map_trees([&list], |[x]| [x * 2.0]);
        graph.program(list.updated_by(next), ())
    })
    .unwrap();
    let mut list = vec![Tensor::from([1.0_f32, 2.0])];
    #[cfg(not(bad))]
    program.run(&mut list).unwrap();
    #[cfg(bad)]
    program.run(&list).unwrap();
    list.clear();
}
