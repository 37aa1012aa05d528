//! The graph of a model while it is built: nodes whose element types are known at run time.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CString;
use std::rc::Rc;

use prost::bytes::Bytes;
use tenure_sys as sys;
use tenure_sys::{
    TNR_NODE_BINARY, TNR_NODE_BROADCAST, TNR_NODE_CAST, TNR_NODE_COMPARE, TNR_NODE_CONCAT,
    TNR_NODE_EXTENT, TNR_NODE_PERMUTE, TNR_NODE_REDUCE, TNR_NODE_RESHAPE, TNR_NODE_SELECT,
    TNR_NODE_SLICE, TNR_NODE_UNARY, tnr_binary_op, tnr_compare_op, tnr_reduce_op, tnr_scalar,
    tnr_unary_op,
};

use super::number::{Arithmetic, Number, Numbers};
use super::tensor::Constant;
use super::value::Value;
use crate::dense::{SharedTensor, Tensor};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::program::calls::graph_record::{Attributes, Extent, GraphHandle, Node};
use crate::raw::operations::scalar;

/// The graph, with the extents that were made of others and the names of its nodes.
pub(super) struct Build {
    graph: RefCell<GraphHandle>,
    /// The file of the model, which constants are lent from.
    file: Option<SharedTensor<u8>>,
    extents: RefCell<HashMap<(Arithmetic, i64, i64), i64>>,
    /// The node of the model that is being added.
    pub(super) label: RefCell<Rc<str>>,
    labels: RefCell<Vec<Rc<str>>>,
}

/// A node without numbers and attributes.
fn plain(code: u32, operands: &[u32]) -> Node {
    Node {
        code,
        dtype: DType::from_raw(sys::tnr_dtype(0)),
        flags: 0,
        copy: 0,
        marks: 0,
        operands: operands.to_vec(),
        numbers: Vec::new(),
        attributes: None,
    }
}

impl Build {
    pub(super) fn new(file: Option<SharedTensor<u8>>) -> Result<Build> {
        Ok(Build {
            graph: RefCell::new(GraphHandle::create()?),
            file,
            extents: RefCell::default(),
            label: RefCell::new("".into()),
            labels: RefCell::default(),
        })
    }

    /// The graph, and the names of its nodes.
    pub(super) fn into_parts(self) -> (GraphHandle, Vec<String>) {
        let labels = self.labels.into_inner();
        (self.graph.into_inner(), labels.iter().map(|label| label.to_string()).collect())
    }

    fn add(&self, node: &Node) -> Result<u32> {
        let added = self.graph.borrow_mut().add_node(node);
        let value = added.map_err(|error| {
            // "nodes[2], add: why" without the number, which says nothing of a model.
            let message = error.message();
            let why = message.strip_prefix("nodes[").and_then(|rest| rest.split_once("], "));
            let why = why.map_or(message, |(_, why)| why);
            let shapes: Vec<_> =
                node.operands.iter().filter_map(|it| self.described(*it)).collect();
            Error::new(error.kind(), format!("{why} (operands: {})", shapes.join(", ")))
        })?;
        self.labels.borrow_mut().push(Rc::clone(&self.label.borrow()));
        Ok(value)
    }

    /// "f32 [batch, 4]".
    fn described(&self, value: u32) -> Option<String> {
        let graph = self.graph.borrow();
        let (dtype, _) = graph.type_of(value).ok()?;
        let numbers = graph.numbers_of(value).ok()?;
        let sizes: Result<Vec<_>> = numbers.iter().map(|n| graph.number_text(*n)).collect();
        Some(format!("{dtype} [{}]", sizes.ok()?.join(", ")))
    }

    pub(super) fn dtype(&self, value: u32) -> Result<DType> {
        Ok(self.graph.borrow().type_of(value)?.0)
    }

    /// The shape where all extents are at their maxima.
    pub(super) fn largest(&self, value: u32) -> Result<Vec<usize>> {
        Ok(self.graph.borrow().type_of(value)?.1.as_slice().to_vec())
    }

    pub(super) fn rank(&self, value: u32) -> Result<usize> {
        Ok(self.largest(value)?.len())
    }

    pub(super) fn sizes(&self, value: u32) -> Result<Vec<Number>> {
        let numbers = self.graph.borrow().numbers_of(value)?;
        Ok(numbers.into_iter().map(Number::of).collect())
    }

    pub(super) fn output(&self, value: u32) -> Result<()> {
        self.graph.borrow_mut().add_output(value, None)
    }
}

/// Inputs, constants and extents.
impl Build {
    pub(super) fn extent(&self, name: &str, maximum: usize) -> Result<Number> {
        // The library keeps 31 bytes of a name.
        let name: String = name.chars().filter(|c| *c != '\0').take(31).collect();
        let name = CString::new(name).unwrap_or_default();
        let maximum = Number::from(maximum).encoded()?;
        let extent = Extent::Named { name, maximum };
        Ok(Number::of(self.graph.borrow_mut().add_extent(&extent)?))
    }

    pub(super) fn input(&self, dtype: DType, sizes: &[Number]) -> Result<u32> {
        let sizes: Vec<i64> = sizes.iter().map(|size| size.encoded()).collect::<Result<_>>()?;
        self.graph.borrow_mut().add_input(dtype, &sizes)
    }

    /// A constant, whose elements stay in the file where they are aligned there.
    pub(super) fn constant(&self, constant: &Constant) -> Result<u32> {
        if let Some(value) = constant.value.get() {
            return Ok(value);
        }
        let (dtype, shape) = (constant.of.dtype, &constant.shape);
        let in_file = self.file.as_ref().and_then(|file| {
            let start = file.as_ref().as_ptr() as usize;
            let offset = (constant.data.as_ptr() as usize).checked_sub(start)?;
            let end = offset.checked_add(constant.data.len())?;
            (end <= file.as_ref().len()).then_some((file, offset))
        });
        let is_aligned = constant.data.as_ptr().align_offset(dtype.alignment_bytes()) == 0;
        let value = match in_file {
            _ if constant.data.is_empty() || !is_aligned => self.copied(constant)?,
            Some((file, offset)) => {
                self.graph.borrow_mut().add_constant(file, offset, dtype, shape)?
            }
            // A file next to the model, or bytes that were made of its numbers.
            None => {
                let owner = constant.data.clone();
                let len = owner.len();
                let bytes = SharedTensor::from_bytes(owner, 0, len);
                let bytes = bytes.map_err(Error::from)?;
                self.graph.borrow_mut().add_constant(&bytes, 0, dtype, shape)?
            }
        };
        constant.value.set(Some(value));
        Ok(value)
    }

    fn copied(&self, constant: &Constant) -> Result<u32> {
        let len = constant.data.len();
        let mut bytes = Tensor::<u8>::zeros(len)?;
        if let Some(to) = bytes.as_mut_slice() {
            to.copy_from_slice(&constant.data);
        }
        let shared = bytes.into_shared();
        self.graph.borrow_mut().add_constant(&shared, 0, constant.of.dtype, &constant.shape)
    }

    /// A value of the graph for a value of the model.
    pub(super) fn value(&self, value: &Value) -> Result<u32> {
        match value {
            Value::Graph(value, _) => Ok(*value),
            Value::Constant(constant) => self.constant(constant),
            Value::Numbers(numbers) => self.numbers(numbers),
        }
    }

    fn numbers(&self, of: &Numbers) -> Result<u32> {
        if let Some(value) = of.value.get() {
            return Ok(value);
        }
        let value = match of.ints() {
            Some(ints) => {
                let constant = self.constant(&Constant::of_integers(of.shape.clone(), &ints)?)?;
                self.cast(constant, of.dtype)?
            }
            None => {
                let parts = of.numbers.iter().map(|number| {
                    let number = self.number(of.dtype, *number)?;
                    self.reshape(number, &[Number::Int(1)])
                });
                let parts: Vec<u32> = parts.collect::<Result<_>>()?;
                let joined = if parts.len() == 1 { parts[0] } else { self.concat(&parts, 0)? };
                let shape: Vec<_> = of.shape.iter().map(|extent| Number::from(*extent)).collect();
                self.reshape(joined, &shape)?
            }
        };
        of.value.set(Some(value));
        Ok(value)
    }

    /// A number of a run, as a value of rank 0.
    fn number(&self, dtype: DType, number: Number) -> Result<u32> {
        match number {
            Number::Int(int) => {
                let constant = self.constant(&Constant::of_integers(Vec::new(), &[int])?)?;
                self.cast(constant, dtype)
            }
            Number::Extent(extent) => {
                let node = Node { dtype, numbers: vec![extent], ..plain(TNR_NODE_EXTENT, &[]) };
                self.add(&node)
            }
        }
    }

    /// `a op b`, which is an extent where one of them is.
    pub(super) fn arithmetic(&self, op: Arithmetic, a: Number, b: Number) -> Result<Number> {
        if let (Number::Int(a), Number::Int(b)) = (a, b) {
            let result = op.of_ints(a, b);
            let refused = || Error::invalid(format!("{op:?} of {a} and {b} is no 64-bit integer"));
            return result.map(Number::Int).ok_or_else(refused);
        }
        if let Some(known) = op.of_extents(a, b) {
            return Ok(known);
        }
        // A sum with a negative number is a difference, which extents have.
        let (op, b) = match (op, b) {
            (Arithmetic::Add, Number::Int(b @ i64::MIN..0)) => {
                (Arithmetic::Sub, Number::Int(b.saturating_neg()))
            }
            _ => (op, b),
        };
        let (a, b) = match (op, a) {
            (Arithmetic::Add, Number::Int(i64::MIN..0)) => return self.arithmetic(op, b, a),
            _ => (a.encoded()?, b.encoded()?),
        };
        if let Some(known) = self.extents.borrow().get(&(op, a, b)) {
            return Ok(Number::of(*known));
        }
        let made = self.graph.borrow_mut().add_extent(&Extent::Made { op: op.op(), a, b })?;
        self.extents.borrow_mut().insert((op, a, b), made);
        Ok(Number::of(made))
    }

    /// A number of this type, as an operand of element-wise operations.
    pub(super) fn scalar(&self, dtype: DType, number: f64) -> Result<u32> {
        self.graph.borrow_mut().add_scalar(&scalar_of(dtype, number)?)
    }

    /// A constant of one element.
    pub(super) fn element(&self, dtype: DType, number: f64, shape: &[usize]) -> Result<u32> {
        let bytes = scalar_of(dtype, number)?.bytes;
        let data = Bytes::copy_from_slice(&bytes[..dtype.size_bytes()]);
        self.constant(&Constant::new(dtype.into(), shape.to_vec(), data)?)
    }
}

pub(super) fn scalar_of(dtype: DType, number: f64) -> Result<tnr_scalar> {
    macro_rules! scalars {
        ($($dtype:ident $element:ty;)*) => {
            match dtype {
                $(DType::$dtype => Ok(scalar(number as $element)),)*
                DType::F16 => Ok(scalar(half::f16::from_f64(number))),
                DType::BF16 => Ok(scalar(half::bf16::from_f64(number))),
                DType::BOOL8 => Ok(scalar(crate::dtype::Bool8::from(number != 0.0))),
                _ => Err(Error::new(ErrorKind::Unsupported, format!("a number of {dtype}"))),
            }
        };
    }
    scalars! { F64 f64; F32 f32; I8 i8; I16 i16; I32 i32; I64 i64; U8 u8; U16 u16; U32 u32; U64 u64; }
}

/// Nodes that several operators are made of.
impl Build {
    pub(super) fn unary(&self, op: tnr_unary_op, a: u32) -> Result<u32> {
        self.add(&plain(TNR_NODE_UNARY | op.0 as u32, &[a]))
    }

    pub(super) fn binary(&self, op: tnr_binary_op, a: u32, b: u32) -> Result<u32> {
        self.add(&plain(TNR_NODE_BINARY | op.0 as u32, &[a, b]))
    }

    pub(super) fn compare(&self, op: tnr_compare_op, a: u32, b: u32) -> Result<u32> {
        self.add(&plain(TNR_NODE_COMPARE | op.0 as u32, &[a, b]))
    }

    pub(super) fn select(&self, condition: u32, a: u32, b: u32) -> Result<u32> {
        self.add(&plain(TNR_NODE_SELECT, &[condition, a, b]))
    }

    /// `a op number`, in the type of `a`.
    pub(super) fn with(&self, op: tnr_binary_op, a: u32, number: f64) -> Result<u32> {
        self.binary(op, a, self.scalar(self.dtype(a)?, number)?)
    }

    pub(super) fn cast(&self, a: u32, dtype: DType) -> Result<u32> {
        match self.dtype(a)? == dtype {
            true => Ok(a),
            false => self.typed_node(TNR_NODE_CAST, &[a], dtype),
        }
    }

    /// Over the axes of a mask, which may be kept with an extent of 1.
    pub(super) fn reduce(
        &self,
        op: tnr_reduce_op,
        a: u32,
        axes: u32,
        is_kept: bool,
    ) -> Result<u32> {
        let flags = axes | if is_kept { sys::TNR_NODE_KEEP_AXES } else { 0 };
        self.add(&Node { flags, ..plain(TNR_NODE_REDUCE | op.0 as u32, &[a]) })
    }

    pub(super) fn reshape(&self, a: u32, sizes: &[Number]) -> Result<u32> {
        if self.sizes(a)? == sizes {
            return Ok(a);
        }
        self.sized(TNR_NODE_RESHAPE, a, sizes)
    }

    pub(super) fn broadcast(&self, a: u32, sizes: &[Number]) -> Result<u32> {
        if self.sizes(a)? == sizes {
            return Ok(a);
        }
        self.sized(TNR_NODE_BROADCAST, a, sizes)
    }

    fn sized(&self, code: u32, a: u32, sizes: &[Number]) -> Result<u32> {
        let numbers = sizes.iter().map(|size| size.encoded()).collect::<Result<_>>()?;
        self.add(&Node { numbers, ..plain(code, &[a]) })
    }

    pub(super) fn permute(&self, a: u32, axes: &[usize]) -> Result<u32> {
        let numbers = axes.iter().map(|axis| *axis as i64).collect();
        self.add(&Node { numbers, ..plain(TNR_NODE_PERMUTE, &[a]) })
    }

    /// Elements from `start` to `stop` along an axis.
    pub(super) fn slice(&self, a: u32, axis: usize, part: [Number; 3]) -> Result<u32> {
        let mut numbers = vec![axis as i64];
        for number in part {
            numbers.push(number.encoded()?);
        }
        self.add(&Node { numbers, ..plain(TNR_NODE_SLICE, &[a]) })
    }

    pub(super) fn concat(&self, parts: &[u32], axis: usize) -> Result<u32> {
        self.add(&Node { numbers: vec![axis as i64], ..plain(TNR_NODE_CONCAT, parts) })
    }

    /// Any other node.
    pub(super) fn node(
        &self,
        code: u32,
        operands: &[u32],
        numbers: &[i64],
        attributes: Option<Attributes>,
    ) -> Result<u32> {
        self.add(&Node { numbers: numbers.to_vec(), attributes, ..plain(code, operands) })
    }

    /// A node whose result has a dtype of its own.
    pub(super) fn typed_node(&self, code: u32, operands: &[u32], dtype: DType) -> Result<u32> {
        self.add(&Node { dtype, ..plain(code, operands) })
    }

    /// A normalization over the axes of a mask.
    pub(super) fn over(
        &self,
        code: u32,
        operands: &[u32],
        axes: u32,
        attributes: Option<Attributes>,
    ) -> Result<u32> {
        self.add(&Node { flags: axes, attributes, ..plain(code, operands) })
    }
}
