//! Tensors of other crates: lent, handed over, read and written.

mod adaptors;
mod approx;
mod arrow;
mod bytemuck;
mod dlpack;
mod faer;
mod image;
mod nalgebra;
mod ndarray;
mod serde;
