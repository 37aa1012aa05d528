//@ error: E0502
//! A tree of tensors that a run writes is not lent as its input.
use tenure::{Program, Tensor};

fn main() {
    let program = Program::trace(|graph| {
        let list = vec![graph.input::<f32>([2]), graph.input::<f32>([2])];
        let [doubled] = graph.map_trees([&list], |[x]| [x * 2.0]);
        graph.program(list, doubled)
    })
    .unwrap();
    let list = || vec![Tensor::from([1.0_f32, 2.0]), Tensor::from([3.0, 4.0])];
    let (mut a, b) = (list(), list());
    #[cfg(not(bad))]
    program.run_into(&b, &mut a).unwrap();
    #[cfg(bad)]
    program.run_into(&a, &mut a).unwrap();
    let _ = b;
}
