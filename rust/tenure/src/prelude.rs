//! The names that most programs use, for `use tenure::prelude::*;`.
//!
//! Types and traits of the root of the crate, the modules of functions, and the functions that
//! everyone calls. Functions whose names Rust or a loop would use for something else (`min`, `max`,
//! `map`, `all`, `fill`, `take`) are left to `ops::max`, and so are forms that write to memory of
//! the caller's: `ops::add_into`, `ops::add_assign`.
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
pub use crate::dense::{NewAxis, SharedTensor, Tensor, TensorView, TensorViewMut};
pub use crate::dtype::{Bool8, DType, Element, Float, Number};
pub use crate::error::{Error, ErrorKind, Result};
pub use crate::expr::{Expr, IntoExpr};
pub use crate::io;
pub use crate::linalg;
pub use crate::linalg::{einsum, matmul};
pub use crate::nn;
pub use crate::nn::{gelu, layer_norm, log_softmax, relu, sigmoid, silu, softmax};
pub use crate::operand::{AsView, AsViewMut};
pub use crate::ops;
pub use crate::ops::axes::Axes;
pub use crate::ops::{add, cast, concat, div, exp, mean, mul, neg, select, stack, sub, sum};
pub use crate::program::tree::{Leaves, Tree};
pub use crate::program::{Graph, Program, Traced};
pub use crate::random;
pub use crate::s;
pub use crate::sparse;
pub use crate::sparse::matrix::{CooMatrix, CscMatrix, CsrMatrix};
pub use crate::sparse::view::CsrView;
pub use half::{bf16, f16};
pub use num_complex::Complex;
