//! Archives of dense arrays.

use std::collections::HashMap;

use super::zip::{self, Entry, Member};
use crate::dense::{CopyMode, DynView, Tensor};
use crate::dtype::bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::io::loaded::Loaded;
use crate::io::near_names::did_you_mean;
use crate::io::npy::{Array, Header};
use crate::io::payload::{Name, Payload};
use crate::raw;

/// The end of a member's name behind the name of its array.
const SUFFIX: &str = ".npy";

/// NumPy's archive of arrays, in bytes that are lent: those of a file that was read, or mapped.
///
/// Bytes before the archive and behind it are passed, as Python's `zipfile` passes them: at most
/// 65,535 bytes behind it, its comment among them.
///
/// ```
/// use tenure::{TensorView, io::npz};
///
/// let mut file = Vec::new();
/// let arrays = [("a", TensorView::from_slice(&[1_u8, 2], 2)?.into())];
/// npz::Writer::new().write_arrays(&arrays, &mut file)?;
/// let archive = npz::Archive::new(&file)?;
/// assert_eq!(archive.view("a")?.to_string(), "[1 2]"); // lent by `file`
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone)]
pub struct Archive<'a> {
    archive: zip::Archive<'a>,
    names: Vec<&'a str>,
    /// The name and the entry of the member that holds an array, by the name of the array.
    entries: HashMap<&'a str, (&'a str, Entry)>,
    /// A name that is not UTF-8.
    refused: Option<&'a [u8]>,
}

impl<'a> Archive<'a> {
    /// Reads the directory, and no array.
    ///
    /// The arrays are the members that are named `.npy`, and others that begin as an array does.
    /// The last member with a name counts, as for Python. Members that are no arrays are passed,
    /// and so are those with a name that is not UTF-8.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such archive.
    ///
    /// ```
    /// # use tenure::io::npz::Archive;
    /// let error = Archive::new(b"PK").err().unwrap();
    /// assert_eq!(error.message(), "no .npz file: it has no end of a directory");
    /// ```
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let archive = zip::Archive::new(bytes)?;
        let (mut names, mut entries, mut refused) = (Vec::new(), HashMap::new(), None);
        for (name, entry) in archive.entries()? {
            let Ok(member) = std::str::from_utf8(name) else {
                refused = Some(name);
                continue;
            };
            let name = match member.strip_suffix(SUFFIX) {
                Some(name) => name,
                None if archive.is_array(member, entry) => member,
                None => continue,
            };
            if entries.insert(name, (member, entry)).is_none() {
                names.push(name);
            }
        }
        Ok(Archive { archive, names, entries, refused })
    }

    /// The names of the arrays, as NumPy has them, each once, in the order of the archive.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'a str> + '_ {
        self.names.iter().copied()
    }

    /// The header of an array.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: there is no such array (the message has similar names), or its header is
    /// malformed. `Unsupported`: other packings than stored and deflated.
    ///
    /// ```
    /// # use tenure::{DType, TensorView, io::npz};
    /// # let mut file = Vec::new();
    /// # let arrays = [("a", TensorView::from_slice(&[1_u8, 2], 2)?.into())];
    /// # npz::Writer::new().write_arrays(&arrays, &mut file)?;
    /// let header = npz::Archive::new(&file)?.header("a")?;
    /// assert_eq!((header.dtype(), header.shape()), (Some(DType::U8), &[2][..]));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn header(&self, name: &str) -> Result<Header> {
        let mut member = self.member(name)?;
        let name = member.name().to_owned();
        Header::read(&name, |part| member.read(part))
    }

    /// Lends the elements of an array that is stored as it is.
    ///
    /// They are not read, and so not compared with their checksum: [`verify`](Self::verify) does.
    ///
    /// # Errors
    ///
    /// The errors of [`header`](Self::header); also `Unsupported`: deflated, the byte order of
    /// other machines, a dtype that the library does not know; and `InvalidArgument`: misaligned,
    /// more than 8 axes.
    ///
    /// ```
    /// # use tenure::{TensorView, io::npz};
    /// # let mut file = Vec::new();
    /// # let arrays = [("a", TensorView::from_slice(&[1_u8, 2], 2)?.into())];
    /// npz::Writer::new().deflated().write_arrays(&arrays, &mut file)?;
    /// let error = npz::Archive::new(&file)?.view("a").err().unwrap();
    /// assert_eq!(
    ///     error.message(),
    ///     "a.npy is deflated and cannot be lent; load it with CopyMode::IfNeeded"
    /// );
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn view(&self, name: &str) -> Result<DynView<'a>> {
        stored(&self.member(name)?)?.view()
    }

    /// The elements of an array, lent or copied. A copy is compared with its checksum.
    ///
    /// # Errors
    ///
    /// The errors of [`view`](Self::view), but that a copy is neither deflated nor misaligned nor
    /// in another byte order. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::{CopyMode, TensorView, io::npz};
    /// # let mut file = Vec::new();
    /// # let arrays = [("a", TensorView::from_slice(&[1_u8, 2], 2)?.into())];
    /// npz::Writer::new().deflated().write_arrays(&arrays, &mut file)?;
    /// let array = npz::Archive::new(&file)?.load("a", CopyMode::IfNeeded)?;
    /// assert!(array.is_copied());
    /// assert_eq!(array.into_tensor::<u8>()?.to_vec(), [1, 2]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn load(&self, name: &str, mode: CopyMode) -> Result<Loaded<'a>> {
        let member = self.member(name)?;
        let can_be_stored = mode == CopyMode::Never || member.stored().is_some();
        if mode != CopyMode::Always && can_be_stored {
            let array = stored(&member)?;
            if mode == CopyMode::Never || array.can_be_lent()? {
                return array.load(CopyMode::Never);
            }
        }
        unpacked(member)
    }

    /// Reads an array and compares it with its checksum.
    ///
    /// # Errors
    ///
    /// The errors of [`header`](Self::header), and `InvalidArgument` where they differ.
    ///
    /// ```
    /// # use tenure::{TensorView, io::npz};
    /// # let mut file = Vec::new();
    /// # let arrays = [("a", TensorView::from_slice(&[17_u8, 18], 2)?.into())];
    /// npz::Writer::new().write_arrays(&arrays, &mut file)?;
    /// npz::Archive::new(&file)?.verify("a")?;
    ///
    /// let place = file.windows(2).position(|bytes| bytes == [17, 18]).unwrap();
    /// file[place] = 0;
    /// let error = npz::Archive::new(&file)?.verify("a").err().unwrap();
    /// assert!(error.message().starts_with("a.npy is damaged: checksum "));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn verify(&self, name: &str) -> Result<()> {
        let mut member = self.member(name)?;
        let mut part = [0; 1 << 14];
        while member.left() > 0 {
            let count = member.left().min(part.len() as u64) as usize;
            member.read(&mut part[..count])?;
        }
        member.finish()
    }

    /// The member of an array, by its name with or without `.npy`.
    fn member(&self, name: &str) -> Result<Member<'a>> {
        let found = self.entries.get(name);
        match found.or_else(|| self.entries.get(name.strip_suffix(SUFFIX)?)) {
            Some((member, entry)) => self.archive.open(member, *entry),
            None => Err(self.no_array(name)),
        }
    }

    #[cold]
    fn no_array(&self, name: &str) -> Error {
        let refused = self.refused.map(|name| {
            let cut = &name[..name.len().min(60)];
            format!(", but the name {}, which is not UTF-8", cut.escape_ascii())
        });
        let refused = refused.unwrap_or_default();
        let wanted = name.strip_suffix(SUFFIX).unwrap_or(name);
        let near = did_you_mean(wanted, self.names());
        Error::invalid(format!("the archive has no {name}{SUFFIX}{refused}{near}"))
    }
}

/// The array of a member that is stored as it is.
fn stored<'a>(member: &Member<'a>) -> Result<Array<'a>> {
    let name = member.name();
    let Some(content) = member.stored() else {
        let why = "is deflated and cannot be lent; load it with CopyMode::IfNeeded";
        return Err(Error::new(ErrorKind::Unsupported, format!("{name} {why}")));
    };
    // The directory's word on both sizes; it is compared where the content is read, too.
    if content.len() as u64 != member.left() {
        return Err(Error::invalid(format!(
            "{name} is stored in {} bytes but has {} by the directory",
            content.len(),
            member.left()
        )));
    }
    let array = Array::named(name, content)?;
    array.require_end(content.len())?;
    Ok(array)
}

/// A copy of the elements of a member.
fn unpacked<'a>(mut member: Member<'_>) -> Result<Loaded<'a>> {
    let name = member.name().to_owned();
    let header = Header::read(&name, |part| member.read(part))?;
    let dtype = header.known_dtype(&name)?;
    // No more than the archive can hold: its directory was believed in no other size.
    let file_bytes = header.payload_offset() + member.left() as usize;
    let size_bytes = header.payload_bytes(&name, file_bytes)?;
    let mut copy = Tensor::<u8>::zeros(size_bytes)?;
    member.read(copy.as_mut())?;
    member.finish()?;
    raw::count_copied(size_bytes);
    if !header.is_native() {
        bytes::swap(copy.as_mut(), dtype);
    }
    let (shape, order) = (header.shape(), header.order());
    let offset = header.payload_offset();
    let payload = Payload {
        name: Name::Array(&name),
        dtype,
        is_native: true,
        shape,
        order,
        bytes: &[],
        offset,
    };
    Loaded::copied(copy, &payload)
}
