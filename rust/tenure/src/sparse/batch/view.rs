//! Batches lent for reading.

use std::fmt;
use std::marker::PhantomData;

use super::BatchArrays;
use crate::dtype::{Element, index::SparseIndex};
use crate::error::Result;
use crate::sparse::arrays::Form;
use crate::sparse::format::{Bsr, Coo, Csc, Csr, SparseFormat, for_each_format};
use crate::sparse::shape;
use crate::sparse::view::SparseView;

/// Sparse matrices of one size in the format `F`, lent: four slices with their meaning.
///
/// It is written by the name of its format, which also has the constructor and the methods that no
/// other format has: [`CooBatchView`], [`CsrBatchView`], [`CscBatchView`] or [`BsrBatchView`].
#[derive(Clone, Copy)]
pub struct SparseBatchView<'a, F: SparseFormat, T: Element, I: SparseIndex = i32> {
    pub(super) arrays: BatchArrays<'a, T, I>,
    format: PhantomData<fn() -> F>,
}

/// Matrices by coordinates, lent: matrix `i` has the entries from `batch_offsets[i]` to
/// `batch_offsets[i + 1]`.
pub type CooBatchView<'a, T, I = i32> = SparseBatchView<'a, Coo, T, I>;

/// Matrices by compressed rows, lent: matrix `i` has the entries from `batch_offsets[i]` to
/// `batch_offsets[i + 1]`, and the `rows + 1` offsets from `i * (rows + 1)` on, which count from
/// the first of them.
///
/// ```
/// use tenure::CsrBatchView;
///
/// // [[1 0 2], [0 3 0]], and one without entries.
/// let (offsets, columns) = ([0, 2, 3, 0, 0, 0], [0, 2, 1]);
/// let batch = CsrBatchView::new(2, 3, &[0, 3, 3], &offsets, &columns, &[1, 2, 3])?;
/// assert_eq!(batch.get(0).unwrap().row(1), Some((&[1][..], &[3][..])));
/// assert_eq!(batch.get(1).unwrap().nnz(), 0);
/// # Ok::<(), tenure::Error>(())
/// ```
pub type CsrBatchView<'a, T, I = i32> = SparseBatchView<'a, Csr, T, I>;

/// Matrices by compressed columns, lent: as [`CsrBatchView`], of the transposes.
pub type CscBatchView<'a, T, I = i32> = SparseBatchView<'a, Csc, T, I>;

/// Matrices by compressed rows of blocks, lent: as [`CsrBatchView`], with blocks of one size
/// instead of elements.
pub type BsrBatchView<'a, T, I = i32> = SparseBatchView<'a, Bsr, T, I>;

impl<'a, F: SparseFormat, T: Element, I: SparseIndex> SparseBatchView<'a, F, T, I> {
    /// From arrays that have been checked, and are of this format.
    pub(super) fn over(arrays: BatchArrays<'a, T, I>) -> Self {
        SparseBatchView { arrays, format: PhantomData }
    }

    fn arrays(&self) -> BatchArrays<'a, T, I> {
        self.arrays
    }
}

/// The matrices.
impl<'a, F: SparseFormat, T: Element, I: SparseIndex> SparseBatchView<'a, F, T, I> {
    /// How many there are.
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// assert_eq!(batch.len(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.arrays.len()
    }

    /// Whether there are none.
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// assert!(!batch.is_empty());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them: parts of the same slices, which are not checked again. `None` where there is no
    /// such matrix.
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// let matrix: CooView<f64> = batch.get(1).unwrap();
    /// assert_eq!(matrix.values(), &batch.values()[batch.values().len() - matrix.nnz()..]);
    /// assert!(batch.get(2).is_none());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn get(&self, matrix: usize) -> Option<SparseView<'a, F, T, I>> {
        Some(SparseView::over(self.arrays.get(matrix)?))
    }

    /// Each of them, in order.
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// assert_eq!(batch.iter().map(|matrix| matrix.nnz()).sum::<usize>(), batch.nnz());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn iter(
        &self,
    ) -> impl ExactSizeIterator<Item = SparseView<'a, F, T, I>> + use<'a, F, T, I> {
        self.arrays.iter().map(SparseView::over)
    }

    /// Whether the entries of each matrix are known to be coalesced.
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// assert!(!batch.is_coalesced()); // nobody has looked
    /// # Ok::<(), Error>(())
    /// ```
    pub fn is_coalesced(&self) -> bool {
        self.arrays.form.is_coalesced()
    }

    /// Checks that the entries of each matrix are coalesced: ordered, and no position has two. Some
    /// operations are faster on the view that it returns.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: they are not; the message names matrix and entry.
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// assert!(batch.check_coalesced()?.is_coalesced());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn check_coalesced(self) -> Result<Self> {
        Ok(Self::over(self.arrays.check_coalesced()?))
    }
}

shape::sized!(
    SparseBatchView<'a>, "each matrix",
    example "CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?"
);

/// The arrays of all matrices, as they were given.
impl<'a, F: SparseFormat, T: Element, I: SparseIndex> SparseBatchView<'a, F, T, I> {
    /// Where the entries of each matrix begin, and where the last one's end.
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// assert_eq!(batch.batch_offsets()[0], 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn batch_offsets(&self) -> &'a [i64] {
        self.arrays.offsets
    }

    /// The values of all matrices.
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CooBatchView::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5])?;
    /// assert_eq!(batch.values()[0], 1.5);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn values(&self) -> &'a [T] {
        self.arrays.covered_values()
    }
}

/// The constructor and arrays, by the names that they have in a format.
macro_rules! named {
    ($(
        $format:ident { $major:ident, $minor:ident $(, $block:ident)? },
        shape $shape:literal, values $values:literal,
        view $view:literal, view_mut $view_mut:literal, matrix $matrix:literal,
        batch $batch:literal, batch_mut $batch_mut:literal;
    )*) => {$(
        /// Construction, and the arrays of all matrices.
        impl<'a, T: Element, I: SparseIndex> SparseBatchView<'a, $format, T, I> {
            /// Lends four slices, once their lengths, offsets and indices are found to be right.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: what the message names, with the matrix, its place and its bound.
            $(#[doc = concat!("`Unsupported`: a larger `", stringify!($block), "` than 16.")])?
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let values = ", $values, ";")]
            #[doc = concat!("let batch = ", $batch, ";")]
            /// assert_eq!((batch.len(), batch.rows(), batch.cols()), (2, 2, 3));
            /// # Ok::<(), Error>(())
            /// ```
            pub fn new(
                rows: usize,
                cols: usize,
                $($block: [usize; 2],)?
                batch_offsets: &'a [i64],
                $major: &'a [I],
                $minor: &'a [I],
                values: &'a [T],
            ) -> Result<Self> {
                let form = Form::new::<$format>(rows, cols)$(.with_blocks($block))?;
                let (offsets, major, minor) = (batch_offsets, $major, $minor);
                let arrays = BatchArrays { form, offsets, major, minor, values };
                Ok(Self::over(arrays.checked()?))
            }

            #[doc = concat!("The ", stringify!($major), " of all matrices.")]
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let values = ", $values, ";")]
            #[doc = concat!("let batch = ", $batch, ";")]
            #[doc = concat!("assert_eq!(batch.", stringify!($major), "()[0], 0);")]
            /// # Ok::<(), Error>(())
            /// ```
            pub fn $major(&self) -> &'a [I] {
                self.arrays.covered_major()
            }

            #[doc = concat!("The ", stringify!($minor), " of all matrices.")]
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let values = ", $values, ";")]
            #[doc = concat!("let batch = ", $batch, ";")]
            #[doc = concat!("assert_eq!(batch.", stringify!($minor), "()[0], 0);")]
            /// # Ok::<(), Error>(())
            /// ```
            pub fn $minor(&self) -> &'a [I] {
                self.arrays.covered_minor()
            }
        }
    )*};
}

for_each_format!(named);

/// Format, size and types, in one line.
impl<F: SparseFormat, T: Element, I: SparseIndex> fmt::Debug for SparseBatchView<'_, F, T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.arrays.debug::<F>("BatchView", f)
    }
}

/// Parts.
impl<'a, T: Element, I: SparseIndex> CsrBatchView<'a, T, I> {
    /// The transposes: the same slices, read as columns.
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CsrBatchView::new(1, 2, &[0, 1, 2], &[0, 1, 0, 1], &[0, 1], &[1.5, 2.5])?;
    /// assert_eq!(batch.t().get(1).unwrap().col(0), Some((&[1][..], &[2.5][..])));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn t(&self) -> CscBatchView<'a, T, I> {
        let form = self.arrays.form.transposed();
        SparseBatchView::over(BatchArrays { form, ..self.arrays })
    }
}

/// Parts.
impl<'a, T: Element, I: SparseIndex> CscBatchView<'a, T, I> {
    /// The transposes: the same slices, read as rows.
    ///
    /// ```
    /// # use tenure::*;
    /// let batch = CscBatchView::new(2, 1, &[0, 1, 2], &[0, 1, 0, 1], &[0, 1], &[1.5, 2.5])?;
    /// assert_eq!(batch.t().get(1).unwrap().row(0), Some((&[1][..], &[2.5][..])));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn t(&self) -> CsrBatchView<'a, T, I> {
        let form = self.arrays.form.transposed();
        SparseBatchView::over(BatchArrays { form, ..self.arrays })
    }
}
