//! Reading: which arrays a matrix has.

use std::fmt;

use super::array::Array;
use crate::dtype::{DType, Element, index::SparseIndex};
use crate::error::{Error, ErrorKind, Rejected, Result};
use crate::io::npz::zip::Archive;
use crate::sparse::matrix::{BsrMatrix, CooMatrix, CscMatrix, CsrMatrix};

/// Which of SciPy's formats a file is in.
///
/// ```
/// use tenure::io::npz::Format;
///
/// assert_eq!(Format::Csr.to_string(), "csr");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Coordinates.
    Coo,
    /// Compressed rows.
    Csr,
    /// Compressed columns.
    Csc,
    /// Compressed rows of blocks.
    Bsr,
}

impl Format {
    pub(super) fn word(self) -> &'static str {
        match self {
            Format::Coo => "coo",
            Format::Csr => "csr",
            Format::Csc => "csc",
            Format::Bsr => "bsr",
        }
    }
}

/// As SciPy's word.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A file that says what matrix it holds.
///
/// ```
/// use tenure::{CooMatrix, CooView, io::npz::{Reader, Writer}};
///
/// let mut file = Vec::new();
/// let matrix = CooView::new(4, 5, &[3], &[4], &[0.5_f64])?;
/// Writer::new().write(&matrix, &mut file)?;
/// let again: CooMatrix<f64, i64> = Reader::new(&file)?.to_coo()?;
/// assert_eq!((again.row_indices(), again.col_indices()), (&[3][..], &[4][..]));
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    archive: Archive<'a>,
    format: Format,
    dtype: DType,
    rows: usize,
    cols: usize,
}

impl<'a> Reader<'a> {
    /// Reads what the matrix is, and no element. Arrays of either byte order are read, and indices
    /// of any integer dtype.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a malformed array (the message names it and the fault) or archive.
    /// `Unsupported`: other formats, dtypes, packings.
    ///
    /// ```
    /// # use tenure::io::npz::Reader;
    /// let error = Reader::new(b"PK").err().unwrap();
    /// assert_eq!(error.message(), "no .npz file: it has no end of a directory");
    /// ```
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let archive = Archive::new(bytes)?;
        let format = array(&archive, "format")?.word()?;
        let known = [Format::Coo, Format::Csr, Format::Csc, Format::Bsr];
        let Some(format) = known.into_iter().find(|known| known.word() == format) else {
            let message = format!("format.npy is '{format}' but must be coo, csr, csc or bsr");
            return Err(Error::new(ErrorKind::Unsupported, message));
        };
        let shape = array(&archive, "shape")?.indices::<i64>()?;
        let extent = |extent: i64| usize::try_from(extent).ok();
        let extents = match shape[..] {
            [rows, cols] => extent(rows).zip(extent(cols)),
            _ => None,
        };
        let Some((rows, cols)) = extents else {
            return Err(Error::invalid(format!(
                "shape.npy is {shape:?} but must be two numbers from 0"
            )));
        };
        let dtype = array(&archive, "data")?.dtype()?;
        Ok(Reader { archive, format, dtype, rows, cols })
    }

    /// The format, which decides which method of [`to_csr`](Self::to_csr) and its like applies.
    ///
    /// ```
    /// # use tenure::{BsrView, io::npz::{Format, Reader, Writer}};
    /// let mut file = Vec::new();
    /// let matrix = BsrView::new(2, 2, [2, 2], &[0, 1], &[0], &[1, 2, 3, 4])?;
    /// Writer::new().write(&matrix, &mut file)?;
    /// assert_eq!(Reader::new(&file)?.format(), Format::Bsr);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn format(&self) -> Format {
        self.format
    }

    /// The type of the values.
    ///
    /// ```
    /// # use tenure::{CooView, DType, io::npz::{Reader, Writer}};
    /// let mut file = Vec::new();
    /// Writer::new().write(&CooView::<u16>::new(2, 3, &[], &[], &[])?, &mut file)?;
    /// assert_eq!(Reader::new(&file)?.dtype(), DType::U16);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Rows of the matrix.
    ///
    /// ```
    /// # use tenure::{CooView, io::npz::{Reader, Writer}};
    /// let mut file = Vec::new();
    /// Writer::new().write(&CooView::<u16>::new(2, 3, &[], &[], &[])?, &mut file)?;
    /// assert_eq!(Reader::new(&file)?.rows(), 2);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of the matrix.
    ///
    /// ```
    /// # use tenure::{CooView, io::npz::{Reader, Writer}};
    /// let mut file = Vec::new();
    /// Writer::new().write(&CooView::<u16>::new(2, 3, &[], &[], &[])?, &mut file)?;
    /// assert_eq!(Reader::new(&file)?.cols(), 3);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Reads a file of coordinates.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another format, values of another type than `T`, indices that `I` does
    /// not hold, or a malformed array (the message names it and the fault). `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::{CooMatrix, CooView, io::npz::{Reader, Writer}};
    /// # let mut file = Vec::new();
    /// # Writer::new().write(&CooView::new(2, 3, &[1], &[2], &[7_u16])?, &mut file)?;
    /// let matrix: CooMatrix<u16> = Reader::new(&file)?.to_coo()?;
    /// assert_eq!(matrix.values(), [7]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn to_coo<T: Element, I: SparseIndex>(&self) -> Result<CooMatrix<T, I>> {
        self.require(Format::Coo)?;
        let (row_indices, col_indices) = match self.archive.member("coords.npy")? {
            Some(coords) => halves(Array::new(coords)?)?,
            None => (self.indices("row")?, self.indices("col")?),
        };
        let values = self.vector("data")?.elements()?;
        CooMatrix::from_vecs(self.rows, self.cols, row_indices, col_indices, values)
            .map_err(Rejected::into)
    }

    /// Reads a file of compressed rows.
    ///
    /// # Errors
    ///
    /// The errors of [`to_coo`](Self::to_coo).
    ///
    /// ```
    /// # use tenure::{CsrMatrix, CsrView, io::npz::{Reader, Writer}};
    /// # let mut file = Vec::new();
    /// # Writer::new().write(&CsrView::new(1, 3, &[0, 1], &[2], &[7_u16])?, &mut file)?;
    /// let matrix: CsrMatrix<u16> = Reader::new(&file)?.to_csr()?;
    /// assert_eq!(matrix.values(), [7]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn to_csr<T: Element, I: SparseIndex>(&self) -> Result<CsrMatrix<T, I>> {
        self.require(Format::Csr)?;
        let (row_offsets, col_indices) = (self.indices("indptr")?, self.indices("indices")?);
        let values = self.vector("data")?.elements()?;
        CsrMatrix::from_vecs(self.rows, self.cols, row_offsets, col_indices, values)
            .map_err(Rejected::into)
    }

    /// Reads a file of compressed columns.
    ///
    /// # Errors
    ///
    /// The errors of [`to_coo`](Self::to_coo).
    ///
    /// ```
    /// # use tenure::{CscMatrix, CscView, io::npz::{Reader, Writer}};
    /// # let mut file = Vec::new();
    /// # Writer::new().write(&CscView::new(3, 1, &[0, 1], &[2], &[7_u16])?, &mut file)?;
    /// let matrix: CscMatrix<u16> = Reader::new(&file)?.to_csc()?;
    /// assert_eq!(matrix.values(), [7]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn to_csc<T: Element, I: SparseIndex>(&self) -> Result<CscMatrix<T, I>> {
        self.require(Format::Csc)?;
        let (col_offsets, row_indices) = (self.indices("indptr")?, self.indices("indices")?);
        let values = self.vector("data")?.elements()?;
        CscMatrix::from_vecs(self.rows, self.cols, col_offsets, row_indices, values)
            .map_err(Rejected::into)
    }

    /// Reads a file of compressed rows of blocks.
    ///
    /// # Errors
    ///
    /// The errors of [`to_coo`](Self::to_coo); also `Unsupported` for blocks of more than 16 rows
    /// or columns.
    ///
    /// ```
    /// # use tenure::{BsrMatrix, BsrView, io::npz::{Reader, Writer}};
    /// # let mut file = Vec::new();
    /// # let matrix = BsrView::new(1, 2, [1, 2], &[0, 1], &[0], &[7_u16, 8])?;
    /// # Writer::new().write(&matrix, &mut file)?;
    /// let matrix: BsrMatrix<u16> = Reader::new(&file)?.to_bsr()?;
    /// assert_eq!((matrix.view().block(), matrix.values()), ([1, 2], &[7, 8][..]));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn to_bsr<T: Element, I: SparseIndex>(&self) -> Result<BsrMatrix<T, I>> {
        self.require(Format::Bsr)?;
        let data = array(&self.archive, "data")?;
        let [_, height, width] = data.shape()[..] else {
            return Err(Error::invalid(format!(
                "data.npy has shape {:?} but must have three axes",
                data.shape()
            )));
        };
        let (row_offsets, col_indices) = (self.indices("indptr")?, self.indices("indices")?);
        let block = [height, width];
        let values = data.elements()?;
        BsrMatrix::from_vecs(self.rows, self.cols, block, row_offsets, col_indices, values)
            .map_err(Rejected::into)
    }

    fn require(&self, format: Format) -> Result<()> {
        if self.format == format {
            return Ok(());
        }
        Err(Error::invalid(format!("the file is {} but {format} is asked for", self.format)))
    }

    /// The array of this name, which has one axis.
    fn vector(&self, name: &str) -> Result<Array<'a>> {
        let array = array(&self.archive, name)?;
        if array.shape().len() == 1 {
            return Ok(array);
        }
        let shape = array.shape();
        Err(Error::invalid(format!("{name}.npy has shape {shape:?} but must have one axis")))
    }

    fn indices<I: SparseIndex>(&self, name: &str) -> Result<Vec<I>> {
        self.vector(name)?.indices()
    }
}

/// The array of this name, which must be there.
fn array<'a>(archive: &Archive<'a>, name: &str) -> Result<Array<'a>> {
    let name = format!("{name}.npy");
    match archive.member(&name)? {
        Some(member) => Array::new(member),
        None => Err(Error::invalid(format!("the archive has no {name}"))),
    }
}

/// The rows and the columns of an array of both.
fn halves<I: SparseIndex>(coords: Array<'_>) -> Result<(Vec<I>, Vec<I>)> {
    let [2, count] = coords.shape()[..] else {
        return Err(Error::invalid(format!(
            "coords.npy has shape {:?} but must have two rows",
            coords.shape()
        )));
    };
    let mut rows: Vec<I> = coords.indices()?;
    let cols = rows.split_off(count);
    Ok((rows, cols))
}
