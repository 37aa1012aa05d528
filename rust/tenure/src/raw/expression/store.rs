//! The room of an expression: in place up to 16 nodes, on the heap beyond.

use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::panic::Location;

use tenure_sys::TNR_MAX_NODES;

use super::node::{MAX_WORDS, Node, Operand};
use crate::error::Error;

/// An address, a number, or bits.
pub(super) type Word = *const ();

pub(super) const INLINE_NODES: usize = 16;
/// A word for each view or number that `INLINE_NODES` nodes of two operands read, and a few more: a
/// view by value takes two words or more.
pub(super) const INLINE_WORDS: usize = 20;

/// Nodes and words. It is moved as a whole into every operator, which is why it is no larger.
///
/// Functions that take and give all of this by value handle parts beyond the room: the compiler
/// assumes that a reference which leaves its sight is kept, and then each of these moves is a copy.
// The invariant: while `grown` is None, the first `node_count` nodes and `word_count` words are
// initialised.
pub(super) struct Store<'a> {
    nodes: MaybeUninit<[Node; INLINE_NODES]>,
    words: MaybeUninit<[Word; INLINE_WORDS]>,
    node_count: u8,
    word_count: u8,
    /// All of them, where there are more, or there is an error.
    grown: Option<Box<Grown>>,
    _read: PhantomData<&'a ()>,
}

#[derive(Clone)]
struct Grown {
    nodes: Vec<Node>,
    words: Vec<Word>,
    error: Option<Error>,
}

// SAFETY: words are numbers, or addresses of views and of elements. Any thread may read all of
// these views and elements (`Element` is Sync, and views of it are Send and Sync).
unsafe impl Send for Store<'_> {}
// SAFETY: words are numbers, or addresses of views and elements that any thread may read; no method
// writes through `&self`.
unsafe impl Sync for Store<'_> {}

impl Clone for Store<'_> {
    #[inline]
    fn clone(&self) -> Self {
        Store { grown: self.grown.clone(), ..*self }
    }
}

impl Store<'_> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Store {
            nodes: MaybeUninit::uninit(),
            words: MaybeUninit::uninit(),
            node_count: 0,
            word_count: 0,
            grown: None,
            _read: PhantomData,
        }
    }

    #[inline(always)]
    pub(super) fn nodes(&self) -> &[Node] {
        match &self.grown {
            // SAFETY: `node_count` nodes are initialised, by the invariant.
            None => unsafe {
                let first = self.nodes.as_ptr().cast();
                std::slice::from_raw_parts(first, self.node_count.into())
            },
            Some(grown) => &grown.nodes,
        }
    }

    #[inline(always)]
    pub(super) fn words(&self) -> &[Word] {
        match &self.grown {
            // SAFETY: `word_count` words are initialised, by the invariant.
            None => unsafe {
                let first = self.words.as_ptr().cast();
                std::slice::from_raw_parts(first, self.word_count.into())
            },
            Some(grown) => &grown.words,
        }
    }

    #[inline(always)]
    pub(super) fn is_inline(&self) -> bool {
        self.grown.is_none()
    }

    #[inline(always)]
    pub(super) fn error(&self) -> Option<&Error> {
        self.grown.as_ref()?.error.as_ref()
    }

    pub(super) fn fail(&mut self, error: Error) {
        let mut grown = mem::replace(self, Store::new()).grow();
        grown.error.get_or_insert(error);
        self.grown = Some(grown);
    }

    #[inline(always)]
    pub(super) fn push(&mut self, node: Node) -> Operand {
        let number = usize::from(self.node_count);
        if self.grown.is_some() || number >= INLINE_NODES {
            let (store, operand) = mem::replace(self, Store::new()).push_grown(node);
            *self = store;
            return operand;
        }
        // SAFETY: inside the array.
        unsafe { self.nodes.as_mut_ptr().cast::<Node>().add(number).write(node) };
        self.node_count += 1;
        Operand::node(number)
    }

    /// The index of the first.
    #[inline(always)]
    pub(super) fn push_words(&mut self, words: &[Word]) -> usize {
        let first = usize::from(self.word_count);
        if self.grown.is_some() || first + words.len() > INLINE_WORDS {
            let (store, first) = mem::replace(self, Store::new()).push_words_grown(words);
            *self = store;
            return first;
        }
        for (nth, word) in words.iter().enumerate() {
            // SAFETY: inside the array.
            unsafe { self.words.as_mut_ptr().cast::<Word>().add(first + nth).write(*word) };
        }
        self.word_count += words.len() as u8;
        first
    }

    #[cold]
    #[inline(never)]
    fn push_grown(self, node: Node) -> (Self, Operand) {
        let mut grown = self.grow();
        let number = grown.nodes.len();
        if number == TNR_MAX_NODES {
            grown.error.get_or_insert_with(|| too_many_nodes(node.at));
        } else {
            grown.nodes.push(node);
        }
        let operand = Operand::node(number.min(TNR_MAX_NODES - 1));
        (Store { grown: Some(grown), ..Store::new() }, operand)
    }

    #[cold]
    #[inline(never)]
    fn push_words_grown(self, words: &[Word]) -> (Self, usize) {
        let mut grown = self.grow();
        let mut first = grown.words.len();
        if first + words.len() > MAX_WORDS {
            grown.error.get_or_insert_with(too_many_words);
            first = 0;
        } else {
            grown.words.extend_from_slice(words);
        }
        (Store { grown: Some(grown), ..Store::new() }, first)
    }

    #[cold]
    fn grow(mut self) -> Box<Grown> {
        self.grown.take().unwrap_or_else(|| {
            let (nodes, words) = (self.nodes().to_vec(), self.words().to_vec());
            Box::new(Grown { nodes, words, error: None })
        })
    }
}

#[cold]
fn too_many_nodes(at: &Location<'_>) -> Error {
    Error::invalid(format!(
        "an expression has {TNR_MAX_NODES} operations at most: one more at {at}"
    ))
}

#[cold]
fn too_many_words() -> Error {
    Error::invalid(format!(
        "the operands of an expression take {MAX_WORDS} words at most: one for a reference or a \
         number, and two and one for each axis at least for a view by value"
    ))
}
