//! Functions of each entry that are 0 at 0: what they make has the pattern, and shares it.

use super::{SparseBatch, SparseFormat, SparseIndex, SparseMatrix};
use crate::{Float, Number, Result};

macro_rules! functions {
    ($($name:ident, example $make:literal;)*) => {$(
        /// Functions that are 0 at 0, of each entry. The result shares offsets and indices. Others
        /// make a dense matrix of a sparse one: convert it first, or map
        /// [`values_mut`](Self::values_mut), if entries alone are meant.
        ///
        /// Each errs with `OutOfMemory`.
        impl<F: SparseFormat, T: Number, I: SparseIndex> $name<F, T, I> {
            /// The negative.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $make, "; // 1.5 and 2.5")]
            /// assert_eq!(matrix.neg()?.view().values(), [-1.5, -2.5]);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn neg(&self) -> Result<Self> {
                Ok(self.with_new_values(crate::neg(self.view().values())?))
            }

            /// The magnitude.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $make, ";")]
            /// assert_eq!(matrix.neg()?.abs()?.view().values(), matrix.view().values());
            /// # Ok::<(), Error>(())
            /// ```
            pub fn abs(&self) -> Result<Self> {
                Ok(self.with_new_values(crate::abs(self.view().values())?))
            }

            /// 0 in the place of what is less; it stays an entry.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $make, ";")]
            /// assert_eq!(matrix.neg()?.relu()?.view().values(), [0.0, 0.0]);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn relu(&self) -> Result<Self> {
                Ok(self.with_new_values(crate::relu(self.view().values())?))
            }

            /// The square root.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $make, "; // 1.5 and 2.5")]
            /// assert_eq!(matrix.sqrt()?.view().values()[0], 1.5_f64.sqrt());
            /// # Ok::<(), Error>(())
            /// ```
            pub fn sqrt(&self) -> Result<Self>
            where
                T: Float,
            {
                Ok(self.with_new_values(crate::sqrt(self.view().values())?))
            }

            /// The product with one number.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $make, "; // 1.5 and 2.5")]
            /// assert_eq!(matrix.mul_scalar(2.0)?.view().values(), [3.0, 5.0]);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn mul_scalar(&self, factor: T) -> Result<Self> {
                Ok(self.with_new_values(crate::mul(self.view().values(), &[factor])?))
            }
        }
    )*};
}

functions! {
    SparseMatrix,
    example "CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?";
    SparseBatch,
    example "sparsify(&[[[0.0, 1.5]], [[2.5, 0.0]]]).to_csr_batch::<i32>()?";
}
