//! Matrix Market files (`.mtx`), read and written: coordinate and array, of every field and
//! symmetry.
//!
//! The bytes are lent: of a file that was read, or mapped. The reader trusts none of them; memory
//! is taken for what the file holds, not for what its size line says, and a refusal names the line.
//!
//! ```
//! use tenure::{CooMatrix, io::matrix_market};
//!
//! let text = b"%%MatrixMarket matrix coordinate real symmetric
//! % Three nodes in a row
//! 3 3 4
//! 1 1 2.5
//! 2 1 -1
//! 2 2 2.5
//! 3 2 -1e0
//! ";
//! let reader = matrix_market::Reader::new(text)?;
//! assert_eq!((reader.rows(), reader.cols(), reader.stored()), (3, 3, 4));
//! let matrix: CooMatrix<f64> = reader.to_coo()?; // with the mirrored half
//! assert_eq!(matrix.nnz(), 6);
//!
//! let mut out = Vec::new();
//! let writer = matrix_market::Writer::new().symmetry(matrix_market::Symmetry::Symmetric);
//! writer.write(&matrix.view(), &mut out)?;
//! let again: CooMatrix<f64> = matrix_market::Reader::new(&out)?.to_coo()?;
//! assert_eq!(again.values(), matrix.values());
//!
//! let wrong = &text[..text.len() - 9];
//! let error = matrix_market::Reader::new(wrong)?.to_coo::<f64, i32>().err().unwrap();
//! assert_eq!(error.message(), "line 6: the file ends after 3 of the 4 entries that its size line states");
//! # Ok::<(), tenure::Error>(())
//! ```
//!
//! The format is that of Boisvert, Pozo, Remington, "The Matrix Market exchange formats: initial
//! design", 1996, and `unsigned-integer` as SciPy writes it. Files in practice differ from it in
//! ways that leave no doubt, and are read with them:
//!
//! - a byte-order mark, and empty lines, before the first line, which may begin with one `%`; words
//!   of any kind at its end;
//! - words in capitals, tabs, line breaks of Windows, empty lines anywhere;
//! - comments anywhere: lines that begin with `%`, and the end of a line behind a blank and `%`;
//! - the field `double`, which is `real`, and exponents of Fortran, `1.0D+02`;
//! - zeros on the diagonal of a skew-symmetric file, which are entries.

mod digits;
mod header;
mod read;
mod text;
mod value;
mod write;

pub use header::{Field, Layout, Symmetry};
pub use read::Reader;
pub use value::Value;
pub use write::{WritableMatrix, Writer};
