//! Integers of shapes: those that are known, and extents that each run has.

use std::cell::Cell;

use tenure_sys::{TNR_EXTENT, tnr_extent_op};

use crate::dtype::DType;
use crate::error::{Error, Result};

/// An integer, or an extent of the graph in the library's encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Int(i64),
    Extent(i64),
}

impl Number {
    /// A number of a shape as the library has it.
    pub(super) fn of(number: i64) -> Number {
        if number >= TNR_EXTENT { Number::Extent(number) } else { Number::Int(number) }
    }

    pub(super) fn int(self) -> Option<i64> {
        match self {
            Number::Int(int) => Some(int),
            Number::Extent(_) => None,
        }
    }

    /// The number as nodes take it.
    pub(super) fn encoded(self) -> Result<i64> {
        match self {
            Number::Int(int @ 0..TNR_EXTENT) | Number::Extent(int) => Ok(int),
            Number::Int(int) => Err(Error::invalid(format!("an extent is {int}"))),
        }
    }
}

impl From<usize> for Number {
    fn from(extent: usize) -> Number {
        Number::Int(i64::try_from(extent).unwrap_or(i64::MAX))
    }
}

/// A tensor of known integers and extents.
#[derive(Debug)]
pub(super) struct Numbers {
    /// `I64`, `I32` or `BOOL8`.
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
    pub(super) numbers: Vec<Number>,
    /// Its value in the graph, once it has one.
    pub(super) value: Cell<Option<u32>>,
}

impl Numbers {
    pub(super) fn new(dtype: DType, shape: Vec<usize>, numbers: Vec<Number>) -> Numbers {
        Numbers { dtype, shape, numbers, value: Cell::new(None) }
    }

    pub(super) fn ints(&self) -> Option<Vec<i64>> {
        self.numbers.iter().map(|number| number.int()).collect()
    }
}

/// An operation on two integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    Mul,
    /// Towards zero, as ONNX has it.
    Div,
    Min,
    Max,
}

impl Arithmetic {
    pub(super) fn of_ints(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Arithmetic::Add => a.checked_add(b),
            Arithmetic::Sub => a.checked_sub(b),
            Arithmetic::Mul => a.checked_mul(b),
            Arithmetic::Div => a.checked_div(b),
            Arithmetic::Min => Some(a.min(b)),
            Arithmetic::Max => Some(a.max(b)),
        }
    }

    /// A result that is known although `a` or `b` is an extent.
    pub(super) fn of_extents(self, a: Number, b: Number) -> Option<Number> {
        use Number::Int;
        Some(match (self, a, b) {
            (Arithmetic::Add | Arithmetic::Sub, a, Int(0)) => a,
            (Arithmetic::Add, Int(0), b) => b,
            (Arithmetic::Sub, a, b) if a == b => Int(0),
            (Arithmetic::Mul | Arithmetic::Div, a, Int(1)) => a,
            (Arithmetic::Mul, Int(1), b) => b,
            (Arithmetic::Mul, _, Int(0)) | (Arithmetic::Mul, Int(0), _) => Int(0),
            (Arithmetic::Min | Arithmetic::Max, a, b) if a == b => a,
            // No extent is less than 0, or more than an `i64` of this size.
            (Arithmetic::Min, _, Int(low @ ..=0)) | (Arithmetic::Min, Int(low @ ..=0), _) => {
                Int(low)
            }
            (Arithmetic::Min, a, Int(TNR_EXTENT..)) | (Arithmetic::Min, Int(TNR_EXTENT..), a) => a,
            (Arithmetic::Max, a, Int(..=0)) | (Arithmetic::Max, Int(..=0), a) => a,
            _ => return None,
        })
    }

    pub(super) fn op(self) -> tnr_extent_op {
        match self {
            Arithmetic::Add => tnr_extent_op::ADD,
            Arithmetic::Sub => tnr_extent_op::SUB,
            Arithmetic::Mul => tnr_extent_op::MUL,
            Arithmetic::Div => tnr_extent_op::DIV,
            Arithmetic::Min => tnr_extent_op::MIN,
            Arithmetic::Max => tnr_extent_op::MAX,
        }
    }
}
