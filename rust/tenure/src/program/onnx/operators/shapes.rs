//! Operators of shapes: the integers that they give are known before a run, up to its extents.

use tenure_sys::{TNR_NODE_SCAN, tnr_binary_op, tnr_scan_op};

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::program::onnx::build::Build;
use crate::program::onnx::call::{Call, Outputs, axis_of, unsupported};
use crate::program::onnx::number::{Arithmetic, Number};
use crate::program::onnx::tensor::Constant;
use crate::program::onnx::value::Value;

pub(super) fn constant(call: &Call<'_>) -> Outputs {
    if let Some(constant) = call.tensor("value")? {
        return Ok(vec![Value::Constant(constant.into())]);
    }
    let of_floats = |shape, floats: &[f32]| {
        let data: Vec<u8> = floats.iter().flat_map(|number| number.to_ne_bytes()).collect();
        Constant::new(DType::F32.into(), shape, data.into())
    };
    let Some(attribute) = call.node.attribute.first() else {
        return Err(Error::invalid("it has no value"));
    };
    let constant = match attribute.name.as_str() {
        "value_float" => of_floats(Vec::new(), &[attribute.f]),
        "value_floats" => of_floats(vec![attribute.floats.len()], &attribute.floats),
        "value_int" => Constant::of_integers(Vec::new(), &[attribute.i]),
        "value_ints" => Constant::of_integers(vec![attribute.ints.len()], &attribute.ints),
        name => return unsupported(format!("the attribute {}", crate::io::payload::shown(name))),
    };
    Ok(vec![Value::Constant(constant?.into())])
}

/// The extents of an input, whether it is in the graph or known.
fn sizes(call: &Call<'_>, at: usize) -> Result<Vec<Number>> {
    Ok(match call.input(at)? {
        Value::Graph(value, _) => call.build.sizes(*value)?,
        Value::Constant(constant) => constant.shape.iter().map(|it| Number::from(*it)).collect(),
        Value::Numbers(numbers) => numbers.shape.iter().map(|it| Number::from(*it)).collect(),
    })
}

pub(super) fn shape(call: &Call<'_>) -> Outputs {
    let sizes = sizes(call, 0)?;
    let rank = sizes.len() as i64;
    let bound = |name: &str, default: i64| {
        let bound = call.int(name, default);
        let from_end = if bound < 0 { bound.saturating_add(rank) } else { bound };
        from_end.clamp(0, rank) as usize
    };
    let (start, end) = (bound("start", 0), bound("end", rank));
    let part = sizes[start..end.max(start)].to_vec();
    call.known(DType::I64, vec![part.len()], part)
}

pub(super) fn size(call: &Call<'_>) -> Outputs {
    let count = call.product(&sizes(call, 0)?)?;
    call.known(DType::I64, Vec::new(), vec![count])
}

/// Gives another shape to elements. Known numbers stay known.
fn reshaped(call: &Call<'_>, sizes: &[Number]) -> Outputs {
    if let Value::Numbers(numbers) = call.input(0)? {
        let shape: Option<Vec<usize>> =
            sizes.iter().map(|size| usize::try_from(size.int()?).ok()).collect();
        let shape = shape.filter(|it| it.iter().product::<usize>() == numbers.numbers.len());
        if let Some(shape) = shape {
            return call.known(numbers.dtype, shape, numbers.numbers.clone());
        }
    }
    let value = call.build.reshape(call.value(0)?, sizes)?;
    call.like(value, call.input(0)?.element_type())
}

pub(super) fn reshape(call: &Call<'_>) -> Outputs {
    let (from, mut to) = (sizes(call, 0)?, call.numbers(1)?);
    let keeps_zeros = call.int("allowzero", 0) != 0;
    for (axis, size) in to.iter_mut().enumerate().filter(|(_, size)| **size == Number::Int(0)) {
        if !keeps_zeros {
            let refused = || Error::invalid(format!("extent {axis} is 0, which the input lacks"));
            *size = *from.get(axis).ok_or_else(refused)?;
        }
    }
    let open: Vec<usize> = (0..to.len()).filter(|at| to[*at] == Number::Int(-1)).collect();
    match open[..] {
        [] => {}
        [at] => {
            to[at] = Number::Int(1);
            to[at] = quotient(call, &from, &to)?;
        }
        _ => return Err(Error::invalid("two extents are -1")),
    }
    reshaped(call, &to)
}

/// The product of `all` over that of `known`, without the extents that both have.
fn quotient(call: &Call<'_>, all: &[Number], known: &[Number]) -> Result<Number> {
    let (mut all, mut known) = (all.to_vec(), known.to_vec());
    known.retain(|size| {
        let extent = all.iter().position(|it| size.int().is_none() && it == size);
        extent.map(|at| all.remove(at)).is_none()
    });
    let is_int = |size: &Number| size.int().is_some();
    let [ints_above, ints_below] = [&all, &known].map(|sizes| {
        sizes.iter().filter_map(|size| size.int()).try_fold(1_i64, |a, b| a.checked_mul(b))
    });
    let too_large = || Error::invalid("a product of extents is no 64-bit integer");
    let (above, below) = (ints_above.ok_or_else(too_large)?, ints_below.ok_or_else(too_large)?);
    all.retain(|size| !is_int(size));
    known.retain(|size| !is_int(size));
    if below == 0 {
        return Err(Error::invalid("an extent is -1 next to one of 0"));
    }
    if above % below == 0 {
        all.push(Number::Int(above / below));
    } else {
        all.push(Number::Int(above));
        known.push(Number::Int(below));
    }
    call.build.arithmetic(Arithmetic::Div, call.product(&all)?, call.product(&known)?)
}

pub(super) fn flatten(call: &Call<'_>) -> Outputs {
    let sizes = sizes(call, 0)?;
    let axis = call.int("axis", 1);
    let axis = if axis == sizes.len() as i64 { sizes.len() } else { axis_of(axis, sizes.len())? };
    let (before, after) = sizes.split_at(axis);
    reshaped(call, &[call.product(before)?, call.product(after)?])
}

pub(super) fn squeeze(call: &Call<'_>) -> Outputs {
    let sizes = sizes(call, 0)?;
    let axes = match call.list_or_input("axes", 1)? {
        Some(axes) => {
            axes.iter().map(|axis| axis_of(*axis, sizes.len())).collect::<Result<Vec<_>>>()?
        }
        None => (0..sizes.len()).filter(|axis| sizes[*axis] == Number::Int(1)).collect(),
    };
    if let Some(axis) = axes.iter().find(|axis| !matches!(sizes[**axis], Number::Int(1))) {
        return Err(Error::invalid(format!("the extent of axis {axis} is not 1")));
    }
    let kept = sizes.iter().enumerate().filter(|(axis, _)| !axes.contains(axis));
    reshaped(call, &kept.map(|(_, size)| *size).collect::<Vec<_>>())
}

pub(super) fn unsqueeze(call: &Call<'_>) -> Outputs {
    let (sizes, axes) = (sizes(call, 0)?, call.list_or_input("axes", 1)?.unwrap_or_default());
    let rank = sizes.len() + axes.len();
    let axes: Vec<usize> = axes.iter().map(|axis| axis_of(*axis, rank)).collect::<Result<_>>()?;
    let mut rest = sizes.iter();
    let size = |axis| match axes.contains(&axis) {
        true => Some(Number::Int(1)),
        false => rest.next().copied(),
    };
    let widened: Option<Vec<Number>> = (0..rank).map(size).collect();
    match widened.filter(|_| rest.next().is_none()) {
        Some(sizes) => reshaped(call, &sizes),
        None => Err(Error::invalid("an axis is named twice")),
    }
}

pub(super) fn transpose(call: &Call<'_>) -> Outputs {
    let rank = sizes(call, 0)?.len();
    let axes: Vec<usize> = match call.list("perm") {
        Some(axes) => axes.iter().map(|axis| axis_of(*axis, rank)).collect::<Result<_>>()?,
        None => (0..rank).rev().collect(),
    };
    call.like(call.build.permute(call.value(0)?, &axes)?, call.input(0)?.element_type())
}

pub(super) fn expand(call: &Call<'_>) -> Outputs {
    let (from, to) = (sizes(call, 0)?, call.numbers(1)?);
    let rank = from.len().max(to.len());
    let at = |sizes: &[Number], axis: usize| match (axis + sizes.len()).checked_sub(rank) {
        Some(axis) => sizes[axis],
        None => Number::Int(1),
    };
    let joined: Vec<Number> = (0..rank)
        .map(|axis| match [at(&from, axis), at(&to, axis)] {
            [Number::Int(1), to] => to,
            [from, _] => from,
        })
        .collect();
    // An extent of the operand that is not 1 stays, and the other one must be equal or 1.
    for axis in 0..rank {
        if let [Number::Int(a), Number::Int(b)] = [at(&from, axis), at(&to, axis)] {
            if a != b && a != 1 && b != 1 {
                let why = format!("axis {axis} has extent {a} but is to be expanded to {b}");
                return Err(Error::invalid(why));
            }
        }
    }
    let value = call.build.broadcast(call.value(0)?, &joined)?;
    call.like(value, call.input(0)?.element_type())
}

pub(super) fn constant_of_shape(call: &Call<'_>) -> Outputs {
    let sizes = call.numbers(0)?;
    let (build, value) = (call.build, call.tensor("value")?);
    let element = match value {
        Some(constant) => {
            let (of, value) = (constant.of, build.constant(&constant)?);
            (build.reshape(value, &[])?, of)
        }
        None => (build.element(DType::F32, 0.0, &[])?, DType::F32.into()),
    };
    call.like(build.broadcast(element.0, &sizes)?, element.1)
}

/// `start + i * delta` below `limit`, which may be an extent of a run.
pub(super) fn range(call: &Call<'_>) -> Outputs {
    let (build, of) = (call.build, call.input(0)?.element_type());
    let is_known = |at: usize| call.input(at).is_ok_and(|value| value.numbers().is_some());
    let (start, count, delta) = if (0..3).all(is_known) {
        let (ends, delta) = ([call.numbers(0)?, call.numbers(1)?], call.ints(2)?);
        let (&[start], &[limit], &[delta]) = (&ends[0][..], &ends[1][..], &delta[..]) else {
            return Err(Error::invalid("the operands are no single numbers"));
        };
        if delta < 1 {
            return counted(call);
        }
        let length = build.arithmetic(Arithmetic::Sub, limit, start)?;
        let rounded = build.arithmetic(Arithmetic::Add, length, Number::Int(delta - 1))?;
        let count = build.arithmetic(Arithmetic::Div, rounded, Number::Int(delta))?;
        let count = if matches!(count, Number::Int(..0)) { Number::Int(0) } else { count };
        let start = start.int();
        let start = start.map_or_else(|| unsupported("start is an extent of a run"), Ok)?;
        (start as f64, count, delta as f64)
    } else {
        return counted(call);
    };
    steps(call, of.dtype, [start, delta], count)
}

/// A range with known ends.
fn counted(call: &Call<'_>) -> Outputs {
    let [start, limit, delta] = [call.float_of(0)?, call.float_of(1)?, call.float_of(2)?];
    let count = ((limit - start) / delta).ceil().max(0.0);
    if !count.is_finite() || count > (1_u64 << 32) as f64 {
        return Err(Error::invalid(format!("a range from {start} to {limit} by {delta}")));
    }
    let dtype = call.input(0)?.element_type().dtype;
    steps(call, dtype, [start, delta], Number::Int(count as i64))
}

fn steps(call: &Call<'_>, dtype: DType, [start, delta]: [f64; 2], count: Number) -> Outputs {
    let build = call.build;
    let numbers = build.cast(counted_up(build, count)?, dtype)?;
    let scaled = build.with(tnr_binary_op::MUL, numbers, delta)?;
    call.one(build.with(tnr_binary_op::ADD, scaled, start)?)
}

/// The numbers from 0 up to a count, as i64, which take no memory before a run.
pub(super) fn counted_up(build: &Build, count: Number) -> Result<u32> {
    let ones = build.broadcast(build.element(DType::I64, 1.0, &[])?, &[count])?;
    let scan = TNR_NODE_SCAN | tnr_scan_op::SUM.0 as u32;
    let counted = build.node(scan, &[ones], &[0], None)?;
    build.with(tnr_binary_op::SUB, counted, 1.0)
}
