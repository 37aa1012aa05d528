//! Matrices lent with values to be written; offsets and indices stay as they are.

use super::arrays::{Arrays, ArraysMut};
use super::{BsrView, CooView, CscView, CsrView};
use crate::raw::sparse::LentSparseMut;
use crate::{Element, Result, SparseIndex};

macro_rules! views {
    ($(
        $(#[$doc:meta])*
        $name:ident of $view:ident { $major:ident, $minor:ident $(, $block:ident)? },
        example $make:literal;
    )*) => {$(
        $(#[$doc])*
        pub struct $name<'a, T: Element, I: SparseIndex = i32> {
            arrays: ArraysMut<'a, T, I>,
        }

        /// Construction.
        impl<'a, T: Element, I: SparseIndex> $name<'a, T, I> {
            #[doc = concat!("Lends three slices as [`", stringify!($view), "::new`] does, the values \
                exclusively.")]
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: what the message names, with its place and its bound.
            ///
            /// ```
            /// # use tenure::*;
            /// # let mut values = [1.5, 2.5];
            #[doc = concat!("let matrix = ", $make, ";")]
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
                let view = $view::new(rows, cols, $($block,)? $major, $minor, values)?;
                let form = view.arrays.form;
                Ok($name { arrays: ArraysMut::over(form, $major, $minor, values) })
            }

            /// Of a view or a matrix that has been checked.
            pub(super) fn over(arrays: ArraysMut<'a, T, I>) -> Self {
                $name { arrays }
            }
        }

        /// Lending, and what there is.
        impl<'a, T: Element, I: SparseIndex> $name<'a, T, I> {
            pub(super) fn arrays(&self) -> Arrays<'_, T, I> {
                self.arrays.as_arrays()
            }

            /// As operations take it that write values.
            #[allow(dead_code, reason = "not of every format")]
            pub(super) fn lent_mut(&mut self) -> LentSparseMut<'_> {
                self.arrays.reborrow().lent()
            }

            /// Lends the matrix on, for reading.
            ///
            /// ```
            /// # use tenure::*;
            /// # let mut values = [1.5, 2.5];
            #[doc = concat!("let matrix = ", $make, ";")]
            /// assert_eq!(matrix.view().values()[0], 1.5);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn view(&self) -> $view<'_, T, I> {
                $view { arrays: self.arrays() }
            }

            /// Lends the matrix on, for a shorter time.
            ///
            /// ```
            /// # use tenure::*;
            /// # let mut values = [1.5, 2.5];
            #[doc = concat!("let mut matrix = ", $make, ";")]
            /// matrix.view_mut().values_mut()[0] = 7.0;
            /// assert_eq!(matrix.values()[0], 7.0);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn view_mut(&mut self) -> $name<'_, T, I> {
                $name { arrays: self.arrays.reborrow() }
            }

            /// Gives up writing, for as long as the memory was lent.
            ///
            /// ```
            /// # use tenure::*;
            /// # let mut values = [1.5, 2.5];
            #[doc = concat!("let matrix = ", $make, ".into_view();")]
            /// assert_eq!(matrix.values()[1], 2.5);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn into_view(self) -> $view<'a, T, I> {
                $view { arrays: self.arrays.into_arrays() }
            }

            #[doc = concat!("The ", stringify!($major), ".")]
            ///
            /// ```
            /// # use tenure::*;
            /// # let mut values = [1.5, 2.5];
            #[doc = concat!("let matrix = ", $make, ";")]
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
            #[doc = concat!("let matrix = ", $make, ";")]
            #[doc = concat!("assert_eq!(matrix.", stringify!($minor), "()[0], 0);")]
            /// # Ok::<(), Error>(())
            /// ```
            pub fn $minor(&self) -> &'a [I] {
                self.arrays.minor()
            }

            /// The values.
            ///
            /// ```
            /// # use tenure::*;
            /// # let mut values = [1.5, 2.5];
            #[doc = concat!("let matrix = ", $make, ";")]
            /// assert_eq!(matrix.values()[0], 1.5);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn values(&self) -> &[T] {
                self.arrays().values()
            }

            /// The values, to be written.
            ///
            /// ```
            /// # use tenure::*;
            /// # let mut values = [1.5, 2.5];
            #[doc = concat!("let mut matrix = ", $make, ";")]
            /// matrix.values_mut().fill(0.0);
            /// assert_eq!(values, [0.0; 2]);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn values_mut(&mut self) -> &mut [T] {
                self.arrays.values_mut()
            }
        }

        super::shape::sized!($name<'a>, setup "# let mut values = [1.5, 2.5];", example $make);
    )*};
}

views! {
    /// A matrix by coordinates, lent, whose values may be written; see [`CooView`].
    CooViewMut of CooView { row_indices, col_indices },
    example "CooViewMut::new(2, 3, &[0, 1], &[0, 2], &mut values)?";

    /// A matrix by compressed rows, lent, whose values may be written; see [`CsrView`].
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
    CsrViewMut of CsrView { row_offsets, col_indices },
    example "CsrViewMut::new(2, 3, &[0, 1, 2], &[0, 2], &mut values)?";

    /// A matrix by compressed columns, lent, whose values may be written; see [`CscView`].
    CscViewMut of CscView { col_offsets, row_indices },
    example "CscViewMut::new(2, 3, &[0, 1, 1, 2], &[0, 1], &mut values)?";

    /// A matrix by compressed rows of blocks, lent, whose values may be written; see [`BsrView`].
    BsrViewMut of BsrView { row_offsets, col_indices, block },
    example "BsrViewMut::new(2, 3, [2, 1], &[0, 1], &[0], &mut values)?";
}

/// Parts.
impl<T: Element, I: SparseIndex> CsrViewMut<'_, T, I> {
    /// The entries of one row: their columns, and their values for writing. `None` where there is no
    /// such row.
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
}

/// Parts.
impl<T: Element, I: SparseIndex> CscViewMut<'_, T, I> {
    /// The entries of one column: their rows, and their values for writing. `None` where there is no
    /// such column.
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
}
