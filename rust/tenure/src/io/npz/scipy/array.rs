//! The arrays in an archive: what a matrix is made of.

use crate::dense::Tensor;
use crate::dtype::bytes;
use crate::dtype::{DType, Element, index::SparseIndex};
use crate::error::{Error, ErrorKind, Result};
use crate::io::npy::Header;
use crate::io::npz::Member;
use crate::layout::{order::Order, refusal};

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
        Ok(Array { member, header })
    }

    pub(super) fn shape(&self) -> &[usize] {
        self.header.shape()
    }

    /// The type of the elements.
    pub(super) fn dtype(&self) -> Result<DType> {
        self.header.known_dtype(self.name())
    }

    fn name(&self) -> &str {
        self.member.name()
    }

    /// The elements, which are of type `T`, in row-major order and the byte order of this machine.
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
        if !self.header.is_native() {
            bytes::swap(bytes::of_mut(&mut elements), dtype);
        }
        match self.header.order() {
            Order::RowMajor => Ok(elements),
            order => Ok(Tensor::from_vec_in(elements, self.header.shape(), order)?.to_vec()),
        }
    }

    /// Offsets or indices as numbers of type `I`.
    pub(super) fn indices<I: SparseIndex>(self) -> Result<Vec<I>> {
        match self.dtype()? {
            dtype if dtype == I::DTYPE => self.elements(),
            DType::I8 => self.converted::<i8, I>(),
            DType::I16 => self.converted::<i16, I>(),
            DType::I32 => self.converted::<i32, I>(),
            DType::I64 => self.converted::<i64, I>(),
            DType::U8 => self.converted::<u8, I>(),
            DType::U16 => self.converted::<u16, I>(),
            DType::U32 => self.converted::<u32, I>(),
            DType::U64 => self.converted::<u64, I>(),
            other => {
                let name = self.name();
                Err(Error::invalid(format!("{name} is of {other} but must be of integers")))
            }
        }
    }

    fn converted<N, I: SparseIndex>(self) -> Result<Vec<I>>
    where
        N: Element + TryInto<usize>,
    {
        let name = self.name().to_owned();
        let convert = |index: N| {
            let Ok(number) = index.try_into() else {
                return Err(Error::invalid(format!(
                    "{name} holds {index} but must hold no less than 0"
                )));
            };
            I::from_usize(number).ok_or_else(|| {
                let why = refusal::more_than_counted(number, I::DTYPE);
                Error::invalid(format!("{name} holds {index}, {why}"))
            })
        };
        self.elements::<N>()?.into_iter().map(convert).collect()
    }

    /// A short word in ASCII, which NumPy has as `S` of its length, or `U`.
    pub(super) fn word(self) -> Result<String> {
        const MOST_LETTERS: usize = 15;
        let descr = self.header.descr();
        let kind = descr.strip_prefix(['<', '>', '=', '|']).unwrap_or(descr);
        // The byte of a letter that is not 0 is the first or the last of its width.
        let wide = (4, if descr.starts_with('>') { 3 } else { 0 });
        let letter = kind.strip_prefix('S').map(|size| ((1, 0), size));
        let letter = letter.or_else(|| kind.strip_prefix('U').map(|size| (wide, size)));
        let sized = letter.and_then(|(letter, size)| Some((letter, size.parse::<usize>().ok()?)));
        let Some(((width, place), size)) = sized.filter(|(_, size)| *size <= MOST_LETTERS) else {
            let message = format!("{} is of '{descr}' but must be a word", self.name());
            return Err(Error::invalid(message));
        };
        let mut text = [0; 4 * MOST_LETTERS];
        let text = &mut text[..width * size];
        let mut member = self.member;
        member.read(text)?;
        member.finish()?;
        let letters = text.iter().skip(place).step_by(width).take_while(|letter| **letter != 0);
        Ok(letters.copied().filter(u8::is_ascii).map(char::from).collect())
    }
}
