//! Scans and sorts along an axis of tensors of a device.

use tenure_sys::{TNR_SORT_DESCENDING, TNR_TOP_K_SMALLEST, tnr_scan_op};

use crate::cuda::{AsView, AsViewMut, Stream, Tensor, TensorView};
use crate::dtype::{Number, Real};
use crate::error::{Error, Result};
use crate::layout::axis::Axis;
use crate::ops::axes::Axes;
use crate::ops::results::named;
use crate::raw::Input;
use crate::raw::operations;
use crate::raw::ordering::{self, Ordered};

/// The place of an axis of a view of some rank.
fn place_of(axis: impl Into<Axis>, rank: usize) -> Result<u32> {
    Ok(Axes::from(axis.into()).mask(rank)?.trailing_zeros())
}

/// The three forms of a scan.
macro_rules! scan_methods {
    ($(
        $op:ident: $new:ident, $into:ident, $assign:ident, [$($bound:tt)*] => $result_type:ty;
        $what:literal;
    )*) => {
        /// Scans: reductions of the elements up to each one along an axis.
        impl Stream {$(
            #[doc = $what]
            ///
            #[doc = concat!(
                "As [`tenure::ops::", stringify!($new), "`](fn@crate::ops::", stringify!($new),
                "), enqueued."
            )]
            /// A new row-major tensor.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis. `OutOfMemory`. `DeviceError`.
            pub fn $new<T: Number>(
                &self,
                a: impl AsView<T>,
                axis: impl Into<Axis>,
            ) -> Result<Tensor<$result_type>> {
                named(stringify!($new), || {
                    let a = a.as_view();
                    let axis = place_of(axis, a.rank())?;
                    self.filled(a.shape(), |out| {
                        operations::scan(tnr_scan_op::$op, a.lent().into(), axis, out)
                    })
                })
            }

            #[doc = concat!("As [`", stringify!($new), "`](Self::", stringify!($new), "),")]
            /// into memory of the caller's.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis, or another shape of `out`. `OutOfMemory`: for what
            /// long rows are cut into. `DeviceError`.
            pub fn $into<T: Number>(
                &self,
                a: impl AsView<T>,
                axis: impl Into<Axis>,
                out: &mut (impl AsViewMut<$result_type> + ?Sized),
            ) -> Result<()> {
                named(stringify!($into), || {
                    let (a, mut out) = (a.as_view(), out.as_view_mut());
                    let axis = place_of(axis, a.rank())?;
                    let op = tnr_scan_op::$op;
                    self.within(|| operations::scan(op, a.lent().into(), axis, out.lent_mut()))
                })
            }

            #[doc = concat!("As [`", stringify!($new), "`](Self::", stringify!($new), "),")]
            /// in place.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis. `OutOfMemory`: for what long rows are cut into.
            /// `DeviceError`.
            pub fn $assign<T: $($bound)*>(
                &self,
                out: &mut (impl AsViewMut<T> + ?Sized),
                axis: impl Into<Axis>,
            ) -> Result<()> {
                named(stringify!($assign), || {
                    let mut out = out.as_view_mut();
                    let axis = place_of(axis, out.rank())?;
                    let op = tnr_scan_op::$op;
                    self.within(|| operations::scan(op, Input::Output, axis, out.lent_mut()))
                })
            }
        )*}
    };
}

scan_methods! {
    SUM: cumsum, cumsum_into, cumsum_assign, [Number<Sum = T>] => T::Sum;
    "The sum of the elements up to each, along the axis; integers give i64 or u64 and wrap.";
    PROD: cumprod, cumprod_into, cumprod_assign, [Number<Sum = T>] => T::Sum;
    "The product of the elements up to each, along the axis; integers give i64 or u64 and wrap.";
    MIN: cummin, cummin_into, cummin_assign, [Number] => T;
    "The smallest of the elements up to each, along the axis; NaN wins.";
    MAX: cummax, cummax_into, cummax_assign, [Number] => T;
    "The largest of the elements up to each, along the axis; NaN wins.";
}

/// Elements in an order along an axis, and where on the axis each was: a
/// [`tenure::Ranked`](crate::Ranked) on a device.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ranked<T: Real> {
    /// The elements.
    pub values: Tensor<T>,
    /// The place that each had on the axis of the input.
    pub indices: Tensor<i64>,
}

/// The methods of one direction.
macro_rules! sort_methods {
    ($(
        $flags:expr; $which:literal;
        $sort:ident, $sort_into:ident, $sort_assign:ident, $argsort:ident, $argsort_into:ident,
        $with_indices:ident;
    )*) => {
        /// Sorts along an axis.
        impl Stream {$(
            #[doc = concat!("Sorts along an axis, ", $which, ".")]
            ///
            #[doc = concat!(
                "As [`tenure::ops::", stringify!($sort), "`](fn@crate::ops::", stringify!($sort),
                "):"
            )]
            /// stable, and NaN is last; enqueued. A new row-major tensor.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis. `Unsupported`: an axis of 2^31 elements or more.
            /// `OutOfMemory`. `DeviceError`.
            pub fn $sort<T: Real>(
                &self,
                a: impl AsView<T>,
                axis: impl Into<Axis>,
            ) -> Result<Tensor<T>> {
                named(stringify!($sort), || {
                    let a = a.as_view();
                    let axis = place_of(axis, a.rank())? as usize;
                    self.filled(a.shape(), |out| {
                        let to = Ordered { indices: None, out: Some(out) };
                        ordering::sort(a.lent().into(), axis, $flags, to)
                    })
                })
            }

            #[doc = concat!("As [`", stringify!($sort), "`](Self::", stringify!($sort), "),")]
            /// into memory of the caller's.
            ///
            /// # Errors
            ///
            /// The errors of the form that gives a new tensor, and `InvalidArgument`: another shape
            /// of `out`.
            pub fn $sort_into<T: Real>(
                &self,
                a: impl AsView<T>,
                axis: impl Into<Axis>,
                out: &mut (impl AsViewMut<T> + ?Sized),
            ) -> Result<()> {
                named(stringify!($sort_into), || {
                    let (a, mut out) = (a.as_view(), out.as_view_mut());
                    let axis = place_of(axis, a.rank())? as usize;
                    self.within(|| {
                        let to = Ordered { indices: None, out: Some(out.lent_mut()) };
                        ordering::sort(a.lent().into(), axis, $flags, to)
                    })
                })
            }

            #[doc = concat!("As [`", stringify!($sort), "`](Self::", stringify!($sort), "),")]
            /// in place.
            ///
            /// # Errors
            ///
            /// The errors of the form that gives a new tensor.
            pub fn $sort_assign<T: Real>(
                &self,
                out: &mut (impl AsViewMut<T> + ?Sized),
                axis: impl Into<Axis>,
            ) -> Result<()> {
                named(stringify!($sort_assign), || {
                    let mut out = out.as_view_mut();
                    let axis = place_of(axis, out.rank())? as usize;
                    self.within(|| {
                        let to = Ordered { indices: None, out: Some(out.lent_mut()) };
                        ordering::sort(Input::Output, axis, $flags, to)
                    })
                })
            }

            #[doc = concat!("The places on an axis that its elements have, ", $which, ".")]
            ///
            #[doc = concat!(
                "As [`tenure::ops::", stringify!($argsort), "`](fn@crate::ops::",
                stringify!($argsort),
                "), enqueued."
            )]
            ///
            /// # Errors
            ///
            #[doc = concat!("As [`", stringify!($sort), "`](Self::", stringify!($sort), ").")]
            pub fn $argsort<T: Real>(
                &self,
                a: impl AsView<T>,
                axis: impl Into<Axis>,
            ) -> Result<Tensor<i64>> {
                named(stringify!($argsort), || {
                    let a = a.as_view();
                    let axis = place_of(axis, a.rank())? as usize;
                    self.filled(a.shape(), |indices| {
                        let to = Ordered { indices: Some(indices), out: None };
                        ordering::sort(a.lent().into(), axis, $flags, to)
                    })
                })
            }

            #[doc = concat!(
                "As [`", stringify!($argsort), "`](Self::", stringify!($argsort), "),"
            )]
            /// into memory of the caller's.
            ///
            /// # Errors
            ///
            /// The errors of the form that gives a new tensor, and `InvalidArgument`: another shape
            /// of `out`.
            pub fn $argsort_into<T: Real>(
                &self,
                a: impl AsView<T>,
                axis: impl Into<Axis>,
                out: &mut (impl AsViewMut<i64> + ?Sized),
            ) -> Result<()> {
                named(stringify!($argsort_into), || {
                    let (a, mut out) = (a.as_view(), out.as_view_mut());
                    let axis = place_of(axis, a.rank())? as usize;
                    self.within(|| {
                        let to = Ordered { indices: Some(out.lent_mut()), out: None };
                        ordering::sort(a.lent().into(), axis, $flags, to)
                    })
                })
            }

            #[doc = concat!(
                "[`", stringify!($sort), "`](Self::", stringify!($sort), ") and [`",
                stringify!($argsort), "`](Self::", stringify!($argsort), ") in one."
            )]
            ///
            /// # Errors
            ///
            /// The errors of both.
            pub fn $with_indices<T: Real>(
                &self,
                a: impl AsView<T>,
                axis: impl Into<Axis>,
            ) -> Result<Ranked<T>> {
                named(stringify!($with_indices), || {
                    let a = a.as_view();
                    let axis = place_of(axis, a.rank())? as usize;
                    self.ranked(a.shape(), |to| ordering::sort(a.lent().into(), axis, $flags, to))
                })
            }
        )*}
    };
}

sort_methods! {
    0; "the smallest first";
    sort, sort_into, sort_assign, argsort, argsort_into, sort_with_indices;
    TNR_SORT_DESCENDING; "the greatest first";
    sort_descending, sort_descending_into, sort_descending_assign, argsort_descending,
    argsort_descending_into, sort_descending_with_indices;
}

/// The first elements of an order.
impl Stream {
    /// Both outputs of an operation that writes them.
    fn ranked<T: Real>(
        &self,
        extents: &[usize],
        operation: impl FnOnce(Ordered<'_>) -> Result<()>,
    ) -> Result<Ranked<T>> {
        let mut indices = None;
        let values = self.filled(extents, |out| {
            indices = Some(self.filled(extents, |indices| {
                operation(Ordered { indices: Some(indices), out: Some(out) })
            })?);
            Ok(())
        })?;
        let Some(indices) = indices else { unreachable!("an operation that succeeds was called") };
        Ok(Ranked { values, indices })
    }

    fn first_of<T: Real>(
        &self,
        a: TensorView<'_, T>,
        k: usize,
        axis: impl Into<Axis>,
        flags: u32,
    ) -> Result<Ranked<T>> {
        let axis = place_of(axis, a.rank())? as usize;
        let mut extents = a.shape().to_vec();
        // The library also refuses a `k` above the extent, but only after the outputs are
        // allocated.
        if k > extents[axis] {
            let extent = extents[axis];
            return Err(Error::invalid(format!("k is {k} but axis {axis} has {extent}")));
        }
        extents[axis] = k;
        self.ranked(&extents, |to| ordering::top_k(a.lent(), axis, flags, to))
    }

    /// The `k` greatest elements along an axis, the greatest first; of equal ones the first. NaN is
    /// chosen last.
    ///
    /// Enqueues [`tenure::ops::top_k`](fn@crate::ops::top_k).
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or a `k` above its extent. Also the errors of
    /// [`sort`](Self::sort).
    pub fn top_k<T: Real>(
        &self,
        a: impl AsView<T>,
        k: usize,
        axis: impl Into<Axis>,
    ) -> Result<Ranked<T>> {
        named("top_k", || self.first_of(a.as_view(), k, axis, 0))
    }

    /// The `k` smallest elements along an axis, the smallest first; otherwise like
    /// [`top_k`](Self::top_k).
    ///
    /// # Errors
    ///
    /// The errors of [`top_k`](Self::top_k).
    pub fn bottom_k<T: Real>(
        &self,
        a: impl AsView<T>,
        k: usize,
        axis: impl Into<Axis>,
    ) -> Result<Ranked<T>> {
        named("bottom_k", || self.first_of(a.as_view(), k, axis, TNR_TOP_K_SMALLEST))
    }
}
