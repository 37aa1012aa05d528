//! The bytes of a file, with a place in them; and the numbers that stand there.

use std::str::FromStr;

use super::digits::{eight_digits, scaled};
use crate::error::{Error, Result};

/// Text left to read.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The longest piece of a file that a message repeats.
const SHOWN_BYTES: usize = 32;

impl<'a> Text<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Text { bytes, at: 0 }
    }

    /// The line that the place is in, from 1; counted for messages only. The end of a file that
    /// ends in a line break is in its last line.
    fn line(&self) -> usize {
        let read = &self.bytes[..self.at];
        let breaks = read.iter().filter(|byte| **byte == b'\n').count();
        let ended = self.left() == 0 && read.ends_with(b"\n");
        if ended { breaks } else { breaks + 1 }
    }

    /// A refusal of the content of this line.
    #[cold]
    #[inline(never)]
    pub(super) fn refuse(&self, what: impl std::fmt::Display) -> Error {
        Error::invalid(format!("line {}: {what}", self.line()))
    }

    /// The text from here to the next blank, for messages.
    #[cold]
    pub(super) fn shown(&self) -> String {
        let token = self.token();
        let cut = &token[..token.len().min(SHOWN_BYTES)];
        let dots = if cut.len() < token.len() { "..." } else { "" };
        format!("'{}{dots}'", cut.escape_ascii())
    }

    /// Bytes left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The bytes up to the next blank or the end.
    #[inline]
    fn token(&self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        &rest[..end]
    }

    /// The next word of this line; empty at its end.
    pub(super) fn word(&mut self) -> &'a [u8] {
        self.skip_blanks();
        let token = self.token();
        self.at += token.len();
        token
    }

    /// Passes the mark that some editors put at the beginning of UTF-8.
    pub(super) fn skip_byte_order_mark(&mut self) {
        if self.bytes.starts_with(b"\xef\xbb\xbf") {
            self.at = 3;
        }
    }

    /// Passes blanks within the line.
    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\x0c') = self.peek() {
            self.at += 1;
        }
    }

    /// Passes blanks and line breaks; whether something is left.
    #[inline]
    pub(super) fn skip_empty_lines(&mut self) -> bool {
        while let Some(b' ' | b'\t' | b'\r' | b'\x0c' | b'\n') = self.peek() {
            self.at += 1;
        }
        self.at < self.bytes.len()
    }

    /// Passes empty lines and those that are comments; whether something is left.
    #[inline]
    pub(super) fn skip_comments(&mut self) -> bool {
        while self.skip_empty_lines() && self.peek() == Some(b'%') {
            self.line_of_words();
        }
        self.left() > 0
    }

    /// Takes the rest of the line without its break, and passes the break.
    pub(super) fn line_of_words(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        self.at += (end + 1).min(rest.len());
        &rest[..end]
    }

    /// Passes the end of the line, before which only blanks and a comment may stand.
    #[inline]
    pub(super) fn end_line(&mut self, what: &str) -> Result<()> {
        self.skip_blanks();
        match self.peek() {
            None => Ok(()),
            Some(b'\n' | b'%') => {
                self.line_of_words();
                Ok(())
            }
            Some(_) => Err(self.refuse(format_args!(
                "{} follows {what} but its line must end there",
                self.shown()
            ))),
        }
    }

    /// The next number of this line, which consists only of digits.
    #[inline]
    pub(super) fn natural(&mut self, name: &str) -> Result<usize> {
        self.skip_blanks();
        let start = *self;
        match self.digits() {
            Some(number) => Ok(number as usize),
            None => Err(start.no_natural(name)),
        }
    }

    #[cold]
    #[inline(never)]
    fn no_natural(&self, name: &str) -> Error {
        self.no_number(name, &format!("a whole number from 0 to {}", u64::MAX))
    }

    /// Digits up to a blank.
    #[inline]
    fn digits(&mut self) -> Option<u64> {
        let start = self.at;
        let mut number = 0_u64;
        while let Some(digit) = self.digit() {
            number = number.checked_mul(10)?.checked_add(digit)?;
        }
        (self.at > start && self.at_blank()).then_some(number)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn no_number(&self, name: &str, wanted: &str) -> Error {
        if self.token().is_empty() {
            return self.refuse(format_args!("{name} is missing"));
        }
        self.refuse(format_args!("{name} is {} but must be {wanted}", self.shown()))
    }

    #[inline]
    fn digit(&mut self) -> Option<u64> {
        let digit = self.peek()?.wrapping_sub(b'0');
        (digit < 10).then(|| {
            self.at += 1;
            u64::from(digit)
        })
    }

    #[inline]
    fn at_blank(&self) -> bool {
        self.peek().is_none_or(|byte| byte.is_ascii_whitespace())
    }

    /// Passes a sign; whether it was a minus.
    #[inline]
    fn sign(&mut self) -> bool {
        let sign = self.peek();
        self.at += usize::from(matches!(sign, Some(b'-' | b'+')));
        sign == Some(b'-')
    }

    /// The next number of this line, whole, with or without a sign.
    #[inline]
    pub(super) fn integer(&mut self) -> Result<i128> {
        self.skip_blanks();
        let start = *self;
        let negative = self.sign();
        match self.digits() {
            Some(number) if negative => Ok(-i128::from(number)),
            Some(number) => Ok(i128::from(number)),
            None => Err(start.no_integer()),
        }
    }

    #[cold]
    #[inline(never)]
    fn no_integer(&self) -> Error {
        self.no_number("value", &format!("a whole number from -{0} to {0}", u64::MAX))
    }

    /// The next number of this line, rounded to the nearest double, and its characters.
    #[inline]
    pub(super) fn real(&mut self) -> Result<(f64, &'a [u8])> {
        self.skip_blanks();
        let start = self.at;
        if let Some(value) = self.short_real() {
            return Ok((value, &self.bytes[start..self.at]));
        }
        self.at = start;
        self.long_real()
    }

    /// A number of at most 19 digits and a small exponent, which is nearly every number.
    #[inline]
    fn short_real(&mut self) -> Option<f64> {
        let negative = self.sign();
        let start = self.at;
        self.skip_zeros();
        let first = self.at;
        let mut digits = self.append_digits(0);
        let mut significant = self.at - first;
        let mut is_empty = self.at == start;
        let mut exponent = 0_i64;
        if self.peek() == Some(b'.') {
            self.at += 1;
            let start = self.at;
            if significant == 0 {
                self.skip_zeros();
            }
            let first = self.at;
            digits = self.append_digits(digits);
            significant += self.at - first;
            is_empty &= self.at == start;
            exponent = -((self.at - start) as i64);
        }
        if let Some(b'e' | b'E' | b'd' | b'D') = self.peek() {
            self.at += 1;
            let negative = self.sign();
            let start = self.at;
            let mut stated = 0_i64;
            while let Some(digit) = self.digit() {
                stated = stated.saturating_mul(10).saturating_add(digit as i64);
            }
            if self.at == start {
                return None;
            }
            exponent = exponent.saturating_add(if negative { -stated } else { stated });
        }
        // More than 19 digits may have wrapped.
        if is_empty || significant > 19 || !self.at_blank() {
            return None;
        }
        let value = scaled(digits, exponent)?;
        Some(if negative { -value } else { value })
    }

    #[inline]
    fn skip_zeros(&mut self) {
        while self.peek() == Some(b'0') {
            self.at += 1;
        }
    }

    /// Passes digits, which are appended to those of `number`; more than 64 bits wrap.
    #[inline]
    fn append_digits(&mut self, mut number: u64) -> u64 {
        while let Some(eight) = self.bytes.get(self.at..self.at + 8) {
            let Some(eight) = eight.try_into().ok().and_then(eight_digits) else { break };
            number = number.wrapping_mul(100_000_000).wrapping_add(eight);
            self.at += 8;
        }
        while let Some(digit) = self.digit() {
            number = number.wrapping_mul(10).wrapping_add(digit);
        }
        number
    }

    /// Every other number that Rust reads: long ones, infinities, NaN.
    fn long_real(&mut self) -> Result<(f64, &'a [u8])> {
        let token = self.token();
        match parsed(token) {
            Some(value) => {
                self.at += token.len();
                Ok((value, token))
            }
            None => Err(self.no_number("value", "a number")),
        }
    }
}

/// A number as Rust reads it, or with the `D` that Fortran has before the exponents of doubles.
pub(super) fn parsed<F: FromStr>(token: &[u8]) -> Option<F> {
    let text = std::str::from_utf8(token).ok()?;
    text.parse().or_else(|_| text.replacen(['d', 'D'], "e", 1).parse()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real(text: &str) -> Result<f64> {
        Text::new(text.as_bytes()).real().map(|(value, _)| value)
    }

    #[test]
    fn numbers_are_those_of_rust() {
        let mut texts: Vec<String> = [
            "0",
            "-0",
            "+1",
            "1.",
            ".5",
            "-.5e1",
            "1e22",
            "1e23",
            "9007199254740992",
            "1e-22",
            "9007199254740993",
            "123456789012345678901234567890",
            "0.1",
            "1.7976931348623157e308",
            "5e-324",
            "1e-400",
            "1e400",
            "nan",
            "NaN",
            "inf",
            "-Infinity",
            "00012.50",
            "4.35E+02",
            "1e-99999999999999999999",
            "0e99999999999999999999",
            "18446744073709551616.0",
        ]
        .map(String::from)
        .into();
        let mut bits = 1_u64;
        for _ in 0..20_000 {
            bits = bits
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let digits = bits >> (bits & 63);
            texts.push(format!("{}", f64::from_bits(bits)));
            texts.push(format!("{:?}", (digits as f64) / 1000.0));
            texts.push(format!("{digits}e{}", (bits >> 7 & 63) as i64 - 32));
            texts.push(format!("0.{digits:024}"));
            texts.push(format!("{:?}", f64::from_bits(bits >> 12 | 0x3fe0_0000_0000_0000)));
            texts.push(format!("{:.16e}", f64::from_bits(bits >> 8 | 0x3c00_0000_0000_0000)));
        }
        for text in texts {
            let wanted: f64 = text.parse().unwrap();
            for text in [text.replace('e', "D"), text.replace(['e', 'E'], "d"), text] {
                let found = real(&text).unwrap();
                assert_eq!(found.to_bits(), wanted.to_bits(), "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "", "-", ".", "e5", "1e", "1e+", "1x", "0x10", "1.2.3", "--1", "1,5", "\u{b2}", "1d",
            "d5", "1dd5", "1d5e5", "1D+", "d", "1q5",
        ] {
            assert!(real(text).is_err(), "{text}");
        }
        for text in ["", "-", "+", "1.0", "1e3", "a", "18446744073709551616", "--1", "- 1"] {
            assert!(Text::new(text.as_bytes()).integer().is_err(), "{text}");
        }
    }

    #[test]
    fn lines_are_counted_where_the_place_is() {
        let mut text = Text::new(b"one\ntwo\n");
        let mut lines = vec![text.line()];
        for _ in 0..2 {
            text.word();
            lines.push(text.line());
            text.line_of_words();
            lines.push(text.line());
        }
        assert_eq!(lines, [1, 1, 2, 2, 2]);
    }
}
