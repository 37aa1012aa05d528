//! Operators that move elements.

use tenure_sys::{
    TNR_NODE_PAD, TNR_NODE_TAKE, TNR_NODE_TRIANGULAR, tnr_binary_op, tnr_pad_attributes,
    tnr_pad_mode, tnr_triangle, tnr_triangle_attributes,
};

use super::shapes::counted_up;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::program::calls::graph_record::Attributes;
use crate::program::onnx::build::{Build, scalar_of};
use crate::program::onnx::call::{Call, Outputs, axis_of, unsupported};
use crate::program::onnx::number::{Arithmetic, Number};
use crate::program::onnx::tensor::{Constant, ElementType};
use crate::program::onnx::value::Value;

pub(super) fn concat(call: &Call<'_>) -> Outputs {
    let parts: Option<Vec<_>> = call.inputs.iter().map(|it| it.as_ref()?.numbers()).collect();
    if let Some(parts) = parts.filter(|parts| parts.iter().all(|(shape, _)| shape.len() == 1)) {
        let dtype = call.input(0)?.element_type().dtype;
        if matches!(dtype, DType::I64 | DType::I32) {
            let joined: Vec<Number> = parts.into_iter().flat_map(|(_, numbers)| numbers).collect();
            return call.known(dtype, vec![joined.len()], joined);
        }
    }
    let values = call.values()?;
    let axis = call.axis(0, call.build.rank(call.value(0)?)?)?;
    call.like(call.build.concat(&values, axis)?, call.input(0)?.element_type())
}

pub(super) fn split(call: &Call<'_>) -> Outputs {
    let (build, value, of) = (call.build, call.value(0)?, call.input(0)?.element_type());
    let axis = call.axis(0, build.rank(value)?)?;
    let lengths = match call.list_or_input("split", 1)? {
        Some(lengths) => lengths,
        None => {
            let extent = call.extent(value, axis)?;
            let count = call.int("num_outputs", call.node.output.len() as i64);
            let count = usize::try_from(count).unwrap_or(0).max(1);
            if count > call.node.output.len() {
                return Err(Error::invalid(format!("there are less than {count} outputs")));
            }
            let most = extent.div_ceil(count);
            (0..count).map(|nth| (extent - (nth * most).min(extent)).min(most) as i64).collect()
        }
    };
    let mut start = 0_i64;
    let mut parts = Vec::new();
    for length in lengths {
        let stop = start.checked_add(length).filter(|_| length >= 0);
        let stop = stop.ok_or_else(|| Error::invalid(format!("a part has extent {length}")))?;
        let part = build.slice(value, axis, [start, stop, 1].map(Number::Int))?;
        parts.push(Value::Graph(part, of));
        start = stop;
    }
    match build.sizes(value)?[axis] {
        Number::Int(extent) if extent != start => {
            let why = format!("the parts have {start} elements but the axis has {extent}");
            Err(Error::invalid(why))
        }
        _ => Ok(parts),
    }
}

/// A bound of a slice, counted from the end where it is negative, from 0 to the extent.
fn bound(build: &Build, bound: Number, size: Number) -> Result<Number> {
    let counted = match bound {
        Number::Int(i64::MIN..0) => match (bound, size) {
            (Number::Int(bound), Number::Int(size)) => {
                Number::Int(bound.saturating_add(size).max(0))
            }
            _ => build.arithmetic(Arithmetic::Add, size, bound)?,
        },
        _ => bound,
    };
    build.arithmetic(Arithmetic::Min, counted, size)
}

pub(super) fn slice(call: &Call<'_>) -> Outputs {
    let numbers = |name: &str, at: usize| match (call.list(name), call.given(at)) {
        (Some(list), _) => Ok(Some(list.iter().map(|int| Number::Int(*int)).collect())),
        (None, Some(_)) => call.numbers(at).map(Some),
        (None, None) => Ok::<Option<Vec<Number>>, Error>(None),
    };
    let starts = numbers("starts", 1)?.unwrap_or_default();
    let ends = numbers("ends", 2)?.unwrap_or_default();
    let axes = call.list_or_input("axes", 3)?;
    let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = if call.given(4).is_some() { call.ints(4)? } else { vec![1; starts.len()] };
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err(Error::invalid("starts, ends, axes and steps have different lengths"));
    }
    if let (Value::Numbers(of), [start], [end], [0], [1]) =
        (call.input(0)?, &starts[..], &ends[..], &axes[..], &steps[..])
    {
        let len = Number::from(of.numbers.len());
        let part = [bound(call.build, *start, len)?, bound(call.build, *end, len)?];
        if let ([Number::Int(start), Number::Int(end)], 1) = (part, of.shape.len()) {
            let part = of.numbers[start as usize..end.max(start) as usize].to_vec();
            return call.known(of.dtype, vec![part.len()], part);
        }
    }
    let (build, mut value) = (call.build, call.value(0)?);
    let rank = build.rank(value)?;
    for (nth, axis) in axes.iter().enumerate() {
        let axis = axis_of(*axis, rank)?;
        let size = build.sizes(value)?[axis];
        let (start, end, step) = (starts[nth], ends[nth], steps[nth]);
        value = match step {
            0 => return Err(Error::invalid("a step is 0")),
            1.. => {
                let (start, end) = (bound(build, start, size)?, bound(build, end, size)?);
                let end = match (start, end) {
                    (Number::Int(start), Number::Int(end)) => Number::Int(end.max(start)),
                    (Number::Int(0), end) => end,
                    _ => build.arithmetic(Arithmetic::Max, end, start)?,
                };
                build.slice(value, axis, [start, end, Number::Int(step)])?
            }
            _ => backwards(call, value, axis, [start, end], step)?,
        };
    }
    call.like(value, call.input(0)?.element_type())
}

/// A slice with a negative step, by the indices of its elements.
fn backwards(
    call: &Call<'_>,
    value: u32,
    axis: usize,
    part: [Number; 2],
    step: i64,
) -> Result<u32> {
    let size = call.extent(value, axis)? as i64;
    let [Number::Int(start), Number::Int(end)] = part else {
        return unsupported("a negative step from or to an extent of a run");
    };
    let counted = |bound: i64| if bound < 0 { bound.saturating_add(size) } else { bound };
    let [start, end] = [start, end].map(|bound| counted(bound).clamp(-1, size - 1));
    let count = (start - end).max(0).unsigned_abs().div_ceil(step.unsigned_abs());
    taken(call.build, value, axis, [start, step], count as i64)
}

/// The elements of an axis from one on, by steps.
fn taken(
    build: &Build,
    value: u32,
    axis: usize,
    [start, step]: [i64; 2],
    count: i64,
) -> Result<u32> {
    let numbers = counted_up(build, Number::Int(count))?;
    let [start, step] =
        [start, step].map(|number| build.constant(&Constant::of_integers(Vec::new(), &[number])?));
    let scaled = build.binary(tnr_binary_op::MUL, numbers, step?)?;
    let indices = build.binary(tnr_binary_op::ADD, scaled, start?)?;
    build.node(TNR_NODE_TAKE, &[value, indices], &[axis as i64], None)
}

/// The elements of an axis in reverse.
pub(super) fn flipped(call: &Call<'_>, value: u32, axis: usize) -> Result<u32> {
    let size = call.extent(value, axis)? as i64;
    taken(call.build, value, axis, [size - 1, -1], size)
}

pub(super) fn pad(call: &Call<'_>) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let of = call.input(0)?.element_type();
    let rank = build.rank(value)?;
    let pads = call.list_or_input("pads", 1)?.unwrap_or_default();
    let axes = if call.given(3).is_some() { call.ints(3)? } else { (0..rank as i64).collect() };
    if pads.len() != 2 * axes.len() {
        let (pads, axes) = (pads.len(), axes.len());
        return Err(Error::invalid(format!("there are {pads} pads of {axes} axes")));
    }
    let mut sides = vec![[0, 0]; rank];
    for (nth, axis) in axes.iter().enumerate() {
        sides[axis_of(*axis, rank)?] = [pads[nth], pads[nth + axes.len()]];
    }
    let (mode, number) = match call.text("mode") {
        None | Some(b"constant" | b"") => {
            let number =
                if call.given(2).is_some() { call.float_of(2)? } else { call.float("value", 0.0) };
            (tnr_pad_mode::CONSTANT, Some(number))
        }
        Some(b"reflect") => (tnr_pad_mode::REFLECT, None),
        Some(b"edge") => (tnr_pad_mode::EDGE, None),
        Some(b"wrap") => (tnr_pad_mode::WRAP, None),
        Some(_) => return unsupported("the mode is none of constant, reflect, edge and wrap"),
    };
    call.like(padded(build, value, &sides, mode, number)?, of)
}

/// With elements before and after those of each axis, or fewer.
pub(super) fn padded(
    build: &Build,
    value: u32,
    sides: &[[i64; 2]],
    mode: tnr_pad_mode,
    number: Option<f64>,
) -> Result<u32> {
    let none =
        tenure_sys::tnr_scalar { dtype: tenure_sys::tnr_dtype(0), reserved: 0, bytes: [0; 16] };
    let mut attributes = tnr_pad_attributes {
        struct_size: size_of::<tnr_pad_attributes>() as u64,
        before: [0; 8],
        value: number.map_or(Ok(none), |number| scalar_of(build.dtype(value)?, number))?,
    };
    let mut numbers = Vec::new();
    for (axis, size) in build.sizes(value)?.into_iter().enumerate() {
        let [before, after] = sides[axis];
        attributes.before[axis] = before;
        let sum = before.checked_add(after).ok_or_else(|| Error::invalid("a pad is too large"))?;
        numbers.push(build.arithmetic(Arithmetic::Add, size, Number::Int(sum))?.encoded()?);
    }
    let code = TNR_NODE_PAD | mode.0 as u32;
    build.node(code, &[value], &numbers, Some(Attributes::Pad(attributes)))
}

/// Each axis a number of times, one behind the other.
pub(super) fn tile(call: &Call<'_>) -> Outputs {
    let (build, mut value) = (call.build, call.value(0)?);
    let repeats = call.numbers(1)?;
    if repeats.len() != build.rank(value)? {
        return Err(Error::invalid("there is not one repeat for each axis"));
    }
    for (axis, repeat) in repeats.into_iter().enumerate().filter(|(_, it)| *it != Number::Int(1)) {
        let mut sizes = build.sizes(value)?;
        let mut wide = sizes.clone();
        wide.insert(axis, Number::Int(1));
        let single = build.reshape(value, &wide)?;
        wide[axis] = repeat;
        sizes[axis] = build.arithmetic(Arithmetic::Mul, sizes[axis], repeat)?;
        value = build.reshape(build.broadcast(single, &wide)?, &sizes)?;
    }
    call.like(value, call.input(0)?.element_type())
}

fn triangle(build: &Build, value: u32, part: tnr_triangle, diagonal: i64) -> Result<u32> {
    let struct_size = size_of::<tnr_triangle_attributes>() as u64;
    let attributes = tnr_triangle_attributes { struct_size, diagonal };
    let code = TNR_NODE_TRIANGULAR | part.0 as u32;
    build.node(code, &[value], &[], Some(Attributes::Triangle(attributes)))
}

pub(super) fn trilu(call: &Call<'_>) -> Outputs {
    let is_upper = call.int("upper", 1) != 0;
    let part = if is_upper { tnr_triangle::UPPER } else { tnr_triangle::LOWER };
    let diagonal = if call.given(1).is_some() { call.ints(1)?.first().copied() } else { None };
    let value = triangle(call.build, call.value(0)?, part, diagonal.unwrap_or(0))?;
    call.like(value, call.input(0)?.element_type())
}

pub(super) fn eye_like(call: &Call<'_>) -> Outputs {
    let (build, of) = (call.build, call.input(0)?.element_type());
    let of = match call.attribute("dtype") {
        Some(dtype) => ElementType::of(i32::try_from(dtype.i).unwrap_or(0))?,
        None => of,
    };
    let sizes = build.sizes(call.value(0)?)?;
    let ones = build.broadcast(build.element(of.dtype, 1.0, &[])?, &sizes)?;
    let diagonal = call.int("k", 0);
    let upper = triangle(build, ones, tnr_triangle::UPPER, diagonal)?;
    call.like(triangle(build, upper, tnr_triangle::LOWER, diagonal)?, of)
}

/// The extents `[images, channels, height, width]` and the block.
fn blocks(call: &Call<'_>) -> Result<([Number; 4], Number)> {
    let sizes = call.build.sizes(call.value(0)?)?;
    let sizes: [Number; 4] =
        sizes.try_into().map_err(|_| Error::invalid("it has not the rank of images, 4"))?;
    match call.int("blocksize", 0) {
        block @ 1.. => Ok((sizes, Number::Int(block))),
        block => Err(Error::invalid(format!("the blocks have extent {block}"))),
    }
}

pub(super) fn depth_to_space(call: &Call<'_>) -> Outputs {
    let ([n, c, h, w], block) = blocks(call)?;
    let build = call.build;
    let depth = build.arithmetic(Arithmetic::Div, c, call.product(&[block, block])?)?;
    let (wide, axes) = match call.text("mode") {
        None | Some(b"DCR" | b"") => ([n, block, block, depth, h, w], [0, 3, 4, 1, 5, 2]),
        Some(b"CRD") => ([n, depth, block, block, h, w], [0, 1, 4, 2, 5, 3]),
        Some(_) => return unsupported("the mode is neither DCR nor CRD"),
    };
    let moved = build.permute(build.reshape(call.value(0)?, &wide)?, &axes)?;
    let (h, w) = (call.product(&[h, block])?, call.product(&[w, block])?);
    call.like(build.reshape(moved, &[n, depth, h, w])?, call.input(0)?.element_type())
}

pub(super) fn space_to_depth(call: &Call<'_>) -> Outputs {
    let ([n, c, h, w], block) = blocks(call)?;
    let build = call.build;
    let (h, w) = (
        build.arithmetic(Arithmetic::Div, h, block)?,
        build.arithmetic(Arithmetic::Div, w, block)?,
    );
    let wide = build.reshape(call.value(0)?, &[n, c, h, block, w, block])?;
    let axes = match call.text("mode") {
        None | Some(b"DCR" | b"") => [0, 3, 5, 1, 2, 4],
        Some(b"CRD") => [0, 1, 3, 5, 2, 4],
        Some(_) => return unsupported("the mode is neither DCR nor CRD"),
    };
    let moved = build.permute(wide, &axes)?;
    let depth = call.product(&[c, block, block])?;
    call.like(build.reshape(moved, &[n, depth, h, w])?, call.input(0)?.element_type())
}
