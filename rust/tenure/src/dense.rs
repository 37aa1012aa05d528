//! Dense views and tensors, with the dtype in their type or at run time.

mod copy_mode;
pub(crate) mod described;
#[allow(unsafe_code)]
mod dynamic;
mod from_behind;
#[allow(unsafe_code)]
mod held;
#[allow(unsafe_code)]
mod iter;
pub(crate) mod manipulate;
mod owners;
mod print;
#[allow(unsafe_code)]
mod reinterpret;
mod shape;
#[allow(unsafe_code)]
mod shared;
pub(crate) mod slice;
#[allow(unsafe_code)]
mod tensor;
#[allow(unsafe_code)]
mod view;
#[allow(unsafe_code)]
mod view_mut;

pub use copy_mode::CopyMode;
pub use dynamic::{DynTensor, DynView, DynViewMut};
pub use from_behind::{IntoIndex, IntoSlice};
pub use iter::{
    AxisIter, AxisIterMut, Chunks, ChunksMut, Iter, IterMut, Rows, RowsMut, SplitInto, SplitIntoMut,
};
pub use shape::{IntoExtent, IntoReshape, IntoShape};
pub use shared::SharedTensor;
pub use slice::{NewAxis, Slice};
pub use tensor::Tensor;
pub use view::TensorView;
pub use view_mut::TensorViewMut;

pub(crate) use held::Held;
