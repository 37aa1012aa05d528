//! Axis arguments of reductions.

use std::ops::RangeFull;

use tenure_sys::TNR_MAX_RANK;

use super::Extents;
use crate::{Error, Result};

/// The axes that a reduction takes, and whether they stay as axes of extent 1.
///
/// Written as one axis, an array or slice of axes, or `..` for all.
///
/// ```
/// use tenure::{Axes, sum};
///
/// let table = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// assert_eq!(sum(&table, 0)?.to_vec(), [5.0, 7.0, 9.0]);
/// assert_eq!(sum(&table, [0, 1])?.item(), Some(21.0));
/// assert_eq!(sum(&table, ..)?.item(), Some(21.0));
/// assert_eq!(sum(&table, Axes::from(1).keep_dims())?.shape(), [2, 1]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    chosen: Chosen,
    keep_dims: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chosen {
    All,
    /// Bit i: axis i.
    Mask(u32),
    /// No view has this axis.
    Outside(usize),
    Twice(usize),
}

impl Axes {
    /// Keeps the reduced axes with extent 1, so that the result broadcasts against the input.
    ///
    /// Only what allocates its result looks at this; `_into` takes the form of its output.
    pub const fn keep_dims(self) -> Axes {
        Axes { keep_dims: true, ..self }
    }

    /// The axes as bits, for a view of some rank.
    #[inline]
    pub(super) fn mask(self, rank: usize) -> Result<u32> {
        let all = (1 << rank) - 1;
        match self.chosen {
            Chosen::All => Ok(all),
            Chosen::Mask(mask) if mask & !all == 0 => Ok(mask),
            wrong => Err(wrong.error(rank)),
        }
    }

    /// The shape of the result.
    pub(super) fn reduced(self, shape: &[usize], mask: u32) -> Extents {
        let mut reduced = Extents { values: [0; TNR_MAX_RANK], rank: 0 };
        for (axis, &extent) in shape.iter().enumerate() {
            let stays = mask & (1 << axis) == 0;
            if stays || self.keep_dims {
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
            Chosen::Mask(mask) => u32::BITS as usize - 1 - mask.leading_zeros() as usize,
            Chosen::All => rank,
        };
        Error::invalid(format!("axis is {axis} but a has rank {rank}"))
    }
}

impl From<RangeFull> for Axes {
    #[inline]
    fn from(_: RangeFull) -> Axes {
        Axes { chosen: Chosen::All, keep_dims: false }
    }
}

impl From<&[usize]> for Axes {
    #[inline]
    fn from(axes: &[usize]) -> Axes {
        let mut mask = 0;
        for &axis in axes {
            let chosen = match axis {
                axis if axis >= TNR_MAX_RANK => Chosen::Outside(axis),
                axis if mask & (1 << axis) != 0 => Chosen::Twice(axis),
                axis => {
                    mask |= 1 << axis;
                    continue;
                }
            };
            return Axes { chosen, keep_dims: false };
        }
        Axes { chosen: Chosen::Mask(mask), keep_dims: false }
    }
}

impl<const N: usize> From<[usize; N]> for Axes {
    #[inline]
    fn from(axes: [usize; N]) -> Axes {
        Axes::from(&axes[..])
    }
}

impl<const N: usize> From<&[usize; N]> for Axes {
    #[inline]
    fn from(axes: &[usize; N]) -> Axes {
        Axes::from(&axes[..])
    }
}

impl From<usize> for Axes {
    #[inline]
    fn from(axis: usize) -> Axes {
        Axes::from([axis])
    }
}
