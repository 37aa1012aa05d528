//! Copies of sparse matrices between host and device. They wait.

use crate::cuda::{CsrMatrix, CsrView, Stream};
use crate::dtype::{Element, index::SparseIndex};
use crate::error::Result;

/// Sparse matrices to the device and back. The copies wait.
impl Stream {
    /// Copies a matrix of the host to the device: the three arrays, and whether the entries are
    /// known to be coalesced. For a range of rows, only the entries of the range are copied.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let host = tenure::CsrMatrix::from_vecs(2, 2, vec![0, 1, 2], vec![0, 1], vec![1.5, 2.5])?;
    /// let matrix = stream.upload_csr(&host)?;
    /// assert_eq!((matrix.rows(), matrix.cols(), matrix.nnz()), (2, 2, 2));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn upload_csr<'a, T: Element, I: SparseIndex>(
        &self,
        a: impl Into<crate::sparse::view::CsrView<'a, T, I>>,
    ) -> Result<CsrMatrix<T, I>> {
        let a = a.into();
        let arrays = a.arrays();
        let row_offsets = if a.row_offsets()[0].to_usize() == 0 {
            self.upload(a.row_offsets())?
        } else {
            self.upload(arrays.offsets_from_zero().collect::<Vec<_>>())?
        };
        let parts = (row_offsets, self.upload(a.col_indices())?, self.upload(a.values())?);
        Ok(CsrMatrix::over(arrays.form, parts))
    }

    /// Copies a matrix of the device to the host; for a range of rows, only the entries of the
    /// range. Offsets and indices are checked again on the host, because foreign code may have
    /// written the device's memory.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let host = tenure::CsrView::new(2, 3, &[0, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0])?;
    /// let matrix = stream.upload_csr(host)?;
    /// assert_eq!(stream.download_csr(&matrix)?.row(0), host.row(0));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn download_csr<'a, T: Element, I: SparseIndex>(
        &self,
        a: impl Into<CsrView<'a, T, I>>,
    ) -> Result<crate::sparse::matrix::CsrMatrix<T, I>> {
        let a = a.into();
        let mut offsets = self.to_vec(a.row_offsets())?;
        let first = offsets[0].to_usize();
        // Offsets that are no range are refused by its slice.
        let end = offsets[offsets.len() - 1].to_usize();
        let entries = first..end;
        let indices = self.to_vec(a.col_indices().slice(0, entries.clone())?)?;
        let values = self.to_vec(a.values().slice(0, entries)?)?;
        if first != 0 {
            for offset in &mut offsets {
                *offset = I::from_usize(offset.to_usize().wrapping_sub(first)).unwrap_or_default();
            }
        }
        let (rows, cols) = (a.rows(), a.cols());
        let matrix =
            crate::sparse::matrix::CsrMatrix::from_vecs(rows, cols, offsets, indices, values)?;
        Ok(if a.is_coalesced() { matrix.check_coalesced()? } else { matrix })
    }
}
