//! Changes of shape that touch no element: the arithmetic behind the methods that both view types
//! share. It is the arithmetic of `tnr_view_*` in C, without a call into it.
//!
//! Each takes a checked view and gives one whose elements are among the elements of the first;
//! `base`, `size_bytes` and `flags` stay. An empty result points at `base`.

use std::ffi::c_void;
use std::ops::Range;

use tenure_sys::{TNR_MAX_RANK, tnr_view};

use crate::dense::IntoIndex;
use crate::dense::IntoReshape;
use crate::dense::IntoSlice;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout;
use crate::layout::axis::Axis;
use crate::layout::refusal;

/// An axis as a number from the front, and its extent; or an error that names the method, the axis
/// and the rank.
#[inline]
pub(crate) fn locate(method: &str, view: &tnr_view, axis: Axis) -> Result<(usize, usize)> {
    match axis.of(view.rank as usize) {
        Some(axis) => Ok((axis, view.shape[axis] as usize)),
        None => Err(refusal::axis_outside(method, view, axis)),
    }
}

/// Elements `start`, `start + step`, ... of one axis, `count` of them, all inside the axis.
#[inline]
fn strided_part(view: &tnr_view, axis: usize, start: usize, count: usize, step: isize) -> tnr_view {
    let mut part = *view;
    part.data = moved(view, axis, start);
    part.shape[axis] = count as i64;
    // Wraps only where fewer than two elements remain, and then the stride is ignored.
    part.strides[axis] = view.strides[axis].wrapping_mul(step as i64);
    settled(part)
}

/// `data` moved along one axis. Wrapping: where nothing is reached it may point anywhere, and
/// `settled` sets it right.
#[inline]
fn moved(view: &tnr_view, axis: usize, index: usize) -> *const c_void {
    let element_bytes = DType::from_raw(view.dtype).size_bytes() as i64;
    let bytes = view.strides[axis].wrapping_mul(index as i64).wrapping_mul(element_bytes);
    view.data.wrapping_byte_offset(bytes as isize)
}

/// An empty view points at `base`.
#[inline]
fn settled(mut view: tnr_view) -> tnr_view {
    if layout::is_empty(&view) {
        view.data = view.base;
    }
    view
}

/// The elements of `range` along one axis, every |step|-th, from its end when `step` is negative.
#[inline]
pub(crate) fn slice(
    method: &str,
    view: &tnr_view,
    axis: Axis,
    range: impl IntoSlice,
    step: isize,
) -> Result<tnr_view> {
    let (axis, extent) = locate(method, view, axis)?;
    let range = match range.resolve(extent) {
        Some(inside) if inside.start <= inside.end && inside.end <= extent => inside,
        _ => return Err(refusal::range_outside(method, axis, &range, extent)),
    };
    if step == 0 {
        return Err(refusal::step_zero(method, axis));
    }
    let count = range.len().div_ceil(step.unsigned_abs());
    let start = if step > 0 || count == 0 { range.start } else { range.end - 1 };
    Ok(strided_part(view, axis, start, count, step))
}

/// One index of an axis; the axis is gone.
#[inline]
pub(crate) fn index(
    method: &str,
    view: &tnr_view,
    axis: Axis,
    index: impl IntoIndex,
) -> Result<tnr_view> {
    let (axis, extent) = locate(method, view, axis)?;
    match index.resolve(extent) {
        Some(inside) if inside < extent => Ok(at_index(view, axis, inside)),
        _ => Err(refusal::index_outside(method, axis, &index, extent)),
    }
}

/// Does the same as [`index`], for an axis and an index that are known to be inside.
#[inline]
pub(crate) fn at_index(view: &tnr_view, axis: usize, index: usize) -> tnr_view {
    let mut part = *view;
    part.data = moved(view, axis, index);
    remove_axis(&mut part, axis);
    settled(part)
}

#[inline]
fn remove_axis(view: &mut tnr_view, axis: usize) {
    let (shape, strides) = (view.shape, view.strides);
    // All eight entries with a choice each, and not a move of some: that goes through memory, and
    // the copy of the view which follows waits for it. Entries beyond the rank are ignored.
    for to in 0..TNR_MAX_RANK - 1 {
        view.shape[to] = if to < axis { shape[to] } else { shape[to + 1] };
        view.strides[to] = if to < axis { strides[to] } else { strides[to + 1] };
    }
    view.rank -= 1;
}

/// Axis i of the result is axis `axes[i]` of the view.
#[inline]
pub(crate) fn permute<A: Into<Axis> + Copy>(view: &tnr_view, axes: &[A]) -> Result<tnr_view> {
    let rank = view.rank as usize;
    let mut permuted = *view;
    let mut seen = 0_u32;
    for (to, &axis) in axes.iter().enumerate() {
        match axis.into().of(rank) {
            Some(from) if seen & (1 << from) == 0 => {
                seen |= 1 << from;
                permuted.shape[to] = view.shape[from];
                permuted.strides[to] = view.strides[from];
            }
            _ => return Err(no_permutation(axes, rank)),
        }
    }
    match axes.len() == rank {
        true => Ok(permuted),
        false => Err(no_permutation(axes, rank)),
    }
}

#[cold]
#[inline(never)]
fn no_permutation<A: Into<Axis> + Copy>(axes: &[A], rank: usize) -> Error {
    let axes: Vec<Axis> = axes.iter().map(|&axis| axis.into()).collect();
    refusal::no_permutation(&axes, rank)
}

/// Exchanges two axes.
#[inline]
pub(crate) fn transpose(view: &tnr_view, a: Axis, b: Axis) -> Result<tnr_view> {
    let ((a, _), (b, _)) = (locate("transpose", view, a)?, locate("transpose", view, b)?);
    let mut exchanged = *view;
    exchanged.shape.swap(a, b);
    exchanged.strides.swap(a, b);
    Ok(exchanged)
}

/// The last axis as the second one.
#[inline]
pub(crate) fn channels_last(view: &tnr_view) -> Result<tnr_view> {
    let rank = view.rank as usize;
    if rank < 3 {
        return Err(refusal::too_few_axes("channels_last", rank, 3));
    }
    let mut turned = *view;
    turned.shape[1..rank].rotate_right(1);
    turned.strides[1..rank].rotate_right(1);
    Ok(turned)
}

/// All axes in reverse.
#[inline]
pub(crate) fn reversed(view: &tnr_view) -> tnr_view {
    let rank = view.rank as usize;
    let mut reversed = *view;
    reversed.shape[..rank].reverse();
    reversed.strides[..rank].reverse();
    reversed
}

/// Drops an axis of extent 1.
#[inline]
pub(crate) fn squeeze(view: &tnr_view, axis: Axis) -> Result<tnr_view> {
    let (axis, extent) = locate("squeeze", view, axis)?;
    if extent != 1 {
        return Err(refusal::not_one(axis, extent));
    }
    let mut squeezed = *view;
    remove_axis(&mut squeezed, axis);
    Ok(squeezed)
}

/// Puts in an axis of extent 1, which is then number `axis`.
#[inline]
pub(crate) fn unsqueeze(method: &str, view: &tnr_view, axis: Axis) -> Result<tnr_view> {
    let rank = view.rank as usize;
    let Some(axis) = axis.of(rank + 1) else {
        return Err(refusal::axis_outside(method, view, axis));
    };
    if rank == TNR_MAX_RANK {
        return Err(refusal::rank_too_high(rank + 1).of_call(method));
    }
    let mut widened = *view;
    widened.shape.copy_within(axis..rank, axis + 1);
    widened.strides.copy_within(axis..rank, axis + 1);
    widened.shape[axis] = 1;
    widened.strides[axis] = 0;
    widened.rank += 1;
    Ok(widened)
}

/// Repeats axes of extent 1, and puts axes in front, with stride 0, as NumPy broadcasts.
#[inline]
pub(crate) fn broadcast(view: &tnr_view, extents: &[usize]) -> Result<tnr_view> {
    let (rank, wanted) = (view.rank as usize, extents.len());
    if wanted > TNR_MAX_RANK {
        return Err(refusal::rank_too_high(wanted).of_call("broadcast"));
    }
    if rank > wanted {
        return Err(refusal::no_broadcast(view, extents));
    }
    let mut repeated = *view;
    repeated.rank = wanted as u32;
    let added = wanted - rank;
    for (axis, &extent) in extents.iter().enumerate() {
        let own = if axis < added { 1 } else { view.shape[axis - added] as usize };
        if own != extent && own != 1 {
            return Err(refusal::no_broadcast(view, extents));
        }
        repeated.shape[axis] = extent as i64;
        repeated.strides[axis] =
            if axis < added || own != extent { 0 } else { view.strides[axis - added] };
    }
    layout::element_count(extents).map_err(|error| error.of_call("broadcast"))?;
    Ok(settled(repeated))
}

/// Reverses an axis.
#[inline]
pub(crate) fn flip(view: &tnr_view, axis: Axis) -> Result<tnr_view> {
    let (axis, extent) = locate("flip", view, axis)?;
    Ok(strided_part(view, axis, extent.saturating_sub(1), extent, -1))
}

/// The parts before and from `index` of an axis.
#[inline]
pub(crate) fn split(view: &tnr_view, axis: Axis, index: usize) -> Result<(tnr_view, tnr_view)> {
    let (axis, extent) = locate("split_at", view, axis)?;
    if index > extent {
        return Err(refusal::split_outside(axis, index, extent));
    }
    let low = strided_part(view, axis, 0, index, 1);
    Ok((low, strided_part(view, axis, index, extent - index, 1)))
}

/// The elements of an axis that part number `index` of `part_count` has: extents differ by at most
/// one, the longer parts come first.
#[inline]
fn part_range(extent: usize, part_count: usize, index: usize) -> Range<usize> {
    let (quotient, longer) = (extent / part_count, extent % part_count);
    let start = quotient * index + index.min(longer);
    start..start + quotient + usize::from(index < longer)
}

/// Part number `index` of `part_count`.
#[inline]
pub(crate) fn split_part(
    view: &tnr_view,
    axis: Axis,
    part_count: usize,
    index: usize,
) -> Result<tnr_view> {
    let axis = splittable("split_part", view, axis, part_count)?;
    if index >= part_count {
        return Err(refusal::part_outside(part_count, index));
    }
    Ok(at_part(view, axis, part_count, index))
}

/// An axis that is to be split into `part_count` parts.
#[inline]
pub(crate) fn splittable(
    method: &str,
    view: &tnr_view,
    axis: Axis,
    part_count: usize,
) -> Result<usize> {
    let (axis, _) = locate(method, view, axis)?;
    if part_count == 0 {
        return Err(refusal::no_parts(method, axis));
    }
    Ok(axis)
}

/// Does the same as [`split_part`], for an axis and an index that are known to be inside.
#[inline]
pub(crate) fn at_part(view: &tnr_view, axis: usize, part_count: usize, index: usize) -> tnr_view {
    let range = part_range(view.shape[axis] as usize, part_count, index);
    strided_part(view, axis, range.start, range.len(), 1)
}

/// An axis that is to be cut into chunks of `size`, and how many there are.
#[inline]
pub(crate) fn chunked(
    method: &str,
    view: &tnr_view,
    axis: Axis,
    size: usize,
) -> Result<(usize, usize)> {
    let (axis, extent) = locate(method, view, axis)?;
    if size == 0 {
        return Err(refusal::no_chunk_size(method, axis));
    }
    Ok((axis, extent.div_ceil(size)))
}

/// Chunk number `index` of those of `size`, known to be inside. The last may be smaller.
#[inline]
pub(crate) fn at_chunk(view: &tnr_view, axis: usize, size: usize, index: usize) -> tnr_view {
    let start = index * size;
    strided_part(view, axis, start, size.min(view.shape[axis] as usize - start), 1)
}

/// The diagonal of the last two axes, `offset` above the main one, as the last axis. Its elements
/// are distinct where those of the view are, and `layout::check_distinct` sees that: of two axes,
/// the larger stride exceeds the reach of the smaller one and of all axes below it, and so does
/// their difference.
#[inline]
pub(crate) fn diagonal(view: &tnr_view, offset: isize) -> Result<tnr_view> {
    let rank = view.rank as usize;
    if rank < 2 {
        return Err(refusal::too_few_axes("diagonal", rank, 2));
    }
    let (row, col) = (rank - 2, rank - 1);
    let skipped = offset.unsigned_abs();
    let axis = if offset < 0 { row } else { col };
    let mut diagonal = *view;
    diagonal.shape[axis] = (view.shape[axis] as usize).saturating_sub(skipped) as i64;
    diagonal.data = moved(view, axis, skipped);
    diagonal.shape[row] = diagonal.shape[row].min(diagonal.shape[col]);
    // Wraps only where fewer than two elements remain, and then the stride is ignored.
    diagonal.strides[row] = view.strides[row].wrapping_add(view.strides[col]);
    diagonal.rank -= 1;
    Ok(settled(diagonal))
}

/// Number of rows: the product of the extents of all axes but the last; 1 for rank 0.
#[inline]
pub(crate) fn row_count(view: &tnr_view) -> usize {
    // Saturates only where the last axis is empty: that many rows without an element.
    layout::extents(view)
        .iter()
        .rev()
        .skip(1)
        .fold(1, |count, &extent| count.saturating_mul(extent))
}

/// Row number `index`, known to be inside, in row-major order of the axes before the last.
#[inline]
pub(crate) fn row(view: &tnr_view, index: usize) -> tnr_view {
    let mut row = *view;
    if view.rank == 0 {
        row.rank = 1;
        row.shape[0] = 1;
        row.strides[0] = 1;
        return row;
    }
    let last = view.rank as usize - 1;
    let mut rest = index;
    for axis in (0..last).rev() {
        let extent = view.shape[axis] as usize;
        row.data = moved(&row, axis, rest % extent);
        rest /= extent;
    }
    row.shape[0] = view.shape[last];
    row.strides[0] = view.strides[last];
    row.rank = 1;
    settled(row)
}

/// Sliding windows along an axis; they run inside a new last axis.
#[inline]
pub(crate) fn windows(view: &tnr_view, axis: Axis, size: usize, step: usize) -> Result<tnr_view> {
    let rank = view.rank as usize;
    let (axis, extent) = locate("windows", view, axis)?;
    if rank == TNR_MAX_RANK {
        return Err(refusal::rank_too_high(rank + 1).of_call("windows"));
    }
    if size == 0 || size > extent {
        return Err(refusal::window_size(axis, size, extent));
    }
    if step == 0 {
        return Err(refusal::step_zero("windows", axis));
    }
    let mut windows = *view;
    windows.rank += 1;
    windows.shape[axis] = ((extent - size) / step + 1) as i64;
    // Wraps only where a single window remains, and then the stride is ignored.
    windows.strides[axis] = view.strides[axis].wrapping_mul(step as i64);
    windows.shape[rank] = size as i64;
    windows.strides[rank] = view.strides[axis];
    // Windows overlap, so that there can be more elements in them than the view has.
    layout::element_count(layout::extents(&windows)).map_err(|error| error.of_call("windows"))?;
    Ok(settled(windows))
}

/// Gives the elements in row-major order another shape, if strides can express it.
#[inline]
pub(crate) fn reshape(view: &tnr_view, shape: &impl IntoReshape) -> Result<tnr_view> {
    let count = layout::count(view);
    shape
        .with_extents(count, |extents| reshape_to(view, extents))
        .map_err(|error| error.of_call("reshape"))
}

#[inline]
fn reshape_to(view: &tnr_view, extents: &[usize]) -> Result<tnr_view> {
    if extents.len() > TNR_MAX_RANK {
        return Err(refusal::rank_too_high(extents.len()));
    }
    let count = layout::element_count(extents)?;
    if count != layout::count(view) {
        return Err(refusal::other_count(view, extents, count));
    }
    let mut reshaped = *view;
    reshaped.rank = extents.len() as u32;
    let mut step: i64 = 1;
    for (axis, &extent) in extents.iter().enumerate().rev() {
        reshaped.shape[axis] = extent as i64;
        reshaped.strides[axis] = step;
        // Wraps only in empty views, whose strides are ignored.
        step = step.wrapping_mul(extent.max(1) as i64);
    }
    if layout::is_row_major(view) || assign_strides(view, &mut reshaped) {
        Ok(reshaped)
    } else {
        Err(refusal::needs_copy(view, extents))
    }
}

/// Strides for `to`, which has as many elements as `from`: walks both shapes from the last axis,
/// and wherever their products meet, the run of axes of `from` must be one arithmetic sequence.
/// The method of NumPy's no-copy reshape, last axis first.
fn assign_strides(from: &tnr_view, to: &mut tnr_view) -> bool {
    let mut from_axes = (0..from.rank as usize).rev().filter(|&axis| from.shape[axis] != 1);
    let mut to_axes = (0..to.rank as usize).rev().filter(|&axis| to.shape[axis] != 1);
    while let (Some(first_from), Some(first_to)) = (from_axes.next(), to_axes.next()) {
        let mut from_count = from.shape[first_from];
        let mut to_count = to.shape[first_to];
        let unit = from.strides[first_from];
        to.strides[first_to] = unit;
        let mut next_stride = unit.wrapping_mul(from_count);
        while from_count != to_count {
            if from_count < to_count {
                let Some(axis) = from_axes.next() else { return false };
                if from.strides[axis] != next_stride {
                    return false;
                }
                from_count *= from.shape[axis];
                next_stride = next_stride.wrapping_mul(from.shape[axis]);
            } else {
                let Some(axis) = to_axes.next() else { return false };
                to.strides[axis] = unit.wrapping_mul(to_count);
                to_count *= to.shape[axis];
            }
        }
    }
    true
}
