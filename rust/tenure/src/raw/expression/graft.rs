//! One expression put into another.

use tenure_sys as sys;
use tenure_sys::TNR_MAX_NODES;

use super::node::{NODE, NUMBER, PACKED, TAG, VIEW};
use super::packed::Packed;
use super::store::Word;
use super::{Graph, Node, Operand, both_of, unbound, word_with};

impl<'a> Graph<'a> {
    /// Puts another graph in: the operand that its result is. Nodes that are here already are not
    /// put in again, so that a clone computes nothing twice.
    #[inline(never)]
    pub(super) fn graft(mut self, other: &Graph<'a>) -> (Self, Operand) {
        if let Some(error) = other.store.error().or(self.store.error()).cloned() {
            self.fail(error);
            return (self, Operand::NONE);
        }
        if other.call != 0 {
            if self.call != 0 && self.call != other.call {
                self.fail(unbound());
            }
            self.call = other.call;
        }
        let mut places = [Operand::NONE; TNR_MAX_NODES];
        for (number, node) in other.nodes().iter().enumerate() {
            let is_same = |here: &Node| self.is_same(here, other, node, &places);
            places[number] = match self.nodes().iter().position(is_same) {
                Some(here) => Operand::node(here),
                None => {
                    let moved = self.moved_node(other, node, &places);
                    self.store.push(moved)
                }
            };
        }
        let root = self.moved(other, other.root, &places);
        (self, root)
    }

    /// Whether a node here computes what one of another graph does. Attributes are not looked
    /// into: nodes with some are never the same.
    fn is_same(&self, here: &Node, other: &Graph<'a>, node: &Node, places: &[Operand]) -> bool {
        let is_over_axes = node.is_over_axes();
        here.code == node.code
            && (!is_over_axes || here.operands[1..] == node.operands[1..])
            && (!is_over_axes || node.operands[2] == Operand::NONE)
            && here.inputs().len() == node.inputs().len()
            && here.inputs().iter().zip(node.inputs()).all(|(here, operand)| match operand.kind() {
                NODE => *here == places[operand.index()],
                VIEW | NUMBER | PACKED => {
                    here.0 & TAG == operand.0 & TAG
                        && self.words_of(*here) == other.words_of(*operand)
                }
                _ => here == operand,
            })
    }

    /// Moves a node of another graph here, with its operands.
    fn moved_node(&mut self, other: &Graph<'a>, node: &Node, places: &[Operand]) -> Node {
        let mut moved = *node;
        for (place, operand) in moved.operands.iter_mut().zip(node.inputs()) {
            *place = self.moved(other, *operand, places);
        }
        if node.is_over_axes() && node.operands[2] != Operand::NONE {
            let index = node.operands[2].index();
            let mut words = [0, 1].map(|nth| other.store.words()[index + nth]);
            if node.code.kind() == sys::TNR_NODE_NORMALIZE {
                words[1] = word_with(both_of(words[1]).map(|one| self.moved(other, one, &[])));
            }
            moved.operands[2] = self.words(&words);
        }
        moved
    }

    /// The operand here that is one of another graph.
    fn moved(&mut self, other: &Graph<'a>, operand: Operand, places: &[Operand]) -> Operand {
        match operand.kind() {
            NODE => places[operand.index()],
            VIEW | NUMBER | PACKED => {
                let words = other.words_of(operand);
                for node in self.store.nodes() {
                    let mut inputs = node.inputs().iter();
                    let is_same = |here: &&Operand| {
                        here.0 & TAG == operand.0 & TAG && self.words_of(**here) == words
                    };
                    if let Some(here) = inputs.find(is_same) {
                        return *here;
                    }
                }
                Operand(operand.0 & TAG | self.words(words).0)
            }
            _ => operand,
        }
    }

    /// The words of a view or a number.
    fn words_of(&self, operand: Operand) -> &[Word] {
        let words = &self.store.words()[operand.index()..];
        match operand.kind() {
            PACKED => &words[..Packed::word_count(words[0])],
            _ => &words[..1],
        }
    }
}
