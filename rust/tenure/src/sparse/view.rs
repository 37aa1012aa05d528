//! Matrices lent for reading: three slices with their meaning.

use std::marker::PhantomData;
use std::ops::RangeBounds;

use super::arrays::{Arrays, COALESCED, Form};
use super::format::{Bsr, Coo, Csc, Csr, PointFormat, SparseFormat};
use super::{BlockEntries, Entries};
use crate::dtype::{Element, index::SparseIndex};
use crate::error::Result;

/// A sparse matrix, lent: three slices with their meaning in the format `F`.
///
/// It is written by the name of its format, which also has the constructors and the methods that no
/// other format has: [`CooView`], [`CsrView`], [`CscView`] or [`BsrView`]. By this name it stands
/// in functions for every format: see [`SparseFormat`].
#[derive(Clone, Copy)]
pub struct SparseView<'a, F: SparseFormat, T: Element, I: SparseIndex = i32> {
    arrays: Arrays<'a, T, I>,
    /// A function, so that auto traits are those of the arrays.
    format: PhantomData<fn() -> F>,
}

/// A matrix by coordinates, lent: entry `k` is `values[k]`, at row `row_indices[k]` and column
/// `col_indices[k]`. A position may have several entries, which add up.
///
/// ```
/// use tenure::CooView;
///
/// let matrix = CooView::new(2, 3, &[0, 1], &[0, 2], &[1.5, 2.5])?;
/// assert_eq!(matrix.nnz(), 2);
/// # Ok::<(), tenure::Error>(())
/// ```
pub type CooView<'a, T, I = i32> = SparseView<'a, Coo, T, I>;

/// A matrix by compressed rows, lent: row `i` has the entries `k` from `row_offsets[i]` to
/// `row_offsets[i + 1]`. Entry `k` is `values[k]`, at column `col_indices[k]`.
///
/// ```
/// use tenure::CsrView;
///
/// let (offsets, indices, values) = (vec![0, 2, 3], vec![0, 2, 1], vec![1.0_f32, 2.0, 3.0]);
/// let matrix = CsrView::new(2, 3, &offsets, &indices, &values)?;
/// assert_eq!(matrix.row(0), Some((&[0, 2][..], &[1.0, 2.0][..])));
/// assert_eq!(matrix.values().as_ptr(), values.as_ptr());
/// # Ok::<(), tenure::Error>(())
/// ```
pub type CsrView<'a, T, I = i32> = SparseView<'a, Csr, T, I>;

/// A matrix by compressed columns, lent: column `j` has the entries `k` from `col_offsets[j]` to
/// `col_offsets[j + 1]`. Entry `k` is `values[k]`, at row `row_indices[k]`.
///
/// ```
/// use tenure::CscView;
///
/// let matrix = CscView::new(2, 3, &[0, 1, 1, 2], &[0, 1], &[1.5, 2.5])?;
/// assert_eq!(matrix.col(2), Some((&[1][..], &[2.5][..])));
/// # Ok::<(), tenure::Error>(())
/// ```
pub type CscView<'a, T, I = i32> = SparseView<'a, Csc, T, I>;

/// A matrix by compressed rows of blocks, lent: as [`CsrView`], with blocks of one size instead of
/// elements. `values` has the elements of each block in row-major order.
///
/// ```
/// use tenure::BsrView;
///
/// let matrix = BsrView::new(4, 4, [2, 2], &[0, 0, 1], &[1], &[1, 2, 3, 4])?;
/// assert_eq!((matrix.nnz(), matrix.block()), (4, [2, 2]));
/// # Ok::<(), tenure::Error>(())
/// ```
pub type BsrView<'a, T, I = i32> = SparseView<'a, Bsr, T, I>;

impl<'a, F: SparseFormat, T: Element, I: SparseIndex> SparseView<'a, F, T, I> {
    /// From arrays that have been checked, and are of this format.
    pub(super) fn over(arrays: Arrays<'a, T, I>) -> Self {
        SparseView { arrays, format: PhantomData }
    }

    pub(crate) fn arrays(&self) -> Arrays<'a, T, I> {
        self.arrays
    }
}

/// Known order of the entries.
impl<'a, F: SparseFormat, T: Element, I: SparseIndex> SparseView<'a, F, T, I> {
    /// Checks that the entries are coalesced: ordered, and no position has two. Some operations are
    /// faster on the view that it returns.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: they are not; the message names the entry.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// assert!(!matrix.is_coalesced());
    /// assert!(matrix.check_coalesced()?.is_coalesced());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn check_coalesced(self) -> Result<Self> {
        Ok(Self::over(self.arrays.with_flags(COALESCED)?))
    }

    /// Marks the view as [`check_coalesced`](Self::check_coalesced) does, without a check. Where
    /// the entries are not coalesced, results are wrong, and nothing else.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// assert!(matrix.assume_coalesced().is_coalesced());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn assume_coalesced(mut self) -> Self {
        self.arrays.form.flags |= COALESCED;
        self
    }

    /// Whether the entries are known to be coalesced: ordered, and no position has two.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// assert!(!matrix.is_coalesced()); // nobody has looked
    /// # Ok::<(), Error>(())
    /// ```
    pub fn is_coalesced(&self) -> bool {
        self.arrays.form.is_coalesced()
    }

    /// Whether the entries are known to be ordered; a position may have several.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// assert!(matrix.check_coalesced()?.is_sorted());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn is_sorted(&self) -> bool {
        self.arrays.form.is_sorted()
    }
}

/// The values of the entries.
impl<'a, F: SparseFormat, T: Element, I: SparseIndex> SparseView<'a, F, T, I> {
    /// The values.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// assert_eq!(matrix.values()[0], 1.5);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn values(&self) -> &'a [T] {
        self.arrays.values()
    }

    /// Gives the entries other values of any type, one for each value.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another count.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// let doubled: Vec<f64> = matrix.values().iter().map(|value| 2.0 * value).collect();
    /// assert_eq!(matrix.with_values(&doubled)?.values()[0], 3.0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_values<'b, U: Element>(self, values: &'b [U]) -> Result<SparseView<'b, F, U, I>>
    where
        'a: 'b,
    {
        Ok(SparseView::over(self.arrays.with_values(values)?))
    }
}

/// The entries of COO, CSR and CSC.
impl<'a, F: PointFormat, T: Element, I: SparseIndex> SparseView<'a, F, T, I> {
    /// The entry at a row and a column, the first of several; `None` where there is none, or no
    /// such row or column. In compressed rows or columns that are [sorted](Self::is_sorted) found by
    /// halving; else it is looked for among the row's entries, and of coordinates among all.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// assert_eq!((matrix.get(1, 2), matrix.get(1, 1)), (Some(&2.5), None));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn get(&self, row: usize, col: usize) -> Option<&'a T> {
        let form = self.arrays.form;
        if form.is_coo() {
            let found = self.iter().find(|entry| (entry.0, entry.1) == (row, col));
            return found.map(|(_, _, value)| value);
        }
        let (major, minor) = if form.is_csc() { (col, row) } else { (row, col) };
        let (indices, values) = self.arrays.row(major)?;
        let minor = I::from_usize(minor)?;
        let at = if form.is_sorted() {
            let at = indices.partition_point(|index| *index < minor);
            (indices.get(at) == Some(&minor)).then_some(at)
        } else {
            indices.iter().position(|index| *index == minor)
        };
        at.map(|at| &values[at])
    }

    /// The entries, in the order in which they are stored: `(row, column, &value)`.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?;
    /// let entries: Vec<_> = matrix.iter().collect();
    /// assert_eq!(entries, [(0, 0, &1.5), (1, 2, &2.5)]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn iter(&self) -> Entries<'a, T, I> {
        Entries::new(self.arrays)
    }
}

impl<'a, F: PointFormat, T: Element, I: SparseIndex> IntoIterator for SparseView<'a, F, T, I> {
    type Item = (usize, usize, &'a T);
    type IntoIter = Entries<'a, T, I>;

    fn into_iter(self) -> Entries<'a, T, I> {
        self.iter()
    }
}

impl<'a, T: Element, I: SparseIndex> IntoIterator for BsrView<'a, T, I> {
    type Item = (usize, usize, &'a [T]);
    type IntoIter = BlockEntries<'a, T, I>;

    fn into_iter(self) -> BlockEntries<'a, T, I> {
        self.iter()
    }
}

super::shape::sized!(
    SparseView<'a>, "the matrix",
    example "CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.5, 2.5])?"
);

/// Constructors and arrays, by the names that they have in a format.
macro_rules! named {
    ($(
        $format:ident { $major:ident, $minor:ident $(, $block:ident)? },
        shape $shape:literal, values $values:literal,
        view $view:literal, view_mut $view_mut:literal, matrix $matrix:literal,
        batch $batch:literal, batch_mut $batch_mut:literal;
    )*) => {$(
        /// Construction, and the arrays as they were given. A range of a matrix has the indices
        /// and values of its entries, and the offsets that the matrix has for it: they count from
        /// the first of them.
        impl<'a, T: Element, I: SparseIndex> SparseView<'a, $format, T, I> {
            /// Lends three slices, once their lengths, offsets and indices are found to be right.
            $(#[doc = concat!("\n`", stringify!($block), "` is the rows and the columns of a \
                block, each 1 to 16.")])?
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: what the message names, with its place and its bound.
            $(#[doc = concat!("`Unsupported`: a larger `", stringify!($block), "`.")])?
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $view, ";")]
            /// assert_eq!((matrix.rows(), matrix.cols()), (2, 3));
            /// # Ok::<(), Error>(())
            /// ```
            pub fn new(
                rows: usize,
                cols: usize,
                $($block: [usize; 2],)?
                $major: &'a [I],
                $minor: &'a [I],
                values: &'a [T],
            ) -> Result<Self> {
                let form = Form::new::<$format>(rows, cols)$(.with_blocks($block))?;
                Ok(Self::over(Arrays::checked(form, $major, $minor, values)?))
            }

            /// Does the same as [`new`](Self::new), without a check of offsets and indices.
            ///
            /// # Safety
            ///
            /// - `new` would not refuse them.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let known = ", $view, ";")]
            #[doc = concat!("let (", stringify!($major), ", ", stringify!($minor), ") = (known.",
                stringify!($major), "(), known.", stringify!($minor), "());")]
            /// // SAFETY: they are those of a view that was checked.
            /// let matrix = unsafe {
            #[doc = concat!("    ", stringify!($format), "View::new_unchecked(", $shape, ", ",
                stringify!($major), ", ", stringify!($minor), ", known.values())")]
            /// };
            /// assert_eq!(matrix.nnz(), 2);
            /// # Ok::<(), Error>(())
            /// ```
            pub unsafe fn new_unchecked(
                rows: usize,
                cols: usize,
                $($block: [usize; 2],)?
                $major: &'a [I],
                $minor: &'a [I],
                values: &'a [T],
            ) -> Self {
                let form = Form::new::<$format>(rows, cols)$(.with_blocks($block))?;
                Self::over(Arrays::over(form, $major, $minor, values))
            }

            #[doc = concat!("The ", stringify!($major), ".")]
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $view, ";")]
            #[doc = concat!("assert_eq!(matrix.", stringify!($major), "()[0], 0);")]
            /// # Ok::<(), Error>(())
            /// ```
            pub fn $major(&self) -> &'a [I] {
                self.arrays.major()
            }

            #[doc = concat!("The ", stringify!($minor), ".")]
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $view, ";")]
            #[doc = concat!("assert_eq!(matrix.", stringify!($minor), "()[0], 0);")]
            /// # Ok::<(), Error>(())
            /// ```
            pub fn $minor(&self) -> &'a [I] {
                self.arrays.minor()
            }
        }
    )*};
}

super::format::for_each_format!(named);

/// Blocks.
impl<'a, T: Element, I: SparseIndex> BsrView<'a, T, I> {
    /// The blocks, in the order in which they are stored: their row and column, counted in blocks,
    /// and their elements.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = BsrView::new(2, 4, [1, 2], &[0, 0, 1], &[1], &[5, 6])?;
    /// assert_eq!(matrix.iter().next(), Some((1, 1, &[5, 6][..])));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn iter(&self) -> BlockEntries<'a, T, I> {
        BlockEntries::new(self.arrays)
    }

    /// Rows and columns of a block.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = BsrView::new(2, 6, [2, 3], &[0, 0], &[], &[0.0; 0])?;
    /// assert_eq!(matrix.block(), [2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn block(&self) -> [usize; 2] {
        self.arrays.form.block
    }

    /// The blocks of one row of blocks: their columns, counted in blocks, and their elements.
    /// `None` where there is no such row.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = BsrView::new(2, 4, [1, 2], &[0, 0, 1], &[1], &[5, 6])?;
    /// assert_eq!(matrix.block_row(1), Some((&[1][..], &[5, 6][..])));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn block_row(&self, row: usize) -> Option<(&'a [I], &'a [T])> {
        self.arrays.row(row)
    }

    /// The part of a range of rows of blocks: their part of the offsets, and their blocks.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: the range leaves the rows of blocks.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = BsrView::new(4, 2, [2, 2], &[0, 1, 2], &[0, 0], &[1, 2, 3, 4, 5, 6, 7, 8])?;
    /// assert_eq!(matrix.block_row_range(1..)?.iter().next(), Some((0, 0, &[5, 6, 7, 8][..])));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn block_row_range(&self, rows: impl RangeBounds<usize>) -> Result<Self> {
        Ok(Self::over(self.arrays.rows(rows)?))
    }
}

/// Parts.
impl<'a, T: Element, I: SparseIndex> CsrView<'a, T, I> {
    /// The entries of one row: their columns and their values. `None` where there is no such row.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0])?;
    /// assert_eq!(matrix.row(1), Some((&[1][..], &[3.0][..])));
    /// assert_eq!(matrix.row(2), None);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn row(&self, row: usize) -> Option<(&'a [I], &'a [T])> {
        self.arrays.row(row)
    }

    /// The part of a range of rows: their part of the offsets, and their entries.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: the range leaves the rows.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(3, 3, &[0, 2, 3, 3], &[0, 2, 1], &[1.0, 2.0, 3.0])?;
    /// let rest = matrix.row_range(1..)?;
    /// assert_eq!((rest.rows(), rest.nnz(), rest.row_offsets()), (2, 1, &[2, 3, 3][..]));
    /// assert_eq!((rest.col_indices(), rest.values()), (&[1][..], &[3.0][..]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn row_range(&self, rows: impl RangeBounds<usize>) -> Result<Self> {
        Ok(Self::over(self.arrays.rows(rows)?))
    }

    /// The transpose: the same three slices, read as columns.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrView::new(2, 3, &[0, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0])?;
    /// let transpose: CscView<f64> = matrix.t();
    /// assert_eq!((transpose.rows(), transpose.cols()), (3, 2));
    /// assert_eq!(transpose.values().as_ptr(), matrix.values().as_ptr());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn t(&self) -> CscView<'a, T, I> {
        SparseView::over(self.arrays.transposed())
    }
}

/// Parts.
impl<'a, T: Element, I: SparseIndex> CscView<'a, T, I> {
    /// The entries of one column: their rows and their values. `None` where there is no such
    /// column.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CscView::new(2, 2, &[0, 1, 2], &[1, 0], &[1.0, 2.0])?;
    /// assert_eq!(matrix.col(0), Some((&[1][..], &[1.0][..])));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn col(&self, col: usize) -> Option<(&'a [I], &'a [T])> {
        self.arrays.row(col)
    }

    /// The part of a range of columns: their part of the offsets, and their entries.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: the range leaves the columns.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CscView::new(2, 2, &[0, 1, 2], &[1, 0], &[1.0, 2.0])?;
    /// assert_eq!(matrix.col_range(1..2)?.iter().next(), Some((0, 0, &2.0)));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn col_range(&self, cols: impl RangeBounds<usize>) -> Result<Self> {
        Ok(Self::over(self.arrays.rows(cols)?))
    }

    /// The transpose: the same three slices, read as rows.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CscView::new(2, 3, &[0, 1, 1, 2], &[0, 1], &[1.5, 2.5])?;
    /// assert_eq!(matrix.t().row(2), Some((&[1][..], &[2.5][..])));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn t(&self) -> CsrView<'a, T, I> {
        SparseView::over(self.arrays.transposed())
    }
}
