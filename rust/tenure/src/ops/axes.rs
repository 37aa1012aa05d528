//! Axis arguments of reductions.

use std::ops::RangeFull;

use tenure_sys::TNR_MAX_RANK;

use super::results::Extents;
use crate::error::{Error, Result};
use crate::layout::axis::Axis;

/// The axes that a reduction takes, and whether they stay as axes of extent 1.
///
/// Written as one [axis](Axis), an array or slice of axes, or `..` for all; negative ones count
/// from behind the last.
///
/// ```
/// use tenure::{Axes, ops::sum};
///
/// let table = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// assert_eq!(sum(&table, 0)?.to_vec(), [5.0, 7.0, 9.0]);
/// assert_eq!(sum(&table, -1)?.to_vec(), [6.0, 15.0]);
/// assert_eq!(sum(&table, [0, 1])?.item(), Some(21.0));
/// assert_eq!(sum(&table, ..)?.item(), Some(21.0));
/// assert_eq!(sum(&table, Axes::keep(1))?.shape(), [2, 1]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    chosen: Chosen,
    are_kept: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chosen {
    All,
    /// Bit i of `front`: axis i. Bit i of `back`: axis -1 - i.
    Some {
        front: u32,
        back: u32,
    },
    /// No view has this axis.
    Outside(Axis),
    Twice(Axis),
}

impl Axes {
    /// The axes, which stay with extent 1, so that the result broadcasts against the input.
    ///
    /// Only what allocates its result looks at this; `_into` takes the form of its output.
    ///
    /// ```
    /// use tenure::{Axes, ops::{mean, sub}};
    ///
    /// let table = [[1.0, 2.0, 3.0], [4.0, 5.0, 9.0]];
    /// let centred = sub(&table, mean(&table, Axes::keep(1))?)?;
    /// assert_eq!(centred.to_vec(), [-1.0, 0.0, 1.0, -2.0, -1.0, 3.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("keepdims", "keepdim", "keep_dims", "insert_axis"))]
    pub fn keep(axes: impl Into<Axes>) -> Axes {
        Axes { are_kept: true, ..axes.into() }
    }

    /// The axes as bits, for a view of some rank.
    #[inline]
    pub(crate) fn mask(self, rank: usize) -> Result<u32> {
        let all = (1 << rank) - 1;
        match self.chosen {
            Chosen::All => Ok(all),
            Chosen::Some { front, back: 0 } if front & !all == 0 => Ok(front),
            Chosen::Some { front, back } if (front | back) & !all == 0 => {
                // Not for rank 0, which has no bits.
                let turned = back.reverse_bits() >> (u32::BITS as usize - rank);
                match front & turned {
                    0 => Ok(front | turned),
                    twice => {
                        Err(Chosen::Twice((twice.trailing_zeros() as usize).into()).error(rank))
                    }
                }
            }
            wrong => Err(wrong.error(rank)),
        }
    }

    /// The shape of the result.
    pub(crate) fn reduced(self, shape: &[usize], mask: u32) -> Extents {
        Extents::reduced(shape, mask, self.are_kept)
    }

    pub(crate) fn are_kept(self) -> bool {
        self.are_kept
    }
}

impl Extents {
    /// The shape without the axes whose bits are set, or with these of extent 1.
    pub(crate) fn reduced(shape: &[usize], mask: u32, are_kept: bool) -> Extents {
        let mut reduced = Extents { values: [0; TNR_MAX_RANK], rank: 0 };
        for (axis, &extent) in shape.iter().enumerate() {
            let stays = mask & (1 << axis) == 0;
            if stays || are_kept {
                reduced.values[reduced.rank] = if stays { extent } else { 1 };
                reduced.rank += 1;
            }
        }
        reduced
    }
}

impl Chosen {
    #[cold]
    #[inline(never)]
    fn error(self, rank: usize) -> Error {
        let axis = match self {
            Chosen::Twice(axis) => {
                return Error::invalid(format!("axis {axis} is given more than once"));
            }
            Chosen::Outside(axis) => axis,
            Chosen::Some { front, .. } if front >> rank != 0 => Axis::from(front.ilog2() as usize),
            Chosen::Some { back, .. } => Axis::from(!(back.ilog2() as isize)),
            Chosen::All => Axis::from(rank),
        };
        Error::invalid(format!("axis is {axis} but a has rank {rank}"))
    }
}

impl From<RangeFull> for Axes {
    #[inline]
    fn from(_: RangeFull) -> Axes {
        Axes { chosen: Chosen::All, are_kept: false }
    }
}

impl<A: Into<Axis> + Copy> From<&[A]> for Axes {
    #[inline]
    fn from(axes: &[A]) -> Axes {
        let (mut front, mut back) = (0, 0);
        for &axis in axes {
            let axis: Axis = axis.into();
            let (mask, bit) = match axis.of(TNR_MAX_RANK) {
                None => return Axes { chosen: Chosen::Outside(axis), are_kept: false },
                Some(from_front) if axis == Axis::from(from_front) => (&mut front, from_front),
                Some(from_front) => (&mut back, TNR_MAX_RANK - 1 - from_front),
            };
            if *mask & (1 << bit) != 0 {
                return Axes { chosen: Chosen::Twice(axis), are_kept: false };
            }
            *mask |= 1 << bit;
        }
        Axes { chosen: Chosen::Some { front, back }, are_kept: false }
    }
}

impl<A: Into<Axis> + Copy, const N: usize> From<[A; N]> for Axes {
    #[inline]
    fn from(axes: [A; N]) -> Axes {
        Axes::from(&axes[..])
    }
}

impl<A: Into<Axis> + Copy, const N: usize> From<&[A; N]> for Axes {
    #[inline]
    fn from(axes: &[A; N]) -> Axes {
        Axes::from(&axes[..])
    }
}

macro_rules! from_one {
    ($($number:ty)*) => {$(
        impl From<$number> for Axes {
            #[inline]
            fn from(axis: $number) -> Axes {
                Axes::from([axis])
            }
        }
    )*};
}

from_one! { usize isize i32 Axis }
