//! Functions that make sparse matrices, of dense ones and of others.
//!
//! The types are at the root of the crate: [`CsrMatrix`], [`CsrView`], [`CooMatrix`] and their
//! like, whose constructors check offsets and indices once. Nothing can write these while they
//! live: no type gives out `&mut` to them. Operations on a matrix are its methods
//! ([`matmul`](CsrView::matmul), [`product`](CsrView::product), [`add`](CsrView::add),
//! [`to_csc`](CsrView::to_csc)); here is what begins without one, or with several:
//!
//! | function | makes |
//! | --- | --- |
//! | [`sparsify`] | a matrix of any format of the elements of a dense one that are not zero, above a threshold or in a mask |
//! | [`sparse_relu`], [`sparse_threshold`], [`sparse_top_k`], [`sparse_dropout`] | a sparse activation in one pass |
//! | [`vstack`], [`hstack`], [`block_diag`], [`kron`] | a matrix of several |
//! | [`gallery`] | matrices like those of applications |
//!
//! ```
//! use tenure::{CsrMatrix, sparse};
//!
//! let matrix: CsrMatrix<f32> = sparse::sparsify(&[[1.0, 0.0], [0.0, -2.0]]).to_csr()?;
//! let twice = sparse::block_diag([matrix.view(), matrix.view()])?;
//! assert_eq!((twice.rows(), twice.cols(), twice.nnz()), (4, 4, 4));
//! assert_eq!(twice.view().matmul(&[1.0, 1.0, 1.0, 1.0])?, [1.0, -2.0, 1.0, -2.0]);
//! # Ok::<(), tenure::Error>(())
//! ```
//!
//! Iterative solvers are in [`linalg`](crate::linalg), files in [`io`](crate::io).

mod arithmetic;
#[allow(unsafe_code)]
pub(crate) mod arrays;
#[allow(unsafe_code)]
pub(crate) mod batch;
#[allow(unsafe_code)]
pub(crate) mod calls;
pub(crate) mod construct;
pub(crate) mod convert;
pub(crate) mod dense;
pub(crate) mod entries;
pub(crate) mod format;
mod functions;
pub mod gallery;
#[allow(unsafe_code)]
mod matmul;
pub(crate) mod matrix;
mod owners;
#[allow(unsafe_code)]
pub(crate) mod packed;
mod print;
#[allow(unsafe_code)]
pub(crate) mod reduce;
#[allow(unsafe_code)]
mod sddmm;
mod select;
mod shape;
#[allow(unsafe_code)]
pub(crate) mod view;
pub(crate) mod view_mut;

pub(crate) use crate::dtype::index::SparseIndex;
pub(crate) use arrays::{Form, range_below};
pub(crate) use batch::{BsrBatch, CooBatch, CscBatch, CsrBatch, SparseBatch};
pub use construct::{block_diag, hstack, kron, vstack};
pub(crate) use convert::Combine;
pub use dense::{
    sparse_dropout, sparse_relu, sparse_threshold, sparse_top_k, sparse_top_k_in_magnitude,
    sparsify,
};
pub(crate) use entries::{BlockEntries, Entries};
#[cfg(feature = "serde")]
pub(crate) use format::for_each_format;
pub(crate) use format::{CompressedFormat, Csr, PointFormat, SparseFormat};
pub(crate) use matrix::{BsrMatrix, CooMatrix, CscMatrix, CsrMatrix, SparseMatrix};
pub(crate) use packed::{PackedLayout, PackedMatrix};
pub(crate) use view::{BsrView, CscView, CsrView, SparseView};
pub(crate) use view_mut::{CsrViewMut, SparseViewMut};
