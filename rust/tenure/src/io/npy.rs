//! NumPy's `.npy` files: one array each, read from bytes that are lent, and written.
//!
//! | you have | and want | call | copied |
//! | --- | --- | --- | --- |
//! | a path | a tensor of its own | [`read`] | once, from the file |
//! | a path | a tensor of another dtype | [`read_as`] | once, from the file, and cast |
//! | bytes of a file, read or mapped | a view of the elements | [`Array::view`] | 0: C order and Fortran order as strides |
//! | the same, misaligned or from machines of another byte order | the elements | [`Array::load`] | once, where its [`CopyMode`](crate::CopyMode) allows it |
//! | an owner of the bytes | a tensor that holds it | [`SharedTensor::from_bytes`](crate::SharedTensor::from_bytes) from [`Header::payload_offset`] on | 0 |
//! | a tensor or a view | a file | [`save`](save()), [`write`](write()) | 0; elements in neither order are gathered first |
//!
//! ```
//! use tenure::{SharedTensor, TensorView, io::{self, npy}};
//!
//! # fn main() -> tenure::Result<()> {
//! # let path = std::env::temp_dir().join(format!("tenure-npy-{}.npy", std::process::id()));
//! let table = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
//! let view = TensorView::from_slice(&table, [2, 3])?;
//! npy::save(&path, view)?;
//!
//! // In Python: numpy.load(path)
//! assert_eq!(npy::read::<f32>(&path)?.to_vec(), table);
//!
//! // Or lent by its bytes, here read; those of a map are lent the same way.
//! let file = io::read(&path)?;
//! let array = npy::Array::new(file.as_ref())?;
//! assert_eq!(array.view()?.downcast::<f32>()?[[1, 0]], 4.0);
//!
//! // Or held together with them.
//! let header = array.header().clone();
//! let held = SharedTensor::<f32>::from_bytes(file, header.payload_offset(), header.shape())?;
//! assert_eq!(held[[1, 0]], 4.0);
//!
//! let error = npy::read::<f64>(&path).err().unwrap();
//! assert!(error.message().ends_with(".npy: the array is of f32 but f64 is asked for"));
//! # std::fs::remove_file(&path).unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! Versions 1 to 3 of the format are read, as NumPy's documentation describes them; none of the
//! bytes is trusted, and memory is taken for what the file can hold.

mod array;
mod header;

pub use array::{Array, read, read_as};
pub use header::Header;
#[cfg(feature = "npz")]
pub(crate) use header::MAGIC;
pub(crate) use header::{descr_of, header};

use std::io::Write;
use std::path::Path;

use crate::dense::DynView;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::io::payload::Body;
use crate::io::save;
use crate::layout::order::Order;

/// Writes a file that `numpy.load` reads, as [`write`](write()) does. It replaces an existing file
/// only once the new file is complete.
///
/// # Errors
///
/// `Io`: the system cannot write it; its own error is the [`source`](std::error::Error::source).
/// `Unsupported`: elements that NumPy does not have. The message names the file.
///
/// ```
/// use tenure::{Tensor, io::npy};
///
/// # let path = std::env::temp_dir().join(format!("tenure-save-{}.npy", std::process::id()));
/// let table = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
/// npy::save(&path, &table)?;
/// assert_eq!(npy::read::<f64>(&path)?, table);
/// # std::fs::remove_file(&path)?;
///
/// let error = npy::save("no/such/folder/table.npy", &table).err().unwrap();
/// assert!(error.message().starts_with("no/such/folder/table.npy: "));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn save<'v>(path: impl AsRef<Path>, view: impl Into<DynView<'v>>) -> Result<()> {
    save::save(path.as_ref(), |out| write(view, out))
}

/// Writes the bytes of a file that `numpy.load` reads: in row-major order, or in column-major order
/// where the view is dense in that one.
///
/// The elements go out as they lie. A view that is dense in neither order is gathered first, in
/// memory of its size.
///
/// # Errors
///
/// `Io`: those of the output. `Unsupported`: elements that NumPy does not have.
///
/// ```
/// use tenure::{TensorView, bf16, io::npy};
///
/// let mut file = Vec::new();
/// npy::write(TensorView::from_slice(&[1_u8, 2, 3, 4], [2, 2])?.t(), &mut file)?;
/// assert_eq!(npy::Array::new(&file)?.view()?.to_string(), "[[1 3]\n [2 4]]");
///
/// let error = npy::write(TensorView::from_slice(&[bf16::ONE], 1)?, &mut file).err().unwrap();
/// assert_eq!(error.to_string(), "NumPy has no bf16");
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn write<'v>(view: impl Into<DynView<'v>>, mut out: impl Write) -> Result<()> {
    let (head, body) = encoded(&view.into())?;
    out.write_all(&head)?;
    out.write_all(body.as_ref())?;
    Ok(out.flush()?)
}

/// A header, and the elements that follow it.
pub(crate) fn encoded<'v>(view: &DynView<'v>) -> Result<(Vec<u8>, Body<'v>)> {
    let dtype = view.dtype();
    let descr = descr_of(dtype).ok_or_else(|| not_in_numpy(dtype))?;
    let is_column_major = view.as_bytes().is_none() && view.t().as_bytes().is_some();
    let (order, in_order) =
        if is_column_major { (Order::ColumnMajor, view.t()) } else { (Order::RowMajor, *view) };
    let body = Body::new(in_order)?;
    Ok((header(&descr, order, view.shape()), body))
}

#[cold]
pub(crate) fn not_in_numpy(dtype: DType) -> Error {
    Error::new(ErrorKind::Unsupported, format!("NumPy has no {dtype:?}"))
}
