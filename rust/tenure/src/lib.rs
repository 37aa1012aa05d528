//! Tensors over memory you already have: lent, checked by the compiler, never copied.
#![deny(unsafe_code)]

#[cfg(not(target_pointer_width = "64"))]
compile_error!("Tenure's ABI is for 64-bit targets");

#[allow(unsafe_code)]
mod dtype;
#[allow(unsafe_code)]
mod dynamic;
mod error;
#[allow(unsafe_code)]
mod held;
#[allow(unsafe_code)]
mod iter;
#[allow(unsafe_code)]
mod layout;
mod manipulate;
mod operand;
mod ops;
#[allow(unsafe_code)]
mod owner;
mod print;
#[allow(unsafe_code)]
mod raw;
mod refusal;
mod shape;
#[allow(unsafe_code)]
mod shared;
mod stats;
#[allow(unsafe_code)]
mod tensor;
mod tenure;
#[allow(unsafe_code)]
mod view;
#[allow(unsafe_code)]
mod view_mut;

pub use dtype::{Bool8, DType, Element, Float, Number, Real};
pub use dynamic::{DynTensor, DynView, DynViewMut};
pub use error::{Error, ErrorKind, Rejected, Result};
pub use half::{bf16, f16};
pub use iter::{AxisIter, AxisIterMut, Chunks, ChunksMut, Iter, IterMut, Rows, RowsMut};
pub use num_complex::Complex;
pub use ops::*;
pub use operand::{AsView, AsViewMut};
pub use shape::{IntoShape, Order};
pub use shared::SharedTensor;
pub use stats::{Stats, build_info, stats};
pub use tensor::Tensor;
pub use tenure::Tenure;
pub use view::TensorView;
pub use view_mut::TensorViewMut;
