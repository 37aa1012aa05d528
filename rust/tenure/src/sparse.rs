//! Sparse matrices over three arrays: lent from slices, or held.
//!
//! Offsets and indices are checked once, when a view or a matrix is made, and nothing can write
//! them while it lives: no type here gives out `&mut` to them.

mod arithmetic;
#[allow(unsafe_code)]
mod arrays;
#[allow(unsafe_code)]
mod batch;
mod construct;
mod convert;
mod dense;
mod entries;
mod format;
mod functions;
pub mod gallery;
mod index;
#[allow(unsafe_code)]
mod matmul;
mod matrix;
pub mod matrix_market;
mod owners;
#[allow(unsafe_code)]
mod packed;
mod print;
#[allow(unsafe_code)]
mod reduce;
#[cfg(feature = "npz")]
pub(crate) mod scipy;
#[allow(unsafe_code)]
mod sddmm;
mod select;
mod shape;
mod solve;
#[allow(unsafe_code)]
mod view;
mod view_mut;

pub(crate) use arrays::{Form, range_below};
pub use batch::{
    BsrBatch, BsrBatchView, BsrBatchViewMut, CooBatch, CooBatchView, CooBatchViewMut, CscBatch,
    CscBatchView, CscBatchViewMut, CsrBatch, CsrBatchView, CsrBatchViewMut, SparseBatch,
    SparseBatchView, SparseBatchViewMut,
};
pub use construct::{Triplets, block_diag, hstack, kron, vstack};
pub use convert::Combine;
pub use dense::{
    Sparsify, sparse_dropout, sparse_relu, sparse_threshold, sparse_top_k,
    sparse_top_k_in_magnitude, sparsify,
};
pub use entries::{BlockEntries, Entries};
#[cfg(feature = "serde")]
pub(crate) use format::for_each_format;
pub use format::{Bsr, CompressedFormat, Coo, Csc, Csr, PointFormat, SparseFormat};
pub use index::SparseIndex;
pub use matrix::{BsrMatrix, CooMatrix, CscMatrix, CsrMatrix, SparseMatrix};
pub use packed::{PackedLayout, PackedMatrix};
pub use reduce::Triangle;
pub use solve::{
    Ilu0, Jacobi, Krylov, LinearOperator, Lsqr, Solution, Unsolved, bicgstab, cg, lsqr,
};
pub use view::{BsrView, CooView, CscView, CsrView, SparseView};
pub use view_mut::{BsrViewMut, CooViewMut, CscViewMut, CsrViewMut, SparseViewMut};
