//! Matrices lent with values to be written; offsets and indices stay as they are.

use std::marker::PhantomData;

use super::SparseView;
use super::arrays::{Arrays, ArraysMut, Form};
use super::format::{Bsr, Coo, Csc, Csr, SparseFormat};
use crate::dtype::{Element, index::SparseIndex};
use crate::error::Result;
use crate::sparse::calls::LentSparseMut;

/// A sparse matrix in the format `F`, lent, whose values may be written; see [`SparseView`]. It is
/// written [`CooViewMut`], [`CsrViewMut`], [`CscViewMut`] or [`BsrViewMut`].
pub struct SparseViewMut<'a, F: SparseFormat, T: Element, I: SparseIndex = i32> {
    arrays: ArraysMut<'a, T, I>,
    format: PhantomData<fn() -> F>,
}

/// A matrix by coordinates, lent, whose values may be written; see
/// [`CooView`](crate::CooView).
pub type CooViewMut<'a, T, I = i32> = SparseViewMut<'a, Coo, T, I>;

/// A matrix by compressed rows, lent, whose values may be written; see
/// [`CsrView`](crate::CsrView).
///
/// ```
/// use tenure::CsrViewMut;
///
/// let mut values = [1.0, 2.0, 3.0];
/// let mut matrix = CsrViewMut::new(2, 3, &[0, 2, 3], &[0, 2, 1], &mut values)?;
/// matrix.values_mut().iter_mut().for_each(|value| *value *= 10.0);
/// assert_eq!(values, [10.0, 20.0, 30.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub type CsrViewMut<'a, T, I = i32> = SparseViewMut<'a, Csr, T, I>;

/// A matrix by compressed columns, lent, whose values may be written; see
/// [`CscView`](crate::CscView).
pub type CscViewMut<'a, T, I = i32> = SparseViewMut<'a, Csc, T, I>;

/// A matrix by compressed rows of blocks, lent, whose values may be written; see
/// [`BsrView`](crate::BsrView).
pub type BsrViewMut<'a, T, I = i32> = SparseViewMut<'a, Bsr, T, I>;

/// The values.
impl<'a, F: SparseFormat, T: Element, I: SparseIndex> SparseViewMut<'a, F, T, I> {
    /// From arrays that have been checked, and are of this format.
    pub(super) fn over(arrays: ArraysMut<'a, T, I>) -> Self {
        SparseViewMut { arrays, format: PhantomData }
    }

    pub(super) fn arrays(&self) -> Arrays<'_, T, I> {
        self.arrays.as_arrays()
    }

    /// The form in which operations that write values take it.
    pub(super) fn lent_mut(&mut self) -> LentSparseMut<'_> {
        self.arrays.reborrow().lent()
    }

    /// The values.
    ///
    /// ```
    /// # use tenure::*;
    /// # let mut values = [1.5, 2.5];
    /// let matrix = CsrViewMut::new(2, 3, &[0, 1, 2], &[0, 2], &mut values)?;
    /// assert_eq!(matrix.values()[0], 1.5);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn values(&self) -> &[T] {
        self.arrays().values()
    }

    /// The three slices, as the constructors take them: offsets and indices, of COO row and column
    /// indices, for reading, and values for writing. Offsets of a range of rows count from
    /// the first of them.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut matrix = CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?;
    /// let (_, col_indices, values) = matrix.view_mut().into_parts();
    /// for (col, value) in col_indices.iter().zip(values) {
    ///     *value += f64::from(*col);
    /// }
    /// assert_eq!(matrix.values(), [1.5, 4.5]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn into_parts(self) -> (&'a [I], &'a [I], &'a mut [T]) {
        (self.arrays.major(), self.arrays.minor(), self.arrays.into_values())
    }
}

super::shape::sized!(
    SparseViewMut<'a>, "the matrix", values "[1.5, 2.5]",
    example "CsrViewMut::new(2, 3, &[0, 1, 2], &[0, 2], &mut values)?"
);

/// Lending on, of a type whose `arrays` have values that may be written.
macro_rules! lends {
    ($name:ident to $view:ident, $what:literal, values $values:literal, example $make:literal) => {
        /// Lending on, and values.
        impl<'a, F: $crate::SparseFormat, T: $crate::Element, I: $crate::SparseIndex>
            $name<'a, F, T, I>
        {
            #[doc = concat!("Lends the ", $what, " on, for reading.")]
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("# let mut values = ", $values, ";")]
            #[doc = concat!("let it = ", $make, ";")]
            /// assert_eq!(it.view().values()[0], 1.5);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn view(&self) -> $view<'_, F, T, I> {
                $view::over(self.arrays.as_arrays())
            }

            #[doc = concat!("Lends the ", $what, " on, for a shorter time.")]
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("# let mut values = ", $values, ";")]
            #[doc = concat!("let mut it = ", $make, ";")]
            /// it.view_mut().values_mut()[0] = 7.0;
            /// assert_eq!(it.view().values()[0], 7.0);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn view_mut(&mut self) -> $name<'_, F, T, I> {
                $name::over(self.arrays.reborrow())
            }

            /// Gives up writing, for as long as the memory was lent.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("# let mut values = ", $values, ";")]
            #[doc = concat!("let it = ", $make, ".into_view();")]
            /// assert_eq!(it.values()[0], 1.5);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn into_view(self) -> $view<'a, F, T, I> {
                $view::over(self.arrays.into_arrays())
            }

            /// All values, to be written.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let mut values = ", $values, ";")]
            #[doc = concat!("let mut it = ", $make, ";")]
            /// it.values_mut().fill(0.0);
            /// assert!(values.iter().all(|value| *value == 0.0));
            /// # Ok::<(), Error>(())
            /// ```
            pub fn values_mut(&mut self) -> &mut [T] {
                self.arrays.values_mut()
            }
        }
    };
}
pub(super) use lends;

lends!(
    SparseViewMut to SparseView, "matrix", values "[1.5, 2.5]",
    example "CsrViewMut::new(2, 3, &[0, 1, 2], &[0, 2], &mut values)?"
);

/// Constructors and arrays, by the names that they have in a format.
macro_rules! named {
    ($(
        $format:ident { $major:ident, $minor:ident $(, $block:ident)? },
        shape $shape:literal, values $values:literal,
        view $view:literal, view_mut $view_mut:literal, matrix $matrix:literal,
        batch $batch:literal, batch_mut $batch_mut:literal;
    )*) => {$(
        /// Construction, and the arrays.
        impl<'a, T: Element, I: SparseIndex> SparseViewMut<'a, $format, T, I> {
            #[doc = concat!("Lends three slices as [`", stringify!($format), "View::new`](crate::",
                stringify!($format), "View#method.new) does, the values exclusively.")]
            ///
            /// # Errors
            ///
            /// As that.
            ///
            /// ```
            /// # use tenure::*;
            /// let mut values = [1.5, 2.5];
            #[doc = concat!("let matrix = ", $view_mut, ";")]
            /// assert_eq!((matrix.rows(), matrix.cols()), (2, 3));
            /// # Ok::<(), Error>(())
            /// ```
            pub fn new(
                rows: usize,
                cols: usize,
                $($block: [usize; 2],)?
                $major: &'a [I],
                $minor: &'a [I],
                values: &'a mut [T],
            ) -> Result<Self> {
                let form = Form::new::<$format>(rows, cols)$(.with_blocks($block))?;
                Arrays::checked(form, $major, $minor, values)?;
                Ok(Self::over(ArraysMut::over(form, $major, $minor, values)))
            }

            #[doc = concat!("The ", stringify!($major), ".")]
            ///
            /// ```
            /// # use tenure::*;
            /// # let mut values = [1.5, 2.5];
            #[doc = concat!("let matrix = ", $view_mut, ";")]
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
            /// # let mut values = [1.5, 2.5];
            #[doc = concat!("let matrix = ", $view_mut, ";")]
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

/// Parts.
impl<T: Element, I: SparseIndex> CsrViewMut<'_, T, I> {
    /// The entries of one row: their columns, and their values for writing. `None` where there is
    /// no such row.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut values = [1.0, 2.0, 3.0];
    /// let mut matrix = CsrViewMut::new(2, 3, &[0, 2, 3], &[0, 2, 1], &mut values)?;
    /// let (columns, entries) = matrix.row_mut(0).unwrap();
    /// assert_eq!(columns, [0, 2]);
    /// entries.fill(0.5);
    /// assert_eq!(values, [0.5, 0.5, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn row_mut(&mut self, row: usize) -> Option<(&[I], &mut [T])> {
        self.arrays.reborrow().row(row)
    }

    /// The rows before one, and the others, each with their values: for two threads, say. Nothing
    /// is copied. Where the view is to be used again, [reborrow](Self::view_mut) it first.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a number beyond the rows.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut values = [0; 3];
    /// let matrix = CsrViewMut::new(3, 2, &[0, 2, 2, 3], &[0, 1, 1], &mut values)?;
    /// let (mut upper, mut lower) = matrix.split_at_row(1)?;
    /// assert_eq!((upper.rows(), lower.rows()), (1, 2));
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || upper.values_mut().fill(1));
    ///     scope.spawn(move || lower.values_mut().fill(2));
    /// });
    /// assert_eq!(values, [1, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn split_at_row(self, row: usize) -> Result<(Self, Self)> {
        let (before, behind) = self.arrays.split_at(row)?;
        Ok((Self::over(before), Self::over(behind)))
    }
}

/// Parts.
impl<T: Element, I: SparseIndex> CscViewMut<'_, T, I> {
    /// The entries of one column: their rows, and their values for writing. `None` where there is
    /// no such column.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut values = [1.0, 2.0];
    /// let mut matrix = CscViewMut::new(2, 2, &[0, 1, 2], &[1, 0], &mut values)?;
    /// let (rows, entries) = matrix.col_mut(1).unwrap();
    /// assert_eq!(rows, [0]);
    /// entries[0] *= 10.0;
    /// assert_eq!(values, [1.0, 20.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn col_mut(&mut self, col: usize) -> Option<(&[I], &mut [T])> {
        self.arrays.reborrow().row(col)
    }

    /// The columns before one, and the others, each with their values: for two threads, say. Nothing
    /// is copied. Where the view is to be used again, [reborrow](Self::view_mut) it first.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a number beyond the columns.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut values = [0; 3];
    /// let matrix = CscViewMut::new(2, 3, &[0, 2, 2, 3], &[0, 1, 1], &mut values)?;
    /// let (mut left, mut right) = matrix.split_at_col(1)?;
    /// assert_eq!((left.cols(), right.cols()), (1, 2));
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || left.values_mut().fill(1));
    ///     scope.spawn(move || right.values_mut().fill(2));
    /// });
    /// assert_eq!(values, [1, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn split_at_col(self, col: usize) -> Result<(Self, Self)> {
        let (before, behind) = self.arrays.split_at(col)?;
        Ok((Self::over(before), Self::over(behind)))
    }
}

/// Parts.
impl<T: Element, I: SparseIndex> BsrViewMut<'_, T, I> {
    /// The blocks of one row of blocks: their columns, counted in blocks, and their elements for
    /// writing. `None` where there is no such row.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut values = [1, 2, 3, 4];
    /// let mut matrix = BsrViewMut::new(2, 4, [1, 2], &[0, 1, 2], &[1, 0], &mut values)?;
    /// let (_, elements) = matrix.block_row_mut(1).unwrap();
    /// elements.reverse();
    /// assert_eq!(values, [1, 2, 4, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn block_row_mut(&mut self, row: usize) -> Option<(&[I], &mut [T])> {
        self.arrays.reborrow().row(row)
    }

    /// The rows of blocks before one, and the others, each with their values: for two threads, say. Nothing
    /// is copied. Where the view is to be used again, [reborrow](Self::view_mut) it first.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a number beyond the rows of blocks.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut values = [0; 4];
    /// let matrix = BsrViewMut::new(2, 4, [1, 2], &[0, 1, 2], &[1, 0], &mut values)?;
    /// let (mut upper, mut lower) = matrix.split_at_block_row(1)?;
    /// assert_eq!((upper.rows(), lower.rows()), (1, 1));
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || upper.values_mut().fill(1));
    ///     scope.spawn(move || lower.values_mut().fill(2));
    /// });
    /// assert_eq!(values, [1, 1, 2, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn split_at_block_row(self, row: usize) -> Result<(Self, Self)> {
        let (before, behind) = self.arrays.split_at(row)?;
        Ok((Self::over(before), Self::over(behind)))
    }
}
