//! Dense views and tensors, with the dtype in their type or at run time.

mod contiguous;
mod described;
#[allow(unsafe_code)]
mod dynamic;
#[allow(unsafe_code)]
mod held;
#[allow(unsafe_code)]
mod iter;
mod manipulate;
mod print;
#[allow(unsafe_code)]
mod reinterpret;
mod shape;
#[allow(unsafe_code)]
mod shared;
#[allow(unsafe_code)]
mod tensor;
#[allow(unsafe_code)]
mod view;
#[allow(unsafe_code)]
mod view_mut;

pub use contiguous::Contiguous;
pub use dynamic::{DynTensor, DynView, DynViewMut};
pub use iter::{AxisIter, AxisIterMut, Chunks, ChunksMut, Iter, IterMut, Rows, RowsMut};
pub use shape::{IntoShape, Order};
pub use shared::SharedTensor;
pub use tensor::Tensor;
pub use view::TensorView;
pub use view_mut::TensorViewMut;

pub(crate) use held::Held;
