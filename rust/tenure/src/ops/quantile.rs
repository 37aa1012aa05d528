//! Quantiles and medians over axes.

use tenure_sys::{TNR_MAX_RANK, TNR_QUANTILE_SKIP_NAN};

use super::axes::Axes;
use super::results::{Extents, filled, named};
use crate::dense::{Tensor, TensorView, TensorViewMut};
use crate::dtype::Float;
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::raw::ordering::{self, Front};

fn one<T: Float>(a: TensorView<'_, T>, q: f64, axes: Axes, flags: u32) -> Result<Tensor<T>> {
    let mask = axes.mask(a.rank())?;
    let extents = axes.reduced(a.shape(), mask);
    filled(extents.as_slice(), |out| {
        ordering::quantile(a.lent(), mask, &[q], flags, Front::Nothing, out)
    })
}

fn one_into<T: Float>(
    a: TensorView<'_, T>,
    q: f64,
    axes: Axes,
    flags: u32,
    mut out: TensorViewMut<'_, T>,
) -> Result<()> {
    let mask = axes.mask(a.rank())?;
    ordering::quantile(a.lent(), mask, &[q], flags, Front::Nothing, out.lent_mut())
}

/// The quantile of all elements, as a number.
fn of_all<T: Float>(a: TensorView<'_, T>, q: f64, flags: u32) -> Result<T> {
    let mut result = T::default();
    let out = TensorViewMut::from_exact(std::slice::from_mut(&mut result), &[]);
    one_into(a, q, Axes::from(..), flags, out)?;
    Ok(result)
}

fn many<T: Float>(a: TensorView<'_, T>, q: &[f64], axes: Axes, flags: u32) -> Result<Tensor<T>> {
    let mask = axes.mask(a.rank())?;
    let reduced = axes.reduced(a.shape(), mask);
    let reduced = reduced.as_slice();
    if reduced.len() == TNR_MAX_RANK {
        let message = format!("the result has {} axes and that of q", reduced.len());
        return Err(crate::error::Error::invalid(message));
    }
    let mut extents = Extents { values: [q.len(); TNR_MAX_RANK], rank: reduced.len() + 1 };
    extents.values[1..=reduced.len()].copy_from_slice(reduced);
    filled(extents.as_slice(), |out| {
        ordering::quantile(a.lent(), mask, q, flags, Front::Quantiles, out)
    })
}

/// The functions that treat NaN in one way.
macro_rules! quantiles {
    ($(
        $flags:expr; $nan:literal, $a:literal;
        $quantile:ident, $quantile_into:ident, $quantiles:ident, $median:ident, $median_into:ident,
        $median_all:ident;
    )*) => {$(
        /// The quantile over axes: of n elements in their order that at `q * (n - 1)`, or between
        /// the two next to it in proportion, as NumPy's `quantile`; next to an infinite element
        /// that element.
        ///
        #[doc = $nan]
        /// A new row-major tensor with the axes that are not reduced, or with all of them where
        /// they are given by [`Axes::keep`].
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: no such axis, or a `q` outside 0 to 1. `OutOfMemory`.
        ///
        /// ```
        #[doc = concat!("use tenure::ops::", stringify!($quantile), ";")]
        ///
        #[doc = concat!("let a = ", $a, ";")]
        #[doc = concat!(
            "assert_eq!(", stringify!($quantile), "(&a, 0.25, 1)?.to_vec(), [1.5, 6.0]);"
        )]
        #[doc = concat!("assert!(", stringify!($quantile), "(&a, 1.5, 1).is_err());")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[doc(alias = "percentile")]
        pub fn $quantile<T: Float>(
            a: impl AsView<T>,
            q: f64,
            axes: impl Into<Axes>,
        ) -> Result<Tensor<T>> {
            named(stringify!($quantile), || one(a.as_view(), q, axes.into(), $flags))
        }

        #[doc = concat!("As [`", stringify!($quantile), "`], into memory of the caller's,")]
        /// which has the axes that are not reduced, or all of them with the reduced ones of extent
        /// 1.
        ///
        /// # Errors
        ///
        #[doc = concat!("As [`", stringify!($quantile), "`], and `InvalidArgument` for another")]
        /// shape of `out`.
        pub fn $quantile_into<T: Float>(
            a: impl AsView<T>,
            q: f64,
            axes: impl Into<Axes>,
            out: &mut (impl AsViewMut<T> + ?Sized),
        ) -> Result<()> {
            named(stringify!($quantile_into), || {
                one_into(a.as_view(), q, axes.into(), $flags, out.as_view_mut())
            })
        }

        #[doc = concat!("Each [`", stringify!($quantile), "`] of `q`, along a first axis.")]
        ///
        /// # Errors
        ///
        #[doc = concat!("As [`", stringify!($quantile), "`], and `InvalidArgument` for no `q`.")]
        ///
        /// ```
        #[doc = concat!("use tenure::ops::", stringify!($quantiles), ";")]
        ///
        #[doc = concat!("let a = ", $a, ";")]
        #[doc = concat!("let range = ", stringify!($quantiles), "(&a, &[0.0, 1.0], 1)?;")]
        /// assert_eq!(range.to_vec(), [1.0, 5.0, 3.0, 9.0]);
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[doc(alias = "percentile")]
        pub fn $quantiles<T: Float>(
            a: impl AsView<T>,
            q: &[f64],
            axes: impl Into<Axes>,
        ) -> Result<Tensor<T>> {
            named(stringify!($quantiles), || many(a.as_view(), q, axes.into(), $flags))
        }

        /// The median over axes: the element in the middle, or half way between the two there.
        ///
        #[doc = $nan]
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: no such axis. `OutOfMemory`.
        ///
        /// ```
        #[doc = concat!("use tenure::ops::", stringify!($median), ";")]
        ///
        #[doc = concat!("let a = ", $a, ";")]
        #[doc = concat!("assert_eq!(", stringify!($median), "(&a, 1)?.to_vec(), [2.0, 7.0]);")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $median<T: Float>(a: impl AsView<T>, axes: impl Into<Axes>) -> Result<Tensor<T>> {
            named(stringify!($median), || one(a.as_view(), 0.5, axes.into(), $flags))
        }

        #[doc = concat!("As [`", stringify!($median), "`], into memory of the caller's.")]
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: no such axis, or another shape of `out`. `OutOfMemory`.
        pub fn $median_into<T: Float>(
            a: impl AsView<T>,
            axes: impl Into<Axes>,
            out: &mut (impl AsViewMut<T> + ?Sized),
        ) -> Result<()> {
            named(stringify!($median_into), || {
                one_into(a.as_view(), 0.5, axes.into(), $flags, out.as_view_mut())
            })
        }

        #[doc = concat!("The [`", stringify!($median), "`] of all elements, as a number.")]
        ///
        /// # Errors
        ///
        /// `OutOfMemory`.
        ///
        /// ```
        #[doc = concat!(
            "assert_eq!(tenure::ops::", stringify!($median_all), "(&[4.0, 1.0, 3.0, 9.0])?, 3.5);"
        )]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $median_all<T: Float>(a: impl AsView<T>) -> Result<T> {
            named(stringify!($median_all), || of_all(a.as_view(), 0.5, $flags))
        }
    )*};
}

quantiles! {
    0; "NaN where an element is, and of no elements.", "[[3.0, 1.0, 2.0], [7.0, 9.0, 5.0]]";
    quantile, quantile_into, quantiles, median, median_into, median_all;
    TNR_QUANTILE_SKIP_NAN; "NaN are left out; NaN of no elements that are left.",
    "[[3.0, f64::NAN, 1.0, 2.0], [7.0, 9.0, 5.0, f64::NAN]]";
    nan_quantile, nan_quantile_into, nan_quantiles, nan_median, nan_median_into, nan_median_all;
}
