//! Batches to dense, times dense, and to other formats.

use tenure_sys::{TNR_CONVERT_SORT, tnr_orientation, tnr_sparse_format};

use super::{BatchArrays, BsrBatch, CooBatch, CscBatch, CsrBatch, SparseBatch, SparseBatchView};
use crate::dense::{Tensor, TensorView};
use crate::dtype::{Element, Number, index::SparseIndex};
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::raw::LentMut;
use crate::sparse::calls::matmul::{self as raw, PLAIN};
use crate::sparse::calls::to_dense;
use crate::sparse::convert::{converted, in_own_format};
use crate::sparse::format::SparseFormat;

fn dense<T: Element, I: SparseIndex>(a: BatchArrays<'_, T, I>) -> Result<Tensor<T>> {
    let (lent, shape) = (a.lent(), [a.len(), a.form.rows, a.form.cols]);
    // SAFETY: `to_dense` writes every element of its output when it answers OK, and reads none
    // before.
    unsafe { Tensor::written_by(&shape, |out| to_dense(&lent, out)) }
}

const AS_IS: tnr_orientation = tnr_orientation::AS_IS;
const TRANSPOSED: tnr_orientation = tnr_orientation::TRANSPOSED;

fn run<T: Number, I: SparseIndex>(
    a: BatchArrays<'_, T, I>,
    orientation: tnr_orientation,
    b: &TensorView<'_, T>,
    out: LentMut<'_>,
) -> Result<()> {
    raw::matmul(PLAIN, &a.lent(), orientation, b.lent(), out)
}

fn product<T: Number, I: SparseIndex>(
    a: BatchArrays<'_, T, I>,
    orientation: tnr_orientation,
    b: &TensorView<'_, T>,
) -> Result<Tensor<T>> {
    let rows = if orientation == AS_IS { a.form.rows } else { a.form.cols };
    // The library refuses a rank other than 1 to 3, whatever the result's shape.
    let columns = b.shape().get(b.rank().min(3).wrapping_sub(1)).copied().unwrap_or(1);
    let extents = [a.len(), rows, columns];
    let rank = if b.rank() == 1 { 2 } else { 3 };
    // SAFETY: a product that answers Ok has written every element; with a beta of 0 it reads none.
    unsafe { Tensor::written_by(&extents[..rank], |out| run(a, orientation, b, out)) }
}

/// To dense.
impl<F: SparseFormat, T: Element, I: SparseIndex> SparseBatchView<'_, F, T, I> {
    /// New elements, `[matrices, rows, cols]`: zeros and the entries. Several for one position
    /// are added up.
    ///
    /// # Errors
    ///
    /// The errors of [`SparseView::to_dense`](crate::SparseView::to_dense).
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// assert_eq!(batch.to_dense()?.shape(), [2, 2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_dense(&self) -> Result<Tensor<T>> {
        dense(self.arrays)
    }

    /// Writes zeros and the entries to elements of that shape.
    ///
    /// # Errors
    ///
    /// The errors of [`SparseView::to_dense_into`](crate::SparseView::to_dense_into).
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// let mut out = [[[9.0; 3]; 2]; 2];
    /// batch.to_dense_into(&mut out)?;
    /// assert_eq!(out[0], [[1.5, 0.0, 0.0], [0.0; 3]]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_dense_into(&self, out: &mut (impl AsViewMut<T> + ?Sized)) -> Result<()> {
        let lent = self.arrays.lent();
        out.with_view_mut(|out| to_dense(&lent, out.lent_mut()))
    }
}

/// Conversions: copies, each matrix as by those of one [matrix](crate::SparseView).
impl<F: SparseFormat, T: Element, I: SparseIndex> SparseBatchView<'_, F, T, I> {
    /// To coordinates; of CSC ordered by columns.
    ///
    /// # Errors
    ///
    /// The errors of [`SparseView::to_coo`](crate::SparseView::to_coo).
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// assert_eq!(batch.to_coo_batch()?.view().get(1).unwrap().row_indices()[0], 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_coo_batch(&self) -> Result<CooBatch<T, I>> {
        CooBatch::from_made(converted::<I>(&self.arrays.lent(), tnr_sparse_format::COO, None)?)
    }

    /// To compressed rows.
    ///
    /// # Errors
    ///
    /// The errors of [`SparseView::to_csr`](crate::SparseView::to_csr).
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// assert_eq!(batch.to_csr_batch()?.view().row_offsets().len(), 6);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_csr_batch(&self) -> Result<CsrBatch<T, I>> {
        CsrBatch::from_made(converted::<I>(&self.arrays.lent(), tnr_sparse_format::CSR, None)?)
    }

    /// To compressed columns.
    ///
    /// # Errors
    ///
    /// The errors of [`SparseView::to_csc`](crate::SparseView::to_csc).
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// assert_eq!(batch.to_csc_batch()?.view().col_offsets().len(), 8);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_csc_batch(&self) -> Result<CscBatch<T, I>> {
        CscBatch::from_made(converted::<I>(&self.arrays.lent(), tnr_sparse_format::CSC, None)?)
    }

    /// To compressed rows of blocks with the rows and columns of `block`; elements without an entry
    /// are zero.
    ///
    /// # Errors
    ///
    /// The errors of [`SparseView::to_bsr`](crate::SparseView::to_bsr).
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// assert_eq!(batch.to_bsr_batch([2, 3])?.view().batch_offsets(), [0, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_bsr_batch(&self, block: [usize; 2]) -> Result<BsrBatch<T, I>> {
        let lent = self.arrays.lent();
        BsrBatch::from_made(converted::<I>(&lent, tnr_sparse_format::BSR, Some(block))?)
    }

    /// Sorts the entries of each matrix: by rows, then columns; for CSC by columns, then rows.
    ///
    /// # Errors
    ///
    /// The errors of [`SparseView::to_sorted`](crate::SparseView::to_sorted).
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// assert!(batch.to_sorted()?.view().get(0).unwrap().is_sorted());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_sorted(&self) -> Result<SparseBatch<F, T, I>> {
        let (lent, form) = (self.arrays.lent(), self.arrays.form);
        SparseBatch::from_made(in_own_format::<I>(&lent, form, TNR_CONVERT_SORT)?)
    }

    /// Converts the indices to another type.
    ///
    /// # Errors
    ///
    /// The errors of [`SparseView::to_index`](crate::SparseView::to_index).
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// let wide: CooBatch<f64, i64> = batch.to_index()?;
    /// assert_eq!(wide.view().nnz(), batch.nnz());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_index<J: SparseIndex>(&self) -> Result<SparseBatch<F, T, J>> {
        let (lent, form) = (self.arrays.lent(), self.arrays.form);
        SparseBatch::from_made(in_own_format::<J>(&lent, form, 0)?)
    }
}

/// Products with dense vectors and matrices, of any strides: each as that of one matrix, with the
/// same bits. Many small matrices are shared out among threads.
///
/// All err with `InvalidArgument` where shapes do not agree, and `OutOfMemory`.
impl<F: SparseFormat, T: Number, I: SparseIndex> SparseBatchView<'_, F, T, I> {
    /// The products of each matrix `[m, k]` and its own `b`, of all `[matrices, k, n]`; or one `b`
    /// that they share, `[k, n]` or `[k]`. They are `[matrices, m, n]`, or `[matrices, m]`.
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// let products = batch.matmul(&[2.0, 1.0, 1.0])?;
    /// assert_eq!((products.shape(), products.view().to_vec()[0]), (&[2, 2][..], 3.0));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn matmul(&self, b: &(impl AsView<T> + ?Sized)) -> Result<Tensor<T>> {
        b.with_view(|b| product(self.arrays, AS_IS, b))
    }

    /// Does the same as [`matmul`](Self::matmul), into the caller's memory. Where its rank is that
    /// of `b`, each matrix has its own `b`, also where they are vectors: `[matrices, k]`.
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// let mut out = [[0.0; 2]; 2];
    /// batch.matmul_into(&[[2.0, 1.0, 1.0], [1.0, 1.0, 1.0]], &mut out)?;
    /// assert_eq!(out[0], [3.0, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn matmul_into(
        &self,
        b: &(impl AsView<T> + ?Sized),
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        b.with_view(|b| out.with_view_mut(|out| run(self.arrays, AS_IS, b, out.lent_mut())))
    }

    /// The products of each matrix's transpose; nothing is converted.
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// assert_eq!(batch.t_matmul(&[2.0, 1.0])?.shape(), [2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn t_matmul(&self, b: &(impl AsView<T> + ?Sized)) -> Result<Tensor<T>> {
        b.with_view(|b| product(self.arrays, TRANSPOSED, b))
    }

    /// Does the same as [`t_matmul`](Self::t_matmul), into the caller's memory, as in
    /// [`matmul_into`](Self::matmul_into).
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// let mut out = [[9.0; 3]; 2];
    /// batch.t_matmul_into(&[2.0, 1.0], &mut out)?;
    /// assert_eq!(out[0], [3.0, 0.0, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn t_matmul_into(
        &self,
        b: &(impl AsView<T> + ?Sized),
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        b.with_view(|b| out.with_view_mut(|out| run(self.arrays, TRANSPOSED, b, out.lent_mut())))
    }
}
