//! Slices along several axes at once, as they are written in brackets elsewhere.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use tenure_sys::tnr_view;

use crate::dense::{Axis, manipulate};
use crate::{Result, refusal};

/// The choice along one axis: an index, a range with a step, or a new axis; what [`s!`](crate::s)
/// makes of each of its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice(Choice);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Index(isize),
    Range { start: Option<isize>, end: End, step: isize },
    New,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Before(isize),
    At(isize),
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
            Range<$number>, range => Some(range.start as isize), End::Before(range.end as isize);
            RangeInclusive<$number>, range =>
                Some(*range.start() as isize), End::At(*range.end() as isize);
            RangeFrom<$number>, range => Some(range.start as isize), End::Open;
            RangeTo<$number>, range => None, End::Before(range.end as isize);
            RangeToInclusive<$number>, range => None, End::At(range.end as isize);
        }

        impl From<$number> for Slice {
            fn from(index: $number) -> Slice {
                Slice(Choice::Index(index as isize))
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

slices! { i32 isize }

/// A number beyond `isize` is outside every axis, and stays so.
fn signed(number: usize) -> isize {
    isize::try_from(number).unwrap_or(isize::MAX)
}

macro_rules! unsigned_slices {
    ($($type:ident<usize>, $range:ident => $signed:expr;)*) => {$(
        impl sealed::Stepped for $type<usize> {}

        impl From<$type<usize>> for Slice {
            fn from($range: $type<usize>) -> Slice {
                Slice::from($signed)
            }
        }
    )*};
}

unsigned_slices! {
    Range<usize>, range => signed(range.start)..signed(range.end);
    RangeInclusive<usize>, range => signed(*range.start())..=signed(*range.end());
    RangeFrom<usize>, range => signed(range.start)..;
    RangeTo<usize>, range => ..signed(range.end);
    RangeToInclusive<usize>, range => ..=signed(range.end);
}

impl From<usize> for Slice {
    fn from(index: usize) -> Slice {
        Slice::from(signed(index))
    }
}

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

/// A place in an axis that is counted from behind the last where it is negative.
fn place(axis: usize, number: isize, extent: usize) -> Result<usize> {
    let place = match number {
        0.. => Some(number as usize),
        _ => extent.checked_sub(number.unsigned_abs()),
    };
    place.ok_or_else(|| refusal::before_axis(axis, number, extent))
}

/// The part of a view at these slices; the axes after them are whole.
pub(crate) fn slice_axes(view: &tnr_view, slices: &[Slice]) -> Result<tnr_view> {
    let mut part = *view;
    let mut axis = 0;
    for slice in slices {
        let Choice::Range { start, end, step } = slice.0 else {
            part = match slice.0 {
                Choice::Index(index) => {
                    let (_, extent) = manipulate::locate(&part, Axis::from(axis))?;
                    manipulate::index(&part, Axis::from(axis), place(axis, index, extent)?)?
                }
                _ => {
                    axis += 1;
                    manipulate::unsqueeze(&part, Axis::from(axis - 1))?
                }
            };
            continue;
        };
        let (_, extent) = manipulate::locate(&part, Axis::from(axis))?;
        let start = place(axis, start.unwrap_or(0), extent)?;
        let end = match end {
            End::Before(end) => place(axis, end, extent)?,
            End::At(last) => place(axis, last, extent)?.saturating_add(1),
            End::Open => extent,
        };
        part = manipulate::slice(&part, Axis::from(axis), start..end, step)?;
        axis += 1;
    }
    Ok(part)
}
