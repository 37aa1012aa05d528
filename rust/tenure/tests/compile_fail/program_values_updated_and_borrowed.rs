//@ error: E0502
//! The values of a matrix that a run updates are not lent as another input.
use tenure::{CsrMatrix, Program};

fn main() {
    let program = Program::trace(|graph| {
        let a = graph.csr_input::<f32, i32>(1, 2, 2);
        let x = graph.input::<f32>([2]);
        graph.program((a.updated_by(a.values() - x), x), ())
    })
    .unwrap();
    let mut matrix = CsrMatrix::from_vecs(1, 2, vec![0, 2], vec![0, 1], vec![1.0, 2.0]).unwrap();
    #[cfg(not(bad))]
    program.run((&mut matrix, &[1.0, 2.0])).unwrap();
    #[cfg(bad)]
    program.run((&mut matrix, matrix.values())).unwrap();
}
