//! Operations: free functions over anything that lends a view.
//!
//! Functions that allocate their result broadcast their inputs here, and let the library write
//! every element before the tensor can be seen. `_into` writes to the caller's output, and
//! `_assign` works in place; both leave all shape rules to the library.

mod activation;
mod axes;
mod compare;
mod conv2d;
mod einsum;
mod elementwise;
mod matmul;
mod movement;
mod reduce;
mod select;

use tenure_sys::TNR_MAX_RANK;

pub use activation::Activation;
pub use axes::Axes;
pub use compare::*;
pub use conv2d::*;
pub use einsum::*;
pub use elementwise::*;
pub use matmul::*;
pub use movement::*;
pub use reduce::*;
pub use select::*;

use crate::raw::LentMut;
use crate::{Element, Error, Order, Result, Tensor};

/// A shape by value.
#[derive(Clone, Copy)]
struct Extents {
    values: [usize; TNR_MAX_RANK],
    rank: usize,
}

impl Extents {
    fn as_slice(&self) -> &[usize] {
        &self.values[..self.rank]
    }
}

/// An input by its name in messages, and its shape.
type Named<'a> = (&'static str, &'a [usize]);

/// The shape that all inputs broadcast to: axes are aligned at the last, and an extent of 1
/// repeats.
fn broadcast_shape<const N: usize>(inputs: [Named<'_>; N]) -> Result<Extents> {
    let rank = inputs.iter().map(|(_, shape)| shape.len()).max().unwrap_or(0);
    let mut common = Extents { values: [1; TNR_MAX_RANK], rank };
    // Which input each extent comes from, for the message.
    let mut from = [0; TNR_MAX_RANK];
    for (input, (_, shape)) in inputs.iter().enumerate() {
        let added = rank - shape.len();
        for (axis, &extent) in shape.iter().enumerate() {
            let target = &mut common.values[added + axis];
            if *target == 1 {
                (*target, from[added + axis]) = (extent, input);
            } else if extent != 1 && extent != *target {
                return Err(no_common_shape(
                    inputs[from[added + axis]],
                    inputs[input],
                    rank - added - axis,
                ));
            }
        }
    }
    Ok(common)
}

/// `from_end` is the axis at which `a` and `b` differ, counted from the last, which is 1.
#[cold]
#[inline(never)]
fn no_common_shape(a: Named<'_>, b: Named<'_>, from_end: usize) -> Error {
    let [(a_axis, a_extent), (b_axis, b_extent)] = [a, b].map(|(_, shape)| {
        let axis = shape.len() - from_end;
        (axis, shape[axis])
    });
    Error::invalid(format!(
        "{}.shape[{b_axis}] is {b_extent} but {}.shape[{a_axis}] is {a_extent}",
        b.0, a.0
    ))
}

/// A new row-major tensor that one operation fills.
///
/// `operation` is a call of `raw::operations`, whose contract is to write every element of its
/// output when it answers OK; the output is none of its inputs, so that none is read before.
#[inline]
#[allow(unsafe_code)]
fn filled<T: Element>(
    extents: &[usize],
    operation: impl FnOnce(LentMut<'_>) -> Result<()>,
) -> Result<Tensor<T>> {
    // SAFETY: by this function's contract, which every caller in this folder keeps.
    unsafe { Tensor::written_by(extents, operation) }
}

/// As [`filled`], in the order given.
#[allow(unsafe_code)]
fn filled_in<T: Element>(
    extents: &[usize],
    order: Order,
    operation: impl FnOnce(LentMut<'_>) -> Result<()>,
) -> Result<Tensor<T>> {
    // SAFETY: as in `filled`.
    unsafe { Tensor::written_in(extents, order, operation) }
}
