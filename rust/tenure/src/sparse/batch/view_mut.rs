//! Batches lent with values to be written; offsets and indices stay as they are.

use std::marker::PhantomData;
use std::{fmt, mem};

use super::{BatchArrays, MatrixRanges, SparseBatchView, covered_values};
use crate::dtype::{Element, index::SparseIndex};
use crate::error::Result;
use crate::sparse::arrays::{ArraysMut, Form};
use crate::sparse::format::{Bsr, Coo, Csc, Csr, SparseFormat, for_each_format};
use crate::sparse::view_mut;
use crate::sparse::view_mut::SparseViewMut;

/// The arrays of a batch, lent with values to be written.
// The invariant is that of `BatchArrays`.
pub(super) struct BatchArraysMut<'a, T: Element, I: SparseIndex> {
    pub(super) form: Form,
    pub(super) offsets: &'a [i64],
    pub(super) major: &'a [I],
    pub(super) minor: &'a [I],
    pub(super) values: &'a mut [T],
}

impl<'a, T: Element, I: SparseIndex> BatchArraysMut<'a, T, I> {
    /// Checks everything.
    fn checked(self) -> Result<Self> {
        self.as_arrays().checked()?;
        Ok(self)
    }

    /// The values of all matrices.
    fn values_mut(&mut self) -> &mut [T] {
        &mut self.values[covered_values(&self.form, self.offsets)]
    }

    /// For reading.
    fn as_arrays(&self) -> BatchArrays<'_, T, I> {
        let BatchArraysMut { form, offsets, major, minor, ref values } = *self;
        BatchArrays { form, offsets, major, minor, values }
    }

    /// For reading from now on.
    fn into_arrays(self) -> BatchArrays<'a, T, I> {
        let BatchArraysMut { form, offsets, major, minor, values } = self;
        BatchArrays { form, offsets, major, minor, values }
    }

    /// For a shorter time.
    fn reborrow(&mut self) -> BatchArraysMut<'_, T, I> {
        let BatchArraysMut { form, offsets, major, minor, ref mut values } = *self;
        BatchArraysMut { form, offsets, major, minor, values }
    }

    fn get(self, matrix: usize) -> Option<ArraysMut<'a, T, I>> {
        let BatchArraysMut { form, offsets, major, minor, values } = self;
        let ranges = MatrixRanges::of(&form, offsets, matrix)?;
        let values = &mut values[ranges.values];
        Some(ArraysMut::over(form, &major[ranges.major], &minor[ranges.minor], values))
    }

    fn iter(self) -> impl ExactSizeIterator<Item = ArraysMut<'a, T, I>> {
        let BatchArraysMut { form, offsets, major, minor, values: mut rest } = self;
        let mut passed = 0;
        (0..offsets.len() - 1).map(move |matrix| {
            // Each is there, and as offsets never fall, no value is of two matrices.
            let ranges = MatrixRanges::of(&form, offsets, matrix).unwrap();
            let (_, from) = mem::take(&mut rest).split_at_mut(ranges.values.start - passed);
            let (values, after) = from.split_at_mut(ranges.values.len());
            (rest, passed) = (after, ranges.values.end);
            ArraysMut::over(form, &major[ranges.major], &minor[ranges.minor], values)
        })
    }
}

/// Sparse matrices of one size in the format `F`, lent, whose values may be written; see
/// [`SparseBatchView`]. It is written [`CooBatchViewMut`], [`CsrBatchViewMut`], [`CscBatchViewMut`]
/// or [`BsrBatchViewMut`].
pub struct SparseBatchViewMut<'a, F: SparseFormat, T: Element, I: SparseIndex = i32> {
    arrays: BatchArraysMut<'a, T, I>,
    format: PhantomData<fn() -> F>,
}

/// Matrices by coordinates, lent, whose values may be written; see
/// [`CooBatchView`](crate::CooBatchView).
pub type CooBatchViewMut<'a, T, I = i32> = SparseBatchViewMut<'a, Coo, T, I>;

/// Matrices by compressed rows, lent, whose values may be written; see
/// [`CsrBatchView`](crate::CsrBatchView).
///
/// ```
/// use tenure::CsrBatchViewMut;
///
/// // Scores of two graphs of two nodes, become weights in ranges.
/// let mut scores = [7.0, 7.0, 1.0, 2.0];
/// let (offsets, columns) = ([0, 2, 3, 0, 0, 1], [0, 1, 1, 0]);
/// let mut graphs = CsrBatchViewMut::new(2, 2, &[0, 3, 4], &offsets, &columns, &mut scores)?;
/// for mut graph in graphs.iter_mut() {
///     graph.softmax_rows()?;
/// }
/// assert_eq!(scores, [0.5, 0.5, 1.0, 1.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub type CsrBatchViewMut<'a, T, I = i32> = SparseBatchViewMut<'a, Csr, T, I>;

/// Matrices by compressed columns, lent, whose values may be written; see
/// [`CscBatchView`](crate::CscBatchView).
pub type CscBatchViewMut<'a, T, I = i32> = SparseBatchViewMut<'a, Csc, T, I>;

/// Matrices by compressed rows of blocks, lent, whose values may be written; see
/// [`BsrBatchView`](crate::BsrBatchView).
pub type BsrBatchViewMut<'a, T, I = i32> = SparseBatchViewMut<'a, Bsr, T, I>;

/// The matrices.
impl<'a, F: SparseFormat, T: Element, I: SparseIndex> SparseBatchViewMut<'a, F, T, I> {
    /// From arrays that have been checked, and are of this format.
    pub(super) fn over(arrays: BatchArraysMut<'a, T, I>) -> Self {
        SparseBatchViewMut { arrays, format: PhantomData }
    }

    /// How many there are.
    ///
    /// ```
    /// # use tenure::*;
    /// # let mut values = [1.5, 2.5, 3.5];
    /// let batch = CooBatchViewMut::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &mut values)?;
    /// assert_eq!(batch.len(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.arrays.as_arrays().len()
    }

    /// Whether there are none.
    ///
    /// ```
    /// # use tenure::*;
    /// # let mut values = [1.5, 2.5, 3.5];
    /// let batch = CooBatchViewMut::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &mut values)?;
    /// assert!(!batch.is_empty());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them, its values for writing. `None` where there is no such matrix.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut values = [1.5, 2.5, 3.5];
    /// let (rows, cols) = (&[0, 0, 1], &[0, 1, 2]);
    /// let mut batch = CooBatchViewMut::new(2, 3, &[0, 1, 3], rows, cols, &mut values)?;
    /// batch.get_mut(1).unwrap().values_mut().fill(0.0);
    /// assert_eq!((values[0], *values.last().unwrap()), (1.5, 0.0));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn get_mut(&mut self, matrix: usize) -> Option<SparseViewMut<'_, F, T, I>> {
        Some(SparseViewMut::over(self.arrays.reborrow().get(matrix)?))
    }

    /// Each of them, in order, its values for writing.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut values = [1.5, 2.5, 3.5];
    /// let (rows, cols) = (&[0, 0, 1], &[0, 1, 2]);
    /// let mut batch = CooBatchViewMut::new(2, 3, &[0, 1, 3], rows, cols, &mut values)?;
    /// for (place, mut matrix) in batch.iter_mut().enumerate() {
    ///     matrix.values_mut().fill(place as f64);
    /// }
    /// assert_eq!((values[0], *values.last().unwrap()), (0.0, 1.0));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = SparseViewMut<'_, F, T, I>> {
        self.arrays.reborrow().iter().map(SparseViewMut::over)
    }
}

view_mut::lends!(
    SparseBatchViewMut to SparseBatchView, "batch", values "[1.5, 2.5, 3.5]",
    example "CooBatchViewMut::new(2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &mut values)?"
);

/// The constructor, by the names that arrays have in a format.
macro_rules! named {
    ($(
        $format:ident { $major:ident, $minor:ident $(, $block:ident)? },
        shape $shape:literal, values $values:literal,
        view $view:literal, view_mut $view_mut:literal, matrix $matrix:literal,
        batch $batch:literal, batch_mut $batch_mut:literal;
    )*) => {$(
        /// Construction.
        impl<'a, T: Element, I: SparseIndex> SparseBatchViewMut<'a, $format, T, I> {
            #[doc = concat!("Lends four slices as [`", stringify!($format),
                "BatchView::new`](crate::", stringify!($format),
                "BatchView#method.new) does, the values exclusively.")]
            ///
            /// # Errors
            ///
            /// As that.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let mut values = ", $values, ";")]
            #[doc = concat!("let batch = ", $batch_mut, ";")]
            /// assert_eq!((batch.len(), batch.view().rows()), (2, 2));
            /// # Ok::<(), Error>(())
            /// ```
            pub fn new(
                rows: usize,
                cols: usize,
                $($block: [usize; 2],)?
                batch_offsets: &'a [i64],
                $major: &'a [I],
                $minor: &'a [I],
                values: &'a mut [T],
            ) -> Result<Self> {
                let form = Form::new::<$format>(rows, cols)$(.with_blocks($block))?;
                let (offsets, major, minor) = (batch_offsets, $major, $minor);
                let arrays = BatchArraysMut { form, offsets, major, minor, values };
                Ok(Self::over(arrays.checked()?))
            }
        }
    )*};
}

for_each_format!(named);

/// Format, size and types, in one line.
impl<F: SparseFormat, T: Element, I: SparseIndex> fmt::Debug for SparseBatchViewMut<'_, F, T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.arrays.as_arrays().debug::<F>("BatchViewMut", f)
    }
}
