//! Sparse times dense.

use tenure_sys::tnr_orientation;

use super::arrays::Arrays;
use super::{SparseFormat, SparseView};
use crate::dense::{Tensor, TensorView};
use crate::dtype::{Element, Number, index::SparseIndex};
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::raw::LentMut;
use crate::sparse::calls::matmul::{self as raw, PLAIN};

const AS_IS: tnr_orientation = tnr_orientation::AS_IS;
const TRANSPOSED: tnr_orientation = tnr_orientation::TRANSPOSED;

fn run<T: Number, I: SparseIndex, S: Element>(
    scalars: [S; 2],
    a: Arrays<'_, T, I>,
    orientation: tnr_orientation,
    b: &TensorView<'_, T>,
    out: LentMut<'_>,
) -> Result<()> {
    raw::matmul(scalars, &a.lent(), orientation, b.lent(), out)
}

fn product<T: Number, I: SparseIndex>(
    a: Arrays<'_, T, I>,
    orientation: tnr_orientation,
    b: &TensorView<'_, T>,
) -> Result<Tensor<T>> {
    let rows = if orientation == AS_IS { a.form.rows } else { a.form.cols };
    // The library refuses a rank other than 1 or 2, whatever the result's shape.
    let extents = [rows, b.shape().get(1).copied().unwrap_or(1)];
    let rank = b.rank().clamp(1, 2);
    // SAFETY: a product that answers Ok has written every element; with a beta of 0 it reads none.
    unsafe { Tensor::written_by(&extents[..rank], |out| run(PLAIN, a, orientation, b, out)) }
}

/// Products with dense vectors and matrices. `b` and `out` are of rank 1 or 2 and of any strides;
/// several entries for one position add up. Sums of `f16` and `bf16` are `f32`, rounded once;
/// integers wrap. The bits are the same for any number of threads.
///
/// All err with `InvalidArgument` where shapes do not agree, `OutOfMemory`.
impl<F: SparseFormat, T: Number, I: SparseIndex> SparseView<'_, F, T, I> {
    /// The product of this matrix `[m, k]` and a dense `b`, `[k]` or `[k, n]`: `[m]` or `[m, n]`,
    /// row-major.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?; // [1.5 0 0; 0 0 2.5]
    /// assert_eq!(matrix.matmul(&[1.0, 2.0, 4.0])?.to_vec(), [1.5, 10.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias("spmm", "spmv", "mv", "dot"))]
    pub fn matmul(&self, b: &(impl AsView<T> + ?Sized)) -> Result<Tensor<T>> {
        b.with_view(|b| product(self.arrays(), AS_IS, b))
    }

    /// Does the same as [`matmul`](Self::matmul), into the caller's memory.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// let mut out = [0.0; 2];
    /// matrix.matmul_into(&[1.0, 2.0, 4.0], &mut out)?;
    /// assert_eq!(out, [1.5, 10.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn matmul_into(
        &self,
        b: &(impl AsView<T> + ?Sized),
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        b.with_view(|b| {
            out.with_view_mut(|out| run(PLAIN, self.arrays(), AS_IS, b, out.lent_mut()))
        })
    }

    /// `out = alpha * self b + beta * out`; `out` is not read where `beta` is 0.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// let mut out = [1.0, 1.0];
    /// matrix.matmul_scaled_into(2.0, &[1.0, 2.0, 4.0], 10.0, &mut out)?;
    /// assert_eq!(out, [13.0, 30.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn matmul_scaled_into(
        &self,
        alpha: T,
        b: &(impl AsView<T> + ?Sized),
        beta: T,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        b.with_view(|b| {
            out.with_view_mut(|out| run([alpha, beta], self.arrays(), AS_IS, b, out.lent_mut()))
        })
    }

    /// The product of this matrix's transpose and a dense `b`; nothing is converted.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// assert_eq!(matrix.t_matmul(&[2.0, 1.0])?.to_vec(), [3.0, 0.0, 2.5]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn t_matmul(&self, b: &(impl AsView<T> + ?Sized)) -> Result<Tensor<T>> {
        b.with_view(|b| product(self.arrays(), TRANSPOSED, b))
    }

    /// Does the same as [`t_matmul`](Self::t_matmul), into the caller's memory.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// let mut out = [9.0; 3];
    /// matrix.t_matmul_into(&[2.0, 1.0], &mut out)?;
    /// assert_eq!(out, [3.0, 0.0, 2.5]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn t_matmul_into(
        &self,
        b: &(impl AsView<T> + ?Sized),
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        b.with_view(|b| {
            out.with_view_mut(|out| run(PLAIN, self.arrays(), TRANSPOSED, b, out.lent_mut()))
        })
    }
}
