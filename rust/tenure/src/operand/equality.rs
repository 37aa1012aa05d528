//! Equality of shapes and of elements, regardless of layout and holder.

use crate::dense::{SharedTensor, Tensor, TensorView, TensorViewMut};
use crate::dtype::Element;
use crate::operand::AsView;

fn equal<T: Element>(a: &TensorView<'_, T>, b: &TensorView<'_, T>) -> bool {
    a.shape() == b.shape()
        && match (a.as_slice(), b.as_slice()) {
            (Some(a), Some(b)) => a == b,
            _ => a.iter().eq(b.iter()),
        }
}

/// Equality of one type with others that lend a view of the same elements.
macro_rules! equal_to {
    ($([$($lifetime:lifetime)?] $type:ty;)*) => {$(
        impl<$($lifetime,)? T: Element> PartialEq<$type> for TensorView<'_, T> {
            fn eq(&self, other: &$type) -> bool {
                other.with_view(|other| equal(self, other))
            }
        }

        impl<$($lifetime,)? T: Element> PartialEq<$type> for TensorViewMut<'_, T> {
            fn eq(&self, other: &$type) -> bool {
                other.with_view(|other| equal(&self.view(), other))
            }
        }

        impl<$($lifetime,)? T: Element> PartialEq<$type> for Tensor<T> {
            fn eq(&self, other: &$type) -> bool {
                other.with_view(|other| equal(self.view_ref(), other))
            }
        }

        impl<$($lifetime,)? T: Element> PartialEq<$type> for SharedTensor<T> {
            fn eq(&self, other: &$type) -> bool {
                other.with_view(|other| equal(self.view_ref(), other))
            }
        }
    )*};
}

equal_to! {
    ['b] TensorView<'b, T>;
    ['b] TensorViewMut<'b, T>;
    [] Tensor<T>;
    [] SharedTensor<T>;
    [] [T];
    ['b] &'b [T];
    [] Vec<T>;
}

/// Equality with arrays of arrays.
macro_rules! equal_to_arrays {
    ($($type:ty => $($extent:ident)+;)*) => {$(
        impl<T: Element, $(const $extent: usize),+> PartialEq<$type> for TensorView<'_, T> {
            fn eq(&self, other: &$type) -> bool {
                equal(self, &other.as_view())
            }
        }

        impl<T: Element, $(const $extent: usize),+> PartialEq<$type> for TensorViewMut<'_, T> {
            fn eq(&self, other: &$type) -> bool {
                equal(&self.view(), &other.as_view())
            }
        }

        impl<T: Element, $(const $extent: usize),+> PartialEq<$type> for Tensor<T> {
            fn eq(&self, other: &$type) -> bool {
                equal(self.view_ref(), &other.as_view())
            }
        }

        impl<T: Element, $(const $extent: usize),+> PartialEq<$type> for SharedTensor<T> {
            fn eq(&self, other: &$type) -> bool {
                equal(self.view_ref(), &other.as_view())
            }
        }
    )*};
}

equal_to_arrays! {
    [T; A] => A;
    [[T; B]; A] => A B;
    [[[T; C]; B]; A] => A B C;
    [[[[T; D]; C]; B]; A] => A B C D;
}

impl<T: Element + Eq> Eq for TensorView<'_, T> {}
impl<T: Element + Eq> Eq for TensorViewMut<'_, T> {}
impl<T: Element + Eq> Eq for Tensor<T> {}
impl<T: Element + Eq> Eq for SharedTensor<T> {}
