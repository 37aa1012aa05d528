//! Reductions over axes.

use tenure_sys::{for_each_reduce, tnr_reduce_op};

use super::{Axes, filled};
use crate::raw::operations::{self, Reducing};
use crate::{
    Arithmetic, AsView, AsViewMut, Bool8, Element, Field, Float, Number, Real, Result, Tensor,
    TensorView, TensorViewMut,
};

#[inline]
fn reduce<T: Element, R: Element>(
    op: tnr_reduce_op,
    a: TensorView<'_, T>,
    axes: Axes,
    with: Reducing,
) -> Result<Tensor<R>> {
    let mask = axes.mask(a.rank())?;
    let extents = axes.reduced(a.shape(), mask);
    filled(extents.as_slice(), |out| operations::reduce(op, a.lent(), mask, with, out))
}

#[inline]
fn reduce_into<T: Element, R: Element>(
    op: tnr_reduce_op,
    a: TensorView<'_, T>,
    axes: Axes,
    with: Reducing,
    mut out: TensorViewMut<'_, R>,
) -> Result<()> {
    let mask = axes.mask(a.rank())?;
    operations::reduce(op, a.lent(), mask, with, out.lent_mut())
}

/// The two forms of a reduction. `$also` ends the list of errors; a field of [`Reducing`] in brackets
/// is a parameter.
macro_rules! reductions {
    ($(
        $op:ident: $new:ident, $into:ident, $bound:ident => $result_type:ty $(, [$field:ident: $field_type:ty])?;
        $what:literal, errors $also:literal, example $arguments:literal => $result:literal;
    )*) => {$(
        #[doc = $what]
        ///
        /// A new row-major tensor with the axes that are not reduced, or with all of them where
        /// they are given by [`Axes::keep`].
        ///
        /// # Errors
        ///
        #[doc = concat!("`InvalidArgument`: no such axis", $also, ". `OutOfMemory`.")]
        ///
        /// ```
        /// let a = [[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]];
        #[doc = concat!("let result = tenure::", stringify!($new), "(&a, ", $arguments, ")?;")]
        #[doc = concat!("assert_eq!(result.to_vec(), ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $new<T: $bound>(
            a: impl AsView<T>,
            axes: impl Into<Axes>,
            $($field: $field_type,)?
        ) -> Result<Tensor<$result_type>> {
            let with = Reducing { $($field,)? ..Reducing::default() };
            reduce(tnr_reduce_op::$op, a.as_view(), axes.into(), with)
        }

        #[doc = $what]
        ///
        /// Written to `out`, which has the axes that are not reduced, or all of them with the
        /// reduced ones of extent 1.
        ///
        /// # Errors
        ///
        #[doc = concat!("`InvalidArgument`: no such axis, or another shape of `out`", $also, ".")]
        ///
        /// ```
        /// let a = [[1.0, 2.0, 6.0], [0.0, 5.0, 4.0]];
        #[doc = concat!("let mut out = ", $result, ";")]
        #[doc = concat!("tenure::fill(&mut out, ", $result, "[1])?;")]
        #[doc = concat!(
            "tenure::", stringify!($into), "(&a, ", $arguments, ", &mut out)?;"
        )]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $into<T: $bound>(
            a: impl AsView<T>,
            axes: impl Into<Axes>,
            $($field: $field_type,)?
            out: &mut (impl AsViewMut<$result_type> + ?Sized),
        ) -> Result<()> {
            let (a, out) = (a.as_view(), out.as_view_mut());
            let with = Reducing { $($field,)? ..Reducing::default() };
            reduce_into(tnr_reduce_op::$op, a, axes.into(), with, out)
        }
    )*};
}

/// Passes its rows to the macro that it is given: that of the functions here, and a device's.
macro_rules! for_each_axes_reduction {
    ($then:ident) => {
        $then! {
            SUM: sum, sum_into, Arithmetic => T::Sum;
            "The sum: floats and complex numbers keep their type (f16 and bf16 add in f32), \
integers give i64 or u64 and wrap; 0 of no elements.",
            errors "", example "1" => "[9.0, 9.0]";
            PROD: prod, prod_into, Number => T::Sum;
            "The product: floats keep their type and multiply in f64, integers give i64 or u64 and wrap; 1 of no \
elements. No product on the way overflows or underflows.",
            errors "", example "1" => "[12.0, 0.0]";
            MEAN: mean, mean_into, Field => T;
            "The arithmetic mean; NaN of no elements.",
            errors "", example "1" => "[3.0, 3.0]";
            VAR: var, var_into, Float => T, [ddof: u32];
            "The variance: the squared deviations from the mean, divided by the count less `ddof` \
(0 for a whole population, 1 for a sample); NaN where the count is not above `ddof`.",
            errors "", example "0, 1" => "[0.5, 4.5, 2.0]";
            STD: std, std_into, Float => T, [ddof: u32];
            "The standard deviation: the square root of [`var`](fn@crate::var), with the same \
`ddof`.",
            errors "", example "0, 0" => "[0.5, 1.5, 1.0]";
            MIN: min, min_into, Number => T;
            "The smallest element; NaN wins.",
            errors ", or no elements to choose from", example "1" => "[1.0, 0.0]";
            MAX: max, max_into, Number => T;
            "The largest element; NaN wins.",
            errors ", or no elements to choose from", example "1" => "[6.0, 5.0]";
            ARGMIN: argmin, argmin_into, Number => i64;
            "The index of the smallest element, along one axis, or in row-major order over all; \
the first of equals, and the first NaN before any number.",
            errors ", no elements to choose from, or some of several axes", example "1" => "[0, 0]";
            ARGMAX: argmax, argmax_into, Number => i64;
            "The index of the largest element, along one axis, or in row-major order over all; the \
first of equals, and the first NaN before any number.",
            errors ", no elements to choose from, or some of several axes", example "1" => "[2, 1]";
            ANY: any, any_into, Real => Bool8;
            "Whether any element is not 0; false of no elements.",
            errors "", example "1" => "[true, true].map(tenure::Bool8::from)";
            ALL: all, all_into, Real => Bool8;
            "Whether every element is not 0; true of no elements.",
            errors "", example "1" => "[true, false].map(tenure::Bool8::from)";
            COUNT: count, count_into, Real => i64;
            "How many elements are not 0.",
            errors "", example "1" => "[3, 2]";
            NORM: norm, norm_into, Float => T, [power: f64];
            "The p-norm for a `power` p above 0: the sum of `|a|^p` to the power `1 / p`, or where \
it is infinite the largest `|a|`. It is 1 for the sum of magnitudes and 2 for the \
length of a vector, whose squares add in f64; 0 of no elements.",
            errors ", or a `power` that is not above 0", example "1, 1.0" => "[9.0, 9.0]";
            NAN_SUM: nan_sum, nan_sum_into, Float => T;
            "The [`sum`](fn@crate::sum) of the elements that are not NaN.",
            errors "", example "1" => "[9.0, 9.0]";
            NAN_MEAN: nan_mean, nan_mean_into, Float => T;
            "The [`mean`](fn@crate::mean) of the elements that are not NaN; NaN of none.",
            errors "", example "1" => "[3.0, 3.0]";
            NAN_MIN: nan_min, nan_min_into, Float => T;
            "The smallest of the elements that are not NaN; NaN where all are.",
            errors ", or no elements to choose from", example "1" => "[1.0, 0.0]";
            NAN_MAX: nan_max, nan_max_into, Float => T;
            "The largest of the elements that are not NaN; NaN where all are.",
            errors ", or no elements to choose from", example "1" => "[6.0, 5.0]";
        }
    };
}
pub(crate) use for_each_axes_reduction;

for_each_axes_reduction!(reductions);

/// The logarithm of the sum of `e^a`, without overflow; minus infinity of no elements.
///
/// A new row-major tensor with the axes that are not reduced, or with all of them where they are
/// given by [`Axes::keep`].
///
/// # Errors
///
/// `InvalidArgument`: no such axis. `OutOfMemory`.
///
/// ```
/// let sums = tenure::logsumexp(&[[1000.0, 1000.0], [0.0, f64::NEG_INFINITY]], 1)?;
/// assert_eq!(sums.to_vec(), [1000.0 + 2.0_f64.ln(), 0.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn logsumexp<T: Float>(a: impl AsView<T>, axes: impl Into<Axes>) -> Result<Tensor<T>> {
    reduce(tnr_reduce_op::LOGSUMEXP, a.as_view(), axes.into(), Reducing::default())
}

/// As [`logsumexp`], into memory of the caller's, which has the axes that are not reduced, or all of
/// them with the reduced ones of extent 1.
///
/// # Errors
///
/// `InvalidArgument`: no such axis, or another shape of `out`.
///
/// ```
/// let mut sums = [0.0; 2];
/// tenure::logsumexp_into(&[[3.0, f64::NEG_INFINITY], [0.0, f64::NEG_INFINITY]], 1, &mut sums)?;
/// assert_eq!(sums, [3.0, 0.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn logsumexp_into<T: Float>(
    a: impl AsView<T>,
    axes: impl Into<Axes>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    let (a, out) = (a.as_view(), out.as_view_mut());
    reduce_into(tnr_reduce_op::LOGSUMEXP, a, axes.into(), Reducing::default(), out)
}

/// Mean and variance at once, with the bits of [`mean`] and of [`var`] with the same `ddof`; where
/// there are many results, elements come from memory once for both.
///
/// Two new row-major tensors with the axes that are not reduced, or with all of them where they are
/// given by [`Axes::keep`].
///
/// # Errors
///
/// `InvalidArgument`: no such axis. `OutOfMemory`.
///
/// ```
/// let (mean, var) = tenure::moments(&[[1.0, 3.0], [4.0, 4.0]], 1, 0)?;
/// assert_eq!((mean.to_vec(), var.to_vec()), (vec![2.0, 4.0], vec![1.0, 0.0]));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn moments<T: Float>(
    a: impl AsView<T>,
    axes: impl Into<Axes>,
    ddof: u32,
) -> Result<(Tensor<T>, Tensor<T>)> {
    let (a, axes) = (a.as_view(), axes.into());
    let mask = axes.mask(a.rank())?;
    let extents = axes.reduced(a.shape(), mask);
    let mut var = None;
    let mean = filled(extents.as_slice(), |mean| {
        var = Some(filled(extents.as_slice(), |out| {
            operations::moments(a.lent(), mask, ddof, mean, out)
        })?);
        Ok(())
    })?;
    let var = var.expect("the closure has run");
    Ok((mean, var))
}

/// As [`moments`], into memory of the caller's.
///
/// # Errors
///
/// `InvalidArgument`: no such axis, or another shape of `mean` or `var`.
///
/// ```
/// let (mut mean, mut var) = ([0.0; 2], [0.0; 2]);
/// tenure::moments_into(&[[1.0, 3.0], [4.0, 4.0]], 1, 0, &mut mean, &mut var)?;
/// assert_eq!((mean, var), ([2.0, 4.0], [1.0, 0.0]));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn moments_into<T: Float>(
    a: impl AsView<T>,
    axes: impl Into<Axes>,
    ddof: u32,
    mean: &mut (impl AsViewMut<T> + ?Sized),
    var: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    let (a, mut mean, mut var) = (a.as_view(), mean.as_view_mut(), var.as_view_mut());
    let mask = axes.into().mask(a.rank())?;
    operations::moments(a.lent(), mask, ddof, mean.lent_mut(), var.lent_mut())
}

/// Reductions of all elements to a number.
macro_rules! reductions_of_all {
    ($(
        $op:ident: $all:ident, $bound:ident => $result_type:ty $(, [$field:ident: $field_type:ty])?;
        $what:literal, errors $errors:literal, example $arguments:literal => $result:literal;
    )*) => {$(
        #[doc = $what]
        ///
        /// # Errors
        ///
        #[doc = $errors]
        ///
        /// ```
        /// let a = [[1.0_f64, 2.0, 6.0], [0.0, 5.0, 4.0]];
        #[doc = concat!(
            "assert_eq!(tenure::", stringify!($all), "(&a", $arguments, ")?, ", $result, ");"
        )]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $all<T: $bound>(
            a: impl AsView<T>,
            $($field: $field_type,)?
        ) -> Result<$result_type> {
            let mut result = <$result_type>::default();
            let out = TensorViewMut::from_exact(std::slice::from_mut(&mut result), &[]);
            let with = Reducing { $($field,)? ..Reducing::default() };
            reduce_into(tnr_reduce_op::$op, a.as_view(), Axes::from(..), with, out)?;
            Ok(result)
        }
    )*};
}

/// As [`for_each_axes_reduction`].
macro_rules! for_each_number_reduction {
    ($then:ident) => {
        $then! {
            SUM: sum_all, Arithmetic => T::Sum;
            "The [`sum`](fn@crate::sum) of all elements, as a number.",
            errors "None from a safe caller.", example "" => "18.0";
            PROD: prod_all, Number => T::Sum;
            "The product ([`prod`](fn@crate::prod)) of all elements, as a number.",
            errors "None from a safe caller.", example "" => "0.0";
            MEAN: mean_all, Field => T;
            "The [`mean`](fn@crate::mean) of all elements, as a number.",
            errors "None from a safe caller.", example "" => "3.0";
            VAR: var_all, Float => T, [ddof: u32];
            "The variance ([`var`](fn@crate::var)) of all elements, as a number.",
            errors "None from a safe caller.", example ", 1" => "5.6";
            STD: std_all, Float => T, [ddof: u32];
            "The standard deviation ([`std()`](fn@crate::std)) of all elements, as a number.",
            errors "None from a safe caller.", example ", 1" => "5.6_f64.sqrt()";
            MIN: min_all, Number => T;
            "The smallest of all elements ([`min`](fn@crate::min)), as a number.",
            errors "`InvalidArgument`: no elements to choose from.", example "" => "0.0";
            MAX: max_all, Number => T;
            "The largest of all elements ([`max`](fn@crate::max)), as a number.",
            errors "`InvalidArgument`: no elements to choose from.", example "" => "6.0";
            COUNT: count_all, Real => i64;
            "How many of all elements are not 0 ([`count`](fn@crate::count)).",
            errors "None from a safe caller.", example "" => "5";
            NORM: norm_all, Float => T, [power: f64];
            "The p-norm ([`norm`](fn@crate::norm)) of all elements, as a number.",
            errors "`InvalidArgument`: a `power` that is not above 0.", example ", f64::INFINITY" => "6.0";
        }
    };
}
pub(crate) use for_each_number_reduction;

for_each_number_reduction!(reductions_of_all);

/// A reduction of the table of operations without a function here does not compile.
macro_rules! require_functions {
    ($($op:ident $name:literal: $new:ident;)*) => {
        const _: () = {
            $(#[allow(unused_imports)]
            use self::$new as _;)*
        };
    };
}

for_each_reduce!(require_functions);
