//! Rows, columns, blocks and triangles of a matrix, as a new one.

use std::ops::RangeBounds;

use tenure_sys::tnr_triangle;

use super::arrays::range_below;
use super::{CompressedFormat, SparseIndex, SparseMatrix, SparseView};
use crate::dtype::Element;
use crate::error::Result;
use crate::operand::AsView;
use crate::sparse::calls::{select, slice, triangular};

/// Selections of CSR and CSC: copies, the same for any number of threads.
/// [`row_range`](crate::CsrView::row_range) and [`col_range`](crate::CscView::col_range) copy
/// nothing.
impl<F: CompressedFormat, T: Element, I: SparseIndex> SparseView<'_, F, T, I> {
    /// The rows that are listed, in that order; any of them several times. Copies.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a number that names no row; a list of rank other than 1; more entries
    /// than `I` counts. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?; // [1.5 0 0; 0 0 2.5]
    /// let rows = matrix.select_rows(&[1, 0, 1])?;
    /// assert_eq!(rows.to_dense()?.to_vec(), [0.0, 0.0, 2.5, 1.5, 0.0, 0.0, 0.0, 0.0, 2.5]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn select_rows(&self, rows: &(impl AsView<I> + ?Sized)) -> Result<SparseMatrix<F, T, I>> {
        let lent = self.arrays().lent();
        let made = rows.with_view(|rows| select(&lent, Some(rows.lent()), None))?;
        SparseMatrix::from_made(made)
    }

    /// The columns that are listed, in that order; any of them several times. Entries stay in the
    /// order that they had: where the list does not rise they are no longer sorted, which
    /// [`to_sorted`](Self::to_sorted) makes up for. Copies.
    ///
    /// # Errors
    ///
    /// The errors of [`select_rows`](Self::select_rows), of columns.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?; // [1.5 0 0; 0 0 2.5]
    /// let cols = matrix.select_cols(&[2, 0])?;
    /// assert_eq!(cols.to_dense()?.to_vec(), [0.0, 1.5, 2.5, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn select_cols(&self, cols: &(impl AsView<I> + ?Sized)) -> Result<SparseMatrix<F, T, I>> {
        let lent = self.arrays().lent();
        let made = cols.with_view(|cols| select(&lent, None, Some(cols.lent())))?;
        SparseMatrix::from_made(made)
    }

    /// The block of a range of rows and a range of columns. Copies, where `slice` of a dense view
    /// does not.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a range leaves the rows or the columns. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?; // [1.5 0 0; 0 0 2.5]
    /// let block = matrix.to_block(.., 1..)?;
    /// assert_eq!(block.to_dense()?.to_vec(), [0.0, 0.0, 0.0, 2.5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "slice")]
    pub fn to_block(
        &self,
        rows: impl RangeBounds<usize>,
        cols: impl RangeBounds<usize>,
    ) -> Result<SparseMatrix<F, T, I>> {
        let [rows, cols] = [range_below(rows, self.rows())?, range_below(cols, self.cols())?]
            .map(|range| [range.start, range.len()]);
        SparseMatrix::from_made(slice(&self.arrays().lent(), rows, cols)?)
    }

    /// The entries on and below a diagonal, in their order: 0 is the main one, those above it are
    /// positive. Copies; of dense matrices it is [`tril`](crate::ops::tril).
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 2, &[0, 2, 4], &[0, 1, 0, 1], &[1.0, 2.0, 3.0, 4.0])?;
    /// assert_eq!(matrix.tril(0)?.values(), [1.0, 3.0, 4.0]);
    /// assert_eq!(matrix.tril(-1)?.to_dense()?.to_vec(), [0.0, 0.0, 3.0, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn tril(&self, diagonal: isize) -> Result<SparseMatrix<F, T, I>> {
        self.triangle(tnr_triangle::LOWER, diagonal)
    }

    /// The entries on and above a diagonal, in their order, as [`tril`](Self::tril) has the others.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 2, &[0, 2, 4], &[0, 1, 0, 1], &[1.0, 2.0, 3.0, 4.0])?;
    /// assert_eq!(matrix.triu(0)?.values(), [1.0, 2.0, 4.0]);
    /// assert_eq!(matrix.triu(1)?.to_dense()?.to_vec(), [0.0, 2.0, 0.0, 0.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn triu(&self, diagonal: isize) -> Result<SparseMatrix<F, T, I>> {
        self.triangle(tnr_triangle::UPPER, diagonal)
    }

    fn triangle(&self, part: tnr_triangle, diagonal: isize) -> Result<SparseMatrix<F, T, I>> {
        SparseMatrix::from_made(triangular(part, &self.arrays().lent(), diagonal as i64)?)
    }
}
