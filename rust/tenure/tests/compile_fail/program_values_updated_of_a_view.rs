//@ error: E0277
//! The values of a matrix that is lent for reading are not updated.
use tenure::{CsrMatrix, Program};

fn main() {
    let program = Program::trace(|graph| {
        let a = graph.csr_input::<f32, i32>(1, 2, 2);
        graph.program((a.updated_by(a.values() * 2.0),), ())
    })
    .unwrap();
    let mut matrix = CsrMatrix::from_vecs(1, 2, vec![0, 2], vec![0, 1], vec![1.0, 2.0]).unwrap();
    #[cfg(not(bad))]
    program.run((&mut matrix,)).unwrap();
    #[cfg(bad)]
    program.run((&matrix,)).unwrap();
    let _ = &mut matrix;
}
