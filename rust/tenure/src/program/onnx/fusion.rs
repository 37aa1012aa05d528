//! Products and convolutions of quantized numbers: several nodes of a model that are one node of the
//! graph.
//!
//! Models write a product of integers in two ways. `DequantizeLinear` gives both factors of a product
//! of floats, and `QuantizeLinear` may read the result. Or `Mul` multiplies the sums of
//! `MatMulInteger`, as floats, by the scales. Here the results of the first nodes are remembered by
//! their names, and a later node becomes the product. Nodes that nothing reads any more are no part
//! of a program.

use std::collections::HashMap;

use super::call::{Call, axis_of};
use super::number::Number;
use super::operators::{Bytes, Joined, Operator, is_zero};
use super::schema;
use super::value::Value;
use crate::dtype::DType;
use crate::error::Result;

/// A result that later nodes continue.
#[derive(Clone)]
enum Origin {
    /// The floats of `DequantizeLinear`.
    Integers(Integers),
    /// The sums of `MatMulInteger` or `ConvInteger`, as integers or floats.
    Sums { factors: [Factor; 2], convolution: Option<schema::Node> },
    /// The floats of a product or a convolution of integers.
    Joined(Joined),
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
pub(super) struct Fusion<'m> {
    origins: HashMap<String, Origin>,
    /// Nodes that read a result, and 1 for an output of the model.
    readers: HashMap<&'m str, usize>,
}

impl<'m> Fusion<'m> {
    pub(super) fn of(graph: &'m schema::Graph) -> Fusion<'m> {
        let mut readers: HashMap<&str, usize> = HashMap::new();
        let read = graph.node.iter().flat_map(|node| &node.input);
        for name in read.chain(graph.output.iter().map(|output| &output.name)) {
            *readers.entry(name).or_default() += 1;
        }
        Fusion { origins: HashMap::new(), readers }
    }

    fn origin(&self, call: &Call<'_>, at: usize) -> Option<&Origin> {
        self.origins.get(call.node.input.get(at)?)
    }

    fn integers(&self, call: &Call<'_>, at: usize) -> Option<&Integers> {
        match self.origin(call, at) {
            Some(Origin::Integers(integers)) => Some(integers),
            _ => None,
        }
    }

    /// A product or convolution that only this node reads.
    fn joined(&self, call: &Call<'_>, at: usize) -> Option<Joined> {
        let name = call.node.input.get(at)?;
        match self.origin(call, at) {
            Some(Origin::Joined(joined)) if self.readers.get(name.as_str()) == Some(&1) => {
                Some(joined.clone())
            }
            _ => None,
        }
    }

    /// The result of a node that belongs to a product of integers.
    pub(super) fn fused(
        &mut self,
        call: &Call<'_>,
        operator: &Operator,
    ) -> Result<Option<Vec<Value>>> {
        if operator.name == "QuantizeLinear" {
            return self.quantized(call);
        }
        let joined = match operator.name {
            "MatMul" => self.product(call, false)?,
            "Gemm" if is_plain_gemm(call) => {
                let product = self.product(call, call.int("transB", 0) != 0)?;
                biased(call, product)?
            }
            "Conv" => biased(call, self.convolution(call)?)?,
            "Mul" => self.scaled_sums(call)?,
            "Add" => self.sum(call)?,
            "Relu" => self.joined(call, 0).and_then(Joined::with_relu),
            _ => None,
        };
        let Some(joined) = joined else {
            self.remember(call, operator);
            return Ok(None);
        };
        let value = call.typed(joined.add(call.build, None)?)?;
        self.insert(call, Origin::Joined(joined));
        Ok(Some(vec![value]))
    }

    fn insert(&mut self, call: &Call<'_>, origin: Origin) {
        if let Some(name) = call.node.output.first() {
            self.origins.insert(name.clone(), origin);
        }
    }

    fn remember(&mut self, call: &Call<'_>, operator: &Operator) {
        let factor = |at: usize, zeros: usize| {
            let values = call.given(at).filter(|values| values.element_type().is_byte())?.clone();
            let zeros = call.given(zeros).filter(|zeros| !is_zero(Some(zeros))).cloned();
            Some(Factor { values, zeros })
        };
        let sums = |convolution: Option<schema::Node>| {
            let factors = factor(0, 2).zip(factor(1, 3));
            factors.map(|(a, b)| Origin::Sums { factors: [a, b], convolution })
        };
        let origin = match operator.name {
            "DequantizeLinear" if call.int("block_size", 0) == 0 => factor(0, 2).and_then(|of| {
                let scales = call.given(1).filter(|it| it.element_type().dtype == DType::F32)?;
                let axis = call.int("axis", 1);
                Some(Origin::Integers(Integers { factor: of, scales: scales.clone(), axis }))
            }),
            "MatMulInteger" => sums(None),
            "ConvInteger" => sums(Some(call.node.clone())),
            "Cast" if call.int("to", 0) == 1 => match self.origin(call, 0) {
                Some(sums @ Origin::Sums { .. }) => Some(sums.clone()),
                _ => None,
            },
            _ => None,
        };
        if let Some(origin) = origin {
            self.insert(call, origin);
        }
    }

    /// The factors of a node that reads the floats of two `DequantizeLinear`, the left one with one
    /// scale, the right one with a scale of all numbers or of the axis `of_right`.
    fn dequantized(&self, call: &Call<'_>, of_right: usize) -> Result<Option<[Bytes; 2]>> {
        let (Some(a), Some(b)) = (self.integers(call, 0), self.integers(call, 1)) else {
            return Ok(None);
        };
        let build = call.build;
        let factors = [
            a.factor.operands(call, Some(build.value(&a.scales)?))?,
            b.factor.operands(call, Some(build.value(&b.scales)?))?,
        ];
        let counts = factors.map(|factor| {
            factor.scales.map_or(Ok(Number::Int(1)), |scales| call.product(&build.sizes(scales)?))
        });
        let [of_a, of_b] = counts;
        let fits =
            of_b? == Number::Int(1) || axis_of(b.axis, build.rank(factors[1].values)?)? == of_right;
        Ok((of_a? == Number::Int(1) && fits).then_some(factors))
    }

    /// The product of two factors that are integers, the right one a matrix.
    fn product(&self, call: &Call<'_>, is_transposed: bool) -> Result<Option<Joined>> {
        let Some([a, mut b]) = self.dequantized(call, if is_transposed { 0 } else { 1 })? else {
            return Ok(None);
        };
        if call.build.rank(b.values)? != 2 {
            return Ok(None);
        }
        if is_transposed {
            b.values = call.build.permute(b.values, &[1, 0])?;
        }
        Joined::product(call, [a, b])
    }

    fn convolution(&self, call: &Call<'_>) -> Result<Option<Joined>> {
        match self.dequantized(call, 0)? {
            Some(factors) => Joined::convolution(call, factors),
            None => Ok(None),
        }
    }

    /// The sums of integers times their scales.
    fn scaled_sums(&self, call: &Call<'_>) -> Result<Option<Joined>> {
        let (factors, convolution, scale) = match (self.origin(call, 0), self.origin(call, 1)) {
            (Some(Origin::Sums { factors, convolution }), _) => (factors, convolution, 1),
            (_, Some(Origin::Sums { factors, convolution })) => (factors, convolution, 0),
            _ => return Ok(None),
        };
        let build = call.build;
        let scales = call.value(scale)?;
        if build.dtype(scales)? != DType::F32 {
            return Ok(None);
        }
        let factors = [factors[0].operands(call, None)?, factors[1].operands(call, Some(scales))?];
        let is_one = call.product(&build.sizes(scales)?)? == Number::Int(1);
        if let Some(node) = convolution {
            let of = Call { node, version: call.version, inputs: Vec::new(), build };
            return if is_one { Joined::convolution(&of, factors) } else { Ok(None) };
        }
        let right = build.sizes(factors[1].values)?;
        let is_of_columns = right.len() == 2 && build.sizes(scales)? == [right[1]];
        match is_one && build.rank(scales)? <= 1 || is_of_columns {
            true => Joined::product(call, factors),
            false => Ok(None),
        }
    }

    /// A product and its bias.
    fn sum(&self, call: &Call<'_>) -> Result<Option<Joined>> {
        for (at, other) in [(0, 1), (1, 0)] {
            if let Some(joined) = self.joined(call, at) {
                return match joined.is_product() {
                    true => joined.with_bias(call.build, call.value(other)?),
                    false => Ok(None),
                };
            }
        }
        Ok(None)
    }

    /// A product or convolution that gives integers.
    fn quantized(&self, call: &Call<'_>) -> Result<Option<Vec<Value>>> {
        let (Some(joined), Some(zero)) = (self.joined(call, 0), call.given(2)) else {
            return Ok(None);
        };
        let build = call.build;
        let result = [call.value(1)?, build.value(zero)?];
        for value in result {
            if call.product(&build.sizes(value)?)? != Number::Int(1) {
                return Ok(None);
            }
        }
        if !zero.element_type().is_byte() || build.dtype(result[0])? != DType::F32 {
            return Ok(None);
        }
        call.one(joined.add(build, Some(result))?).map(Some)
    }
}

fn is_plain_gemm(call: &Call<'_>) -> bool {
    let are_one = [call.float("alpha", 1.0), call.float("beta", 1.0)] == [1.0; 2];
    are_one && call.int("transA", 0) == 0
}

/// With the bias that is the third input of a node.
fn biased(call: &Call<'_>, joined: Option<Joined>) -> Result<Option<Joined>> {
    match (joined, call.given_value(2)?) {
        (Some(joined), Some(bias)) => joined.with_bias(call.build, bias),
        (joined, _) => Ok(joined),
    }
}
