//! The names that most programs use, for `use tenure::prelude::*;`.
//!
//! Types and traits of the root of the crate, the modules of functions, and the functions that
//! everyone calls. Functions whose names Rust or a loop would use for something else (`min`, `max`,
//! `map`, `all`, `fill`, `take`) are left to `ops::max`.
//!
//! ```
//! use tenure::prelude::*;
//!
//! # fn main() -> tenure::Result<()> {
//! let x = Tensor::from_vec(vec![1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
//! let scores = softmax(matmul(&x, x.t())?, -1)?;
//! assert_eq!(sum(&scores, -1)?, [1.0, 1.0]);
//! assert_eq!(ops::argmax(&scores, -1)?, [1, 1]);
//! # Ok(())
//! # }
//! ```

pub use crate::context::Context;
pub use crate::dense::{
    DynTensor, DynView, NewAxis, SharedTensor, Tensor, TensorView, TensorViewMut,
};
pub use crate::dtype::index::SparseIndex;
pub use crate::dtype::{Bool8, DType, Element, Float, Integer, NativeFloat, Number, Real};
pub use crate::error::{Error, ErrorKind, Result};
pub use crate::expr::{Expr, IntoExpr};
pub use crate::io;
pub use crate::layout::axis::Axis;
pub use crate::layout::order::Order;
pub use crate::linalg;
pub use crate::linalg::{einsum, matmul, matmul_into};
pub use crate::nn;
pub use crate::nn::{gelu, layer_norm, log_softmax, relu, sigmoid, silu, softmax};
pub use crate::operand::{AsView, AsViewMut, AsViews};
pub use crate::ops;
pub use crate::ops::axes::Axes;
pub use crate::ops::{
    add, add_assign, add_into, cast, concat, div, exp, mean, mul, mul_assign, mul_into, neg,
    select, stack, sub, sub_assign, sub_into, sum,
};
pub use crate::program::{Graph, Program, Traced};
pub use crate::random;
pub use crate::s;
pub use crate::sparse;
pub use crate::sparse::matrix::{CooMatrix, CscMatrix, CsrMatrix};
pub use crate::sparse::view::{CooView, CscView, CsrView};
pub use half::{bf16, f16};
pub use num_complex::Complex;
