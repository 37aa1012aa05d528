//! Products and convolutions of quantized numbers: several nodes of a model that are one node of the
//! graph.
//!
//! Models write a product of integers in two ways. `DequantizeLinear` gives both factors of a product
//! of floats. Or `Mul` multiplies the sums of `MatMulInteger`, as floats, by the scales. Here the
//! results of the first nodes are remembered by their names, and the last node becomes the product.
//! Nodes that nothing reads any more are no part of a program.

use std::collections::HashMap;

use super::call::{Call, axis_of};
use super::number::Number;
use super::operators::{Bytes, Operator, is_zero, product_of_bytes, with_addend};
use super::value::Value;
use crate::dtype::DType;
use crate::error::Result;

/// What later nodes make of a result.
#[derive(Clone)]
enum Origin {
    /// The floats of `DequantizeLinear`.
    Integers(Integers),
    /// The sums of `MatMulInteger`, as integers or floats.
    Sums([Factor; 2]),
}

/// Integers of 8 bits with scales, of all numbers or of an axis.
#[derive(Clone)]
struct Integers {
    factor: Factor,
    scales: Value,
    axis: i64,
}

/// Integers and their zero point.
#[derive(Clone)]
struct Factor {
    values: Value,
    zeros: Option<Value>,
}

impl Factor {
    fn operands(&self, call: &Call<'_>, scales: Option<u32>) -> Result<Bytes> {
        let values = call.build.value(&self.values)?;
        let zeros = self.zeros.as_ref().map(|zeros| call.build.value(zeros)).transpose()?;
        Ok(Bytes { values, scales, zeros })
    }
}

/// The origins of results, by their names.
#[derive(Default)]
pub(super) struct Fusion {
    origins: HashMap<String, Origin>,
}

impl Fusion {
    fn origin(&self, call: &Call<'_>, at: usize) -> Option<&Origin> {
        self.origins.get(call.node.input.get(at)?)
    }

    fn integers(&self, call: &Call<'_>, at: usize) -> Option<&Integers> {
        match self.origin(call, at) {
            Some(Origin::Integers(integers)) => Some(integers),
            _ => None,
        }
    }

    /// The result of a node that ends a product of integers.
    pub(super) fn fused(
        &mut self,
        call: &Call<'_>,
        operator: &Operator,
    ) -> Result<Option<Vec<Value>>> {
        let value = match operator.name {
            "MatMul" => self.product(call, false)?,
            "Gemm" if call.float("alpha", 1.0) == 1.0 && call.int("transA", 0) == 0 => {
                self.product(call, call.int("transB", 0) != 0)?
            }
            "Mul" => self.scaled_sums(call)?,
            _ => None,
        };
        let Some(value) = value else {
            self.remember(call, operator);
            return Ok(None);
        };
        if operator.name == "Gemm" && call.given(2).is_some() {
            return with_addend(call, value).map(Some);
        }
        Ok(Some(vec![call.typed(value)?]))
    }

    fn remember(&mut self, call: &Call<'_>, operator: &Operator) {
        let factor = |at: usize, zeros: usize| {
            let values = call.given(at).filter(|values| values.element_type().is_byte())?.clone();
            Some(Factor {
                values,
                zeros: call.given(zeros).filter(|zeros| !is_zero(Some(zeros))).cloned(),
            })
        };
        let origin = match operator.name {
            "DequantizeLinear" if call.int("block_size", 0) == 0 => factor(0, 2).and_then(|of| {
                let scales = call.given(1).filter(|it| it.element_type().dtype == DType::F32)?;
                let axis = call.int("axis", 1);
                Some(Origin::Integers(Integers { factor: of, scales: scales.clone(), axis }))
            }),
            "MatMulInteger" => factor(0, 2).zip(factor(1, 3)).map(|(a, b)| Origin::Sums([a, b])),
            "Cast" if call.int("to", 0) == 1 => match self.origin(call, 0) {
                Some(sums @ Origin::Sums(_)) => Some(sums.clone()),
                _ => None,
            },
            _ => None,
        };
        if let (Some(origin), Some(name)) = (origin, call.node.output.first()) {
            self.origins.insert(name.clone(), origin);
        }
    }

    /// The product of two factors that are integers, the right one a matrix.
    fn product(&self, call: &Call<'_>, is_transposed: bool) -> Result<Option<u32>> {
        let (Some(a), Some(b)) = (self.integers(call, 0), self.integers(call, 1)) else {
            return Ok(None);
        };
        let build = call.build;
        let mut right = build.value(&b.factor.values)?;
        let (a_scales, b_scales) = (build.value(&a.scales)?, build.value(&b.scales)?);
        let of_columns = if is_transposed { 0 } else { 1 };
        let is_of_axis = call.product(&build.sizes(b_scales)?)? != Number::Int(1);
        let is_one = call.product(&build.sizes(a_scales)?)? == Number::Int(1);
        if !is_one || build.rank(right)? != 2 {
            return Ok(None);
        }
        if is_of_axis && axis_of(b.axis, 2)? != of_columns {
            return Ok(None);
        }
        if is_transposed {
            right = build.permute(right, &[1, 0])?;
        }
        let a = a.factor.operands(call, Some(a_scales))?;
        let b = Bytes { values: right, ..b.factor.operands(call, Some(b_scales))? };
        product_of_bytes(call, [a, b], None)
    }

    /// The sums of a product of integers times their scales.
    fn scaled_sums(&self, call: &Call<'_>) -> Result<Option<u32>> {
        let (sums, scale) = match (self.origin(call, 0), self.origin(call, 1)) {
            (Some(Origin::Sums(sums)), _) => (sums, 1),
            (_, Some(Origin::Sums(sums))) => (sums, 0),
            _ => return Ok(None),
        };
        let build = call.build;
        let right = build.value(&sums[1].values)?;
        let scales = call.value(scale)?;
        let sizes = build.sizes(scales)?;
        let is_of_columns = match sizes[..] {
            [] | [Number::Int(1)] => true,
            [size] => build.rank(right)? == 2 && build.sizes(right)?[1] == size,
            _ => false,
        };
        if build.dtype(scales)? != DType::F32 || build.rank(right)? != 2 || !is_of_columns {
            return Ok(None);
        }
        let factors = [sums[0].operands(call, None)?, sums[1].operands(call, Some(scales))?];
        product_of_bytes(call, factors, None)
    }
}
