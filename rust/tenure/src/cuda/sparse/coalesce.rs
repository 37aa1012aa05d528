//! Entries of sparse matrices in order, and one for each position.

use crate::cuda::{CsrMatrix, CsrView, Stream};
use crate::dtype::{Element, index::SparseIndex};
use crate::error::Result;
use crate::sparse::Combine;
use crate::sparse::calls as raw;

/// Entries of sparse matrices.
impl Stream {
    /// Combines the entries of each position into one by `combine`, and orders the entries. The
    /// result has the bits of [`tenure::CsrView::coalesce`](crate::SparseView::coalesce) on the
    /// host: entries are combined in their order. Zeros are kept. The call waits for the number of
    /// entries, and takes 20 bytes of the device for each while it runs.
    ///
    /// # Errors
    ///
    /// `Unsupported`: elements that are no real numbers, except with a `combine` that keeps the
    /// last; numbers of 16 bytes; 2^31 entries. `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// use tenure::{Combine, CsrView, cuda::Device};
    ///
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// let stream = device.stream()?;
    /// let host = CsrView::new(1, 3, &[0, 3], &[2, 0, 2], &[1.0, 2.0, -5.0])?;
    /// let sums = stream.sparse_coalesce(&stream.upload_csr(host)?, Combine::Sum)?;
    /// assert_eq!(stream.to_vec(sums.values())?, [2.0, -4.0]);
    /// assert!(sums.is_coalesced());
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias = "sum_duplicates")]
    pub fn sparse_coalesce<'a, T: Element, I: SparseIndex>(
        &self,
        a: impl Into<CsrView<'a, T, I>>,
        combine: Combine,
    ) -> Result<CsrMatrix<T, I>> {
        let a = a.into();
        let made = self.within(|| raw::coalesce(&a.lent(), combine.raw()))?;
        CsrMatrix::from_made(self, made)
    }
}
