//! Element-wise operators: functions, arithmetic, comparisons, casts.

use tenure_sys::{tnr_binary_op, tnr_compare_op, tnr_unary_op};

use crate::dtype::DType;
use crate::error::Result;
use crate::program::onnx::build::Build;
use crate::program::onnx::call::{Call, Outputs, unsupported};
use crate::program::onnx::number::{Arithmetic, Number};
use crate::program::onnx::tensor::ElementType;
use crate::program::onnx::value::Value;

macro_rules! unary {
    ($($name:ident $op:ident;)*) => {$(
        pub(super) fn $name(call: &Call<'_>) -> Outputs {
            call.one(call.build.unary(tnr_unary_op::$op, call.value(0)?)?)
        }
    )*};
}

unary! {
    abs ABS; acos ACOS; acosh ACOSH; asin ASIN; asinh ASINH; atan ATAN; atanh ATANH; ceil CEIL;
    bitwise_not BIT_NOT; cos COS; cosh COSH; erf ERF; exp EXP; floor FLOOR; hard_swish HARDSWISH;
    is_nan IS_NAN; log LN; neg NEG; not LOGICAL_NOT; reciprocal RECIPROCAL; round ROUND;
    sigmoid SIGMOID; sign SIGN; sin SIN; sinh SINH; softplus SOFTPLUS; softsign SOFTSIGN; sqrt SQRT;
    tan TAN; tanh TANH;
}

macro_rules! binary {
    ($($name:ident $op:ident;)*) => {$(
        pub(super) fn $name(call: &Call<'_>) -> Outputs {
            let [a, b] = both(call)?;
            call.one(call.build.binary(tnr_binary_op::$op, a, b)?)
        }
    )*};
}

binary! {
    and LOGICAL_AND; or LOGICAL_OR; xor LOGICAL_XOR;
    bitwise_and BIT_AND; bitwise_or BIT_OR; bitwise_xor BIT_XOR;
}

/// Two operands. Up to version 6, which is not read, they could broadcast otherwise.
fn both(call: &Call<'_>) -> Result<[u32; 2]> {
    Ok([call.value(0)?, call.value(1)?])
}

macro_rules! arithmetic {
    ($($name:ident $op:ident $of_numbers:ident;)*) => {$(
        pub(super) fn $name(call: &Call<'_>) -> Outputs {
            if let Some(known) = of_numbers(call, Arithmetic::$of_numbers)? {
                return Ok(known);
            }
            let [a, b] = both(call)?;
            call.one(call.build.binary(tnr_binary_op::$op, a, b)?)
        }
    )*};
}

arithmetic! { add ADD Add; sub SUB Sub; mul MUL Mul; div DIV Div; }

macro_rules! extremes {
    ($($name:ident $op:ident $of_numbers:ident;)*) => {$(
        pub(super) fn $name(call: &Call<'_>) -> Outputs {
            if let Some(known) = of_numbers(call, Arithmetic::$of_numbers)? {
                return Ok(known);
            }
            folded(call, |a, b| call.build.binary(tnr_binary_op::$op, a, b))
        }
    )*};
}

extremes! { min MIN Min; max MAX Max; }

/// All inputs, two by two.
fn folded(call: &Call<'_>, combine: impl Fn(u32, u32) -> Result<u32>) -> Outputs {
    let mut values = call.values()?.into_iter();
    let first = values.next().map_or_else(|| call.value(0), Ok)?;
    call.one(values.try_fold(first, combine)?)
}

pub(super) fn sum(call: &Call<'_>) -> Outputs {
    folded(call, |a, b| call.build.binary(tnr_binary_op::ADD, a, b))
}

pub(super) fn mean(call: &Call<'_>) -> Outputs {
    let total = folded(call, |a, b| call.build.binary(tnr_binary_op::ADD, a, b))?;
    let total = call.build.value(&total[0])?;
    call.one(call.build.with(tnr_binary_op::DIV, total, call.inputs.len() as f64)?)
}

/// A shape, and two integers at each place of it.
type Pairs = (Vec<usize>, Vec<[Number; 2]>);

/// The pairs of both operands, which are known up to extents of a run.
fn pairs(call: &Call<'_>) -> Result<Option<Pairs>> {
    let [Some(a), Some(b)] = &call.inputs[..] else { return Ok(None) };
    let (Some((a_shape, a)), Some((b_shape, b))) = (a.numbers(), b.numbers()) else {
        return Ok(None);
    };
    let is_open = a.iter().chain(&b).any(|number| number.int().is_none());
    // Integers without extents are computed by a program.
    let shape = match () {
        () if !is_open => return Ok(None),
        () if a_shape == b_shape || b.len() == 1 && b_shape.len() <= a_shape.len() => a_shape,
        () if a.len() == 1 && a_shape.len() <= b_shape.len() => b_shape,
        () => return Ok(None),
    };
    let len = a.len().max(b.len());
    let at = |numbers: &[Number], nth: usize| numbers[if numbers.len() == 1 { 0 } else { nth }];
    Ok(Some((shape, (0..len).map(|nth| [at(&a, nth), at(&b, nth)]).collect())))
}

fn of_numbers(call: &Call<'_>, op: Arithmetic) -> Result<Option<Vec<Value>>> {
    let Some((shape, pairs)) = pairs(call)? else { return Ok(None) };
    let dtype = call.input(0)?.element_type().dtype;
    let numbers = pairs.into_iter().map(|[a, b]| call.build.arithmetic(op, a, b));
    call.known(dtype, shape, numbers.collect::<Result<_>>()?).map(Some)
}

pub(super) fn pow(call: &Call<'_>) -> Outputs {
    let [a, b] = both(call)?;
    let build = call.build;
    let [of_a, of_b] = [build.dtype(a)?, build.dtype(b)?];
    // The result is of the type of the base; a power that is no integer makes it a float before.
    let at = if is_float(of_b) && !is_float(of_a) { DType::F64 } else { of_a };
    let power = build.binary(tnr_binary_op::POW, build.cast(a, at)?, build.cast(b, at)?)?;
    call.one(build.cast(power, of_a)?)
}

pub(super) fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F64 | DType::F32 | DType::F16 | DType::BF16)
}

/// The remainder, of the sign of the dividend by `fmod`, else of the divisor.
pub(super) fn modulo(call: &Call<'_>) -> Outputs {
    let [a, b] = both(call)?;
    let build = call.build;
    let rest = build.binary(tnr_binary_op::REM, a, b)?;
    if call.int("fmod", 0) != 0 {
        return call.one(rest);
    }
    let zero = build.scalar(build.dtype(a)?, 0.0)?;
    let is_negative = |value| build.compare(tnr_compare_op::LT, value, zero);
    let differs = build.binary(tnr_binary_op::LOGICAL_XOR, is_negative(rest)?, is_negative(b)?)?;
    let is_rest = build.compare(tnr_compare_op::NE, rest, zero)?;
    let moves = build.binary(tnr_binary_op::LOGICAL_AND, differs, is_rest)?;
    call.one(build.select(moves, build.binary(tnr_binary_op::ADD, rest, b)?, rest)?)
}

pub(super) fn bit_shift(call: &Call<'_>) -> Outputs {
    let op = match call.text("direction") {
        Some(b"LEFT") => tnr_binary_op::SHIFT_LEFT,
        Some(b"RIGHT") => tnr_binary_op::SHIFT_RIGHT,
        _ => return unsupported("the direction is neither LEFT nor RIGHT"),
    };
    let [a, b] = both(call)?;
    call.one(call.build.binary(op, a, b)?)
}

macro_rules! compare {
    ($($name:ident $op:ident;)*) => {$(
        pub(super) fn $name(call: &Call<'_>) -> Outputs {
            let [a, b] = both(call)?;
            call.one(call.build.compare(tnr_compare_op::$op, a, b)?)
        }
    )*};
}

compare! { greater GT; greater_or_equal GE; less LT; less_or_equal LE; }

pub(super) fn equal(call: &Call<'_>) -> Outputs {
    if let Some((shape, pairs)) = pairs(call)? {
        // Whether an extent is a number that it may be, each run decides.
        let known = pairs.iter().map(|pair| match pair {
            [a, b] if a == b => Some(Number::Int(1)),
            [_, Number::Int(..=-1)] | [Number::Int(..=-1), _] => Some(Number::Int(0)),
            [Number::Int(_), Number::Int(_)] => Some(Number::Int(0)),
            _ => None,
        });
        if let Some(known) = known.collect() {
            return call.known(DType::BOOL8, shape, known);
        }
    }
    let [a, b] = both(call)?;
    call.one(call.build.compare(tnr_compare_op::EQ, a, b)?)
}

pub(super) fn select(call: &Call<'_>) -> Outputs {
    let parts = [call.input(0)?, call.input(1)?, call.input(2)?].map(Value::numbers);
    if let [Some((shape, condition)), Some((_, a)), Some((_, b))] = parts {
        let flags: Option<Vec<i64>> = condition.into_iter().map(Number::int).collect();
        let is_open = a.iter().chain(&b).any(|number| number.int().is_none());
        match flags {
            Some(flags) if is_open && flags.len() == a.len() && a.len() == b.len() => {
                let pick = |(nth, flag): (usize, &i64)| if *flag != 0 { a[nth] } else { b[nth] };
                let dtype = call.input(1)?.element_type().dtype;
                return call.known(dtype, shape, flags.iter().enumerate().map(pick).collect());
            }
            _ => {}
        }
    }
    let (condition, a, b) = (call.value(0)?, call.value(1)?, call.value(2)?);
    call.like(call.build.select(condition, a, b)?, call.input(1)?.element_type())
}

pub(super) fn identity(call: &Call<'_>) -> Outputs {
    Ok(vec![call.input(0)?.clone()])
}

/// Inference gives the input, and a mask of true flags.
pub(super) fn dropout(call: &Call<'_>) -> Outputs {
    if call.given(2).is_some() && call.floats(2)? != [0.0] {
        return unsupported("it is dropout of training");
    }
    let mut results = vec![call.input(0)?.clone()];
    if call.asks_for(1) {
        let (build, sizes) = (call.build, call.build.sizes(call.value(0)?)?);
        let of_mask =
            if call.version < 10 { call.input(0)?.element_type().dtype } else { DType::BOOL8 };
        let mask = build.broadcast(build.element(of_mask, 1.0, &[])?, &sizes)?;
        results.push(call.typed(mask)?);
    }
    Ok(results)
}

pub(super) fn cast(call: &Call<'_>) -> Outputs {
    let to = i32::try_from(call.int("to", 0)).unwrap_or(0);
    cast_to(call, ElementType::of(to)?)
}

pub(super) fn cast_like(call: &Call<'_>) -> Outputs {
    cast_to(call, call.input(1)?.element_type())
}

fn cast_to(call: &Call<'_>, to: ElementType) -> Outputs {
    let value = call.input(0)?;
    if let (Some((shape, numbers)), DType::I64 | DType::I32) = (value.numbers(), to.dtype) {
        if numbers.iter().any(|number| number.int().is_none()) {
            return call.known(to.dtype, shape, numbers);
        }
    }
    let (build, from) = (call.build, value.element_type());
    if to.narrow_bits.is_some() && from != to {
        return unsupported("casts to integers of 2 or 4 bits");
    }
    let value = build.value(value)?;
    let is_wrapping = is_float(from.dtype) && to.range().is_some();
    if is_wrapping {
        // Numbers that the type does not have are undefined in ONNX; i32 keeps the low bits of most.
        let wide = build.cast(value, DType::I32)?;
        return call.like(build.cast(wide, to.dtype)?, to);
    }
    call.like(build.cast(value, to.dtype)?, to)
}

/// Clips to two bounds, one or both of them may be missing.
pub(super) fn clip(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let bound = |name: &str, at: usize| match call.attribute(name) {
        Some(attribute) => build.scalar(build.dtype(value)?, f64::from(attribute.f)).map(Some),
        None => call.given_value(at),
    };
    let mut clipped = value;
    if let Some(least) = bound("min", 1)? {
        clipped = build.binary(tnr_binary_op::MAX, clipped, least)?;
    }
    if let Some(most) = bound("max", 2)? {
        clipped = build.binary(tnr_binary_op::MIN, clipped, most)?;
    }
    call.one(clipped)
}

pub(super) fn is_inf(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let infinite = build.unary(tnr_unary_op::IS_INF, value)?;
    let zero = build.scalar(build.dtype(value)?, 0.0)?;
    let signed = |op| {
        let has_sign = build.compare(op, value, zero)?;
        build.binary(tnr_binary_op::LOGICAL_AND, infinite, has_sign)
    };
    match [call.int("detect_negative", 1) != 0, call.int("detect_positive", 1) != 0] {
        [true, true] => call.one(infinite),
        [true, false] => call.one(signed(tnr_compare_op::LT)?),
        [false, true] => call.one(signed(tnr_compare_op::GT)?),
        [false, false] => {
            let not = build.unary(tnr_unary_op::LOGICAL_NOT, infinite)?;
            call.one(build.binary(tnr_binary_op::LOGICAL_AND, infinite, not)?)
        }
    }
}

pub(super) use super::activations::{
    celu, elu, gelu, hard_sigmoid, leaky_relu, mish, prelu, relu, selu, shrink, swish,
    thresholded_relu,
};

/// The smallest value where `value` is negative, and `value` elsewhere.
pub(super) fn where_negative(build: &Build, value: u32, other: u32) -> Result<u32> {
    let zero = build.scalar(build.dtype(value)?, 0.0)?;
    build.select(build.compare(tnr_compare_op::LT, value, zero)?, other, value)
}
