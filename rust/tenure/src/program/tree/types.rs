//! Trees in the type of a program.

use std::marker::PhantomData;

use super::expected::Expected;
use super::lend::{Fill, LendUnique};
use super::values::Tree;
use crate::cuda;
use crate::dtype::Element;
use crate::expr::{Host, OnDevice};
use crate::program::Traced;
use crate::program::calls::Fresh;

/// The type of an input that a run updates, in the type of a [`Program`](crate::Program): elements
/// of `T`, lent as `&mut`.
#[derive(Debug)]
pub struct Updated<T: Element>(PhantomData<fn() -> T>);

/// The types of a program's inputs: an element type, an [`Updated`] one, or a [tree](super) of
/// them. Sealed.
pub trait InputTypes: Sized {
    /// Tensors of a device that a [captured](crate::program::Captured) program has for the inputs,
    /// in the form of the types.
    type DeviceTensors: LendUnique<Self, OnDevice>;
    /// Views of them, to read from between runs.
    type Views<'a>;
    /// Views of them, to write to between runs.
    type ViewsMut<'a>;

    #[doc(hidden)]
    fn expect(expected: &mut Expected<'_>);
    #[doc(hidden)]
    fn views(tensors: &Self::DeviceTensors) -> Self::Views<'_>;
    #[doc(hidden)]
    fn views_mut(tensors: &mut Self::DeviceTensors) -> Self::ViewsMut<'_>;
}

/// The types of a program's outputs: an element type, or a [tree](super) of them. Sealed.
pub trait OutputTypes: InputTypes<DeviceTensors: Fill<Self, OnDevice>> {
    /// New tensors of these types: one, or several in the form of the types.
    type Tensors;
    /// Values of these types in a graph.
    type Values<'g>: Tree<'g>;
    /// The form in which a run makes them.
    #[doc(hidden)]
    type Fresh: Fresh<Host> + Fresh<OnDevice>;

    #[doc(hidden)]
    fn tensors(made: <Self::Fresh as Fresh<Host>>::Made) -> Self::Tensors;
    #[doc(hidden)]
    fn device_tensors(made: <Self::Fresh as Fresh<OnDevice>>::Made) -> Self::DeviceTensors;
}

/// Leaves, and whether a run updates them.
macro_rules! leaves {
    ($($leaf:ty: $is_updated:literal),*) => {$(
        impl<T: Element> InputTypes for $leaf {
            type DeviceTensors = cuda::Tensor<T>;
            type Views<'a> = cuda::TensorView<'a, T>;
            type ViewsMut<'a> = cuda::TensorViewMut<'a, T>;

            fn expect(expected: &mut Expected<'_>) {
                expected.leaf(T::DTYPE, $is_updated);
            }
            fn views(tensor: &cuda::Tensor<T>) -> cuda::TensorView<'_, T> {
                tensor.view()
            }
            fn views_mut(tensor: &mut cuda::Tensor<T>) -> cuda::TensorViewMut<'_, T> {
                tensor.view_mut()
            }
        }
    )*};
}
leaves!(T: false, Updated<T>: true);

impl<T: Element> OutputTypes for T {
    type Tensors = crate::dense::Tensor<T>;
    type Values<'g> = Traced<'g, T>;
    type Fresh = T;

    #[inline]
    fn tensors(made: crate::dense::Tensor<T>) -> crate::dense::Tensor<T> {
        made
    }
    #[inline]
    fn device_tensors(made: cuda::Tensor<T>) -> cuda::Tensor<T> {
        made
    }
}

/// Arrays.
impl<K: InputTypes, const N: usize> InputTypes for [K; N] {
    type DeviceTensors = [K::DeviceTensors; N];
    type Views<'a> = [K::Views<'a>; N];
    type ViewsMut<'a> = [K::ViewsMut<'a>; N];

    fn expect(expected: &mut Expected<'_>) {
        (0..N).for_each(|nth| expected.place::<K>(nth));
    }
    fn views(tensors: &Self::DeviceTensors) -> Self::Views<'_> {
        tensors.each_ref().map(K::views)
    }
    fn views_mut(tensors: &mut Self::DeviceTensors) -> Self::ViewsMut<'_> {
        tensors.each_mut().map(K::views_mut)
    }
}
impl<K: OutputTypes, const N: usize> OutputTypes for [K; N] {
    type Tensors = [K::Tensors; N];
    type Values<'g> = [K::Values<'g>; N];
    type Fresh = [K::Fresh; N];

    fn tensors(made: <Self::Fresh as Fresh<Host>>::Made) -> Self::Tensors {
        made.map(K::tensors)
    }
    fn device_tensors(made: <Self::Fresh as Fresh<OnDevice>>::Made) -> Self::DeviceTensors {
        made.map(K::device_tensors)
    }
}

/// `Vec`s.
impl<K: InputTypes> InputTypes for Vec<K> {
    type DeviceTensors = Vec<K::DeviceTensors>;
    type Views<'a> = Vec<K::Views<'a>>;
    type ViewsMut<'a> = Vec<K::ViewsMut<'a>>;

    fn expect(expected: &mut Expected<'_>) {
        expected.elements::<K>();
    }
    fn views(tensors: &Self::DeviceTensors) -> Self::Views<'_> {
        tensors.iter().map(K::views).collect()
    }
    fn views_mut(tensors: &mut Self::DeviceTensors) -> Self::ViewsMut<'_> {
        tensors.iter_mut().map(K::views_mut).collect()
    }
}
impl<K: OutputTypes> OutputTypes for Vec<K> {
    type Tensors = Vec<K::Tensors>;
    type Values<'g> = Vec<K::Values<'g>>;
    type Fresh = Vec<K::Fresh>;

    fn tensors(made: <Self::Fresh as Fresh<Host>>::Made) -> Self::Tensors {
        made.into_iter().map(K::tensors).collect()
    }
    fn device_tensors(made: <Self::Fresh as Fresh<OnDevice>>::Made) -> Self::DeviceTensors {
        made.into_iter().map(K::device_tensors).collect()
    }
}

/// None.
impl InputTypes for () {
    type DeviceTensors = ();
    type Views<'a> = ();
    type ViewsMut<'a> = ();

    fn expect(_: &mut Expected<'_>) {}
    fn views((): &()) {}
    fn views_mut((): &mut ()) {}
}
impl OutputTypes for () {
    type Tensors = ();
    type Values<'g> = ();
    type Fresh = ();

    fn tensors((): ()) {}
    fn device_tensors((): ()) {}
}
