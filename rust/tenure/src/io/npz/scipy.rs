//! SciPy's sparse `.npz` files: which arrays are a matrix.

mod array;
mod read;
mod write;

pub use read::{Format, Reader};
pub use write::ScipyMatrix;
