//! Products of matrices on a device.

use crate::cuda::{AsView, AsViewMut, Stream, Tensor, TensorView};
use crate::dtype::Factor;
use crate::error::Result;
use crate::linalg::matmul::{matmul_options, product_shape};
use crate::nn::activation::Activation;
use crate::raw::operations;
use crate::sparse::calls::matmul::PLAIN;

matmul_options! {
    /// Options of [`Stream::matmul_with`]: the bias, activation and bounds that it applies to the
    /// sums. It is a [`tenure::Matmul`](crate::Matmul) on a device, and takes only
    /// [`Activation::Relu`].
    ///
    /// ```
    /// use tenure::Activation;
    /// use tenure::cuda::{Device, Matmul};
    ///
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// let stream = device.stream()?;
    /// let (a, b) = (stream.upload(&[[1.0, 2.0]])?, stream.upload(&[[1.0, -1.0], [1.0, -1.0]])?);
    /// let bias = stream.upload(&[0.5, 0.5])?;
    /// let layer = Matmul::new().bias(&bias).activation(Activation::Relu);
    /// assert_eq!(stream.to_vec(&stream.matmul_with(&a, &b, layer)?)?, [3.5, 0.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    TensorView
}

/// Products of matrices: of `f64`, `f32`, `f16`, `bf16`, and of bytes.
impl Stream {
    /// Enqueues [`tenure::linalg::matmul`](fn@crate::linalg::matmul). The result is a new row-major
    /// tensor.
    ///
    /// A sum takes its products in order of k, by fused multiplication and addition: the error
    /// bound is the host's.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: rank 0, or shapes that do not agree. `Unsupported`: complex numbers.
    /// `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let a = stream.upload(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
    /// let b = stream.upload(&[[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])?;
    /// assert_eq!(stream.to_vec(&stream.matmul(&a, &b)?)?, [7.0, 8.0, 16.0, 17.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("gemm", "gemv", "dot", "mm", "bmm"))]
    pub fn matmul<T: Factor>(
        &self,
        a: impl AsView<T>,
        b: impl AsView<T>,
    ) -> Result<Tensor<T::Product>> {
        let (a, b) = (a.as_view(), b.as_view());
        let extents = product_shape(a.shape(), b.shape())?;
        self.filled(extents.as_slice(), |out| {
            operations::matmul(PLAIN, a.lent(), b.lent(), None, out)
        })
    }

    /// Writes the result of [`matmul`](Self::matmul) to `out`. The matrices of `a` and `b` are
    /// broadcast to the batch of matrices of `out`.
    ///
    /// # Errors
    ///
    /// The errors of [`matmul`](Self::matmul).
    pub fn matmul_into<T: Factor>(
        &self,
        a: impl AsView<T>,
        b: impl AsView<T>,
        out: &mut (impl AsViewMut<T::Product> + ?Sized),
    ) -> Result<()> {
        let (a, b, mut out) = (a.as_view(), b.as_view(), out.as_view_mut());
        self.within(|| operations::matmul(PLAIN, a.lent(), b.lent(), None, out.lent_mut()))
    }

    /// Computes `out = alpha * a b + beta * out`, otherwise like
    /// [`matmul_into`](Self::matmul_into). If `beta` is 0, `out` is not read and may hold anything.
    ///
    /// # Errors
    ///
    /// The errors of [`matmul`](Self::matmul).
    pub fn matmul_scaled_into<T: Factor>(
        &self,
        alpha: T::Product,
        a: impl AsView<T>,
        b: impl AsView<T>,
        beta: T::Product,
        out: &mut (impl AsViewMut<T::Product> + ?Sized),
    ) -> Result<()> {
        let (a, b, mut out) = (a.as_view(), b.as_view(), out.as_view_mut());
        self.within(|| operations::matmul([alpha, beta], a.lent(), b.lent(), None, out.lent_mut()))
    }

    /// Multiplies a matrix of unsigned numbers by one of signed numbers, otherwise like
    /// [`matmul`](Self::matmul).
    ///
    /// # Errors
    ///
    /// The errors of [`matmul`](Self::matmul).
    #[doc(alias("quantized", "MatMulInteger"))]
    pub fn matmul_u8_i8(&self, a: impl AsView<u8>, b: impl AsView<i8>) -> Result<Tensor<i32>> {
        let (a, b) = (a.as_view(), b.as_view());
        let extents = product_shape(a.shape(), b.shape())?;
        self.filled(extents.as_slice(), |out| {
            operations::matmul(PLAIN, a.lent(), b.lent(), None, out)
        })
    }

    /// Computes [`matmul`](Self::matmul), and applies a bias, a rectification and bounds while
    /// registers hold the sums.
    ///
    /// # Errors
    ///
    /// The errors of [`matmul`](Self::matmul), also for a bias of another shape. `Unsupported`: an
    /// activation other than [`Activation::Relu`].
    #[doc(alias("linear", "addmm", "dense", "fully_connected"))]
    pub fn matmul_with<T: Factor>(
        &self,
        a: impl AsView<T>,
        b: impl AsView<T>,
        with: Matmul<'_, T>,
    ) -> Result<Tensor<T::Product>> {
        let (a, b) = (a.as_view(), b.as_view());
        let extents = product_shape(a.shape(), b.shape())?;
        self.filled(extents.as_slice(), |out| {
            operations::matmul(PLAIN, a.lent(), b.lent(), Some(with.lent()), out)
        })
    }

    /// Writes the result of [`matmul_with`](Self::matmul_with) to `out`.
    ///
    /// # Errors
    ///
    /// The errors of [`matmul_with`](Self::matmul_with).
    pub fn matmul_with_into<T: Factor>(
        &self,
        a: impl AsView<T>,
        b: impl AsView<T>,
        with: Matmul<'_, T>,
        out: &mut (impl AsViewMut<T::Product> + ?Sized),
    ) -> Result<()> {
        let (a, b, mut out) = (a.as_view(), b.as_view(), out.as_view_mut());
        self.within(|| {
            operations::matmul(PLAIN, a.lent(), b.lent(), Some(with.lent()), out.lent_mut())
        })
    }
}
