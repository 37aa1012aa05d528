//! Normalizations over axes.

use tenure_sys::{for_each_normalize, tnr_normalize_op};

use crate::dense::{Tensor, TensorView};
use crate::dtype::Float;
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::ops::axes::Axes;
use crate::ops::results::{filled, named, no_view};
use crate::raw::Input;
use crate::raw::expression::Leaf;
use crate::raw::operations::{self, Normalizing};

/// The options of a normalization, over views of `$View`; `$rms` is what takes no bias.
macro_rules! norm_options {
    ($(#[$about:meta])* $View:ident, $rms:literal) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct LayerNorm<'a, T: Float> {
            weight: Option<$View<'a, T>>,
            bias: Option<$View<'a, T>>,
            eps: f64,
        }

        impl<'a, T: Float> LayerNorm<'a, T> {
            /// A weight of 1 and a bias of 0, and an `eps` of 1e-5.
            pub const fn new() -> Self {
                LayerNorm { weight: None, bias: None, eps: 1e-5 }
            }

            /// Multiplied by afterwards: of the extents of the axes.
            pub fn weight(mut self, weight: &'a (impl AsView<T> + ?Sized)) -> Self {
                self.weight = Some(weight.as_view());
                self
            }

            #[doc = concat!("Added then: of the extents of the axes. ", $rms, " takes none.")]
            pub fn bias(mut self, bias: &'a (impl AsView<T> + ?Sized)) -> Self {
                self.bias = Some(bias.as_view());
                self
            }

            /// Added to each variance, or mean of squares.
            pub const fn eps(mut self, eps: f64) -> Self {
                self.eps = eps;
                self
            }

            fn lent(&self) -> Normalizing<'_> {
                Normalizing {
                    eps: self.eps,
                    weight: self.weight.as_ref().map($View::lent),
                    bias: self.bias.as_ref().map($View::lent),
                }
            }
        }

        impl<T: Float> Default for LayerNorm<'_, T> {
            fn default() -> Self {
                LayerNorm::new()
            }
        }
    };
}
pub(crate) use norm_options;

norm_options! {
    /// The weight and the bias that a normalization applies to the elements that it has normalized,
    /// and the `eps` that keeps it from dividing by 0.
    ///
    /// ```
    /// use tenure::{LayerNorm, nn::layer_norm};
    ///
    /// let (weight, bias) = ([10.0, 1.0], [0.0, 5.0]);
    /// let norm = LayerNorm::new().weight(&weight).bias(&bias).eps(0.0);
    /// assert_eq!(layer_norm(&[[1.0, 3.0]], 1, norm)?.to_vec(), [-10.0, 6.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    TensorView, "[`rms_norm`]"
}

impl<'a, T: Float> LayerNorm<'a, T> {
    /// The `eps` for a node of a graph, whose weight and bias are operands.
    pub(crate) fn of_node(&self) -> Result<f64> {
        no_view("a normalization", "weight", self.weight.is_some())?;
        no_view("a normalization", "bias", self.bias.is_some())?;
        Ok(self.eps)
    }

    /// The `eps`, and the weight and the bias as an expression keeps them.
    pub(crate) fn into_leaves(self) -> (f64, [Option<Leaf<'a>>; 2]) {
        (self.eps, [self.weight, self.bias].map(|vector| vector.map(TensorView::into_leaf)))
    }
}

/// The three forms of a normalization; a `norm` in brackets makes it a parameter.
macro_rules! normalizations {
    ($(
        $op:ident: $new:ident, $into:ident, $assign:ident $(, [$norm:ident])?;
        $what:literal, also $also:literal, errors $errors:literal,
        example $a:literal, $arguments:literal => $result:literal;
    )*) => {$(
        #[doc = $what]
        ///
        /// A new row-major tensor. `f16` and `bf16` are computed in `f32` and rounded once.
        #[doc = $also]
        ///
        /// # Errors
        ///
        #[doc = concat!("`InvalidArgument`: no such axis", $errors, ". `OutOfMemory`.")]
        ///
        /// ```
        #[doc = concat!(
            "let result = tenure::nn::", stringify!($new), "(&", $a, ", ", $arguments, ")?;"
        )]
        #[doc = concat!("assert_eq!(result.to_vec(), ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $new<T: Float>(
            a: impl AsView<T>,
            axes: impl Into<Axes>,
            $($norm: LayerNorm<'_, T>,)?
        ) -> Result<Tensor<T>> {
            named(stringify!($new), || {
                let a = a.as_view();
                let mask = axes.into().mask(a.rank())?;
                let with = normalizations!(@with $($norm)?);
                let lent = a.lent();
                filled(a.shape(), |out| {
                    operations::normalize(tnr_normalize_op::$op, Input::View(lent), mask, with, out)
                })
            })
        }

        #[doc = concat!("As [`", stringify!($new), "`], into memory of the caller's.")]
        ///
        /// # Errors
        ///
        #[doc = concat!("As [`", stringify!($new), "`], and for another shape of `out`.")]
        ///
        /// ```
        #[doc = concat!("let mut out = ", $result, ";")]
        #[doc = concat!(
            "tenure::nn::", stringify!($into), "(&", $a, ", ", $arguments, ", &mut out)?;"
        )]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $into<T: Float>(
            a: impl AsView<T>,
            axes: impl Into<Axes>,
            $($norm: LayerNorm<'_, T>,)?
            out: &mut (impl AsViewMut<T> + ?Sized),
        ) -> Result<()> {
            named(stringify!($into), || {
                let (a, mut out) = (a.as_view(), out.as_view_mut());
                let mask = axes.into().mask(a.rank())?;
                let with = normalizations!(@with $($norm)?);
                let lent = Input::View(a.lent());
                operations::normalize(tnr_normalize_op::$op, lent, mask, with, out.lent_mut())
            })
        }

        #[doc = concat!("As [`", stringify!($new), "`], in place.")]
        ///
        /// # Errors
        ///
        #[doc = concat!("As [`", stringify!($new), "`].")]
        ///
        /// ```
        #[doc = concat!("let mut a = ", $a, ";")]
        #[doc = concat!("tenure::nn::", stringify!($assign), "(&mut a, ", $arguments, ")?;")]
        #[doc = concat!("assert_eq!(a, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $assign<T: Float>(
            out: &mut (impl AsViewMut<T> + ?Sized),
            axes: impl Into<Axes>,
            $($norm: LayerNorm<'_, T>,)?
        ) -> Result<()> {
            named(stringify!($assign), || {
                let mut out = out.as_view_mut();
                let mask = axes.into().mask(out.rank())?;
                let with = normalizations!(@with $($norm)?);
                let op = tnr_normalize_op::$op;
                operations::normalize(op, Input::Output, mask, with, out.lent_mut())
            })
        }
    )*};
    (@with) => { Normalizing::default() };
    (@with $norm:ident) => { $norm.lent() };
}

normalizations! {
    SOFTMAX: softmax, softmax_into, softmax_assign;
    "`e^a` over the sum of all `e^a` along the axes, without overflow.",
    also "NaN where an element is NaN or plus infinity, or all are minus infinity.",
    errors "", example "[3.0, f64::NEG_INFINITY, 3.0]", "0" => "[0.5, 0.0, 0.5]";
    LOG_SOFTMAX: log_softmax, log_softmax_into, log_softmax_assign;
    "The logarithm of [`softmax`], which loses no digits where that is small.",
    also "NaN where [`softmax`] is.",
    errors "", example "[-1000.0, 0.0]", "0" => "[-1000.0, 0.0]";
    LAYER_NORM: layer_norm, layer_norm_into, layer_norm_assign, [norm];
    "`(a - mean) / sqrt(var + eps)`, with the mean and the variance (of `ddof` 0) along the axes, \
     times the weight plus the bias of the [`LayerNorm`].",
    also "NaN where both variance and `eps` are 0.",
    errors ", a weight or bias of other extents than those of the axes, an `eps` that is negative \
            or not finite",
    example "[1.0, 3.0]", "0, tenure::LayerNorm::new().eps(0.0)" => "[-1.0, 1.0]";
    RMS_NORM: rms_norm, rms_norm_into, rms_norm_assign, [norm];
    "`a / sqrt(mean of the squares + eps)`, with the mean along the axes, times the weight of the \
     [`LayerNorm`].",
    also "NaN where all elements and `eps` are 0.",
    errors ", a weight of other extents than those of the axes, a bias, an `eps` that is negative \
            or not finite",
    example "[2.0, -2.0]", "0, tenure::LayerNorm::new().eps(0.0)" => "[1.0, -1.0]";
}

/// A normalization of the table of operations without a function here does not compile.
macro_rules! require_functions {
    ($($op:ident $name:literal: $new:ident;)*) => {
        const _: () = {
            $(#[allow(unused_imports)]
            use self::$new as _;)*
        };
    };
}

for_each_normalize!(require_functions);
