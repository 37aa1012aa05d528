//! Reading: which tensors a file has, and where.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::dtypes;
use super::header::{self, Described, LENGTH_BYTES, MOST_HEADER_BYTES};
use crate::dense::{CopyMode, DynView};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::io::loaded::Loaded;
use crate::io::near_names::did_you_mean;
use crate::io::payload::{Name, Payload, shown};
use crate::layout::order::Order;

/// A file's entry of one of its tensors.
///
/// ```
/// use tenure::{DType, TensorView, io::safetensors::{Reader, Writer}};
///
/// let mut file = Vec::new();
/// let tensors = [("w", TensorView::from_slice(&[1.5_f32, 2.5], [1, 2])?.into())];
/// Writer::new().write(&tensors, &mut file)?;
/// let reader = Reader::new(&file)?;
/// let entry = reader.entry("w")?;
/// assert_eq!((entry.name(), entry.dtype_name(), entry.shape()), ("w", "F32", &[1, 2][..]));
/// assert_eq!(&file[entry.offset()..][..4], 1.5_f32.to_le_bytes());
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Entry {
    name: String,
    dtype_name: String,
    dtype: Option<DType>,
    shape: Vec<usize>,
    /// Bytes of the file.
    range: Range<usize>,
}

impl Entry {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The format's name of the dtype.
    pub fn dtype_name(&self) -> &str {
        &self.dtype_name
    }

    /// The dtype; `None` where it has no whole number of bytes, or this version does not know it.
    pub fn dtype(&self) -> Option<DType> {
        self.dtype
    }

    /// The extent of each axis, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Bytes from the beginning of the file to the first element.
    pub fn offset(&self) -> usize {
        self.range.start
    }

    /// Bytes of all elements.
    pub fn size_bytes(&self) -> usize {
        self.range.len()
    }
}

/// A file whose header has been read.
///
/// ```
/// use tenure::{TensorView, io::safetensors::{Reader, Writer}};
///
/// let mut file = Vec::new();
/// let tensors = [("w", TensorView::from_slice(&[1_u8, 2], 2)?.into())];
/// Writer::new().write(&tensors, &mut file)?;
/// let view = Reader::new(&file)?.view("w")?; // lent by `file`
/// assert_eq!(view.to_string(), "[1 2]");
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    contents: Contents,
}

/// Everything that the header says.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    /// In the order of the file.
    entries: Vec<Entry>,
    places: HashMap<String, usize>,
    metadata: BTreeMap<String, String>,
}

impl<'a> Reader<'a> {
    /// Reads the header, and no element.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`, with the tensor or the byte: no such header; a name that stands twice; a
    /// shape that does not take the bytes of its offsets; tensors that overlap, leave bytes between
    /// them or behind the last one, or leave the file.
    ///
    /// ```
    /// # use tenure::io::safetensors::Reader;
    /// let error = Reader::new(&[9, 0, 0, 0, 0, 0, 0, 0, b'{', b'}']).err().unwrap();
    /// let expected = "the header has 9 bytes from byte 8 on but the file has 10 bytes";
    /// assert_eq!(error.message(), expected);
    /// ```
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        Ok(Reader { bytes, contents: Contents::read(bytes)? })
    }

    /// The tensors of the file, in the order in which they lie there.
    pub fn tensors(&self) -> &[Entry] {
        self.contents.entries()
    }

    /// The entry of a tensor.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: there is none of this name; the message has similar names.
    ///
    /// ```
    /// # use tenure::{TensorView, io::safetensors::{Reader, Writer}};
    /// # let mut file = Vec::new();
    /// let tensors = [("weight", TensorView::from_slice(&[1_u8, 2], 2)?.into())];
    /// Writer::new().write(&tensors, &mut file)?;
    /// let error = Reader::new(&file)?.entry("wieght").err().unwrap();
    /// assert_eq!(error.message(), "there is no tensor 'wieght': did you mean 'weight'?");
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn entry(&self, name: &str) -> Result<&Entry> {
        self.contents.entry(name)
    }

    /// Text that goes with the file, by its key.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.contents.metadata().get(key).map(String::as_str)
    }

    /// All text that goes with the file, sorted by its keys.
    pub fn all_metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        self.contents.metadata().iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Lends the elements of a tensor.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such tensor; elements that are misaligned in memory; more than 8 axes.
    /// `Unsupported`: a dtype of no whole number of bytes, or one that is not known; on a
    /// big-endian machine, elements of several bytes.
    ///
    /// ```
    /// # use tenure::{DType, TensorView, io::safetensors::{Reader, Writer}};
    /// # let mut file = Vec::new();
    /// let tensors = [("w", TensorView::from_slice(&[1_u8, 2], 2)?.into())];
    /// Writer::new().write(&tensors, &mut file)?;
    /// assert_eq!(Reader::new(&file)?.view("w")?.dtype(), DType::U8);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn view(&self, name: &str) -> Result<DynView<'a>> {
        self.contents.with_payload(self.bytes, name, |payload| payload.view())
    }

    /// The elements of a tensor, lent or copied.
    ///
    /// # Errors
    ///
    /// The errors of [`view`](Self::view), but that a copy is neither misaligned nor in another
    /// byte order. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::{CopyMode, TensorView, io::safetensors::{Reader, Writer}};
    /// # let mut file = Vec::new();
    /// # let tensors = [("w", TensorView::from_slice(&[1_u8, 2], 2)?.into())];
    /// # Writer::new().write(&tensors, &mut file)?;
    /// let mut own = Reader::new(&file)?.load("w", CopyMode::Always)?.into_tensor::<u8>()?;
    /// own[[0]] = 7;
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn load(&self, name: &str, mode: CopyMode) -> Result<Loaded<'a>> {
        self.contents.with_payload(self.bytes, name, |payload| payload.load(mode))
    }
}

impl Contents {
    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        let Some((length, rest)) = bytes.split_first_chunk::<LENGTH_BYTES>() else {
            let there = bytes.len();
            return Err(Error::invalid(format!(
                "the file has {there} bytes but begins with a length of {LENGTH_BYTES}"
            )));
        };
        let length = u64::from_le_bytes(*length);
        if length > MOST_HEADER_BYTES as u64 {
            return Err(Error::invalid(format!(
                "the header has {length} bytes at byte 0 but may have at most {MOST_HEADER_BYTES}: \
                 this is no safetensors file"
            )));
        }
        let Some((text, payload)) = rest.split_at_checked(length as usize) else {
            return Err(Error::invalid(format!(
                "the header has {length} bytes from byte {LENGTH_BYTES} on but the file has {} bytes",
                bytes.len()
            )));
        };
        let header = header::parse(text)?;
        let begin = LENGTH_BYTES + text.len();
        let entries = placed(header.tensors, begin, payload.len())?;
        let mut places = HashMap::with_capacity(entries.len());
        for (place, entry) in entries.iter().enumerate() {
            if places.insert(entry.name.clone(), place).is_some() {
                let name = Name::Tensor(&entry.name);
                return Err(Error::invalid(format!("{name} stands twice in the header")));
            }
        }
        let texts = header.metadata.len();
        let metadata: BTreeMap<_, _> = header.metadata.into_iter().collect();
        if metadata.len() < texts {
            return Err(Error::invalid("a key of __metadata__ stands twice in the header"));
        }
        Ok(Contents { entries, places, metadata })
    }

    pub(super) fn entry(&self, name: &str) -> Result<&Entry> {
        match self.places.get(name) {
            Some(place) => Ok(&self.entries[*place]),
            None => Err(self.no_tensor(name)),
        }
    }

    #[cold]
    fn no_tensor(&self, name: &str) -> Error {
        let near = did_you_mean(name, self.entries.iter().map(|entry| entry.name.as_str()));
        Error::invalid(format!("there is no {}{near}", Name::Tensor(name)))
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Hands `read` a tensor of these contents in `bytes`, which they were read from.
    pub(super) fn with_payload<'a, R>(
        &self,
        bytes: &'a [u8],
        name: &str,
        read: impl FnOnce(Payload<'a, '_>) -> Result<R>,
    ) -> Result<R> {
        let entry = self.entry(name)?;
        let name = Name::Tensor(&entry.name);
        let Some(dtype) = entry.dtype else {
            let dtype = shown(&entry.dtype_name);
            let message = format!("{name} is of {dtype}, which is not read");
            return Err(Error::new(ErrorKind::Unsupported, message));
        };
        read(Payload {
            name,
            dtype,
            is_native: cfg!(target_endian = "little") || dtype.alignment_bytes() == 1,
            shape: &entry.shape,
            order: Order::RowMajor,
            bytes: bytes.get(entry.range.clone()).unwrap_or_default(),
            offset: entry.offset(),
        })
    }
}

/// The tensors in the order of their bytes, which are all of the `payload_bytes` from byte `begin`
/// of the file on, each of one tensor.
fn placed(mut tensors: Vec<Described>, begin: usize, payload_bytes: usize) -> Result<Vec<Entry>> {
    tensors.sort_by_key(|tensor| tensor.offsets);
    let mut entries: Vec<Entry> = Vec::with_capacity(tensors.len());
    let mut taken = 0;
    for tensor in tensors {
        let [first, end] = tensor.offsets;
        let name = Name::Tensor(&tensor.name);
        if first != taken {
            let before = match entries.last() {
                Some(last) => format!("'{}' ends at {taken}", shown(&last.name)),
                None => "it is the first".into(),
            };
            let wrong = if first < taken { "overlap" } else { "leave bytes between them" };
            return Err(Error::invalid(format!(
                "{name} has data_offsets [{first}, {end}] but {before}: tensors must not {wrong}"
            )));
        }
        if end < first || end > payload_bytes {
            return Err(Error::invalid(format!(
                "{name} has data_offsets [{first}, {end}] but there are {payload_bytes} bytes from byte \
                 {begin} on"
            )));
        }
        let dtype = dtype_of(&tensor)?;
        taken = end;
        let Described { name, dtype: dtype_name, shape, .. } = tensor;
        entries.push(Entry { name, dtype_name, dtype, shape, range: begin + first..begin + end });
    }
    if taken == payload_bytes {
        return Ok(entries);
    }
    Err(Error::invalid(format!(
        "the file has {payload_bytes} bytes from byte {begin} on but its tensors take {taken}"
    )))
}

/// The dtype of a tensor, whose shape must take as many bytes as lie between its offsets. The size
/// of an unknown dtype is not checked.
fn dtype_of(tensor: &Described) -> Result<Option<DType>> {
    let Described { name, shape, offsets: [first, end], .. } = tensor;
    let Some((bits, dtype)) = dtypes::named(&tensor.dtype) else {
        return Ok(None);
    };
    // Without elements the other extents may be any.
    let none = shape.contains(&0).then_some(0);
    let all_bits =
        none.or_else(|| shape.iter().try_fold(bits, |bits, extent| bits.checked_mul(*extent)));
    if all_bits.is_some_and(|bits| bits % 8 == 0 && bits / 8 == end - first) {
        return Ok(dtype);
    }
    let taken = match all_bits {
        Some(bits) if bits % 8 == 0 => format!("{} bytes", bits / 8),
        Some(bits) => format!("{bits} bits"),
        None => format!("more than {} bits", usize::MAX),
    };
    Err(Error::invalid(format!(
        "{} has shape {shape:?} of {}, which takes {taken}, but data_offsets [{first}, {end}]",
        Name::Tensor(name),
        tensor.dtype
    )))
}
