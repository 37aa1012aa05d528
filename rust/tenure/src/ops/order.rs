//! Sort, top-k and partition along an axis.

use tenure_sys::{TNR_SORT_DESCENDING, TNR_TOP_K_SMALLEST};

use super::results::{Extents, axis_of, filled, named};
use crate::dense::{Tensor, TensorView};
use crate::dtype::Real;
use crate::error::Result;
use crate::layout::{axis::Axis, refusal};
use crate::operand::{AsView, AsViewMut};
use crate::raw::Input;
use crate::raw::ordering::{self, Ordered};

/// Elements in an order along an axis, and where on the axis each was.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ranked<T: Real> {
    /// The elements.
    pub values: Tensor<T>,
    /// The place that each had on the axis of the input.
    pub indices: Tensor<i64>,
}

/// Both outputs of an operation that writes them.
fn ranked<T: Real>(
    extents: &[usize],
    operation: impl FnOnce(Ordered<'_>) -> Result<()>,
) -> Result<Ranked<T>> {
    let mut indices = None;
    let values = filled(extents, |out| {
        indices = Some(filled(extents, |indices| {
            operation(Ordered { indices: Some(indices), out: Some(out) })
        })?);
        Ok(())
    })?;
    let Some(indices) = indices else { unreachable!("an operation that succeeds has been called") };
    Ok(Ranked { values, indices })
}

/// The functions of one direction. `$first` is the example's element that comes first.
macro_rules! sorts {
    ($(
        $flags:expr; $which:literal;
        $sort:ident, $sort_into:ident, $sort_assign:ident, $argsort:ident, $argsort_into:ident,
        $with_indices:ident; $sorted:literal, $places:literal;
    )*) => {$(
        #[doc = concat!("Sorts along an axis, ", $which, ".")]
        ///
        /// The sort is stable: equal elements keep their order, and their bits. NaN is last, and
        /// -0.0 equals 0.0. A new row-major tensor of the shape of `a`.
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: no such axis. `OutOfMemory`.
        ///
        /// ```
        #[doc = concat!("use tenure::ops::", stringify!($sort), ";")]
        ///
        /// let a = [[3.0, f64::NAN, 1.0], [5.0, 4.0, 6.0]];
        #[doc = concat!("let sorted = ", stringify!($sort), "(&a, -1)?;")]
        #[doc = concat!("assert_eq!(sorted.index(0, 1)?.to_vec(), ", $sorted, ");")]
        /// assert!(sorted[[0, 2]].is_nan());
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $sort<T: Real>(a: impl AsView<T>, axis: impl Into<Axis>) -> Result<Tensor<T>> {
            named(stringify!($sort), || {
                let a = a.as_view();
                let axis = axis_of(&a, axis)?;
                filled(a.shape(), |out| {
                    let to = Ordered { indices: None, out: Some(out) };
                    ordering::sort(a.lent().into(), axis, $flags, to)
                })
            })
        }

        #[doc = concat!("As [`", stringify!($sort), "`], into memory of the caller's.")]
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: no such axis, or another shape of `out`. `OutOfMemory`.
        pub fn $sort_into<T: Real>(
            a: impl AsView<T>,
            axis: impl Into<Axis>,
            out: &mut (impl AsViewMut<T> + ?Sized),
        ) -> Result<()> {
            named(stringify!($sort_into), || {
                let (a, mut out) = (a.as_view(), out.as_view_mut());
                let axis = axis_of(&a, axis)?;
                let to = Ordered { indices: None, out: Some(out.lent_mut()) };
                ordering::sort(a.lent().into(), axis, $flags, to)
            })
        }

        #[doc = concat!("As [`", stringify!($sort), "`], in place.")]
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: no such axis. `OutOfMemory`: the sort has memory of its own.
        ///
        /// ```
        #[doc = concat!("use tenure::ops::", stringify!($sort_assign), ";")]
        ///
        /// let mut a = [5.0, 4.0, 6.0];
        #[doc = concat!(stringify!($sort_assign), "(&mut a, 0)?;")]
        #[doc = concat!("assert_eq!(a, ", $sorted, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $sort_assign<T: Real>(
            out: &mut (impl AsViewMut<T> + ?Sized),
            axis: impl Into<Axis>,
        ) -> Result<()> {
            named(stringify!($sort_assign), || {
                let mut out = out.as_view_mut();
                let axis = axis_of(&out.as_view(), axis)?;
                let to = Ordered { indices: None, out: Some(out.lent_mut()) };
                ordering::sort(Input::Output, axis, $flags, to)
            })
        }

        #[doc = concat!("The places on an axis that its elements have, ", $which, ".")]
        ///
        #[doc = concat!(
            "Of equal elements the first one is first. As [`", stringify!($sort), "`]."
        )]
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: no such axis. `OutOfMemory`.
        ///
        /// ```
        #[doc = concat!("use tenure::ops::", stringify!($argsort), ";")]
        ///
        #[doc = concat!(
            "assert_eq!(", stringify!($argsort), "(&[5, 4, 6], 0)?.to_vec(), ", $places, ");"
        )]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $argsort<T: Real>(a: impl AsView<T>, axis: impl Into<Axis>) -> Result<Tensor<i64>> {
            named(stringify!($argsort), || {
                let a = a.as_view();
                let axis = axis_of(&a, axis)?;
                filled(a.shape(), |indices| {
                    let to = Ordered { indices: Some(indices), out: None };
                    ordering::sort(a.lent().into(), axis, $flags, to)
                })
            })
        }

        #[doc = concat!("As [`", stringify!($argsort), "`], into memory of the caller's.")]
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: no such axis, or another shape of `out`. `OutOfMemory`.
        pub fn $argsort_into<T: Real>(
            a: impl AsView<T>,
            axis: impl Into<Axis>,
            out: &mut (impl AsViewMut<i64> + ?Sized),
        ) -> Result<()> {
            named(stringify!($argsort_into), || {
                let (a, mut out) = (a.as_view(), out.as_view_mut());
                let axis = axis_of(&a, axis)?;
                let to = Ordered { indices: Some(out.lent_mut()), out: None };
                ordering::sort(a.lent().into(), axis, $flags, to)
            })
        }

        #[doc = concat!(
            "[`", stringify!($sort), "`] and [`", stringify!($argsort), "`] in one."
        )]
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: no such axis. `OutOfMemory`.
        ///
        /// ```
        #[doc = concat!("use tenure::ops::", stringify!($with_indices), ";")]
        ///
        #[doc = concat!("let sorted = ", stringify!($with_indices), "(&[5.0, 4.0, 6.0], 0)?;")]
        #[doc = concat!("assert_eq!(sorted.values.to_vec(), ", $sorted, ");")]
        #[doc = concat!("assert_eq!(sorted.indices.to_vec(), ", $places, ");")]
        /// # Ok::<(), tenure::Error>(())
        /// ```
        pub fn $with_indices<T: Real>(
            a: impl AsView<T>,
            axis: impl Into<Axis>,
        ) -> Result<Ranked<T>> {
            named(stringify!($with_indices), || {
                let a = a.as_view();
                let axis = axis_of(&a, axis)?;
                ranked(a.shape(), |to| ordering::sort(a.lent().into(), axis, $flags, to))
            })
        }
    )*};
}

sorts! {
    0; "the smallest first";
    sort, sort_into, sort_assign, argsort, argsort_into, sort_with_indices;
    "[4.0, 5.0, 6.0]", "[1, 0, 2]";
    TNR_SORT_DESCENDING; "the greatest first";
    sort_descending, sort_descending_into, sort_descending_assign, argsort_descending,
    argsort_descending_into, sort_descending_with_indices;
    "[6.0, 5.0, 4.0]", "[2, 0, 1]";
}

fn first_of<T: Real>(a: &TensorView<'_, T>, k: usize, axis: Axis, flags: u32) -> Result<Ranked<T>> {
    let axis = axis_of(a, axis)?;
    let mut extents = Extents { values: [0; tenure_sys::TNR_MAX_RANK], rank: a.rank() };
    extents.values[..a.rank()].copy_from_slice(a.shape());
    // The library also refuses a `k` that is too large, but only after the allocation of the
    // output.
    let extent = extents.values[axis];
    if k > extent {
        return Err(crate::error::Error::invalid(format!("k is {k} but axis {axis} has {extent}")));
    }
    extents.values[axis] = k;
    ranked(extents.as_slice(), |to| ordering::top_k(a.lent(), axis, flags, to))
}

/// The `k` greatest elements along an axis, the greatest first; of equal ones the first. NaN is
/// chosen last. New row-major tensors with the extent `k` on that axis.
///
/// # Errors
///
/// `InvalidArgument`: no such axis, or a `k` above its extent. `OutOfMemory`.
///
/// ```
/// use tenure::ops::top_k;
///
/// let best = top_k(&[0.1, 0.7, 0.2], 2, 0)?;
/// assert_eq!(best.values.to_vec(), [0.7, 0.2]);
/// assert_eq!(best.indices.to_vec(), [1, 2]);
/// assert!(top_k(&[0.1, 0.7, 0.2], 4, 0).is_err());
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("topk", "nlargest"))]
pub fn top_k<T: Real>(a: impl AsView<T>, k: usize, axis: impl Into<Axis>) -> Result<Ranked<T>> {
    named("top_k", || first_of(&a.as_view(), k, axis.into(), 0))
}

/// The `k` smallest elements along an axis, the smallest first; else as [`top_k`].
///
/// # Errors
///
/// The errors of [`top_k`].
///
/// ```
/// use tenure::ops::bottom_k;
///
/// let nearest = bottom_k(&[3.0, f64::NAN, 1.0], 2, 0)?;
/// assert_eq!(nearest.indices.to_vec(), [2, 0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("nsmallest"))]
pub fn bottom_k<T: Real>(a: impl AsView<T>, k: usize, axis: impl Into<Axis>) -> Result<Ranked<T>> {
    named("bottom_k", || first_of(&a.as_view(), k, axis.into(), TNR_TOP_K_SMALLEST))
}

/// Puts the element that sorting would put at `kth` there, none that is greater before it and none
/// that is smaller behind it. A new row-major tensor of the shape of `a`.
///
/// The order of the others is not stated, but always the same.
///
/// # Errors
///
/// `InvalidArgument`: no such axis, or a `kth` that is not below its extent. `OutOfMemory`.
///
/// ```
/// use tenure::ops::partition;
///
/// let halves = partition(&[5, 1, 4, 2, 3], 2, 0)?;
/// assert_eq!(halves[[2]], 3);
/// assert!(halves.iter().take(2).all(|&low| low < 3));
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("nth_element", "select_nth_unstable", "kthvalue"))]
pub fn partition<T: Real>(
    a: impl AsView<T>,
    kth: usize,
    axis: impl Into<Axis>,
) -> Result<Tensor<T>> {
    named("partition", || {
        let a = a.as_view();
        let axis = axis_of(&a, axis)?;
        filled(a.shape(), |out| {
            let to = Ordered { indices: None, out: Some(out) };
            ordering::partition(a.lent().into(), axis, refusal::counted(&"kth", kth)?, to)
        })
    })
}

/// Does the same as [`partition`], into the caller's memory.
///
/// # Errors
///
/// The errors of [`partition`], and `InvalidArgument` for another shape of `out`.
pub fn partition_into<T: Real>(
    a: impl AsView<T>,
    kth: usize,
    axis: impl Into<Axis>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    named("partition_into", || {
        let (a, mut out) = (a.as_view(), out.as_view_mut());
        let axis = axis_of(&a, axis)?;
        let to = Ordered { indices: None, out: Some(out.lent_mut()) };
        ordering::partition(a.lent().into(), axis, refusal::counted(&"kth", kth)?, to)
    })
}

/// Does the same as [`partition`], in place.
///
/// # Errors
///
/// The errors of [`partition`].
///
/// ```
/// use tenure::ops::partition_assign;
///
/// let mut a = [5, 1, 4, 2, 3];
/// partition_assign(&mut a, 0, 0)?;
/// assert_eq!(a[0], 1);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn partition_assign<T: Real>(
    out: &mut (impl AsViewMut<T> + ?Sized),
    kth: usize,
    axis: impl Into<Axis>,
) -> Result<()> {
    named("partition_assign", || {
        let mut out = out.as_view_mut();
        let axis = axis_of(&out.as_view(), axis)?;
        let to = Ordered { indices: None, out: Some(out.lent_mut()) };
        ordering::partition(Input::Output, axis, refusal::counted(&"kth", kth)?, to)
    })
}

/// The places on an axis that its elements have in a [`partition`].
///
/// # Errors
///
/// The errors of [`partition`].
///
/// ```
/// use tenure::ops::argpartition;
///
/// assert_eq!(argpartition(&[5, 1, 4, 2, 3], 4, 0)?[[4]], 0);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn argpartition<T: Real>(
    a: impl AsView<T>,
    kth: usize,
    axis: impl Into<Axis>,
) -> Result<Tensor<i64>> {
    named("argpartition", || {
        let a = a.as_view();
        let axis = axis_of(&a, axis)?;
        filled(a.shape(), |indices| {
            let to = Ordered { indices: Some(indices), out: None };
            ordering::partition(a.lent().into(), axis, refusal::counted(&"kth", kth)?, to)
        })
    })
}
