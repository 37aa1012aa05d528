//! Sums of products by Einstein's convention.

use std::ffi::CString;

use crate::dense::Tensor;
use crate::dtype::Float;
use crate::error::{Error, Result};
use crate::operand::{AsViewMut, AsViews};
use crate::ops::results::filled;
use crate::raw::operations;

/// Ends the spec with a 0, as the library reads it. A 0 within it is refused, because the library
/// sees no byte after it.
fn terminated(spec: &str) -> Result<CString> {
    CString::new(spec).map_err(|error| {
        let position = error.nul_position();
        Error::invalid(format!("spec[{position}] is byte 0x00, but must be a letter"))
    })
}

/// The sum of products that `spec` names, in NumPy's notation, as a new row-major tensor.
///
/// A spec has a term for each operand, with one letter for each of its axes, and behind `->` that
/// of the result: `"ij,jk->ik"` is the product of two matrices. Elements are multiplied where their
/// letters have the same indices, and summed over the letters that the result does not have. A
/// letter that stands twice in a term is a diagonal. One `...` in a term stands for any number of
/// axes, which broadcast. Without `->` the result has the axes of `...`, and then the letters that
/// stand once, upper case first, in the order of the alphabet. An axis of one element is repeated
/// as often as its letter asks elsewhere.
///
/// | spec | is |
/// | --- | --- |
/// | `"ij->ji"`, `"ii->i"`, `"ii->"` | the transpose, the diagonal, the trace |
/// | `"ij->j"`, `"ij->"` | the sums of columns, of everything |
/// | `"i,i->"`, `"i,j->ij"`, `"ij,j->i"` | dot product, outer product, matrix by vector |
/// | `"bij,bjk->bik"`, `"...ij,...jk->...ik"` | batches of products |
/// | `"bhqd,bhkd->bhqk"` | the scores of attention |
/// | `"ij,ij->i"`, `"i,ij,j->"` | dot products of rows, a quadratic form |
///
/// Two operands are multiplied as matrices, from where they lie and to where the result is; a copy
/// is made of one that has several summed axes apart from each other in memory. More are multiplied
/// by pairs, in the order of fewest multiplications: of all orders there are up to eight operands,
/// as opt_einsum's `"dp"`; beyond, the smallest product is next.
///
/// The order follows from the spec and the shapes, so that the bits do not depend on the number of
/// threads. They depend on strides only where a single operand is summed.
///
/// # Errors
///
/// `InvalidArgument`: a malformed spec (the message names the byte), or shapes that do not agree
/// with it or each other. `Unsupported`: a result or an intermediate product of more than 8 axes;
/// more than 32 operands. `OutOfMemory`.
///
/// ```
/// use tenure::linalg::einsum;
///
/// let a = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// let b = [[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]];
/// assert_eq!(einsum("ij,jk->ki", (&a, &b))?.to_vec(), [7.0, 16.0, 8.0, 17.0]);
/// assert_eq!(einsum("ij->j", [&a])?.to_vec(), [5.0, 7.0, 9.0]);
/// assert_eq!(einsum("i,ij,j->", ([1.0, 1.0], &a, [1.0, 0.0, 1.0]))?.to_vec(), [14.0]);
///
/// let refused = einsum("ij,jk->iz", (&a, &b)).unwrap_err();
/// assert_eq!(refused.message(), "spec[8] is 'z', a label that no operand has");
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("tensordot", "contract", "trace", "outer", "diagonal", "bmm"))]
pub fn einsum<T: Float>(spec: &str, operands: impl AsViews<T>) -> Result<Tensor<T>> {
    let spec = terminated(spec)?;
    operands.with_views(|views| {
        let (rank, shape) = operations::einsum_shape(&spec, views)?;
        filled(&shape[..rank], |out| operations::einsum(&spec, views, out))
    })
}

/// Does the same as [`einsum`], into the caller's memory.
///
/// # Errors
///
/// The errors of [`einsum`], and `InvalidArgument` for another shape of `out`.
///
/// ```
/// use tenure::linalg::einsum_into;
///
/// let mut table = [[f64::NAN; 2]; 3];
/// einsum_into("i,j->ij", (&[1.0, 2.0, 3.0], &[1.0, 10.0]), &mut table)?;
/// assert_eq!(table, [[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn einsum_into<T: Float>(
    spec: &str,
    operands: impl AsViews<T>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    let spec = terminated(spec)?;
    let mut out = out.as_view_mut();
    operands.with_views(|views| operations::einsum(&spec, views, out.lent_mut()))
}
