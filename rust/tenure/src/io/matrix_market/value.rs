//! The values of files, as elements.

use std::io::{self, Write};

use half::{bf16, f16};

use super::text::{Text, parsed};
use super::{Field, Symmetry};
use crate::dtype::{Bool8, Element};
use crate::error::{Error, Result};
use num_complex::Complex;

/// An element that can stand in a Matrix Market file: all but [`Bool8`] are numbers of the fields
/// real, integer and complex. Sealed, as [`Element`] is.
///
/// | file | read as |
/// | --- | --- |
/// | real | floats, complex |
/// | integer | integers that hold it, floats, complex |
/// | complex | complex |
/// | pattern | any: each entry is 1 |
///
/// Floats are rounded to nearest; `f16` and `bf16` are the nearest of the nearest double.
///
/// ```
/// use tenure::{CooMatrix, io::matrix_market::{Reader, Value}};
///
/// fn largest<T: Value + PartialOrd>(bytes: &[u8]) -> tenure::Result<Option<T>> {
///     let matrix: CooMatrix<T> = Reader::new(bytes)?.to_coo()?;
///     Ok(matrix.values().iter().copied().reduce(|a, b| if b > a { b } else { a }))
/// }
/// let text = b"%%MatrixMarket matrix coordinate integer general\n9 9 2\n1 2 7\n9 9 300\n";
/// assert_eq!(largest::<f32>(text)?, Some(300.0));
/// let error = largest::<u8>(text).err().unwrap();
/// assert_eq!(error.message(), "line 4: value is 300 but u8 holds 0 to 255");
/// # Ok::<(), tenure::Error>(())
/// ```
pub trait Value: Element {
    /// The field that files of such elements have.
    const FIELD: Field;

    /// The value of an entry of a pattern.
    #[doc(hidden)]
    const ONE: Self;

    /// Reads the value that stands next, of a file of `field`.
    #[doc(hidden)]
    fn read(text: &mut Numbers<'_, '_>, field: Field) -> Result<Self>;

    /// The negative; `None` where there is none.
    #[doc(hidden)]
    fn negative(self) -> Option<Self>;

    /// The conjugate.
    #[doc(hidden)]
    fn conjugate(self) -> Self {
        self
    }

    /// Writes the value's numbers.
    #[doc(hidden)]
    fn write(self, out: &mut dyn Write) -> io::Result<()>;
}

/// The text of a file, as implementations of [`Value`] see it.
#[doc(hidden)]
pub struct Numbers<'t, 'a>(pub(super) &'t mut Text<'a>);

impl Symmetry {
    /// The value at the mirrored position of `value`; `None` where its type has no such value.
    #[inline]
    pub(super) fn mirrored<T: Value>(self, value: T) -> Option<T> {
        match self {
            Symmetry::General | Symmetry::Symmetric => Some(value),
            Symmetry::SkewSymmetric => value.negative(),
            Symmetry::Hermitian => Some(value.conjugate()),
        }
    }
}

/// Whether two values are equal; NaN is NaN.
#[inline]
#[expect(clippy::eq_op, reason = "only NaN differs from itself")]
pub(super) fn same<T: Value>(a: T, b: T) -> bool {
    a == b || (a != a && b != b)
}

/// That a file of `field` can be read as elements of type `T`.
pub(super) fn check_field<T: Value>(field: Field) -> Result<()> {
    let fits = match field {
        Field::Pattern => true,
        Field::Integer | Field::UnsignedInteger => true,
        Field::Real => matches!(T::FIELD, Field::Real | Field::Complex),
        Field::Complex => T::FIELD == Field::Complex,
    };
    if fits {
        return Ok(());
    }
    Err(Error::invalid(format!("the file is {field}, and {} does not hold it", T::DTYPE)))
}

macro_rules! floats {
    ($($type:ty: $one:expr, $round:expr;)*) => {$(
        impl Value for $type {
            const FIELD: Field = Field::Real;
            const ONE: Self = $one;

            #[inline]
            fn read(text: &mut Numbers<'_, '_>, _: Field) -> Result<Self> {
                let (nearest, token) = text.0.real()?;
                Ok($round(nearest, token))
            }

            fn negative(self) -> Option<Self> {
                Some(-self)
            }

            fn write(self, out: &mut dyn Write) -> io::Result<()> {
                // The fewest digits that read back equal.
                write!(out, "{self:?}")
            }
        }
    )*};
}

floats! {
    f64: 1.0, |nearest, _| nearest;
    f32: 1.0, round_to_f32;
    f16: f16::ONE, |nearest, _| f16::from_f64(nearest);
    bf16: bf16::ONE, |nearest, _| bf16::from_f64(nearest);
}

/// The `f32` nearest to a decimal number; `nearest` is the double nearest to it.
///
/// Rounding twice is wrong only where the double lies exactly between two `f32`: the decimal number
/// may lie on either side of it.
#[inline]
fn round_to_f32(nearest: f64, token: &[u8]) -> f32 {
    // An f32 has 23 of the 52 bits of a double's fraction; smaller ones than normal have fewer.
    const BEYOND: u64 = (1 << 29) - 1;
    const HALF: u64 = 1 << 28;
    let small = nearest.abs() < f64::from(f32::MIN_POSITIVE) && nearest != 0.0;
    if small || nearest.to_bits() & BEYOND == HALF {
        return parsed(token).unwrap_or(nearest as f32);
    }
    nearest as f32
}

macro_rules! integers {
    ($($type:ident: $field:ident, $negative:expr;)*) => {$(
        impl Value for $type {
            const FIELD: Field = Field::$field;
            const ONE: Self = 1;

            #[inline]
            fn read(text: &mut Numbers<'_, '_>, _: Field) -> Result<Self> {
                text.0.skip_blanks();
                let start = *text.0;
                let number = text.0.integer()?;
                $type::try_from(number).map_err(|_| out_of_range::<$type>(&start, number))
            }

            fn negative(self) -> Option<Self> {
                $negative(self)
            }

            fn write(self, out: &mut dyn Write) -> io::Result<()> {
                write!(out, "{self}")
            }
        }

        impl Bounds for $type {
            const BOUNDS: (i128, i128) = ($type::MIN as i128, $type::MAX as i128);
        }
    )*};
}

integers! {
    i8: Integer, i8::checked_neg;
    i16: Integer, i16::checked_neg;
    i32: Integer, i32::checked_neg;
    i64: Integer, i64::checked_neg;
    u8: Integer, |_| None;
    u16: Integer, |_| None;
    u32: Integer, |_| None;
    u64: UnsignedInteger, |_| None;
}

trait Bounds: Element {
    const BOUNDS: (i128, i128);
}

#[cold]
#[inline(never)]
fn out_of_range<T: Bounds>(text: &Text<'_>, number: i128) -> Error {
    let (lowest, highest) = T::BOUNDS;
    text.refuse(format_args!("value is {number} but {} holds {lowest} to {highest}", T::DTYPE))
}

impl Value for Bool8 {
    const FIELD: Field = Field::Integer;
    const ONE: Self = Bool8::TRUE;

    fn read(text: &mut Numbers<'_, '_>, _: Field) -> Result<Self> {
        Ok(Bool8::from(text.0.integer()? != 0))
    }

    fn negative(self) -> Option<Self> {
        None
    }

    fn write(self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}", u8::from(self.is_true()))
    }
}

macro_rules! complex {
    ($($type:ident;)*) => {$(
        impl Value for Complex<$type> {
            const FIELD: Field = Field::Complex;
            const ONE: Self = Complex::new(1.0, 0.0);

            #[inline]
            fn read(text: &mut Numbers<'_, '_>, field: Field) -> Result<Self> {
                let re = $type::read(text, field)?;
                let im = if field == Field::Complex { $type::read(text, field)? } else { 0.0 };
                Ok(Complex::new(re, im))
            }

            fn negative(self) -> Option<Self> {
                Some(-self)
            }

            fn conjugate(self) -> Self {
                self.conj()
            }

            fn write(self, out: &mut dyn Write) -> io::Result<()> {
                write!(out, "{:?} {:?}", self.re, self.im)
            }
        }
    )*};
}

complex! {
    f32;
    f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32_of(token: &str) -> f32 {
        f32::read(&mut Numbers(&mut Text::new(token.as_bytes())), Field::Real).unwrap()
    }

    #[test]
    fn f32_is_rounded_once() {
        let mut texts: Vec<String> = [
            // Between two f32, a little above, and a little below.
            "1.000000059604644775390625",
            "1.00000005960464477539062500000000001",
            "1.00000005960464477539062499999999999",
            "16777217.0",
            "16777217.0000000000000000001",
            "1e-45",
            "7e-46",
            "7.006492321624085e-46",
            "7.0064923216240854e-46",
            "3.4028235677973366e38",
            "1e39",
            "-0.0",
        ]
        .map(String::from)
        .into();
        let mut bits = 1_u32;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let value = f32::from_bits(bits);
            texts.push(format!("{value:?}"));
            let above = f32::from_bits(bits.wrapping_add(1));
            texts.push(format!("{:.60e}", (f64::from(value) + f64::from(above)) / 2.0));
        }
        for text in texts {
            let wanted: f32 = text.parse().unwrap();
            if !wanted.is_nan() {
                assert_eq!(f32_of(&text).to_bits(), wanted.to_bits(), "{text}");
                assert_eq!(f32_of(&text.replace('e', "D")).to_bits(), wanted.to_bits(), "{text}");
            }
        }
    }
}
