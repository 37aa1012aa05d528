//! Arrays with more around them, repeated, and rotated.

use tenure_sys::{TNR_MAX_RANK, tnr_pad_mode};

use super::concat::numbered;
use super::results::{Extents, filled, named};
use crate::dense::{Tensor, TensorView};
use crate::dtype::Element;
use crate::error::reserved;
use crate::error::{Error, Result};
use crate::layout::axis::Axis;
use crate::operand::{AsView, AsViewMut};
use crate::raw::LentMut;
use crate::raw::movement::{self, Names};

/// The elements that [`pad`] puts around an array.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PadMode<T> {
    /// A number.
    Constant(T),
    /// The nearest element.
    Edge,
    /// The array mirrored at its first and last element, which are not repeated: `c b | a b c | b`.
    Reflect,
    /// The array mirrored at its edges: `b a | a b c | c b`.
    Symmetric,
    /// The array again and again: `b c | a b c | a b`.
    Wrap,
}

impl<T: Element> PadMode<T> {
    pub(crate) fn code(self) -> (tnr_pad_mode, Option<T>) {
        match self {
            PadMode::Constant(value) => (tnr_pad_mode::CONSTANT, Some(value)),
            PadMode::Edge => (tnr_pad_mode::EDGE, None),
            PadMode::Reflect => (tnr_pad_mode::REFLECT, None),
            PadMode::Symmetric => (tnr_pad_mode::SYMMETRIC, None),
            PadMode::Wrap => (tnr_pad_mode::WRAP, None),
        }
    }
}

fn too_large() -> Error {
    Error::invalid("an extent would be more than a usize")
}

/// How many elements lie before the array on each axis, and the shape with those around it.
fn padded(shape: &[usize], widths: &[(usize, usize)]) -> Result<([i64; TNR_MAX_RANK], Extents)> {
    if widths.len() != shape.len() {
        let (given, rank) = (widths.len(), shape.len());
        return Err(Error::invalid(format!("{given} widths are given but a has rank {rank}")));
    }
    let mut before = [0; TNR_MAX_RANK];
    let mut extents = Extents::of(shape);
    for (axis, &(front, back)) in widths.iter().enumerate() {
        let extent = extents.values[axis].checked_add(front).and_then(|sum| sum.checked_add(back));
        extents.values[axis] = extent.ok_or_else(too_large)?;
        before[axis] = i64::try_from(front).map_err(|_| too_large())?;
    }
    Ok((before, extents))
}

fn require_shape<T: Element>(
    out: &crate::dense::TensorViewMut<'_, T>,
    shape: &[usize],
) -> Result<()> {
    let of_out = out.shape();
    match of_out == shape {
        true => Ok(()),
        false => Err(Error::invalid(format!("out is {of_out:?} but must be {shape:?}"))),
    }
}

/// Puts elements around an array: `widths` has those before and behind it, for each axis. A new
/// row-major tensor.
///
/// # Errors
///
/// `InvalidArgument`: another number of widths than axes, or nothing to repeat of an empty axis.
/// `OutOfMemory`.
///
/// ```
/// use tenure::{PadMode, ops::pad};
///
/// assert_eq!(pad(&[1, 2, 3], [(2, 1)], PadMode::Constant(0))?.to_vec(), [0, 0, 1, 2, 3, 0]);
/// assert_eq!(pad(&[1, 2, 3], [(2, 1)], PadMode::Reflect)?.to_vec(), [3, 2, 1, 2, 3, 2]);
/// assert_eq!(pad(&[1, 2, 3], [(2, 1)], PadMode::Wrap)?.to_vec(), [2, 3, 1, 2, 3, 1]);
/// let image = [[1, 2], [3, 4]];
/// assert_eq!(pad(&image, [(0, 1), (1, 0)], PadMode::Edge)?.to_vec(), [1, 1, 2, 3, 3, 4, 3, 3, 4]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("zero_pad", "pad_with_zeros"))]
pub fn pad<T: Element>(
    a: impl AsView<T>,
    widths: impl AsRef<[(usize, usize)]>,
    mode: PadMode<T>,
) -> Result<Tensor<T>> {
    named("pad", || {
        let a = a.as_view();
        let (before, extents) = padded(a.shape(), widths.as_ref())?;
        let (mode, value) = mode.code();
        filled(extents.as_slice(), |out| movement::pad(mode, a.lent(), before, value, out))
    })
}

/// Puts elements around an array, as [`pad`] does, into `out`.
///
/// # Errors
///
/// `InvalidArgument`: another number of widths than axes, another shape of `out`, or nothing to
/// repeat of an empty axis.
///
/// ```
/// use tenure::{PadMode, ops::pad_into};
///
/// let mut out = [0.0; 5];
/// pad_into(&[1.0, 2.0], [(1, 2)], PadMode::Symmetric, &mut out)?;
/// assert_eq!(out, [1.0, 1.0, 2.0, 2.0, 1.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn pad_into<T: Element>(
    a: impl AsView<T>,
    widths: impl AsRef<[(usize, usize)]>,
    mode: PadMode<T>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    named("pad_into", || {
        let (a, mut out) = (a.as_view(), out.as_view_mut());
        let (before, extents) = padded(a.shape(), widths.as_ref())?;
        require_shape(&out, extents.as_slice())?;
        let (mode, value) = mode.code();
        movement::pad(mode, a.lent(), before, value, out.lent_mut())
    })
}

/// `a` again and again, from index `before` of `out` on.
fn wrap<T: Element>(
    a: &TensorView<'_, T>,
    before: [i64; TNR_MAX_RANK],
    out: LentMut<'_>,
) -> Result<()> {
    movement::pad::<T>(tnr_pad_mode::WRAP, a.lent(), before, None, out)
}

/// `a` with leading axes of extent 1 until each count has an axis, and the shape of its repetition.
fn tiled<'a, T: Element>(
    a: TensorView<'a, T>,
    counts: &[usize],
) -> Result<(TensorView<'a, T>, Extents)> {
    let mut a = a;
    while a.rank() < counts.len() {
        a = a.unsqueeze(0)?;
    }
    let mut extents = Extents::of(a.shape());
    let missing = a.rank() - counts.len();
    for (extent, count) in extents.values[missing..].iter_mut().zip(counts) {
        *extent = extent.checked_mul(*count).ok_or_else(too_large)?;
    }
    Ok((a, extents))
}

/// Repeats an array as a whole, `counts` times along its axes; axes are aligned at the last, as in
/// NumPy. A new row-major tensor.
///
/// # Errors
///
/// `InvalidArgument`: more than 8 counts, or an extent beyond a `usize`. `OutOfMemory`.
///
/// ```
/// use tenure::ops::tile;
///
/// assert_eq!(tile(&[1, 2], [3])?.to_vec(), [1, 2, 1, 2, 1, 2]);
/// let board = tile(&[[0, 1], [1, 0]], [1, 2])?;
/// assert_eq!(board.to_vec(), [0, 1, 0, 1, 1, 0, 1, 0]);
/// assert_eq!(tile(&[1, 2], [2, 1])?.shape(), [2, 2]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn tile<T: Element>(a: impl AsView<T>, counts: impl AsRef<[usize]>) -> Result<Tensor<T>> {
    named("tile", || {
        let (a, extents) = tiled(a.as_view(), counts.as_ref())?;
        filled(extents.as_slice(), |out| wrap(&a, [0; TNR_MAX_RANK], out))
    })
}

/// Repeats an array as a whole, as [`tile`] does, into `out`.
///
/// # Errors
///
/// `InvalidArgument`: more than 8 counts, or another shape of `out`.
///
/// ```
/// use tenure::ops::tile_into;
///
/// let mut out = [0; 4];
/// tile_into(&[1, 2], [2], &mut out)?;
/// assert_eq!(out, [1, 2, 1, 2]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn tile_into<T: Element>(
    a: impl AsView<T>,
    counts: impl AsRef<[usize]>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    named("tile_into", || {
        let mut out = out.as_view_mut();
        let (a, extents) = tiled(a.as_view(), counts.as_ref())?;
        require_shape(&out, extents.as_slice())?;
        wrap(&a, [0; TNR_MAX_RANK], out.lent_mut())
    })
}

/// The axis along which each element is there `count` times, and the shape of the result.
fn repeated<T: Element>(
    a: &TensorView<'_, T>,
    count: usize,
    axis: Axis,
) -> Result<(usize, Extents)> {
    let at = numbered(axis, a.rank())?;
    let mut extents = Extents::of(a.shape());
    let extent = a.shape()[at].checked_mul(count);
    extents.values[at] = extent.ok_or_else(too_large)?;
    Ok((at, extents))
}

/// Each element `count` times along an axis, into `out` of the shape of [`repeated`].
fn repeat_to<T: Element>(
    a: &TensorView<'_, T>,
    count: usize,
    at: usize,
    out: LentMut<'_>,
) -> Result<()> {
    if a.is_empty() {
        return Ok(());
    }
    let extent = a.shape()[at];
    let mut indices = reserved(extent * count, "indices")?;
    indices.extend((0..extent as i64).flat_map(|index| std::iter::repeat_n(index, count)));
    let indices = TensorView::from_slice(&indices, indices.len())?;
    movement::take(Names::Rows, a.lent(), at as u32, indices.lent(), out)
}

/// Repeats each element `count` times along an axis. A new row-major tensor.
///
/// # Errors
///
/// `InvalidArgument`: no such axis, or an extent beyond a `usize`. `OutOfMemory`.
///
/// ```
/// use tenure::ops::repeat;
///
/// assert_eq!(repeat(&[1, 2], 3, 0)?.to_vec(), [1, 1, 1, 2, 2, 2]);
/// assert_eq!(repeat(&[[1, 2], [3, 4]], 2, -1)?.to_vec(), [1, 1, 2, 2, 3, 3, 4, 4]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias = "repeat_interleave")]
pub fn repeat<T: Element>(
    a: impl AsView<T>,
    count: usize,
    axis: impl Into<Axis>,
) -> Result<Tensor<T>> {
    named("repeat", || {
        let a = a.as_view();
        let (at, extents) = repeated(&a, count, axis.into())?;
        filled(extents.as_slice(), |out| repeat_to(&a, count, at, out))
    })
}

/// Repeats each element along an axis, as [`repeat`] does, into `out`.
///
/// # Errors
///
/// `InvalidArgument`: no such axis, or another shape of `out`.
///
/// ```
/// use tenure::ops::repeat_into;
///
/// let mut out = [0; 4];
/// repeat_into(&[1, 2], 2, 0, &mut out)?;
/// assert_eq!(out, [1, 1, 2, 2]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn repeat_into<T: Element>(
    a: impl AsView<T>,
    count: usize,
    axis: impl Into<Axis>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    named("repeat_into", || {
        let (a, mut out) = (a.as_view(), out.as_view_mut());
        let (at, extents) = repeated(&a, count, axis.into())?;
        require_shape(&out, extents.as_slice())?;
        repeat_to(&a, count, at, out.lent_mut())
    })
}

/// Where index 0 of an axis goes.
fn rolled<T: Element>(
    a: &TensorView<'_, T>,
    shift: isize,
    axis: Axis,
) -> Result<[i64; TNR_MAX_RANK]> {
    let at = numbered(axis, a.rank())?;
    let mut before = [0; TNR_MAX_RANK];
    if a.shape()[at] != 0 {
        before[at] = (shift as i64).rem_euclid(a.shape()[at] as i64);
    }
    Ok(before)
}

/// Moves elements along an axis; those that leave it at one end come back at the other. A new
/// row-major tensor.
///
/// # Errors
///
/// `InvalidArgument`: no such axis. `OutOfMemory`.
///
/// ```
/// use tenure::ops::roll;
///
/// assert_eq!(roll(&[1, 2, 3, 4], 1, 0)?.to_vec(), [4, 1, 2, 3]);
/// assert_eq!(roll(&[[1, 2, 3], [4, 5, 6]], -1, 1)?.to_vec(), [2, 3, 1, 5, 6, 4]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn roll<T: Element>(
    a: impl AsView<T>,
    shift: isize,
    axis: impl Into<Axis>,
) -> Result<Tensor<T>> {
    named("roll", || {
        let a = a.as_view();
        let before = rolled(&a, shift, axis.into())?;
        filled(a.shape(), |out| wrap(&a, before, out))
    })
}

/// Moves elements along an axis, as [`roll`] does, into `out`.
///
/// # Errors
///
/// `InvalidArgument`: no such axis, or another shape of `out`.
///
/// ```
/// use tenure::ops::roll_into;
///
/// let mut out = [0; 3];
/// roll_into(&[1, 2, 3], -1, 0, &mut out)?;
/// assert_eq!(out, [2, 3, 1]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn roll_into<T: Element>(
    a: impl AsView<T>,
    shift: isize,
    axis: impl Into<Axis>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    named("roll_into", || {
        let (a, mut out) = (a.as_view(), out.as_view_mut());
        require_shape(&out, a.shape())?;
        let before = rolled(&a, shift, axis.into())?;
        wrap(&a, before, out.lent_mut())
    })
}
