//! The checker: whether a shape fits the memory it is laid over. Pure arithmetic on a `tnr_view`,
//! with the rules of the C++ core's `check_view` and `check_view_mut`; nothing here dereferences.

use std::ffi::c_void;
use std::ptr;

use tenure_sys::{TNR_MAX_ELEMENTS, TNR_MAX_RANK, tnr_device, tnr_device_kind, tnr_view};

use crate::dtype::DType;
use crate::error::Result;
use order::Order;

pub(crate) mod axis;
pub(crate) mod order;
pub(crate) mod refusal;

pub(crate) const CPU: tnr_device = tnr_device { kind: tnr_device_kind::CPU, index: 0 };

/// A view of CPU memory that is yet to be placed, with a shape that is yet to be written.
#[inline(always)]
pub(crate) fn blank(dtype: DType, rank: usize) -> tnr_view {
    tnr_view {
        data: ptr::null(),
        base: ptr::null(),
        size_bytes: 0,
        owner: 0,
        dtype: dtype.raw(),
        rank: rank as u32,
        device: CPU,
        flags: 0,
        bit_offset: 0,
        reserved: 0,
        shape: [0; TNR_MAX_RANK],
        strides: [0; TNR_MAX_RANK],
    }
}

/// Puts a dense view onto memory.
#[inline(always)]
pub(crate) fn place(view: &mut tnr_view, base: *const c_void, size_bytes: usize) {
    view.data = base;
    view.base = base;
    view.size_bytes = size_bytes as u64;
}

/// A dense shape without memory, and how many elements it has. Their bytes fit `isize`.
#[inline(always)]
pub(crate) fn shaped(dtype: DType, extents: &[usize], order: Order) -> Result<(tnr_view, usize)> {
    let mut view = blank(dtype, extents.len());
    let count = set_shape(&mut view, dtype, extents, order)?;
    Ok((view, count))
}

/// Writes a dense shape in place: returning the view would copy it, and a copy right after writes
/// of single words waits for them.
#[inline(always)]
pub(crate) fn set_shape(
    view: &mut tnr_view,
    dtype: DType,
    extents: &[usize],
    order: Order,
) -> Result<usize> {
    let rank = extents.len();
    if rank > TNR_MAX_RANK {
        return Err(refusal::rank_too_high(rank));
    }
    // Extents of 0 count as 1 here, so that strides mean something for empty shapes too.
    let mut step: usize = 1;
    let mut empty = false;
    let mut too_many = false;
    for nth in 0..rank {
        let axis = order.axis(rank, nth);
        let extent = extents[axis];
        view.shape[axis] = extent as i64;
        view.strides[axis] = step as i64;
        empty |= extent == 0;
        let (product, overflows) = step.overflowing_mul(extent.max(1));
        step = product;
        too_many |= overflows;
    }
    if empty {
        // However many such elements there would be, there are none; but each extent is an i64.
        return match extents.iter().all(|&extent| extent <= isize::MAX as usize) {
            true => Ok(0),
            false => Err(refusal::too_large(extents, dtype)),
        };
    }
    if too_many || step > isize::MAX as usize / dtype.size_bytes() {
        return Err(refusal::too_large(extents, dtype));
    }
    Ok(step)
}

/// Lays a dense shape over all of `len` elements at `base`: the count must be exact.
#[inline(always)]
pub(crate) fn dense(
    base: *const c_void,
    len: usize,
    dtype: DType,
    extents: &[usize],
    order: Order,
) -> Result<tnr_view> {
    let mut view = blank(dtype, extents.len());
    let count = set_shape(&mut view, dtype, extents, order)?;
    if count != len {
        return Err(refusal::wrong_count(extents, count, len));
    }
    place(&mut view, base, len * dtype.size_bytes());
    Ok(view)
}

/// Lays a row-major shape over bytes, from `offset_bytes` on; bytes may be left over.
pub(crate) fn dense_in_bytes(
    bytes: *const u8,
    size_bytes: usize,
    offset_bytes: usize,
    dtype: DType,
    extents: &[usize],
) -> Result<tnr_view> {
    let (mut view, count) = shaped(dtype, extents, Order::RowMajor)?;
    let needed = count * dtype.size_bytes();
    if offset_bytes > size_bytes || needed > size_bytes - offset_bytes {
        return Err(refusal::beyond_bytes(extents, dtype, needed, offset_bytes, size_bytes));
    }
    place(&mut view, bytes.wrapping_add(offset_bytes).cast(), needed);
    if count > 0 {
        check_aligned(&view)?;
    }
    Ok(view)
}

/// Lays a row-major shape that multiplies to `len` over `len` elements at `base`.
#[inline(always)]
pub(crate) fn exact(base: *const c_void, len: usize, dtype: DType, extents: &[usize]) -> tnr_view {
    let mut view = blank(dtype, extents.len());
    place(&mut view, base, len * dtype.size_bytes());
    let mut step: i64 = 1;
    for axis in (0..extents.len()).rev() {
        view.shape[axis] = extents[axis] as i64;
        view.strides[axis] = step;
        // Wraps only where an extent of 0 makes the view empty, and then strides are ignored.
        step = step.wrapping_mul(extents[axis].max(1) as i64);
    }
    debug_assert_eq!(count(&view), len);
    view
}

/// Lays a strided shape over `size_bytes` bytes at `base`; index 0 on every axis is element number
/// `offset`. Every reachable element must lie inside.
#[inline]
pub(crate) fn strided(
    base: *const c_void,
    size_bytes: usize,
    dtype: DType,
    offset: usize,
    extents: &[usize],
    strides: &[isize],
) -> Result<tnr_view> {
    let rank = extents.len();
    if rank > TNR_MAX_RANK {
        return Err(refusal::rank_too_high(rank));
    }
    if strides.len() != rank {
        return Err(refusal::stride_count(strides.len(), extents));
    }
    let offset_bytes = match offset.checked_mul(dtype.size_bytes()) {
        Some(offset_bytes) if offset_bytes <= size_bytes => offset_bytes,
        _ => return Err(refusal::offset_outside(offset, size_bytes / dtype.size_bytes().max(1))),
    };
    let mut view = blank(dtype, rank);
    place(&mut view, base, size_bytes);
    view.data = base.wrapping_byte_add(offset_bytes);
    for axis in 0..rank {
        if extents[axis] > isize::MAX as usize {
            return Err(refusal::too_large(extents, dtype));
        }
        view.shape[axis] = extents[axis] as i64;
        view.strides[axis] = strides[axis] as i64;
    }
    if is_empty(&view) {
        view.data = base;
    }
    check(&view)?;
    Ok(view)
}

/// Lays a strided shape over exactly the memory that it reaches: for elements that another library
/// vouches for, given by the address of the element at index 0 and the strides.
#[cfg(any(feature = "faer", feature = "nalgebra", feature = "ndarray"))]
pub(crate) fn around(
    data: *const c_void,
    dtype: DType,
    extents: &[usize],
    strides: &[isize],
) -> Result<tnr_view> {
    if extents.len() > TNR_MAX_RANK {
        return Err(refusal::rank_too_high(extents.len()));
    }
    let view = around_unchecked(data, dtype, extents, strides);
    check(&view)?;
    Ok(view)
}

/// Does the same as [`around`] without its checks, for at most 8 axes, and for elements that would
/// pass them.
#[cfg(any(feature = "faer", feature = "nalgebra", feature = "ndarray"))]
pub(crate) fn around_unchecked(
    data: *const c_void,
    dtype: DType,
    extents: &[usize],
    strides: &[isize],
) -> tnr_view {
    let mut view = blank(dtype, extents.len());
    let (mut lowest, mut highest) = (0_isize, 0_isize);
    for (axis, (&extent, &stride)) in extents.iter().zip(strides).enumerate() {
        view.shape[axis] = extent as i64;
        view.strides[axis] = stride as i64;
        // A product that wraps here overflows in `check`, which then refuses it.
        let reach = stride.wrapping_mul((extent as isize).wrapping_sub(1).max(0));
        lowest = lowest.wrapping_add(reach.min(0));
        highest = highest.wrapping_add(reach.max(0));
    }
    place(&mut view, data, 0);
    if !is_empty(&view) {
        let (size, span) = (dtype.size_bytes(), highest.wrapping_sub(lowest) as usize);
        view.base = data.wrapping_byte_offset(lowest.wrapping_mul(size as isize));
        view.size_bytes = span.wrapping_add(1).wrapping_mul(size) as u64;
    }
    view
}

/// Whether every reachable element lies inside the memory lent, aligned, and can be counted.
#[inline]
pub(crate) fn check(view: &tnr_view) -> Result<()> {
    let dtype = DType::from_raw(view.dtype);
    let element_bytes = dtype.size_bytes();
    if element_bytes == 0 {
        return Err(refusal::no_whole_bytes(dtype));
    }
    if is_empty(view) {
        return Ok(());
    }
    check_aligned(view)?;
    let mut count: i64 = 1;
    let mut lowest: i64 = 0;
    let mut highest: i64 = 0;
    for axis in 0..view.rank as usize {
        let (extent, stride) = (view.shape[axis], view.strides[axis]);
        let bounded = count.checked_mul(extent).and_then(|count| {
            let reach = if extent > 1 { stride.checked_mul(extent - 1)? } else { 0 };
            Some((count, lowest.checked_add(reach.min(0))?, highest.checked_add(reach.max(0))?))
        });
        match bounded {
            Some(bounds) => (count, lowest, highest) = bounds,
            None => return Err(refusal::span_overflows(view)),
        }
    }
    if count > TNR_MAX_ELEMENTS {
        return Err(refusal::too_many(&view.shape[..view.rank as usize]));
    }
    let offset = view.data.addr().wrapping_sub(view.base.addr()) as i64;
    let size = element_bytes as i64;
    let low = lowest.checked_mul(size).and_then(|low| low.checked_add(offset));
    let high = highest
        .checked_mul(size)
        .and_then(|high| high.checked_add(offset))
        .and_then(|high| high.checked_add(size));
    match (low, high) {
        (Some(low), Some(high)) if low >= 0 && high as u64 <= view.size_bytes => Ok(()),
        (Some(low), Some(high)) => Err(refusal::reaches_outside(view, low, high)),
        _ => Err(refusal::span_overflows(view)),
    }
}

#[inline]
pub(crate) fn check_aligned(view: &tnr_view) -> Result<()> {
    let alignment = DType::from_raw(view.dtype).alignment_bytes();
    if view.data.addr() % alignment == 0 {
        Ok(())
    } else {
        Err(refusal::misaligned(view.data, alignment))
    }
}

/// Number of elements of a shape, which must be at most `TNR_MAX_ELEMENTS`.
#[inline]
pub(crate) fn element_count(extents: &[usize]) -> Result<usize> {
    let count = extents
        .iter()
        .try_fold(1_isize, |count, &extent| count.checked_mul(isize::try_from(extent).ok()?));
    match count {
        Some(count) if count as i64 <= TNR_MAX_ELEMENTS => Ok(count as usize),
        None if extents.contains(&0) && extents.iter().all(|&e| e <= isize::MAX as usize) => Ok(0),
        _ => Err(refusal::too_many(extents)),
    }
}

/// Whether no two indices can meet in one element: by |stride|, each must exceed the reach of the
/// smaller ones. Conservative, and the same test as in the C++ core. The view has passed
/// [`check`], so that no product here overflows.
#[inline]
pub(crate) fn check_distinct(view: &tnr_view) -> Result<()> {
    if is_empty(view) {
        return Ok(());
    }
    let mut axes = [(0_u64, 0_u64); TNR_MAX_RANK];
    let mut used = 0;
    for axis in 0..view.rank as usize {
        if view.shape[axis] > 1 {
            // Insertion sort: there are at most eight.
            let entry = (view.strides[axis].unsigned_abs(), view.shape[axis] as u64 - 1);
            let mut place = used;
            while place > 0 && axes[place - 1].0 > entry.0 {
                axes[place] = axes[place - 1];
                place -= 1;
            }
            axes[place] = entry;
            used += 1;
        }
    }
    let mut reach = 0;
    for &(stride, steps) in &axes[..used] {
        if stride <= reach {
            return Err(refusal::overlaps(view));
        }
        reach += stride * steps;
    }
    Ok(())
}

/// Whether the elements are all of the memory lent, forwards and each once, in any order of the
/// axes: what memory that is held must be.
pub(crate) fn is_dense(view: &tnr_view) -> bool {
    view.data == view.base
        && count(view) * DType::from_raw(view.dtype).size_bytes() == view.size_bytes as usize
        && check_distinct(view).is_ok()
}

/// Number of elements. The view has passed a check, so the product fits.
#[inline]
pub(crate) fn count(view: &tnr_view) -> usize {
    view.shape[..view.rank as usize].iter().fold(1, |count: usize, &extent| {
        // Wrapping only where a later extent of 0 makes the count 0.
        count.wrapping_mul(extent as usize)
    })
}

#[inline]
pub(crate) fn is_empty(view: &tnr_view) -> bool {
    view.shape[..view.rank as usize].contains(&0)
}

/// Whether the elements in row-major order are adjacent; axes of extent <= 1 do not count.
#[inline]
pub(crate) fn is_row_major(view: &tnr_view) -> bool {
    is_contiguous(view, Order::RowMajor)
}

/// Whether the elements are contiguous in `order`.
#[inline(always)]
pub(crate) fn is_contiguous(view: &tnr_view, order: Order) -> bool {
    let mut step: i64 = 1;
    let rank = view.rank as usize;
    for nth in 0..rank {
        let axis = order.axis(rank, nth);
        let extent = view.shape[axis];
        if extent == 0 {
            return true;
        }
        if extent > 1 && view.strides[axis] != step {
            // An empty view is in any order, whatever its strides.
            return is_empty(view);
        }
        step = step.wrapping_mul(extent);
    }
    true
}

/// Elements from index 0 to `index`, or `None` where an index is outside or the rank differs.
#[inline(always)]
pub(crate) fn offset_of(view: &tnr_view, index: &[usize]) -> Option<isize> {
    if index.len() != view.rank as usize {
        return None;
    }
    let mut offset = 0_i64;
    for (axis, &at) in index.iter().enumerate() {
        if at >= view.shape[axis] as usize {
            return None;
        }
        // No overflow: every index inside reaches an element inside the memory lent. On an axis
        // of extent 1 the stride is ignored, and `at` is 0.
        offset = offset.wrapping_add((at as i64).wrapping_mul(view.strides[axis]));
    }
    Some(offset as isize)
}

/// The extents, as callers see them.
#[inline]
pub(crate) fn extents(view: &tnr_view) -> &[usize] {
    let extents = &view.shape[..view.rank as usize];
    // SAFETY: i64 and usize have one size and alignment on 64-bit targets, and every extent is at
    // least 0.
    unsafe { std::slice::from_raw_parts(extents.as_ptr().cast(), extents.len()) }
}

/// The strides, in elements.
#[inline]
pub(crate) fn strides(view: &tnr_view) -> &[isize] {
    let strides = &view.strides[..view.rank as usize];
    // SAFETY: i64 and isize are the same integers on 64-bit targets.
    unsafe { std::slice::from_raw_parts(strides.as_ptr().cast(), strides.len()) }
}
