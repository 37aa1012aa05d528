//! Arrays one behind the other.

use super::results::{Extents, filled, named};
use crate::dense::{Tensor, TensorView, TensorViewMut};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::layout::axis::Axis;
use crate::operand::{AsViewMut, AsViews};
use crate::raw::movement;

/// The shape of the parts one behind the other, and the number of the axis.
fn joined<T: Element>(parts: &[TensorView<'_, T>], axis: Axis) -> Result<(Extents, usize)> {
    let Some(first) = parts.first() else {
        return Err(Error::invalid("there are no parts"));
    };
    let at = numbered(axis, first.rank())?;
    let mut extents = Extents::of(first.shape());
    for (nth, part) in parts.iter().enumerate().skip(1) {
        if let Some(why) = unlike(first.shape(), nth, part.shape(), Some(at)) {
            return Err(Error::invalid(why));
        }
        let sum = extents.values[at].checked_add(part.shape()[at]);
        extents.values[at] =
            sum.ok_or_else(|| Error::invalid("the extents add up to more than a usize"))?;
    }
    Ok((extents, at))
}

/// Why two shapes cannot be joined along an axis, which may differ, or stacked.
fn unlike(first: &[usize], nth: usize, part: &[usize], along: Option<usize>) -> Option<String> {
    if part.len() != first.len() {
        let (rank, wanted) = (part.len(), first.len());
        return Some(format!("parts[{nth}].rank is {rank} but parts[0].rank is {wanted}"));
    }
    let differs = |axis: &usize| Some(*axis) != along && part[*axis] != first[*axis];
    let axis = (0..part.len()).find(differs)?;
    let (extent, wanted) = (part[axis], first[axis]);
    Some(format!("parts[{nth}].shape[{axis}] is {extent} but parts[0].shape[{axis}] is {wanted}"))
}

/// The number of an axis of an array of rank `rank`.
pub(crate) fn numbered(axis: Axis, rank: usize) -> Result<usize> {
    let refused = || Error::invalid(format!("axis is {axis} but a has rank {rank}"));
    axis.of(rank).ok_or_else(refused)
}

/// Joins arrays along an axis that they have. A new row-major tensor.
///
/// # Errors
///
/// `InvalidArgument`: no parts, no such axis, or parts that differ in another extent.
/// `OutOfMemory`.
///
/// ```
/// use tenure::ops::concat;
///
/// let a = [[1, 2], [3, 4]];
/// let b = [[5], [6]];
/// assert_eq!(concat((&a, &b), 1)?.to_vec(), [1, 2, 5, 3, 4, 6]);
/// assert_eq!(concat([&a, &a], 0)?.shape(), [4, 2]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("concatenate", "cat", "hstack", "vstack", "append"))]
pub fn concat<T: Element>(parts: impl AsViews<T>, axis: impl Into<Axis>) -> Result<Tensor<T>> {
    named("concat", || parts.with_views(|parts| join(parts, axis.into())))
}

fn join<T: Element>(parts: &[TensorView<'_, T>], axis: Axis) -> Result<Tensor<T>> {
    let (extents, at) = joined(parts, axis)?;
    filled(extents.as_slice(), |out| movement::concat(parts, at as u32, out))
}

fn join_into<T: Element>(
    parts: &[TensorView<'_, T>],
    axis: Axis,
    mut out: TensorViewMut<'_, T>,
) -> Result<()> {
    let at = numbered(axis, out.rank())?;
    movement::concat(parts, at as u32, out.lent_mut())
}

/// Joins arrays along an axis that they have, as [`concat`](fn@concat) does, into `out`.
///
/// # Errors
///
/// `InvalidArgument`: no parts, no such axis, parts that differ in another extent, or another shape
/// of `out`.
///
/// ```
/// use tenure::ops::concat_into;
///
/// let mut out = [0.0; 5];
/// concat_into((&[1.0, 2.0], &[3.0, 4.0, 5.0]), 0, &mut out)?;
/// assert_eq!(out, [1.0, 2.0, 3.0, 4.0, 5.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn concat_into<T: Element>(
    parts: impl AsViews<T>,
    axis: impl Into<Axis>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    named("concat_into", || {
        parts.with_views(|parts| join_into(parts, axis.into(), out.as_view_mut()))
    })
}

/// The parts with an axis of extent 1 more, along which they are stacked.
fn unsqueezed<'a, T: Element>(
    parts: &[TensorView<'a, T>],
    axis: Axis,
) -> Result<(Vec<TensorView<'a, T>>, usize)> {
    let Some(first) = parts.first() else {
        return Err(Error::invalid("there are no parts"));
    };
    let at = numbered(axis, first.rank() + 1)?;
    for (nth, part) in parts.iter().enumerate().skip(1) {
        if let Some(why) = unlike(first.shape(), nth, part.shape(), None) {
            return Err(Error::invalid(why));
        }
    }
    let parts: Result<Vec<_>> = parts.iter().map(|part| part.unsqueeze(at)).collect();
    Ok((parts?, at))
}

/// Joins arrays of one shape along a new axis, which `axis` will be. A new row-major tensor.
///
/// # Errors
///
/// `InvalidArgument`: no parts, no such axis, parts of different shapes, or of 8 axes.
/// `OutOfMemory`.
///
/// ```
/// use tenure::ops::stack;
///
/// let rows = stack([&[1, 2, 3], &[4, 5, 6]], 0)?;
/// assert_eq!((rows.shape(), rows.to_vec()), (&[2, 3][..], vec![1, 2, 3, 4, 5, 6]));
/// assert_eq!(stack([&[1, 2, 3], &[4, 5, 6]], -1)?.to_vec(), [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("dstack", "column_stack"))]
pub fn stack<T: Element>(parts: impl AsViews<T>, axis: impl Into<Axis>) -> Result<Tensor<T>> {
    named("stack", || {
        parts.with_views(|parts| {
            let (parts, at) = unsqueezed(parts, axis.into())?;
            join(&parts, at.into())
        })
    })
}

/// Joins arrays of one shape along a new axis, as [`stack`] does, into `out`.
///
/// # Errors
///
/// `InvalidArgument`: no parts, no such axis, parts of different shapes, or another shape of `out`.
///
/// ```
/// use tenure::ops::stack_into;
///
/// let mut pairs = [[0; 2]; 3];
/// stack_into([&[1, 2, 3], &[4, 5, 6]], 1, &mut pairs)?;
/// assert_eq!(pairs, [[1, 4], [2, 5], [3, 6]]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn stack_into<T: Element>(
    parts: impl AsViews<T>,
    axis: impl Into<Axis>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    named("stack_into", || {
        parts.with_views(|parts| {
            let (parts, at) = unsqueezed(parts, axis.into())?;
            join_into(&parts, at.into(), out.as_view_mut())
        })
    })
}
