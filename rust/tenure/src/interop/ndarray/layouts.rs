//! Layouts of arrays and of views, converted into each other.

use std::ffi::c_void;
use std::ptr::NonNull;

use ::ndarray::{ArrayRef, Dimension, ShapeBuilder, StrideShape};
use tenure_sys::tnr_view;

use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::layout;

/// The elements of an array as they lie.
pub(super) fn laid<T: Element, D: Dimension>(array: &ArrayRef<T, D>) -> Result<tnr_view> {
    laid_at(array.as_ptr(), array)
}

/// The elements of an array as they lie, at a pointer that may have more rights.
pub(super) fn laid_at<T: Element, D: Dimension>(
    data: *const T,
    array: &ArrayRef<T, D>,
) -> Result<tnr_view> {
    layout::around(data.cast::<c_void>(), T::DTYPE, array.shape(), array.strides())
}

/// The parts of an array of `D`: extents with the sizes of the strides, and the axes that run
/// backwards.
pub(super) struct Parts<D> {
    pub(super) shape: StrideShape<D>,
    pub(super) backwards: Vec<usize>,
    /// From index 0 on every axis to the lowest element; no element lies below.
    lowest: isize,
}

pub(super) fn parts<D: Dimension>(raw: &tnr_view) -> Result<Parts<D>> {
    let (extents, strides) = (layout::extents(raw), layout::strides(raw));
    if D::NDIM.is_some_and(|rank| rank != extents.len()) {
        return Err(Error::invalid(format!(
            "rank is {} but the array has {} axes",
            extents.len(),
            D::NDIM.unwrap_or_default()
        )));
    }
    let counted = extents.iter().try_fold(1_isize, |count, &extent| {
        if extent == 0 { Some(count) } else { count.checked_mul(isize::try_from(extent).ok()?) }
    });
    if counted.is_none() {
        return Err(Error::invalid(format!(
            "extents other than 0 of shape {extents:?} multiply to more than {}, which ndarray does \
             not take",
            isize::MAX
        )));
    }
    let (mut shape, mut steps) = (D::zeros(extents.len()), D::zeros(extents.len()));
    shape.slice_mut().copy_from_slice(extents);
    if layout::is_empty(raw) {
        // Strides of ours may mean nothing then; ndarray looks at them.
        let shape = shape.into_shape_with_order().into();
        return Ok(Parts { shape, backwards: Vec::new(), lowest: 0 });
    }
    let (mut backwards, mut lowest) = (Vec::new(), 0);
    for axis in (0..extents.len()).filter(|&axis| extents[axis] > 1) {
        steps[axis] = strides[axis].unsigned_abs();
        if strides[axis] < 0 {
            backwards.push(axis);
            // No overflow: it is the place of an element.
            lowest += strides[axis] * (extents[axis] as isize - 1);
        }
    }
    Ok(Parts { shape: shape.strides(steps), backwards, lowest })
}

impl<D: Dimension> Parts<D> {
    /// The lowest element, from which the array is laid forwards.
    pub(super) fn start<T>(&self, raw: &tnr_view) -> *mut T {
        if layout::is_empty(raw) {
            // A view of no elements may point nowhere, an array may not.
            return NonNull::dangling().as_ptr();
        }
        raw.data.cast_mut().cast::<T>().wrapping_offset(self.lowest)
    }
}
