//! Sparse matrices: formats, conversions, products, solvers.

mod algebra;
mod batch;
mod construct;
mod convert;
mod dense;
mod flags;
mod formats;
mod gallery;
mod matmul;
mod matrices;
mod packed;
mod ranges;
mod solve;
