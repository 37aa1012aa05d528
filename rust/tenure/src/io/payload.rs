//! Elements as files hold them: read from lent bytes, and written as bytes.

use std::fmt;

use crate::dense::{CopyMode, DynView, DynViewMut, Tensor};
use crate::dtype::DType;
use crate::dtype::bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::io::loaded::Loaded;
use crate::layout::order::Order;

/// The name of an array in messages.
#[derive(Clone, Copy)]
pub(crate) enum Name<'f> {
    /// A name of its own, or that of a member of an archive.
    Array(&'f str),
    /// The name of a tensor in its file.
    Tensor(&'f str),
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Array(name) => f.write_str(name),
            Name::Tensor(name) => write!(f, "tensor '{}'", shown(name)),
        }
    }
}

/// A name in a message: files may have names of any length.
pub(crate) fn shown(name: &str) -> String {
    let shown: String = name.chars().take(60).flat_map(char::escape_debug).collect();
    if name.chars().nth(60).is_some() { shown + "..." } else { shown }
}

/// The elements of an array that a file describes.
pub(crate) struct Payload<'a, 'f> {
    pub(crate) name: Name<'f>,
    pub(crate) dtype: DType,
    /// Whether they are in the byte order of this machine.
    pub(crate) is_native: bool,
    pub(crate) shape: &'f [usize],
    pub(crate) order: Order,
    /// All of them and no more.
    pub(crate) bytes: &'a [u8],
    /// Their offset in the file.
    pub(crate) offset: usize,
}

impl<'a> Payload<'a, '_> {
    /// Lends the elements, where they lie as views need them.
    pub(crate) fn view(&self) -> Result<DynView<'a>> {
        if !self.is_native {
            return Err(self.refused(ErrorKind::Unsupported, "they have another byte order"));
        }
        if self.is_misaligned() {
            let (past, alignment) = (self.bytes.as_ptr().addr(), self.dtype.alignment_bytes());
            let why =
                format!("in memory they begin {} past a multiple of {alignment}", past % alignment);
            return Err(self.refused(ErrorKind::InvalidArgument, &why));
        }
        DynView::from_bytes_in(self.bytes, self.dtype, self.shape, self.order)
    }

    /// Whether they lie as views need them.
    pub(crate) fn can_be_lent(&self) -> bool {
        self.is_native && !self.is_misaligned()
    }

    pub(crate) fn load(&self, mode: CopyMode) -> Result<Loaded<'a>> {
        match mode {
            CopyMode::Never => self.view().map(Loaded::lent),
            CopyMode::IfNeeded if self.can_be_lent() => self.view().map(Loaded::lent),
            CopyMode::IfNeeded | CopyMode::Always => {
                let mut copy = Tensor::copy_from_slice(self.bytes, self.bytes.len())?;
                if !self.is_native {
                    bytes::swap(copy.as_mut(), self.dtype);
                }
                Loaded::copied(copy, self)
            }
        }
    }

    fn is_misaligned(&self) -> bool {
        let alignment = self.dtype.alignment_bytes();
        !self.bytes.is_empty() && self.bytes.as_ptr().addr() % alignment != 0
    }

    #[cold]
    fn refused(&self, kind: ErrorKind, why: &str) -> Error {
        let Payload { dtype, offset, .. } = self;
        let name = &self.name;
        Error::new(
            kind,
            format!(
                "{name} has {dtype} at byte {offset} that cannot be lent: {why}; load it with \
                 CopyMode::IfNeeded"
            ),
        )
    }
}

/// Elements to be written: the bytes of a view, without gaps.
pub(crate) enum Body<'v> {
    Lent(&'v [u8]),
    Gathered(Tensor<u8>),
}

impl<'v> Body<'v> {
    /// The elements in row-major order; gathered first where they do not lie in it.
    pub(crate) fn new(view: DynView<'v>) -> Result<Self> {
        match view.as_bytes() {
            // Files hold truth values as 0 or 1.
            Some(bytes) if view.dtype() == DType::BOOL8 && bytes.iter().any(|byte| *byte > 1) => {
                let mut gathered = Tensor::<u8>::zeros(bytes.len())?;
                let truths = gathered.as_mut().iter_mut().zip(bytes);
                truths.for_each(|(truth, byte)| *truth = u8::from(*byte != 0));
                Ok(Body::Gathered(gathered))
            }
            Some(bytes) => Ok(Body::Lent(bytes)),
            None => Ok(Body::Gathered(gathered(&view)?)),
        }
    }
}

impl AsRef<[u8]> for Body<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Body::Lent(bytes) => bytes,
            Body::Gathered(bytes) => bytes.as_ref(),
        }
    }
}

fn gathered(view: &DynView<'_>) -> Result<Tensor<u8>> {
    let mut bytes = Tensor::<u8>::zeros(view.len() * view.dtype().size_bytes())?;
    let mut out = DynViewMut::from_bytes(bytes.as_mut(), view.dtype(), view.shape())?;
    view.copy_into(&mut out)?;
    if view.dtype() == DType::BOOL8 {
        bytes.as_mut().iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    }
    Ok(bytes)
}
