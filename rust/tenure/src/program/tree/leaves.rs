//! Kinds of leaves of a struct that is a tree, and the shapes of inputs.

use std::fmt;
use std::marker::PhantomData;

use super::Updated;
use super::made::{Like, LikeWalk};
use crate::cuda;
use crate::dense::{SharedTensor, Tensor, TensorView, TensorViewMut};
use crate::dtype::Element;
use crate::program::{Traced, Updating};

/// A kind of leaves, the parameter of a struct that is a [tree](super): a leaf of elements of `T`
/// has the type `L::Of<T>`.
pub trait Leaves {
    /// A leaf of elements of `T`.
    type Of<T: Element>: fmt::Debug;
}

macro_rules! leaves {
    ($($doc:literal $name:ident$(<$lifetime:lifetime>)?: $of:ty;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug)]
        pub struct $name$(<$lifetime>)?(PhantomData<fn() -> ($(&$lifetime)? (),)>);
        impl$(<$lifetime>)? Leaves for $name$(<$lifetime>)? {
            type Of<T: Element> = $of;
        }
    )*};
}

leaves! {
    "Values of a graph." InGraph<'g>: Traced<'g, T>;
    "Inputs of a graph, each with the value that [updates](crate::Traced::updated_by) it." Updates<'g>: Updating<'g, T>;
    "Element types, in the type of a program." Types: T;
    "Element types of inputs that a run updates, in the type of a program." UpdatedTypes: Updated<T>;
    "Shapes, of which [`Graph::inputs`](crate::Graph::inputs) makes inputs." Shapes: Shape<T>;
    "Tensors." Tensors: Tensor<T>;
    "Shared tensors." SharedTensors: SharedTensor<T>;
    "Views." Views<'a>: TensorView<'a, T>;
    "Exclusive views." ViewsMut<'a>: TensorViewMut<'a, T>;
    "Tensors of [a device](crate::cuda)." DeviceTensors: cuda::Tensor<T>;
    "Views of tensors of a device." DeviceViews<'a>: cuda::TensorView<'a, T>;
    "Exclusive views of tensors of a device." DeviceViewsMut<'a>: cuda::TensorViewMut<'a, T>;
}

/// The shape of an input with elements of `T`: `[2, 3].into()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape<T: Element> {
    extents: Vec<usize>,
    _element: PhantomData<fn() -> T>,
}

impl<T: Element, E: Into<Vec<usize>>> From<E> for Shape<T> {
    fn from(extents: E) -> Self {
        Shape { extents: extents.into(), _element: PhantomData }
    }
}

impl<'g, T: Element> Like<'g> for Shape<T> {
    type Values = Traced<'g, T>;

    fn walk_like(&self, walk: &mut LikeWalk<'g>) {
        walk.extents::<T>(&self.extents);
    }
}
