//! Sparse matrices over three arrays: lent from slices, or held.
//!
//! Offsets and indices are checked once, when a view or a matrix is made, and nothing can write them
//! while it lives: no type here gives out `&mut` to them.

mod arithmetic;
#[allow(unsafe_code)]
mod arrays;
#[allow(unsafe_code)]
mod batch;
#[allow(unsafe_code)]
mod batch_compute;
mod batch_held;
mod batch_mut;
mod convert;
mod dense;
mod entries;
mod functions;
pub mod gallery;
mod index;
#[allow(unsafe_code)]
mod matmul;
mod matrix;
pub mod matrix_market;
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
#[allow(unsafe_code)]
mod view;
mod view_mut;

pub use batch::{BsrBatchView, CooBatchView, CscBatchView, CsrBatchView};
pub use batch_held::{BsrBatch, CooBatch, CscBatch, CsrBatch};
pub use batch_mut::{BsrBatchViewMut, CooBatchViewMut, CscBatchViewMut, CsrBatchViewMut};
pub use convert::Combine;
pub use dense::{
    Sparsify, sparse_dropout, sparse_relu, sparse_threshold, sparse_top_k,
    sparse_top_k_in_magnitude, sparsify,
};
pub use entries::{BlockEntries, Entries};
pub use index::SparseIndex;
pub use matrix::{BsrMatrix, CooMatrix, CscMatrix, CsrMatrix};
pub use packed::{PackedLayout, PackedMatrix};
pub use reduce::Triangle;
pub use view::{BsrView, CooView, CscView, CsrView};
pub use view_mut::{BsrViewMut, CooViewMut, CscViewMut, CsrViewMut};
