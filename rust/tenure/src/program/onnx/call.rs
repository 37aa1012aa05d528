//! A node of a model, with its attributes and the values that it reads.

use tenure_sys::{tnr_binary_op, tnr_compare_op};

use super::build::Build;
use super::number::{Arithmetic, Number, Numbers};
use super::schema;
use super::tensor::{Constant, ElementType};
use super::value::{MOST_KNOWN, Value};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::io::payload::shown;

pub(super) struct Call<'c> {
    pub(super) node: &'c schema::Node,
    /// The version of the operators of its domain.
    pub(super) version: i64,
    pub(super) inputs: Vec<Option<Value>>,
    pub(super) build: &'c Build,
}

pub(super) type Outputs = Result<Vec<Value>>;

pub(super) fn unsupported<T>(why: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::Unsupported, why))
}

/// Inputs.
impl Call<'_> {
    pub(super) fn given(&self, at: usize) -> Option<&Value> {
        self.inputs.get(at)?.as_ref()
    }

    pub(super) fn input(&self, at: usize) -> Result<&Value> {
        self.given(at).ok_or_else(|| Error::invalid(format!("input {at} is missing")))
    }

    /// An input as a value of the graph.
    pub(super) fn value(&self, at: usize) -> Result<u32> {
        self.build.value(self.input(at)?)
    }

    pub(super) fn given_value(&self, at: usize) -> Result<Option<u32>> {
        self.given(at).map(|value| self.build.value(value)).transpose()
    }

    /// All inputs as values of the graph.
    pub(super) fn values(&self) -> Result<Vec<u32>> {
        (0..self.inputs.len()).map(|at| self.value(at)).collect()
    }

    fn unknown(&self, at: usize) -> Error {
        let name = self.node.input.get(at).map_or("", String::as_str);
        let why = format!(
            "input {at}, {}, is to be known before a run: a constant, or made of shapes and \
             constants; Settings::constant gives an input of the model a value",
            shown(name)
        );
        Error::new(ErrorKind::Unsupported, why)
    }

    /// The numbers of an input that is known before a run.
    pub(super) fn numbers(&self, at: usize) -> Result<Vec<Number>> {
        match self.input(at)?.numbers() {
            Some((_, numbers)) => Ok(numbers),
            None => Err(self.unknown(at)),
        }
    }

    pub(super) fn ints(&self, at: usize) -> Result<Vec<i64>> {
        let numbers = self.numbers(at)?;
        let ints: Option<Vec<i64>> = numbers.into_iter().map(Number::int).collect();
        ints.ok_or_else(|| self.unknown(at))
    }

    /// The elements of an input that is known before a run, as f64.
    pub(super) fn floats(&self, at: usize) -> Result<Vec<f64>> {
        let known = self.input(at)?.known();
        known.and_then(|known| known.floats(MOST_KNOWN)).ok_or_else(|| self.unknown(at))
    }

    /// The only element of an input that is known before a run.
    pub(super) fn float_of(&self, at: usize) -> Result<f64> {
        match self.floats(at)?[..] {
            [number] => Ok(number),
            ref numbers => {
                let why = format!("input {at} has {} elements but must have 1", numbers.len());
                Err(Error::invalid(why))
            }
        }
    }
}

/// Attributes.
impl Call<'_> {
    pub(super) fn attribute(&self, name: &str) -> Option<&schema::Attribute> {
        self.node.attribute.iter().find(|attribute| attribute.name == name)
    }

    pub(super) fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).map_or(default, |attribute| attribute.i)
    }

    pub(super) fn float(&self, name: &str, default: f32) -> f64 {
        f64::from(self.attribute(name).map_or(default, |attribute| attribute.f))
    }

    pub(super) fn text(&self, name: &str) -> Option<&[u8]> {
        self.attribute(name).map(|attribute| &attribute.s[..])
    }

    pub(super) fn list(&self, name: &str) -> Option<&[i64]> {
        self.attribute(name).map(|attribute| &attribute.ints[..])
    }

    /// Refuses an attribute that is not at its default.
    pub(super) fn require(&self, name: &str, default: i64) -> Result<()> {
        match self.int(name, default) == default {
            true => Ok(()),
            false => unsupported(format!("{name} is {}", self.int(name, default))),
        }
    }

    pub(super) fn tensor(&self, name: &str) -> Result<Option<Constant>> {
        let tensor = self.attribute(name).and_then(|attribute| attribute.t.as_ref());
        tensor.map(|tensor| Constant::read(tensor, &Default::default())).transpose()
    }

    /// A list that is an attribute, or from some version on an input; `None` where it is not given.
    pub(super) fn list_or_input(&self, name: &str, at: usize) -> Result<Option<Vec<i64>>> {
        match (self.list(name), self.given(at)) {
            (Some(list), _) => Ok(Some(list.to_vec())),
            (None, Some(_)) => self.ints(at).map(Some),
            (None, None) => Ok(None),
        }
    }

    pub(super) fn axis(&self, default: i64, rank: usize) -> Result<usize> {
        axis_of(self.int("axis", default), rank)
    }
}

/// An axis that may be counted from the last one.
pub(super) fn axis_of(axis: i64, rank: usize) -> Result<usize> {
    let counted = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
    match usize::try_from(counted) {
        Ok(axis) if axis < rank => Ok(axis),
        _ => Err(Error::invalid(format!("an axis is {axis} but the rank is {rank}"))),
    }
}

/// The mask of axes.
pub(super) fn mask_of(axes: &[i64], rank: usize) -> Result<u32> {
    axes.iter().try_fold(0, |mask, axis| Ok(mask | 1 << axis_of(*axis, rank)?))
}

/// Results.
impl Call<'_> {
    pub(super) fn typed(&self, value: u32) -> Result<Value> {
        Ok(Value::Graph(value, self.build.dtype(value)?.into()))
    }

    pub(super) fn one(&self, value: u32) -> Outputs {
        Ok(vec![self.typed(value)?])
    }

    /// A value that has the element type of another.
    pub(super) fn like(&self, value: u32, of: ElementType) -> Outputs {
        Ok(vec![Value::Graph(value, of)])
    }

    pub(super) fn known(
        &self,
        dtype: DType,
        shape: Vec<usize>,
        numbers: Vec<Number>,
    ) -> Result<Vec<Value>> {
        Ok(vec![Value::Numbers(Numbers::new(dtype, shape, numbers).into())])
    }

    /// Whether the model reads or names a result.
    pub(super) fn asks_for(&self, at: usize) -> bool {
        self.node.output.get(at).is_some_and(|name| !name.is_empty())
    }
}

/// Arithmetic with the extents of values.
impl Call<'_> {
    pub(super) fn product(&self, numbers: &[Number]) -> Result<Number> {
        let multiply = |a, b| self.build.arithmetic(Arithmetic::Mul, a, b);
        numbers.iter().try_fold(Number::Int(1), |a, b| multiply(a, *b))
    }

    /// The extent of an axis, as a number that is known before a run.
    pub(super) fn extent(&self, value: u32, axis: usize) -> Result<usize> {
        match self.build.sizes(value)?.get(axis) {
            Some(Number::Int(extent)) => Ok(*extent as usize),
            _ => unsupported(format!("the extent of axis {axis} is to be known before a run")),
        }
    }

    /// Indices that count from the end where they are negative, as i64 from 0 on.
    pub(super) fn indices(&self, at: usize, size: Number) -> Result<u32> {
        let (value, size_of_axis) = (self.input(at)?, size);
        if let (Some((shape, numbers)), Some(size)) = (value.numbers(), size_of_axis.int()) {
            let ints: Option<Vec<i64>> = numbers.into_iter().map(Number::int).collect();
            if let Some(ints) = ints {
                let count = |int: i64| if int < 0 { int.saturating_add(size) } else { int };
                let ints: Vec<i64> = ints.into_iter().map(count).collect();
                return self.build.constant(&Constant::of_integers(shape, &ints)?);
            }
        }
        let build = self.build;
        let indices = build.cast(build.value(value)?, DType::I64)?;
        let size = Numbers::new(DType::I64, Vec::new(), vec![size_of_axis]);
        let size = build.value(&Value::Numbers(size.into()))?;
        let is_negative = {
            let zero = build.scalar(DType::I64, 0.0)?;
            build.compare(tnr_compare_op::LT, indices, zero)?
        };
        build.select(is_negative, build.binary(tnr_binary_op::ADD, indices, size)?, indices)
    }
}
