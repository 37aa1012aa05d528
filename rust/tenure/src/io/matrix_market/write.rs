//! Writing.

use std::cmp::Ordering;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::value::same;
use super::{Field, Layout, Symmetry, Value};
use crate::dense::{Tensor, TensorView};
use crate::dtype::index::SparseIndex;
use crate::error::{Error, Result};
use crate::io::save;
use crate::sparse::{
    format::PointFormat,
    matrix::{BsrMatrix, SparseMatrix},
    view::{BsrView, SparseView},
};

/// Matrices that can be written: sparse ones and their views, whose entries become coordinates, and
/// tensors and dense views of rank 2, which become arrays. Sealed.
///
/// ```
/// use tenure::{CscView, TensorView, io::matrix_market::{Value, WritableMatrix, Writer}};
///
/// fn text<T: Value>(matrix: &impl WritableMatrix<T>) -> String {
///     let mut out = Vec::new();
///     Writer::new().write(matrix, &mut out).unwrap();
///     String::from_utf8(out).unwrap()
/// }
/// let sparse = CscView::new(2, 2, &[0, 0, 1], &[1], &[7_u8])?;
/// assert!(text(&sparse).ends_with("coordinate integer general\n2 2 1\n2 2 7\n"));
/// let dense = TensorView::from_slice(&[1.5_f32, 2.0], [1, 2])?;
/// assert!(text(&dense).ends_with("array real general\n1 2\n1.5\n2.0\n"));
/// # Ok::<(), tenure::Error>(())
/// ```
pub trait WritableMatrix<T: Value>: sealed::Sealed {
    /// How it becomes lines.
    #[doc(hidden)]
    const LAYOUT: Layout;

    /// Rows and columns.
    #[doc(hidden)]
    fn extents(&self) -> Result<[usize; 2]>;

    /// Every element, with its row and column, in the order of the lines.
    #[doc(hidden)]
    fn for_each(&self, visit: &mut dyn FnMut(usize, usize, T) -> Result<()>) -> Result<()>;
}

mod sealed {
    pub trait Sealed {}
}

impl<F: PointFormat, T: Value, I: SparseIndex> sealed::Sealed for SparseView<'_, F, T, I> {}
impl<F: PointFormat, T: Value, I: SparseIndex> WritableMatrix<T> for SparseView<'_, F, T, I> {
    const LAYOUT: Layout = Layout::Coordinate;

    fn extents(&self) -> Result<[usize; 2]> {
        Ok([self.rows(), self.cols()])
    }

    fn for_each(&self, visit: &mut dyn FnMut(usize, usize, T) -> Result<()>) -> Result<()> {
        self.iter().try_for_each(|(row, col, value)| visit(row, col, *value))
    }
}

impl<T: Value, I: SparseIndex> sealed::Sealed for BsrView<'_, T, I> {}
impl<T: Value, I: SparseIndex> WritableMatrix<T> for BsrView<'_, T, I> {
    const LAYOUT: Layout = Layout::Coordinate;

    fn extents(&self) -> Result<[usize; 2]> {
        Ok([self.rows(), self.cols()])
    }

    fn for_each(&self, visit: &mut dyn FnMut(usize, usize, T) -> Result<()>) -> Result<()> {
        let [height, width] = self.block();
        for (row, col, block) in self.iter() {
            for (place, value) in block.iter().enumerate() {
                visit(row * height + place / width, col * width + place % width, *value)?;
            }
        }
        Ok(())
    }
}

impl<T: Value> sealed::Sealed for TensorView<'_, T> {}
impl<T: Value> WritableMatrix<T> for TensorView<'_, T> {
    const LAYOUT: Layout = Layout::Array;

    fn extents(&self) -> Result<[usize; 2]> {
        <[usize; 2]>::try_from(self.shape())
            .map_err(|_| invalid(format!("rank is {} but must be 2", self.rank())))
    }

    fn for_each(&self, visit: &mut dyn FnMut(usize, usize, T) -> Result<()>) -> Result<()> {
        let [rows, _] = self.extents()?;
        for (place, value) in self.t().iter().enumerate() {
            visit(place % rows, place / rows, *value)?;
        }
        Ok(())
    }
}

/// Implements `WritableMatrix` for types that lend a view.
macro_rules! owners {
    ($($type:ty, $view:ty, [$($generic:tt)*];)*) => {$(
        impl<$($generic)*> sealed::Sealed for $type {}
        impl<$($generic)*> WritableMatrix<T> for $type {
            const LAYOUT: Layout = <$view as WritableMatrix<T>>::LAYOUT;

            fn extents(&self) -> Result<[usize; 2]> {
                WritableMatrix::<T>::extents(&self.view())
            }

            fn for_each(&self, visit: &mut dyn FnMut(usize, usize, T) -> Result<()>) -> Result<()> {
                WritableMatrix::for_each(&self.view(), visit)
            }
        }
    )*};
}

owners! {
    SparseMatrix<F, T, I>, SparseView<'static, F, T, I>, [F: PointFormat, T: Value, I: SparseIndex];
    BsrMatrix<T, I>, BsrView<'static, T, I>, [T: Value, I: SparseIndex];
    Tensor<T>, TensorView<'static, T>, [T: Value];
}

fn invalid(message: impl Into<String>) -> Error {
    Error::invalid(message)
}

/// Writes files: of the field of the elements, and general, unless asked for something else.
///
/// Floats are written with the fewest digits that read back equal.
///
/// ```
/// use tenure::{CsrView, io::matrix_market::{Symmetry, Writer}};
///
/// let matrix = CsrView::new(2, 2, &[0, 1, 3], &[1, 0, 1], &[0.5, 0.5, 2.0])?;
/// let mut out = Vec::new();
/// let writer = Writer::new().symmetry(Symmetry::Symmetric).comment("made by hand");
/// writer.write(&matrix, &mut out)?;
/// assert_eq!(
///     String::from_utf8(out).unwrap(),
///     "%%MatrixMarket matrix coordinate real symmetric\n% made by hand\n2 2 2\n2 1 0.5\n2 2 2.0\n"
/// );
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Writer {
    symmetry: Symmetry,
    with_values: bool,
    comment: String,
}

impl Default for Writer {
    fn default() -> Self {
        Writer { symmetry: Symmetry::General, with_values: true, comment: String::new() }
    }
}

impl Writer {
    /// Nothing asked for.
    ///
    /// ```
    /// # use tenure::{CooView, io::matrix_market::Writer};
    /// let mut out = Vec::new();
    /// let matrix = CooView::<f64>::new(3, 4, &[], &[], &[])?;
    /// Writer::new().write(&matrix, &mut out)?;
    /// assert_eq!(out, b"%%MatrixMarket matrix coordinate real general\n3 4 0\n");
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn new() -> Self {
        Writer::default()
    }

    /// Leaves out what the symmetry gives back. [`write`](Self::write) refuses a matrix that has it
    /// not.
    ///
    /// ```
    /// # use tenure::{TensorView, io::matrix_market::{Symmetry, Writer}};
    /// let writer = Writer::new().symmetry(Symmetry::SkewSymmetric);
    /// let matrix = TensorView::from_slice(&[0, -7, 6, 0], [2, 2])?;
    /// let error = writer.write(&matrix, &mut Vec::new()).err().unwrap();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the matrix is not skew-symmetric: row 2, column 1 has 6, and its mirror image -7"
    /// );
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[must_use]
    pub fn symmetry(mut self, symmetry: Symmetry) -> Self {
        self.symmetry = symmetry;
        self
    }

    /// Leaves out values: that an entry is there is all. For sparse matrices only.
    ///
    /// ```
    /// # use tenure::{CooView, io::matrix_market::Writer};
    /// let mut out = Vec::new();
    /// let matrix = CooView::new(3, 4, &[2], &[3], &[0.5])?;
    /// Writer::new().pattern().write(&matrix, &mut out)?;
    /// assert_eq!(out, b"%%MatrixMarket matrix coordinate pattern general\n3 4 1\n3 4\n");
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[must_use]
    pub fn pattern(mut self) -> Self {
        self.with_values = false;
        self
    }

    /// Says something after the first line.
    ///
    /// ```
    /// # use tenure::{CooView, io::matrix_market::Writer};
    /// let mut out = Vec::new();
    /// let matrix = CooView::<f64>::new(1, 1, &[], &[], &[])?;
    /// Writer::new().comment("two\nlines").write(&matrix, &mut out)?;
    /// assert!(out.ends_with(b"\n% two\n% lines\n1 1 0\n"));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[must_use]
    pub fn comment(mut self, text: impl Into<String>) -> Self {
        self.comment = text.into();
        self
    }

    /// Writes a matrix. The output needs no buffer of its own.
    ///
    /// # Errors
    ///
    /// `Io`: those of the output. `InvalidArgument`: a matrix that does not have the symmetry, a
    /// rank other than 2, or a pattern of a dense matrix.
    ///
    /// ```
    /// # use tenure::{CsrMatrix, io::matrix_market::Writer, sparse::gallery};
    /// let matrix: CsrMatrix<f32> = gallery::arrow(10, 2, 1)?;
    /// let mut out = Vec::new(); // or a file
    /// Writer::new().write(&matrix.view(), &mut out)?;
    /// assert!(out.starts_with(b"%%MatrixMarket matrix coordinate real general\n10 10 44\n"));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn write<T: Value, S: WritableMatrix<T>>(&self, matrix: &S, out: impl Write) -> Result<()> {
        let [rows, cols] = matrix.extents()?;
        let field = if self.with_values { T::FIELD } else { Field::Pattern };
        let listed = self.check(matrix, field)?;
        let mut out = BufWriter::with_capacity(1 << 16, out);
        writeln!(out, "%%MatrixMarket matrix {} {field} {}", S::LAYOUT, self.symmetry)?;
        for line in self.comment.lines() {
            writeln!(out, "% {line}")?;
        }
        match S::LAYOUT {
            Layout::Coordinate => writeln!(out, "{rows} {cols} {listed}")?,
            Layout::Array => writeln!(out, "{rows} {cols}")?,
        }
        matrix.for_each(&mut |row, col, value: T| {
            if !self.lists(row, col) {
                return Ok(());
            }
            if S::LAYOUT == Layout::Coordinate {
                write!(out, "{} {}", row + 1, col + 1)?;
                if self.with_values {
                    out.write_all(b" ")?;
                }
            }
            if self.with_values {
                value.write(&mut out)?;
            }
            Ok(out.write_all(b"\n")?)
        })?;
        Ok(out.flush()?)
    }

    /// Writes a file as [`write`](Self::write) does. It replaces an existing file only once the new
    /// file is complete.
    ///
    /// # Errors
    ///
    /// The errors of `write`. The message names the file.
    ///
    /// ```
    /// # use tenure::{CsrMatrix, io::{self, matrix_market}, sparse::gallery};
    /// # let path = std::env::temp_dir().join(format!("tenure-save-{}.mtx", std::process::id()));
    /// let matrix: CsrMatrix<f32> = gallery::arrow(10, 2, 1)?;
    /// matrix_market::Writer::new().save(&path, &matrix)?;
    ///
    /// let file = io::read(&path)?;
    /// assert_eq!(matrix_market::Reader::new(file.as_ref())?.stored(), 44);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn save<T: Value, S: WritableMatrix<T>>(
        &self,
        path: impl AsRef<Path>,
        matrix: &S,
    ) -> Result<()> {
        save::save(path.as_ref(), |out| self.write(matrix, out))
    }

    /// Whether an element has a line of its own.
    fn lists(&self, row: usize, col: usize) -> bool {
        match self.symmetry {
            Symmetry::General => true,
            Symmetry::Symmetric | Symmetry::Hermitian => row >= col,
            Symmetry::SkewSymmetric => row > col,
        }
    }

    /// Checks that the words of the first line go together, and that the omitted entries lose
    /// nothing; gives the number of lines.
    fn check<T: Value, S: WritableMatrix<T>>(&self, matrix: &S, field: Field) -> Result<usize> {
        let symmetry = self.symmetry;
        if S::LAYOUT == Layout::Array && field == Field::Pattern {
            return Err(invalid("a dense matrix has no pattern"));
        }
        let unlike = match symmetry {
            Symmetry::Hermitian => field != Field::Complex,
            Symmetry::SkewSymmetric => matches!(field, Field::Pattern | Field::UnsignedInteger),
            _ => false,
        };
        if unlike {
            return Err(invalid(format!("a file of {field} cannot be {symmetry}")));
        }
        if symmetry != Symmetry::General {
            check_mirrored(matrix, symmetry)?;
        }
        let mut lines = 0;
        matrix.for_each(&mut |row, col, _: T| {
            lines += usize::from(self.lists(row, col));
            Ok(())
        })?;
        Ok(lines)
    }
}

fn is_mirrored<T: Value>(symmetry: Symmetry, value: T, image: T) -> bool {
    symmetry.mirrored(value).is_some_and(|mirrored| same(mirrored, image))
}

/// Checks that every entry off the diagonal has its mirror image, and that those on it are their
/// own.
fn check_mirrored<T: Value, S: WritableMatrix<T>>(matrix: &S, symmetry: Symmetry) -> Result<()> {
    let [rows, cols] = matrix.extents()?;
    if rows != cols {
        return Err(invalid(format!("{rows} rows and {cols} columns cannot be {symmetry}")));
    }
    let unlike = |row: usize, col: usize, has: String| {
        let (row, col) = (row + 1, col + 1);
        invalid(format!("the matrix is not {symmetry}: row {row}, column {col} has {has}"))
    };
    let (mut below, mut above) = (Vec::new(), Vec::new());
    matrix.for_each(&mut |row, col, value: T| {
        match row.cmp(&col) {
            Ordering::Greater => below.push((row, col, value)),
            Ordering::Less => above.push((col, row, value)),
            Ordering::Equal if !is_mirrored(symmetry, value, value) => {
                return Err(unlike(row, col, value.to_string()));
            }
            Ordering::Equal => {}
        }
        Ok(())
    })?;
    // Stable: several entries of one place stay in the order in which the matrix has them.
    for entries in [&mut below, &mut above] {
        entries.sort_by_key(|(row, col, _)| (*row, *col));
    }
    let alone = |row, col| unlike(row, col, String::from("an entry without mirror image"));
    for place in 0..below.len().max(above.len()) {
        match (below.get(place), above.get(place)) {
            (Some(&(row, col, value)), Some(&(image_row, image_col, image)))
                if (row, col) == (image_row, image_col) =>
            {
                if !is_mirrored(symmetry, value, image) {
                    let has = format!("{value}, and its mirror image {image}");
                    return Err(unlike(row, col, has));
                }
            }
            (Some(a), Some(b)) if (a.0, a.1) > (b.0, b.1) => return Err(alone(b.1, b.0)),
            (Some(a), _) => return Err(alone(a.0, a.1)),
            (None, Some(b)) => return Err(alone(b.1, b.0)),
            (None, None) => {}
        }
    }
    Ok(())
}
