//! The header of an array: a Python literal, and where the elements begin.

use std::ffi::c_long;

use crate::dtype::{DType, Element};
use crate::error::{Error, ErrorKind, Result};
use crate::layout;
use crate::layout::order::Order;

/// The first bytes of an array.
pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// NumPy's headers of one array take some hundred bytes; no more than this is looked at.
const MOST_HEADER_BYTES: usize = 1 << 16;

/// The header of an array: dtype, byte order, shape and order of memory.
///
/// ```
/// use tenure::{DType, Order, TensorView, io::npy};
///
/// let mut file = Vec::new();
/// npy::write(TensorView::from_slice(&[1.0, 2.0], [2, 1])?, &mut file)?;
/// let array = npy::Array::new(&file)?;
/// let header = array.header();
/// assert_eq!((header.dtype(), header.shape()), (Some(DType::F64), &[2, 1][..]));
/// assert_eq!((header.order(), header.is_native()), (Order::RowMajor, true));
/// assert_eq!(header.payload_offset() % 64, 0);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Header {
    descr: String,
    order: Order,
    shape: Vec<usize>,
    payload_offset: usize,
}

/// The byte order of this machine, and the other one, as NumPy says them.
const NATIVE: char = if cfg!(target_endian = "little") { '<' } else { '>' };
const FOREIGN: char = if cfg!(target_endian = "little") { '>' } else { '<' };

/// A dtype, and NumPy's words for it.
struct Words {
    dtype: DType,
    kind: &'static str,
    /// Its one-character codes, which may have a byte order.
    codes: &'static str,
    /// Its names, which have no byte order.
    names: &'static [&'static str],
}

const DTYPES: [Words; 14] = [
    words(DType::F64, "f8", "d", &["float64", "double", "float"]),
    words(DType::F32, "f4", "f", &["float32", "single"]),
    words(DType::F16, "f2", "e", &["float16", "half"]),
    words(DType::I8, "i1", "b", &["int8", "byte"]),
    words(DType::I16, "i2", "h", &["int16", "short"]),
    words(DType::I32, "i4", "i", &["int32", "intc"]),
    words(DType::I64, "i8", "qpn", &["int64", "longlong", "int", "int_", "intp"]),
    words(DType::U8, "u1", "B", &["uint8", "ubyte"]),
    words(DType::U16, "u2", "H", &["uint16", "ushort"]),
    words(DType::U32, "u4", "I", &["uint32", "uintc"]),
    words(DType::U64, "u8", "QPN", &["uint64", "ulonglong", "uint", "uintp"]),
    words(DType::BOOL8, "b1", "?", &["bool", "bool_"]),
    words(DType::C64, "c8", "F", &["complex64", "csingle"]),
    words(DType::C128, "c16", "D", &["complex128", "cdouble", "complex"]),
];

/// C's `long` and `unsigned long`, with the width that the system has.
const LONGS: [&str; 2] = if size_of::<c_long>() == 8 { ["i8", "u8"] } else { ["i4", "u4"] };

const fn words(
    dtype: DType,
    kind: &'static str,
    codes: &'static str,
    names: &'static [&'static str],
) -> Words {
    Words { dtype, kind, codes, names }
}

/// The dtype that NumPy calls `descr`, and whether its bytes are in the order of this machine.
fn dtype_of(descr: &str) -> Option<(DType, bool)> {
    let (order, word) = match descr.chars().next()? {
        order @ ('<' | '>' | '=' | '|') => (Some(order), &descr[1..]),
        _ => (None, descr),
    };
    let kind = match (order, word) {
        (_, "l") | (None, "long") => LONGS[0],
        (_, "L") | (None, "ulong") => LONGS[1],
        _ => word,
    };
    let Words { dtype, .. } = DTYPES.iter().find(|words| {
        words.kind == kind
            || (kind.len() == 1 && words.codes.contains(kind))
            || (order.is_none() && words.names.contains(&kind))
    })?;
    // One byte has no byte order, and readers ignore the mark.
    Some((*dtype, order != Some(FOREIGN) || dtype.size_bytes() == 1))
}

/// NumPy's word for a dtype in the byte order of this machine; `None` where it has none.
pub(crate) fn descr_of(dtype: DType) -> Option<String> {
    let Words { kind, .. } = DTYPES.iter().find(|words| words.dtype == dtype)?;
    Some(format!("{}{kind}", if kind.ends_with('1') { '|' } else { NATIVE }))
}

/// The header of an array, with the padding that puts the elements a multiple of 64 bytes from the
/// beginning.
pub(crate) fn header(descr: &str, order: Order, shape: &[usize]) -> Vec<u8> {
    let mut extents: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
    if shape.len() > 1 {
        extents.truncate(extents.len() - 2);
    }
    let extents = extents.trim_end();
    let fortran = if order == Order::ColumnMajor { "True" } else { "False" };
    let text =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({extents}), }}");
    let prefix_bytes = 10;
    let length = (prefix_bytes + text.len() + 1).next_multiple_of(64) - prefix_bytes;
    let mut header = [&MAGIC[..], &[1, 0]].concat();
    header.extend((length as u16).to_le_bytes());
    header.extend(text.as_bytes());
    header.resize(prefix_bytes + length - 1, b' ');
    header.push(b'\n');
    header
}

impl Header {
    /// Reads a header through `fill`, which writes the bytes that come next. `name` is what
    /// messages call the array.
    pub(crate) fn read(name: &str, mut fill: impl FnMut(&mut [u8]) -> Result<()>) -> Result<Self> {
        let mut prefix = [0; 8];
        fill(&mut prefix)?;
        let length_bytes = match prefix {
            [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _] => 2,
            [0x93, b'N', b'U', b'M', b'P', b'Y', 2 | 3, _] => 4,
            _ => {
                return Err(Error::invalid(format!(
                    "{name} begins with '{}' but must begin with \\x93NUMPY and version 1 to 3",
                    prefix.escape_ascii()
                )));
            }
        };
        let mut length = [0; 4];
        fill(&mut length[..length_bytes])?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MOST_HEADER_BYTES {
            return Err(Error::invalid(format!(
                "{name} has a header of {length} bytes at byte 8 but must have at most \
                 {MOST_HEADER_BYTES}"
            )));
        }
        let mut text = vec![0; length];
        fill(&mut text)?;
        let payload_offset = prefix.len() + length_bytes + length;
        let mut literal = Literal(&text);
        let Some((descr, fortran, shape)) = literal.header() else {
            let at = payload_offset - literal.0.len();
            return Err(Error::invalid(format!(
                "{name} has the header '{}', which at byte {at} is no dictionary of descr, \
                 fortran_order and shape",
                text[..length.min(120)].escape_ascii(),
            )));
        };
        // With one axis both orders are the same.
        let order = match fortran && shape.len() > 1 {
            true => Order::ColumnMajor,
            false => Order::RowMajor,
        };
        Ok(Header { descr, order, shape, payload_offset })
    }

    /// The dtype; `None` where it is none of this library's: strings, dates, objects, structures.
    pub fn dtype(&self) -> Option<DType> {
        dtype_of(&self.descr).map(|(dtype, _)| dtype)
    }

    /// Whether elements have the byte order of this machine. Elements of the other byte order are
    /// never lent, only copied.
    pub fn is_native(&self) -> bool {
        dtype_of(&self.descr).is_some_and(|(_, is_native)| is_native)
    }

    /// NumPy's word for the dtype as the file has it, `"<f4"` or `"float32"` for example; of a
    /// structured dtype, its fields.
    pub fn descr(&self) -> &str {
        &self.descr
    }

    /// In which order memory runs through the shape.
    pub fn order(&self) -> Order {
        self.order
    }

    /// The extent of each axis, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Bytes from the beginning of the header to the first element.
    pub fn payload_offset(&self) -> usize {
        self.payload_offset
    }

    /// The dtype, which must be one that is read.
    pub(crate) fn known_dtype(&self, name: &str) -> Result<DType> {
        self.dtype().ok_or_else(|| {
            let shown: String = self.descr.chars().take(60).collect();
            // A list of fields, an element type with a shape, or a string of several.
            let is_structured = shown.starts_with(['[', '(', '{']) || shown.contains(',');
            let why = if is_structured { ": structured dtypes are not supported" } else { "" };
            let message = format!("{name} is of '{shown}', which is not read{why}");
            Error::new(ErrorKind::Unsupported, message)
        })
    }

    /// The dtype, which must be that of `T`.
    pub(crate) fn require<T: Element>(&self, name: &str) -> Result<()> {
        let dtype = self.known_dtype(name)?;
        if dtype == T::DTYPE {
            return Ok(());
        }
        let asked = T::DTYPE;
        Err(Error::invalid(format!("{name} is of {dtype} but {asked} is asked for")))
    }

    /// Bytes that the elements take. A file of `file_bytes` must have that many after the header.
    pub(crate) fn payload_bytes(&self, name: &str, file_bytes: usize) -> Result<usize> {
        let dtype = self.known_dtype(name)?;
        let (_, count) = layout::shaped(dtype, &self.shape, self.order)?;
        let size_bytes = count * dtype.size_bytes();
        let there = file_bytes.saturating_sub(self.payload_offset);
        if size_bytes <= there {
            return Ok(size_bytes);
        }
        Err(Error::invalid(format!(
            "{name} has shape {:?} of {dtype}, which takes {size_bytes} bytes from byte {} on but \
             there are {there}",
            self.shape, self.payload_offset
        )))
    }
}

/// A Python literal, as far as headers of arrays have any.
struct Literal<'t>(&'t [u8]);

impl<'t> Literal<'t> {
    /// `descr`, `fortran_order` and `shape`, each once, in any order.
    fn header(&mut self) -> Option<(String, bool, Vec<usize>)> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect(b"{")?;
        while self.expect(b"}").is_none() {
            let key = self.string()?;
            self.expect(b":")?;
            let repeated = match key {
                b"descr" => descr.replace(self.descr()?).is_some(),
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

    /// A string, or the fields of a structured dtype.
    fn descr(&mut self) -> Option<String> {
        let is_structured = self.begins(b"[") || self.begins(b"(") || self.begins(b"{");
        let text = if is_structured { self.bracketed()? } else { self.string()? };
        // Version 3 has UTF-8, those before it Latin-1.
        let utf8 = String::from_utf8(text.to_vec());
        Some(utf8.unwrap_or_else(|_| text.iter().copied().map(char::from).collect()))
    }

    /// A bracketed literal, as it is written.
    fn bracketed(&mut self) -> Option<&'t [u8]> {
        let (begin, mut depth) = (self.0, 0_usize);
        loop {
            match self.0.first()? {
                b'\'' | b'"' => {
                    self.string()?;
                    continue;
                }
                b'[' | b'(' | b'{' => depth += 1,
                b']' | b')' | b'}' => depth -= 1,
                _ => {}
            }
            self.0 = &self.0[1..];
            if depth == 0 {
                return Some(&begin[..begin.len() - self.0.len()]);
            }
        }
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
        // Python 2 said that text was Unicode.
        let (quote, rest) = self.0.strip_prefix(b"u").unwrap_or(self.0).split_first()?;
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
            // Python 2 said that a number was long.
            self.0 = rest.strip_prefix(b"L").unwrap_or(rest);
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
            for (order, fortran) in [(Order::RowMajor, "False"), (Order::ColumnMajor, "True")] {
                let header = header("<f8", order, shape);
                assert_eq!(header.len() % 64, 0);
                let text = std::str::from_utf8(&header[10..]).unwrap();
                let wanted =
                    format!("{{'descr': '<f8', 'fortran_order': {fortran}, 'shape': {tuple}, }}");
                assert_eq!(text.trim_end(), wanted);
                let is_fortran = order == Order::ColumnMajor;
                assert_eq!(parsed(text), Some(("<f8".into(), is_fortran, shape.to_vec())));
            }
        }
    }

    #[test]
    fn malformed_headers_are_refused() {
        let whole = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }\n";
        assert!(parsed(whole).is_some());
        for length in 0..whole.trim_end().len() {
            assert_eq!(parsed(&whole[..length]), None, "{}", &whole[..length]);
        }
        for (from, to) in [
            ("'<f8'", "[('a', '<f8')"),
            ("'<f8'", "]"),
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
        for Words { dtype, kind, codes, names } in DTYPES {
            assert_eq!(dtype_of(&descr_of(dtype).unwrap()), Some((dtype, true)));
            let is_native = dtype.size_bytes() == 1;
            for word in codes.split("").filter(|code| !code.is_empty()).chain([kind]) {
                for order in ["", "=", "|", &NATIVE.to_string()] {
                    assert_eq!(dtype_of(&format!("{order}{word}")), Some((dtype, true)), "{word}");
                }
                let foreign = dtype_of(&format!("{FOREIGN}{word}"));
                assert_eq!(foreign, Some((dtype, is_native)), "{word}");
            }
            for name in names {
                assert_eq!(dtype_of(name), Some((dtype, true)), "{name}");
                assert_eq!(dtype_of(&format!("<{name}")), None, "{name}");
            }
        }
        assert_eq!((descr_of(DType::BF16), dtype_of("|O")), (None, None));
        assert_eq!(dtype_of(&format!("{FOREIGN}f8")), Some((DType::F64, false)));
        assert_eq!(dtype_of(&format!("{FOREIGN}b1")), Some((DType::BOOL8, true)));
        for word in
            ["", "<", "=", "<f16", "g", " f8", "f8 ", "F8", "l8", "d8", "qp", "f8,f8", "2f8"]
        {
            assert_eq!(dtype_of(word), None, "{word}");
        }
    }

    #[test]
    fn headers_of_other_programs_are_read() {
        let old = "{'shape': (3L, 4L), 'fortran_order': True, 'descr': \"<i2\"}";
        assert_eq!(parsed(old), Some(("<i2".into(), true, vec![3, 4])));
        let fields =
            "{'descr': [('a', '<f8', [2]), ('b', '|u1')], 'fortran_order': False, 'shape': (), }";
        let list = "[('a', '<f8', [2]), ('b', '|u1')]";
        assert_eq!(parsed(fields), Some((list.into(), false, vec![])));
        assert_eq!(dtype_of(list), None);
    }
}
