//! Axis arguments: counted from the first, or from behind the last where they are negative.

use std::fmt;

/// An axis: `0` is the first, `-1` the last. Every `usize`, `i32` and `isize` is one, so that it is
/// written as a number.
///
/// ```
/// use tenure::{Axis, TensorView};
///
/// let view = TensorView::from_slice(&[1, 2, 3, 4, 5, 6], [2, 3])?;
/// assert_eq!(view.index(-1, 0)?.to_vec(), [1, 4]);
/// assert_eq!(view.index(view.rank() - 1, 0)?.to_vec(), [1, 4]);
/// assert_eq!(Axis::from(-1).to_string(), "-1");
///
/// let error = view.flip(-3).err().unwrap();
/// assert_eq!(error.message(), "flip: axis is -3 but the view has rank 2");
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Axis(Position);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Position {
    FromFront(usize),
    /// 1 is the last.
    FromBack(usize),
}

impl Axis {
    /// The number of the axis among `rank` of them, if it is one.
    #[inline(always)]
    pub(crate) fn of(self, rank: usize) -> Option<usize> {
        match self.0 {
            Position::FromFront(axis) if axis < rank => Some(axis),
            Position::FromBack(nth) if nth <= rank => Some(rank - nth),
            _ => None,
        }
    }
}

impl From<usize> for Axis {
    #[inline(always)]
    fn from(axis: usize) -> Axis {
        Axis(Position::FromFront(axis))
    }
}

impl From<isize> for Axis {
    #[inline(always)]
    fn from(axis: isize) -> Axis {
        match axis {
            0.. => Axis(Position::FromFront(axis as usize)),
            _ => Axis(Position::FromBack(axis.unsigned_abs())),
        }
    }
}

/// The type of a number that nothing else says the type of.
impl From<i32> for Axis {
    #[inline(always)]
    fn from(axis: i32) -> Axis {
        Axis::from(axis as isize)
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Position::FromFront(axis) => write!(f, "{axis}"),
            Position::FromBack(nth) => write!(f, "-{nth}"),
        }
    }
}

impl fmt::Debug for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
