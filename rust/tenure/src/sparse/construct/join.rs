//! Matrices made of others: joined vertically, horizontally and along the diagonal, and one for
//! each entry of another.

use tenure_sys::tnr_sparse_join;

use crate::dtype::{Element, Number};
use crate::error::Result;
use crate::sparse::calls as raw;
use crate::sparse::{CompressedFormat, PointFormat, SparseIndex, SparseMatrix, SparseView};

fn joined<'a, F, T, I, P>(
    join: tnr_sparse_join,
    parts: impl IntoIterator<Item = P>,
) -> Result<SparseMatrix<F, T, I>>
where
    F: PointFormat,
    T: Element,
    I: SparseIndex,
    P: Into<SparseView<'a, F, T, I>>,
{
    let parts: Vec<_> = parts.into_iter().map(|part| part.into().arrays().lent()).collect();
    SparseMatrix::from_made(raw::concat(join, &parts)?)
}

macro_rules! joins {
    ($(
        $(#[doc = $doc:literal])+
        $join:ident: $name:ident;
    )*) => {$(
        $(#[doc = $doc])+
        pub fn $name<'a, F, T, I, P>(
            parts: impl IntoIterator<Item = P>,
        ) -> Result<SparseMatrix<F, T, I>>
        where
            F: PointFormat,
            T: Element,
            I: SparseIndex,
            P: Into<SparseView<'a, F, T, I>>,
        {
            joined(tnr_sparse_join::$join, parts)
        }
    )*};
}

joins! {
    /// Joins sparse matrices of as many columns, one below the other: views, or references to
    /// matrices, of one format. Copies, in the order that the entries have; it is coalesced where
    /// all of them are. For dense arrays there is [`concat`](fn@crate::ops::concat).
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no parts, parts with another number of columns, or more rows or entries
    /// than `I` counts. `OutOfMemory`.
    ///
    /// ```
    /// use tenure::{CsrMatrix, CsrView, sparse::vstack};
    ///
    /// let a: CsrMatrix<f64> = CsrMatrix::eye(2)?;
    /// let b = CsrView::new(1, 2, &[0, 1], &[1], &[5.0])?;
    /// assert_eq!(vstack([a.view(), b])?.to_dense()?.to_vec(), [1.0, 0.0, 0.0, 1.0, 0.0, 5.0]);
    /// let many = vec![a.try_clone()?, a];
    /// assert_eq!(vstack(&many)?.rows(), 4);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    ROWS: vstack;
    /// Joins sparse matrices with equal numbers of rows horizontally, as [`vstack`] does
    /// vertically. The entries of [`CooView`](crate::CooView)s follow each other matrix by matrix,
    /// so that they are no longer sorted.
    ///
    /// # Errors
    ///
    /// The errors of [`vstack`], of rows and columns.
    ///
    /// ```
    /// use tenure::{CsrMatrix, sparse::hstack};
    ///
    /// let a: CsrMatrix<f64> = CsrMatrix::eye(2)?;
    /// let joined = hstack([&a, &a])?;
    /// assert_eq!(joined.to_dense()?.to_vec(), [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    COLS: hstack;
    /// Joins sparse matrices along the diagonal: each begins below and to the right of the end of
    /// the one before it. Otherwise as [`vstack`]; the parts may be of any shape.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no parts, or more rows, columns or entries than `I` counts.
    /// `OutOfMemory`.
    ///
    /// ```
    /// use tenure::{CsrMatrix, CsrView, sparse::block_diag};
    ///
    /// let a: CsrMatrix<f64> = CsrMatrix::eye(1)?;
    /// let b = CsrView::new(1, 2, &[0, 1], &[1], &[5.0])?;
    /// let joined = block_diag([a.view(), b])?;
    /// assert_eq!(joined.to_dense()?.to_vec(), [1.0, 0.0, 0.0, 0.0, 0.0, 5.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    DIAGONAL: block_diag;
}

/// The Kronecker product of two matrices of CSR or CSC: `b` times each element of `a`, at its
/// place. Each entry is a product of two, rounded once; integers wrap.
///
/// # Errors
///
/// `InvalidArgument`: more rows, columns or entries than `I` counts. `OutOfMemory`.
///
/// ```
/// use tenure::{CsrMatrix, CsrView, sparse::kron};
///
/// let a = CsrView::new(1, 2, &[0, 2], &[0, 1], &[2.0, 3.0])?; // [2 3]
/// let identity = CsrMatrix::eye(2)?;
/// let product = kron(a, &identity)?;
/// assert_eq!(product.to_dense()?.to_vec(), [2.0, 0.0, 3.0, 0.0, 0.0, 2.0, 0.0, 3.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn kron<'a, 'b, F: CompressedFormat, T: Number, I: SparseIndex>(
    a: impl Into<SparseView<'a, F, T, I>>,
    b: impl Into<SparseView<'b, F, T, I>>,
) -> Result<SparseMatrix<F, T, I>> {
    let (a, b) = (a.into(), b.into());
    SparseMatrix::from_made(raw::kron(&a.arrays().lent(), &b.arrays().lent())?)
}
