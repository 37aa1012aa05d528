//! The first lines of a file.

use std::fmt;

use super::text::Text;
use crate::error::Result;

/// An enum of the words that one position of the first line takes.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident ($what:literal) { $($(#[$of:meta])* $variant:ident = $word:literal $(or $other:literal)?,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name { $($(#[$of])* $variant,)* }

        impl $name {
            /// The word that stands for it in a file.
            pub(super) fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// Reads the word, in capitals or not.
            fn read(text: &mut Text<'_>) -> Result<Self> {
                text.skip_blanks();
                let start = *text;
                let word = text.word();
                $(if [$word, $($other)?].iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes())) {
                    return Ok($name::$variant);
                })*
                let words = [$($word),*].join(", ");
                Err(start.no_number($what, &format!("one of {words}")))
            }
        }

        /// Writes the word of a file.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.word())
            }
        }
    };
}

words! {
    /// How a file lists its elements.
    ///
    /// ```
    /// use tenure::io::matrix_market::{Layout, Reader};
    ///
    /// let reader = Reader::new(b"%%MatrixMarket matrix array real general\n1 1\n0.5\n")?;
    /// assert_eq!(reader.layout(), Layout::Array);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    Layout ("the layout") {
        /// A line for each entry: row, column, value.
        Coordinate = "coordinate",
        /// A line for each element, column after column: a dense matrix.
        Array = "array",
    }
}

words! {
    /// The kind of a file's values.
    ///
    /// ```
    /// use tenure::io::matrix_market::{Field, Reader};
    ///
    /// let reader = Reader::new(b"%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n")?;
    /// assert_eq!(reader.field(), Field::Pattern);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    Field ("the field") {
        /// Numbers with a fraction: `real`, or `double` as some have it.
        Real = "real" or "double",
        /// Whole numbers.
        Integer = "integer",
        /// Whole numbers from 0; some of them may need all 64 bits; SciPy's word.
        UnsignedInteger = "unsigned-integer",
        /// Two numbers each: real and imaginary part.
        Complex = "complex",
        /// None: that an entry is there is all.
        Pattern = "pattern",
    }
}

words! {
    /// Which elements of a file stand for others too. All but `General` are square and list
    /// elements on and below the diagonal.
    ///
    /// ```
    /// use tenure::{Tensor, io::matrix_market::{Reader, Symmetry}};
    ///
    /// let text = b"%%MatrixMarket matrix array integer skew-symmetric\n2 2\n7\n";
    /// let reader = Reader::new(text)?;
    /// assert_eq!(reader.symmetry(), Symmetry::SkewSymmetric);
    /// assert_eq!(reader.to_dense::<i32>()?.to_vec(), [0, -7, 7, 0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    Symmetry ("the symmetry") {
        /// None.
        General = "general",
        /// Each equals its mirror image.
        Symmetric = "symmetric",
        /// Each is the negative of its mirror image; the diagonal is 0 and need not be listed.
        SkewSymmetric = "skew-symmetric",
        /// Each is the conjugate of its mirror image; the diagonal is real.
        Hermitian = "hermitian",
    }
}

/// A file's statements about itself.
#[derive(Clone, Copy)]
pub(super) struct Header {
    pub(super) layout: Layout,
    pub(super) field: Field,
    pub(super) symmetry: Symmetry,
    pub(super) rows: usize,
    pub(super) cols: usize,
    /// Lines that follow, one for each entry or element.
    pub(super) stored: usize,
}

impl Header {
    /// Reads up to the end of the size line.
    pub(super) fn read(text: &mut Text<'_>) -> Result<Header> {
        text.skip_byte_order_mark();
        text.skip_empty_lines();
        let start = *text;
        let word = text.word();
        let banner = word.strip_prefix(b"%%").or_else(|| word.strip_prefix(b"%"));
        if !banner.is_some_and(|word| word.eq_ignore_ascii_case(b"MatrixMarket")) {
            return Err(start.refuse("no Matrix Market file: it must begin %%MatrixMarket"));
        }
        text.skip_blanks();
        let start = *text;
        if !text.word().eq_ignore_ascii_case(b"matrix") {
            return Err(start.no_number("the object", "matrix"));
        }
        let layout = Layout::read(text)?;
        let field = Field::read(text)?;
        let symmetry = Symmetry::read(text)?;
        check_words(text, layout, field, symmetry)?;
        // Some go on with words of their own.
        text.line_of_words();
        if !text.skip_comments() {
            return Err(text.refuse("the file ends before its size line"));
        }
        let start = *text;
        let rows = text.natural("rows")?;
        let cols = text.natural("cols")?;
        if symmetry != Symmetry::General && rows != cols {
            return Err(text.refuse(format_args!(
                "a matrix of {rows} rows and {cols} columns cannot be {symmetry}: it is not square"
            )));
        }
        let stored = match layout {
            Layout::Coordinate => text.natural("the number of entries")?,
            Layout::Array => array_len(rows, cols, symmetry).ok_or_else(|| {
                start.refuse(format_args!("{rows} x {cols} elements are beyond {}", usize::MAX))
            })?,
        };
        text.end_line("the size")?;
        let header = Header { layout, field, symmetry, rows, cols, stored };
        header.check_count(&start, text.left())?;
        Ok(header)
    }

    /// That the file is long enough for what its size line says, before any memory is taken for it.
    fn check_count(&self, size_line: &Text<'_>, left: usize) -> Result<()> {
        // A digit and a blank for each number; the last needs no blank.
        let numbers = match self.layout {
            Layout::Coordinate => 2,
            Layout::Array => 0,
        } + match self.field {
            Field::Pattern => 0,
            Field::Complex => 2,
            _ => 1,
        };
        let most = left.saturating_add(1) / (2 * numbers);
        if self.stored <= most {
            return Ok(());
        }
        let lines = match self.layout {
            Layout::Coordinate => "entries",
            Layout::Array => "elements",
        };
        Err(size_line.refuse(format_args!(
            "{} {lines} must follow, but the {left} bytes that do hold at most {most}",
            self.stored
        )))
    }
}

/// That layout, field and symmetry go together.
fn check_words(text: &Text<'_>, layout: Layout, field: Field, symmetry: Symmetry) -> Result<()> {
    let wrong = match (layout, field, symmetry) {
        (Layout::Array, Field::Pattern, _) => "an array of pattern: it would list nothing",
        (_, Field::Pattern, Symmetry::SkewSymmetric) => "a pattern has no negatives to be skew",
        (_, Field::UnsignedInteger, Symmetry::SkewSymmetric) => {
            "unsigned integers have no negatives to be skew"
        }
        (_, Field::Real | Field::Integer | Field::UnsignedInteger, Symmetry::Hermitian)
        | (_, Field::Pattern, Symmetry::Hermitian) => "only complex matrices are hermitian",
        _ => return Ok(()),
    };
    Err(text.refuse(wrong))
}

/// Elements that an array of this symmetry lists.
fn array_len(rows: usize, cols: usize, symmetry: Symmetry) -> Option<usize> {
    // One of the two factors is even, and is halved first.
    let triangle = |a: usize, b: usize| if a % 2 == 0 { (a / 2, b) } else { (a, b / 2) };
    let (a, b) = match symmetry {
        Symmetry::General => (rows, cols),
        Symmetry::Symmetric | Symmetry::Hermitian => triangle(rows, rows.checked_add(1)?),
        Symmetry::SkewSymmetric => triangle(rows, rows.saturating_sub(1)),
    };
    a.checked_mul(b)
}
