//! Operators of quantized numbers. Sums are exact, and numbers are rounded to nearest, ties to even.
//! Numbers of f32 and integers of 8 bits have nodes of their own; the others are made of nodes for
//! floats and integers.

use tenure_sys::{
    TNR_NODE_DEQUANTIZE, TNR_NODE_QUANTIZE, TNR_NODE_QUANTIZED_MATMUL, TNR_OPERAND_NONE,
    tnr_binary_op, tnr_compare_op, tnr_reduce_op, tnr_unary_op,
};

use super::images::convolved;
use super::products::multiplied;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::program::onnx::build::Build;
use crate::program::onnx::call::{Call, Outputs, axis_of, unsupported};
use crate::program::onnx::number::Number;
use crate::program::onnx::tensor::ElementType;
use crate::program::onnx::value::Value;

/// A scale or zero point, in the shape in which it broadcasts to that of `value`: of all numbers,
/// along an axis, or of blocks along it.
fn spread(call: &Call<'_>, value: u32, parameter: u32) -> Result<u32> {
    let build = call.build;
    let (sizes, of) = (build.sizes(value)?, build.sizes(parameter)?);
    let count = call.product(&of)?;
    if count == Number::Int(1) {
        return build.reshape(parameter, &[]);
    }
    let axis = axis_of(call.int("axis", 1), sizes.len())?;
    match (call.int("block_size", 0), of.len()) {
        (0, 1) => {
            let mut spread = vec![Number::Int(1); sizes.len()];
            spread[axis] = of[0];
            build.reshape(parameter, &spread)
        }
        (block @ 1.., rank) if rank == sizes.len() => {
            let mut wide = of.clone();
            wide.insert(axis + 1, Number::Int(1));
            let single = build.reshape(parameter, &wide)?;
            wide[axis + 1] = Number::Int(block);
            let mut joined = of;
            joined[axis] = call.product(&[joined[axis], Number::Int(block)])?;
            let blocks = build.reshape(build.broadcast(single, &wide)?, &joined)?;
            // The last block may be shorter.
            match joined[axis] == sizes[axis] {
                true => Ok(blocks),
                false => build.slice(blocks, axis, [Number::Int(0), sizes[axis], Number::Int(1)]),
            }
        }
        _ => Err(Error::invalid("the scales are neither of one axis nor of blocks")),
    }
}

/// Integers of 8 bits, whose scales are f32, by one node: from or to numbers of f32.
fn by_node(
    build: &Build,
    code: u32,
    [value, scale]: [u32; 2],
    zero: Option<u32>,
    [integers, to]: [ElementType; 2],
) -> Result<Option<u32>> {
    let of_numbers = if code == TNR_NODE_QUANTIZE { build.dtype(value)? } else { to.dtype };
    if !integers.is_byte() || of_numbers != DType::F32 || build.dtype(scale)? != DType::F32 {
        return Ok(None);
    }
    let zero = match zero {
        Some(zero) if build.sizes(zero)? != build.sizes(scale)? => return Ok(None),
        Some(zero) => zero,
        None => TNR_OPERAND_NONE,
    };
    build.typed_node(code, &[value, scale, zero], to.dtype).map(Some)
}

/// `round(value / scale) + zero`, saturated to the type. All numbers are f32.
fn quantized(
    build: &Build,
    value: u32,
    scale: u32,
    zero: Option<u32>,
    of: ElementType,
) -> Result<u32> {
    if let Some(integers) = by_node(build, TNR_NODE_QUANTIZE, [value, scale], zero, [of, of])? {
        return Ok(integers);
    }
    let divided = build.binary(tnr_binary_op::DIV, value, scale)?;
    rounded(build, divided, zero, of)
}

fn rounded(build: &Build, value: u32, zero: Option<u32>, of: ElementType) -> Result<u32> {
    let Some((least, most)) = of.range() else {
        return unsupported(format!("numbers quantized to {}", of.dtype));
    };
    let mut rounded = build.unary(tnr_unary_op::ROUND, value)?;
    if let Some(zero) = zero {
        let zero = build.cast(zero, build.dtype(value)?)?;
        rounded = build.binary(tnr_binary_op::ADD, rounded, zero)?;
    }
    let clipped = build.with(tnr_binary_op::MAX, rounded, least)?;
    build.cast(build.with(tnr_binary_op::MIN, clipped, most)?, of.dtype)
}

pub(super) fn quantize_linear(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let of = match (call.given(2), call.int("output_dtype", 0)) {
        (Some(zero), _) => zero.element_type(),
        (None, 0) => DType::U8.into(),
        (None, code) => ElementType::of(i32::try_from(code).unwrap_or(0))?,
    };
    let precision = match call.int("precision", 0) {
        0 => None,
        code => Some(ElementType::of(i32::try_from(code).unwrap_or(0))?.dtype),
    };
    let scale = spread(call, value, call.value(1)?)?;
    let zero = call.given_value(2)?.map(|zero| spread(call, value, zero)).transpose()?;
    let are_f32 = build.dtype(value)? == DType::F32 && build.dtype(scale)? == DType::F32;
    if matches!(precision, None | Some(DType::F32)) && are_f32 {
        return call.like(quantized(build, value, scale, zero, of)?, of);
    }
    let at = precision.unwrap_or(build.dtype(scale)?);
    let divided =
        build.binary(tnr_binary_op::DIV, build.cast(value, at)?, build.cast(scale, at)?)?;
    // A quotient of a narrow type is rounded to it, and its integers are exact in f32.
    let divided = if at == DType::F64 { divided } else { build.cast(divided, DType::F32)? };
    call.like(rounded(build, divided, zero, of)?, of)
}

pub(super) fn dequantize_linear(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let scale = spread(call, value, call.value(1)?)?;
    let to = match call.int("output_dtype", 0) {
        0 => build.dtype(scale)?,
        code => ElementType::of(i32::try_from(code).unwrap_or(0))?.dtype,
    };
    let zero = call.given_value(2)?.map(|zero| spread(call, value, zero)).transpose()?;
    let types = [call.input(0)?.element_type(), to.into()];
    if let Some(numbers) = by_node(build, TNR_NODE_DEQUANTIZE, [value, scale], zero, types)? {
        return call.one(numbers);
    }
    let mut integers = build.cast(value, DType::I32)?;
    if let Some(zero) = zero {
        let zero = build.cast(zero, DType::I32)?;
        integers = build.binary(tnr_binary_op::SUB, integers, zero)?;
    }
    let (at, scale) = match build.dtype(scale)? {
        DType::F64 => (DType::F64, scale),
        _ => (DType::F32, build.cast(scale, DType::F32)?),
    };
    let scaled = build.binary(tnr_binary_op::MUL, build.cast(integers, at)?, scale)?;
    call.one(build.cast(scaled, to)?)
}

/// To u8, with a range that includes 0.
pub(super) fn dynamic_quantize_linear(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let axes = (0..build.rank(value)?).fold(0, |mask, axis| mask | 1 << axis);
    let extreme = |op, bound| {
        let found = build.reduce(op, value, axes, false)?;
        build.with(bound, found, 0.0)
    };
    let most = extreme(tnr_reduce_op::MAX, tnr_binary_op::MAX)?;
    let least = extreme(tnr_reduce_op::MIN, tnr_binary_op::MIN)?;
    let range = build.binary(tnr_binary_op::SUB, most, least)?;
    let scale = build.with(tnr_binary_op::DIV, range, 255.0)?;
    // The scale of zeros is 1.
    let (none, one) = (build.scalar(DType::F32, 0.0)?, build.scalar(DType::F32, 1.0)?);
    let is_zero = build.compare(tnr_compare_op::EQ, scale, none)?;
    let scale = build.select(is_zero, one, scale)?;
    let of = ElementType::from(DType::U8);
    let negated = build.unary(tnr_unary_op::NEG, least)?;
    let zero = quantized(build, negated, scale, None, of)?;
    let integers = quantized(build, value, scale, Some(zero), of)?;
    Ok(vec![call.typed(integers)?, call.typed(scale)?, call.typed(zero)?])
}

/// The most products whose sums are exact.
const MOST_EXACT_DEPTH: usize = 33_025;

/// A factor of integers of 8 bits, as values of the graph.
#[derive(Clone, Copy)]
pub(in crate::program::onnx) struct Bytes {
    pub(in crate::program::onnx) values: u32,
    /// `None`: 1.
    pub(in crate::program::onnx) scales: Option<u32>,
    pub(in crate::program::onnx) zeros: Option<u32>,
}

/// The product of integers by a matrix, where its operands have the forms that the node takes, as
/// f32, or as integers of a scale and a zero point.
pub(in crate::program::onnx) fn product_of_bytes(
    call: &Call<'_>,
    factors: [Bytes; 2],
    result: Option<([u32; 2], DType)>,
) -> Result<Option<u32>> {
    let (build, right) = (call.build, factors[1].values);
    if build.rank(factors[0].values)? == 0 || build.rank(right)? != 2 {
        return Ok(None);
    }
    if build.largest(right)?[0] > MOST_EXACT_DEPTH {
        return Ok(None);
    }
    let mut operands = vec![factors[0].values, right];
    let mut all_zeros = Vec::new();
    for factor in factors {
        let scales = match factor.scales {
            Some(scales) => scales,
            None => build.element(DType::F32, 1.0, &[])?,
        };
        operands.push(scales);
        let Some(zeros) = factor.zeros else {
            all_zeros.push(TNR_OPERAND_NONE);
            continue;
        };
        // Zero points and scales have one shape.
        let (of_scales, of_zeros) = (build.sizes(scales)?, build.sizes(zeros)?);
        let is_one = call.product(&of_zeros)? == Number::Int(1);
        all_zeros.push(match (of_zeros == of_scales, is_one) {
            (true, _) => zeros,
            (false, true) => build.broadcast(build.reshape(zeros, &[])?, &of_scales)?,
            (false, false) => return Ok(None),
        });
    }
    operands.extend(all_zeros);
    let mut dtype = DType::F32;
    if let Some((scale_and_zero, of)) = result {
        operands.push(TNR_OPERAND_NONE);
        operands.extend(scale_and_zero);
        dtype = of;
    }
    build.typed_node(TNR_NODE_QUANTIZED_MATMUL, &operands, dtype).map(Some)
}

/// Whether a zero point is known to be 0, or is not given.
pub(in crate::program::onnx) fn is_zero(zero: Option<&Value>) -> bool {
    let known = zero.map(|zero| zero.numbers().map(|(_, numbers)| numbers));
    match known {
        None => true,
        Some(numbers) => numbers.is_some_and(|all| all.iter().all(|it| *it == Number::Int(0))),
    }
}

/// The exact product of bytes that have zero points, as i32: `(a - az) @ (b - bz)` by the product of
/// the bytes themselves, and sums of their rows and columns.
fn product(call: &Call<'_>, [a, b]: [usize; 2], [az, bz]: [usize; 2]) -> Result<u32> {
    let build = call.build;
    let (a, b) = (call.value(a)?, call.value(b)?);
    let rank = build.rank(a)?;
    let b_rank = build.rank(b)?;
    if rank < 2 || b_rank < 2 {
        return unsupported("factors that are vectors");
    }
    let mut product = multiplied(build, a, b)?;
    let sum = |value: u32, axis: usize| {
        let summed =
            build.reduce(tnr_reduce_op::SUM, build.cast(value, DType::I32)?, 1 << axis, true)?;
        build.cast(summed, DType::I32)
    };
    let subtracted = |product: u32, sums: u32, zero: u32| {
        let part = build.binary(tnr_binary_op::MUL, sums, zero)?;
        build.binary(tnr_binary_op::SUB, product, part)
    };
    // A zero point of each row of a is a column.
    let a_zero = match is_zero(call.given(az)) {
        true => None,
        false => {
            let zero = build.cast(call.value(az)?, DType::I32)?;
            Some(of_rows(build, zero)?)
        }
    };
    let b_zero = match is_zero(call.given(bz)) {
        true => None,
        false => Some(build.cast(call.value(bz)?, DType::I32)?),
    };
    if let Some(zero) = a_zero {
        product = subtracted(product, sum(b, b_rank - 2)?, zero)?;
    }
    if let Some(zero) = b_zero {
        product = subtracted(product, sum(a, rank - 1)?, zero)?;
    }
    if let (Some(a_zero), Some(b_zero)) = (a_zero, b_zero) {
        let depth = build.scalar(DType::I32, call.extent(a, rank - 1)? as f64)?;
        let both = build.binary(tnr_binary_op::MUL, a_zero, b_zero)?;
        let part = build.binary(tnr_binary_op::MUL, both, depth)?;
        product = build.binary(tnr_binary_op::ADD, product, part)?;
    }
    Ok(product)
}

pub(super) fn mat_mul_integer(call: &Call<'_>) -> Outputs {
    call.one(product(call, [0, 1], [2, 3])?)
}

/// `sums * (a * b / y)`, rounded.
fn requantized(call: &Call<'_>, sums: u32, scale: u32, [y, zero]: [usize; 2]) -> Outputs {
    let build = call.build;
    let of = call.input(zero)?.element_type();
    let y = build.cast(call.value(y)?, DType::F32)?;
    let factor = build.binary(tnr_binary_op::DIV, scale, single(call, y)?)?;
    let scaled = build.binary(tnr_binary_op::MUL, build.cast(sums, DType::F32)?, factor)?;
    let zero = single(call, call.value(zero)?)?;
    call.like(rounded(build, scaled, Some(zero), of)?, of)
}

/// One number, without axes.
fn single(call: &Call<'_>, value: u32) -> Result<u32> {
    match call.product(&call.build.sizes(value)?)? {
        Number::Int(1) => call.build.reshape(value, &[]),
        _ => unsupported("a scale or zero point of the result that is not one number"),
    }
}

pub(super) fn qlinear_mat_mul(call: &Call<'_>) -> Outputs {
    let build = call.build;
    let [a, b] = [call.value(1)?, call.value(4)?].map(|scale| build.cast(scale, DType::F32));
    let (a, b) = (of_rows(build, a?)?, b?);
    if let Some(integers) = qlinear_node(call, [a, b])? {
        return call.one(integers);
    }
    let sums = product(call, [0, 3], [2, 5])?;
    let scale = build.binary(tnr_binary_op::MUL, a, b)?;
    requantized(call, sums, scale, [6, 7])
}

/// A scale or zero point of each row as a column.
fn of_rows(build: &Build, parameter: u32) -> Result<u32> {
    match build.sizes(parameter)?[..] {
        [size] if size != Number::Int(1) => build.reshape(parameter, &[size, Number::Int(1)]),
        _ => Ok(parameter),
    }
}

/// `QLinearMatMul` of integers of 8 bits.
fn qlinear_node(call: &Call<'_>, [a, b]: [u32; 2]) -> Result<Option<u32>> {
    let build = call.build;
    let are_bytes =
        [0, 3, 7].map(|at| call.given(at).is_some_and(|it| it.element_type().is_byte()));
    if are_bytes.contains(&false) {
        return Ok(None);
    }
    let y = build.cast(call.value(6)?, DType::F32)?;
    let result = [single(call, y)?, single(call, call.value(7)?)?];
    let zeros = |at: usize| match is_zero(call.given(at)) {
        true => Ok(None),
        false => call.value(at).map(Some),
    };
    let a_zeros = zeros(2)?.map(|zeros| of_rows(build, zeros)).transpose()?;
    let factors = [
        Bytes { values: call.value(0)?, scales: Some(a), zeros: a_zeros },
        Bytes { values: call.value(3)?, scales: Some(b), zeros: zeros(5)? },
    ];
    product_of_bytes(call, factors, Some((result, build.dtype(result[1])?)))
}

/// The exact convolution of bytes that have zero points. Sums of products are exact in f32 up to
/// 2^24, and in f64 beyond.
fn convolution(call: &Call<'_>, [x, w]: [usize; 2], [xz, wz]: [usize; 2]) -> Result<u32> {
    let build = call.build;
    let (x, w) = (call.value(x)?, call.value(w)?);
    let filters = build.largest(w)?;
    let depth: usize = filters.iter().skip(1).product();
    let at = if depth <= (1 << 24) / (255 * 255) { DType::F32 } else { DType::F64 };
    let centred = |value: u32, zero: usize| {
        let value_at = build.cast(value, at)?;
        if is_zero(call.given(zero)) {
            return Ok(value_at);
        }
        let mut zero = build.cast(call.value(zero)?, at)?;
        let size = call.product(&build.sizes(zero)?)?;
        let mut sizes = vec![Number::Int(1); filters.len()];
        sizes[0] = size;
        zero = build.reshape(zero, &sizes)?;
        build.binary(tnr_binary_op::SUB, value_at, zero)
    };
    let sums = convolved(call, centred(x, xz)?, centred(w, wz)?, None)?;
    build.cast(sums, DType::I32)
}

pub(super) fn conv_integer(call: &Call<'_>) -> Outputs {
    call.one(convolution(call, [0, 1], [2, 3])?)
}

pub(super) fn qlinear_conv(call: &Call<'_>) -> Outputs {
    let build = call.build;
    let mut sums = convolution(call, [0, 3], [2, 5])?;
    let rank = build.rank(sums)?;
    if let Some(bias) = call.given_value(8)? {
        let bias = super::normalizations::of_channels(build, bias, rank)?;
        sums = build.binary(tnr_binary_op::ADD, sums, bias)?;
    }
    let [x, w] = [call.value(1)?, call.value(4)?].map(|scale| build.cast(scale, DType::F32));
    let (x, mut w) = (single(call, x?)?, w?);
    w = match call.product(&build.sizes(w)?)? {
        Number::Int(1) => build.reshape(w, &[])?,
        _ => super::normalizations::of_channels(build, w, rank)?,
    };
    let scale = build.binary(tnr_binary_op::MUL, x, w)?;
    requantized(call, sums, scale, [6, 7])
}
