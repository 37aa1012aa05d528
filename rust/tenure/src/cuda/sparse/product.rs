//! Sparse times dense on a device.

use tenure_sys::{TNR_SDDMM_TIMES_VALUES, tnr_orientation};

use crate::cuda::{AsView, AsViewMut, CsrMatrix, CsrView, Stream, Tensor, TensorView};
use crate::dtype::{Float, index::SparseIndex};
use crate::error::Result;
use crate::sparse::calls::matmul::{self as raw, PLAIN};

const AS_IS: tnr_orientation = tnr_orientation::AS_IS;

/// Products of sparse matrices with dense vectors and matrices, of rank 1 or 2 and of any strides.
/// Several entries for one position add up; sums of `f16` and `bf16` are `f32`, rounded once.
///
/// All err with `InvalidArgument` where shapes do not agree, `OutOfMemory`, and `DeviceError`.
impl Stream {
    /// The product of a matrix `[m, k]` and a dense `b`, `[k]` or `[k, n]`: `[m]` or `[m, n]`,
    /// row-major. Enqueues [`tenure::CsrView::matmul`](crate::SparseView::matmul).
    ///
    /// The error bound of the sums is the host's; the same call on matrices of the same shape and
    /// number of entries has the same bits each time.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let host = tenure::CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// let matrix = stream.upload_csr(host)?; // [1.5 0 0; 0 0 2.5]
    /// let b = stream.upload(&[1.0, 2.0, 4.0])?;
    /// assert_eq!(stream.to_vec(&stream.sparse_matmul(&matrix, &b)?)?, [1.5, 10.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("spmm", "spmv", "mv", "csrmv"))]
    pub fn sparse_matmul<'a, T: Float, I: SparseIndex>(
        &self,
        a: impl Into<CsrView<'a, T, I>>,
        b: impl AsView<T>,
    ) -> Result<Tensor<T>> {
        let (a, b) = (a.into(), b.as_view());
        // The library refuses a rank other than 1 or 2, whatever the result's shape.
        let extents = [a.rows(), b.shape().get(1).copied().unwrap_or(1)];
        let rank = b.rank().clamp(1, 2);
        self.filled(&extents[..rank], |out| raw::matmul(PLAIN, &a.lent(), AS_IS, b.lent(), out))
    }

    /// Writes the result of [`sparse_matmul`](Self::sparse_matmul) to `out`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// # let host = tenure::CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// # let matrix = stream.upload_csr(host)?;
    /// let b = stream.upload(&[1.0, 2.0, 4.0])?;
    /// let mut out = stream.zeros([2])?;
    /// stream.sparse_matmul_into(&matrix, &b, &mut out)?;
    /// assert_eq!(stream.to_vec(&out)?, [1.5, 10.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn sparse_matmul_into<'a, T: Float, I: SparseIndex>(
        &self,
        a: impl Into<CsrView<'a, T, I>>,
        b: impl AsView<T>,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        let (a, b, mut out) = (a.into(), b.as_view(), out.as_view_mut());
        self.within(|| raw::matmul(PLAIN, &a.lent(), AS_IS, b.lent(), out.lent_mut()))
    }

    /// Computes `out = alpha * a b + beta * out`, otherwise like
    /// [`sparse_matmul_into`](Self::sparse_matmul_into). If `beta` is 0, `out` is not read and may
    /// hold anything.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// # let host = tenure::CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// # let matrix = stream.upload_csr(host)?;
    /// let b = stream.upload(&[1.0, 2.0, 4.0])?;
    /// let mut out = stream.upload(&[1.0, 1.0])?;
    /// stream.sparse_matmul_scaled_into(2.0, &matrix, &b, 10.0, &mut out)?;
    /// assert_eq!(stream.to_vec(&out)?, [13.0, 30.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn sparse_matmul_scaled_into<'a, T: Float, I: SparseIndex>(
        &self,
        alpha: T,
        a: impl Into<CsrView<'a, T, I>>,
        b: impl AsView<T>,
        beta: T,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        let (a, b, mut out) = (a.into(), b.as_view(), out.as_view_mut());
        self.within(|| raw::matmul([alpha, beta], &a.lent(), AS_IS, b.lent(), out.lent_mut()))
    }
}

/// Products of dense matrices, computed only at the entries of a sparse one. They wait for the
/// offsets where its entries begin and end.
impl Stream {
    fn samples<T: Float, I: SparseIndex>(
        &self,
        a: &CsrMatrix<T, I>,
        flags: u32,
        x: TensorView<'_, T>,
        y: TensorView<'_, T>,
    ) -> Result<Tensor<T>> {
        let view = a.view();
        self.filled(&[a.nnz()], |out| {
            raw::sddmm(1_u8, &view.lent(), flags, x.lent(), y.lent(), out)
        })
    }

    /// New values for the entries of a matrix: the entry at row `i` and column `j` gets row `i` of
    /// `x` times column `j` of `y`, like [`tenure::CsrMatrix::sddmm`](crate::SparseMatrix::sddmm).
    /// `x` is `[m, k]`, `y` is `[k, n]`, of any strides. Columns of `y` with adjacent elements are
    /// read fastest.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: shapes that do not agree. `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let host = tenure::CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// let matrix = stream.upload_csr(host)?;
    /// let (x, y) = (stream.upload(&[[1.0], [2.0]])?, stream.upload(&[[3.0, 4.0, 5.0]])?);
    /// assert_eq!(stream.to_vec(&stream.sparse_sddmm(&matrix, &x, &y)?)?, [3.0, 10.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias = "sampled_addmm")]
    pub fn sparse_sddmm<T: Float, I: SparseIndex>(
        &self,
        a: &CsrMatrix<T, I>,
        x: impl AsView<T>,
        y: impl AsView<T>,
    ) -> Result<Tensor<T>> {
        self.samples(a, 0, x.as_view(), y.as_view())
    }

    /// Computes [`sparse_sddmm`](Self::sparse_sddmm) times the entries' own values.
    ///
    /// # Errors
    ///
    /// The errors of [`sparse_sddmm`](Self::sparse_sddmm).
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// # let host = tenure::CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// # let matrix = stream.upload_csr(host)?;
    /// let (x, y) = (stream.upload(&[[1.0], [2.0]])?, stream.upload(&[[3.0, 4.0, 5.0]])?);
    /// let values = stream.sparse_sddmm_times_values(&matrix, &x, &y)?;
    /// assert_eq!(stream.to_vec(&values)?, [4.5, 25.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn sparse_sddmm_times_values<T: Float, I: SparseIndex>(
        &self,
        a: &CsrMatrix<T, I>,
        x: impl AsView<T>,
        y: impl AsView<T>,
    ) -> Result<Tensor<T>> {
        self.samples(a, TNR_SDDMM_TIMES_VALUES, x.as_view(), y.as_view())
    }
}
