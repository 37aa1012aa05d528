//! The size of a matrix, which every sparse type tells.

macro_rules! sized {
    ($name:ident $(<$life:lifetime>)?, $($make:literal),+) => {
        /// Size.
        impl<$($life,)? F: $crate::SparseFormat, T: $crate::Element, I: $crate::SparseIndex>
            $name<$($life,)? F, T, I>
        {
            /// Rows of the matrix.
            ///
            /// ```
            /// # use tenure::*;
            $(#[doc = $make])+
            /// assert_eq!(matrix.rows(), 2);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn rows(&self) -> usize {
                self.arrays().form.rows
            }

            /// Columns of the matrix.
            ///
            /// ```
            /// # use tenure::*;
            $(#[doc = $make])+
            /// assert_eq!(matrix.cols(), 3);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn cols(&self) -> usize {
                self.arrays().form.cols
            }

            /// Elements that are stored, zeros among them; of blocks all of each.
            ///
            /// ```
            /// # use tenure::*;
            $(#[doc = $make])+
            /// assert_eq!(matrix.nnz(), matrix.values().len());
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
