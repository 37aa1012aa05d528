//! The size of a matrix, or of each of a batch, which sparse types tell.

macro_rules! sized {
    ($name:ident $(<$life:lifetime>)?, $matrix:literal,
        $(values $values:literal,)? example $make:literal) => {
        /// Size.
        impl<$($life,)? F: $crate::SparseFormat, T: $crate::Element, I: $crate::SparseIndex>
            $name<$($life,)? F, T, I>
        {
            #[doc = concat!("Rows of ", $matrix, ".")]
            ///
            /// ```
            /// # use tenure::*;
            $(#[doc = concat!("# let mut values = ", $values, ";")])?
            #[doc = concat!("let it = ", $make, ";")]
            /// assert_eq!(it.rows(), 2);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn rows(&self) -> usize {
                self.arrays().form.rows
            }

            #[doc = concat!("Columns of ", $matrix, ".")]
            ///
            /// ```
            /// # use tenure::*;
            $(#[doc = concat!("# let mut values = ", $values, ";")])?
            #[doc = concat!("let it = ", $make, ";")]
            /// assert_eq!(it.cols(), 3);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn cols(&self) -> usize {
                self.arrays().form.cols
            }

            /// Elements that are stored in all, zeros among them; of blocks all of each.
            ///
            /// ```
            /// # use tenure::*;
            $(#[doc = concat!("# let mut values = ", $values, ";")])?
            #[doc = concat!("let it = ", $make, ";")]
            /// assert_eq!(it.nnz(), it.values().len());
            /// # Ok::<(), Error>(())
            /// ```
            pub fn nnz(&self) -> usize {
                let arrays = self.arrays();
                arrays.range().len() * arrays.form.block_len()
            }
        }
    };
}
pub(super) use sized;
