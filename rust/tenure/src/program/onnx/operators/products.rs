//! Products of matrices.

use tenure_sys::{TNR_NODE_EINSUM, TNR_NODE_MATMUL, tnr_binary_op};

use crate::error::{Error, Result};
use crate::program::calls::einsum_of_node;
use crate::program::calls::graph_record::Attributes;
use crate::program::onnx::build::Build;
use crate::program::onnx::call::{Call, Outputs};

pub(super) fn multiplied(build: &Build, a: u32, b: u32) -> Result<u32> {
    build.node(TNR_NODE_MATMUL, &[a, b], &[], None)
}

pub(super) fn mat_mul(call: &Call<'_>) -> Outputs {
    call.one(multiplied(call.build, call.value(0)?, call.value(1)?)?)
}

/// `alpha * a @ b + beta * c`.
pub(super) fn gemm(call: &Call<'_>) -> Outputs {
    let build = call.build;
    let factor = |at: usize, name: &str| {
        let value = call.value(at)?;
        match call.int(name, 0) {
            0 => Ok(value),
            _ => build.permute(value, &[1, 0]),
        }
    };
    let (a, b) = (factor(0, "transA")?, factor(1, "transB")?);
    if build.rank(a)? != 2 || build.rank(b)? != 2 {
        return Err(Error::invalid("the factors are no matrices"));
    }
    let product = times(build, multiplied(build, a, b)?, call.float("alpha", 1.0))?;
    with_addend(call, product)
}

fn times(build: &Build, value: u32, factor: f64) -> Result<u32> {
    match factor == 1.0 {
        true => Ok(value),
        false => build.with(tnr_binary_op::MUL, value, factor),
    }
}

/// `product + beta * c`, the result of `Gemm`.
pub(in crate::program::onnx) fn with_addend(call: &Call<'_>, product: u32) -> Outputs {
    let Some(c) = call.given_value(2)? else { return call.one(product) };
    let added = times(call.build, c, call.float("beta", 1.0))?;
    call.one(call.build.binary(tnr_binary_op::ADD, product, added)?)
}

pub(super) fn einsum(call: &Call<'_>) -> Outputs {
    let equation = call.text("equation").unwrap_or_default();
    let equation: Vec<u8> = equation.iter().copied().filter(|byte| *byte != b' ').collect();
    let attributes = Attributes::EinsumNode(einsum_of_node(&equation)?);
    call.one(call.build.node(TNR_NODE_EINSUM, &call.values()?, &[], Some(attributes))?)
}
