//! Files of tensors: read into memory, or lent from the bytes; and written.

pub mod io;
mod loaded;
pub mod npy;
#[cfg(feature = "npz")]
pub mod npz;
mod payload;
#[cfg(feature = "programs")]
pub mod program;
pub mod safetensors;

pub use loaded::{CopyMode, Loaded};
