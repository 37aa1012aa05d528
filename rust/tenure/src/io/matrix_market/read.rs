//! Reading: the lines after the size line.

use super::header::Header;
use super::text::Text;
use super::value::{Numbers, Value, check_field, same};
use super::{Field, Layout, Symmetry};
use crate::dense::Tensor;
use crate::dtype::index::SparseIndex;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::{order::Order, refusal};
use crate::sparse::matrix::CooMatrix;

/// A file whose first lines have been read.
///
/// ```
/// use tenure::{CooMatrix, io::matrix_market::Reader};
///
/// let bytes = b"%%MatrixMarket matrix coordinate integer general\n2 3 2\n1 3 7\n2 1 8\n";
/// let matrix: CooMatrix<i16> = Reader::new(bytes)?.to_coo()?;
/// assert_eq!((matrix.row_indices(), matrix.col_indices()), (&[0, 1][..], &[2, 0][..]));
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    header: Header,
    /// Follows the size line.
    text: Text<'a>,
}

#[cold]
fn no_memory(count: usize) -> Error {
    Error::new(ErrorKind::OutOfMemory, format!("there is no memory for {count} entries"))
}

fn reserved<T>(count: usize) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(count).map_err(|_| no_memory(count))?;
    Ok(vec)
}

impl<'a> Reader<'a> {
    /// Reads the first lines, up to the size.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a malformed line (the message has its number and the fault); also a file
    /// that is too short for its size.
    ///
    /// ```
    /// # use tenure::io::matrix_market::Reader;
    /// let text = b"%%MatrixMarket matrix coordinate real general\n3 3 1000000\n1 1 0.5\n";
    /// let error = Reader::new(text).err().unwrap();
    /// assert_eq!(
    ///     error.message(),
    ///     "line 2: 1000000 entries must follow, but the 8 bytes that do hold at most 1"
    /// );
    /// ```
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let mut text = Text::new(bytes);
        let header = Header::read(&mut text)?;
        Ok(Reader { header, text })
    }

    /// How the file lists its elements.
    ///
    /// ```
    /// # use tenure::io::matrix_market::{Layout, Reader};
    /// let reader = Reader::new(b"%%MatrixMarket matrix coordinate real general\n0 0 0")?;
    /// assert_eq!(reader.layout(), Layout::Coordinate);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn layout(&self) -> Layout {
        self.header.layout
    }

    /// The kind of its values.
    ///
    /// ```
    /// # use tenure::io::matrix_market::{Field, Reader};
    /// let reader = Reader::new(b"%%MatrixMarket matrix coordinate real general\n0 0 0")?;
    /// assert_eq!(reader.field(), Field::Real);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn field(&self) -> Field {
        self.header.field
    }

    /// Which elements stand for others too.
    ///
    /// ```
    /// # use tenure::io::matrix_market::{Reader, Symmetry};
    /// let reader = Reader::new(b"%%MatrixMarket matrix coordinate real general\n0 0 0")?;
    /// assert_eq!(reader.symmetry(), Symmetry::General);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn symmetry(&self) -> Symmetry {
        self.header.symmetry
    }

    /// Rows of the matrix.
    ///
    /// ```
    /// # use tenure::io::matrix_market::Reader;
    /// let reader = Reader::new(b"%%MatrixMarket matrix coordinate real general\n4 5 0")?;
    /// assert_eq!(reader.rows(), 4);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn rows(&self) -> usize {
        self.header.rows
    }

    /// Columns of the matrix.
    ///
    /// ```
    /// # use tenure::io::matrix_market::Reader;
    /// let reader = Reader::new(b"%%MatrixMarket matrix coordinate real general\n4 5 0")?;
    /// assert_eq!(reader.cols(), 5);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn cols(&self) -> usize {
        self.header.cols
    }

    /// Entries or elements that the file lists, by its own word; mirrored ones are not counted.
    ///
    /// ```
    /// # use tenure::io::matrix_market::Reader;
    /// let reader = Reader::new(b"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n")?;
    /// assert_eq!(reader.stored(), 3);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn stored(&self) -> usize {
        self.header.stored
    }

    /// Reads the entries of a coordinate file, in its order; what another stands for follows it. A
    /// position that is listed twice has two entries.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a malformed line (the message has its number and the fault); values or
    /// places that `T` or `I` does not hold; an array. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::{CooMatrix, io::matrix_market::Reader};
    /// let text = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 0.5\n";
    /// let error = Reader::new(text)?.to_coo::<f64, i32>().err().unwrap();
    /// assert_eq!(error.message(), "line 3: row is 3 but must be from 1 to 2");
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn to_coo<T: Value, I: SparseIndex>(&self) -> Result<CooMatrix<T, I>> {
        let Header { layout, field, symmetry, rows, cols, stored } = self.header;
        let mut text = self.text;
        if layout == Layout::Array {
            return Err(Error::invalid("the file is an array: to_dense reads it, to_coo does not"));
        }
        check_field::<T>(field)?;
        for (name, extent) in [("rows", rows), ("cols", cols)] {
            if I::from_usize(extent.saturating_sub(1)).is_none() {
                let why = refusal::more_than_counted(extent, I::DTYPE);
                return Err(Error::invalid(format!("{name} is {extent}, {why}")));
            }
        }
        let each = if symmetry == Symmetry::General { 1 } else { 2 };
        let count = stored.saturating_mul(each);
        let mut entries = Entries {
            symmetry,
            below: None,
            row_indices: reserved::<I>(count)?,
            col_indices: reserved::<I>(count)?,
            values: reserved::<T>(count)?,
        };
        for done in 0..stored {
            if !text.skip_comments() {
                return Err(ended(&text, done, stored, "entries"));
            }
            let start = text;
            let row = place(&mut text, "row", rows)?;
            let col = place(&mut text, "column", cols)?;
            let value = match field {
                Field::Pattern => T::ONE,
                _ => T::read(&mut Numbers(&mut text), field)?,
            };
            text.end_line("the entry")?;
            entries.push(&start, row, col, value)?;
        }
        check_ended(&mut text, stored, "entries")?;
        let Entries { row_indices, col_indices, values, .. } = entries;
        Ok(CooMatrix::from_vecs(rows, cols, row_indices, col_indices, values)?)
    }

    /// Reads the elements of an array file: a column-major tensor, with what the listed elements
    /// stand for.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a malformed line (the message has its number and the fault); values that
    /// `T` does not hold; a coordinate file. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::io::matrix_market::Reader;
    /// let text = b"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n";
    /// assert_eq!(Reader::new(text)?.to_dense::<f32>()?.to_vec(), [1.0, 2.0, 2.0, 3.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn to_dense<T: Value>(&self) -> Result<Tensor<T>> {
        let Header { layout, field, symmetry, rows, cols, stored } = self.header;
        let mut text = self.text;
        if layout == Layout::Coordinate {
            let message = "the file is of coordinates: to_coo reads it, to_dense does not";
            return Err(Error::invalid(message));
        }
        check_field::<T>(field)?;
        let count = rows.checked_mul(cols).ok_or_else(|| no_memory(usize::MAX))?;
        let mut elements = reserved::<T>(count)?;
        elements.resize(count, T::default());
        let mut done = 0;
        // Without rows there may be more columns than anybody can count to.
        for col in 0..if rows == 0 { 0 } else { cols } {
            let first = match symmetry {
                Symmetry::General => 0,
                Symmetry::Symmetric | Symmetry::Hermitian => col,
                Symmetry::SkewSymmetric => col + 1,
            };
            for row in first..rows {
                if !text.skip_comments() {
                    return Err(ended(&text, done, stored, "elements"));
                }
                let start = text;
                let value = T::read(&mut Numbers(&mut text), field)?;
                text.end_line("the element")?;
                if symmetry != Symmetry::General {
                    elements[row * rows + col] = mirrored(&start, symmetry, row == col, value)?;
                }
                // Last, as the mirror image of x + 0i on the diagonal is x - 0i.
                elements[col * rows + row] = value;
                done += 1;
            }
        }
        check_ended(&mut text, stored, "elements")?;
        Ok(Tensor::from_vec_in(elements, [rows, cols], Order::ColumnMajor)?)
    }
}

/// Entries as they are read, with those that they stand for.
struct Entries<T, I> {
    symmetry: Symmetry,
    /// Whether the entries off the diagonal are below it, once one was read.
    below: Option<bool>,
    row_indices: Vec<I>,
    col_indices: Vec<I>,
    values: Vec<T>,
}

impl<T: Value, I: SparseIndex> Entries<T, I> {
    #[inline]
    fn push(&mut self, text: &Text<'_>, row: usize, col: usize, value: T) -> Result<()> {
        self.store(row, col, value);
        if self.symmetry == Symmetry::General {
            return Ok(());
        }
        let mirrored = mirrored(text, self.symmetry, row == col, value)?;
        if row != col {
            // The lower half, by the format. Some write the upper; both would count twice.
            let below = *self.below.get_or_insert(row > col);
            if below != (row > col) {
                return Err(text.refuse(format_args!(
                    "row {} and column {} are on the other side of the diagonal than entries \
                     before, but a {} file lists one half",
                    row + 1,
                    col + 1,
                    self.symmetry
                )));
            }
            self.store(col, row, mirrored);
        }
        Ok(())
    }

    #[inline]
    fn store(&mut self, row: usize, col: usize, value: T) {
        // Both are under rows and columns, whose last indices are numbers of I.
        self.row_indices.push(I::from_usize(row).unwrap_or_default());
        self.col_indices.push(I::from_usize(col).unwrap_or_default());
        self.values.push(value);
    }
}

/// The value at the mirrored position.
#[inline]
fn mirrored<T: Value>(
    text: &Text<'_>,
    symmetry: Symmetry,
    on_diagonal: bool,
    value: T,
) -> Result<T> {
    if on_diagonal && symmetry == Symmetry::SkewSymmetric {
        if value == T::default() {
            return Ok(value);
        }
        return Err(text.refuse(format_args!(
            "value is {value} but must be 0, because a {symmetry} matrix has it on the diagonal"
        )));
    }
    match symmetry.mirrored(value) {
        Some(mirrored) if on_diagonal && !same(mirrored, value) => Err(text.refuse(format_args!(
            "value is {value} but must be real, because a {symmetry} matrix has it on the diagonal"
        ))),
        Some(mirrored) => Ok(mirrored),
        None => Err(text.refuse(format_args!("{value} has no negative in {}", T::DTYPE))),
    }
}

/// A row or a column, from 0; the file counts from 1.
#[inline]
fn place(text: &mut Text<'_>, name: &str, extent: usize) -> Result<usize> {
    let start = *text;
    let place = text.natural(name)?;
    if place.wrapping_sub(1) < extent {
        return Ok(place - 1);
    }
    Err(start.refuse(format_args!("{name} is {place} but must be from 1 to {extent}")))
}

#[cold]
fn ended(text: &Text<'_>, done: usize, stored: usize, what: &str) -> Error {
    text.refuse(format_args!(
        "the file ends after {done} of the {stored} {what} that its size line states"
    ))
}

fn check_ended(text: &mut Text<'_>, stored: usize, what: &str) -> Result<()> {
    if !text.skip_comments() {
        return Ok(());
    }
    Err(text.refuse(format_args!(
        "{} follows the {stored} {what} that the size line states",
        text.shown()
    )))
}
