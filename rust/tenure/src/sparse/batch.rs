//! Batches: matrices of one format and one size, one after the other in the same arrays.

use std::fmt;
use std::ops::Range;

use tenure_sys::tnr_sparse_format;

use super::arrays::{Arrays, COALESCED, Form};
use super::{BsrView, CooView, CscView, CsrView};
use crate::raw::sparse::{LentArrays, LentSparse};
use crate::{Element, Error, Result, SparseIndex};

/// The arrays of a batch, lent for reading.
// The invariant, but between making and checking: offsets and indices are right.
#[derive(Clone, Copy)]
pub(super) struct BatchArrays<'a, T: Element, I: SparseIndex> {
    pub(super) form: Form,
    /// Where the entries of each matrix begin, and the last one's end.
    pub(super) offsets: &'a [i64],
    pub(super) major: &'a [I],
    pub(super) minor: &'a [I],
    pub(super) values: &'a [T],
}

impl<'a, T: Element, I: SparseIndex> BatchArrays<'a, T, I> {
    /// Checks everything.
    pub(super) fn checked(self) -> Result<Self> {
        let Some(matrices) = self.offsets.len().checked_sub(1) else {
            return Err(Error::invalid(
                "batch_offsets has 0 elements but must have one more than there are matrices"
                    .to_owned(),
            ));
        };
        let lengths = [self.major.len(), self.minor.len(), self.values.len()];
        self.form.check_batch_lengths(matrices, lengths)?;
        self.lend().check()?;
        Ok(self)
    }

    /// The same arrays, whose matrices are each found to be coalesced.
    fn coalesced(mut self) -> Result<Self> {
        self.form.flags |= COALESCED;
        self.lend().check()?;
        Ok(self)
    }

    /// That no entry is left out, of the batch or of any matrix.
    pub(super) fn require_whole(self) -> Result<Self> {
        let (first, last) = (self.offsets[0], self.offsets[self.len()]);
        if first != 0 || last as usize != self.minor.len() {
            return Err(Error::invalid(format!(
                "batch_offsets go from {first} to {last} but must go from 0 to {}, the number of \
                 entries",
                self.minor.len()
            )));
        }
        for (place, matrix) in self.iter().enumerate() {
            matrix.require_whole().map_err(|error| {
                Error::new(error.kind(), format!("matrix {place}: {}", error.message()))
            })?;
        }
        Ok(self)
    }

    pub(super) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    fn get(&self, matrix: usize) -> Option<Arrays<'a, T, I>> {
        let place = Place::of(&self.form, self.offsets, matrix)?;
        let (major, minor) = (&self.major[place.major], &self.minor[place.minor]);
        Some(Arrays::over(self.form, major, minor, &self.values[place.values]))
    }

    fn iter(self) -> impl ExactSizeIterator<Item = Arrays<'a, T, I>> {
        // Each is there.
        (0..self.len()).map(move |matrix| self.get(matrix).unwrap())
    }

    /// Offsets of all matrices; of COO the row indices of their entries.
    fn covered_major(&self) -> &'a [I] {
        if self.form.is_coo() { &self.major[covered(self.offsets)] } else { self.major }
    }

    /// The indices of all matrices.
    fn covered_minor(&self) -> &'a [I] {
        &self.minor[covered(self.offsets)]
    }

    /// The values of all matrices.
    fn covered_values(&self) -> &'a [T] {
        &self.values[covered_values(&self.form, self.offsets)]
    }

    /// As C sees it, checked or not.
    fn lend(&self) -> LentArrays<'a> {
        LentArrays::new(self.form.raw(), self.major, self.minor, self.values).in_batch(self.offsets)
    }

    /// As operations take it.
    pub(super) fn lent(&self) -> LentSparse<'a> {
        // SAFETY: offsets and indices are right, by the type's invariant, and `&'a [I]` keeps them so.
        unsafe { self.lend().checked() }
    }

    pub(super) fn debug(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (form, len) = (self.form, self.len());
        let entries = self.offsets[len] - self.offsets[0];
        write!(f, "{name}({len} of {} x {}", form.rows, form.cols)?;
        match form.block {
            [1, 1] => write!(f, ", {entries} entries")?,
            [rows, cols] => write!(f, ", {entries} blocks of {rows} x {cols}")?,
        }
        write!(f, ", dtype={}, index={})", T::DTYPE, I::DTYPE)
    }
}

/// The entries of all matrices: none that lies before the first or behind the last.
fn covered(offsets: &[i64]) -> Range<usize> {
    offsets[0] as usize..offsets[offsets.len() - 1] as usize
}

/// Where their values are.
pub(super) fn covered_values(form: &Form, offsets: &[i64]) -> Range<usize> {
    let Range { start, end } = covered(offsets);
    start * form.block_len()..end * form.block_len()
}

/// Where one matrix of a batch lies in each array.
pub(super) struct Place {
    pub(super) major: Range<usize>,
    pub(super) minor: Range<usize>,
    pub(super) values: Range<usize>,
}

impl Place {
    /// None where there is no such matrix.
    pub(super) fn of(form: &Form, offsets: &[i64], matrix: usize) -> Option<Place> {
        let &[begin, end] = offsets.get(matrix..matrix.checked_add(2)?)? else { return None };
        let (minor, own) = (begin as usize..end as usize, form.major_count() + 1);
        let major = match form.is_coo() {
            true => minor.clone(),
            false => matrix * own..(matrix + 1) * own,
        };
        let values = minor.start * form.block_len()..minor.end * form.block_len();
        Some(Place { major, minor, values })
    }
}

/// A type, and the methods that every format has. `$make` is the arguments of an example with two
/// matrices of two rows and three columns.
macro_rules! batches {
    ($(
        $(#[$doc:meta])*
        $name:ident of $view:ident: $format:ident { $major:ident, $minor:ident $(, $block:ident)? },
        example $make:literal;
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'a, T: Element, I: SparseIndex = i32> {
            pub(super) arrays: BatchArrays<'a, T, I>,
        }

        /// Construction.
        impl<'a, T: Element, I: SparseIndex> $name<'a, T, I> {
            /// Lends four slices, once their lengths, offsets and indices are found to be right.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: what the message names, with the matrix, its place and its bound.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
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
                let form = Form::new(tnr_sparse_format::$format, rows, cols);
                $(let form = Form { block: $block, ..form };)?
                let arrays =
                    BatchArrays { form, offsets: batch_offsets, major: $major, minor: $minor, values };
                Ok($name { arrays: arrays.checked()? })
            }

            /// The same view, once it is found that the entries of each matrix are coalesced:
            /// ordered, and no position has two. Some operations are faster for it.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: they are not; the message names matrix and entry.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
            /// assert!(batch.coalesced()?.is_coalesced());
            /// # Ok::<(), Error>(())
            /// ```
            pub fn coalesced(self) -> Result<Self> {
                Ok($name { arrays: self.arrays.coalesced()? })
            }
        }

        /// The matrices.
        impl<'a, T: Element, I: SparseIndex> $name<'a, T, I> {
            /// How many there are.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
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
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
            /// assert!(!batch.is_empty());
            /// # Ok::<(), Error>(())
            /// ```
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// One of them: parts of the same slices, which are not checked again. `None` where there
            /// is no such matrix.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
            #[doc = concat!("let matrix: ", stringify!($view), "<f64> = batch.get(1).unwrap();")]
            /// assert_eq!(matrix.values(), &batch.values()[batch.values().len() - matrix.nnz()..]);
            /// assert!(batch.get(2).is_none());
            /// # Ok::<(), Error>(())
            /// ```
            pub fn get(&self, matrix: usize) -> Option<$view<'a, T, I>> {
                Some($view { arrays: self.arrays.get(matrix)? })
            }

            /// Each of them, in order.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
            /// assert_eq!(batch.iter().map(|matrix| matrix.nnz()).sum::<usize>(), batch.nnz());
            /// # Ok::<(), Error>(())
            /// ```
            pub fn iter(&self) -> impl ExactSizeIterator<Item = $view<'a, T, I>> + use<'a, T, I> {
                self.arrays.iter().map(|arrays| $view { arrays })
            }

            /// Rows of each matrix.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
            /// assert_eq!(batch.rows(), 2);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn rows(&self) -> usize {
                self.arrays.form.rows
            }

            /// Columns of each matrix.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
            /// assert_eq!(batch.cols(), 3);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn cols(&self) -> usize {
                self.arrays.form.cols
            }

            /// Elements that are stored, of all matrices.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
            /// assert_eq!(batch.nnz(), batch.values().len());
            /// # Ok::<(), Error>(())
            /// ```
            pub fn nnz(&self) -> usize {
                let offsets = self.arrays.offsets;
                (offsets[self.len()] - offsets[0]) as usize * self.arrays.form.block_len()
            }

            /// Whether the entries of each matrix are known to be coalesced.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
            /// assert!(!batch.is_coalesced()); // nobody has looked
            /// # Ok::<(), Error>(())
            /// ```
            pub fn is_coalesced(&self) -> bool {
                self.arrays.form.is_coalesced()
            }
        }

        /// The arrays, as they were given.
        impl<'a, T: Element, I: SparseIndex> $name<'a, T, I> {
            /// Where the entries of each matrix begin, and where the last one's end.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
            /// assert_eq!(batch.batch_offsets()[0], 0);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn batch_offsets(&self) -> &'a [i64] {
                self.arrays.offsets
            }

            #[doc = concat!("The ", stringify!($major), " of all matrices.")]
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
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
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
            #[doc = concat!("assert_eq!(batch.", stringify!($minor), "()[0], 0);")]
            /// # Ok::<(), Error>(())
            /// ```
            pub fn $minor(&self) -> &'a [I] {
                self.arrays.covered_minor()
            }

            /// The values of all matrices.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let batch = ", stringify!($name), "::new(", $make, ")?;")]
            /// assert_eq!(batch.values()[0], 1.5);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn values(&self) -> &'a [T] {
                self.arrays.covered_values()
            }
        }

        /// What it is, in one line.
        impl<T: Element, I: SparseIndex> fmt::Debug for $name<'_, T, I> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.arrays.debug(stringify!($name), f)
            }
        }
    )*};
}

batches! {
    /// Matrices by coordinates, lent: matrix `i` is [`CooView`]'s of the entries from
    /// `batch_offsets[i]` to `batch_offsets[i + 1]`.
    CooBatchView of CooView: COO { row_indices, col_indices },
    example "2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5]";

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
    CsrBatchView of CsrView: CSR { row_offsets, col_indices },
    example "2, 3, &[0, 1, 3], &[0, 1, 1, 0, 1, 2], &[0, 1, 2], &[1.5, 2.5, 3.5]";

    /// Matrices by compressed columns, lent: as [`CsrBatchView`], of the transposes.
    CscBatchView of CscView: CSC { col_offsets, row_indices },
    example "2, 3, &[0, 1, 3], &[0, 1, 1, 1, 0, 0, 1, 2], &[0, 0, 1], &[1.5, 2.5, 3.5]";

    /// Matrices by compressed rows of blocks, lent: as [`CsrBatchView`], with blocks of one size in
    /// the place of elements.
    BsrBatchView of BsrView: BSR { row_offsets, col_indices, block },
    example "2, 3, [2, 1], &[0, 1, 2], &[0, 1, 0, 1], &[0, 2], &[1.5, 0.0, 2.5, 3.5]";
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
        CscBatchView { arrays: BatchArrays { form, ..self.arrays } }
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
        CsrBatchView { arrays: BatchArrays { form, ..self.arrays } }
    }
}
