//! Linear algebra: products of dense matrices, sums of products, iterative solvers, and with the
//! feature `linalg` factorisations of dense matrices and the systems that they solve.
//!
//! | function | computes |
//! | --- | --- |
//! | [`matmul`], [`matmul_with`], [`matmul_scaled_into`] | products of matrices and of batches of them, with a bias and an activation, or added to what the output has |
//! | [`matmul_u8_i8`] | products of bytes, added up in `i32` |
//! | [`matmul_packed`], [`matmul_packed_with`] | products with a right factor that was packed once, a [`PackedFactor`] |
//! | [`matmul_csr`] | dense times sparse |
//! | [`einsum`] | sums of products by Einstein's convention |
//! | [`cg`], [`bicgstab`], [`lsqr`] | solutions of linear systems from products with a matrix only, a [`LinearOperator`] |
//!
//! Products of sparse matrices are methods of theirs: [`CsrView::matmul`], [`CsrView::product`].
//!
//! ```
//! use tenure::linalg;
//!
//! let (a, b) = ([[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]);
//! assert_eq!(linalg::matmul(&a, &b)?, [[2.0, 1.0], [4.0, 3.0]]);
//! // The trace of the product, without the product.
//! assert_eq!(linalg::einsum("ij,ji->", (&a, &b))?.item(), Some(5.0));
//! # Ok::<(), tenure::Error>(())
//! ```
//!
//! [`PackedFactor`]: crate::PackedFactor
//! [`LinearOperator`]: crate::LinearOperator
//! [`CsrView::matmul`]: crate::CsrView::matmul
//! [`CsrView::product`]: crate::CsrView::product
#![cfg_attr(feature = "linalg", doc = "")]
#![cfg_attr(feature = "linalg", doc = include_str!("linalg/factorisations.md"))]

#[cfg(feature = "linalg")]
mod cholesky;
mod einsum;
pub(crate) mod krylov;
#[cfg(feature = "linalg")]
mod lu;
pub(crate) mod matmul;
#[cfg(feature = "linalg")]
mod operand;
pub(crate) mod packed_factor;
#[cfg(feature = "linalg")]
mod qr;
#[cfg(feature = "linalg")]
mod solvers;
#[cfg(feature = "linalg")]
mod spectrum;

#[cfg(feature = "linalg")]
pub use cholesky::{Cholesky, Ldlt};
pub use einsum::{einsum, einsum_into};
pub use krylov::{bicgstab, cg, lsqr};
#[cfg(feature = "linalg")]
pub use lu::Lu;
pub use matmul::{
    matmul, matmul_csr, matmul_into, matmul_scaled_into, matmul_u8_i8, matmul_with,
    matmul_with_into,
};
pub use packed_factor::{
    matmul_packed, matmul_packed_into, matmul_packed_scaled_into, matmul_packed_u8_i8,
    matmul_packed_with, matmul_packed_with_into,
};
#[cfg(feature = "linalg")]
pub use qr::{PivotedQr, Qr};
#[cfg(feature = "linalg")]
pub use solvers::{cholesky, det, eigh, eigvalsh, inv, lstsq, pinv, qr, solve, svd, svdvals};
