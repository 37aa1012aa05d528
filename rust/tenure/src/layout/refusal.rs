//! Refusals of layouts and manipulations: messages with the value and the bound. They are built
//! here, out of line, so that the paths that succeed stay short.

use std::ffi::c_void;
use std::fmt::{Debug, Display};

use tenure_sys::{TNR_MAX_ELEMENTS, TNR_MAX_RANK, tnr_view};

use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::layout;
use crate::layout::{axis::Axis, order::Order};

#[cold]
#[inline(never)]
pub(crate) fn rank_too_high(rank: usize) -> Error {
    Error::invalid(format!("rank is {rank} but at most {TNR_MAX_RANK} axes are supported"))
}

#[cold]
#[inline(never)]
pub(crate) fn wrong_count(extents: &[usize], count: usize, len: usize) -> Error {
    Error::invalid(format!("shape {extents:?} has {count} elements but the memory has {len}"))
}

#[cold]
#[inline(never)]
pub(crate) fn too_large(extents: &[usize], dtype: DType) -> Error {
    Error::invalid(format!(
        "shape {extents:?} of {dtype} needs more than {} bytes, the most that memory can have",
        isize::MAX
    ))
}

#[cold]
#[inline(never)]
pub(crate) fn too_many(extents: &[impl Debug]) -> Error {
    Error::invalid(format!("shape {extents:?} has more than {TNR_MAX_ELEMENTS} elements"))
}

#[cold]
#[inline(never)]
pub(crate) fn stride_count(strides: usize, extents: &[usize]) -> Error {
    Error::invalid(format!(
        "there are {strides} strides but shape {extents:?} has {} axes",
        extents.len()
    ))
}

#[cold]
#[inline(never)]
pub(crate) fn offset_outside(offset: usize, len: usize) -> Error {
    Error::invalid(format!("offset is {offset} but the memory has {len} elements"))
}

#[cold]
#[inline(never)]
pub(crate) fn beyond_bytes(
    extents: &[usize],
    dtype: DType,
    needed: usize,
    offset_bytes: usize,
    size_bytes: usize,
) -> Error {
    Error::invalid(format!(
        "shape {extents:?} of {dtype} needs {needed} bytes from byte {offset_bytes} on but the \
         memory has {size_bytes} bytes"
    ))
}

/// The words for a number that indices of `dtype` do not count, with `i64` for those that it counts.
#[cold]
pub(crate) fn more_than_counted(number: usize, dtype: DType) -> String {
    match i64::try_from(number) {
        Ok(_) => format!("more than {dtype} can count: use i64"),
        Err(_) => format!("more than {}, the most that i64 can count", i64::MAX),
    }
}

/// The number as the library has it.
pub(crate) fn counted(name: &dyn Display, number: usize) -> Result<i64> {
    i64::try_from(number)
        .map_err(|_| Error::invalid(format!("{name} is {number} but must be at most {}", i64::MAX)))
}

#[cold]
#[inline(never)]
pub(crate) fn no_whole_bytes(dtype: DType) -> Error {
    Error::new(ErrorKind::Unsupported, format!("{dtype:?} has no whole number of bytes"))
}

#[cold]
#[inline(never)]
pub(crate) fn misaligned(data: *const c_void, alignment: usize) -> Error {
    Error::invalid(format!(
        "data lies {} bytes past a multiple of {alignment}, the alignment of its dtype",
        data.addr() % alignment
    ))
}

#[cold]
#[inline(never)]
pub(crate) fn span_overflows(view: &tnr_view) -> Error {
    Error::invalid(format!(
        "shape {:?} with strides {:?} spans more than {} elements",
        layout::extents(view),
        layout::strides(view),
        i64::MAX
    ))
}

#[cold]
#[inline(never)]
pub(crate) fn reaches_outside(view: &tnr_view, low: i64, high: i64) -> Error {
    Error::invalid(format!(
        "shape {:?} with strides {:?} reaches bytes {low} to {high} but the memory has bytes 0 to {}",
        layout::extents(view),
        layout::strides(view),
        view.size_bytes
    ))
}

#[cold]
#[inline(never)]
pub(crate) fn overlaps(view: &tnr_view) -> Error {
    Error::new(
        ErrorKind::Aliased,
        format!(
            "shape {:?} with strides {:?} may reach one element by two indices; for writing, each \
             stride must exceed the reach of the smaller ones",
            layout::extents(view),
            layout::strides(view)
        ),
    )
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn no_such_element(view: &tnr_view, index: &[usize]) -> ! {
    let shape = layout::extents(view);
    if index.len() != shape.len() {
        panic!("index {index:?} must have as many numbers as shape {shape:?} has axes");
    }
    panic!("index {index:?} is outside shape {shape:?}")
}

#[cold]
#[inline(never)]
pub(crate) fn axis_outside(method: &str, view: &tnr_view, axis: Axis) -> Error {
    Error::invalid(format!("{method}: axis is {axis} but the view has rank {}", view.rank))
}

#[cold]
#[inline(never)]
pub(crate) fn index_outside(
    method: &str,
    axis: usize,
    index: &dyn Display,
    extent: usize,
) -> Error {
    Error::invalid(format!("{method}: index is {index} but axis {axis} has extent {extent}"))
}

#[cold]
#[inline(never)]
pub(crate) fn range_outside(method: &str, axis: usize, range: &dyn Debug, extent: usize) -> Error {
    Error::invalid(format!("{method}: range is {range:?} but axis {axis} has extent {extent}"))
}

#[cold]
#[inline(never)]
pub(crate) fn split_outside(axis: usize, index: usize, extent: usize) -> Error {
    Error::invalid(format!("split_at: index is {index} but axis {axis} has extent {extent}"))
}

#[cold]
#[inline(never)]
pub(crate) fn before_axis(axis: usize, number: i128, extent: usize) -> Error {
    Error::invalid(format!("slice_axes: index is {number} but axis {axis} has extent {extent}"))
}

#[cold]
#[inline(never)]
pub(crate) fn two_unknown(axes: usize) -> Error {
    Error::invalid(format!("{axes} extents are -1 but only one can be"))
}

#[cold]
#[inline(never)]
pub(crate) fn negative_extent(extent: isize) -> Error {
    Error::invalid(format!("an extent is {extent} but must be 0 at least, or -1 for what is left"))
}

#[cold]
#[inline(never)]
pub(crate) fn none_left(count: usize, known: usize) -> Error {
    Error::invalid(format!(
        "{count} elements give no extent for -1: the other extents have {known} elements"
    ))
}

#[cold]
#[inline(never)]
pub(crate) fn step_zero(method: &str, axis: usize) -> Error {
    Error::invalid(format!("{method}: step along axis {axis} is 0 but must move"))
}

#[cold]
#[inline(never)]
pub(crate) fn no_permutation(axes: &[Axis], rank: usize) -> Error {
    Error::invalid(format!(
        "permute: axes {axes:?} are no permutation of the {rank} axes of the view"
    ))
}

#[cold]
#[inline(never)]
pub(crate) fn too_few_axes(method: &str, rank: usize, least: usize) -> Error {
    Error::invalid(format!("{method}: the rank is {rank} but must be {least} at least"))
}

#[cold]
#[inline(never)]
pub(crate) fn not_contiguous(view: &tnr_view, order: Order) -> Error {
    let (shape, strides) = (layout::extents(view), layout::strides(view));
    Error::invalid(format!(
        "strides {strides:?} of shape {shape:?} are not {order:?}, and CopyMode::Never allows no \
         copy"
    ))
}

#[cold]
#[inline(never)]
pub(crate) fn not_one(axis: usize, extent: usize) -> Error {
    Error::invalid(format!(
        "squeeze: axis {axis} has extent {extent} but only extent 1 can be squeezed"
    ))
}

#[cold]
#[inline(never)]
pub(crate) fn no_broadcast(view: &tnr_view, extents: &[usize]) -> Error {
    Error::invalid(format!(
        "broadcast: shape {:?} does not broadcast to {extents:?}",
        layout::extents(view)
    ))
}

#[cold]
#[inline(never)]
pub(crate) fn other_count(view: &tnr_view, extents: &[usize], count: usize) -> Error {
    Error::invalid(format!(
        "shape {extents:?} has {count} elements but the view of shape {:?} has {}",
        layout::extents(view),
        layout::count(view)
    ))
}

#[cold]
#[inline(never)]
pub(crate) fn part_outside(part_count: usize, index: usize) -> Error {
    Error::invalid(format!("split_part: part is {index} but there are {part_count}"))
}

#[cold]
#[inline(never)]
pub(crate) fn no_parts(method: &str, axis: usize) -> Error {
    Error::invalid(format!("{method}: axis {axis} cannot be split into 0 parts"))
}

#[cold]
#[inline(never)]
pub(crate) fn no_chunk_size(method: &str, axis: usize) -> Error {
    Error::invalid(format!("{method}: chunk size along axis {axis} is 0 but must be 1 at least"))
}

#[cold]
#[inline(never)]
pub(crate) fn window_size(axis: usize, size: usize, extent: usize) -> Error {
    Error::invalid(format!(
        "windows: window size is {size} but must be 1 to {extent}, the extent of axis {axis}"
    ))
}

#[cold]
#[inline(never)]
pub(crate) fn needs_copy(view: &tnr_view, extents: &[usize]) -> Error {
    Error::invalid(format!(
        "shape {:?} with strides {:?} cannot become {extents:?} without a copy: \
         `to_tensor()` makes one",
        layout::extents(view),
        layout::strides(view)
    ))
}

#[cold]
#[inline(never)]
pub(crate) fn no_steps(start: &dyn Display, end: &dyn Display, step: &dyn Display) -> Error {
    Error::invalid(format!(
        "no steps of {step} lead from {start} to {end}: a step is not 0, and all three are finite"
    ))
}
