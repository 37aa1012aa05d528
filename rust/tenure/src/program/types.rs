//! The inputs and outputs of a program in its type, and the operands of a run.

use std::marker::PhantomData;

use super::captured::{HeldInputs, HeldOutputs};
use super::{Traced, Updating};
use crate::cuda;
use crate::dtype::{DType, Element};
use crate::expr::{Host, OnDevice};
use crate::operand::AsViewMut;
use crate::program::calls::{Fresh, LendAs, LendMut, LendOut, ProgramCall};
use crate::raw::expression::LendView;
use crate::raw::leaf_mut::LeafMut;

/// The type of an input that a run updates, in the type of a [`Program`](super::Program): elements
/// of `T`, lent as `&mut`.
pub struct Updated<T: Element>(PhantomData<fn() -> T>);

mod sealed {
    use crate::dtype::DType;

    pub trait Sealed {
        /// The element type of each, and whether a run updates it.
        #[cfg_attr(not(feature = "programs"), allow(dead_code, reason = "files are checked"))]
        fn inputs() -> Vec<(DType, bool)>;
    }
    pub trait Outputs {
        /// The element types of the outputs; `count` is their number if the type does not fix it.
        #[cfg_attr(not(feature = "programs"), allow(dead_code, reason = "files are checked"))]
        fn outputs(count: usize) -> Vec<DType>;
    }
    pub trait Named {
        fn each(&self, f: &mut dyn FnMut(u32, Option<u32>));
    }
    pub trait Values {
        fn each(&self, f: &mut dyn FnMut(u32));
    }
}

/// An input of a program that is being made: a [value](Traced), or one that is
/// [updated](Traced::updated_by). Sealed.
pub trait Input<'g>: sealed::Named {
    /// `T`, or `Updated<T>`.
    type Type: InputType;
}

/// The type of an input, in the type of a [`Program`](super::Program): an element type, or
/// [`Updated`]. Sealed.
pub trait InputType: sealed::Sealed + HeldInputs {}

impl<T: Element> InputType for T {}
impl<T: Element> sealed::Sealed for T {
    fn inputs() -> Vec<(DType, bool)> {
        vec![(T::DTYPE, false)]
    }
}
impl<T: Element> InputType for Updated<T> {}
impl<T: Element> sealed::Sealed for Updated<T> {
    fn inputs() -> Vec<(DType, bool)> {
        vec![(T::DTYPE, true)]
    }
}

impl<T: Element> sealed::Named for Traced<'_, T> {
    fn each(&self, f: &mut dyn FnMut(u32, Option<u32>)) {
        f(self.value(), None);
    }
}
impl<'g, T: Element> Input<'g> for Traced<'g, T> {
    type Type = T;
}

impl<T: Element> sealed::Named for Updating<'_, T> {
    fn each(&self, f: &mut dyn FnMut(u32, Option<u32>)) {
        f(self.input.value(), Some(self.value.value()));
    }
}
impl<'g, T: Element> Input<'g> for Updating<'g, T> {
    type Type = Updated<T>;
}

/// All inputs of a program that is being made: a tuple of up to eight, an array of one type, or
/// `()`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no inputs of a program",
    label = "not a tuple or array of the graph's inputs",
    note = "one input alone is written as `(x,)` or `[x]`"
)]
pub trait Inputs<'g>: sealed::Named {
    /// The types of all, as the program has them.
    type Types: InputTypes;
}

/// The types of a program's inputs: a tuple of up to eight element types or [`Updated`] ones, an
/// array of one type, or `()`. Sealed.
pub trait InputTypes: sealed::Sealed + HeldInputs {}

/// The outputs of a program that is being made: a [value](Traced), or a tuple of up to eight, an
/// array or a `Vec` of values, or `()`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no outputs of a program",
    label = "not a value of the graph, or a tuple, array or `Vec` of values"
)]
pub trait Outputs<'g>: sealed::Values {
    /// The types of all, as the program has them.
    type Types: OutputTypes;
}

/// Operands of a custom operation: a value, or a tuple of up to eight, an array or a `Vec` of
/// values, or `()`. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no operands of an operation",
    label = "not a value of the graph, or a tuple, array or `Vec` of values"
)]
pub trait Operands<'g>: sealed::Values {}
impl<'g, V: Outputs<'g>> Operands<'g> for V {}

/// The numbers of all.
pub(super) fn numbers_of(values: &impl sealed::Values) -> Vec<u32> {
    let mut numbers = Vec::new();
    values.each(&mut |number| numbers.push(number));
    numbers
}

/// The types of a program's outputs: an element type, or a tuple of up to eight, an array or a
/// `Vec` of them, or `()`. Sealed.
pub trait OutputTypes:
    Fresh<Host, Made = Self::Tensors>
    + Fresh<OnDevice, Made = Self::DeviceTensors>
    + HeldOutputs<HeldOut = Self::DeviceTensors>
    + sealed::Outputs
{
    /// New tensors of these types: one, or several in the form of the types.
    type Tensors;
    /// New tensors of [a device](crate::cuda), in the same form.
    type DeviceTensors;
}
impl<O> OutputTypes for O
where
    O: Fresh<Host> + Fresh<OnDevice> + sealed::Outputs,
    O: HeldOutputs<HeldOut = <O as Fresh<OnDevice>>::Made>,
{
    type Tensors = <O as Fresh<Host>>::Made;
    type DeviceTensors = <O as Fresh<OnDevice>>::Made;
}

/// Inputs of a run: a tuple of up to eight operands, an array of operands of one type, or `()`.
///
/// An operand is what lends a view, as [`AsView`](crate::AsView) says; and `&mut` of what lends one
/// for writing, as [`AsViewMut`] says, for an input that is [updated](Updated). Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent as inputs of the types `{I}`",
    label = "not a tuple or array of tensors, views or arrays of these element types",
    note = "one input alone is written as `(&a,)` or `[&a]`",
    note = "an input that the program updates is lent as `&mut`"
)]
pub trait RunInputs<I>: LendAs<I> {}
impl<I, L: LendAs<I>> RunInputs<I> for L {}

/// Outputs of a run that are memory of the caller's: `&mut out`, or a tuple, array, slice or `Vec`
/// of them, as the program's outputs are. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent as outputs of the types `{O}`",
    label = "not `&mut` of a tensor, view or array of this element type, or a tuple of them",
    note = "outputs are passed as `&mut out`; a `TensorView` or `SharedTensor` may not be written"
)]
pub trait RunOutputs<O>: LendOut<O> {}
impl<O, L: LendOut<O>> RunOutputs<O> for L {}

/// One operand, here or on a device.
impl<T: Element, P, A: LendView<T, P>> LendAs<T, P> for A {
    #[inline]
    fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        call.input((*self).lent_leaf());
    }
}
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
impl<T: Element, P, A: LendMut<T, P> + ?Sized> LendAs<Updated<T>, P> for &mut A {
    #[inline]
    fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        call.updated_of((**self).lent_leaf_mut());
    }
}

/// One output.
impl<T: Element> sealed::Values for Traced<'_, T> {
    fn each(&self, f: &mut dyn FnMut(u32)) {
        f(self.value());
    }
}
impl<'g, T: Element> Outputs<'g> for Traced<'g, T> {
    type Types = T;
}
impl<T: Element> sealed::Outputs for T {
    fn outputs(_: usize) -> Vec<DType> {
        vec![T::DTYPE]
    }
}
impl<T: Element, P, A: LendMut<T, P> + ?Sized> LendOut<T, P> for &mut A {
    #[inline]
    fn lend_out<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        call.output_of((**self).lent_leaf_mut());
    }
}

/// Arrays, and `Vec` for outputs.
impl<K: InputType, const N: usize> sealed::Sealed for [K; N] {
    fn inputs() -> Vec<(DType, bool)> {
        (0..N).flat_map(|_| K::inputs()).collect()
    }
}
impl<K: InputType, const N: usize> InputTypes for [K; N] {}
impl<T: sealed::Named, const N: usize> sealed::Named for [T; N] {
    fn each(&self, f: &mut dyn FnMut(u32, Option<u32>)) {
        self.iter().for_each(|input| input.each(f));
    }
}
impl<'g, T: Input<'g>, const N: usize> Inputs<'g> for [T; N] {
    type Types = [T::Type; N];
}
impl<K, P, A: LendAs<K, P>, const N: usize> LendAs<[K; N], P> for [A; N] {
    #[inline]
    fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        for input in self {
            input.lend(call);
        }
    }
}

impl<T: Element, const N: usize> sealed::Values for [Traced<'_, T>; N] {
    fn each(&self, f: &mut dyn FnMut(u32)) {
        self.iter().for_each(|output| f(output.value()));
    }
}
impl<'g, T: Element, const N: usize> Outputs<'g> for [Traced<'g, T>; N] {
    type Types = [T; N];
}
impl<T: Element, const N: usize> sealed::Outputs for [T; N] {
    fn outputs(_: usize) -> Vec<DType> {
        vec![T::DTYPE; N]
    }
}
impl<T: Element, P, A: LendMut<T, P>, const N: usize> LendOut<[T; N], P> for [A; N] {
    #[inline]
    fn lend_out<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        for output in self {
            call.output_of(output.lent_leaf_mut());
        }
    }
}

impl<T: Element> sealed::Values for Vec<Traced<'_, T>> {
    fn each(&self, f: &mut dyn FnMut(u32)) {
        self.iter().for_each(|output| f(output.value()));
    }
}
impl<'g, T: Element> Outputs<'g> for Vec<Traced<'g, T>> {
    type Types = Vec<T>;
}
impl<T: Element> sealed::Outputs for Vec<T> {
    fn outputs(count: usize) -> Vec<DType> {
        vec![T::DTYPE; count]
    }
}
impl<T: Element, P, A: LendMut<T, P>> LendOut<Vec<T>, P> for &mut [A] {
    #[inline]
    fn lend_out<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        for output in &mut **self {
            call.output_of(output.lent_leaf_mut());
        }
    }
}
impl<T: Element, P, A: LendMut<T, P>> LendOut<Vec<T>, P> for Vec<A> {
    #[inline]
    fn lend_out<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        for output in self {
            call.output_of(output.lent_leaf_mut());
        }
    }
}

/// None.
impl sealed::Sealed for () {
    fn inputs() -> Vec<(DType, bool)> {
        Vec::new()
    }
}
impl InputTypes for () {}
impl sealed::Named for () {
    fn each(&self, _: &mut dyn FnMut(u32, Option<u32>)) {}
}
impl Inputs<'_> for () {
    type Types = ();
}
impl<P> LendAs<(), P> for () {
    fn lend<'s>(&'s mut self, _: &mut ProgramCall<'_, 's>) {}
}
impl sealed::Values for () {
    fn each(&self, _: &mut dyn FnMut(u32)) {}
}
impl Outputs<'_> for () {
    type Types = ();
}
impl sealed::Outputs for () {
    fn outputs(_: usize) -> Vec<DType> {
        Vec::new()
    }
}
impl<P> LendOut<(), P> for () {
    fn lend_out<'s>(&'s mut self, _: &mut ProgramCall<'_, 's>) {}
}

macro_rules! tuples {
    ($($($element:ident $value:ident)+;)*) => {$(
        impl<$($element: InputType),+> sealed::Sealed for ($($element,)+) {
            fn inputs() -> Vec<(DType, bool)> {
                [$($element::inputs()),+].concat()
            }
        }
        impl<$($element: InputType),+> InputTypes for ($($element,)+) {}

        impl<$($value: sealed::Named),+> sealed::Named for ($($value,)+) {
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn each(&self, f: &mut dyn FnMut(u32, Option<u32>)) {
                let ($($value,)+) = self;
                $($value.each(f);)+
            }
        }
        impl<'g, $($value: Input<'g>),+> Inputs<'g> for ($($value,)+) {
            type Types = ($($value::Type,)+);
        }
        impl<P, $($element, $value: LendAs<$element, P>),+> LendAs<($($element,)+), P>
            for ($($value,)+)
        {
            #[allow(non_snake_case, reason = "a variable for each type")]
            #[inline]
            fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
                let ($($value,)+) = self;
                $($value.lend(call);)+
            }
        }

        impl<$($element: Element),+> sealed::Values for ($(Traced<'_, $element>,)+) {
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn each(&self, f: &mut dyn FnMut(u32)) {
                let ($($value,)+) = self;
                $(f($value.value());)+
            }
        }
        impl<'g, $($element: Element),+> Outputs<'g> for ($(Traced<'g, $element>,)+) {
            type Types = ($($element,)+);
        }
        impl<$($element: Element),+> sealed::Outputs for ($($element,)+) {
            fn outputs(_: usize) -> Vec<DType> {
                vec![$($element::DTYPE),+]
            }
        }
        impl<P, $($element: Element, $value: LendMut<$element, P>),+> LendOut<($($element,)+), P>
            for ($($value,)+)
        {
            #[allow(non_snake_case, reason = "a variable for each type")]
            #[inline]
            fn lend_out<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
                let ($($value,)+) = self;
                $(call.output_of($value.lent_leaf_mut());)+
            }
        }
    )*};
}

tuples! {
    T1 A1;
    T1 A1 T2 A2;
    T1 A1 T2 A2 T3 A3;
    T1 A1 T2 A2 T3 A3 T4 A4;
    T1 A1 T2 A2 T3 A3 T4 A4 T5 A5;
    T1 A1 T2 A2 T3 A3 T4 A4 T5 A5 T6 A6;
    T1 A1 T2 A2 T3 A3 T4 A4 T5 A5 T6 A6 T7 A7;
    T1 A1 T2 A2 T3 A3 T4 A4 T5 A5 T6 A6 T7 A7 T8 A8;
}
