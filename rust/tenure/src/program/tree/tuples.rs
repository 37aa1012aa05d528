//! Tuples as trees.

use super::expected::Expected;
use super::lend::{Fill, LendAs, LendOut, LendShared, LendUnique, borrowed};
use super::made::{Like, LikeWalk};
use super::values::{Inputs, Made, Parts, Tree, TreeOf, Walk, Walked};
use super::{InputTypes, OutputTypes};
use crate::dtype::Element;
use crate::expr::{Host, OnDevice};
use crate::program::calls::{Fresh, ProgramCall};

/// Implements a method that visits each element.
macro_rules! each {
    ($self:ident $part:ident [$($element:ident)+] $visit:expr) => {{
        #[allow(non_snake_case, reason = "a variable for each type")]
        let ($($element,)+) = $self;
        $({ let $part = $element; $visit; })+
    }};
}

macro_rules! tuples {
    ($($($element:ident)+;)*) => {$(
        impl<'g, $($element: Walked<'g>),+> Walked<'g> for ($($element,)+) {
            fn walk(&self, walk: &mut Walk<'g>) {
                let mut nth = 0..;
                each!(self part [$($element)+] walk.place(nth.next().unwrap_or(0), part));
            }
        }
        impl<'g, $($element: Made<'g>),+> Made<'g> for ($($element,)+) {
            fn made(parts: &mut Parts<'_, 'g>) -> Self {
                ($($element::made(parts),)+)
            }
        }
        impl<'g, $($element: Inputs<'g>),+> Inputs<'g> for ($($element,)+) {
            type Types = ($($element::Types,)+);
        }
        impl<'g, $($element: Tree<'g>),+> Tree<'g> for ($($element,)+) {
            type Updating = ($($element::Updating,)+);
        }
        impl<'g, Z: Element, $($element: TreeOf<'g, Z>),+> TreeOf<'g, Z> for ($($element,)+) {}
        impl<'g, $($element: Like<'g>),+> Like<'g> for ($($element,)+) {
            type Values = ($($element::Values,)+);

            fn walk_like(&self, walk: &mut LikeWalk<'g>) {
                let mut nth = 0..;
                each!(self part [$($element)+] walk.place(nth.next().unwrap_or(0), part));
            }
        }

        impl<$($element: InputTypes),+> InputTypes for ($($element,)+) {
            type DeviceTensors = ($($element::DeviceTensors,)+);
            type Views<'a> = ($($element::Views<'a>,)+);
            type ViewsMut<'a> = ($($element::ViewsMut<'a>,)+);

            fn expect(expected: &mut Expected<'_>) {
                let mut nth = 0..;
                $(expected.place::<$element>(nth.next().unwrap_or(0));)+
            }
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn views(tensors: &Self::DeviceTensors) -> Self::Views<'_> {
                let ($($element,)+) = tensors;
                ($($element::views($element),)+)
            }
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn views_mut(tensors: &mut Self::DeviceTensors) -> Self::ViewsMut<'_> {
                let ($($element,)+) = tensors;
                ($($element::views_mut($element),)+)
            }
        }
        impl<$($element: OutputTypes),+> OutputTypes for ($($element,)+) {
            type Tensors = ($($element::Tensors,)+);
            type Values<'g> = ($($element::Values<'g>,)+);
            type Fresh = ($($element::Fresh,)+);

            #[allow(non_snake_case, reason = "a variable for each type")]
            fn tensors(made: <Self::Fresh as Fresh<Host>>::Made) -> Self::Tensors {
                let ($($element,)+) = made;
                ($($element::tensors($element),)+)
            }
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn device_tensors(made: <Self::Fresh as Fresh<OnDevice>>::Made) -> Self::DeviceTensors {
                let ($($element,)+) = made;
                ($($element::device_tensors($element),)+)
            }
        }
    )*};
}
crate::dtype::tuples::up_to_eight!(tuples);

/// Tuples that are lent as tuples of types.
macro_rules! lent {
    ($($($types:ident $element:ident)+;)*) => {
        borrowed! { $([$($types),+] ($($types,)+);)* }
        $(
        impl<P, $($types, $element: LendAs<$types, P>),+> LendAs<($($types,)+), P>
            for ($($element,)+)
        {
            #[inline]
            fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
                each!(self part [$($element)+] part.lend(call));
            }
        }
        impl<P, $($types, $element: LendShared<$types, P>),+> LendShared<($($types,)+), P>
            for ($($element,)+)
        {
            #[inline]
            fn lend_shared<'s>(&'s self, call: &mut ProgramCall<'_, 's>) {
                each!(self part [$($element)+] part.lend_shared(call));
            }
        }
        impl<P, $($types, $element: LendUnique<$types, P>),+> LendUnique<($($types,)+), P>
            for ($($element,)+)
        {
            #[inline]
            fn lend_unique<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
                each!(self part [$($element)+] part.lend_unique(call));
            }
        }
        impl<P, $($types, $element: LendOut<$types, P>),+> LendOut<($($types,)+), P>
            for ($($element,)+)
        {
            #[inline]
            fn lend_out<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
                each!(self part [$($element)+] part.lend_out(call));
            }
        }
        impl<P, $($types, $element: Fill<$types, P>),+> Fill<($($types,)+), P>
            for ($($element,)+)
        {
            #[inline]
            fn lend_filled<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
                each!(self part [$($element)+] part.lend_filled(call));
            }
        }
    )*};
}
crate::dtype::tuples::pairs_up_to_eight!(lent);
