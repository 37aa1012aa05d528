//@ error: E0308
//@ says: expected `SparseView<'_, Csr, f32>`, found `SparseView<'_, Coo, f32>`
//! A matrix of one format is not taken for one of another: its arrays mean something else.
use tenure::{CooView, CsrView};

fn entries(matrix: CsrView<'_, f32>) -> usize {
    matrix.nnz()
}

fn main() {
    let matrix: CooView<f32> = CooView::new(1, 1, &[0], &[0], &[1.0]).unwrap();
    #[cfg(bad)]
    println!("{}", entries(matrix));
    #[cfg(not(bad))]
    println!("{}", entries(matrix.to_csr().unwrap().view()));
}
