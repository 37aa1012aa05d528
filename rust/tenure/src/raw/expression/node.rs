//! Nodes, as small as they can be.

use std::panic::Location;

use tenure_sys as sys;
use tenure_sys::{
    TNR_MAX_NODES, tnr_binary_op, tnr_compare_op, tnr_normalize_op, tnr_reduce_op, tnr_ternary_op,
    tnr_unary_op,
};

use crate::dtype::{DType, Element};

/// Dtypes by the number that codes of nodes have for them.
const DTYPES: [DType; 15] = [
    DType::F64,
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::BOOL8,
    DType::C64,
    DType::C128,
];

/// The number of an element's dtype.
pub(super) const fn number_of<T: Element>() -> u16 {
    let mut number = 0;
    while DTYPES[number].raw().0 != T::DTYPE.raw().0 {
        number += 1;
    }
    number as u16
}

/// The computation of a node, in 16 bits: from the lowest, the dtype of the result, the code of the
/// operation, and the kind of node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Code(u16);

impl Code {
    const fn new<T: Element>(kind: u32, op: i32) -> Code {
        assert!(op >= 0 && op < 256 && kind & 0xffff == 0 && kind >> 16 < 16);
        Code(((kind >> 16) as u16) << 12 | (op as u16) << 4 | number_of::<T>())
    }
    pub(crate) const fn unary<T: Element>(op: tnr_unary_op) -> Code {
        Code::new::<T>(sys::TNR_NODE_UNARY, op.0)
    }
    pub(crate) const fn binary<T: Element>(op: tnr_binary_op) -> Code {
        Code::new::<T>(sys::TNR_NODE_BINARY, op.0)
    }
    pub(crate) const fn ternary<T: Element>(op: tnr_ternary_op) -> Code {
        Code::new::<T>(sys::TNR_NODE_TERNARY, op.0)
    }
    pub(crate) const fn compare(op: tnr_compare_op) -> Code {
        Code::new::<crate::dtype::Bool8>(sys::TNR_NODE_COMPARE, op.0)
    }
    pub(crate) const fn select<T: Element>() -> Code {
        Code::new::<T>(sys::TNR_NODE_SELECT, 0)
    }
    pub(crate) const fn cast<T: Element>() -> Code {
        Code::new::<T>(sys::TNR_NODE_CAST, 0)
    }
    pub(crate) const fn reduce<T: Element>(op: tnr_reduce_op) -> Code {
        Code::new::<T>(sys::TNR_NODE_REDUCE, op.0)
    }
    pub(crate) const fn normalize<T: Element>(op: tnr_normalize_op) -> Code {
        Code::new::<T>(sys::TNR_NODE_NORMALIZE, op.0)
    }

    /// The kind, as the ABI has it.
    pub(crate) fn kind(self) -> u32 {
        u32::from(self.0 >> 12) << 16
    }
    /// The code of the operation among those of its kind.
    pub(crate) fn op(self) -> i32 {
        i32::from(self.0 >> 4 & 0xff)
    }
    pub(super) fn dtype(self) -> DType {
        DTYPES[usize::from(self.0 & 15)]
    }
}

/// An operand of a node, in 16 bits: a kind, and for numbers and lent values a dtype, above an
/// index. An operand has a meaning only in its own graph, and leaves this module only to be looked
/// at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Operand(pub(super) u16);

/// An earlier node, by its number.
pub(super) const NODE: u16 = 0;
/// A word that is the address of a view.
pub(super) const VIEW: u16 = 1;
/// Words that are a view: see `Packed`.
pub(super) const PACKED: u16 = 2;
/// A word that is a number's bits.
pub(super) const NUMBER: u16 = 3;
/// The contents of the output.
pub(super) const OUTPUT: u16 = 4;

/// Words of one graph; more are refused.
pub(super) const MAX_WORDS: usize = 1 << 9;
/// The bits of an operand that are not its index.
pub(super) const TAG: u16 = !(MAX_WORDS as u16 - 1);

impl Operand {
    pub(super) const NONE: Operand = Operand(u16::MAX);
    pub(super) const OUTPUT: Operand = Operand(OUTPUT << 13);

    pub(super) fn node(number: usize) -> Operand {
        debug_assert!(number < TNR_MAX_NODES);
        Operand(NODE << 13 | number as u16)
    }
    pub(super) fn word(kind: u16, dtype: u16, index: usize) -> Operand {
        debug_assert!(index < MAX_WORDS);
        Operand(kind << 13 | dtype << 9 | index as u16)
    }
    pub(super) fn kind(self) -> u16 {
        self.0 >> 13
    }
    pub(super) fn dtype(self) -> DType {
        DTYPES[usize::from(self.0 >> 9 & 15)]
    }
    pub(super) fn index(self) -> usize {
        usize::from(self.0) & (MAX_WORDS - 1)
    }
}

/// An operation on operands. A reduction or a normalization has one operand; the other two entries
/// are its axes in the ABI's form and the index of its attributes' words, or NONE.
#[derive(Clone, Copy)]
pub(crate) struct Node {
    pub(crate) code: Code,
    pub(crate) operands: [Operand; 3],
    /// Where the source has it.
    pub(crate) at: &'static Location<'static>,
}

impl Node {
    /// Whether it has axes.
    pub(crate) fn is_over_axes(&self) -> bool {
        matches!(self.code.kind(), sys::TNR_NODE_REDUCE | sys::TNR_NODE_NORMALIZE)
    }
    /// The axes by bits, and whether they stay.
    pub(crate) fn axes(&self) -> (u32, bool) {
        let flags = u32::from(self.operands[1].0);
        (flags & 0xff, flags & sys::TNR_NODE_KEEP_AXES != 0)
    }
    /// The entries of `operands` that are operands.
    #[inline]
    pub(crate) fn inputs(&self) -> &[Operand] {
        if self.is_over_axes() {
            return &self.operands[..1];
        }
        let count = self.operands.iter().take_while(|operand| **operand != Operand::NONE).count();
        &self.operands[..count]
    }
}
