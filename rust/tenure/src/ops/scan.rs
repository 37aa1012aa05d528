//! Scans: cumulative reductions along an axis, and differences.

use tenure_sys::{for_each_scan, tnr_scan_op};

use super::axes::Axes;
use super::elementwise::sub;
use super::results::{filled, named};
use crate::dense::Tensor;
use crate::dtype::Number;
use crate::error::{Error, Result};
use crate::layout::axis::Axis;
use crate::operand::{AsView, AsViewMut};
use crate::raw::Input;
use crate::raw::operations;

/// The place of an axis of a view of some rank.
fn place_of(axis: Axis, rank: usize) -> Result<u32> {
    Ok(Axes::from(axis).mask(rank)?.trailing_zeros())
}

/// The three forms of a scan.
macro_rules! scans {
    ($(
        $op:ident: $new:ident, $into:ident, $assign:ident, [$($bound:tt)*] => $result_type:ty;
        $what:literal, example $a:literal => $result:literal;
    )*) => {$(
        #[doc = $what]
        ///
        /// A new row-major tensor.
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: no such axis. `OutOfMemory`.
        ///
        /// ```
        #[doc = concat!("let result = tenure::ops::", stringify!($new), "(&", $a, ", 0)?;")]
        #[doc = concat!("assert_eq!(result.to_vec(), ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $new<T: Number>(
            a: impl AsView<T>,
            axis: impl Into<Axis>,
        ) -> Result<Tensor<$result_type>> {
            named(stringify!($new), || {
                let a = a.as_view();
                let axis = place_of(axis.into(), a.rank())?;
                let lent = a.lent();
                filled(a.shape(), |out| {
                    operations::scan(tnr_scan_op::$op, Input::View(lent), axis, out)
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
        #[doc = concat!("tenure::ops::", stringify!($into), "(&", $a, ", 0, &mut out)?;")]
        #[doc = concat!("assert_eq!(out, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $into<T: Number>(
            a: impl AsView<T>,
            axis: impl Into<Axis>,
            out: &mut (impl AsViewMut<$result_type> + ?Sized),
        ) -> Result<()> {
            named(stringify!($into), || {
                let (a, mut out) = (a.as_view(), out.as_view_mut());
                let axis = place_of(axis.into(), a.rank())?;
                operations::scan(tnr_scan_op::$op, Input::View(a.lent()), axis, out.lent_mut())
            })
        }

        #[doc = concat!("As [`", stringify!($new), "`], in place.")]
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: no such axis.
        ///
        /// ```
        #[doc = concat!("let mut a = ", $a, ";")]
        #[doc = concat!("tenure::ops::", stringify!($assign), "(&mut a, 0)?;")]
        #[doc = concat!("assert_eq!(a, ", $result, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $assign<T: $($bound)*>(
            out: &mut (impl AsViewMut<T> + ?Sized),
            axis: impl Into<Axis>,
        ) -> Result<()> {
            named(stringify!($assign), || {
                let mut out = out.as_view_mut();
                let axis = place_of(axis.into(), out.rank())?;
                operations::scan(tnr_scan_op::$op, Input::Output, axis, out.lent_mut())
            })
        }
    )*};
}

scans! {
    SUM: cumsum, cumsum_into, cumsum_assign, [Number<Sum = T>] => T::Sum;
    "The sum of the elements up to each, along the axis: floats keep their type and add in f64 (f16 \
     and bf16 are rounded through f32), integers give i64 or u64 and wrap.",
    example "[1.5, 2.0, -1.0]" => "[1.5, 3.5, 2.5]";
    PROD: cumprod, cumprod_into, cumprod_assign, [Number<Sum = T>] => T::Sum;
    "The product of the elements up to each, along the axis: floats keep their type and multiply in \
     f64 (f16 and bf16 are rounded through f32), integers give i64 or u64 and wrap.",
    example "[1.5, 2.0, -1.0]" => "[1.5, 3.0, -3.0]";
    MIN: cummin, cummin_into, cummin_assign, [Number] => T;
    "The smallest of the elements up to each, along the axis; NaN wins.",
    example "[1.5, 2.0, -1.0]" => "[1.5, 1.5, -1.0]";
    MAX: cummax, cummax_into, cummax_assign, [Number] => T;
    "The largest of the elements up to each, along the axis; NaN wins.",
    example "[1.5, 2.0, -1.0]" => "[1.5, 2.0, 2.0]";
}

/// Each element less the one before it along the axis, which is one shorter; integers wrap.
///
/// # Errors
///
/// `InvalidArgument`: no such axis, or one without elements. `OutOfMemory`.
///
/// ```
/// assert_eq!(tenure::ops::diff(&[1.0, 4.0, 9.0], 0)?.to_vec(), [3.0, 5.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn diff<T: Number>(a: impl AsView<T>, axis: impl Into<Axis>) -> Result<Tensor<T>> {
    named("diff", || {
        let a = a.as_view();
        let axis = place_of(axis.into(), a.rank())? as usize;
        let extent = a.shape()[axis];
        if extent == 0 {
            return Err(Error::invalid(format!("axis {axis} is 0 but must be 1 at least")));
        }
        let (later, earlier) = (a.slice(axis, 1..)?, a.slice(axis, ..extent - 1)?);
        sub(later, earlier)
    })
}

/// A scan of the table of operations without a function here does not compile.
macro_rules! require_functions {
    ($($op:ident $name:literal: $new:ident;)*) => {
        const _: () = {
            $(#[allow(unused_imports)]
            use self::$new as _;)*
        };
    };
}

for_each_scan!(require_functions);
