//! The views that one run of a program lends the library.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

use tenure_sys::{tnr_view, tnr_view_mut};

use super::expression::{Filling, Leaf, Lends};
use super::leaf_mut::{LeafMut, LendsMut};
use super::{Lent, LentMut};

/// Inputs or outputs up to which a run takes room on the stack.
pub(crate) const INLINE: usize = 16;

/// Inputs or outputs of most programs. Room for more costs as much as an operation on few elements.
const FEW: usize = 4;

/// The views that a run of a program takes.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) inputs: usize,
    /// Besides those that update inputs, which are the last ones.
    pub(crate) outputs: usize,
    pub(crate) updates: usize,
}

impl Counts {
    /// Inputs, and outputs with those that update inputs.
    #[inline]
    pub(crate) fn views(self) -> (usize, usize) {
        (self.inputs, self.outputs + self.updates)
    }
    #[inline]
    pub(crate) fn most(self) -> usize {
        self.inputs.max(self.outputs + self.updates)
    }

    /// Gives `f` room for the views of one call.
    #[inline]
    pub(crate) fn with_call<'s, R>(self, f: impl FnOnce(&mut ProgramCall<'_, 's>) -> R) -> R {
        match self.most() {
            0..=FEW => self.with_stack::<FEW, R>(f),
            few if few <= INLINE => self.with_stack::<INLINE, R>(f),
            _ => {
                let (inputs, outputs) = self.views();
                let mut values: Vec<_> = (0..inputs).map(|_| MaybeUninit::uninit()).collect();
                let mut values_mut: Vec<_> = (0..outputs).map(|_| MaybeUninit::uninit()).collect();
                f(&mut self.call(
                    &mut vec![ptr::null(); inputs],
                    &mut vec![ptr::null(); outputs],
                    &mut values,
                    &mut values_mut,
                ))
            }
        }
    }

    /// Room on the stack for at most `N` inputs and outputs.
    #[inline]
    fn with_stack<'s, const N: usize, R>(self, f: impl FnOnce(&mut ProgramCall<'_, 's>) -> R) -> R {
        let (inputs, outputs) = self.views();
        // No value of these is read before it is written.
        let mut values = [const { MaybeUninit::uninit() }; N];
        let mut values_mut = [const { MaybeUninit::uninit() }; N];
        f(&mut self.call(
            &mut [ptr::null(); N][..inputs],
            &mut [ptr::null(); N][..outputs],
            &mut values,
            &mut values_mut,
        ))
    }

    /// With nothing lent yet, where the addresses are NULL.
    #[inline]
    pub(crate) fn call<'r, 's>(
        self,
        inputs: &'r mut [*const tnr_view],
        outputs: &'r mut [*const tnr_view_mut],
        values: &'r mut [MaybeUninit<tnr_view>],
        values_mut: &'r mut [MaybeUninit<tnr_view_mut>],
    ) -> ProgramCall<'r, 's> {
        ProgramCall {
            inputs,
            outputs,
            input_count: 0,
            output_count: 0,
            update_count: 0,
            fresh_count: self.outputs,
            values: Filling::new(values),
            values_mut: Filling::new(values_mut),
            _lent: PhantomData,
        }
    }
}

/// Inputs and outputs of one run, lent for `'s`.
// The invariant: each address is NULL, which the library refuses, or that of a view as `Lent` or
// `LentMut` promises it for 's; those of values are in the rooms.
pub struct ProgramCall<'r, 's> {
    inputs: &'r mut [*const tnr_view],
    outputs: &'r mut [*const tnr_view_mut],
    input_count: usize,
    output_count: usize,
    update_count: usize,
    /// Outputs before those that update inputs.
    fresh_count: usize,
    values: Filling<'r, tnr_view>,
    values_mut: Filling<'r, tnr_view_mut>,
    _lent: PhantomData<&'s ()>,
}

impl<'s> ProgramCall<'_, 's> {
    /// The next input. More than there are are dropped, and the library misses none.
    #[inline]
    pub(crate) fn input(&mut self, leaf: Leaf<'s>) {
        let Some(place) = self.inputs.get_mut(self.input_count) else { return };
        *place = match leaf.0 {
            Lends::Address(view) => ptr::from_ref(view),
            Lends::Value(view) => self.values.push(view),
        };
        self.input_count += 1;
    }

    /// Adds the next input like [`input`](Self::input), by its address.
    #[inline]
    pub(crate) fn lent(&mut self, view: Lent<'s>) {
        let Some(place) = self.inputs.get_mut(self.input_count) else { return };
        *place = view.0;
        self.input_count += 1;
    }

    /// A span of a run, while it is alive.
    #[cfg(feature = "tracing")]
    #[inline]
    pub(crate) fn traced(&self) -> crate::raw::spans::Traced {
        // SAFETY: the address of a view, by the invariant, or NULL.
        let out = self.outputs.first().and_then(|view| unsafe { view.as_ref() });
        out.and_then(|out| crate::raw::spans::program(&out.view))
    }

    /// Addresses as the invariant says.
    #[inline]
    pub(crate) fn views(&self) -> (&[*const tnr_view], &[*const tnr_view_mut]) {
        (self.inputs, self.outputs)
    }

    /// The next output.
    #[inline]
    pub(crate) fn output(&mut self, view: LentMut<'s>) {
        if self.output_count < self.fresh_count {
            self.outputs[self.output_count] = view.0;
            self.output_count += 1;
        }
    }

    /// The next output, by its address or by value.
    #[inline]
    pub(crate) fn output_of(&mut self, leaf: LeafMut<'s>) {
        if self.output_count < self.fresh_count {
            self.outputs[self.output_count] = self.address_of(leaf);
            self.output_count += 1;
        }
    }

    #[inline]
    fn address_of(&mut self, leaf: LeafMut<'s>) -> *const tnr_view_mut {
        match leaf.0 {
            LendsMut::Address(view) => view.0,
            LendsMut::Value(view) => self.values_mut.push(view),
        }
    }

    /// The next input, which the next of the last outputs updates.
    #[inline]
    pub(crate) fn updated(&mut self, view: LentMut<'s>) {
        self.update(view.0);
    }

    /// The next input that is updated, by its address or by value.
    #[inline]
    pub(crate) fn updated_of(&mut self, leaf: LeafMut<'s>) {
        if self.fresh_count + self.update_count < self.outputs.len() {
            let view = self.address_of(leaf);
            self.update(view);
        }
    }

    /// The address is that of a view as the invariant says.
    #[inline]
    fn update(&mut self, view: *const tnr_view_mut) {
        let at = self.fresh_count + self.update_count;
        if at < self.outputs.len() && self.input_count < self.inputs.len() {
            self.outputs[at] = view;
            // This is the address of the same view: it is the first and only field.
            self.inputs[self.input_count] = view.cast();
            self.update_count += 1;
            self.input_count += 1;
        }
    }
}
