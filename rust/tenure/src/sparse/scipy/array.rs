//! The arrays in an archive: what a matrix is made of.

use crate::bytes;
use crate::npy::Header;
use crate::npz::Member;
use crate::{DType, Element, Error, ErrorKind, Order, Result, SparseIndex};

/// An array whose header has been read.
pub(super) struct Array<'a> {
    member: Member<'a>,
    header: Header,
}

impl<'a> Array<'a> {
    /// Reads the header.
    pub(super) fn new(mut member: Member<'a>) -> Result<Self> {
        let name = member.name().to_owned();
        let header = Header::read(&name, |bytes| member.read(bytes))?;
        // Arrays of one axis, and those of one element, are never column-major for NumPy.
        if header.order() == Order::ColumnMajor {
            let message = format!("{name} is column-major, which is not read");
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        Ok(Array { member, header })
    }

    pub(super) fn shape(&self) -> &[usize] {
        self.header.shape()
    }

    /// The type of the elements, in the byte order of this machine.
    pub(super) fn dtype(&self) -> Result<DType> {
        let dtype = self.header.known_dtype(self.name())?;
        if !self.header.is_native() {
            let descr = self.header.descr();
            let message = format!("{} is of '{descr}', which is not read", self.name());
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        Ok(dtype)
    }

    fn name(&self) -> &str {
        self.member.name()
    }

    /// The elements, which are of type `T`.
    pub(super) fn elements<T: Element>(self) -> Result<Vec<T>> {
        let dtype = self.dtype()?;
        if dtype != T::DTYPE {
            let asked = T::DTYPE;
            return Err(Error::invalid(format!(
                "{} is of {dtype} but {asked} is asked for",
                self.name()
            )));
        }
        let (shape, left) = (self.shape(), self.member.left());
        let count = shape.iter().try_fold(1_usize, |count, extent| count.checked_mul(*extent));
        let size_bytes = count.and_then(|count| count.checked_mul(size_of::<T>()));
        let Some(count) = count.filter(|_| size_bytes.is_some_and(|bytes| bytes as u64 == left))
        else {
            return Err(Error::invalid(format!(
                "{} has {left} bytes of {dtype} but shape {shape:?}",
                self.name()
            )));
        };
        // No more than the archive can hold: its directory was believed in no other size.
        let mut elements = Vec::new();
        elements.try_reserve_exact(count).map_err(|_| {
            Error::new(ErrorKind::OutOfMemory, format!("there is no memory for {left} bytes"))
        })?;
        elements.resize(count, T::default());
        let mut member = self.member;
        member.read(bytes::of_mut(&mut elements))?;
        member.finish()?;
        Ok(elements)
    }

    /// Offsets or indices as numbers of type `I`.
    pub(super) fn indices<I: SparseIndex>(self) -> Result<Vec<I>> {
        let dtype = self.dtype()?;
        if dtype == I::DTYPE {
            return self.elements();
        }
        let name = self.name().to_owned();
        let beyond = |index: i64| {
            let asked = I::DTYPE;
            Error::invalid(format!("{name} holds {index}, more than {asked} can count: use i64"))
        };
        let convert = |index: i64| {
            let number = usize::try_from(index).ok().and_then(I::from_usize);
            number.ok_or_else(|| beyond(index))
        };
        match dtype {
            DType::I32 => {
                let narrow = self.elements::<i32>()?;
                narrow.into_iter().map(|index| convert(i64::from(index))).collect()
            }
            DType::I64 => self.elements::<i64>()?.into_iter().map(convert).collect(),
            other => Err(Error::invalid(format!("{name} is of {other} but must be i32 or i64"))),
        }
    }

    /// A short word in ASCII, which NumPy has as `S` of its length, or `U`.
    pub(super) fn word(self) -> Result<String> {
        let descr = self.header.descr();
        let size: Option<usize> = descr.get(2..).and_then(|size| size.parse().ok());
        let (width, size) = match (descr.get(..2), size) {
            (Some("|S"), Some(size @ 0..16)) => (1, size),
            (Some("<U"), Some(size @ 0..16)) => (4, size),
            _ => {
                let message = format!("{} is of '{descr}' but must be a word", self.name());
                return Err(Error::invalid(message));
            }
        };
        let mut text = [0; 64];
        let text = &mut text[..width * size];
        let mut member = self.member;
        member.read(text)?;
        member.finish()?;
        let letters = text.iter().step_by(width).take_while(|letter| **letter != 0);
        Ok(letters.copied().filter(u8::is_ascii).map(char::from).collect())
    }
}
