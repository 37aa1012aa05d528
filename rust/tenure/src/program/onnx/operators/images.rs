//! Convolutions and poolings of images, and of rows as images of one row.

use tenure_sys::{
    TNR_NODE_CONV2D, TNR_NODE_CONV2D_TRANSPOSED, TNR_NODE_POOL2D, TNR_OPERAND_NONE,
    TNR_POOL2D_CEIL, TNR_POOL2D_COUNT_PADDING, tnr_conv2d_attributes, tnr_pool2d_attributes,
    tnr_reduce_op, tnr_unary_op,
};

use super::elementwise::is_float;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::nn::pool2d::GLOBAL_POOL;
use crate::program::calls::graph_record::Attributes;
use crate::program::onnx::build::Build;
use crate::program::onnx::call::{Call, Outputs, unsupported};
use crate::program::onnx::number::Number;

/// The windows of a node along rows and columns.
pub(super) struct Windows {
    /// Whether the images are rows, of one axis.
    pub(super) are_rows: bool,
    kernel: [i64; 2],
    strides: [i64; 2],
    dilations: [i64; 2],
    /// Above and below, left and right.
    padding: [i64; 4],
}

/// A pair of numbers, with 1 for the rows of a row.
fn both(list: Option<&[i64]>, axes: usize, first: i64) -> Result<[i64; 2]> {
    match (list, axes) {
        (None, _) => Ok([first; 2]),
        (Some([one]), 1) => Ok([first, *one]),
        (Some([down, right]), 2) => Ok([*down, *right]),
        (Some(list), _) => Err(Error::invalid(format!("{} numbers for {axes} axes", list.len()))),
    }
}

impl Windows {
    /// Reads the windows of a node. The kernel has the extents of the filters if the node states none.
    pub(super) fn of(call: &Call<'_>, value: u32, filters: Option<u32>) -> Result<Windows> {
        let build = call.build;
        let rank = build.rank(value)?;
        let axes = match rank {
            3 => 1,
            4 => 2,
            _ => return unsupported(format!("images of rank {rank}")),
        };
        let stated = match (call.list("kernel_shape"), filters) {
            (Some(kernel), _) => kernel.to_vec(),
            (None, Some(filters)) => {
                let size = |axis| Ok(call.extent(filters, axis)? as i64);
                (2..rank).map(size).collect::<Result<_>>()?
            }
            (None, None) => return Err(Error::invalid("it has no kernel_shape")),
        };
        let kernel = both(Some(&stated), axes, 1)?;
        let strides = both(call.list("strides"), axes, 1)?;
        let dilations = both(call.list("dilations"), axes, 1)?;
        if [kernel, strides, dilations].iter().flatten().any(|number| *number < 1) {
            return Err(Error::invalid("a kernel, stride or dilation is less than 1"));
        }
        let mut windows =
            Windows { are_rows: axes == 1, kernel, strides, dilations, padding: [0; 4] };
        windows.padding = match call.text("auto_pad") {
            None | Some(b"NOTSET" | b"") => match (call.list("pads"), axes) {
                (None, _) => [0; 4],
                (Some([left, right]), 1) => [0, 0, *left, *right],
                (Some([top, left, bottom, right]), 2) => [*top, *bottom, *left, *right],
                (Some(pads), _) => {
                    let why = format!("{} pads for {axes} axes", pads.len());
                    return Err(Error::invalid(why));
                }
            },
            Some(b"VALID") => [0; 4],
            Some(mode @ (b"SAME_UPPER" | b"SAME_LOWER")) => {
                windows.same(call, value, mode == b"SAME_UPPER")?
            }
            Some(_) => return unsupported("the auto_pad"),
        };
        Ok(windows)
    }

    /// The padding with which the strides divide the extents, rounded up.
    fn same(&self, call: &Call<'_>, value: u32, is_upper: bool) -> Result<[i64; 4]> {
        let mut padding = [0; 4];
        for axis in usize::from(self.are_rows)..2 {
            let of_value = axis + if self.are_rows { 1 } else { 2 };
            let extent = call.extent(value, of_value)? as i64;
            let stride = self.strides[axis];
            let count = (extent + stride - 1) / stride;
            let needed = (count - 1).saturating_mul(stride).saturating_add(self.reach(axis)?);
            let total = needed.saturating_sub(extent).max(0);
            let (less, more) = (total / 2, total - total / 2);
            padding[2 * axis] = if is_upper { less } else { more };
            padding[2 * axis + 1] = if is_upper { more } else { less };
        }
        Ok(padding)
    }

    /// Elements from the first to the last one of a window.
    fn reach(&self, axis: usize) -> Result<i64> {
        let between = (self.kernel[axis] - 1).checked_mul(self.dilations[axis]);
        let reach = between.and_then(|between| between.checked_add(1));
        reach.ok_or_else(|| Error::invalid("the kernel is too large"))
    }

    pub(super) fn of_conv(&self, call: &Call<'_>) -> tnr_conv2d_attributes {
        tnr_conv2d_attributes {
            struct_size: size_of::<tnr_conv2d_attributes>() as u64,
            strides: self.strides,
            padding: self.padding,
            dilations: self.dilations,
            groups: call.int("group", 1),
            activation: tnr_unary_op(0),
            flags: 0,
            low: 0.0,
            high: 0.0,
        }
    }
}

/// Rows as images of one row.
fn as_images(build: &Build, value: u32, are_rows: bool) -> Result<u32> {
    let mut sizes = build.sizes(value)?;
    if !are_rows || sizes.len() != 3 {
        return Ok(value);
    }
    sizes.insert(2, Number::Int(1));
    build.reshape(value, &sizes)
}

/// Images of one row as rows.
fn as_rows(build: &Build, value: u32, are_rows: bool) -> Result<u32> {
    let mut sizes = build.sizes(value)?;
    if !are_rows {
        return Ok(value);
    }
    sizes.remove(2);
    build.reshape(value, &sizes)
}

pub(super) fn conv(call: &Call<'_>) -> Outputs {
    let bias = call.given_value(2)?;
    call.one(convolved(call, call.value(0)?, call.value(1)?, bias)?)
}

/// The convolution of floats with the attributes of a node.
pub(super) fn convolved(
    call: &Call<'_>,
    value: u32,
    filters: u32,
    bias: Option<u32>,
) -> Result<u32> {
    let build = call.build;
    let windows = Windows::of(call, value, Some(filters))?;
    require_group(call)?;
    let [value, filters] = [value, filters].map(|it| as_images(build, it, windows.are_rows));
    let operands = [value?, filters?, bias.unwrap_or(TNR_OPERAND_NONE)];
    let attributes = Attributes::Conv2d(windows.of_conv(call));
    let images = build.node(TNR_NODE_CONV2D, &operands, &[], Some(attributes))?;
    as_rows(build, images, windows.are_rows)
}

fn require_group(call: &Call<'_>) -> Result<()> {
    match call.int("group", 1) {
        1.. => Ok(()),
        group => Err(Error::invalid(format!("there are {group} groups"))),
    }
}

pub(super) fn conv_transpose(call: &Call<'_>) -> Outputs {
    if call.text("auto_pad").is_some_and(|mode| mode != b"NOTSET" && !mode.is_empty())
        || call.list("output_shape").is_some()
    {
        return unsupported("auto_pad and output_shape of a transposed convolution");
    }
    let (build, value, filters) = (call.build, call.value(0)?, call.value(1)?);
    let windows = Windows::of(call, value, Some(filters))?;
    require_group(call)?;
    let axes = if windows.are_rows { 1 } else { 2 };
    let more = both(call.list("output_padding"), axes, 0)?;
    let mut numbers = [1, 1];
    for axis in usize::from(windows.are_rows)..2 {
        let extent = call.extent(value, axis + if windows.are_rows { 1 } else { 2 })? as i64;
        let [before, after] = [windows.padding[2 * axis], windows.padding[2 * axis + 1]];
        let last = (extent - 1).checked_mul(windows.strides[axis]);
        let reach = windows.reach(axis)?;
        let size = last
            .and_then(|last| last.checked_add(reach)?.checked_add(more[axis]))
            .and_then(|size| size.checked_sub(before)?.checked_sub(after));
        let size = size.filter(|size| *size >= 0);
        numbers[axis] = size.ok_or_else(|| Error::invalid("the result has no extent"))?;
    }
    let [images, kernels] = [value, filters].map(|it| as_images(build, it, windows.are_rows));
    let bias = call.given_value(2)?.unwrap_or(TNR_OPERAND_NONE);
    let attributes = Some(Attributes::Conv2d(windows.of_conv(call)));
    let operands = [images?, kernels?, bias];
    let made = build.node(TNR_NODE_CONV2D_TRANSPOSED, &operands, &numbers, attributes)?;
    call.one(as_rows(build, made, windows.are_rows)?)
}

pub(super) fn max_pool(call: &Call<'_>) -> Outputs {
    if call.asks_for(1) {
        return unsupported("the indices of maxima");
    }
    pooled(call, tnr_reduce_op::MAX, 0)
}

pub(super) fn average_pool(call: &Call<'_>) -> Outputs {
    let counts = call.int("count_include_pad", 0) != 0;
    pooled(call, tnr_reduce_op::MEAN, if counts { TNR_POOL2D_COUNT_PADDING } else { 0 })
}

fn pooled(call: &Call<'_>, op: tnr_reduce_op, flags: u32) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let windows = Windows::of(call, value, None)?;
    let ceil = if call.int("ceil_mode", 0) != 0 { TNR_POOL2D_CEIL } else { 0 };
    let attributes = tnr_pool2d_attributes {
        kernel: windows.kernel,
        strides: windows.strides,
        padding: windows.padding,
        dilations: windows.dilations,
        flags: flags | ceil,
        ..GLOBAL_POOL
    };
    let dtype = build.dtype(value)?;
    // Bytes are exact in f32.
    let floats = if is_float(dtype) { value } else { build.cast(value, DType::F32)? };
    let images = as_images(build, floats, windows.are_rows)?;
    let code = TNR_NODE_POOL2D | op.0 as u32;
    let made = build.node(code, &[images], &[], Some(Attributes::Pool2d(attributes)))?;
    call.one(build.cast(as_rows(build, made, windows.are_rows)?, dtype)?)
}

pub(super) fn global_average_pool(call: &Call<'_>) -> Outputs {
    global(call, tnr_reduce_op::MEAN)
}

pub(super) fn global_max_pool(call: &Call<'_>) -> Outputs {
    global(call, tnr_reduce_op::MAX)
}

fn global(call: &Call<'_>, op: tnr_reduce_op) -> Outputs {
    let (build, value) = (call.build, call.value(0)?);
    let axes = (2..build.rank(value)?).fold(0, |mask, axis| mask | 1 << axis);
    if axes == 0 {
        return Err(Error::invalid("it has no axes behind the channels"));
    }
    call.one(build.reduce(op, value, axes, true)?)
}
