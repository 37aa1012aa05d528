//! Softmax, and normalizations by means and variances.

use tenure_sys::{
    TNR_NODE_BATCH_NORM, TNR_NODE_NORMALIZE, TNR_OPERAND_NONE, tnr_batch_norm_attributes,
    tnr_binary_op, tnr_normalize_attributes, tnr_normalize_op, tnr_reduce_op, tnr_unary_op,
};

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::program::calls::graph_record::Attributes;
use crate::program::onnx::build::Build;
use crate::program::onnx::call::{Call, Outputs, axis_of, unsupported};
use crate::program::onnx::number::Number;

pub(super) fn softmax(call: &Call<'_>) -> Outputs {
    along(call, tnr_normalize_op::SOFTMAX)
}

pub(super) fn log_softmax(call: &Call<'_>) -> Outputs {
    along(call, tnr_normalize_op::LOG_SOFTMAX)
}

/// Along an axis; before version 13 over all axes from it on.
fn along(call: &Call<'_>, op: tnr_normalize_op) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let sizes = build.sizes(value)?;
    let axis = call.axis(if call.version < 13 { 1 } else { -1 }, sizes.len())?;
    let code = TNR_NODE_NORMALIZE | op.0 as u32;
    if call.version >= 13 {
        let operands = [value, TNR_OPERAND_NONE, TNR_OPERAND_NONE];
        return call.one(build.over(code, &operands, 1 << axis, None)?);
    }
    let (before, after) = sizes.split_at(axis);
    let flat = build.reshape(value, &[call.product(before)?, call.product(after)?])?;
    let made = build.over(code, &[flat, TNR_OPERAND_NONE, TNR_OPERAND_NONE], 0b10, None)?;
    call.one(build.reshape(made, &sizes)?)
}

/// A normalization without weights over the axes of a mask.
fn normalized(build: &Build, op: tnr_normalize_op, value: u32, axes: u32, eps: f64) -> Result<u32> {
    weighted(build, op, [value, TNR_OPERAND_NONE, TNR_OPERAND_NONE], axes, eps)
}

fn weighted(
    build: &Build,
    op: tnr_normalize_op,
    operands: [u32; 3],
    axes: u32,
    eps: f64,
) -> Result<u32> {
    let attributes = tnr_normalize_attributes {
        struct_size: size_of::<tnr_normalize_attributes>() as u64,
        eps,
        weight: std::ptr::null(),
        bias: std::ptr::null(),
    };
    let code = TNR_NODE_NORMALIZE | op.0 as u32;
    build.over(code, &operands, axes, Some(Attributes::Normalize(attributes)))
}

/// The mask of the axes from one on.
fn from_axis(axis: usize, rank: usize) -> u32 {
    (axis..rank).fold(0, |mask, axis| mask | 1 << axis)
}

/// `value * weight + bias`, where they are given.
fn scaled(build: &Build, value: u32, weight: Option<u32>, bias: Option<u32>) -> Result<u32> {
    let mut value = value;
    if let Some(weight) = weight {
        value = build.binary(tnr_binary_op::MUL, value, weight)?;
    }
    if let Some(bias) = bias {
        value = build.binary(tnr_binary_op::ADD, value, bias)?;
    }
    Ok(value)
}

pub(super) fn layer_normalization(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let rank = build.rank(value)?;
    let axis = call.axis(-1, rank)?;
    let (axes, eps) = (from_axis(axis, rank), call.float("epsilon", 1e-5));
    let (weight, bias) = (call.given_value(1)?, call.given_value(2)?);
    let mut are_vectors = true;
    for vector in [weight, bias].into_iter().flatten() {
        are_vectors &= build.sizes(vector)? == build.sizes(value)?[rank - 1..];
    }
    let op = tnr_normalize_op::LAYER_NORM;
    let result = if axis == rank - 1 && are_vectors {
        let [weight, bias] = [weight, bias].map(|vector| vector.unwrap_or(TNR_OPERAND_NONE));
        weighted(build, op, [value, weight, bias], axes, eps)?
    } else {
        scaled(build, normalized(build, op, value, axes, eps)?, weight, bias)?
    };
    let mut results = vec![call.typed(result)?];
    if call.asks_for(1) || call.asks_for(2) {
        // Means and deviations are f32 for narrower types too.
        let wide = if build.dtype(value)? == DType::F64 { DType::F64 } else { DType::F32 };
        let value = build.cast(value, wide)?;
        results.push(call.typed(build.reduce(tnr_reduce_op::MEAN, value, axes, true)?)?);
        let var = build.reduce(tnr_reduce_op::VAR, value, axes, true)?;
        let moved = build.with(tnr_binary_op::ADD, var, eps)?;
        results.push(call.typed(build.unary(tnr_unary_op::RSQRT, moved)?)?);
    }
    Ok(results)
}

pub(super) fn rms_normalization(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let rank = build.rank(value)?;
    let axes = from_axis(call.axis(-1, rank)?, rank);
    let eps = call.float("epsilon", 1e-5);
    let made = normalized(build, tnr_normalize_op::RMS_NORM, value, axes, eps)?;
    call.one(scaled(build, made, call.given_value(1)?, None)?)
}

/// A vector with an element for each channel, as a factor of `value`.
pub(super) fn of_channels(build: &Build, vector: u32, rank: usize) -> Result<u32> {
    let mut sizes = vec![Number::Int(1); rank];
    let size = *build.sizes(vector)?.first().unwrap_or(&Number::Int(1));
    *sizes.get_mut(1).ok_or_else(|| Error::invalid("it has no axis of channels"))? = size;
    build.reshape(vector, &sizes)
}

pub(super) fn batch_normalization(call: &Call<'_>) -> Outputs {
    call.require("training_mode", 0)?;
    call.require("spatial", 1)?;
    if call.asks_for(1) {
        return unsupported("results of training");
    }
    let (build, value) = (call.build, call.value(0)?);
    let eps = call.float("epsilon", 1e-5);
    let [weight, bias, mean, var] =
        [call.value(1)?, call.value(2)?, call.value(3)?, call.value(4)?];
    let dtype = build.dtype(value)?;
    let of = [weight, bias, mean, var].map(|vector| build.cast(vector, dtype));
    let [weight, bias, mean, var] = of;
    let (weight, bias, mean, var) = (weight?, bias?, mean?, var?);
    let rank = build.rank(value)?;
    if rank == 4 {
        let struct_size = size_of::<tnr_batch_norm_attributes>() as u64;
        let attributes = Attributes::BatchNorm(tnr_batch_norm_attributes { struct_size, eps });
        let operands = [value, mean, var, weight, bias];
        return call.one(build.node(TNR_NODE_BATCH_NORM, &operands, &[], Some(attributes))?);
    }
    let centred = build.binary(tnr_binary_op::SUB, value, of_channels(build, mean, rank)?)?;
    let deviation = build.unary(tnr_unary_op::SQRT, build.with(tnr_binary_op::ADD, var, eps)?)?;
    let factor = build.binary(tnr_binary_op::DIV, weight, deviation)?;
    let factor = of_channels(build, factor, rank)?;
    call.one(scaled(build, centred, Some(factor), Some(of_channels(build, bias, rank)?))?)
}

pub(super) fn instance_normalization(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let rank = build.rank(value)?;
    let eps = call.float("epsilon", 1e-5);
    let axes = from_axis(2, rank);
    if axes == 0 {
        return Err(Error::invalid("it has no axes behind the channels"));
    }
    let made = normalized(build, tnr_normalize_op::LAYER_NORM, value, axes, eps)?;
    let weight = of_channels(build, call.value(1)?, rank)?;
    let bias = of_channels(build, call.value(2)?, rank)?;
    call.one(scaled(build, made, Some(weight), Some(bias))?)
}

pub(super) fn group_normalization(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let sizes = build.sizes(value)?;
    let (eps, groups) = (call.float("epsilon", 1e-5), call.int("num_groups", 0));
    let channels = call.extent(value, 1)? as i64;
    if groups < 1 || channels % groups != 0 {
        return Err(Error::invalid(format!("{groups} groups of {channels} channels")));
    }
    let rest = call.product(&sizes[2..])?;
    let per_group = call.product(&[Number::Int(channels / groups), rest])?;
    let grouped = build.reshape(value, &[sizes[0], Number::Int(groups), per_group])?;
    let made = normalized(build, tnr_normalize_op::LAYER_NORM, grouped, 0b100, eps)?;
    let of_group = |at: usize| {
        // Version 18 has one factor for each group.
        let vector = call.value(at)?;
        match call.version < 21 && build.sizes(vector)? == [Number::Int(groups)] {
            true => build.reshape(vector, &[1, groups, 1].map(Number::Int)),
            false => Ok(vector),
        }
    };
    let [weight, bias] = [of_group(1)?, of_group(2)?];
    if build.rank(weight)? == 3 {
        let made = scaled(build, made, Some(weight), Some(bias))?;
        return call.one(build.reshape(made, &sizes)?);
    }
    let made = build.reshape(made, &sizes)?;
    let [weight, bias] = [weight, bias].map(|vector| of_channels(build, vector, sizes.len()));
    call.one(scaled(build, made, Some(weight?), Some(bias?))?)
}

pub(super) fn lp_normalization(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let axis = axis_of(call.int("axis", -1), build.rank(value)?)?;
    let sum = |value| build.reduce(tnr_reduce_op::SUM, value, 1 << axis, true);
    let norm = match call.int("p", 2) {
        1 => sum(build.unary(tnr_unary_op::ABS, value)?)?,
        2 => build.unary(tnr_unary_op::SQRT, sum(build.unary(tnr_unary_op::SQUARE, value)?)?)?,
        other => return unsupported(format!("p is {other}")),
    };
    // Zeros stay zeros.
    let dtype = build.dtype(value)?;
    let (zero, one) = (build.scalar(dtype, 0.0)?, build.scalar(dtype, 1.0)?);
    let is_zero = build.compare(tenure_sys::tnr_compare_op::EQ, norm, zero)?;
    let divisor = build.select(is_zero, one, norm)?;
    call.one(build.binary(tnr_binary_op::DIV, value, divisor)?)
}

pub(super) fn mean_variance_normalization(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let axes = call.list("axes").unwrap_or(&[0, 2, 3]);
    let axes = crate::program::onnx::call::mask_of(axes, build.rank(value)?)?;
    let mean = build.reduce(tnr_reduce_op::MEAN, value, axes, true)?;
    let var = build.reduce(tnr_reduce_op::VAR, value, axes, true)?;
    let deviation = build.with(tnr_binary_op::ADD, build.unary(tnr_unary_op::SQRT, var)?, 1e-9)?;
    let centred = build.binary(tnr_binary_op::SUB, value, mean)?;
    call.one(build.binary(tnr_binary_op::DIV, centred, deviation)?)
}
