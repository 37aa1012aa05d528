//! Matrices made of a few words: triplets one after the other, the identity, diagonals, and others
//! that are joined.

mod join;

pub use join::{block_diag, hstack, kron, vstack};

use super::{Combine, CooMatrix, CscMatrix, Csr, CsrMatrix, SparseIndex, SparseMatrix};
use crate::dtype::sequence::Sequence;
use crate::dtype::{Element, Number};
use crate::error::reserved;
use crate::error::{Error, Result};
use crate::layout::refusal;

/// Entries in any order, by rows and columns that are `usize`, which become a matrix when all are
/// there.
///
/// ```
/// use tenure::{CsrMatrix, Triplets};
///
/// let mut triplets = Triplets::new(2, 3);
/// triplets.push(1, 2, 2.5);
/// triplets.push(0, 0, 1.0);
/// triplets.push(0, 0, 0.5);
/// let matrix: CsrMatrix<f64> = triplets.to_csr()?; // [1.5 0 0; 0 0 2.5]
/// assert_eq!(matrix.values(), [1.5, 2.5]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug)]
#[doc(alias("TriMat", "builder"))]
pub struct Triplets<T> {
    rows: usize,
    cols: usize,
    entries: Vec<(usize, usize, T)>,
}

impl<T: Element> Triplets<T> {
    /// None yet, of a matrix of this shape.
    pub const fn new(rows: usize, cols: usize) -> Self {
        Triplets { rows, cols, entries: Vec::new() }
    }

    /// No triplets yet, with memory for `count` of them. More than memory can hold reserves nothing.
    ///
    /// ```
    /// let mut triplets = tenure::Triplets::with_capacity(2, 2, 1);
    /// triplets.push(0, 1, 1.0);
    /// assert_eq!(triplets.len(), 1);
    /// ```
    pub fn with_capacity(rows: usize, cols: usize, count: usize) -> Self {
        let entries = reserved(count, "triplets").unwrap_or_default();
        Triplets { rows, cols, entries }
    }

    /// Adds one. [`to_coo`](Triplets::to_coo) checks whether the matrix has its row and column.
    /// Without memory for one more the program ends, as a `Vec` ends it.
    #[inline]
    pub fn push(&mut self, row: usize, col: usize, value: T) {
        self.entries.push((row, col, value));
    }

    /// How many there are, those of one position counted each.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Coordinates in the order in which they were pushed, those of one position each.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: one that lies outside the matrix, or beyond what `I` counts.
    /// `OutOfMemory`.
    ///
    /// ```
    /// let mut triplets = tenure::Triplets::new(2, 2);
    /// triplets.push(2, 0, 1.0);
    /// let error = triplets.to_coo::<i32>().unwrap_err();
    /// assert_eq!(error.message(), "triplet 0 is at (2, 0) but the matrix is 2 by 2");
    /// ```
    pub fn to_coo<I: SparseIndex>(&self) -> Result<CooMatrix<T, I>> {
        let mut rows = reserved(self.entries.len(), "row indices")?;
        let mut cols = reserved(self.entries.len(), "column indices")?;
        let mut values = reserved(self.entries.len(), "values")?;
        for (at, &(row, col, value)) in self.entries.iter().enumerate() {
            if row >= self.rows || col >= self.cols {
                let shape = format!("{} by {}", self.rows, self.cols);
                let message =
                    format!("triplet {at} is at ({row}, {col}) but the matrix is {shape}");
                return Err(Error::invalid(message));
            }
            rows.push(index(row)?);
            cols.push(index(col)?);
            values.push(value);
        }
        Ok(CooMatrix::from_vecs(self.rows, self.cols, rows, cols, values)?)
    }

    /// Compressed rows, coalesced: of several triplets of one position their sum. By another rule
    /// with [`to_coo`](Triplets::to_coo) and [`coalesce`](crate::CooMatrix::coalesce).
    ///
    /// # Errors
    ///
    /// The errors of [`to_coo`](Triplets::to_coo).
    pub fn to_csr<I: SparseIndex>(&self) -> Result<CsrMatrix<T, I>>
    where
        T: Number,
    {
        self.to_coo::<I>()?.coalesce(Combine::Sum)?.to_csr()
    }

    /// Compressed columns, as [`to_csr`](Triplets::to_csr).
    ///
    /// # Errors
    ///
    /// The errors of [`to_coo`](Triplets::to_coo).
    pub fn to_csc<I: SparseIndex>(&self) -> Result<CscMatrix<T, I>>
    where
        T: Number,
    {
        self.to_coo::<I>()?.coalesce(Combine::Sum)?.to_csc()
    }
}

impl<T: Element> Extend<(usize, usize, T)> for Triplets<T> {
    fn extend<E: IntoIterator<Item = (usize, usize, T)>>(&mut self, entries: E) {
        self.entries.extend(entries);
    }
}

/// Matrices of diagonals.
impl<T: Number, I: SparseIndex> SparseMatrix<Csr, T, I> {
    /// The identity.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: more rows than `I` counts. `OutOfMemory`.
    ///
    /// ```
    /// use tenure::CsrMatrix;
    ///
    /// let identity: CsrMatrix<f32> = CsrMatrix::eye(2)?;
    /// assert_eq!(identity.to_dense()?.to_vec(), [1.0, 0.0, 0.0, 1.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias = "identity")]
    pub fn eye(extent: usize) -> Result<Self> {
        index::<I>(extent)?;
        let mut ones = reserved(extent, "values")?;
        ones.resize(extent, <T as Sequence>::UNIT);
        Self::from_diagonals(extent, extent, &[(0, &ones)])
    }

    /// A matrix of diagonals, as SciPy's `diags_array`: each by its number, which is 0 for the main
    /// one, positive above it and negative below, and all of its elements, from the top.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a number that is given twice, or that no diagonal has; another count of
    /// elements than the diagonal has; more entries than `I` counts. `OutOfMemory`.
    ///
    /// ```
    /// use tenure::CsrMatrix;
    ///
    /// let matrix: CsrMatrix<f64> =
    ///     CsrMatrix::from_diagonals(3, 3, &[(-1, &[-1.0; 2]), (0, &[2.0; 3]), (1, &[-1.0; 2])])?;
    /// assert_eq!(matrix.to_dense()?.to_vec(), [2.0, -1.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 2.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("diags", "spdiags"))]
    pub fn from_diagonals(rows: usize, cols: usize, diagonals: &[(isize, &[T])]) -> Result<Self> {
        let mut sorted = diagonals.to_vec();
        sorted.sort_by_key(|(number, _)| *number);
        for pair in sorted.windows(2) {
            if pair[0].0 == pair[1].0 {
                return Err(Error::invalid(format!("diagonal {} is given twice", pair[0].0)));
            }
        }
        let mut count = 0;
        for (number, elements) in &sorted {
            let (above, below) = (number.max(&0).unsigned_abs(), number.min(&0).unsigned_abs());
            if above >= cols.max(1) || below >= rows.max(1) {
                let message = format!("diagonal {number} is none of a matrix of {rows} by {cols}");
                return Err(Error::invalid(message));
            }
            let len = (rows - below.min(rows)).min(cols - above.min(cols));
            if elements.len() != len {
                let found = elements.len();
                let message = format!("diagonal {number} has {len} elements but {found} are given");
                return Err(Error::invalid(message));
            }
            count += len;
        }
        index::<I>(count)?;
        let mut offsets = reserved(rows.saturating_add(1), "row offsets")?;
        let mut indices = reserved(count, "column indices")?;
        let mut values = reserved(count, "values")?;
        offsets.push(index(0)?);
        for row in 0..rows {
            for (number, elements) in &sorted {
                let Some(col) = row.checked_add_signed(*number) else { continue };
                let Some(value) = elements.get(row.min(col)) else { continue };
                indices.push(index(col)?);
                values.push(*value);
            }
            offsets.push(index(values.len())?);
        }
        Ok(Self::from_vecs(rows, cols, offsets, indices, values)?.check_coalesced()?)
    }
}

fn index<I: SparseIndex>(number: usize) -> Result<I> {
    I::from_usize(number).ok_or_else(|| {
        Error::invalid(format!("{number} is {}", refusal::more_than_counted(number, I::DTYPE)))
    })
}
