//! Reductions over axes.

use tenure_sys::{for_each_reduce, tnr_reduce_op};

use super::{Axes, filled};
use crate::raw::operations;
use crate::{
    AsView, AsViewMut, Bool8, Element, Float, Number, Real, Result, Tensor, TensorView,
    TensorViewMut,
};

#[inline]
fn reduce<T: Element, R: Element>(
    op: tnr_reduce_op,
    a: TensorView<'_, T>,
    axes: Axes,
    ddof: u32,
) -> Result<Tensor<R>> {
    let mask = axes.mask(a.rank())?;
    let extents = axes.reduced(a.shape(), mask);
    filled(extents.as_slice(), |out| operations::reduce(op, a.lent(), mask, ddof, out))
}

#[inline]
fn reduce_into<T: Element, R: Element>(
    op: tnr_reduce_op,
    a: TensorView<'_, T>,
    axes: Axes,
    ddof: u32,
    mut out: TensorViewMut<'_, R>,
) -> Result<()> {
    let mask = axes.mask(a.rank())?;
    operations::reduce(op, a.lent(), mask, ddof, out.lent_mut())
}

/// The two forms of a reduction. `$also` ends the list of errors; a `ddof` in brackets makes it a
/// parameter.
macro_rules! reductions {
    ($(
        $op:ident: $new:ident, $into:ident, $bound:ident => $result_type:ty $(, [$ddof:ident])?;
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
            $($ddof: u32,)?
        ) -> Result<Tensor<$result_type>> {
            reduce(tnr_reduce_op::$op, a.as_view(), axes.into(), 0 $(+ $ddof)?)
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
            $($ddof: u32,)?
            out: &mut (impl AsViewMut<$result_type> + ?Sized),
        ) -> Result<()> {
            let (a, out) = (a.as_view(), out.as_view_mut());
            reduce_into(tnr_reduce_op::$op, a, axes.into(), 0 $(+ $ddof)?, out)
        }
    )*};
}

reductions! {
    SUM: sum, sum_into, Number => T::Sum;
    "The sum: floats keep their type (f16 and bf16 add in f32), integers give i64 or u64 and wrap; \
     0 of no elements.",
    errors "", example "1" => "[9.0, 9.0]";
    PROD: prod, prod_into, Number => T::Sum;
    "The product: floats keep their type, integers give i64 or u64 and wrap; 1 of no elements.",
    errors "", example "1" => "[12.0, 0.0]";
    MEAN: mean, mean_into, Float => T;
    "The arithmetic mean; NaN of no elements.",
    errors "", example "1" => "[3.0, 3.0]";
    VAR: var, var_into, Float => T, [ddof];
    "The variance: the squared deviations from the mean, divided by the count less `ddof` (0 for a \
     whole population, 1 for a sample); NaN where the count is not above `ddof`.",
    errors "", example "0, 1" => "[0.5, 4.5, 2.0]";
    STD: std, std_into, Float => T, [ddof];
    "The standard deviation: the square root of [`var`], with the same `ddof`.",
    errors "", example "0, 0" => "[0.5, 1.5, 1.0]";
    MIN: min, min_into, Number => T;
    "The smallest element; NaN wins.",
    errors ", or no elements to choose from", example "1" => "[1.0, 0.0]";
    MAX: max, max_into, Number => T;
    "The largest element; NaN wins.",
    errors ", or no elements to choose from", example "1" => "[6.0, 5.0]";
    ARGMIN: argmin, argmin_into, Number => i64;
    "The index of the smallest element, along one axis, or in row-major order over all; the first \
     of equals, and the first NaN before any number.",
    errors ", no elements to choose from, or some of several axes", example "1" => "[0, 0]";
    ARGMAX: argmax, argmax_into, Number => i64;
    "The index of the largest element, along one axis, or in row-major order over all; the first \
     of equals, and the first NaN before any number.",
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
}

/// Reductions of all elements to a number.
macro_rules! reductions_of_all {
    ($(
        $op:ident: $all:ident, $bound:ident => $result_type:ty $(, [$ddof:ident])?;
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
        pub fn $all<T: $bound>(a: impl AsView<T>, $($ddof: u32,)?) -> Result<$result_type> {
            let mut result = <$result_type>::default();
            let out = TensorViewMut::from_exact(std::slice::from_mut(&mut result), &[]);
            reduce_into(tnr_reduce_op::$op, a.as_view(), Axes::from(..), 0 $(+ $ddof)?, out)?;
            Ok(result)
        }
    )*};
}

reductions_of_all! {
    SUM: sum_all, Number => T::Sum;
    "The [`sum`] of all elements, as a number.",
    errors "None from a safe caller.", example "" => "18.0";
    PROD: prod_all, Number => T::Sum;
    "The product ([`prod`]) of all elements, as a number.",
    errors "None from a safe caller.", example "" => "0.0";
    MEAN: mean_all, Float => T;
    "The [`mean`] of all elements, as a number.",
    errors "None from a safe caller.", example "" => "3.0";
    VAR: var_all, Float => T, [ddof];
    "The variance ([`var`]) of all elements, as a number.",
    errors "None from a safe caller.", example ", 1" => "5.6";
    STD: std_all, Float => T, [ddof];
    "The standard deviation ([`std()`]) of all elements, as a number.",
    errors "None from a safe caller.", example ", 1" => "5.6_f64.sqrt()";
    MIN: min_all, Number => T;
    "The smallest of all elements ([`min`]), as a number.",
    errors "`InvalidArgument`: no elements to choose from.", example "" => "0.0";
    MAX: max_all, Number => T;
    "The largest of all elements ([`max`]), as a number.",
    errors "`InvalidArgument`: no elements to choose from.", example "" => "6.0";
    COUNT: count_all, Real => i64;
    "How many of all elements are not 0 ([`count`]).",
    errors "None from a safe caller.", example "" => "5";
}

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
