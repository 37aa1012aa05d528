//! Convolutions and poolings of images on a device.

use tenure_sys::{tnr_pool2d_attributes, tnr_reduce_op};

use crate::cuda::{AsView, AsViewMut, Stream, Tensor, TensorView};
use crate::dtype::Float;
use crate::error::Result;
use crate::layout::order::Order;
use crate::nn::conv2d::{Filtering, conv2d_options};
use crate::nn::pool2d::{ADAPTIVE_POOL, GLOBAL_POOL, of_size};
use crate::nn::{activation::Activation, pool2d::Pool2d};
use crate::ops::results::image_order;
use crate::raw::operations;

conv2d_options! {
    /// Options of [`Stream::conv2d`]: how it moves its filters over images, and the bias,
    /// activation and bounds of the sums. It is a [`tenure::Conv2d`](crate::Conv2d) on a device,
    /// and takes only [`Activation::Relu`].
    ///
    /// ```
    /// use tenure::Activation;
    /// use tenure::cuda::{Conv2d, Device};
    ///
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// let stream = device.stream()?;
    /// let image = stream.upload(&[[[[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]]]])?;
    /// let (weight, bias) = (stream.upload(&[[[[1.0, 1.0]]]])?, stream.upload(&[0.5])?);
    /// let with = Conv2d::new().padding([0, 1]).strides([1, 2]).bias(&bias);
    /// let out = stream.conv2d(&image, &weight, with.activation(Activation::Relu))?;
    /// assert_eq!(stream.to_vec(&out)?, [1.5, 1.5, 0.0, 0.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    TensorView
}

/// The order of a new result of `a`.
pub(super) fn order_of<T: Float>(a: &TensorView<'_, T>) -> Order {
    image_order(a.shape(), a.strides(), a.is_row_major())
}

/// Convolutions of images: of `f64`, `f32`, `f16` and `bf16`, of any strides.
impl Stream {
    /// Enqueues [`tenure::nn::conv2d`](crate::nn::conv2d()). The result is a new tensor: row-major
    /// (NCHW), or with its channels last (NHWC) where those of `a` are adjacent and `a` is not
    /// row-major.
    ///
    /// A sum takes its products in the order of the filter's rows, columns and channels, by fused
    /// multiplication and addition: its bits depend only on the window and the filter.
    ///
    /// # Errors
    ///
    /// The errors of [`tenure::nn::conv2d`](crate::nn::conv2d()). `Unsupported`: an activation
    /// other than [`Activation::Relu`], and images or results that a device cannot count.
    /// `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// use tenure::cuda::Conv2d;
    ///
    /// // Two pixels of three channels each, in NHWC.
    /// let pixels = stream.upload(&[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]])?;
    /// let weight = stream.upload(&[[[[1.0]], [[1.0]], [[1.0]]]])?;
    /// let grey = stream.conv2d(pixels.channels_last()?, &weight, Conv2d::new())?;
    /// assert_eq!(stream.to_vec(&grey)?, [6.0, 15.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("convolution", "cross_correlation", "conv1d", "conv"))]
    pub fn conv2d<T: Float>(
        &self,
        a: impl AsView<T>,
        weight: impl AsView<T>,
        with: Conv2d<'_, T>,
    ) -> Result<Tensor<T>> {
        let (a, weight) = (a.as_view(), weight.as_view());
        let attributes = with.plain.attributes()?;
        let shape = with.plain.result_shape(a.shape(), weight.shape());
        let bias = with.bias.as_ref().map(TensorView::lent);
        self.filled_in(&shape, order_of(&a), |out| {
            operations::conv2d(a.lent(), weight.lent(), bias, &attributes, out)
        })
    }

    /// Writes the result of [`conv2d`](Self::conv2d) to `out`.
    ///
    /// # Errors
    ///
    /// The errors of [`conv2d`](Self::conv2d), also for another shape of `out`.
    pub fn conv2d_into<T: Float>(
        &self,
        a: impl AsView<T>,
        weight: impl AsView<T>,
        with: Conv2d<'_, T>,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        let (a, weight, mut out) = (a.as_view(), weight.as_view(), out.as_view_mut());
        let attributes = with.plain.attributes()?;
        let bias = with.bias.as_ref().map(TensorView::lent);
        self.within(|| {
            operations::conv2d(a.lent(), weight.lent(), bias, &attributes, out.lent_mut())
        })
    }

    /// Enqueues [`tenure::nn::conv2d_transposed`](crate::nn::conv2d_transposed()): one launch, in
    /// the order of [`conv2d`](Self::conv2d).
    ///
    /// # Errors
    ///
    /// The errors of [`conv2d`](Self::conv2d), also for `more` rows or columns than it takes.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// use tenure::cuda::Conv2d;
    ///
    /// let image = stream.upload(&[[[[1.0, 2.0]]]])?;
    /// let filter = stream.upload(&[[[[1.0, 10.0]]]])?;
    /// let apart = Conv2d::new().strides([1, 3]);
    /// let out = stream.conv2d_transposed(&image, &filter, apart, [0, 1])?;
    /// assert_eq!(stream.to_vec(&out)?, [1.0, 10.0, 0.0, 2.0, 20.0, 0.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("deconvolution", "conv_transpose2d"))]
    pub fn conv2d_transposed<T: Float>(
        &self,
        a: impl AsView<T>,
        weight: impl AsView<T>,
        with: Conv2d<'_, T>,
        more: [usize; 2],
    ) -> Result<Tensor<T>> {
        let (a, weight) = (a.as_view(), weight.as_view());
        let attributes = with.plain.attributes()?;
        let shape = with.plain.transposed_shape(a.shape(), weight.shape(), more);
        let bias = with.bias.as_ref().map(TensorView::lent);
        self.filled_in(&shape, order_of(&a), |out| {
            operations::conv2d_transposed(a.lent(), weight.lent(), bias, &attributes, out)
        })
    }

    /// Writes the result of [`conv2d_transposed`](Self::conv2d_transposed) to `out`. The shape of
    /// `out` gives the number of rows and columns.
    ///
    /// # Errors
    ///
    /// The errors of [`conv2d_transposed`](Self::conv2d_transposed), also for another shape of
    /// `out`.
    pub fn conv2d_transposed_into<T: Float>(
        &self,
        a: impl AsView<T>,
        weight: impl AsView<T>,
        with: Conv2d<'_, T>,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        let (a, weight, mut out) = (a.as_view(), weight.as_view(), out.as_view_mut());
        let attributes = with.plain.attributes()?;
        let bias = with.bias.as_ref().map(TensorView::lent);
        self.within(|| {
            operations::conv2d_transposed(
                a.lent(),
                weight.lent(),
                bias,
                &attributes,
                out.lent_mut(),
            )
        })
    }

    fn pool<T: Float>(
        &self,
        op: tnr_reduce_op,
        a: impl AsView<T>,
        attributes: &tnr_pool2d_attributes,
        shape: impl FnOnce(&[usize]) -> [usize; 4],
    ) -> Result<Tensor<T>> {
        let a = a.as_view();
        self.filled_in(&shape(a.shape()), order_of(&a), |out| {
            operations::pool2d(op, a.lent(), attributes, out)
        })
    }

    fn pool_into<T: Float>(
        &self,
        op: tnr_reduce_op,
        a: impl AsView<T>,
        attributes: &tnr_pool2d_attributes,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        let (a, mut out) = (a.as_view(), out.as_view_mut());
        self.within(|| operations::pool2d(op, a.lent(), attributes, out.lent_mut()))
    }
}

/// The two forms of a pooling: of windows, of a result's size, or of whole images.
macro_rules! pool_methods {
    ($($op:ident $form:ident: $new:ident, $into:ident;)*) => {
        /// Poolings of images, in the order of [`conv2d`](Stream::conv2d)'s results: of `f64`,
        /// `f32`, `f16` and `bf16`, of any strides.
        impl Stream {$(pool_methods! { @$form $op $new $into })*}
    };
    (@windows $op:ident $new:ident $into:ident) => {
        #[doc = concat!(
            "As [`tenure::nn::", stringify!($new), "`](fn@crate::nn::", stringify!($new), "),"
        )]
        /// enqueued, with its bits.
        ///
        /// # Errors
        ///
        #[doc = concat!(
            "As [`tenure::nn::", stringify!($new), "`](fn@crate::nn::", stringify!($new), ")."
        )]
        /// `Unsupported`: images or results that a device cannot count. `DeviceError`.
        ///
        /// ```
        /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
        /// # let stream = device.stream()?;
        /// let image = stream.upload(&[[[[3.0, 3.0, 4.0, 4.0], [3.0, 3.0, 4.0, 4.0]]]])?;
        #[doc = concat!(
            "let out = stream.", stringify!($new), "(&image, tenure::Pool2d::new([2, 2]))?;"
        )]
        /// assert_eq!(stream.to_vec(&out)?, [3.0, 4.0]);
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $new<T: Float>(&self, a: impl AsView<T>, windows: Pool2d) -> Result<Tensor<T>> {
            let attributes = windows.attributes()?;
            self.pool(tnr_reduce_op::$op, a, &attributes, |a| windows.result_shape(a))
        }

        #[doc = concat!("As [`", stringify!($new), "`](Self::", stringify!($new), "), into")]
        /// memory of the caller's.
        ///
        /// # Errors
        ///
        #[doc = concat!("As [`", stringify!($new), "`](Self::", stringify!($new), "), and for")]
        /// another shape of `out`.
        pub fn $into<T: Float>(
            &self,
            a: impl AsView<T>,
            windows: Pool2d,
            out: &mut (impl AsViewMut<T> + ?Sized),
        ) -> Result<()> {
            self.pool_into(tnr_reduce_op::$op, a, &windows.attributes()?, out)
        }
    };
    (@adaptive $op:ident $new:ident $into:ident) => {
        #[doc = concat!(
            "As [`tenure::nn::", stringify!($new), "`](fn@crate::nn::", stringify!($new), "),"
        )]
        /// enqueued.
        ///
        /// # Errors
        ///
        #[doc = concat!(
            "As [`tenure::nn::", stringify!($new), "`](fn@crate::nn::", stringify!($new), ")."
        )]
        /// `Unsupported`: images or results that a device cannot count. `DeviceError`.
        pub fn $new<T: Float>(&self, a: impl AsView<T>, size: [usize; 2]) -> Result<Tensor<T>> {
            self.pool(tnr_reduce_op::$op, a, &ADAPTIVE_POOL, |a| of_size(a, size))
        }

        #[doc = concat!("As [`", stringify!($new), "`](Self::", stringify!($new), "), into")]
        /// memory of the caller's, whose shape says how many rows and columns there are.
        ///
        /// # Errors
        ///
        #[doc = concat!("As [`", stringify!($new), "`](Self::", stringify!($new), "), and for")]
        /// other images or channels of `out`.
        pub fn $into<T: Float>(
            &self,
            a: impl AsView<T>,
            out: &mut (impl AsViewMut<T> + ?Sized),
        ) -> Result<()> {
            self.pool_into(tnr_reduce_op::$op, a, &ADAPTIVE_POOL, out)
        }
    };
    (@global $op:ident $new:ident $into:ident) => {
        #[doc = concat!(
            "As [`tenure::nn::", stringify!($new), "`](fn@crate::nn::", stringify!($new), "),"
        )]
        /// enqueued: a reduction over the last two axes.
        ///
        /// # Errors
        ///
        #[doc = concat!(
            "As [`tenure::nn::", stringify!($new), "`](fn@crate::nn::", stringify!($new), ")."
        )]
        /// `DeviceError`.
        pub fn $new<T: Float>(&self, a: impl AsView<T>) -> Result<Tensor<T>> {
            self.pool(tnr_reduce_op::$op, a, &GLOBAL_POOL, |a| of_size(a, [1, 1]))
        }

        #[doc = concat!("As [`", stringify!($new), "`](Self::", stringify!($new), "), into")]
        /// memory of the caller's.
        ///
        /// # Errors
        ///
        #[doc = concat!("As [`", stringify!($new), "`](Self::", stringify!($new), "), and for")]
        /// another shape of `out`.
        pub fn $into<T: Float>(
            &self,
            a: impl AsView<T>,
            out: &mut (impl AsViewMut<T> + ?Sized),
        ) -> Result<()> {
            self.pool_into(tnr_reduce_op::$op, a, &GLOBAL_POOL, out)
        }
    };
}

pool_methods! {
    MAX windows: max_pool2d, max_pool2d_into;
    MEAN windows: avg_pool2d, avg_pool2d_into;
    MAX adaptive: adaptive_max_pool2d, adaptive_max_pool2d_into;
    MEAN adaptive: adaptive_avg_pool2d, adaptive_avg_pool2d_into;
    MEAN global: global_avg_pool2d, global_avg_pool2d_into;
}
