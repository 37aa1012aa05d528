//! The reading methods of sparse views, on the matrices that hold their arrays: each is that of
//! `view()`.

use std::ops::RangeBounds;

use super::{
    BsrMatrix, Combine, CompressedFormat, CooMatrix, CscMatrix, CsrMatrix, PointFormat,
    SparseFormat, SparseIndex, SparseMatrix, SparseView,
};
use crate::{AsView, Element, Float, NativeFloat, Number, Result, Tensor};

/// A matrix where an operand is a view: `a.product(&b)`.
impl<'a, F: SparseFormat, T: Element, I: SparseIndex> From<&'a SparseMatrix<F, T, I>>
    for SparseView<'a, F, T, I>
{
    fn from(matrix: &'a SparseMatrix<F, T, I>) -> Self {
        matrix.view()
    }
}

/// Conversions, as those of [`view`](Self::view): copies.
impl<F: SparseFormat, T: Element, I: SparseIndex> SparseMatrix<F, T, I> {
    /// As [`SparseView::to_coo`].
    pub fn to_coo(&self) -> Result<CooMatrix<T, I>> {
        self.view().to_coo()
    }

    /// As [`SparseView::to_csr`].
    pub fn to_csr(&self) -> Result<CsrMatrix<T, I>> {
        self.view().to_csr()
    }

    /// As [`SparseView::to_csc`].
    pub fn to_csc(&self) -> Result<CscMatrix<T, I>> {
        self.view().to_csc()
    }

    /// As [`SparseView::to_bsr`].
    pub fn to_bsr(&self, block: [usize; 2]) -> Result<BsrMatrix<T, I>> {
        self.view().to_bsr(block)
    }

    /// As [`SparseView::to_sorted`].
    pub fn to_sorted(&self) -> Result<Self> {
        self.view().to_sorted()
    }

    /// As [`SparseView::to_index`].
    pub fn to_index<J: SparseIndex>(&self) -> Result<SparseMatrix<F, T, J>> {
        self.view().to_index()
    }
}

/// Single entries.
impl<F: PointFormat, T: Element, I: SparseIndex> SparseMatrix<F, T, I> {
    /// As [`SparseView::get`].
    pub fn get(&self, row: usize, col: usize) -> Option<&T> {
        self.view().get(row, col)
    }
}

/// Norms of rows.
impl<F: CompressedFormat, T: Float, I: SparseIndex> SparseMatrix<F, T, I> {
    /// As [`SparseView::row_norms`].
    pub fn row_norms(&self, p: f64) -> Result<Tensor<T>> {
        self.view().row_norms(p)
    }
}

/// Fewer entries, as those of [`view`](Self::view): copies.
impl<F: PointFormat, T: Element, I: SparseIndex> SparseMatrix<F, T, I> {
    /// As [`SparseView::coalesce`].
    ///
    /// ```
    /// # use tenure::*;
    /// let coo = CooMatrix::from_vecs(2, 2, vec![1, 0, 1], vec![0, 0, 0], vec![1.0, 2.0, 3.0])?;
    /// let csr = coo.coalesce(Combine::Sum)?.to_csr()?;
    /// assert_eq!(csr.product(&csr)?.to_dense()?, [[4.0, 0.0], [8.0, 0.0]]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn coalesce(&self, combine: Combine) -> Result<Self> {
        self.view().coalesce(combine)
    }
}

impl<F: PointFormat, T: Number, I: SparseIndex> SparseMatrix<F, T, I> {
    /// As [`SparseView::prune`].
    pub fn prune(&self, threshold: T) -> Result<Self> {
        self.view().prune(threshold)
    }
}

/// Selections, as those of [`view`](Self::view): copies.
impl<F: CompressedFormat, T: Element, I: SparseIndex> SparseMatrix<F, T, I> {
    /// As [`SparseView::select_rows`].
    pub fn select_rows(&self, rows: &(impl AsView<I> + ?Sized)) -> Result<Self> {
        self.view().select_rows(rows)
    }

    /// As [`SparseView::select_cols`].
    pub fn select_cols(&self, cols: &(impl AsView<I> + ?Sized)) -> Result<Self> {
        self.view().select_cols(cols)
    }

    /// As [`SparseView::to_block`].
    pub fn to_block(
        &self,
        rows: impl RangeBounds<usize>,
        cols: impl RangeBounds<usize>,
    ) -> Result<Self> {
        self.view().to_block(rows, cols)
    }
}

/// Products, as those of [`view`](Self::view).
impl<F: SparseFormat, T: Number, I: SparseIndex> SparseMatrix<F, T, I> {
    /// As [`SparseView::matmul`].
    pub fn matmul(&self, b: &(impl AsView<T> + ?Sized)) -> Result<Tensor<T>> {
        self.view().matmul(b)
    }

    /// As [`SparseView::t_matmul`].
    pub fn t_matmul(&self, b: &(impl AsView<T> + ?Sized)) -> Result<Tensor<T>> {
        self.view().t_matmul(b)
    }
}

impl<F: CompressedFormat, T: NativeFloat, I: SparseIndex> SparseMatrix<F, T, I> {
    /// As [`SparseView::product`].
    pub fn product<'b>(&self, b: impl Into<SparseView<'b, F, T, I>>) -> Result<Self> {
        self.view().product(b)
    }
}
