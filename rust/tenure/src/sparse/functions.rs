//! Functions of each entry that are 0 at 0: the result has the operand's pattern, and shares it.

use tenure_sys::for_each_unary_of_zero;

use super::{SparseBatch, SparseFormat, SparseIndex, SparseMatrix};
use crate::dtype::{Arithmetic, ComplexNumber, Float, Number};
use crate::error::Result;

macro_rules! functions {
    ($($name:ident, example $make:literal;)*) => {$(
        /// Functions that are 0 at 0, of each entry. The result shares offsets and indices. Others
        /// make a dense matrix of a sparse one: convert it first, or map
        /// [`values_mut`](Self::values_mut), if only the entries are meant.
        ///
        /// Each errs with `OutOfMemory`.
        impl<F: SparseFormat, T: Arithmetic, I: SparseIndex> $name<F, T, I> {
            /// The product with one number.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $make, "; // 1.5 and 2.5")]
            /// assert_eq!(matrix.mul_scalar(2.0)?.view().values(), [3.0, 5.0]);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn mul_scalar(&self, factor: T) -> Result<Self> {
                Ok(self.with_new_values(crate::ops::mul(self.view().values(), &[factor])?))
            }

            /// The complex conjugate: imaginary parts with the other sign.
            ///
            /// ```
            /// # use tenure::*;
            /// let values = vec![Complex::new(1.0, 2.0)];
            /// let matrix = CsrMatrix::from_vecs(1, 2, vec![0, 1], vec![1], values)?;
            /// assert_eq!(matrix.conj()?.view().values(), [Complex::new(1.0, -2.0)]);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn conj(&self) -> Result<Self>
            where
                T: ComplexNumber,
            {
                Ok(self.with_new_values(crate::ops::conj(self.view().values())?))
            }
        }
    )*};
}

functions! {
    SparseMatrix,
    example "CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?";
    SparseBatch,
    example "sparse::sparsify(&[[[0.0, 1.5]], [[2.5, 0.0]]]).to_csr_batch::<i32>()?";
}

/// The functions of the table of operations that are 0 at 0.
macro_rules! functions_of_entries {
    ($($op:ident $name:literal $module:ident: $new:ident, $into:ident, $assign:ident,
        [T: $bound:ident] T -> T; $what:literal, errors $also:literal, example $a:literal => $result:literal;)*) => {
        functions_of_entries! { @of SparseMatrix: $($module $new $bound $what;)* }
        functions_of_entries! { @of SparseBatch: $($module $new $bound $what;)* }
    };
    (@of $matrix:ident: $($module:ident $new:ident $bound:ident $what:literal;)*) => {
        impl<F: SparseFormat, T: Arithmetic, I: SparseIndex> $matrix<F, T, I> {$(
            #[doc = $what]
            ///
            #[doc = concat!("`a` is each entry, as in [`", stringify!($new), "`](crate::",
                stringify!($module), "::", stringify!($new), ").")]
            ///
            /// ```
            /// # use tenure::*;
            /// let matrix = CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![0.5, 0.25])?;
            #[doc = concat!(
                "let entries = tenure::", stringify!($module), "::", stringify!($new),
                "(&[0.5, 0.25])?;"
            )]
            #[doc = concat!("let result = matrix.", stringify!($new), "()?;")]
            /// assert_eq!(result.view().values(), entries.to_vec());
            /// # Ok::<(), Error>(())
            /// ```
            pub fn $new(&self) -> Result<Self>
            where
                T: $bound,
            {
                Ok(self.with_new_values(crate::$module::$new(self.view().values())?))
            }
        )*}
    };
}

for_each_unary_of_zero!(functions_of_entries);
