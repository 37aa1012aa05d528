//! Products of dense matrices.

use super::{Extents, filled};
use crate::raw::matmul::PLAIN;
use crate::raw::operations;
use crate::{AsView, AsViewMut, Error, Float, Result, Tensor};

/// The shape of a product: of the axes before the last two, those that broadcast; then the rows of
/// `a` and the columns of `b`, which a vector has none of. The library refuses a wrong depth.
fn product_shape(a: &[usize], b: &[usize]) -> Result<Extents> {
    if a.is_empty() || b.is_empty() {
        let name = if a.is_empty() { "a" } else { "b" };
        return Err(Error::invalid(format!("{name}.rank is 0 but must be 1 at least")));
    }
    let (a_batch, b_batch) = (&a[..a.len().max(2) - 2], &b[..b.len().max(2) - 2]);
    let mut extents = super::broadcast_shape([("a", a_batch), ("b", b_batch)])?;
    let rows = (a.len() > 1).then(|| a[a.len() - 2]);
    let columns = (b.len() > 1).then(|| b[b.len() - 1]);
    for extent in [rows, columns].into_iter().flatten() {
        extents.values[extents.rank] = extent;
        extents.rank += 1;
    }
    Ok(extents)
}

/// The product of two matrices, `[m, k]` and `[k, n]`: `[m, n]`, as a new row-major tensor.
///
/// Axes before the last two are a batch of matrices, and broadcast. A vector, of rank 1, is a row on
/// the left and a column on the right, and has no axis in the result: the product of two is their
/// dot product, of rank 0. Any strides will do; nothing need be contiguous.
///
/// Each element is a sum in the order of k, by fused multiplication and addition where the processor
/// has it. Its bits depend neither on the number of threads, nor on strides, nor on the other
/// elements of the result.
///
/// # Errors
///
/// `InvalidArgument`: rank 0, or shapes that do not agree. `Unsupported`: `f16` and `bf16`.
/// `OutOfMemory`.
///
/// ```
/// use tenure::matmul;
///
/// let a = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// let b = [[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]];
/// let product = matmul(&a, &b)?;
/// assert_eq!(product.shape(), [2, 2]);
/// assert_eq!(product.to_vec(), [7.0, 8.0, 16.0, 17.0]);
/// assert_eq!(matmul(&a, &[1.0, 0.0, -1.0])?.to_vec(), [-2.0, -2.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[inline]
#[doc(alias("gemm", "gemv", "dot", "mm", "bmm"))]
pub fn matmul<T: Float>(a: impl AsView<T>, b: impl AsView<T>) -> Result<Tensor<T>> {
    let (a, b) = (a.as_view(), b.as_view());
    let extents = product_shape(a.shape(), b.shape())?;
    let lent = (a.lent(), b.lent());
    // With a beta of 0 no element is read.
    filled(extents.as_slice(), |out| operations::matmul(PLAIN, lent.0, lent.1, out))
}

/// As [`matmul`], into memory of the caller's, to whose batch of matrices those of `a` and `b` are
/// broadcast.
///
/// # Errors
///
/// `InvalidArgument`: rank 0, or shapes that do not agree. `Unsupported`: `f16` and `bf16`.
/// `OutOfMemory`.
///
/// ```
/// use tenure::matmul_into;
///
/// let (a, b) = ([[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]);
/// let mut out = [[f64::NAN; 2]; 2];
/// matmul_into(&a, &b, &mut out)?;
/// assert_eq!(out, [[2.0, 1.0], [4.0, 3.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[inline]
pub fn matmul_into<T: Float>(
    a: impl AsView<T>,
    b: impl AsView<T>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    let (a, b) = (a.as_view(), b.as_view());
    operations::matmul(PLAIN, a.lent(), b.lent(), out.as_view_mut().lent_mut())
}

/// `out = alpha * a b + beta * out`; `out` is not read where `beta` is 0, and may hold anything. As
/// [`matmul_into`] otherwise.
///
/// # Errors
///
/// As [`matmul_into`].
///
/// ```
/// use tenure::matmul_scaled_into;
///
/// let (a, b) = ([[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]);
/// let mut out = [[1.0, 0.0], [0.0, 1.0]];
/// matmul_scaled_into(2.0, &a, &b, -1.0, &mut out)?;
/// assert_eq!(out, [[3.0, 2.0], [8.0, 5.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[inline]
pub fn matmul_scaled_into<T: Float>(
    alpha: T,
    a: impl AsView<T>,
    b: impl AsView<T>,
    beta: T,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    let (a, b) = (a.as_view(), b.as_view());
    operations::matmul([alpha, beta], a.lent(), b.lent(), out.as_view_mut().lent_mut())
}
