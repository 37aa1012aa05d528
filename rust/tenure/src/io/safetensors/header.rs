//! The header of a file: as much of JSON as it has.

use crate::error::{Error, Result};
use crate::io::payload::Name;

/// Bytes of the length in front of the header.
pub(super) const LENGTH_BYTES: usize = 8;

/// The most bytes of a header that the format allows.
pub(super) const MOST_HEADER_BYTES: usize = 100_000_000;

/// Objects and lists in a value that is passed, each in the one before: as many as `serde_json`
/// reads.
const MOST_NESTED: usize = 127;

/// The header's tensors and metadata, in its order. Names may stand twice.
#[derive(Default)]
pub(super) struct Header {
    pub(super) tensors: Vec<Described>,
    pub(super) metadata: Vec<(String, String)>,
}

/// The header's entry of a tensor.
pub(super) struct Described {
    pub(super) name: String,
    pub(super) dtype: String,
    pub(super) shape: Vec<usize>,
    /// Byte range of its elements, from the end of the header on.
    pub(super) offsets: [usize; 2],
}

/// The key under which a header has text instead of a tensor.
pub(super) const METADATA: &str = "__metadata__";

/// Text that is read from its beginning to its end.
struct Text<'t> {
    text: &'t str,
    at: usize,
}

/// Reads a header.
pub(super) fn parse(bytes: &[u8]) -> Result<Header> {
    let text = std::str::from_utf8(bytes).map_err(|why| {
        let at = LENGTH_BYTES + why.valid_up_to();
        Error::invalid(format!("the header is not UTF-8 at byte {at}"))
    })?;
    let mut text = Text { text, at: 0 };
    let mut header = Header::default();
    let mut has_metadata = false;
    text.object(|text, name| {
        if name != METADATA {
            header.tensors.push(text.tensor(name)?);
            return Ok(());
        }
        if std::mem::replace(&mut has_metadata, true) {
            return Err(text.wrong("another key than a second __metadata__"));
        }
        if text.takes_word("null") {
            return Ok(());
        }
        text.object(|text, key| {
            let value = text.string()?;
            header.metadata.push((key, value));
            Ok(())
        })
    })?;
    text.skip_blanks();
    if text.at < text.text.len() {
        return Err(text.wrong("nothing but spaces"));
    }
    Ok(header)
}

impl Text<'_> {
    #[cold]
    fn wrong(&self, wanted: &str) -> Error {
        let at = LENGTH_BYTES + self.at;
        let found = match self.text[self.at..].chars().next() {
            Some(found) => format!("'{}'", found.escape_debug()),
            None => "its end".into(),
        };
        Error::invalid(format!("the header has {found} at byte {at} where {wanted} must be"))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Whether this comes next, behind blanks; it is then behind us.
    fn takes(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Whether this word comes next, behind blanks; it is then behind us.
    fn takes_word(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let is_next = self.text[self.at..].starts_with(word);
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    fn expect(&mut self, byte: u8, wanted: &str) -> Result<()> {
        if self.takes(byte) { Ok(()) } else { Err(self.wrong(wanted)) }
    }

    /// An object; `member` reads the value of each key.
    fn object(&mut self, mut member: impl FnMut(&mut Self, String) -> Result<()>) -> Result<()> {
        self.expect(b'{', "'{'")?;
        if self.takes(b'}') {
            return Ok(());
        }
        loop {
            let key = self.string()?;
            self.expect(b':', "':'")?;
            member(self, key)?;
            if self.takes(b'}') {
                return Ok(());
            }
            self.expect(b',', "',' or '}'")?;
        }
    }

    fn tensor(&mut self, name: String) -> Result<Described> {
        let (mut dtype, mut shape, mut offsets) = (None, None, None);
        self.object(|text, key| {
            let at = text.at;
            let is_new = match key.as_str() {
                "dtype" => dtype.replace(text.string()?).is_none(),
                "shape" => shape.replace(text.numbers()?).is_none(),
                "data_offsets" => offsets.replace(text.numbers()?).is_none(),
                _ => {
                    text.skip_value(MOST_NESTED)?;
                    true
                }
            };
            if is_new {
                return Ok(());
            }
            text.at = at;
            Err(text.wrong(&format!("no second value of {key}")))
        })?;
        let offsets = match offsets.as_deref() {
            Some(&[begin, end]) => Some([begin, end]),
            _ => None,
        };
        match (dtype, shape, offsets) {
            (Some(dtype), Some(shape), Some(offsets)) => {
                Ok(Described { name, dtype, shape, offsets })
            }
            _ => Err(Error::invalid(format!(
                "{} must have a dtype, a shape and two data_offsets, before byte {}",
                Name::Tensor(&name),
                LENGTH_BYTES + self.at
            ))),
        }
    }

    /// Reads a list, each element through `element`.
    fn list(&mut self, mut element: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.expect(b'[', "'['")?;
        if self.takes(b']') {
            return Ok(());
        }
        loop {
            element(self)?;
            if self.takes(b']') {
                return Ok(());
            }
            self.expect(b',', "',' or ']'")?;
        }
    }

    fn numbers(&mut self) -> Result<Vec<usize>> {
        let mut numbers = Vec::new();
        self.list(|text| {
            numbers.push(text.number()?);
            Ok(())
        })?;
        Ok(numbers)
    }

    /// Skips a value of any kind that nests others at most `nested` deep.
    fn skip_value(&mut self, nested: usize) -> Result<()> {
        self.skip_blanks();
        match self.peek() {
            Some(b'{' | b'[') if nested == 0 => {
                Err(self.wrong(&format!("no more than {MOST_NESTED} nested values")))
            }
            Some(b'{') => self.object(|text, _| text.skip_value(nested - 1)),
            Some(b'[') => self.list(|text| text.skip_value(nested - 1)),
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.skip_number(),
            _ if ["true", "false", "null"].iter().any(|word| self.takes_word(word)) => Ok(()),
            _ => Err(self.wrong("a value of JSON")),
        }
    }

    /// Skips a number of any kind.
    fn skip_number(&mut self) -> Result<()> {
        let rest = &self.text[self.at..];
        let in_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let number = &rest[..rest.bytes().take_while(in_number).count()];
        if number.parse::<f64>().is_err() {
            return Err(self.wrong("a number"));
        }
        self.at += number.len();
        Ok(())
    }

    fn number(&mut self) -> Result<usize> {
        self.skip_blanks();
        let rest = &self.text[self.at..];
        let digits = &rest[..rest.bytes().take_while(u8::is_ascii_digit).count()];
        if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
            return Err(self.wrong("a number from 0"));
        }
        let number = digits.parse().map_err(|_| {
            let (at, most) = (LENGTH_BYTES + self.at, usize::MAX);
            let digits = &digits[..digits.len().min(40)];
            Error::invalid(format!("the header has the number {digits} at byte {at}, over {most}"))
        })?;
        self.at += digits.len();
        Ok(number)
    }

    fn string(&mut self) -> Result<String> {
        self.expect(b'"', "a string")?;
        let mut string = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.bytes().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20));
            let plain = plain.count();
            string.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(string);
                }
                Some(b'\\') => {
                    self.at += 1;
                    string.push(self.escaped()?);
                }
                _ => return Err(self.wrong("the rest of a string")),
            }
        }
    }

    /// The character behind a backslash.
    fn escaped(&mut self) -> Result<char> {
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\x08',
            Some(b'f') => '\x0c',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.escaped_unit(),
            _ => return Err(self.wrong("an escape of JSON")),
        };
        self.at += 1;
        Ok(plain)
    }

    /// A character by its UTF-16: one unit of four digits, or two.
    fn escaped_unit(&mut self) -> Result<char> {
        let begin = self.at;
        let first = self.unit()?;
        let mut units = vec![first];
        if (0xd800..0xdc00).contains(&first) && self.peek() == Some(b'\\') {
            self.at += 1;
            units.push(self.unit()?);
        }
        match char::decode_utf16(units).collect::<Result<Vec<char>, _>>().as_deref() {
            Ok([character]) => Ok(*character),
            _ => {
                self.at = begin;
                Err(self.wrong("a character by its UTF-16"))
            }
        }
    }

    fn unit(&mut self) -> Result<u16> {
        let digits = self.text.as_bytes().get(self.at..self.at + 5);
        let digits = digits.and_then(|digits| match digits {
            [b'u', digits @ ..] if digits.iter().all(u8::is_ascii_hexdigit) => {
                std::str::from_utf8(digits).ok()
            }
            _ => None,
        });
        let Some(unit) = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) else {
            return Err(self.wrong("u and four digits"));
        };
        self.at += 5;
        Ok(unit)
    }
}

/// A string as JSON has it.
pub(super) fn quoted(string: &str) -> String {
    let mut quoted = String::from('"');
    for character in string.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\0'..' ' => quoted.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        parse(text.as_bytes()).err().expect(text).message().to_owned()
    }

    #[test]
    fn strings_are_those_of_json() {
        for string in ["", "plain", "\"\\/\u{8}\u{c}\n\r\t\0\u{1f}", "\u{20ac} \u{1f600}"] {
            let plain = serde_json::to_string(string).unwrap();
            for text in [quoted(string), plain] {
                let header = parse(format!("{{\"__metadata__\": {{{text}:{text}}}}}").as_bytes());
                let metadata = header.unwrap().metadata;
                assert_eq!(metadata, [(string.to_owned(), string.to_owned())], "{text}");
                assert_eq!(serde_json::from_str::<String>(&text).unwrap(), string);
            }
        }
        let escapes = r#"{"__metadata__":{"a":"\u20AC\ud83d\ude00\/\b\f"}}"#;
        assert_eq!(
            parse(escapes.as_bytes()).unwrap().metadata[0].1,
            "\u{20ac}\u{1f600}/\u{8}\u{c}"
        );
    }

    #[test]
    fn headers_cut_anywhere_are_refused() {
        let whole =
            r#" {"w" : {"shape":[2, 3],"dtype":"F32","data_offsets":[0,24]}, "__metadata__":{}} "#;
        let header = parse(whole.as_bytes()).unwrap();
        assert_eq!((header.tensors.len(), header.tensors[0].shape.as_slice()), (1, &[2, 3][..]));
        for length in 0..whole.trim_end().len() {
            assert!(parse(&whole.as_bytes()[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn errors_name_the_byte() {
        let entry = |value: &str| format!("{{\"w\":{{\"dtype\":\"F32\",\"shape\":{value}}}}}");
        for (text, wanted) in [
            ("[]", "the header has '[' at byte 8 where '{' must be"),
            ("{", "the header has its end at byte 9 where a string must be"),
            ("{} x", "the header has 'x' at byte 11 where nothing but spaces must be"),
            ("{\"w\" 1}", "the header has '1' at byte 13 where ':' must be"),
            ("{\"w\":1}", "the header has '1' at byte 13 where '{' must be"),
            ("{\"a\nb\":1}", "the header has '\\n' at byte 11 where the rest of a string must be"),
            ("{\"\\x\":1}", "the header has 'x' at byte 11 where an escape of JSON must be"),
            ("{\"\\u12g4\":1}", "the header has 'u' at byte 11 where u and four digits must be"),
            (
                "{\"\\udc00\":1}",
                "the header has 'u' at byte 11 where a character by its UTF-16 must be",
            ),
            (
                "{\"__metadata__\":{\"a\":1}}",
                "the header has '1' at byte 29 where a string must be",
            ),
            (
                "{\"w\":{\"shape\":[1],\"shape\":[1]}}",
                "the header has '[' at byte 34 where no second value of shape must be",
            ),
            (
                "{\"w\":{\"shape\":[1],\"dtype\":\"U8\"}}",
                "tensor 'w' must have a dtype, a shape and two data_offsets, before byte 39",
            ),
        ] {
            assert_eq!(message(text), wanted, "{text}");
        }
        for (value, wanted) in [
            ("[-1]", "the header has '-' at byte 37 where a number from 0 must be"),
            ("[01]", "the header has '0' at byte 37 where a number from 0 must be"),
            ("[1.5]", "the header has '.' at byte 38 where ',' or ']' must be"),
            ("[1e3]", "the header has 'e' at byte 38 where ',' or ']' must be"),
            ("[1,]", "the header has ']' at byte 39 where a number from 0 must be"),
            (
                "[18446744073709551616]",
                "the header has the number 18446744073709551616 at byte 37, over \
                 18446744073709551615",
            ),
        ] {
            assert_eq!(message(&entry(value)), wanted, "{value}");
        }
        assert_eq!(
            parse(b"{\"\xff\":1}").err().unwrap().message(),
            "the header is not UTF-8 at byte 10"
        );
    }
}
