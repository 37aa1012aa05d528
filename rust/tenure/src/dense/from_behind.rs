//! Arguments that are an index or a range of an axis: negative numbers count from behind the last
//! element.

use std::fmt::{Debug, Display};
use std::ops::{
    Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive,
};

mod sealed {
    pub trait Sealed {}
}

/// An index along an axis: `0` is the first element, `-1` the last. `usize`, `isize`, `i32` and
/// `i64`, which is what [`argmax`](crate::ops::argmax) gives. Sealed.
///
/// ```
/// use tenure::Tensor;
///
/// let rows = Tensor::from([[1, 2], [3, 4], [5, 6]]);
/// assert_eq!(rows.index(0, -1)?, [5, 6]);
/// let best = rows.argmax(0)?;
/// assert_eq!(rows.index(0, best[[1]])?, [5, 6]);
///
/// let error = rows.index(0, -4).err().unwrap();
/// assert_eq!(error.message(), "index: index is -4 but axis 0 has extent 3");
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an index along an axis",
    label = "not `usize`, `isize`, `i32` or `i64`"
)]
pub trait IntoIndex: sealed::Sealed + Copy + Display + Debug {
    /// The index from the front, or `None` where it is before the first element. It may be behind
    /// the last element.
    #[doc(hidden)]
    fn resolve(self, extent: usize) -> Option<usize>;
}

impl sealed::Sealed for usize {}
impl IntoIndex for usize {
    #[inline(always)]
    fn resolve(self, _: usize) -> Option<usize> {
        Some(self)
    }
}

macro_rules! signed {
    ($($number:ty)*) => {$(
        impl sealed::Sealed for $number {}
        impl IntoIndex for $number {
            #[inline(always)]
            fn resolve(self, extent: usize) -> Option<usize> {
                match self {
                    0.. => Some(self as usize),
                    _ => extent.checked_sub(self.unsigned_abs() as usize),
                }
            }
        }
    )*};
}

signed! { isize i32 i64 }

/// A range of indices along an axis. Negative indices count from behind the last element: `1..-1`
/// has neither the first nor the last. Sealed; every range of [`IntoIndex`] numbers is one.
///
/// Clippy takes `1..-1` for an empty range. `slice_axes(s![1..-1])` is the same without its lint.
///
/// ```
/// use tenure::Tensor;
///
/// let numbers = Tensor::from([1, 2, 3, 4, 5]);
/// assert_eq!(numbers.slice(0, 1..-1)?, [2, 3, 4]);
/// assert_eq!(numbers.slice(0, -2..)?, [4, 5]);
/// assert_eq!(numbers.slice(0, ..numbers.len() - 3)?, [1, 2]);
///
/// let error = numbers.slice(0, 2..-4).err().unwrap();
/// assert_eq!(error.message(), "slice: range is 2..-4 but axis 0 has extent 5");
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a range along an axis",
    label = "not a range of `usize`, `isize`, `i32` or `i64`",
    note = "a single index is an argument of `index`"
)]
pub trait IntoSlice: sealed::Sealed + Debug {
    /// The indices from the front, or `None` where a bound is before the first element. The end may
    /// be before the start, or behind the last element.
    #[doc(hidden)]
    fn resolve(&self, extent: usize) -> Option<Range<usize>>;
}

#[inline(always)]
fn bounds<N: IntoIndex>(range: &impl RangeBounds<N>, extent: usize) -> Option<Range<usize>> {
    let start = match range.start_bound() {
        Bound::Included(start) => start.resolve(extent)?,
        Bound::Excluded(start) => start.resolve(extent)?.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(end) => end.resolve(extent)?.saturating_add(1),
        Bound::Excluded(end) => end.resolve(extent)?,
        Bound::Unbounded => extent,
    };
    Some(start..end)
}

macro_rules! ranges {
    ($($range:ty)*) => {$(
        impl<N: IntoIndex> sealed::Sealed for $range {}
        impl<N: IntoIndex> IntoSlice for $range {
            #[inline(always)]
            fn resolve(&self, extent: usize) -> Option<Range<usize>> {
                bounds(self, extent)
            }
        }
    )*};
}

ranges! {
    Range<N> RangeInclusive<N> RangeFrom<N> RangeTo<N> RangeToInclusive<N> (Bound<N>, Bound<N>)
}

impl sealed::Sealed for RangeFull {}
impl IntoSlice for RangeFull {
    #[inline(always)]
    fn resolve(&self, extent: usize) -> Option<Range<usize>> {
        Some(0..extent)
    }
}
