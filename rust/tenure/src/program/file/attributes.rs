//! Attributes of nodes as structs of the ABI, and field by field.

use std::ptr;

use tenure_sys as sys;

use super::{scalar_of, schema};
use crate::error::{Error, ErrorKind, Result};
use crate::program::calls::graph_record::Attributes;
use crate::program::calls::{einsum_of_node, flags_of_node};

/// +0 is left out.
fn float(number: f64) -> Option<f64> {
    (number.to_bits() != 0).then_some(number)
}

/// Exactly `N` numbers.
fn numbers<const N: usize>(name: &str, given: &[i64]) -> Result<[i64; N]> {
    let count = given.len();
    given
        .try_into()
        .map_err(|_| Error::invalid(format!("{name} has {count} numbers but takes {N}")))
}

/// A field that no message has: the struct is one of a newer core.
fn require_none(is_none: bool, name: &str) -> Result<()> {
    let why = || Error::new(ErrorKind::Unsupported, format!("the attributes have a {name}"));
    is_none.then_some(()).ok_or_else(why)
}

/// Field by field.
pub(super) fn recorded(attributes: &Attributes) -> Result<schema::Attributes> {
    use schema::Attributes as To;
    Ok(match attributes {
        Attributes::Reduce(from) => {
            To::Reduce(schema::Reduce { ddof: from.ddof, power: float(from.power) })
        }
        Attributes::Normalize(from) => {
            require_none(from.weight.is_null() && from.bias.is_null(), "view")?;
            To::Normalize(schema::Normalize { eps: float(from.eps) })
        }
        Attributes::Matmul(from) => {
            require_none(from.bias.is_null(), "view")?;
            To::Matmul(schema::Matmul {
                activation: from.activation.0,
                flags: from.flags,
                low: float(from.low),
                high: float(from.high),
            })
        }
        Attributes::Conv2d(from) => To::Conv2d(schema::Conv2d {
            strides: from.strides.to_vec(),
            padding: from.padding.to_vec(),
            dilations: from.dilations.to_vec(),
            groups: from.groups,
            activation: from.activation.0,
            flags: from.flags,
            low: float(from.low),
            high: float(from.high),
        }),
        Attributes::Pool2d(from) => To::Pool2d(schema::Pool2d {
            kernel: from.kernel.to_vec(),
            strides: from.strides.to_vec(),
            padding: from.padding.to_vec(),
            dilations: from.dilations.to_vec(),
            flags: from.flags,
        }),
        Attributes::BatchNorm(from) => To::BatchNorm(schema::BatchNorm { eps: float(from.eps) }),
        Attributes::Pad(from) => To::Pad(schema::Pad {
            before: from.before.to_vec(),
            value: (from.value.dtype.0 != 0).then(|| super::recorded_scalar(&from.value)),
        }),
        Attributes::Triangle(from) => To::Triangle(schema::Triangle { diagonal: from.diagonal }),
        Attributes::EinsumNode(from) => {
            let spec = from.spec.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0);
            To::Einsum(schema::Einsum { spec: spec.collect() })
        }
        Attributes::Sort(from) => To::Ordering(schema::Ordering { flags: from.flags }),
        Attributes::Histogram(from) => {
            To::Histogram(schema::Histogram { low: float(from.low), high: float(from.high) })
        }
        Attributes::Random(from) => To::Random(schema::Random {
            low: float(from.low),
            high: float(from.high),
            mean: float(from.mean),
            deviation: float(from.deviation),
            probability: float(from.probability),
            least: from.least,
            bound: from.bound,
        }),
        Attributes::SparseNode(from) => To::Sparse(schema::Sparse {
            format: from.format.0,
            flags: from.flags,
            orientation: from.orientation.0,
            call_flags: from.call_flags,
            block_rows: from.block_rows,
            block_cols: from.block_cols,
        }),
    })
}

/// The struct that a message stands for.
pub(super) fn rebuilt(attributes: &schema::Attributes) -> Result<Attributes> {
    use schema::Attributes as From;
    let some = Option::unwrap_or_default;
    Ok(match attributes {
        From::Reduce(from) => Attributes::Reduce(sys::tnr_reduce_attributes {
            struct_size: size_of::<sys::tnr_reduce_attributes>() as u64,
            ddof: from.ddof,
            reserved: 0,
            power: some(from.power),
        }),
        From::Normalize(from) => Attributes::Normalize(sys::tnr_normalize_attributes {
            struct_size: size_of::<sys::tnr_normalize_attributes>() as u64,
            eps: some(from.eps),
            weight: ptr::null(),
            bias: ptr::null(),
        }),
        From::Matmul(from) => Attributes::Matmul(sys::tnr_matmul_attributes {
            struct_size: size_of::<sys::tnr_matmul_attributes>() as u64,
            bias: ptr::null(),
            activation: sys::tnr_unary_op(from.activation),
            flags: from.flags,
            low: some(from.low),
            high: some(from.high),
        }),
        From::Conv2d(from) => Attributes::Conv2d(sys::tnr_conv2d_attributes {
            struct_size: size_of::<sys::tnr_conv2d_attributes>() as u64,
            strides: numbers("strides", &from.strides)?,
            padding: numbers("padding", &from.padding)?,
            dilations: numbers("dilations", &from.dilations)?,
            groups: from.groups,
            activation: sys::tnr_unary_op(from.activation),
            flags: from.flags,
            low: some(from.low),
            high: some(from.high),
        }),
        From::Pool2d(from) => Attributes::Pool2d(sys::tnr_pool2d_attributes {
            struct_size: size_of::<sys::tnr_pool2d_attributes>() as u64,
            kernel: numbers("kernel", &from.kernel)?,
            strides: numbers("strides", &from.strides)?,
            padding: numbers("padding", &from.padding)?,
            dilations: numbers("dilations", &from.dilations)?,
            flags: from.flags,
            reserved: 0,
        }),
        From::BatchNorm(from) => Attributes::BatchNorm(sys::tnr_batch_norm_attributes {
            struct_size: size_of::<sys::tnr_batch_norm_attributes>() as u64,
            eps: some(from.eps),
        }),
        From::Pad(from) => Attributes::Pad(sys::tnr_pad_attributes {
            struct_size: size_of::<sys::tnr_pad_attributes>() as u64,
            before: numbers("before", &from.before)?,
            value: match &from.value {
                Some(value) => scalar_of(value)?,
                None => super::NO_SCALAR,
            },
        }),
        From::Triangle(from) => Attributes::Triangle(sys::tnr_triangle_attributes {
            struct_size: size_of::<sys::tnr_triangle_attributes>() as u64,
            diagonal: from.diagonal,
        }),
        From::Einsum(from) => Attributes::EinsumNode(einsum_of_node(&from.spec)?),
        From::Ordering(from) => Attributes::Sort(flags_of_node(from.flags)),
        From::Histogram(from) => Attributes::Histogram(sys::tnr_histogram_attributes {
            struct_size: size_of::<sys::tnr_histogram_attributes>() as u64,
            low: some(from.low),
            high: some(from.high),
        }),
        From::Random(from) => Attributes::Random(sys::tnr_random_attributes {
            struct_size: size_of::<sys::tnr_random_attributes>() as u64,
            low: some(from.low),
            high: some(from.high),
            mean: some(from.mean),
            deviation: some(from.deviation),
            probability: some(from.probability),
            least: from.least,
            bound: from.bound,
        }),
        From::Sparse(from) => Attributes::SparseNode(sys::tnr_sparse_node_attributes {
            struct_size: size_of::<sys::tnr_sparse_node_attributes>() as u64,
            format: sys::tnr_sparse_format(from.format),
            flags: from.flags,
            orientation: sys::tnr_orientation(from.orientation),
            call_flags: from.call_flags,
            block_rows: from.block_rows,
            block_cols: from.block_cols,
        }),
    })
}
