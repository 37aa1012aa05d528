//! Normalizations of tensors of a device.

use tenure_sys::tnr_normalize_op;

use crate::cuda::{AsView, AsViewMut, Stream, Tensor, TensorView};
use crate::dtype::Float;
use crate::error::Result;
use crate::nn::normalize::norm_options;
use crate::ops::axes::Axes;
use crate::ops::results::named;
use crate::raw::Input;
use crate::raw::expression::Leaf;
use crate::raw::operations::{self, Normalizing};

norm_options! {
    /// The weight and bias that a normalization applies, and the `eps` that keeps it from dividing
    /// by 0: a [`tenure::LayerNorm`](crate::LayerNorm) on a device.
    ///
    /// ```
    /// use tenure::cuda::{Device, LayerNorm};
    ///
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// let stream = device.stream()?;
    /// let (weight, bias) = (stream.upload(&[10.0, 1.0])?, stream.upload(&[0.0, 5.0])?);
    /// let norm = LayerNorm::new().weight(&weight).bias(&bias).eps(0.0);
    /// let result = stream.layer_norm(&stream.upload(&[[1.0, 3.0]])?, 1, norm)?;
    /// assert_eq!(stream.to_vec(&result)?, [-10.0, 6.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    TensorView, "[`Stream::rms_norm`]"
}

impl<'a, T: Float> LayerNorm<'a, T> {
    /// The `eps`, and the weight and the bias as an expression keeps them.
    pub(crate) fn into_leaves(self) -> (f64, [Option<Leaf<'a>>; 2]) {
        (self.eps, [self.weight, self.bias].map(|vector| vector.map(TensorView::into_leaf)))
    }
}

/// The three forms of a normalization; a `norm` in brackets makes it a parameter.
macro_rules! normalization_methods {
    ($(
        $op:ident: $new:ident, $into:ident, $assign:ident $(, [$norm:ident])?;
        $what:literal, errors $errors:literal;
    )*) => {
        /// Normalizations over axes.
        impl Stream {$(
            #[doc = $what]
            ///
            #[doc = concat!(
                "As [`tenure::nn::", stringify!($new), "`](fn@crate::nn::", stringify!($new),
                "), enqueued."
            )]
            /// A new row-major tensor of the shape of `a`.
            ///
            /// # Errors
            ///
            #[doc = concat!("`InvalidArgument`: no such axis", $errors, ".")]
            /// `OutOfMemory`. `DeviceError`.
            pub fn $new<T: Float>(
                &self,
                a: impl AsView<T>,
                axes: impl Into<Axes>,
                $($norm: LayerNorm<'_, T>,)?
            ) -> Result<Tensor<T>> {
                named(stringify!($new), || {
                    let a = a.as_view();
                    let mask = axes.into().mask(a.rank())?;
                    let with = normalization_methods!(@with $($norm)?);
                    self.filled(a.shape(), |out| {
                        let a = a.lent().into();
                        operations::normalize(tnr_normalize_op::$op, a, mask, with, out)
                    })
                })
            }

            #[doc = $what]
            ///
            #[doc = concat!(
                "As [`tenure::nn::", stringify!($into), "`](fn@crate::nn::", stringify!($into),
                "), enqueued."
            )]
            /// Written to `out`, which has the shape of `a`.
            ///
            /// # Errors
            ///
            #[doc = concat!(
                "`InvalidArgument`: no such axis, another shape of `out`", $errors, "."
            )]
            /// `OutOfMemory`: for what long rows are measured by. `DeviceError`.
            pub fn $into<T: Float>(
                &self,
                a: impl AsView<T>,
                axes: impl Into<Axes>,
                $($norm: LayerNorm<'_, T>,)?
                out: &mut (impl AsViewMut<T> + ?Sized),
            ) -> Result<()> {
                named(stringify!($into), || {
                    let (a, mut out) = (a.as_view(), out.as_view_mut());
                    let mask = axes.into().mask(a.rank())?;
                    let with = normalization_methods!(@with $($norm)?);
                    self.within(|| {
                        let a = a.lent().into();
                        operations::normalize(tnr_normalize_op::$op, a, mask, with, out.lent_mut())
                    })
                })
            }

            #[doc = $what]
            ///
            #[doc = concat!(
                "As [`tenure::nn::", stringify!($assign), "`](fn@crate::nn::", stringify!($assign),
                "), enqueued."
            )]
            /// In place.
            ///
            /// # Errors
            ///
            #[doc = concat!("`InvalidArgument`: no such axis", $errors, ".")]
            /// `OutOfMemory`: for what long rows are measured by. `DeviceError`.
            pub fn $assign<T: Float>(
                &self,
                out: &mut (impl AsViewMut<T> + ?Sized),
                axes: impl Into<Axes>,
                $($norm: LayerNorm<'_, T>,)?
            ) -> Result<()> {
                named(stringify!($assign), || {
                    let mut out = out.as_view_mut();
                    let mask = axes.into().mask(out.rank())?;
                    let with = normalization_methods!(@with $($norm)?);
                    let op = tnr_normalize_op::$op;
                    self.within(|| {
                        operations::normalize(op, Input::Output, mask, with, out.lent_mut())
                    })
                })
            }
        )*}
    };
    (@with) => { Normalizing::default() };
    (@with $norm:ident) => { $norm.lent() };
}

normalization_methods! {
    SOFTMAX: softmax, softmax_into, softmax_assign;
    "`e^a` over the sum of all `e^a` along the axes, without overflow.", errors "";
    LOG_SOFTMAX: log_softmax, log_softmax_into, log_softmax_assign;
    "The logarithm of [`softmax`](Self::softmax), which loses no digits where that is small.",
    errors "";
    LAYER_NORM: layer_norm, layer_norm_into, layer_norm_assign, [norm];
    "`(a - mean) / sqrt(var + eps)`, with the mean and the variance (of `ddof` 0) along the axes, \
     times the weight plus the bias of the [`LayerNorm`].",
    errors ", a weight or bias of other extents than those of the axes, an `eps` that is negative \
            or not finite";
    RMS_NORM: rms_norm, rms_norm_into, rms_norm_assign, [norm];
    "`a / sqrt(mean of the squares + eps)`, with the mean along the axes, times the weight of the \
     [`LayerNorm`].",
    errors ", a weight of other extents than those of the axes, a bias, an `eps` that is negative \
            or not finite";
}
