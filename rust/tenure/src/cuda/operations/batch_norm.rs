//! Batch normalization on a device, by known statistics.

use super::images::order_of;
use crate::cuda::{AsView, AsViewMut, Stream, Tensor, TensorView};
use crate::dtype::Float;
use crate::error::Result;
use crate::nn::batch_norm::batch_norm_options;
use crate::raw::Input;
use crate::raw::operations::{self, ChannelStatistics};

batch_norm_options! {
    /// Statistics of each channel, and the learned weight and bias that apply after the
    /// normalization: a [`tenure::BatchNorm`](crate::BatchNorm) on a device.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// use tenure::cuda::BatchNorm;
    ///
    /// // Two channels of one element each.
    /// let (mean, var) = (stream.upload(&[1.0, 2.0])?, stream.upload(&[4.0, 9.0])?);
    /// let weight = stream.upload(&[10.0, 1.0])?;
    /// let norm = BatchNorm::new(&mean, &var).weight(&weight).eps(0.0);
    /// let a = stream.upload(&[[5.0, 8.0]])?;
    /// assert_eq!(stream.to_vec(&stream.batch_norm(&a, norm)?)?, [20.0, 2.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    TensorView
}

/// Batch normalization of `f64` and `f32`, with the CPU's bits: two launches. The last one reads
/// and writes each element once.
impl Stream {
    /// Enqueues [`tenure::nn::batch_norm`](crate::nn::batch_norm()).
    ///
    /// # Errors
    ///
    /// The errors of [`tenure::nn::batch_norm`](crate::nn::batch_norm()), and `DeviceError`.
    #[doc(alias("normalization", "batchnorm"))]
    pub fn batch_norm<T: Float>(
        &self,
        a: impl AsView<T>,
        norm: BatchNorm<'_, T>,
    ) -> Result<Tensor<T>> {
        let a = a.as_view();
        self.filled_in(a.shape(), order_of(&a), |out| {
            operations::batch_norm(Input::View(a.lent()), norm.lent(), norm.eps, out)
        })
    }

    /// Writes the result of [`batch_norm`](Self::batch_norm) to `out`.
    ///
    /// # Errors
    ///
    /// The errors of [`batch_norm`](Self::batch_norm), also for another shape of `out`.
    pub fn batch_norm_into<T: Float>(
        &self,
        a: impl AsView<T>,
        norm: BatchNorm<'_, T>,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        let (a, mut out) = (a.as_view(), out.as_view_mut());
        self.within(|| {
            operations::batch_norm(Input::View(a.lent()), norm.lent(), norm.eps, out.lent_mut())
        })
    }

    /// Computes [`batch_norm`](Self::batch_norm) in place.
    ///
    /// # Errors
    ///
    /// The errors of [`batch_norm`](Self::batch_norm).
    pub fn batch_norm_assign<T: Float>(
        &self,
        out: &mut (impl AsViewMut<T> + ?Sized),
        norm: BatchNorm<'_, T>,
    ) -> Result<()> {
        let mut out = out.as_view_mut();
        self.within(|| operations::batch_norm(Input::Output, norm.lent(), norm.eps, out.lent_mut()))
    }
}
