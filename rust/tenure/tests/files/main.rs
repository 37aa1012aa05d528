//! NumPy's files, safetensors, Matrix Market: read, mapped, written.

mod io;
mod matrix_market;
mod npy;
mod npz;
mod safetensors;
