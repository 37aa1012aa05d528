//! The arrays in an archive: a header that is a Python literal, and elements.

use super::bytes;
use super::zip::Member;
use crate::{DType, Element, Error, ErrorKind, Result, SparseIndex};

/// NumPy's headers of one array take some hundred bytes; no more than this is looked at.
const MOST_HEADER_BYTES: usize = 1 << 16;

/// An array whose header has been read.
pub(super) struct Array<'a> {
    member: Member<'a>,
    /// NumPy's word for the dtype.
    descr: String,
    pub(super) shape: Vec<usize>,
}

/// The byte order of this machine, as NumPy says it.
const ORDER: char = if cfg!(target_endian = "little") { '<' } else { '>' };

/// The dtype that NumPy calls `descr`.
fn dtype_of(descr: &str) -> Option<DType> {
    DTYPES.iter().find(|(_, kind)| is_descr(descr, kind)).map(|(dtype, _)| *dtype)
}

fn is_descr(descr: &str, kind: &str) -> bool {
    let mut chars = descr.chars();
    // Of one byte there is no order, and readers do not care what is said of it.
    let order = chars.next();
    (order == Some(ORDER) || (order == Some('|') && kind.ends_with('1'))) && chars.as_str() == kind
}

/// NumPy's word for a dtype; `None` where it has none.
pub(super) fn descr_of(dtype: DType) -> Option<String> {
    let (_, kind) = DTYPES.iter().find(|(known, _)| *known == dtype)?;
    Some(format!("{}{kind}", if kind.ends_with('1') { '|' } else { ORDER }))
}

const DTYPES: [(DType, &str); 14] = [
    (DType::F64, "f8"),
    (DType::F32, "f4"),
    (DType::F16, "f2"),
    (DType::I8, "i1"),
    (DType::I16, "i2"),
    (DType::I32, "i4"),
    (DType::I64, "i8"),
    (DType::U8, "u1"),
    (DType::U16, "u2"),
    (DType::U32, "u4"),
    (DType::U64, "u8"),
    (DType::BOOL8, "b1"),
    (DType::C64, "c8"),
    (DType::C128, "c16"),
];

/// The header of a row-major array, with the padding that puts the elements 64 bytes apart from the
/// beginning.
pub(super) fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let mut extents: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
    if shape.len() > 1 {
        extents.truncate(extents.len() - 2);
    }
    let extents = extents.trim_end();
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}");
    let prefix_bytes = 10;
    let length = (prefix_bytes + text.len() + 1).next_multiple_of(64) - prefix_bytes;
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((length as u16).to_le_bytes());
    header.extend(text.as_bytes());
    header.resize(prefix_bytes + length - 1, b' ');
    header.push(b'\n');
    header
}

impl<'a> Array<'a> {
    /// Reads the header.
    pub(super) fn new(mut member: Member<'a>) -> Result<Self> {
        let mut prefix = [0; 8];
        member.read(&mut prefix)?;
        let long = match prefix {
            [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _] => false,
            [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, _] => true,
            _ => {
                let message = format!("{} does not begin with \\x93NUMPY, 1 to 3", member.name());
                return Err(Error::invalid(message));
            }
        };
        let mut length = [0; 4];
        member.read(&mut length[..if long { 4 } else { 2 }])?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MOST_HEADER_BYTES {
            return Err(Error::invalid(format!(
                "{} has a header of {length} bytes but must have at most {MOST_HEADER_BYTES}",
                member.name()
            )));
        }
        let mut text = vec![0; length];
        member.read(&mut text)?;
        match Literal(&text).header() {
            Some((descr, false, shape)) => Ok(Array { member, descr, shape }),
            // Arrays of one axis, and those of one element, are never column-major for NumPy.
            Some((_, true, _)) => {
                let message = format!("{} is column-major, which is not read", member.name());
                Err(Error::new(ErrorKind::Unsupported, message))
            }
            None => {
                let shown = text[..length.min(120)].escape_ascii();
                Err(Error::invalid(format!("{} has the header '{shown}'", member.name())))
            }
        }
    }

    /// The type of the elements.
    pub(super) fn dtype(&self) -> Result<DType> {
        dtype_of(&self.descr).ok_or_else(|| {
            let message = format!("{} is of '{}', which is not read", self.name(), self.descr);
            Error::new(ErrorKind::Unsupported, message)
        })
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
        let (shape, left) = (&self.shape, self.member.left());
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
        let size: Option<usize> = self.descr.get(2..).and_then(|size| size.parse().ok());
        let (width, size) = match (self.descr.get(..2), size) {
            (Some("|S"), Some(size @ 0..16)) => (1, size),
            (Some("<U"), Some(size @ 0..16)) => (4, size),
            _ => {
                let message = format!("{} is of '{}' but must be a word", self.name(), self.descr);
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

/// A Python literal, as far as headers of arrays have any.
struct Literal<'t>(&'t [u8]);

impl<'t> Literal<'t> {
    /// `descr`, `fortran_order` and `shape`, each once, in any order.
    fn header(mut self) -> Option<(String, bool, Vec<usize>)> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect(b"{")?;
        while self.expect(b"}").is_none() {
            let key = self.string()?;
            self.expect(b":")?;
            let repeated = match key {
                b"descr" => {
                    descr.replace(String::from_utf8(self.string()?.to_vec()).ok()?).is_some()
                }
                b"fortran_order" => fortran.replace(self.truth()?).is_some(),
                b"shape" => shape.replace(self.extents()?).is_some(),
                _ => return None,
            };
            if repeated || (self.expect(b",").is_none() && !self.begins(b"}")) {
                return None;
            }
        }
        self.skip_blanks();
        self.0.is_empty().then_some((descr?, fortran?, shape?))
    }

    fn skip_blanks(&mut self) {
        self.0 = self.0.trim_ascii_start();
    }

    fn begins(&mut self, text: &[u8]) -> bool {
        self.skip_blanks();
        self.0.starts_with(text)
    }

    fn expect(&mut self, text: &[u8]) -> Option<()> {
        self.skip_blanks();
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    fn string(&mut self) -> Option<&'t [u8]> {
        self.skip_blanks();
        let (quote, rest) = self.0.split_first()?;
        matches!(quote, b'\'' | b'"').then_some(())?;
        let end = rest.iter().position(|byte| byte == quote || *byte == b'\\')?;
        (rest[end] == *quote).then_some(())?;
        self.0 = &rest[end + 1..];
        Some(&rest[..end])
    }

    fn truth(&mut self) -> Option<bool> {
        let no = self.expect(b"False").map(|()| false);
        no.or_else(|| self.expect(b"True").map(|()| true))
    }

    fn extents(&mut self) -> Option<Vec<usize>> {
        let mut extents = Vec::new();
        self.expect(b"(")?;
        while self.expect(b")").is_none() {
            self.skip_blanks();
            let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let (number, rest) = self.0.split_at(digits);
            extents.push(std::str::from_utf8(number).ok()?.parse().ok()?);
            self.0 = rest;
            if self.expect(b",").is_none() && !self.begins(b")") {
                return None;
            }
        }
        Some(extents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(String, bool, Vec<usize>)> {
        Literal(text.as_bytes()).header()
    }

    #[test]
    fn headers_are_those_of_numpy() {
        for (shape, tuple) in [(&[][..], "()"), (&[3][..], "(3,)"), (&[3, 4, 5][..], "(3, 4, 5)")] {
            let header = header("<f8", shape);
            assert_eq!(header.len() % 64, 0);
            let text = std::str::from_utf8(&header[10..]).unwrap();
            let wanted = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {tuple}, }}");
            assert_eq!(text.trim_end(), wanted);
            assert_eq!(parsed(text), Some(("<f8".into(), false, shape.to_vec())));
        }
    }

    #[test]
    fn what_is_no_header_is_refused() {
        let whole = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }\n";
        assert!(parsed(whole).is_some());
        for length in 0..whole.trim_end().len() {
            assert_eq!(parsed(&whole[..length]), None, "{}", &whole[..length]);
        }
        for (from, to) in [
            ("'<f8'", "[('a', '<f8')]"),
            ("'<f8'", "'<f8"),
            ("'<f8'", "'<f\\x38'"),
            ("False", "0"),
            ("(3, 4)", "(3, -4)"),
            ("(3, 4)", "(3 4)"),
            ("(3, 4)", "(3,, 4)"),
            ("(3, 4)", "(99999999999999999999,)"),
            ("(3, 4)", "3"),
            ("}", "'shape': (3,)}"),
            ("}", "'more': (3,)}"),
            ("}", "}}"),
            ("'descr': '<f8', ", ""),
        ] {
            let text = whole.replace(from, to);
            assert_eq!(parsed(&text), None, "{text}");
        }
    }

    #[test]
    fn dtypes_are_named_both_ways() {
        for (dtype, _) in DTYPES {
            assert_eq!(dtype_of(&descr_of(dtype).unwrap()), Some(dtype));
        }
        assert_eq!((descr_of(DType::BF16), dtype_of("|O")), (None, None));
        let foreign = if ORDER == '<' { ">f8" } else { "<f8" };
        assert_eq!((dtype_of(foreign), dtype_of("f8"), dtype_of("")), (None, None, None));
    }
}
