//@ error: E0277
//! The values of a sparse matrix on a device can be written; its indices have been checked.
use tenure::Result;
use tenure::cuda::{CsrMatrix, Stream};

fn clear(stream: &Stream, matrix: &mut CsrMatrix<i32>) -> Result<()> {
    #[cfg(not(bad))]
    return stream.fill(&mut matrix.values_mut(), 0);
    #[cfg(bad)]
    return stream.fill(&mut matrix.col_indices(), 0);
}

fn main() {
    let _ = clear;
}
