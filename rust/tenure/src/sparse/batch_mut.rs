//! Batches lent with values to be written; offsets and indices stay as they are.

use std::{fmt, mem};

use tenure_sys::tnr_sparse_format;

use super::arrays::{ArraysMut, Form};
use super::batch::{BatchArrays, Place, covered_values};
use super::{
    BsrBatchView, BsrViewMut, CooBatchView, CooViewMut, CscBatchView, CscViewMut, CsrBatchView,
    CsrViewMut,
};
use crate::{Element, Result, SparseIndex};

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
        self.lend().checked()?;
        Ok(self)
    }

    /// Those of all matrices.
    pub(super) fn values_mut(&mut self) -> &mut [T] {
        &mut self.values[covered_values(&self.form, self.offsets)]
    }

    /// For reading.
    fn lend(&self) -> BatchArrays<'_, T, I> {
        let BatchArraysMut { form, offsets, major, minor, ref values } = *self;
        BatchArrays { form, offsets, major, minor, values }
    }

    /// For reading from now on.
    fn into_lent(self) -> BatchArrays<'a, T, I> {
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
        let place = Place::of(&form, offsets, matrix)?;
        let values = &mut values[place.values];
        Some(ArraysMut::over(form, &major[place.major], &minor[place.minor], values))
    }

    fn iter(self) -> impl ExactSizeIterator<Item = ArraysMut<'a, T, I>> {
        let BatchArraysMut { form, offsets, major, minor, values: mut rest } = self;
        let mut passed = 0;
        (0..offsets.len() - 1).map(move |matrix| {
            // Each is there, and as offsets never fall, no value is of two matrices.
            let place = Place::of(&form, offsets, matrix).unwrap();
            let (_, from) = mem::take(&mut rest).split_at_mut(place.values.start - passed);
            let (values, after) = from.split_at_mut(place.values.len());
            (rest, passed) = (after, place.values.end);
            ArraysMut::over(form, &major[place.major], &minor[place.minor], values)
        })
    }
}

/// A type, and the methods that every format has. `$make` is the arguments of an example with two
/// matrices of two rows and three columns.
macro_rules! batches {
    ($(
        $(#[$doc:meta])*
        $name:ident of $view:ident, each $one:ident: $format:ident
        { $major:ident, $minor:ident $(, $block:ident)? },
        values $values:literal, example $make:literal;
    )*) => {$(
        $(#[$doc])*
        pub struct $name<'a, T: Element, I: SparseIndex = i32> {
            pub(super) arrays: BatchArraysMut<'a, T, I>,
        }

        /// Construction.
        impl<'a, T: Element, I: SparseIndex> $name<'a, T, I> {
            #[doc = concat!("Lends four slices as [`", stringify!($view), "::new`] does, the values \
                exclusively.")]
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: what the message names, with the matrix, its place and its bound.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let mut values = ", $values, ";")]
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
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
                let form = Form::new(tnr_sparse_format::$format, rows, cols);
                $(let form = Form { block: $block, ..form };)?
                let (offsets, major, minor) = (batch_offsets, $major, $minor);
                let arrays = BatchArraysMut { form, offsets, major, minor, values };
                Ok($name { arrays: arrays.checked()? })
            }
        }

        /// The matrices, and lending.
        impl<'a, T: Element, I: SparseIndex> $name<'a, T, I> {
            /// How many there are.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("# let mut values = ", $values, ";")]
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
            /// assert_eq!(batch.len(), 2);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn len(&self) -> usize {
                self.lend().len()
            }

            /// Whether there are none.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("# let mut values = ", $values, ";")]
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
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
            #[doc = concat!("let mut values = ", $values, ";")]
            #[doc = concat!("let mut batch = ", stringify!($name), "::new(", $make, ")?;")]
            /// batch.get_mut(1).unwrap().values_mut().fill(0.0);
            /// assert_eq!((values[0], *values.last().unwrap()), (1.5, 0.0));
            /// # Ok::<(), Error>(())
            /// ```
            pub fn get_mut(&mut self, matrix: usize) -> Option<$one<'_, T, I>> {
                Some($one::over(self.arrays.reborrow().get(matrix)?))
            }

            /// Each of them, in order, its values for writing.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let mut values = ", $values, ";")]
            #[doc = concat!("let mut batch = ", stringify!($name), "::new(", $make, ")?;")]
            /// for (place, mut matrix) in batch.iter_mut().enumerate() {
            ///     matrix.values_mut().fill(place as f64);
            /// }
            /// assert_eq!((values[0], *values.last().unwrap()), (0.0, 1.0));
            /// # Ok::<(), Error>(())
            /// ```
            pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = $one<'_, T, I>> {
                self.arrays.reborrow().iter().map($one::over)
            }

            /// Lends the batch on, for reading.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("# let mut values = ", $values, ";")]
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
            /// assert_eq!(batch.view().to_dense()?.shape(), [2, 2, 3]);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn view(&self) -> $view<'_, T, I> {
                $view { arrays: self.lend() }
            }

            /// Lends the batch on, for a shorter time.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("# let mut values = ", $values, ";")]
            #[doc = concat!("let mut batch = ", stringify!($name), "::new(", $make, ")?;")]
            /// batch.view_mut().values_mut()[0] = 7.0;
            /// assert_eq!(batch.view().values()[0], 7.0);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn view_mut(&mut self) -> $name<'_, T, I> {
                $name { arrays: self.arrays.reborrow() }
            }

            /// Gives up writing, for as long as the memory was lent.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("# let mut values = ", $values, ";")]
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?.into_view();")]
            /// assert_eq!(batch.values()[0], 1.5);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn into_view(self) -> $view<'a, T, I> {
                $view { arrays: self.arrays.into_lent() }
            }

            /// The values of all matrices, to be written.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let mut values = ", $values, ";")]
            #[doc = concat!("let mut batch = ", stringify!($name), "::new(", $make, ")?;")]
            /// batch.values_mut().fill(2.5);
            /// assert!(values.iter().all(|value| *value == 2.5));
            /// # Ok::<(), Error>(())
            /// ```
            pub fn values_mut(&mut self) -> &mut [T] {
                self.arrays.values_mut()
            }

            fn lend(&self) -> BatchArrays<'_, T, I> {
                self.arrays.lend()
            }
        }

        /// What it is, in one line.
        impl<T: Element, I: SparseIndex> fmt::Debug for $name<'_, T, I> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.lend().debug(stringify!($name), f)
            }
        }
    )*};
}

batches! {
    /// Matrices by coordinates, lent, whose values may be written; see [`CooBatchView`].
    CooBatchViewMut of CooBatchView, each CooViewMut: COO { row_indices, col_indices },
    values "[1.5, 2.5, 3.5]",
    example "2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &mut values";

    /// Matrices by compressed rows, lent, whose values may be written; see [`CsrBatchView`].
    ///
    /// ```
    /// use tenure::CsrBatchViewMut;
    ///
    /// // Scores of two graphs of two nodes, become weights in place.
    /// let mut scores = [7.0, 7.0, 1.0, 2.0];
    /// let (offsets, columns) = ([0, 2, 3, 0, 0, 1], [0, 1, 1, 0]);
    /// let mut graphs = CsrBatchViewMut::new(2, 2, &[0, 3, 4], &offsets, &columns, &mut scores)?;
    /// for mut graph in graphs.iter_mut() {
    ///     graph.softmax_rows()?;
    /// }
    /// assert_eq!(scores, [0.5, 0.5, 1.0, 1.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    CsrBatchViewMut of CsrBatchView, each CsrViewMut: CSR { row_offsets, col_indices },
    values "[1.5, 2.5, 3.5]",
    example "2, 3, &[0, 1, 3], &[0, 1, 1, 0, 1, 2], &[0, 1, 2], &mut values";

    /// Matrices by compressed columns, lent, whose values may be written; see [`CscBatchView`].
    CscBatchViewMut of CscBatchView, each CscViewMut: CSC { col_offsets, row_indices },
    values "[1.5, 2.5, 3.5]",
    example "2, 3, &[0, 1, 3], &[0, 1, 1, 1, 0, 0, 1, 2], &[0, 0, 1], &mut values";

    /// Matrices by compressed rows of blocks, lent, whose values may be written; see
    /// [`BsrBatchView`].
    BsrBatchViewMut of BsrBatchView, each BsrViewMut: BSR { row_offsets, col_indices, block },
    values "[1.5, 0.0, 2.5, 3.5]",
    example "2, 3, [2, 1], &[0, 1, 2], &[0, 1, 0, 1], &[0, 2], &mut values";
}
