//! Batch normalization by known statistics.

use crate::dense::{Tensor, TensorView};
use crate::dtype::Float;
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::ops::results::{filled_in, order_of_images};
use crate::raw::Input;
use crate::raw::operations::{self, ChannelStatistics};

/// Statistics with vectors that are views of the host or of a device: `batch_norm_options! { ///
/// About them. TensorView }`.
macro_rules! batch_norm_options {
    ($(#[$about:meta])* $View:ident) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct BatchNorm<'a, T: Float> {
            mean: $View<'a, T>,
            var: $View<'a, T>,
            weight: Option<$View<'a, T>>,
            bias: Option<$View<'a, T>>,
            eps: f64,
        }

        impl<'a, T: Float> BatchNorm<'a, T> {
            /// Means and variances, a weight of 1 and a bias of 0, and an `eps` of 1e-5.
            pub fn new(
                mean: &'a (impl AsView<T> + ?Sized),
                var: &'a (impl AsView<T> + ?Sized),
            ) -> Self {
                let (mean, var) = (mean.as_view(), var.as_view());
                BatchNorm { mean, var, weight: None, bias: None, eps: 1e-5 }
            }

            /// Multiplied by afterwards: one number for each channel.
            pub fn weight(mut self, weight: &'a (impl AsView<T> + ?Sized)) -> Self {
                self.weight = Some(weight.as_view());
                self
            }

            /// Added then: one number for each channel.
            pub fn bias(mut self, bias: &'a (impl AsView<T> + ?Sized)) -> Self {
                self.bias = Some(bias.as_view());
                self
            }

            /// Added to each variance.
            pub const fn eps(mut self, eps: f64) -> Self {
                self.eps = eps;
                self
            }

            fn lent(&self) -> ChannelStatistics<'_> {
                ChannelStatistics {
                    mean: Some(self.mean.lent()),
                    var: self.var.lent(),
                    weight: self.weight.as_ref().map($View::lent),
                    bias: self.bias.as_ref().map($View::lent),
                }
            }
        }
    };
}
pub(crate) use batch_norm_options;

batch_norm_options! {
    /// Statistics of each channel, and the learned weight and bias that are applied after the
    /// normalization.
    ///
    /// ```
    /// use tenure::{BatchNorm, nn::batch_norm};
    ///
    /// // Two channels of one element each.
    /// let norm = BatchNorm::new(&[1.0, 2.0], &[4.0, 9.0]);
    /// let (weight, bias) = ([10.0, 1.0], [0.0, 5.0]);
    /// let norm = norm.weight(&weight).bias(&bias).eps(0.0);
    /// assert_eq!(batch_norm(&[[5.0, 8.0]], norm)?.to_vec(), [20.0, 7.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    TensorView
}

/// `(a - mean) / sqrt(var + eps) * weight + bias`, with the statistics of each channel, which axis
/// 1 counts: `[n, channels, ...]`. An element that is the mean gives the bias exactly. The result
/// is laid out as `a` is where that is dense and its channels are last, else row-major.
///
/// # Errors
///
/// `InvalidArgument`: a rank below 2, statistics of another length, an `eps` that is negative or
/// not finite. `Unsupported`: `f16` and `bf16`. `OutOfMemory`.
#[doc(alias("normalization", "batchnorm"))]
pub fn batch_norm<T: Float>(a: impl AsView<T>, norm: BatchNorm<'_, T>) -> Result<Tensor<T>> {
    let a = a.as_view();
    let order = order_of_images(&a);
    let lent = a.lent();
    filled_in(a.shape(), order, |out| {
        operations::batch_norm(Input::View(lent), norm.lent(), norm.eps, out)
    })
}

/// Does the same as [`batch_norm`], into the caller's memory.
///
/// # Errors
///
/// The errors of [`batch_norm`], and another shape of `out`.
pub fn batch_norm_into<T: Float>(
    a: impl AsView<T>,
    norm: BatchNorm<'_, T>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    let (a, mut out) = (a.as_view(), out.as_view_mut());
    operations::batch_norm(Input::View(a.lent()), norm.lent(), norm.eps, out.lent_mut())
}

/// Does the same as [`batch_norm`], in place.
///
/// # Errors
///
/// The errors of [`batch_norm`].
///
/// ```
/// use tenure::{BatchNorm, nn::batch_norm_assign};
///
/// let mut a = [[3.0, 13.0]];
/// batch_norm_assign(&mut a, BatchNorm::new(&[1.0, 1.0], &[4.0, 16.0]).eps(0.0))?;
/// assert_eq!(a, [[1.0, 3.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn batch_norm_assign<T: Float>(
    out: &mut (impl AsViewMut<T> + ?Sized),
    norm: BatchNorm<'_, T>,
) -> Result<()> {
    let mut out = out.as_view_mut();
    operations::batch_norm(Input::Output, norm.lent(), norm.eps, out.lent_mut())
}

/// The weight and the bias of a convolution that does what the convolution and the normalization
/// after it do: `weight` is `[filters, channels, height, width]`, or any matrix of rows that give a
/// channel each, and `bias` `[filters]`. A result of the convolution that is the mean then gives
/// the bias within the error of its products, times the scale.
///
/// # Errors
///
/// The errors of [`batch_norm`], for `weight`'s filters as the channels.
///
/// ```
/// use tenure::{BatchNorm, nn::fold_batch_norm};
///
/// let norm = BatchNorm::new(&[1.0], &[4.0]).eps(0.0);
/// let (weight, bias) = fold_batch_norm(&[[[[2.0, 6.0]]]], Some(&[5.0]), norm)?;
/// assert_eq!((weight.to_vec(), bias.to_vec()), (vec![1.0, 3.0], vec![2.0]));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn fold_batch_norm<T: Float>(
    weight: impl AsView<T>,
    bias: Option<&(impl AsView<T> + ?Sized)>,
    norm: BatchNorm<'_, T>,
) -> Result<(Tensor<T>, Tensor<T>)> {
    let weight = weight.as_view();
    let mut folded = Tensor::zeros(weight.shape())?;
    let by_scale = ChannelStatistics { mean: None, bias: None, ..norm.lent() };
    let from = weight.transpose(0, 1)?;
    let mut to = folded.as_view_mut().transpose(0, 1)?;
    operations::batch_norm(Input::View(from.lent()), by_scale, norm.eps, to.lent_mut())?;

    let mut shifted = Tensor::zeros([weight.shape()[0]])?;
    if let Some(bias) = bias {
        crate::ops::copy_into(bias.as_view(), &mut shifted)?;
    }
    let mut row = shifted.as_view_mut().unsqueeze(0)?;
    operations::batch_norm(Input::Output, norm.lent(), norm.eps, row.lent_mut())?;
    Ok((folded, shifted))
}
