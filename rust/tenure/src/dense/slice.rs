//! Slices along several axes at once, as they are written in brackets elsewhere.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use tenure_sys::tnr_view;

use crate::dense::manipulate;
use crate::error::Result;
use crate::layout::axis::Axis;
use crate::layout::refusal;

/// The choice along one axis: an index, a range with a step, or a new axis; what [`s!`](crate::s)
/// makes of each of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice(Choice);

/// Indices of any integer type that a slice is made of, so that messages have them as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Index(i128),
    Range { start: Option<i128>, end: End, step: isize },
    New,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Before(i128),
    At(i128),
    Open,
}

/// A new axis of extent 1, among the parts of [`s!`](crate::s).
///
/// ```
/// use tenure::{NewAxis, TensorView, s};
///
/// let view = TensorView::from_slice(&[1, 2, 3], 3)?;
/// assert_eq!(view.slice_axes(s![.., NewAxis])?.shape(), [3, 1]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewAxis;

/// Slices for `slice_axes`, one for each axis from the first on: a range, a range with a step
/// (`..;2`, `1..-1;-1`), an index, whose axis is gone from the result, or [`NewAxis`]. Negative
/// numbers count from behind the last. A negative step starts at the end of its range.
///
/// ```
/// use tenure::{TensorView, s};
///
/// let data: Vec<i32> = (0..12).collect();
/// let view = TensorView::from_slice(&data, [3, 4])?;
/// assert_eq!(view.slice_axes(s![1.., ..;2])?.to_vec(), [4, 6, 8, 10]);
/// assert_eq!(view.slice_axes(s![-1])?.to_vec(), [8, 9, 10, 11]);
/// assert_eq!(view.slice_axes(s![..;-1, -2..])?.to_vec(), [10, 11, 6, 7, 2, 3]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[macro_export]
macro_rules! s {
    ($($range:expr $(; $step:expr)?),* $(,)?) => {
        [$($crate::s!(@one $range $(, $step)?)),*]
    };
    // Ranges that end before they start are empty elsewhere, as lints say, but not where -1 is an end.
    (@one $range:expr) => {{
        #[allow(clippy::reversed_empty_ranges)]
        let range = $range;
        $crate::Slice::from(range)
    }};
    (@one $range:expr, $step:expr) => {{
        #[allow(clippy::reversed_empty_ranges)]
        let range = $range;
        $crate::Slice::stepped(range, $step)
    }};
}

mod sealed {
    /// A range of indices, not an index: it can have a step.
    pub trait Stepped {}
}

impl Slice {
    /// A range with a step, of any sign but 0.
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!([Slice::stepped(1.., 2)], s![1..;2]);
    /// ```
    pub fn stepped<R: Into<Slice> + sealed::Stepped>(range: R, step: isize) -> Slice {
        match range.into().0 {
            Choice::Range { start, end, .. } => Slice(Choice::Range { start, end, step }),
            other => Slice(other),
        }
    }
}

macro_rules! slices {
    ($($number:ty)*) => {$(
        slices! { $number:
            Range<$number>, range => Some(range.start as i128), End::Before(range.end as i128);
            RangeInclusive<$number>, range =>
                Some(*range.start() as i128), End::At(*range.end() as i128);
            RangeFrom<$number>, range => Some(range.start as i128), End::Open;
            RangeTo<$number>, range => None, End::Before(range.end as i128);
            RangeToInclusive<$number>, range => None, End::At(range.end as i128);
        }

        impl From<$number> for Slice {
            fn from(index: $number) -> Slice {
                Slice(Choice::Index(index as i128))
            }
        }
    )*};
    ($number:ty: $($type:ty, $range:ident => $start:expr, $end:expr;)*) => {$(
        impl sealed::Stepped for $type {}

        impl From<$type> for Slice {
            fn from($range: $type) -> Slice {
                Slice(Choice::Range { start: $start, end: $end, step: 1 })
            }
        }
    )*};
}

slices! { i32 i64 isize usize }

impl sealed::Stepped for RangeFull {}

impl From<RangeFull> for Slice {
    fn from(_: RangeFull) -> Slice {
        Slice(Choice::Range { start: None, end: End::Open, step: 1 })
    }
}

impl From<NewAxis> for Slice {
    fn from(_: NewAxis) -> Slice {
        Slice(Choice::New)
    }
}

/// An index along an axis from the front. A negative `number` counts from behind the last element.
fn from_front(axis: usize, number: i128, extent: usize) -> Result<usize> {
    let index = if number < 0 { number + extent as i128 } else { number };
    usize::try_from(index).map_err(|_| refusal::before_axis(axis, number, extent))
}

/// The name of the method in messages.
const METHOD: &str = "slice_axes";

/// The part of a view at these slices; the axes after them are whole.
pub(crate) fn slice_axes(view: &tnr_view, slices: &[Slice]) -> Result<tnr_view> {
    let mut part = *view;
    let mut axis = 0;
    for slice in slices {
        let Choice::Range { start, end, step } = slice.0 else {
            part = match slice.0 {
                Choice::Index(index) => {
                    let (_, extent) = manipulate::locate(METHOD, &part, Axis::from(axis))?;
                    manipulate::index(
                        METHOD,
                        &part,
                        Axis::from(axis),
                        from_front(axis, index, extent)?,
                    )?
                }
                _ => {
                    axis += 1;
                    manipulate::unsqueeze(METHOD, &part, Axis::from(axis - 1))?
                }
            };
            continue;
        };
        let (_, extent) = manipulate::locate(METHOD, &part, Axis::from(axis))?;
        let start = from_front(axis, start.unwrap_or(0), extent)?;
        let end = match end {
            End::Before(end) => from_front(axis, end, extent)?,
            End::At(last) => from_front(axis, last, extent)?.saturating_add(1),
            End::Open => extent,
        };
        part = manipulate::slice(METHOD, &part, Axis::from(axis), start..end, step)?;
        axis += 1;
    }
    Ok(part)
}
