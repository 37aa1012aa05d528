//! SciPy's sparse `.npz` files, read and written: COO, CSR, CSC and BSR, stored or deflated.
//!
//! The bytes are lent: of a file that was read, or mapped. The reader trusts none of them; memory
//! is taken for what the file can hold, and a refusal names the array.
//!
//! ```
//! use tenure::{CsrMatrix, CsrView, npz};
//!
//! let matrix = CsrView::new(2, 3, &[0, 2, 3], &[0, 2, 1], &[1.0_f32, 2.0, 3.0])?;
//! let mut file = Vec::new(); // or a `File`
//! npz::Writer::new().write(&matrix, &mut file).unwrap();
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

#[allow(unsafe_code)]
mod bytes;
mod npy;
mod pack;
mod read;
mod write;
mod zip;

pub use read::{Format, Reader};
pub use write::{Source, Writer};
