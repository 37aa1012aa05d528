//! Reductions over axes.

use tenure_sys::{for_each_reduce, tnr_reduce_op};

use super::axes::Axes;
use super::results::{filled, named};
use crate::dense::{Tensor, TensorView, TensorViewMut};
use crate::dtype::{Arithmetic, Bool8, Element, Field, Float, Number, Real};
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::raw::operations::{self, Reducing, reducing};

#[inline]
fn reduce<T: Element, R: Element>(
    op: tnr_reduce_op,
    a: TensorView<'_, T>,
    axes: Axes,
    with: Option<Reducing>,
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
    with: Option<Reducing>,
    mut out: TensorViewMut<'_, R>,
) -> Result<()> {
    let mask = axes.mask(a.rank())?;
    operations::reduce(op, a.lent(), mask, with, out.lent_mut())
}

/// The two forms of a reduction. `$also` ends the list of errors; a field of [`Reducing`] in
/// brackets is a parameter.
macro_rules! reductions {
    ($(
        $op:ident $name:literal: $new:ident, $into:ident, [$($generic:tt)*] => $result_type:ty
            $(, [$field:ident: $field_type:ty])?;
        $what:literal, errors $also:literal, example $a:literal, $arguments:literal
            => $result:literal;
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
        #[doc = concat!("let a = ", $a, ";")]
        #[doc = concat!("let result = tenure::ops::", stringify!($new), "(&a, ", $arguments, ")?;")]
        #[doc = concat!("assert_eq!(result.to_vec(), ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $new<$($generic)*>(
            a: impl AsView<T>,
            axes: impl Into<Axes>,
            $($field: $field_type,)?
        ) -> Result<Tensor<$result_type>> {
            named(stringify!($new), || {
                let with = reducing!($($field)?);
                reduce(tnr_reduce_op::$op, a.as_view(), axes.into(), with)
            })
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
        #[doc = concat!("let a = ", $a, ";")]
        #[doc = concat!("let mut out = ", $result, ";")]
        #[doc = concat!("tenure::ops::fill(&mut out, ", $result, "[1])?;")]
        #[doc = concat!(
            "tenure::ops::", stringify!($into), "(&a, ", $arguments, ", &mut out)?;"
        )]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $into<$($generic)*>(
            a: impl AsView<T>,
            axes: impl Into<Axes>,
            $($field: $field_type,)?
            out: &mut (impl AsViewMut<$result_type> + ?Sized),
        ) -> Result<()> {
            named(stringify!($into), || {
                let (a, out) = (a.as_view(), out.as_view_mut());
                let with = reducing!($($field)?);
                reduce_into(tnr_reduce_op::$op, a, axes.into(), with, out)
            })
        }
    )*};
}

for_each_reduce!(reductions);

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
/// let (mean, var) = tenure::ops::moments(&[[1.0, 3.0], [4.0, 4.0]], 1, 0)?;
/// assert_eq!((mean.to_vec(), var.to_vec()), (vec![2.0, 4.0], vec![1.0, 0.0]));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn moments<T: Float>(
    a: impl AsView<T>,
    axes: impl Into<Axes>,
    ddof: u32,
) -> Result<(Tensor<T>, Tensor<T>)> {
    named("moments", || {
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
    })
}

/// Does the same as [`moments`], into the caller's memory.
///
/// # Errors
///
/// `InvalidArgument`: no such axis, or another shape of `mean` or `var`.
///
/// ```
/// let (mut mean, mut var) = ([0.0; 2], [0.0; 2]);
/// tenure::ops::moments_into(&[[1.0, 3.0], [4.0, 4.0]], 1, 0, &mut mean, &mut var)?;
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
    named("moments_into", || {
        let (a, mut mean, mut var) = (a.as_view(), mean.as_view_mut(), var.as_view_mut());
        let mask = axes.into().mask(a.rank())?;
        operations::moments(a.lent(), mask, ddof, mean.lent_mut(), var.lent_mut())
    })
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
            "assert_eq!(tenure::ops::", stringify!($all), "(&a", $arguments, ")?, ", $result, ");"
        )]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        #[inline]
        pub fn $all<T: $bound>(
            a: impl AsView<T>,
            $($field: $field_type,)?
        ) -> Result<$result_type> {
            named(stringify!($all), || {
                let mut result = <$result_type>::default();
                let out = TensorViewMut::from_exact(std::slice::from_mut(&mut result), &[]);
                let with = reducing!($($field)?);
                reduce_into(tnr_reduce_op::$op, a.as_view(), Axes::from(..), with, out)?;
                Ok(result)
            })
        }
    )*};
}

/// Passes its rows to the macro that it is given: that of the functions here, and a device's.
macro_rules! for_each_number_reduction {
    ($then:ident) => {
        $then! {
            SUM: sum_all, Arithmetic => T::Sum;
            "The [`sum`](fn@crate::ops::sum) of all elements, as a number.",
            errors "None from a safe caller.", example "" => "18.0";
            PROD: prod_all, Number => T::Sum;
            "The product ([`prod`](fn@crate::ops::prod)) of all elements, as a number.",
            errors "None from a safe caller.", example "" => "0.0";
            MEAN: mean_all, Field => T;
            "The [`mean`](fn@crate::ops::mean) of all elements, as a number.",
            errors "None from a safe caller.", example "" => "3.0";
            VAR: var_all, Float => T, [ddof: u32];
            "The variance ([`var`](fn@crate::ops::var)) of all elements, as a number.",
            errors "None from a safe caller.", example ", 1" => "5.6";
            STD: std_all, Float => T, [ddof: u32];
            "The standard deviation ([`std()`](fn@crate::ops::std)) of all elements, as a number.",
            errors "None from a safe caller.", example ", 1" => "5.6_f64.sqrt()";
            MIN: min_all, Number => T;
            "The smallest of all elements ([`min`](fn@crate::ops::min)), as a number.",
            errors "`InvalidArgument`: no elements to choose from.", example "" => "0.0";
            MAX: max_all, Number => T;
            "The largest of all elements ([`max`](fn@crate::ops::max)), as a number.",
            errors "`InvalidArgument`: no elements to choose from.", example "" => "6.0";
            COUNT: count_all, Real => i64;
            "How many of all elements are not 0 ([`count`](fn@crate::ops::count)).",
            errors "None from a safe caller.", example "" => "5";
            NORM: norm_all, Float => T, [power: f64];
            "The p-norm ([`norm`](fn@crate::ops::norm)) of all elements, as a number.",
            errors "`InvalidArgument`: a `power` that is not above 0.", example ", f64::INFINITY" => "6.0";
        }
    };
}
pub(crate) use for_each_number_reduction;

for_each_number_reduction!(reductions_of_all);
