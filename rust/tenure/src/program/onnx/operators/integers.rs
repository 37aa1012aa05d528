//! Products and convolutions of integers of 8 bits, as nodes of the graph.

use tenure_sys::{
    TNR_NODE_QUANTIZED_CONV2D, TNR_NODE_QUANTIZED_MATMUL, TNR_OPERAND_NONE, tnr_conv2d_attributes,
    tnr_matmul_attributes, tnr_unary_op,
};

use super::images::Windows;
use crate::dtype::DType;
use crate::error::Result;
use crate::program::calls::graph_record::Attributes;
use crate::program::onnx::build::Build;
use crate::program::onnx::call::Call;
use crate::program::onnx::number::Number;

/// The most products whose sums are exact.
const MOST_EXACT_DEPTH: usize = 33_025;

/// A factor, as values of the graph.
#[derive(Clone, Copy)]
pub(in crate::program::onnx) struct Bytes {
    pub(in crate::program::onnx) values: u32,
    /// `None`: 1.
    pub(in crate::program::onnx) scales: Option<u32>,
    pub(in crate::program::onnx) zeros: Option<u32>,
}

/// A node that takes two factors and gives f32, or integers of a scale and a zero point.
#[derive(Clone)]
pub(in crate::program::onnx) struct Joined {
    /// The factors, their scales, their zero points, and a bias.
    operands: [u32; 7],
    with: With,
}

#[derive(Clone, Copy)]
enum With {
    Matmul(tnr_matmul_attributes),
    Conv2d(tnr_conv2d_attributes),
}

impl Joined {
    /// The product of integers by a matrix, where its operands have the forms that the node takes.
    pub(in crate::program::onnx) fn product(
        call: &Call<'_>,
        factors: [Bytes; 2],
    ) -> Result<Option<Joined>> {
        let (build, right) = (call.build, factors[1].values);
        if build.rank(factors[0].values)? == 0 || build.rank(right)? != 2 {
            return Ok(None);
        }
        let attributes = tnr_matmul_attributes {
            struct_size: size_of::<tnr_matmul_attributes>() as u64,
            bias: std::ptr::null(),
            activation: tnr_unary_op(0),
            flags: 0,
            low: 0.0,
            high: 0.0,
        };
        let depth = build.largest(right)?[0];
        Joined::new(call, factors, depth, With::Matmul(attributes))
    }

    /// The convolution of images of integers, where its operands have the forms that the node takes.
    pub(in crate::program::onnx) fn convolution(
        call: &Call<'_>,
        [images, filters]: [Bytes; 2],
    ) -> Result<Option<Joined>> {
        let build = call.build;
        let (of_images, of_filters) = (build.rank(images.values)?, build.largest(filters.values)?);
        if of_images != 4 || of_filters.len() != 4 {
            return Ok(None);
        }
        let windows = Windows::of(call, images.values, Some(filters.values))?;
        let attributes = windows.of_conv(call);
        // A number of each filter.
        let spread = |values: u32| match build.sizes(values)?[..] {
            [size] if size != Number::Int(1) => {
                build.reshape(values, &[size, Number::Int(1), Number::Int(1), Number::Int(1)])
            }
            _ => Ok(values),
        };
        let filters = Bytes {
            values: filters.values,
            scales: filters.scales.map(spread).transpose()?,
            zeros: filters.zeros.map(spread).transpose()?,
        };
        let depth = of_filters[1..].iter().product();
        Joined::new(call, [images, filters], depth, With::Conv2d(attributes))
    }

    fn new(
        call: &Call<'_>,
        factors: [Bytes; 2],
        depth: usize,
        with: With,
    ) -> Result<Option<Joined>> {
        let build = call.build;
        if depth > MOST_EXACT_DEPTH {
            return Ok(None);
        }
        let mut operands = [TNR_OPERAND_NONE; 7];
        for (at, factor) in factors.into_iter().enumerate() {
            let scales = match factor.scales {
                Some(scales) => scales,
                None => build.element(DType::F32, 1.0, &[])?,
            };
            operands[at] = factor.values;
            operands[2 + at] = scales;
            let Some(zeros) = factor.zeros else { continue };
            // Zero points and scales have one shape.
            let (of_scales, of_zeros) = (build.sizes(scales)?, build.sizes(zeros)?);
            let is_one = call.product(&of_zeros)? == Number::Int(1);
            operands[4 + at] = match (of_zeros == of_scales, is_one) {
                (true, _) => zeros,
                (false, true) => build.broadcast(build.reshape(zeros, &[])?, &of_scales)?,
                (false, false) => return Ok(None),
            };
        }
        Ok(Some(Joined { operands, with }))
    }

    /// Adds a bias of one number for each column or filter. `None` where the node has one already.
    pub(in crate::program::onnx) fn with_bias(
        mut self,
        build: &Build,
        bias: u32,
    ) -> Result<Option<Joined>> {
        let (right, columns) = match self.with {
            With::Matmul(_) => (build.sizes(self.operands[1])?, 1),
            With::Conv2d(_) => (build.sizes(self.operands[1])?, 0),
        };
        let fits = build.dtype(bias)? == DType::F32 && build.sizes(bias)? == [right[columns]];
        if self.operands[6] != TNR_OPERAND_NONE || self.has_activation() || !fits {
            return Ok(None);
        }
        self.operands[6] = bias;
        Ok(Some(self))
    }

    /// Adds a rectifier behind the bias. `None` where the node has an activation already.
    pub(in crate::program::onnx) fn with_relu(mut self) -> Option<Joined> {
        if self.has_activation() {
            return None;
        }
        match &mut self.with {
            With::Matmul(attributes) => attributes.activation = tnr_unary_op::RELU,
            With::Conv2d(attributes) => attributes.activation = tnr_unary_op::RELU,
        }
        Some(self)
    }

    pub(in crate::program::onnx) fn is_product(&self) -> bool {
        matches!(self.with, With::Matmul(_))
    }

    fn has_activation(&self) -> bool {
        match self.with {
            With::Matmul(with) => with.activation.0 != 0,
            With::Conv2d(with) => with.activation.0 != 0,
        }
    }

    /// Adds the node, which gives f32, or integers by a scale and a zero point.
    pub(in crate::program::onnx) fn add(
        &self,
        build: &Build,
        result: Option<[u32; 2]>,
    ) -> Result<u32> {
        let (code, attributes) = match self.with {
            With::Matmul(with) => (TNR_NODE_QUANTIZED_MATMUL, Attributes::Matmul(with)),
            With::Conv2d(with) => (TNR_NODE_QUANTIZED_CONV2D, Attributes::Conv2d(with)),
        };
        let mut operands = self.operands.to_vec();
        let mut dtype = DType::F32;
        if let Some([scale, zero]) = result {
            operands.extend([scale, zero]);
            dtype = build.dtype(zero)?;
        }
        build.typed_node(code, &operands, dtype, Some(attributes))
    }
}
