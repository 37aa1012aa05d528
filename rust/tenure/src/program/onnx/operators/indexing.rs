//! Operators that read and write elements by indices.

use tenure_sys::{
    TNR_NODE_GATHER, TNR_NODE_PUT, TNR_NODE_SCATTER, TNR_NODE_TAKE, tnr_binary_op, tnr_compare_op,
};

use super::shapes::counted_up;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::program::onnx::call::{Call, Outputs, axis_of, unsupported};
use crate::program::onnx::number::{Number, Numbers};
use crate::program::onnx::value::Value;

pub(super) fn gather(call: &Call<'_>) -> Outputs {
    if let Some(known) = gathered_numbers(call)? {
        return Ok(known);
    }
    let (build, value) = (call.build, call.value(0)?);
    let of = call.input(0)?.element_type();
    let axis = call.axis(0, build.rank(value)?)?;
    let size = build.sizes(value)?[axis];
    // One element by an index that is known is a view.
    if let Some((shape, [Number::Int(index)])) =
        call.input(1)?.numbers().as_ref().map(|(shape, numbers)| (shape, &numbers[..]))
    {
        if let (true, Number::Int(size)) = (shape.is_empty(), size) {
            let counted = if *index < 0 { index.saturating_add(size) } else { *index };
            let end = counted.saturating_add(1);
            let part = build.slice(value, axis, [counted, end, 1].map(Number::Int))?;
            let mut sizes = build.sizes(part)?;
            sizes.remove(axis);
            return call.like(build.reshape(part, &sizes)?, of);
        }
    }
    let indices = call.indices(1, size)?;
    call.like(build.node(TNR_NODE_TAKE, &[value, indices], &[axis as i64], None)?, of)
}

fn gathered_numbers(call: &Call<'_>) -> Result<Option<Vec<Value>>> {
    let (Some((shape, numbers)), Some((at_shape, at))) =
        (call.input(0)?.numbers(), call.input(1)?.numbers())
    else {
        return Ok(None);
    };
    if shape.len() != 1 {
        return Ok(None);
    }
    let pick = |index: &Number| {
        let index = index.int()?;
        let counted = if index < 0 { index.saturating_add(numbers.len() as i64) } else { index };
        numbers.get(usize::try_from(counted).ok()?).copied()
    };
    let picked: Option<Vec<Number>> = at.iter().map(pick).collect();
    let picked = picked.ok_or_else(|| Error::invalid("an index is out of bounds"))?;
    let dtype = call.input(0)?.element_type().dtype;
    match dtype {
        DType::I64 | DType::I32 => call.known(dtype, at_shape, picked).map(Some),
        _ => Ok(None),
    }
}

pub(super) fn gather_elements(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let axis = call.axis(0, build.rank(value)?)?;
    let indices = call.indices(1, build.sizes(value)?[axis])?;
    let indices_sizes = build.sizes(indices)?;
    // Other axes may have fewer indices than elements.
    let mut part = value;
    for (other, size) in indices_sizes.into_iter().enumerate() {
        if other != axis && build.sizes(part)?.get(other) != Some(&size) {
            part = build.slice(part, other, [Number::Int(0), size, Number::Int(1)])?;
        }
    }
    let gathered = build.node(TNR_NODE_GATHER, &[part, indices], &[axis as i64], None)?;
    call.like(gathered, call.input(0)?.element_type())
}

/// The operation on an old element and an update.
fn reduction(call: &Call<'_>) -> Result<tnr_binary_op> {
    Ok(match call.text("reduction") {
        None | Some(b"none" | b"") => tnr_binary_op(0),
        Some(b"add") => tnr_binary_op::ADD,
        Some(b"mul") => tnr_binary_op::MUL,
        Some(b"min") => tnr_binary_op::MIN,
        Some(b"max") => tnr_binary_op::MAX,
        Some(_) => return unsupported("the reduction is none of add, mul, min and max"),
    })
}

pub(super) fn scatter_elements(call: &Call<'_>) -> Outputs {
    let (build, value, updates) = (call.build, call.value(0)?, call.value(2)?);
    let axis = call.axis(0, build.rank(value)?)?;
    let indices = call.indices(1, build.sizes(value)?[axis])?;
    let code = TNR_NODE_SCATTER | reduction(call)?.0 as u32;
    let scattered = build.node(code, &[value, updates, indices], &[axis as i64], None)?;
    call.like(scattered, call.input(0)?.element_type())
}

/// The first axes of a value as one, and the place there that each tuple of indices names.
struct Places {
    flat: u32,
    places: u32,
    /// Extents of the indices without the last one.
    leading: Vec<Number>,
    /// Extents of an element that a tuple names.
    rest: Vec<Number>,
}

fn places(call: &Call<'_>) -> Result<Places> {
    let build = call.build;
    let (value, indices) = (call.value(0)?, build.cast(call.value(1)?, DType::I64)?);
    let (sizes, mut leading) = (build.sizes(value)?, build.sizes(indices)?);
    let Some(Number::Int(width)) = leading.pop() else {
        return Err(Error::invalid("the indices have no last axis that is known before a run"));
    };
    let width = usize::try_from(width).ok().filter(|width| *width <= sizes.len());
    let width =
        width.ok_or_else(|| Error::invalid("a tuple has more indices than there are axes"))?;
    let (axes, rest) = sizes.split_at(width);
    let stride = |axis: usize| call.product(&axes[axis + 1..]);
    let strides = (0..width).map(stride).collect::<Result<Vec<_>>>()?;
    let [sizes, strides] = [axes.to_vec(), strides].map(|numbers| {
        build.value(&Value::Numbers(Numbers::new(DType::I64, vec![width], numbers).into()))
    });
    let (sizes, zero) = (sizes?, build.scalar(DType::I64, 0.0)?);
    let from_end = build.binary(tnr_binary_op::ADD, indices, sizes)?;
    let is_negative = build.compare(tnr_compare_op::LT, indices, zero)?;
    let counted = build.select(is_negative, from_end, indices)?;
    // An index that is out of bounds would name another element: it becomes one of none.
    let is_beyond = build.compare(tnr_compare_op::GE, counted, sizes)?;
    let beyond = build.scalar(DType::I64, -((1_i64 << 40) as f64))?;
    let checked = build.select(is_beyond, beyond, counted)?;
    let is_below = build.compare(tnr_compare_op::LT, checked, zero)?;
    let checked = build.select(is_below, beyond, checked)?;
    let scaled = build.binary(tnr_binary_op::MUL, checked, strides?)?;
    let last = 1 << leading.len();
    let summed = build.reduce(tenure_sys::tnr_reduce_op::SUM, scaled, last, false)?;
    let places = build.reshape(summed, &[call.product(&leading)?])?;
    let mut flat_sizes = vec![call.product(axes)?];
    flat_sizes.extend_from_slice(rest);
    let flat = build.reshape(value, &flat_sizes)?;
    Ok(Places { flat, places, leading, rest: rest.to_vec() })
}

pub(super) fn gather_nd(call: &Call<'_>) -> Outputs {
    call.require("batch_dims", 0)?;
    let (build, of) = (call.build, call.input(0)?.element_type());
    let Places { flat, places, leading, rest } = places(call)?;
    let taken = build.node(TNR_NODE_TAKE, &[flat, places], &[0], None)?;
    call.like(build.reshape(taken, &[leading, rest].concat())?, of)
}

pub(super) fn scatter_nd(call: &Call<'_>) -> Outputs {
    let (build, of) = (call.build, call.input(0)?.element_type());
    let sizes = build.sizes(call.value(0)?)?;
    let Places { flat, places, leading, rest } = places(call)?;
    let mut of_updates = vec![call.product(&leading)?];
    of_updates.extend_from_slice(&rest);
    let updates = build.reshape(call.value(2)?, &of_updates)?;
    let code = TNR_NODE_PUT | reduction(call)?.0 as u32;
    let put = build.node(code, &[flat, updates, places], &[0], None)?;
    call.like(build.reshape(put, &sizes)?, of)
}

/// `on` where the index of a new axis is that of the element, `off` elsewhere.
pub(super) fn one_hot(call: &Call<'_>) -> Outputs {
    let (build, of) = (call.build, call.input(2)?.element_type());
    let depth = match call.float_of(1)? {
        depth if (1.0..=1e9).contains(&depth) => depth as i64,
        depth => return Err(Error::invalid(format!("the depth is {depth}"))),
    };
    let indices = build.cast(call.value(0)?, DType::I64)?;
    let is_negative = build.compare(tnr_compare_op::LT, indices, build.scalar(DType::I64, 0.0)?)?;
    let from_end = build.with(tnr_binary_op::ADD, indices, depth as f64)?;
    let counted = build.select(is_negative, from_end, indices)?;
    let mut sizes = build.sizes(indices)?;
    let axis = axis_of(call.int("axis", -1), sizes.len() + 1)?;
    sizes.insert(axis, Number::Int(1));
    let counted = build.reshape(counted, &sizes)?;
    let mut of_classes = vec![Number::Int(1); sizes.len()];
    of_classes[axis] = Number::Int(depth);
    let classes = build.reshape(counted_up(build, Number::Int(depth))?, &of_classes)?;
    let is_on = build.compare(tnr_compare_op::EQ, counted, classes)?;
    let values = call.value(2)?;
    let one = |at: i64| {
        let part = build.slice(values, 0, [at, at + 1, 1].map(Number::Int))?;
        build.reshape(part, &[])
    };
    call.like(build.select(is_on, one(1)?, one(0)?)?, of)
}
