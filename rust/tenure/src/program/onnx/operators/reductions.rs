//! Operators over axes.

use tenure_sys::{
    TNR_NODE_SCAN, TNR_NODE_TOP_K, TNR_TOP_K_SMALLEST, tnr_binary_op, tnr_order_result,
    tnr_reduce_op, tnr_scan_op, tnr_unary_op,
};

use super::elementwise::is_float;
use super::movement::flipped;
use crate::dtype::DType;
use crate::error::Result;
use crate::program::calls::flags_of_node;
use crate::program::calls::graph_record::Attributes;
use crate::program::onnx::call::{Call, Outputs, mask_of};
use crate::program::onnx::number::Number;
use crate::program::onnx::value::Value;

/// A value, the mask of the axes that it is reduced over, and whether they are kept.
struct Reduction {
    value: u32,
    axes: u32,
    is_kept: bool,
}

/// `None`: nothing is reduced.
fn reduction(call: &Call<'_>) -> Result<Reduction> {
    let value = call.value(0)?;
    let rank = call.build.rank(value)?;
    let axes = call.list_or_input("axes", 1)?.filter(|axes| !axes.is_empty());
    let axes = match axes {
        Some(axes) => mask_of(&axes, rank)?,
        None if call.int("noop_with_empty_axes", 0) != 0 => 0,
        None => mask_of(&(0..rank as i64).collect::<Vec<_>>(), rank)?,
    };
    Ok(Reduction { value, axes, is_kept: call.int("keepdims", 1) != 0 })
}

/// Reduces what `before` makes of the value, in its type.
fn reduced(
    call: &Call<'_>,
    op: tnr_reduce_op,
    before: impl Fn(u32) -> Result<u32>,
    after: impl Fn(u32) -> Result<u32>,
) -> Outputs {
    let Reduction { value, axes, is_kept } = reduction(call)?;
    let build = call.build;
    let dtype = build.dtype(value)?;
    let made = before(value)?;
    let result = match axes {
        0 => made,
        _ => build.reduce(op, made, axes, is_kept)?,
    };
    // Sums of integers are wider here.
    call.one(build.cast(after(result)?, dtype)?)
}

macro_rules! reductions {
    ($($name:ident $op:ident;)*) => {$(
        pub(super) fn $name(call: &Call<'_>) -> Outputs {
            reduced(call, tnr_reduce_op::$op, Ok, Ok)
        }
    )*};
}

reductions! { reduce_sum SUM; reduce_prod PROD; }

macro_rules! extremes {
    ($($name:ident $op:ident;)*) => {$(
        pub(super) fn $name(call: &Call<'_>) -> Outputs {
            let is_flag = call.input(0)?.element_type().dtype == DType::BOOL8;
            let before = |value| match is_flag {
                true => call.build.cast(value, DType::U8),
                false => Ok(value),
            };
            reduced(call, tnr_reduce_op::$op, before, Ok)
        }
    )*};
}

extremes! { reduce_min MIN; reduce_max MAX; }

pub(super) fn reduce_mean(call: &Call<'_>) -> Outputs {
    reduced(call, tnr_reduce_op::MEAN, Ok, Ok)
}

pub(super) fn reduce_log_sum_exp(call: &Call<'_>) -> Outputs {
    let before = |value| match is_float(call.build.dtype(value)?) {
        true => Ok(value),
        false => call.build.cast(value, DType::F64),
    };
    reduced(call, tnr_reduce_op::LOGSUMEXP, before, Ok)
}

pub(super) fn reduce_l1(call: &Call<'_>) -> Outputs {
    reduced(call, tnr_reduce_op::SUM, |value| call.build.unary(tnr_unary_op::ABS, value), Ok)
}

/// Integers are added in f64, because their squares would wrap.
pub(super) fn reduce_l2(call: &Call<'_>) -> Outputs {
    let build = call.build;
    let before = |value| {
        let is_real = is_float(build.dtype(value)?);
        let value = if is_real { value } else { build.cast(value, DType::F64)? };
        build.unary(tnr_unary_op::SQUARE, value)
    };
    reduced(call, tnr_reduce_op::SUM, before, |value| build.unary(tnr_unary_op::SQRT, value))
}

pub(super) fn reduce_log_sum(call: &Call<'_>) -> Outputs {
    let build = call.build;
    let after = |value| match is_float(build.dtype(value)?) {
        true => build.unary(tnr_unary_op::LN, value),
        false => build.unary(tnr_unary_op::LN, build.cast(value, DType::F64)?),
    };
    reduced(call, tnr_reduce_op::SUM, Ok, after)
}

pub(super) fn reduce_sum_square(call: &Call<'_>) -> Outputs {
    let square = |value| call.build.binary(tnr_binary_op::MUL, value, value);
    reduced(call, tnr_reduce_op::SUM, square, Ok)
}

pub(super) fn arg_max(call: &Call<'_>) -> Outputs {
    position(call, tnr_reduce_op::ARGMAX)
}

pub(super) fn arg_min(call: &Call<'_>) -> Outputs {
    position(call, tnr_reduce_op::ARGMIN)
}

/// The first place of an extreme, or the last one.
fn position(call: &Call<'_>, op: tnr_reduce_op) -> Outputs {
    let (build, mut value) = (call.build, call.value(0)?);
    let axis = call.axis(0, build.rank(value)?)?;
    let is_last = call.int("select_last_index", 0) != 0;
    if is_last {
        value = flipped(call, value, axis)?;
    }
    let is_kept = call.int("keepdims", 1) != 0;
    let mut place = build.cast(build.reduce(op, value, 1 << axis, is_kept)?, DType::I64)?;
    if is_last {
        let last = build.scalar(DType::I64, call.extent(value, axis)? as f64 - 1.0)?;
        place = build.binary(tnr_binary_op::SUB, last, place)?;
    }
    call.one(place)
}

/// Values and their places, in order also where that is not asked for.
pub(super) fn top_k(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let axis = call.axis(-1, build.rank(value)?)?;
    let count = match call.attribute("k") {
        Some(attribute) => Number::Int(attribute.i),
        None => call.numbers(1)?.first().copied().unwrap_or(Number::Int(0)),
    };
    let flags = if call.int("largest", 1) != 0 { 0 } else { TNR_TOP_K_SMALLEST };
    let numbers = [axis as i64, count.encoded()?];
    let ranked = |result: tnr_order_result| {
        let attributes = (flags != 0).then(|| Attributes::Sort(flags_of_node(flags)));
        build.node(TNR_NODE_TOP_K | result.0 as u32, &[value], &numbers, attributes)
    };
    let values = ranked(tnr_order_result::VALUES)?;
    let places = build.cast(ranked(tnr_order_result::INDICES)?, DType::I64)?;
    Ok(vec![Value::Graph(values, call.input(0)?.element_type()), call.typed(places)?])
}

pub(super) fn cum_sum(call: &Call<'_>) -> Outputs {
    let (build, mut value) = (call.build, call.value(0)?);
    let dtype = build.dtype(value)?;
    let axis = crate::program::onnx::call::axis_of(call.float_of(1)? as i64, build.rank(value)?)?;
    let is_reversed = call.int("reverse", 0) != 0;
    if is_reversed {
        value = flipped(call, value, axis)?;
    }
    if call.int("exclusive", 0) != 0 {
        let mut sides = vec![[0, 0]; build.rank(value)?];
        sides[axis] = [1, -1];
        let mode = tenure_sys::tnr_pad_mode::CONSTANT;
        value = super::movement::padded(build, value, &sides, mode, Some(0.0))?;
    }
    let code = TNR_NODE_SCAN | tnr_scan_op::SUM.0 as u32;
    let mut summed = build.node(code, &[value], &[axis as i64], None)?;
    if is_reversed {
        summed = flipped(call, summed, axis)?;
    }
    call.one(build.cast(summed, dtype)?)
}
