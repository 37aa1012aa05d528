//! Shapes and memory of results, checks of numbers, and the errors of refused calls: for every
//! function of an operation.

use tenure_sys::TNR_MAX_RANK;

use crate::dense::{Tensor, TensorView};
use crate::dtype::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::{axis::Axis, order::Order, refusal};
use crate::raw::LentMut;

/// A shape by value.
#[derive(Clone, Copy)]
pub(crate) struct Extents {
    pub(crate) values: [usize; TNR_MAX_RANK],
    pub(crate) rank: usize,
}

impl Extents {
    /// No shape has more axes.
    pub(crate) fn of(shape: &[usize]) -> Extents {
        let mut values = [0; TNR_MAX_RANK];
        values[..shape.len()].copy_from_slice(shape);
        Extents { values, rank: shape.len() }
    }

    /// The shape that this and another broadcast to; `None` where there is none.
    #[inline]
    pub(crate) fn join(&mut self, shape: &[usize]) -> Option<()> {
        if self.as_slice() == shape {
            return Some(());
        }
        *self = broadcast_shape([self.as_slice(), shape]).ok()?;
        Some(())
    }

    pub(crate) fn as_slice(&self) -> &[usize] {
        &self.values[..self.rank]
    }
}

/// The shape that all inputs broadcast to: axes are aligned at the last, and an extent of 1
/// repeats. Whoever calls it says in the error which operation and shapes it was.
pub(crate) fn broadcast_shape<const N: usize>(inputs: [&[usize]; N]) -> Result<Extents> {
    let rank = inputs.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut common = Extents { values: [1; TNR_MAX_RANK], rank };
    for shape in inputs {
        let added = rank - shape.len();
        for (axis, &extent) in shape.iter().enumerate() {
            let target = &mut common.values[added + axis];
            if *target == 1 {
                *target = extent;
            } else if extent != 1 && extent != *target {
                return Err(no_common_extent(added + axis, *target, extent));
            }
        }
    }
    Ok(common)
}

#[cold]
#[inline(never)]
fn no_common_extent(axis: usize, a: usize, b: usize) -> Error {
    Error::invalid(format!("axis {axis} is {a} and {b}"))
}

/// The error of an operation with its name, and with the shapes of all operands where they differ,
/// and so may be the reason.
#[cold]
#[inline(never)]
pub(crate) fn refused(
    error: Error,
    name: &str,
    inputs: &[&[usize]],
    out: Option<&[usize]>,
) -> Error {
    let common = out.unwrap_or_else(|| inputs.first().copied().unwrap_or_default());
    // A number by itself fits every shape.
    let is_about_shapes = error.kind() == ErrorKind::InvalidArgument
        && inputs.iter().any(|shape| !shape.is_empty() && *shape != common);
    if !is_about_shapes {
        return error.prefixed(&format!("{name}: "));
    }
    let inputs: Vec<String> = inputs.iter().map(|shape| format!("{shape:?}")).collect();
    let into = out.map(|shape| format!(" into {shape:?}")).unwrap_or_default();
    error.prefixed(&format!("{name}: {}{into}: ", inputs.join(" with ")))
}

/// Runs the body of a function, and puts the function's name in front of its errors.
#[inline]
pub(crate) fn named<R>(name: &str, body: impl FnOnce() -> Result<R>) -> Result<R> {
    body().map_err(|error| error.of_call(name))
}

/// A new row-major tensor that one operation fills.
///
/// `operation` is a call of `raw::operations`, whose contract is to write every element of its
/// output when it answers OK; the output is none of its inputs, so that none is read before.
#[inline]
#[allow(unsafe_code)]
pub(crate) fn filled<T: Element>(
    extents: &[usize],
    operation: impl FnOnce(LentMut<'_>) -> Result<()>,
) -> Result<Tensor<T>> {
    // SAFETY: by this function's contract, which every caller in this folder keeps.
    unsafe { Tensor::written_by(extents, operation) }
}

pub(crate) fn order_of_images<T: Element>(a: &TensorView<'_, T>) -> Order {
    image_order(a.shape(), a.strides(), a.is_row_major())
}

/// The order in memory of a new result of images: the channels are last where those of `a`, which
/// has this shape and these strides, are adjacent and `a` is not row-major.
pub(crate) fn image_order(shape: &[usize], strides: &[isize], is_row_major: bool) -> Order {
    let has_adjacent_channels = shape.len() == 4 && shape[1] > 1 && strides[1] == 1;
    match has_adjacent_channels && !is_row_major {
        true => Order::ChannelsLast,
        false => Order::RowMajor,
    }
}

/// The number of an axis of `a`.
pub(crate) fn axis_of<T: Element>(a: &TensorView<'_, T>, axis: impl Into<Axis>) -> Result<usize> {
    let (axis, rank) = (axis.into(), a.rank());
    axis.of(rank).ok_or_else(|| Error::invalid(format!("axis is {axis} but a has rank {rank}")))
}

/// A node of a graph takes values and no views.
pub(crate) fn no_view(name: &str, view: &str, is_given: bool) -> Result<()> {
    match is_given {
        true => Err(Error::invalid(format!("{name}: the {view} is lent but must be a value"))),
        false => Ok(()),
    }
}

pub(crate) fn at_least_1(name: &dyn std::fmt::Display, value: usize) -> Result<i64> {
    match value {
        0 => Err(Error::invalid(format!("{name} is 0 but must be 1 at least"))),
        _ => refusal::counted(name, value),
    }
}

/// Numbers down and right. A 0 is refused, because the library reads it as a missing number.
pub(crate) fn of_both(name: &str, values: [usize; 2]) -> Result<[i64; 2]> {
    Ok([
        at_least_1(&format_args!("{name}[0]"), values[0])?,
        at_least_1(&format_args!("{name}[1]"), values[1])?,
    ])
}

/// Numbers above and below, left and right.
pub(crate) fn of_sides(
    name: &str,
    [[above, below], [left, right]]: [[usize; 2]; 2],
) -> Result<[i64; 4]> {
    Ok([
        refusal::counted(&format_args!("{name}[0][0]"), above)?,
        refusal::counted(&format_args!("{name}[0][1]"), below)?,
        refusal::counted(&format_args!("{name}[1][0]"), left)?,
        refusal::counted(&format_args!("{name}[1][1]"), right)?,
    ])
}

/// Does the same as [`filled`], in the order given.
#[allow(unsafe_code)]
pub(crate) fn filled_in<T: Element>(
    extents: &[usize],
    order: Order,
    operation: impl FnOnce(LentMut<'_>) -> Result<()>,
) -> Result<Tensor<T>> {
    // SAFETY: `operation` is one call of `raw::operations`, which has written every element of its
    // output when it answers Ok; the output is none of its inputs, so that no element is read
    // before.
    unsafe { Tensor::written_in(extents, order, operation) }
}
