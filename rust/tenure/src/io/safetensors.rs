//! Files of named tensors in the format of Hugging Face's safetensors: lent from bytes that were
//! read or mapped, and written.
//!
//! | you have | and want | call | copied |
//! | --- | --- | --- | --- |
//! | bytes of a file | its contents | [`Reader::new`], [`tensors`](Reader::tensors) | 0 |
//! | the same | a view of a tensor | [`Reader::view`] | 0 |
//! | the same, where it is misaligned | the elements | [`Reader::load`] | once, where its [`CopyMode`](crate::CopyMode) allows it |
//! | an owner of the bytes | tensors that share it | [`Shared::new`], [`Shared::tensor`] | 0 |
//! | views | a file | [`Writer::save`], [`Writer::write`] | 0; views that are not dense and row-major are gathered first |
//!
//! ```
//! use tenure::{DType, SharedTensor, Tensor, TensorView, io::{self, safetensors}};
//!
//! # fn main() -> tenure::Result<()> {
//! # let path = std::env::temp_dir().join(format!("tenure-st-{}.safetensors", std::process::id()));
//! let (weights, biases) = (Tensor::full([2, 3], 0.5_f32)?, [1.0_f64, 2.0]);
//! let biases = TensorView::from_slice(&biases, 2)?;
//! let tensors = [("layer.weight", weights.view().into()), ("layer.bias", biases.into())];
//! safetensors::Writer::new().metadata("format", "pt").save(&path, &tensors)?;
//!
//! // Read once, or mapped: the tensors are lent by the bytes.
//! let file = io::read(&path)?.into_shared();
//! let reader = safetensors::Reader::new(file.as_ref()).map_err(|error| error.in_file(&path))?;
//! assert_eq!(reader.view("layer.weight")?.downcast::<f32>()?.to_vec(), [0.5; 6]);
//! assert_eq!(reader.metadata("format"), Some("pt"));
//!
//! // Or held together with them.
//! let entry = reader.entry("layer.bias")?;
//! assert_eq!((entry.dtype(), entry.shape()), (Some(DType::F64), &[2][..]));
//! let held = SharedTensor::<f64>::from_bytes(file.clone(), entry.offset(), entry.shape())?;
//! assert_eq!(held[[1]], 2.0);
//!
//! let error = reader.view("layer.scale").err().unwrap();
//! assert_eq!(error.message(), "there is no tensor 'layer.scale'");
//! # std::fs::remove_file(&path).unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! The format is 8 bytes of length, a header in JSON, and the elements, little-endian and
//! row-major, without a gap: see its README at <https://github.com/huggingface/safetensors>. None
//! of the bytes is trusted. A dtype of no whole number of bytes, or one that this version does not
//! know, is refused when its tensor is requested; the other tensors of the file can be had.

mod dtypes;
mod header;
mod reader;
mod shared;
mod writer;

pub use reader::{Entry, Reader};
pub use shared::Shared;
pub use writer::Writer;
