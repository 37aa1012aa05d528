//! Values of a model: those of the graph, and those that are known before a run.

use std::rc::Rc;

use super::number::{Number, Numbers};
use super::tensor::{Constant, ElementType};
use crate::dtype::DType;

/// Most elements that are computed while a model is read.
pub(super) const MOST_KNOWN: usize = 4096;

#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A value of the graph by its number.
    Graph(u32, ElementType),
    Constant(Rc<Constant>),
    Numbers(Rc<Numbers>),
}

impl Value {
    pub(super) fn element_type(&self) -> ElementType {
        match self {
            Value::Graph(_, of) => *of,
            Value::Constant(constant) => constant.of,
            Value::Numbers(numbers) => numbers.dtype.into(),
        }
    }

    /// The integers, and the shape that they have.
    pub(super) fn numbers(&self) -> Option<(Vec<usize>, Vec<Number>)> {
        match self {
            Value::Graph(..) => None,
            Value::Constant(constant) => {
                let integers = constant.integers(MOST_KNOWN)?;
                let numbers = integers.into_iter().map(Number::Int).collect();
                Some((constant.shape.clone(), numbers))
            }
            Value::Numbers(numbers) => Some((numbers.shape.clone(), numbers.numbers.clone())),
        }
    }

    /// A value of its own for another graph, where it is known.
    pub(super) fn known(&self) -> Option<Constant> {
        match self {
            Value::Graph(..) => None,
            Value::Constant(of) => Constant::new(of.of, of.shape.clone(), of.data.clone()).ok(),
            Value::Numbers(numbers) if numbers.dtype == DType::I64 => {
                Constant::of_integers(numbers.shape.clone(), &numbers.ints()?).ok()
            }
            Value::Numbers(_) => None,
        }
    }
}
