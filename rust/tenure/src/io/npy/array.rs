//! Arrays that are read.

use std::path::Path;

use super::Header;
use crate::dense::{CopyMode, DynView, Tensor};
use crate::dtype::bytes;
use crate::dtype::{Element, Real};
use crate::error::{Error, Result};
use crate::io::loaded::Loaded;
use crate::io::payload::{Name, Payload};
use crate::io::read::InputFile;

/// The array of a single-array file in messages.
const NAME: &str = "the array";

/// An array in bytes that are lent: those of a file that was read, or mapped.
///
/// ```
/// use tenure::{DType, Order, io::npy};
///
/// let header = b"{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2), }\n";
/// let mut file = b"\x93NUMPY\x01\x00".to_vec();
/// file.extend((header.len() as u16).to_le_bytes());
/// file.extend(header);
/// file.extend([1, 0, 2, 0, 3, 0, 4, 0]);
///
/// let array = npy::Array::new(&file)?;
/// let header = array.header();
/// assert_eq!((header.dtype(), header.order()), (Some(DType::I16), Order::ColumnMajor));
///
/// let error = npy::Array::new(&file[..file.len() - 1]).err().unwrap();
/// assert_eq!(
///     error.message(),
///     "the array has shape [2, 2] of i16, which takes 8 bytes from byte 69 on but there are 7"
/// );
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Array<'a> {
    name: String,
    header: Header,
    /// The elements; where their dtype is none of the library's, all that follows the header.
    payload: &'a [u8],
}

impl<'a> Array<'a> {
    /// Reads the header, and no element. Bytes after the last element are ignored.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such header, or fewer bytes than it says. A dtype that the library
    /// does not know is refused when its elements are requested.
    ///
    /// ```
    /// # use tenure::io::npy::Array;
    /// let error = Array::new(b"\x93NUMPY\x01").err().unwrap();
    /// assert_eq!(error.message(), "the array ends at byte 7 but its header goes on to byte 8");
    /// ```
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        Self::named(NAME, bytes)
    }

    pub(crate) fn named(name: &str, bytes: &'a [u8]) -> Result<Self> {
        let mut rest = bytes;
        let header = Header::read(name, |part| {
            let (head, tail) = rest.split_at_checked(part.len()).ok_or_else(|| {
                let needed = bytes.len() - rest.len() + part.len();
                let there = bytes.len();
                Error::invalid(format!(
                    "{name} ends at byte {there} but its header goes on to byte {needed}"
                ))
            })?;
            part.copy_from_slice(head);
            rest = tail;
            Ok(())
        })?;
        let payload = match header.dtype() {
            Some(_) => &rest[..header.payload_bytes(name, bytes.len())?],
            None => rest,
        };
        Ok(Array { name: name.to_owned(), header, payload })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Lends the elements, in either order of memory.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: they are misaligned in memory, or have more than 8 axes. `Unsupported`: a
    /// dtype that the library does not know, or the byte order of other machines.
    ///
    /// ```
    /// use tenure::{TensorView, io::npy::{self, Array}};
    ///
    /// let mut file = Vec::new();
    /// npy::write(TensorView::from_slice(&[7_u8, 8], 2)?, &mut file)?;
    /// let view = Array::new(&file)?.view()?; // lent by `file`
    /// assert_eq!(view.downcast::<u8>()?.as_slice(), Some(&[7, 8][..]));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn view(&self) -> Result<DynView<'a>> {
        self.payload()?.view()
    }

    /// The elements, lent or copied.
    ///
    /// # Errors
    ///
    /// The errors of [`view`](Self::view), but that a copy is neither misaligned nor in another
    /// byte order. `OutOfMemory`.
    ///
    /// ```
    /// use tenure::{CopyMode, TensorView, io::npy::{self, Array}};
    ///
    /// let mut file = Vec::new();
    /// npy::write(TensorView::from_slice(&[1_u16, 2], 2)?, &mut file)?;
    /// let place = file.windows(3).position(|bytes| bytes == b"<u2").unwrap();
    /// file[place] = b'>'; // as a machine of the other order would have written it
    ///
    /// let array = Array::new(&file)?;
    /// assert!(!array.header().is_native() && array.view().is_err());
    /// let turned = array.load(CopyMode::IfNeeded)?;
    /// assert!(turned.is_copied());
    /// assert_eq!(turned.into_tensor::<u16>()?.to_vec(), [256, 512]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn load(&self, mode: CopyMode) -> Result<Loaded<'a>> {
        self.payload()?.load(mode)
    }

    /// Whether [`view`](Self::view) needs no copy.
    #[cfg(feature = "npz")]
    pub(crate) fn can_be_lent(&self) -> Result<bool> {
        Ok(self.payload()?.can_be_lent())
    }

    /// That nothing follows the elements in `file_bytes` bytes.
    #[cfg(feature = "npz")]
    pub(crate) fn require_end(&self, file_bytes: usize) -> Result<()> {
        let left = file_bytes - self.header.payload_offset() - self.payload.len();
        if left == 0 {
            return Ok(());
        }
        let (name, shape) = (&self.name, self.header.shape());
        Err(Error::invalid(format!("{name} goes on for {left} bytes after its shape {shape:?}")))
    }

    fn payload(&self) -> Result<Payload<'a, '_>> {
        Ok(Payload {
            name: Name::Array(&self.name),
            dtype: self.header.known_dtype(&self.name)?,
            is_native: self.header.is_native(),
            shape: self.header.shape(),
            order: self.header.order(),
            bytes: self.payload,
            offset: self.header.payload_offset(),
        })
    }
}

/// Reads a file into a tensor, in the file's order of memory: the elements once, to their final
/// addresses. Elements in the byte order of other machines are swapped there.
///
/// # Errors
///
/// `Io`: there is no such file, or the system cannot read it. `InvalidArgument`: no such header,
/// elements of another type than `T`, more than 8 axes, or fewer bytes than the header says.
/// `Unsupported`: a dtype that the library does not know. `OutOfMemory`. Messages begin with the
/// path.
///
/// ```
/// use tenure::{TensorView, io::npy};
///
/// # let path = std::env::temp_dir().join(format!("tenure-npy-read-{}.npy", std::process::id()));
/// # let file = std::fs::File::create(&path).unwrap();
/// npy::write(TensorView::from_slice(&[1.0, 2.0], 2)?, file)?;
/// let mut tensor = npy::read::<f64>(&path)?;
/// tensor[[0]] = 7.0;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn read<T: Element>(path: impl AsRef<Path>) -> Result<Tensor<T>> {
    let path = path.as_ref();
    read_from(path).map_err(|error| error.in_file(path))
}

fn read_from<T: Element>(path: &Path) -> Result<Tensor<T>> {
    let mut source = InputFile::open(path)?;
    if source.stated_bytes == 0 {
        let bytes = source.rest()?;
        let array = Array::new(bytes.as_ref())?;
        array.header.require::<T>(NAME)?;
        return array.load(CopyMode::Always)?.into_tensor();
    }
    let header = Header::read(NAME, |part| source.fill(part))?;
    header.require::<T>(NAME)?;
    header.payload_bytes(NAME, source.stated_bytes)?;
    let mut tensor = source.elements::<T>(header.shape(), header.order())?;
    if !header.is_native() {
        bytes::swap(bytes::of_mut(tensor.as_mut()), T::DTYPE);
    }
    Ok(tensor)
}

/// Reads a file of any dtype that casts into a tensor of another, as [`cast`](crate::ops::cast)
/// converts it, row-major. One of `T` is [`read`] as it is.
///
/// # Errors
///
/// The errors of [`read`], but that elements of another type are taken.
///
/// ```
/// use tenure::{TensorView, io::npy};
///
/// # let path = std::env::temp_dir().join(format!("tenure-npy-as-{}.npy", std::process::id()));
/// # let file = std::fs::File::create(&path).unwrap();
/// npy::write(TensorView::from_slice(&[0_u8, 128, 255], 3)?, file)?;
/// assert_eq!(npy::read_as::<f32>(&path)?, [0.0, 128.0, 255.0]);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias = "astype")]
pub fn read_as<T: Real>(path: impl AsRef<Path>) -> Result<Tensor<T>> {
    let path = path.as_ref();
    let read = || {
        let bytes = InputFile::open(path)?.rest()?;
        let array = Array::new(bytes.as_ref())?;
        if array.header.require::<T>(NAME).is_ok() {
            return array.load(CopyMode::Always)?.into_tensor();
        }
        array.load(CopyMode::IfNeeded)?.view().cast_to::<T>()
    };
    read().map_err(|error| error.in_file(path))
}
