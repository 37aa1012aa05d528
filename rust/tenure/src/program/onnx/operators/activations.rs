//! Activations that are made of other functions.

use tenure_sys::{tnr_binary_op, tnr_compare_op, tnr_unary_op};

use super::elementwise::{is_float, where_negative};
use crate::program::onnx::call::{Call, Outputs, unsupported};

pub(super) fn relu(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    match is_float(build.dtype(value)?) {
        true => call.one(build.unary(tnr_unary_op::RELU, value)?),
        false => call.one(build.with(tnr_binary_op::MAX, value, 0.0)?),
    }
}

pub(super) fn gelu(call: &Call<'_>) -> Outputs {
    let op = match call.text("approximate") {
        None | Some(b"none" | b"") => tnr_unary_op::GELU,
        Some(b"tanh") => tnr_unary_op::GELU_TANH,
        Some(_) => return unsupported("the approximation is neither none nor tanh"),
    };
    call.one(call.build.unary(op, call.value(0)?)?)
}

/// `alpha * x` where x is negative.
pub(super) fn leaky_relu(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let scaled = build.with(tnr_binary_op::MUL, value, call.float("alpha", 0.01))?;
    call.one(where_negative(build, value, scaled)?)
}

pub(super) fn prelu(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let scaled = build.binary(tnr_binary_op::MUL, value, call.value(1)?)?;
    call.one(where_negative(build, value, scaled)?)
}

/// `alpha * (exp(x) - 1)` where x is negative.
pub(super) fn elu(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let grown = build.unary(tnr_unary_op::EXPM1, value)?;
    let scaled = build.with(tnr_binary_op::MUL, grown, call.float("alpha", 1.0))?;
    call.one(where_negative(build, value, scaled)?)
}

pub(super) fn selu(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let grown = build.unary(tnr_unary_op::EXPM1, value)?;
    let alpha = call.float("alpha", 1.673_263_2);
    let scaled = build.with(tnr_binary_op::MUL, grown, alpha)?;
    let joined = where_negative(build, value, scaled)?;
    call.one(build.with(tnr_binary_op::MUL, joined, call.float("gamma", 1.050_701))?)
}

pub(super) fn celu(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let alpha = call.float("alpha", 1.0);
    let grown = build.unary(tnr_unary_op::EXPM1, build.with(tnr_binary_op::DIV, value, alpha)?)?;
    let scaled = build.with(tnr_binary_op::MUL, grown, alpha)?;
    let least = build.with(tnr_binary_op::MIN, scaled, 0.0)?;
    let most = build.with(tnr_binary_op::MAX, value, 0.0)?;
    call.one(build.binary(tnr_binary_op::ADD, most, least)?)
}

pub(super) fn hard_sigmoid(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let scaled = build.with(tnr_binary_op::MUL, value, call.float("alpha", 0.2))?;
    let moved = build.with(tnr_binary_op::ADD, scaled, call.float("beta", 0.5))?;
    let least = build.with(tnr_binary_op::MAX, moved, 0.0)?;
    call.one(build.with(tnr_binary_op::MIN, least, 1.0)?)
}

pub(super) fn thresholded_relu(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let dtype = build.dtype(value)?;
    let alpha = build.scalar(dtype, call.float("alpha", 1.0))?;
    let is_above = build.compare(tnr_compare_op::GT, value, alpha)?;
    call.one(build.select(is_above, value, build.scalar(dtype, 0.0)?)?)
}

pub(super) fn mish(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let factor = build.unary(tnr_unary_op::TANH, build.unary(tnr_unary_op::SOFTPLUS, value)?)?;
    call.one(build.binary(tnr_binary_op::MUL, value, factor)?)
}

pub(super) fn swish(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let scaled = build.with(tnr_binary_op::MUL, value, call.float("alpha", 1.0))?;
    let factor = build.unary(tnr_unary_op::SIGMOID, scaled)?;
    call.one(build.binary(tnr_binary_op::MUL, value, factor)?)
}

/// `x + bias` below `-lambd`, `x - bias` above `lambd`, and 0 between.
pub(super) fn shrink(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let (dtype, lambd, bias) =
        (build.dtype(value)?, call.float("lambd", 0.5), call.float("bias", 0.0));
    let below = build.compare(tnr_compare_op::LT, value, build.scalar(dtype, -lambd)?)?;
    let above = build.compare(tnr_compare_op::GT, value, build.scalar(dtype, lambd)?)?;
    let raised = build.with(tnr_binary_op::ADD, value, bias)?;
    let lowered = build.with(tnr_binary_op::SUB, value, bias)?;
    let rest = build.select(above, lowered, build.scalar(dtype, 0.0)?)?;
    call.one(build.select(below, raised, rest)?)
}
