//! Files: read once into memory that tensors use in place, or mapped; and formats of arrays,
//! tensors and sparse matrices.
//!
//! | module | files |
//! | --- | --- |
//! | [`npy`], `npz` | NumPy's arrays and archives of them, SciPy's sparse matrices |
//! | [`safetensors`] | named tensors |
//! | [`matrix_market`] | sparse and dense matrices as text |
//!
//! Graphs with their constants are the files of [`program`](crate::program)'s module `file`.
//!
//! | you want | call | copied | safe |
//! | --- | --- | --- | --- |
//! | a file's bytes, of your own | [`read`] | once, from the file | yes |
//! | tensors over them | [`SharedTensor::from_bytes`](crate::SharedTensor::from_bytes) of what `read` gave | 0 | yes |
//! | tensors over a mapped file | the same, of a map of `memmap2` | 0 | the map is `unsafe` to make: a process that writes or shortens the file changes or ends your memory |
//! | tensors over memory that cannot be changed | the same, of `Sealed`, with the feature `sealed` (Linux) | once, from the file; 0 from another process | yes |
//!
//! ```
//! use tenure::{SharedTensor, io};
//!
//! # fn main() -> tenure::Result<()> {
//! # let path = std::env::temp_dir().join(format!("tenure-io-{}.bin", std::process::id()));
//! // A header of 8 bytes, two numbers, four bytes.
//! let mut bytes = b"weights\n".to_vec();
//! bytes.extend([1.5_f32, -2.0].iter().flat_map(|value| value.to_ne_bytes()));
//! bytes.extend([1, 2, 3, 4]);
//! std::fs::write(&path, bytes).unwrap();
//!
//! // Read once; each tensor holds on to all of it.
//! let file = io::read(&path)?.into_shared();
//! let weights = SharedTensor::<f32>::from_bytes(file.clone(), 8, 2)?;
//! let pixels = SharedTensor::<u8>::from_bytes(file.clone(), 16, [2, 2])?;
//! assert_eq!((weights.to_vec(), pixels[[1, 0]]), (vec![1.5, -2.0], 3));
//! assert_eq!(weights.as_ptr().addr(), file.as_ptr().addr() + 8);
//!
//! let error = SharedTensor::<f32>::from_bytes(file, 16, 2).err().unwrap();
//! assert!(error.to_string().ends_with("from byte 16 on but the memory has 20 bytes"));
//! # std::fs::remove_file(&path).unwrap();
//! # Ok(())
//! # }
//! ```

pub(crate) mod loaded;
pub mod matrix_market;
pub(crate) mod near_names;
pub mod npy;
#[cfg(feature = "npz")]
pub mod npz;
pub(crate) mod payload;
#[allow(unsafe_code)]
pub(crate) mod read;
pub mod safetensors;
pub(crate) mod save;
#[cfg(all(feature = "sealed", target_os = "linux"))]
#[allow(unsafe_code)]
mod sealed;

pub use read::read;
#[cfg(all(feature = "sealed", target_os = "linux"))]
pub use sealed::Sealed;
