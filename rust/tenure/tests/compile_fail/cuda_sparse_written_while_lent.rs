//@ error: E0502
//! Values of a sparse matrix on a device are not written while a view lends them.
use tenure::Result;
use tenure::cuda::{CsrMatrix, Stream, Tensor};

fn scale(stream: &Stream, matrix: &mut CsrMatrix<f32>, b: &Tensor<f32>) -> Result<Tensor<f32>> {
    let view = matrix.view();
    #[cfg(not(bad))]
    let product = stream.sparse_matmul(view, b)?;
    stream.mul_assign(&mut matrix.values_mut(), 2.0)?;
    #[cfg(bad)]
    let product = stream.sparse_matmul(view, b)?;
    Ok(product)
}

fn main() {
    let _ = scale;
}
