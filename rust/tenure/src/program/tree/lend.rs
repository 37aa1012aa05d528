//! Trees of tensors and views that a run is lent.
//!
//! A tree is lent by parts, as a tuple, array or `Vec` of what lends each of them, or as a whole:
//! `&tree` for inputs that are read, and `&mut tree` for inputs that include updated ones, or for
//! outputs.

use super::Updated;
use crate::cuda;
use crate::dense::TensorViewMut;
use crate::dtype::Element;
use crate::expr::{Host, OnDevice};
use crate::operand::AsViewMut;
use crate::program::calls::ProgramCall;
use crate::raw::expression::LendView;
use crate::raw::leaf_mut::LeafMut;

/// A value that lends elements of `T` in the place `P` for writing.
pub trait LendMut<T, P> {
    #[doc(hidden)]
    fn lent_leaf_mut(&mut self) -> LeafMut<'_>;
}

/// A value that lends inputs of these types in the place `P`.
pub trait LendAs<I, P = Host> {
    #[doc(hidden)]
    fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>);
}

/// A tree that lends inputs of these types in the place `P` when it is borrowed.
pub trait LendShared<I, P = Host> {
    #[doc(hidden)]
    fn lend_shared<'s>(&'s self, call: &mut ProgramCall<'_, 's>);
}

/// A tree that lends inputs of these types in the place `P` when it is borrowed exclusively.
pub trait LendUnique<I, P = Host> {
    #[doc(hidden)]
    fn lend_unique<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>);
}

/// A value that lends outputs of these types in the place `P`.
pub trait LendOut<O, P = Host> {
    #[doc(hidden)]
    fn lend_out<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>);
}

/// A tree that lends outputs of these types in the place `P` when it is borrowed exclusively.
pub trait Fill<O, P = Host> {
    #[doc(hidden)]
    fn lend_filled<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>);
}

/// Inputs of a run: an operand, or a [tree](super) of operands; or `&` or `&mut` of a tree of
/// tensors.
///
/// An operand is what lends a view, as [`AsView`](crate::AsView) says; and `&mut` of what lends one
/// for writing, as [`AsViewMut`] says, for an input that is [updated](Updated). Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent as inputs of the types `{I}`",
    label = "not tensors, views or arrays of these element types, in the form of these types",
    note = "an input that the program updates is lent as `&mut`"
)]
pub trait RunInputs<I>: LendAs<I> {}
impl<I, L: LendAs<I>> RunInputs<I> for L {}

/// Outputs of a run that are memory of the caller's: `&mut out`, or a [tree](super) of them, as the
/// program's outputs are; or `&mut` of a tree of tensors. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent as outputs of the types `{O}`",
    label = "not `&mut` of a tensor, view or array of this element type, or a tuple of them",
    note = "outputs are passed as `&mut out`; a `TensorView` or `SharedTensor` may not be written"
)]
pub trait RunOutputs<O>: LendOut<O> {}
impl<O, L: LendOut<O>> RunOutputs<O> for L {}

/// An operand, here or on a device.
impl<T: Element, A: AsViewMut<T> + ?Sized> LendMut<T, Host> for A {
    #[inline]
    fn lent_leaf_mut(&mut self) -> LeafMut<'_> {
        self.leaf_mut()
    }
}
impl<T: Element, A: cuda::AsViewMut<T> + ?Sized> LendMut<T, OnDevice> for A {
    #[inline]
    fn lent_leaf_mut(&mut self) -> LeafMut<'_> {
        self.as_view_mut().into()
    }
}
impl<T: Element, P, A: LendView<T, P>> LendAs<T, P> for A {
    #[inline]
    fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        call.input((*self).lent_leaf());
    }
}
impl<T: Element, P, A: LendMut<T, P> + ?Sized> LendAs<Updated<T>, P> for &mut A {
    #[inline]
    fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        call.updated_of((**self).lent_leaf_mut());
    }
}
impl<T: Element, P, A: LendView<T, P>> LendShared<T, P> for A {
    #[inline]
    fn lend_shared<'s>(&'s self, call: &mut ProgramCall<'_, 's>) {
        call.input(self.lent_leaf());
    }
}
impl<T: Element, P, A: LendView<T, P>> LendUnique<T, P> for A {
    #[inline]
    fn lend_unique<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        call.input((*self).lent_leaf());
    }
}
impl<T: Element, P, A: LendMut<T, P>> LendUnique<Updated<T>, P> for A {
    #[inline]
    fn lend_unique<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        call.updated_of(self.lent_leaf_mut());
    }
}

/// An output.
impl<T: Element, P, A: LendMut<T, P> + ?Sized> Fill<T, P> for A {
    #[inline]
    fn lend_filled<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        call.output_of(self.lent_leaf_mut());
    }
}
impl<O, P, A: Fill<O, P> + ?Sized> LendOut<O, P> for &mut A {
    #[inline]
    fn lend_out<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        (**self).lend_filled(call);
    }
}
impl<T: Element> LendOut<T, Host> for TensorViewMut<'_, T> {
    #[inline]
    fn lend_out<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        call.output_of(self.leaf_mut());
    }
}
impl<T: Element> LendOut<T, OnDevice> for cuda::TensorViewMut<'_, T> {
    #[inline]
    fn lend_out<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        call.output_of(LendMut::<T, OnDevice>::lent_leaf_mut(self));
    }
}

/// A tree with these types that is borrowed.
macro_rules! borrowed {
    ($([$($generics:tt)*] $types:ty;)*) => {$(
        impl<P, $($generics)*, X: LendShared<$types, P> + ?Sized> LendAs<$types, P> for &X {
            #[inline]
            fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
                (**self).lend_shared(call);
            }
        }
        impl<P, $($generics)*, X: LendUnique<$types, P> + ?Sized> LendAs<$types, P> for &mut X {
            #[inline]
            fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
                (**self).lend_unique(call);
            }
        }
    )*};
}
pub(super) use borrowed;

borrowed! {
    [K, const N: usize] [K; N];
    [K] Vec<K>;
}

/// Elements that are lent as those of an array or `Vec`.
macro_rules! elements {
    ($([$($generics:tt)*] $types:ty: $self:ty;)*) => {$(
        impl<K, P, A: LendAs<K, P>, $($generics)*> LendAs<$types, P> for $self {
            #[inline]
            fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
                self.iter_mut().for_each(|part| part.lend(call));
            }
        }
        impl<K, P, A: LendOut<K, P>, $($generics)*> LendOut<$types, P> for $self {
            #[inline]
            fn lend_out<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
                self.iter_mut().for_each(|part| part.lend_out(call));
            }
        }
    )*};
}
elements! {
    [const N: usize] [K; N]: [A; N];
    [const N: usize] Vec<K>: [A; N];
    [] Vec<K>: Vec<A>;
}

/// Elements of a whole.
macro_rules! wholes {
    ($([$($generics:tt)*] $types:ty: $self:ty;)*) => {$(
        impl<K, P, A: LendShared<K, P>, $($generics)*> LendShared<$types, P> for $self {
            #[inline]
            fn lend_shared<'s>(&'s self, call: &mut ProgramCall<'_, 's>) {
                self.iter().for_each(|part| part.lend_shared(call));
            }
        }
        impl<K, P, A: LendUnique<K, P>, $($generics)*> LendUnique<$types, P> for $self {
            #[inline]
            fn lend_unique<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
                self.iter_mut().for_each(|part| part.lend_unique(call));
            }
        }
        impl<K, P, A: Fill<K, P>, $($generics)*> Fill<$types, P> for $self {
            #[inline]
            fn lend_filled<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
                self.iter_mut().for_each(|part| part.lend_filled(call));
            }
        }
    )*};
}
wholes! {
    [const N: usize] [K; N]: [A; N];
    [const N: usize] Vec<K>: [A; N];
    [] Vec<K>: [A];
    [] Vec<K>: Vec<A>;
}

/// None.
impl<P> LendAs<(), P> for () {
    fn lend<'s>(&'s mut self, _: &mut ProgramCall<'_, 's>) {}
}
impl<P> LendOut<(), P> for () {
    fn lend_out<'s>(&'s mut self, _: &mut ProgramCall<'_, 's>) {}
}
impl<P> LendShared<(), P> for () {
    fn lend_shared<'s>(&'s self, _: &mut ProgramCall<'_, 's>) {}
}
impl<P> LendUnique<(), P> for () {
    fn lend_unique<'s>(&'s mut self, _: &mut ProgramCall<'_, 's>) {}
}
impl<P> Fill<(), P> for () {
    fn lend_filled<'s>(&'s mut self, _: &mut ProgramCall<'_, 's>) {}
}
