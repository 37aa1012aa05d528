//! Sparse matrices on a device in CSR and COO form: three arrays each.

#[deny(unsafe_code)]
mod coalesce;
#[deny(unsafe_code)]
mod coo;
#[deny(unsafe_code)]
mod product;
#[deny(unsafe_code)]
mod sparsify;
#[deny(unsafe_code)]
mod transfer;

pub use coo::CooView;
pub use sparsify::Sparsify;

use std::fmt;
use std::ops::RangeBounds;

use crate::cuda::{Device, Stream, Tensor, TensorView, TensorViewMut};
use crate::dtype::{Element, index::SparseIndex};
use crate::error::{Rejected, Result};
use crate::sparse::calls::{LentArrays, LentSparse, Made};
use crate::sparse::format::Csr;
use crate::sparse::{Form, range_below};

/// A CSR matrix on a device, lent: like [`tenure::CsrView`](crate::CsrView), and also `Copy`, over
/// three views of the device's memory.
///
/// Offsets and indices are checked once, when it is made, so that operations on it wait for
/// nothing.
///
/// ```
/// use tenure::cuda::{CsrView, Device};
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let stream = device.stream()?;
/// let (offsets, indices) = (stream.upload(&[0, 2, 3])?, stream.upload(&[0, 2, 1])?);
/// let values = stream.upload(&[1.0_f32, 2.0, 3.0])?;
/// let matrix = CsrView::new(2, 3, offsets.view(), indices.view(), values.view())?;
/// let product = stream.sparse_matmul(matrix, &stream.upload(&[1.0, 10.0, 100.0])?)?;
/// assert_eq!(stream.to_vec(&product)?, [201.0, 30.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
// The invariant, except between creation and the check: offsets and indices are right.
pub struct CsrView<'a, T: Element, I: SparseIndex = i32> {
    form: Form,
    row_offsets: TensorView<'a, I>,
    col_indices: TensorView<'a, I>,
    values: TensorView<'a, T>,
}

impl<T: Element, I: SparseIndex> Clone for CsrView<'_, T, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, I: SparseIndex> Copy for CsrView<'_, T, I> {}

impl<'a, T: Element, I: SparseIndex> CsrView<'a, T, I> {
    /// Row `i` has the entries `k` in `row_offsets[i]..row_offsets[i + 1]`. Entry `k` is
    /// `values[k]`, at column `col_indices[k]`. The check copies offsets and indices to the host,
    /// and waits.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: lengths that do not agree, an offset or an index that is wrong, which the
    /// message names, or a view that is not of rank 1 and contiguous. `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// # use tenure::cuda::{CsrView, Device};
    /// # let Ok(device) = Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let (offsets, indices) = (stream.upload(&[0, 1])?, stream.upload(&[3])?);
    /// let values = stream.upload(&[0.5])?;
    /// let error = CsrView::new(1, 3, offsets.view(), indices.view(), values.view()).unwrap_err();
    /// assert_eq!(
    ///     error.message(),
    ///     "col_indices[0] is 3 but must be at least 0 and below cols, which is 3"
    /// );
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn new(
        rows: usize,
        cols: usize,
        row_offsets: TensorView<'a, I>,
        col_indices: TensorView<'a, I>,
        values: TensorView<'a, T>,
    ) -> Result<Self> {
        let view = Self::lengths(rows, cols, row_offsets, col_indices, values)?;
        view.arrays().check()?;
        Ok(view)
    }

    /// Arrays whose contents are still to be checked.
    fn lengths(
        rows: usize,
        cols: usize,
        row_offsets: TensorView<'a, I>,
        col_indices: TensorView<'a, I>,
        values: TensorView<'a, T>,
    ) -> Result<Self> {
        let form = Form::new::<Csr>(rows, cols);
        form.check_lengths(row_offsets.len(), col_indices.len(), values.len())?;
        Ok(CsrView { form, row_offsets, col_indices, values })
    }

    fn arrays(&self) -> LentArrays<'_> {
        let parts = [self.row_offsets.lent(), self.col_indices.lent(), self.values.lent()];
        LentArrays::on_device(self.form.raw(), parts)
    }

    /// The matrix in the form that operations take.
    pub(super) fn lent(&self) -> LentSparse<'_> {
        // SAFETY: offsets and indices are right, by the type's invariant, and views keep them so.
        unsafe { self.arrays().checked() }
    }

    /// The part of a range of rows. It has the offsets of those rows, and all indices and values;
    /// the entries between its offsets belong to the range. Nothing is read.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: the range leaves the rows.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let host = tenure::CsrView::new(2, 3, &[0, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0])?;
    /// let matrix = stream.upload_csr(host)?;
    /// let last = matrix.view().row_range(1..)?;
    /// assert_eq!(stream.download_csr(last)?.values(), [3.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn row_range(&self, rows: impl RangeBounds<usize>) -> Result<Self> {
        let rows = range_below(rows, self.form.rows)?;
        let row_offsets = self.row_offsets.slice(0, rows.start..=rows.end)?;
        Ok(CsrView { form: self.form.with_major_count(rows.len()), row_offsets, ..*self })
    }

    /// The row offsets; for a range of rows, only the offsets of the range.
    pub fn row_offsets(&self) -> TensorView<'a, I> {
        self.row_offsets
    }

    /// The column indices, also those of rows outside a range.
    pub fn col_indices(&self) -> TensorView<'a, I> {
        self.col_indices
    }

    /// The values, also those of rows outside a range.
    pub fn values(&self) -> TensorView<'a, T> {
        self.values
    }
}

/// A CSR matrix in memory of a device, held: three tensors. Only the values can be written; see
/// [`CsrView`].
///
/// ```
/// use tenure::CsrView;
/// use tenure::cuda::Device;
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let stream = device.stream()?;
/// let host = CsrView::new(2, 3, &[0, 2, 3], &[0, 2, 1], &[1.0_f32, 2.0, 3.0])?;
/// let mut matrix = stream.upload_csr(host)?;
/// stream.mul_assign(&mut matrix.values_mut(), 2.0)?;
/// let product = stream.sparse_matmul(&matrix, &stream.upload(&[1.0, 10.0, 100.0])?)?;
/// assert_eq!(stream.to_vec(&product)?, [402.0, 60.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
// The invariant: `view()` keeps that of its type.
pub struct CsrMatrix<T: Element, I: SparseIndex = i32> {
    form: Form,
    row_offsets: Tensor<I>,
    col_indices: Tensor<I>,
    values: Tensor<T>,
}

/// The three tensors of a matrix.
type Parts<T, I> = (Tensor<I>, Tensor<I>, Tensor<T>);

impl<T: Element, I: SparseIndex> CsrMatrix<T, I> {
    /// Holds three tensors, once they are found to be right: as
    /// [`tenure::CsrMatrix::from_parts`](crate::CsrMatrix::from_parts). The check copies offsets
    /// and indices to the host, and waits.
    ///
    /// # Errors
    ///
    /// The errors of [`CsrView::new`]; also `InvalidArgument` for entries that no row has. The
    /// parts come back with the error.
    ///
    /// ```
    /// # use tenure::cuda::{CsrMatrix, Device};
    /// # let Ok(device) = Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let (offsets, indices) = (stream.upload(&[0, 2, 3])?, stream.upload(&[0, 2, 1])?);
    /// let values = stream.upload(&[1.0_f32, 2.0, 3.0])?;
    /// let matrix = CsrMatrix::from_parts(2, 3, offsets, indices, values)?;
    /// assert_eq!((matrix.rows(), matrix.nnz()), (2, 3));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[expect(clippy::result_large_err, reason = "the refused parts go back, by value")]
    pub fn from_parts(
        rows: usize,
        cols: usize,
        row_offsets: Tensor<I>,
        col_indices: Tensor<I>,
        values: Tensor<T>,
    ) -> Result<Self, Rejected<Parts<T, I>>> {
        let checked =
            CsrView::lengths(rows, cols, row_offsets.view(), col_indices.view(), values.view())
                .and_then(|view| view.arrays().check_whole().map(|()| view.form));
        match checked {
            Ok(form) => Ok(CsrMatrix { form, row_offsets, col_indices, values }),
            Err(error) => Err(Rejected::new(error, (row_offsets, col_indices, values))),
        }
    }

    /// From parts that have been checked.
    pub(super) fn over(form: Form, (row_offsets, col_indices, values): Parts<T, I>) -> Self {
        CsrMatrix { form, row_offsets, col_indices, values }
    }

    /// Result of an operation on the stream.
    pub(super) fn from_made(stream: &Stream, made: Made) -> Result<Self> {
        let form = Form::of(made.form::<T, I>()?);
        let Made { view, major, minor, values, .. } = made;
        let (offsets, entries) = (view.major.shape[0] as usize, view.minor.shape[0] as usize);
        let row_offsets = Tensor::over(stream, view.major, offsets * size_of::<I>(), major);
        let col_indices = Tensor::over(stream, view.minor, entries * size_of::<I>(), minor);
        let values = Tensor::over(stream, view.values, entries * size_of::<T>(), values);
        Ok(Self::over(form, (row_offsets, col_indices, values)))
    }

    /// The three tensors, as [`from_parts`](Self::from_parts) takes them.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// # let host = tenure::CsrView::new(2, 3, &[0, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0])?;
    /// let (row_offsets, _, values) = stream.upload_csr(host)?.into_parts();
    /// assert_eq!(stream.to_vec(&row_offsets)?, [0, 2, 3]);
    /// assert_eq!(stream.to_vec(&values)?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn into_parts(self) -> Parts<T, I> {
        (self.row_offsets, self.col_indices, self.values)
    }

    /// Lends the matrix for reading.
    pub fn view(&self) -> CsrView<'_, T, I> {
        CsrView {
            form: self.form,
            row_offsets: self.row_offsets.view(),
            col_indices: self.col_indices.view(),
            values: self.values.view(),
        }
    }

    /// The row offsets.
    pub fn row_offsets(&self) -> TensorView<'_, I> {
        self.row_offsets.view()
    }

    /// The column indices.
    pub fn col_indices(&self) -> TensorView<'_, I> {
        self.col_indices.view()
    }

    /// The values.
    pub fn values(&self) -> TensorView<'_, T> {
        self.values.view()
    }

    /// The values, to be written.
    pub fn values_mut(&mut self) -> TensorViewMut<'_, T> {
        self.values.view_mut()
    }

    /// The device whose memory it is.
    pub fn device(&self) -> Device {
        self.values.device()
    }

    /// Elements that are stored in all, zeros among them.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }
}

/// A matrix where an operand is a view.
impl<'a, T: Element, I: SparseIndex> From<&'a CsrMatrix<T, I>> for CsrView<'a, T, I> {
    fn from(matrix: &'a CsrMatrix<T, I>) -> Self {
        matrix.view()
    }
}

/// Getters that the matrix and its view share.
macro_rules! described {
    ($($type:ty, $name:literal, [$($lifetime:lifetime)?];)*) => {$(
        impl<$($lifetime,)? T: Element, I: SparseIndex> $type {
            /// Rows of the matrix.
            pub fn rows(&self) -> usize {
                self.form.rows
            }

            /// Columns of the matrix.
            pub fn cols(&self) -> usize {
                self.form.cols
            }

            /// Whether the entries are known to be coalesced: ordered, and no position has two.
            pub fn is_coalesced(&self) -> bool {
                self.form.is_coalesced()
            }
        }

        impl<$($lifetime,)? T: Element, I: SparseIndex> fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($name)
                    .field("rows", &self.form.rows)
                    .field("cols", &self.form.cols)
                    .field("row_offsets", &self.row_offsets)
                    .field("col_indices", &self.col_indices)
                    .field("values", &self.values)
                    .finish()
            }
        }
    )*};
}

described! {
    CsrView<'a, T, I>, "CsrView", ['a];
    CsrMatrix<T, I>, "CsrMatrix", [];
}
