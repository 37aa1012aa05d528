//! Dense times dense, only at the entries of a pattern.

use tenure_sys::{TNR_SDDMM_TIMES_VALUES, tnr_sparse_format};

use super::arrays::Arrays;
use super::{SparseFormat, SparseView};
use crate::dense::{Tensor, TensorView};
use crate::dtype::{Number, index::SparseIndex};
use crate::error::Result;
use crate::operand::AsView;
use crate::sparse::calls::matmul as raw;

/// One product for each element of `values`, in their order.
fn samples<T: Number, I: SparseIndex>(
    a: Arrays<'_, T, I>,
    flags: u32,
    x: &TensorView<'_, T>,
    y: &TensorView<'_, T>,
) -> Result<Tensor<T>> {
    let [rows, cols] = a.form.block;
    let shape = [a.range().len(), rows, cols];
    let rank = if a.form.format == tnr_sparse_format::BSR { 3 } else { 1 };
    // SAFETY: a call that answers Ok has written every element, and it reads none.
    unsafe {
        Tensor::written_by(&shape[..rank], |out| {
            raw::sddmm(1_u8, &a.lent(), flags, x.lent(), y.lent(), out)
        })
    }
}

/// Products of dense matrices at the entries only.
impl<F: SparseFormat, T: Number, I: SparseIndex> SparseView<'_, F, T, I> {
    /// New values for the entries: of one at row `i` and column `j` row `i` of `x` times column `j`
    /// of `y`. `x` is `[m, k]`, `y` is `[k, n]`, of any strides; the result has an element for each
    /// of [`values`](Self::values), for [`with_values`](Self::with_values), in the shape of blocks
    /// where there are any.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: shapes that do not agree; `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// let (x, y) = ([[1.0], [2.0]], [[3.0, 4.0, 5.0]]);
    /// assert_eq!(matrix.sddmm(&x, &y)?.to_vec(), [3.0, 10.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "sampled_addmm")]
    pub fn sddmm(
        &self,
        x: &(impl AsView<T> + ?Sized),
        y: &(impl AsView<T> + ?Sized),
    ) -> Result<Tensor<T>> {
        x.with_view(|x| y.with_view(|y| samples(self.arrays(), 0, x, y)))
    }

    /// Does the same as [`sddmm`](Self::sddmm), times the entries' own values.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// let (x, y) = ([[1.0], [2.0]], [[3.0, 4.0, 5.0]]);
    /// assert_eq!(matrix.sddmm_times_values(&x, &y)?.to_vec(), [4.5, 25.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn sddmm_times_values(
        &self,
        x: &(impl AsView<T> + ?Sized),
        y: &(impl AsView<T> + ?Sized),
    ) -> Result<Tensor<T>> {
        let flags = TNR_SDDMM_TIMES_VALUES;
        x.with_view(|x| y.with_view(|y| samples(self.arrays(), flags, x, y)))
    }
}
