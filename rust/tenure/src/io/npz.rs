//! Archives of arrays: NumPy's `.npz` files, and SciPy's sparse matrices in them, read and written,
//! stored or deflated.
//!
//! The bytes are lent: of a file that was read, or mapped. The readers trust none of them; memory
//! is taken for what the file can hold, and a refusal names the array.
//!
//! | you have | and want | call | copied |
//! | --- | --- | --- | --- |
//! | bytes of an archive | its contents | [`Archive::new`], [`names`](Archive::names), [`header`](Archive::header) | 0 |
//! | the same | a view of an array | [`Archive::view`] | 0; of a stored array that is aligned, as those that [`Writer`] writes are |
//! | the same | the elements, wherever they lie | [`Archive::load`] | once, where its [`CopyMode`](crate::CopyMode) allows it |
//! | views | an archive | [`Writer::save_arrays`], [`Writer::write_arrays`] | 0 |
//! | bytes of SciPy's | a sparse matrix | [`Reader`] | once |
//! | a sparse matrix | a file for SciPy | [`Writer::save`], [`Writer::write`] | 0 |
//!
//! ```
//! use tenure::{CopyMode, Tensor, TensorView, io::npz};
//!
//! let weights = Tensor::full([2, 3], 0.5_f32)?;
//! let labels = [1_i64, 2, 3];
//! let labels = TensorView::from_slice(&labels, 3)?;
//! let mut file = Vec::new(); // or a `File`
//! let arrays = [("weights", weights.view().into()), ("labels", labels.into())];
//! npz::Writer::new().write_arrays(&arrays, &mut file)?;
//!
//! // In Python: numpy.load(path)["weights"]
//! let archive = npz::Archive::new(&file)?;
//! assert!(archive.names().eq(["weights", "labels"]));
//! let again = archive.load("weights", CopyMode::IfNeeded)?;
//! assert_eq!(again.view().downcast::<f32>()?.to_vec(), [0.5; 6]);
//!
//! let error = archive.view("biases").err().unwrap();
//! assert_eq!(error.message(), "the archive has no biases.npy");
//! # Ok::<(), tenure::Error>(())
//! ```
//!
//! SciPy's files:
//!
//! ```
//! use tenure::{CsrMatrix, CsrView, io::npz};
//!
//! let matrix = CsrView::new(2, 3, &[0, 2, 3], &[0, 2, 1], &[1.0_f32, 2.0, 3.0])?;
//! let mut file = Vec::new(); // or a `File`
//! npz::Writer::new().write(&matrix, &mut file)?;
//!
//! // In Python: scipy.sparse.load_npz(path)
//! let reader = npz::Reader::new(&file)?;
//! assert_eq!((reader.format(), reader.rows(), reader.cols()), (npz::Format::Csr, 2, 3));
//! let again: CsrMatrix<f32> = reader.to_csr()?;
//! assert_eq!(again.values(), matrix.values());
//!
//! let error = reader.to_csr::<f64, i32>().err().unwrap();
//! assert_eq!(error.message(), "data.npy is of f32 but f64 is asked for");
//! # Ok::<(), tenure::Error>(())
//! ```
//!
//! Such a file is an archive of arrays: PKWARE's APPNOTE.TXT (ZIP, ZIP64) and NumPy's format
//! versions 1 to 3 describe the two, `scipy.sparse.save_npz` which arrays there are.

mod archive;
pub(crate) mod pack;
mod scipy;
mod writer;
pub(crate) mod zip;

pub use archive::Archive;
pub use scipy::{Format, Reader, ScipyMatrix};
pub use writer::Writer;
pub(crate) use zip::Member;
