//@ error: E0277
//@ says: `Dense` is not a format of sparse matrices
//! Formats are those of the library: what a format says is where the core reads and writes.
use tenure::SparseMatrix;

#[cfg(bad)]
#[derive(Clone, Copy)]
enum Dense {}
#[cfg(not(bad))]
use tenure::Csr as Dense;

fn look(_: &SparseMatrix<Dense, f32>) {}

fn main() {
    let _ = look;
}
