//! Coordinates on a device, and compressed rows of them.

use std::fmt;

use tenure_sys::tnr_sparse_format;

use crate::cuda::{CsrMatrix, Stream, TensorView};
use crate::dtype::{Element, index::SparseIndex};
use crate::error::Result;
use crate::sparse::Form;
use crate::sparse::calls::{self as raw, LentArrays, SparseOptions};
use crate::sparse::format::Coo;

/// A matrix by coordinates on a device, lent: three views of the device's memory, as
/// [`tenure::CooView`](crate::CooView). Indices are compared with their bounds by what reads them.
///
/// ```
/// use tenure::Combine;
/// use tenure::cuda::{CooView, Device};
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let stream = device.stream()?;
/// let (rows, cols) = (stream.upload(&[1, 0, 1])?, stream.upload(&[2, 0, 2])?);
/// let values = stream.upload(&[1.0_f32, 2.0, 3.0])?;
/// let entries = CooView::new(2, 3, rows.view(), cols.view(), values.view())?;
/// let matrix = stream.sparse_coalesce(&stream.sparse_to_csr(entries)?, Combine::Sum)?;
/// assert_eq!(stream.to_vec(matrix.row_offsets())?, [0, 1, 2]);
/// assert_eq!(stream.to_vec(matrix.values())?, [2.0, 4.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct CooView<'a, T: Element, I: SparseIndex = i32> {
    form: Form,
    row_indices: TensorView<'a, I>,
    col_indices: TensorView<'a, I>,
    values: TensorView<'a, T>,
}

impl<'a, T: Element, I: SparseIndex> CooView<'a, T, I> {
    /// Entry `k` is `values[k]`, at row `row_indices[k]` and column `col_indices[k]`. Nothing is
    /// read.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: lengths that do not agree.
    pub fn new(
        rows: usize,
        cols: usize,
        row_indices: TensorView<'a, I>,
        col_indices: TensorView<'a, I>,
        values: TensorView<'a, T>,
    ) -> Result<Self> {
        let form = Form::new::<Coo>(rows, cols);
        form.check_lengths(row_indices.len(), col_indices.len(), values.len())?;
        Ok(CooView { form, row_indices, col_indices, values })
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.form.rows
    }

    /// Columns of the matrix.
    pub fn cols(&self) -> usize {
        self.form.cols
    }
}

impl<T: Element, I: SparseIndex> fmt::Debug for CooView<'_, T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CooView")
            .field("rows", &self.form.rows)
            .field("cols", &self.form.cols)
            .field("row_indices", &self.row_indices)
            .field("col_indices", &self.col_indices)
            .field("values", &self.values)
            .finish()
    }
}

/// From coordinates.
impl Stream {
    /// Compressed rows of coordinates in any order, with entries of a row in the order that they
    /// had: the host's [`to_csr`](crate::SparseView::to_csr). Every entry is kept; what several of
    /// one position are together, [`sparse_coalesce`](Self::sparse_coalesce) says. Waits for
    /// whether the indices are right; takes 20 bytes of the device for each entry while it lasts.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: an index that is wrong, which the message names, views that are not of
    /// rank 1 and contiguous, and more rows or columns than indices can count. `Unsupported`:
    /// numbers of 16 bytes, and 2^31 entries. `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// # use tenure::cuda::{CooView, Device};
    /// # let Ok(device) = Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let (rows, cols) = (stream.upload(&[1, 0, 2])?, stream.upload(&[2, 0, 1])?);
    /// let values = stream.upload(&[1.0, 2.0, 3.0])?;
    /// let entries = CooView::new(2, 3, rows.view(), cols.view(), values.view())?;
    /// assert_eq!(
    ///     stream.sparse_to_csr(entries).unwrap_err().message(),
    ///     "a.row_indices[2] is 2 but must be at least 0 and below rows, which is 2"
    /// );
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn sparse_to_csr<T: Element, I: SparseIndex>(
        &self,
        a: CooView<'_, T, I>,
    ) -> Result<CsrMatrix<T, I>> {
        let parts = [a.row_indices.lent(), a.col_indices.lent(), a.values.lent()];
        let lent = LentArrays::on_device(a.form.raw(), parts).unchecked();
        let mut options = SparseOptions::new();
        options.set_format::<I>(tnr_sparse_format::CSR);
        let made = self.within(|| raw::convert(&lent, &options))?;
        CsrMatrix::from_made(self, made)
    }
}
