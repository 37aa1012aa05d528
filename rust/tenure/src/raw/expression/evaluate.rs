//! The call: nodes become those of the ABI, on the stack.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, size_of};
use std::ptr;

use tenure_sys as sys;
use tenure_sys::{
    TNR_MAX_NODES, tnr_expression, tnr_node, tnr_normalize_attributes, tnr_reduce_attributes,
    tnr_scalar, tnr_view,
};

use super::node::{MAX_WORDS, NODE, NUMBER, OUTPUT, PACKED, VIEW};
use super::packed::Packed;
use super::store::{INLINE_NODES, INLINE_WORDS, Word};
use super::{Graph, Kind, Node, Operand, both_of};
use crate::error::Result;
use crate::layout;
use crate::raw::context::current;
use crate::raw::{LentMut, check, copy, entered, traced};

/// Adjacent values in room of the caller's. Their addresses do not change.
pub(in crate::raw) struct Filling<'r, T> {
    pub(super) first: *mut T,
    room: usize,
    pub(super) count: usize,
    // A reference in addition to the address would invalidate the addresses that were given out.
    _room: PhantomData<&'r mut [MaybeUninit<T>]>,
}

impl<'r, T: Copy> Filling<'r, T> {
    pub(in crate::raw) fn new(room: &'r mut [MaybeUninit<T>]) -> Self {
        Filling { first: room.as_mut_ptr().cast(), room: room.len(), count: 0, _room: PhantomData }
    }

    /// Its address, which is valid as long as the room is.
    #[inline(always)]
    pub(in crate::raw) fn push(&mut self, value: T) -> *const T {
        assert!(self.count < self.room);
        // SAFETY: inside the room, by the assertion; all access is through this pointer.
        let place = unsafe { self.first.add(self.count) };
        // SAFETY: `place` is inside the room, by the assertion, and aligned for `T`; all access to
        // the room is through this pointer; `T` is `Copy`, so an overwritten value needs no drop.
        unsafe { place.write(value) };
        self.count += 1;
        place
    }

    #[inline(always)]
    pub(in crate::raw) fn get(&self, index: usize) -> T {
        assert!(index < self.count);
        // SAFETY: written, by the assertion.
        unsafe { self.first.add(index).read() }
    }
}

/// Attributes of one node.
#[derive(Clone, Copy)]
#[repr(C)]
union Attributes {
    reduce: tnr_reduce_attributes,
    normalize: tnr_normalize_attributes,
}

/// The nodes, and the arrays that they refer to, in the ABI's form.
pub(super) struct ExpressionCall<'r> {
    nodes: Filling<'r, tnr_node>,
    pub(super) views: Filling<'r, *const tnr_view>,
    /// Keys that distinguish the views.
    keys: Filling<'r, Word>,
    values: Filling<'r, tnr_view>,
    scalars: Filling<'r, tnr_scalar>,
    attributes: Filling<'r, *const c_void>,
    given: Filling<'r, Attributes>,
}

impl Graph<'_> {
    /// Writes the result to `out`, to whose shape it is broadcast, for the call of `update` that has
    /// this number: 0 for none. Every element of `out` is written when this answers Ok, and none of
    /// them was read before; but in such a call, where `out` must be initialised.
    #[inline(never)]
    pub(crate) fn evaluate(&self, call: u32, out: LentMut<'_>) -> Result<()> {
        self.check(call)?;
        if self.store.nodes().is_empty() {
            return self.move_into(out);
        }
        if !self.store.is_inline() {
            return self.evaluate_grown(out);
        }
        // No value of these is read before it is written.
        let mut nodes = [MaybeUninit::uninit(); INLINE_NODES];
        let mut views = [MaybeUninit::uninit(); INLINE_WORDS];
        let mut keys = [MaybeUninit::uninit(); INLINE_WORDS];
        // The least that one takes is two words.
        let mut values = [MaybeUninit::uninit(); INLINE_WORDS / 2];
        // A number may be the operand of many nodes.
        let mut scalars = [MaybeUninit::uninit(); 3 * INLINE_NODES];
        let mut attributes = [MaybeUninit::uninit(); INLINE_WORDS / 2];
        let mut given = [MaybeUninit::uninit(); INLINE_WORDS / 2];
        self.run(
            ExpressionCall {
                nodes: Filling::new(&mut nodes),
                views: Filling::new(&mut views),
                keys: Filling::new(&mut keys),
                values: Filling::new(&mut values),
                scalars: Filling::new(&mut scalars),
                attributes: Filling::new(&mut attributes),
                given: Filling::new(&mut given),
            },
            out,
        )
    }

    #[cold]
    #[inline(never)]
    fn evaluate_grown(&self, out: LentMut<'_>) -> Result<()> {
        fn room<T: Copy>(count: usize) -> Vec<MaybeUninit<T>> {
            vec![MaybeUninit::uninit(); count]
        }
        self.run(
            ExpressionCall {
                nodes: Filling::new(&mut room(TNR_MAX_NODES)),
                views: Filling::new(&mut room(MAX_WORDS)),
                keys: Filling::new(&mut room(MAX_WORDS)),
                values: Filling::new(&mut room(MAX_WORDS / 2)),
                scalars: Filling::new(&mut room(3 * TNR_MAX_NODES)),
                attributes: Filling::new(&mut room(TNR_MAX_NODES)),
                given: Filling::new(&mut room(TNR_MAX_NODES)),
            },
            out,
        )
    }

    #[inline(always)]
    fn run(&self, mut call: ExpressionCall<'_>, out: LentMut<'_>) -> Result<()> {
        let expression = self.lowered(&mut call);
        entered()?;
        traced!(evaluate(&out.0.view));
        // SAFETY: views are checked, and readable for the lifetime of the graph (its invariant);
        // what else the expression names is in the rooms of `call`, alive until the end.
        check(unsafe { sys::tnr_evaluate(current(), &expression, ptr::null(), out.0) })
    }

    /// Lowers the expression to the ABI's form, behind the views that are in `call` already. The
    /// result points into `call`, and lives no longer.
    #[inline(always)]
    pub(super) fn lowered(&self, call: &mut ExpressionCall<'_>) -> tnr_expression {
        for node in self.store.nodes() {
            self.lower(node, call);
        }
        tnr_expression {
            struct_size: size_of::<tnr_expression>() as u64,
            nodes: call.nodes.first,
            views: call.views.first.cast_const().cast(),
            scalars: call.scalars.first,
            attributes: call.attributes.first.cast_const().cast(),
            node_count: call.nodes.count as u32,
            view_count: call.views.count as u32,
            scalar_count: call.scalars.count as u32,
            attribute_count: call.attributes.count as u32,
        }
    }

    /// Lowers a node to the ABI's form, with everything that it refers to. The node is written at
    /// its final address, word by word: a copy right after such writes would wait for them.
    #[inline(always)]
    fn lower(&self, node: &Node, call: &mut ExpressionCall<'_>) {
        let (mut operands, mut flags, mut attributes) = (node.operands, 0, 0);
        if node.is_over_axes() {
            flags = node.operands[1].0.into();
            attributes = self.lower_attributes(node, call);
            operands = [node.operands[0], Operand::NONE, Operand::NONE];
        }
        let a = self.lower_operand(operands[0], call);
        let b = self.lower_operand(operands[1], call);
        let c = self.lower_operand(operands[2], call);
        call.nodes.push(tnr_node {
            code: node.code.kind() | node.code.op() as u32,
            dtype: node.code.dtype().raw(),
            operands: [a, b, c],
            attributes,
            flags,
            reserved: 0,
        });
    }

    #[inline(always)]
    fn lower_operand(&self, operand: Operand, call: &mut ExpressionCall<'_>) -> u32 {
        match operand.kind() {
            NODE => operand.index() as u32,
            VIEW | PACKED => {
                // An address for a view by reference, and for one by value that of its words.
                let word = &self.store.words()[operand.index()];
                let key = if operand.kind() == VIEW { *word } else { ptr::from_ref(word).cast() };
                for index in 0..call.keys.count {
                    if call.keys.get(index) == key {
                        return sys::TNR_OPERAND_VIEW + index as u32;
                    }
                }
                let view = match operand.kind() {
                    VIEW => key.cast(),
                    _ => call.values.push(self.view_of(operand)),
                };
                call.views.push(view);
                call.keys.push(key);
                sys::TNR_OPERAND_VIEW + (call.views.count - 1) as u32
            }
            NUMBER => {
                call.scalars.push(self.scalar_of(operand));
                sys::TNR_OPERAND_SCALAR + (call.scalars.count - 1) as u32
            }
            OUTPUT => sys::TNR_OPERAND_OUTPUT,
            // They are the first views.
            _ => sys::TNR_OPERAND_NONE,
        }
    }

    /// Puts the attributes of a node to the others: their number, from 1, or 0 where it has none.
    #[inline(never)]
    fn lower_attributes(&self, node: &Node, call: &mut ExpressionCall<'_>) -> u32 {
        let with = node.operands[2];
        if with == Operand::NONE {
            return 0;
        }
        let words = [0, 1].map(|nth| self.store.words()[with.index() + nth].addr());
        let given = if node.code.kind() == sys::TNR_NODE_REDUCE {
            Attributes {
                reduce: tnr_reduce_attributes {
                    struct_size: size_of::<tnr_reduce_attributes>() as u64,
                    ddof: words[0] as u32,
                    reserved: 0,
                    power: f64::from_bits(words[1] as u64),
                },
            }
        } else {
            let both = both_of(super::word_of(words[1]));
            let [weight, bias] = both.map(|operand| match operand {
                Operand::NONE => ptr::null(),
                packed => call.values.push(self.view_of(packed)),
            });
            Attributes {
                normalize: tnr_normalize_attributes {
                    struct_size: size_of::<tnr_normalize_attributes>() as u64,
                    eps: f64::from_bits(words[0] as u64),
                    weight,
                    bias,
                },
            }
        };
        let given = call.given.push(given);
        call.attributes.push(given.cast());
        call.attributes.count as u32
    }

    /// A result without a node: a view or a number, or the output itself.
    #[cold]
    fn move_into(&self, out: LentMut<'_>) -> Result<()> {
        match self.root.kind() {
            VIEW | PACKED => {
                let view = self.view_of(self.root);
                // SAFETY: checked, and readable for the lifetime of the graph (its invariant).
                copy(unsafe { crate::raw::Lent::new(&view) }, out)
            }
            NUMBER => {
                entered()?;
                traced!(fill(&out.0.view));
                let value = self.scalar_of(self.root);
                // SAFETY: `LentMut` promises what the call asks; `value` is alive for it.
                check(unsafe { sys::tnr_fill(current(), &value, ptr::null(), out.0) })
            }
            _ => Ok(()),
        }
    }

    fn scalar_of(&self, operand: Operand) -> tnr_scalar {
        let mut bytes = [0; 16];
        let bits = self.store.words()[operand.index()].addr() as u64;
        bytes[..8].copy_from_slice(&bits.to_ne_bytes());
        tnr_scalar { dtype: operand.dtype().raw(), reserved: 0, bytes }
    }

    /// A view by its words or its address.
    fn view_of(&self, operand: Operand) -> tnr_view {
        let words = &self.store.words()[operand.index()..];
        match operand.kind() {
            PACKED => Packed::view(words),
            // SAFETY: the address of a view, by the graph's invariant.
            _ => unsafe { words[0].cast::<tnr_view>().read() },
        }
    }

    pub(crate) fn kind_of(&self, operand: Operand) -> Kind {
        match operand.kind() {
            NODE => Kind::Node(operand.index()),
            VIEW | PACKED => Kind::View,
            NUMBER => Kind::Number,
            _ => Kind::Output,
        }
    }

    /// Tells `look` the shape of a view that a node reads.
    #[inline(always)]
    pub(crate) fn with_shape<R>(&self, operand: Operand, look: impl FnOnce(&[usize]) -> R) -> R {
        match operand.kind() {
            VIEW => {
                // SAFETY: the address of a view, by the graph's invariant.
                look(layout::extents(unsafe { &*self.store.words()[operand.index()].cast() }))
            }
            PACKED => look(layout::extents(&self.view_of(operand))),
            _ => look(&[]),
        }
    }
}
