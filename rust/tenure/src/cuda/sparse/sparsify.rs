//! From dense to sparse on a device, and back.

use tenure_sys::{TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO, tnr_sparse_format, tnr_sparse_predicate};

use crate::cuda::{AsView, AsViewMut, CsrMatrix, CsrView, Stream, Tensor, TensorView};
use crate::dtype::{Bool8, Element, Number, index::SparseIndex};
use crate::error::{Error, Result};
use crate::sparse::calls::{self as raw, SparseOptions};

/// A conversion of chosen elements from a dense matrix on a device to a sparse one: by
/// [`Stream::sparsify`], like [`tenure::Sparsify`](crate::Sparsify). NaN is always chosen, for any
/// threshold.
pub struct Sparsify<'a, T: Element> {
    stream: &'a Stream,
    dense: TensorView<'a, T>,
    mask: Option<TensorView<'a, Bool8>>,
    options: SparseOptions<'a>,
}

/// Between dense and sparse matrices.
impl Stream {
    /// Begins a conversion from a dense matrix, of any strides, to a sparse one; without more, of
    /// the elements that are not zero: as [`tenure::sparse::sparsify`](crate::sparse::sparsify()).
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let dense = stream.upload(&[[0.0, -2.0, 0.5], [3.0, 0.0, 0.1]])?;
    /// let matrix = stream.sparsify(&dense).above_in_magnitude(0.25).to_csr::<i32>()?;
    /// assert_eq!(stream.to_vec(matrix.values())?, [-2.0, 0.5, 3.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn sparsify<'a, T: Element>(
        &'a self,
        dense: &'a (impl AsView<T> + ?Sized),
    ) -> Sparsify<'a, T> {
        let (dense, options) = (dense.as_view(), SparseOptions::new());
        Sparsify { stream: self, dense, mask: None, options }
    }

    /// The dense form of a matrix, row-major: as
    /// [`tenure::CsrView::to_dense`](crate::SparseView::to_dense). Several entries for one position
    /// are added up in their order.
    ///
    /// # Errors
    ///
    /// `Unsupported`: `f16` and `bf16` that are not known to be coalesced, and several entries of a
    /// type without a sum; numbers of 16 bytes. `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let host = tenure::CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// let dense = stream.sparse_to_dense(&stream.upload_csr(host)?)?;
    /// assert_eq!(stream.to_vec(&dense)?, [1.5, 0.0, 0.0, 0.0, 0.0, 2.5]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn sparse_to_dense<'a, T: Element, I: SparseIndex>(
        &self,
        a: impl Into<CsrView<'a, T, I>>,
    ) -> Result<Tensor<T>> {
        let a = a.into();
        self.filled(&[a.rows(), a.cols()], |out| raw::to_dense(&a.lent(), out))
    }

    /// Writes the result of [`sparse_to_dense`](Self::sparse_to_dense) to `out`.
    ///
    /// # Errors
    ///
    /// The errors of [`sparse_to_dense`](Self::sparse_to_dense); also `InvalidArgument` for another
    /// shape.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// # let host = tenure::CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// # let matrix = stream.upload_csr(host)?;
    /// let mut out = stream.zeros([3, 2])?;
    /// stream.sparse_to_dense_into(&matrix, &mut out.view_mut().t())?;
    /// assert_eq!(stream.to_vec(&out)?, [1.5, 0.0, 0.0, 0.0, 0.0, 2.5]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn sparse_to_dense_into<'a, T: Element, I: SparseIndex>(
        &self,
        a: impl Into<CsrView<'a, T, I>>,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        let (a, mut out) = (a.into(), out.as_view_mut());
        self.within(|| raw::to_dense(&a.lent(), out.lent_mut()))
    }
}

/// Which elements.
impl<'a, T: Element> Sparsify<'a, T> {
    /// Also chooses -0.0, which otherwise counts as zero.
    pub fn keep_negative_zero(mut self) -> Self {
        self.options.set_flags(TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO);
        self
    }

    /// Chooses the elements where `mask` is true, for any value. The mask is a matrix of the same
    /// shape on the device.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let dense = stream.upload(&[[0.0, 1.0, 2.0]])?;
    /// let mask = stream.lt(&dense, 1.5)?;
    /// let matrix = stream.sparsify(&dense).masked(&mask).to_csr::<i32>()?;
    /// assert_eq!(stream.to_vec(matrix.values())?, [0.0, 1.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn masked(mut self, mask: &'a (impl AsView<Bool8> + ?Sized)) -> Self {
        self.mask = Some(mask.as_view());
        self
    }

    /// Converts to CSR, coalesced, with the same result as on the host. Waits for the number of
    /// entries.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a rank that is not 2, a mask of another shape, a threshold that is NaN,
    /// or negative where magnitudes are compared, two of `keep_negative_zero`, a mask and a
    /// threshold, and more entries than the indices can count (use `i64` then). `Unsupported`:
    /// numbers of 16 bytes. `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let dense = stream.upload(&[[0.0, 1.0], [2.0, 0.0]])?;
    /// let matrix = stream.sparsify(&dense).to_csr::<i64>()?;
    /// assert_eq!(stream.to_vec(matrix.row_offsets())?, [0, 1, 2]);
    /// assert!(matrix.is_coalesced());
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("to_sparse_csr", "csr_matrix"))]
    pub fn to_csr<I: SparseIndex>(self) -> Result<CsrMatrix<T, I>> {
        let Sparsify { stream, dense, mask, mut options } = self;
        let rank = dense.rank();
        if rank != 2 {
            return Err(Error::invalid(format!("dense.rank is {rank} but must be 2")));
        }
        if let Some(mask) = &mask {
            options.set_lent_mask(mask.lent());
        }
        options.set_format::<I>(tnr_sparse_format::CSR);
        let made = stream.within(|| raw::from_dense(dense.lent(), &options))?;
        CsrMatrix::from_made(stream, made)
    }
}

/// Which elements, by their size.
impl<T: Number> Sparsify<'_, T> {
    /// Chooses the elements above `threshold`. If it is negative, zeros are entries too.
    pub fn above(mut self, threshold: T) -> Self {
        self.options.set_threshold(tnr_sparse_predicate::GREATER, threshold);
        self
    }

    /// Chooses the elements with a magnitude above `threshold`.
    pub fn above_in_magnitude(mut self, threshold: T) -> Self {
        self.options.set_threshold(tnr_sparse_predicate::MAGNITUDE_GREATER, threshold);
        self
    }
}
