//! From one sparse format to another, and to fewer entries.

use tenure_sys::{
    TNR_CONVERT_SORT, tnr_sparse_combine, tnr_sparse_format, tnr_sparse_order, tnr_sparse_predicate,
};

use super::arrays::Form;
use super::{
    BsrMatrix, CooMatrix, CscMatrix, CsrMatrix, CsrView, PointFormat, SparseFormat, SparseIndex,
    SparseMatrix, SparseView,
};
use crate::dtype::{Element, Number};
use crate::error::Result;
use crate::sparse::calls::{LentSparse, Made, SparseOptions, coalesce, convert, prune, top_k};

/// How several entries of one position become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Combine {
    /// Their sum, from the first to the last; of integers wrapping, of 16-bit floats rounded once.
    Sum,
    /// The least of them; NaN if one is.
    Min,
    /// The greatest of them; NaN if one is.
    Max,
    /// The last of them, in the order that they had.
    Last,
}

impl Combine {
    pub(crate) fn raw(self) -> tnr_sparse_combine {
        match self {
            Combine::Sum => tnr_sparse_combine::SUM,
            Combine::Min => tnr_sparse_combine::MIN,
            Combine::Max => tnr_sparse_combine::MAX,
            Combine::Last => tnr_sparse_combine::LAST,
        }
    }
}

/// In another format, with blocks if it has any, and indices of `I`.
pub(super) fn converted<I: SparseIndex>(
    a: &LentSparse<'_>,
    format: tnr_sparse_format,
    block: Option<[usize; 2]>,
) -> Result<Made> {
    let mut options = SparseOptions::new();
    options.set_format::<I>(format);
    if let Some(block) = block {
        options.set_block(block)?;
    }
    convert(a, &options)
}

/// In the format that it has, with indices of `I`.
pub(super) fn in_own_format<I: SparseIndex>(
    a: &LentSparse<'_>,
    form: Form,
    flags: u32,
) -> Result<Made> {
    let mut options = SparseOptions::new();
    options.set_format::<I>(form.format);
    options.set_flags(flags);
    if form.format == tnr_sparse_format::BSR {
        options.set_block(form.block)?;
    }
    convert(a, &options)
}

/// Conversions: copies, computed on the threads of the context in use, the same for any number of
/// them. Every entry is kept, duplicates and zeros too.
///
/// Within a row of CSR, or a column of CSC, entries stay in the order that they had; what comes
/// from the other of the two is [sorted](Self::is_sorted). Each takes memory for one more copy of
/// the result while it lasts, and errs with `OutOfMemory`, with `InvalidArgument` where the result
/// has more entries than its indices can count, and with `Unsupported` for elements that have not
/// 1, 2, 4, 8 or 16 bytes.
impl<F: SparseFormat, T: Element, I: SparseIndex> SparseView<'_, F, T, I> {
    /// To coordinates; of CSC ordered by columns.
    ///
    /// # Errors
    ///
    /// The errors of all conversions.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// assert_eq!(matrix.to_coo()?.row_indices(), [0, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_coo(&self) -> Result<CooMatrix<T, I>> {
        CooMatrix::from_made(converted::<I>(&self.arrays().lent(), tnr_sparse_format::COO, None)?)
    }

    /// To compressed rows.
    ///
    /// # Errors
    ///
    /// The errors of all conversions.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// assert_eq!(matrix.to_csr()?.row_offsets(), [0, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias("tocsr", "to_sparse_csr"))]
    pub fn to_csr(&self) -> Result<CsrMatrix<T, I>> {
        CsrMatrix::from_made(converted::<I>(&self.arrays().lent(), tnr_sparse_format::CSR, None)?)
    }

    /// To compressed columns.
    ///
    /// # Errors
    ///
    /// The errors of all conversions.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// assert_eq!(matrix.to_csc()?.col_offsets(), [0, 1, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_csc(&self) -> Result<CscMatrix<T, I>> {
        CscMatrix::from_made(converted::<I>(&self.arrays().lent(), tnr_sparse_format::CSC, None)?)
    }

    /// To compressed rows of blocks with the rows and columns of `block`; elements without an entry
    /// are zero.
    ///
    /// # Errors
    ///
    /// The errors of all conversions; also `InvalidArgument` for blocks that do not divide the shape and for a
    /// position with two entries, and `Unsupported` for blocks of more than 16 rows or columns.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// assert_eq!(matrix.to_bsr([2, 1])?.values(), [1.5, 0.0, 0.0, 2.5]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_bsr(&self, block: [usize; 2]) -> Result<BsrMatrix<T, I>> {
        let lent = self.arrays().lent();
        BsrMatrix::from_made(converted::<I>(&lent, tnr_sparse_format::BSR, Some(block))?)
    }

    /// Sorts the entries: by rows, then columns; for CSC by columns, then rows. Entries of one
    /// position keep their order.
    ///
    /// # Errors
    ///
    /// The errors of all conversions.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// assert!(matrix.to_sorted()?.view().is_sorted());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_sorted(&self) -> Result<SparseMatrix<F, T, I>> {
        let arrays = self.arrays();
        SparseMatrix::from_made(in_own_format::<I>(&arrays.lent(), arrays.form, TNR_CONVERT_SORT)?)
    }

    /// Converts the indices to another type.
    ///
    /// # Errors
    ///
    /// The errors of all conversions.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// let wide: CsrMatrix<f64, i64> = matrix.to_index()?;
    /// assert_eq!(wide.nnz(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_index<J: SparseIndex>(&self) -> Result<SparseMatrix<F, T, J>> {
        let arrays = self.arrays();
        SparseMatrix::from_made(in_own_format::<J>(&arrays.lent(), arrays.form, 0)?)
    }
}

/// One entry for each position, of COO, CSR and CSC.
impl<F: PointFormat, T: Element, I: SparseIndex> SparseView<'_, F, T, I> {
    /// One entry for each position, in order: what `combine` makes of those that there are. Zeros
    /// are kept; [`prune`](Self::prune) drops them. A copy, the same for any number of threads.
    ///
    /// # Errors
    ///
    /// `Unsupported`: elements that are no real numbers, but to keep the last. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(1, 3, &[0, 3], &[0, 0, 2], &[1.0, 2.0, -5.0])?;
    /// let sums = matrix.coalesce(Combine::Sum)?;
    /// assert_eq!(sums.values(), [3.0, -5.0]);
    /// assert!(sums.view().is_coalesced());
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "sum_duplicates")]
    pub fn coalesce(&self, combine: Combine) -> Result<SparseMatrix<F, T, I>> {
        SparseMatrix::from_made(coalesce(&self.arrays().lent(), combine.raw())?)
    }
}

/// Fewer entries, of COO, CSR and CSC: copies, the same for any number of threads.
impl<F: PointFormat, T: Number, I: SparseIndex> SparseView<'_, F, T, I> {
    /// The entries whose magnitude is above the threshold, and those that are NaN. Above 0: those
    /// that are not zero.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a threshold that is negative or NaN. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(1, 3, &[0, 3], &[0, 0, 2], &[1.0, 2.0, -5.0])?;
    /// assert_eq!(matrix.prune(1.5)?.values(), [2.0, -5.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "eliminate_zeros")]
    pub fn prune(&self, threshold: T) -> Result<SparseMatrix<F, T, I>> {
        let mut options = SparseOptions::new();
        options.set_threshold(tnr_sparse_predicate::MAGNITUDE_GREATER, threshold);
        SparseMatrix::from_made(prune(&self.arrays().lent(), &options)?)
    }
}

/// The largest entries.
impl<T: Number, I: SparseIndex> CsrView<'_, T, I> {
    /// The `k` entries of each row that are the largest in magnitude, in the order that they had;
    /// of equals the first, of a row with fewer all. NaN is less than everything.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `k` is above the number of columns. `Unsupported`: integers of 64 bits.
    /// `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(1, 3, &[0, 3], &[0, 1, 2], &[2.0, 1.0, -5.0])?;
    /// assert_eq!(matrix.top_k_in_magnitude(2)?.values(), [2.0, -5.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn top_k_in_magnitude(&self, k: usize) -> Result<CsrMatrix<T, I>> {
        CsrMatrix::from_made(top_k(&self.arrays().lent(), k, tnr_sparse_order::MAGNITUDE)?)
    }

    /// The `k` largest entries of each row, as [`top_k_in_magnitude`](Self::top_k_in_magnitude).
    ///
    /// # Errors
    ///
    /// As that.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(1, 3, &[0, 3], &[0, 1, 2], &[2.0, 1.0, -5.0])?;
    /// assert_eq!(matrix.top_k(2)?.values(), [2.0, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn top_k(&self, k: usize) -> Result<CsrMatrix<T, I>> {
        CsrMatrix::from_made(top_k(&self.arrays().lent(), k, tnr_sparse_order::VALUE)?)
    }
}
