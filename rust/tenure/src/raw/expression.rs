//! Expressions while they are built: nodes and their operands, in room of a fixed size until that
//! is full, so that building one allocates nothing.
//!
//! Nodes are small here, because an expression is moved into each operator and out of it; they
//! become those of the ABI in the call.

mod evaluate;
mod graft;
mod node;
mod packed;
mod store;

use std::panic::Location;

use tenure_sys as sys;
use tenure_sys::tnr_view;

use super::operations::Reducing;
use crate::dtype::Element;
use crate::error::{Error, ErrorKind};
pub(super) use evaluate::Filling;
pub(crate) use node::{Code, Node, Operand};
use node::{NUMBER, PACKED, VIEW, number_of};
use packed::Packed;
use store::{Store, Word};

/// The kind of operand that a name in a message refers to.
pub(crate) enum Kind {
    Node(usize),
    View,
    Number,
    Output,
}

/// A view that the caller has and keeps for `'a`, or one by value.
pub struct Leaf<'a>(pub(super) Lends<'a>);

pub(super) enum Lends<'a> {
    Address(&'a tnr_view),
    Value(tnr_view),
}

impl<'a> Leaf<'a> {
    /// # Safety
    ///
    /// - `view` has passed `layout::check`.
    /// - Its elements are initialised, alive and not written for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn address(view: &'a tnr_view) -> Leaf<'a> {
        Leaf(Lends::Address(view))
    }

    /// # Safety
    ///
    /// - The conditions of [`address`](Self::address).
    #[inline(always)]
    pub(crate) unsafe fn value(view: tnr_view) -> Leaf<'a> {
        Leaf(Lends::Value(view))
    }
}

/// Lends a view of elements of `T` in the memory `P`.
pub trait LendView<T, P> {
    #[doc(hidden)]
    fn lent_leaf(&self) -> Leaf<'_>;
}

/// A number as an operand.
pub struct Single<T>(pub(crate) T);

/// Something that a graph can take in.
pub trait GraphOperand<'a>: Sized {
    /// Puts it into a graph: the operand that it is there, and its rank.
    fn put(self, graph: &mut Graph<'a>) -> (Operand, u8);

    /// `code(left, self)`, for a left side that is no graph.
    #[inline(always)]
    fn right_of(
        self,
        left: impl GraphOperand<'a>,
        code: Code,
        at: &'static Location<'static>,
    ) -> Graph<'a> {
        let mut graph = Graph::of(left);
        graph.binary(code, self, at);
        graph
    }
}

/// Nodes, and the views and numbers that they read; the last node is the result, or where there is
/// none, one of these.
// The invariant: words that operands of kind VIEW name are addresses of views as `Leaf::address`
// takes them, for 'a; words from those of PACKED are views as `Leaf::value` takes them.
#[derive(Clone)]
pub struct Graph<'a> {
    store: Store<'a>,
    root: Operand,
    /// Rank of the result.
    rank: u8,
    /// Which call of `update` the output is that of; 0 where no node reads one.
    call: u32,
}

impl<'a> GraphOperand<'a> for Leaf<'a> {
    #[inline(always)]
    fn put(self, graph: &mut Graph<'a>) -> (Operand, u8) {
        match self.0 {
            Lends::Address(view) => {
                let operand = graph.word(VIEW, 0, std::ptr::from_ref(view).cast());
                (operand, view.rank as u8)
            }
            Lends::Value(view) => {
                let (words, count) = Packed::of(&view);
                let index = graph.store.push_words(&words[..count]);
                (Operand::word(PACKED, 0, index), view.rank as u8)
            }
        }
    }
}

impl<'a, T: Element> GraphOperand<'a> for Single<T> {
    #[inline(always)]
    fn put(self, graph: &mut Graph<'a>) -> (Operand, u8) {
        const { assert!(size_of::<T>() <= 8) };
        let mut bits = 0_u64;
        // SAFETY: `bits` is as large as the largest of these elements, which have no padding.
        unsafe {
            let bytes = (&raw const self.0).cast::<u8>();
            std::ptr::copy_nonoverlapping(bytes, (&raw mut bits).cast(), size_of::<T>());
        }
        (graph.word(NUMBER, const { number_of::<T>() }, word_of(bits as usize)), 0)
    }
}

impl<'a> GraphOperand<'a> for Graph<'a> {
    #[inline]
    fn put(self, graph: &mut Graph<'a>) -> (Operand, u8) {
        let here = std::mem::replace(graph, Graph::empty());
        let operand;
        (*graph, operand) = here.graft(&self);
        (operand, self.rank)
    }

    /// The graph goes on, so that none is put into another.
    #[inline]
    fn right_of(
        mut self,
        left: impl GraphOperand<'a>,
        code: Code,
        at: &'static Location<'static>,
    ) -> Graph<'a> {
        let (left, rank) = left.put(&mut self);
        self.rank = self.rank.max(rank);
        self.push(Node { code, operands: [left, self.root, Operand::NONE], at });
        self
    }
}

/// A number as a word.
fn word_of(number: usize) -> Word {
    std::ptr::without_provenance(number)
}

impl<'a> Graph<'a> {
    #[inline(always)]
    fn empty() -> Self {
        Graph { store: Store::new(), root: Operand::NONE, rank: 0, call: 0 }
    }

    #[inline(always)]
    pub(crate) fn of(source: impl GraphOperand<'a>) -> Graph<'a> {
        let mut graph = Graph::empty();
        (graph.root, graph.rank) = source.put(&mut graph);
        graph
    }

    /// The output of a call of `update`, which has this number, not 0.
    pub(crate) fn output(call: u32, rank: usize) -> Graph<'a> {
        Graph { store: Store::new(), root: Operand::OUTPUT, rank: rank as u8, call }
    }

    /// `code(self)`.
    #[inline(always)]
    pub(crate) fn unary(&mut self, code: Code, at: &'static Location<'static>) {
        self.push(Node { code, operands: [self.root, Operand::NONE, Operand::NONE], at });
    }

    /// `code(self, b)`.
    #[inline(always)]
    pub(crate) fn binary(
        &mut self,
        code: Code,
        b: impl GraphOperand<'a>,
        at: &'static Location<'static>,
    ) {
        let (b, rank) = b.put(self);
        self.rank = self.rank.max(rank);
        self.push(Node { code, operands: [self.root, b, Operand::NONE], at });
    }

    /// `code(self, b, c)`.
    #[inline]
    pub(crate) fn ternary(
        &mut self,
        code: Code,
        b: impl GraphOperand<'a>,
        c: impl GraphOperand<'a>,
        at: &'static Location<'static>,
    ) {
        // `put` of a graph leaves `self.root` as it is.
        let (b, rank_b) = b.put(self);
        let (c, rank_c) = c.put(self);
        self.rank = self.rank.max(rank_b).max(rank_c);
        self.push(Node { code, operands: [self.root, b, c], at });
    }

    /// A reduction of the axes whose bits are set.
    pub(crate) fn reduce(
        &mut self,
        code: Code,
        axes: u32,
        are_kept: bool,
        with: Option<Reducing>,
        at: &'static Location<'static>,
    ) {
        let with = with.map_or(Operand::NONE, |Reducing { ddof, power }| {
            self.words(&[word_of(ddof as usize), word_of(power.to_bits() as usize)])
        });
        let keep = if are_kept { sys::TNR_NODE_KEEP_AXES } else { 0 };
        let axes_operand = Operand((axes | keep) as u16);
        self.push(Node { code, operands: [self.root, axes_operand, with], at });
        if !are_kept {
            self.rank -= axes.count_ones() as u8;
        }
    }

    /// A normalization over the axes whose bits are set: `with` an `eps`, a weight and a bias.
    pub(crate) fn normalize(
        &mut self,
        code: Code,
        axes: u32,
        with: Option<(f64, [Option<Leaf<'a>>; 2])>,
        at: &'static Location<'static>,
    ) {
        let with = with.map_or(Operand::NONE, |(eps, vectors)| {
            let both = vectors.map(|leaf| leaf.map_or(Operand::NONE, |leaf| leaf.put(self).0));
            self.words(&[word_of(eps.to_bits() as usize), word_with(both)])
        });
        self.push(Node { code, operands: [self.root, Operand(axes as u16), with], at });
    }

    /// Makes every evaluation fail; the first reason stays.
    #[cold]
    pub(crate) fn fail(&mut self, error: Error) {
        self.store.fail(error);
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank.into()
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        self.store.nodes()
    }

    pub(crate) fn root(&self) -> Operand {
        self.root
    }

    /// Fails where it failed while it was built, or reads the output of another call than this one.
    #[inline]
    pub(crate) fn check(&self, call: u32) -> crate::error::Result<()> {
        if self.store.error().is_none() && (self.call == 0 || self.call == call) {
            return Ok(());
        }
        Err(self.why_not())
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.store.error().is_some()
    }

    #[cold]
    fn why_not(&self) -> Error {
        self.store.error().cloned().unwrap_or_else(unbound)
    }

    #[inline(always)]
    fn push(&mut self, node: Node) {
        self.root = self.store.push(node);
    }

    #[inline(always)]
    fn word(&mut self, kind: u16, dtype: u16, word: Word) -> Operand {
        let index = self.store.push_words(&[word]);
        Operand::word(kind, dtype, index)
    }

    /// Words of no kind, at the index of the operand.
    #[inline(always)]
    fn words(&mut self, words: &[Word]) -> Operand {
        Operand(self.store.push_words(words) as u16)
    }
}

#[cold]
fn unbound() -> Error {
    Error::new(
        ErrorKind::UnboundArgument,
        "the argument of a closure for `update` stands for the memory of that call, and for nothing \
         elsewhere",
    )
}

/// Weight and bias in a word.
fn word_with([weight, bias]: [Operand; 2]) -> Word {
    word_of(usize::from(weight.0) | usize::from(bias.0) << 16)
}

/// Weight and bias, as they stand in a word.
fn both_of(word: Word) -> [Operand; 2] {
    [Operand(word.addr() as u16), Operand((word.addr() >> 16) as u16)]
}
