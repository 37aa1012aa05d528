//! Matrices that are held: two shared tensors of indices, which are never written, and one of
//! values.

use std::marker::PhantomData;

use super::arrays::{Arrays, ArraysMut, COALESCED, Form};
use super::format::{Bsr, Coo, Csc, Csr, SparseFormat};
use super::{SparseView, SparseViewMut};
use crate::dense::{SharedTensor, Tensor};
use crate::dtype::{Element, index::SparseIndex};
use crate::error::{Error, Rejected, Result};
use crate::sparse::calls::Made;

/// A sparse matrix in the format `F`, held: two shared tensors of indices and one of values; see
/// [`SparseView`]. It is written [`CooMatrix`], [`CsrMatrix`], [`CscMatrix`] or [`BsrMatrix`].
pub struct SparseMatrix<F: SparseFormat, T: Element, I: SparseIndex = i32> {
    form: Form,
    major: SharedTensor<I>,
    minor: SharedTensor<I>,
    values: Tensor<T>,
    format: PhantomData<fn() -> F>,
}

/// A matrix by coordinates, held; see
/// [`CooView`](crate::CooView).
pub type CooMatrix<T, I = i32> = SparseMatrix<Coo, T, I>;

/// A matrix by compressed rows, held; see
/// [`CsrView`](crate::CsrView).
///
/// ```
/// use tenure::CsrMatrix;
///
/// let matrix = CsrMatrix::from_vecs(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0])?;
/// assert_eq!(matrix.view().row(0), Some((&[0, 2][..], &[1.0, 2.0][..])));
///
/// let refused = CsrMatrix::from_vecs(2, 2, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0]);
/// let rejected = refused.err().unwrap();
/// assert_eq!(
///     rejected.error().message(),
///     "col_indices[1] is 2 but must be at least 0 and below cols, which is 2"
/// );
/// assert_eq!(rejected.into_data().1, [0, 2, 1]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub type CsrMatrix<T, I = i32> = SparseMatrix<Csr, T, I>;

/// A matrix by compressed columns, held; see
/// [`CscView`](crate::CscView).
pub type CscMatrix<T, I = i32> = SparseMatrix<Csc, T, I>;

/// A matrix by compressed rows of blocks, held; see
/// [`BsrView`](crate::BsrView).
pub type BsrMatrix<T, I = i32> = SparseMatrix<Bsr, T, I>;

/// The parts of a matrix as they are held.
type Parts<T, I> = (SharedTensor<I>, SharedTensor<I>, Tensor<T>);
/// And as they may come.
type Vecs<T, I> = (Vec<I>, Vec<I>, Vec<T>);

/// Adopts a `Vec` as a tensor of rank 1, or gives it back.
pub(super) fn hold<E: Element>(vec: Vec<E>) -> Result<Tensor<E>, (Error, Vec<E>)> {
    let len = vec.len();
    Tensor::from_vec(vec, len).map_err(Rejected::into_parts)
}

/// A matrix that has just been adopted.
pub(super) fn back<E: Element>(tensor: Tensor<E>) -> Vec<E> {
    tensor.into_vec().unwrap_or_else(|tensor| tensor.to_vec())
}

/// Adopts three `Vec`s, or gives all of them back.
pub(super) fn adopt<T: Element, I: SparseIndex>(
    vecs: Vecs<T, I>,
) -> Result<Parts<T, I>, Rejected<Vecs<T, I>>> {
    let (major, minor, values) = vecs;
    let major = match hold(major) {
        Ok(major) => major,
        Err((error, major)) => return Err(Rejected::new(error, (major, minor, values))),
    };
    let minor = match hold(minor) {
        Ok(minor) => minor,
        Err((error, minor)) => return Err(Rejected::new(error, (back(major), minor, values))),
    };
    match hold(values) {
        Ok(values) => Ok((major.into_shared(), minor.into_shared(), values)),
        Err((error, values)) => Err(Rejected::new(error, (back(major), back(minor), values))),
    }
}

/// The elements of a part, which must lie in one row.
pub(super) fn elements<'a, E>(slice: Option<&'a [E]>, name: &str) -> Result<&'a [E]> {
    slice.ok_or_else(|| Error::invalid(format!("{name} are not row-major but must be")))
}

/// Checks a whole matrix; gives its form.
fn check<T: Element, I: SparseIndex>(
    form: Form,
    major: &[I],
    minor: &[I],
    values: &[T],
) -> Result<Form> {
    Ok(Arrays::checked(form, major, minor, values)?.require_whole()?.form)
}

impl<F: SparseFormat, T: Element, I: SparseIndex> SparseMatrix<F, T, I> {
    /// From parts that have been checked.
    fn over(form: Form, (major, minor, values): Parts<T, I>) -> Self {
        SparseMatrix { form, major, minor, values, format: PhantomData }
    }

    fn adopt(form: Form, vecs: Vecs<T, I>) -> Result<Self, Rejected<Vecs<T, I>>> {
        match check(form, &vecs.0, &vecs.1, &vecs.2) {
            Ok(form) => Ok(Self::over(form, adopt(vecs)?)),
            Err(error) => Err(Rejected::new(error, vecs)),
        }
    }

    #[expect(clippy::result_large_err, reason = "the refused parts go back, by value")]
    fn hold(form: Form, parts: Parts<T, I>) -> Result<Self, Rejected<Parts<T, I>>> {
        let (major, minor) = form.names();
        let checked = || {
            let major = elements(parts.0.as_slice(), major)?;
            let minor = elements(parts.1.as_slice(), minor)?;
            check(form, major, minor, elements(parts.2.as_slice(), "values")?)
        };
        match checked() {
            Ok(form) => Ok(Self::over(form, parts)),
            Err(error) => Err(Rejected::new(error, parts)),
        }
    }

    /// Result of an operation, in this format and with these types.
    pub(crate) fn from_made(made: Made) -> Result<Self> {
        let (form, parts) = made.into_parts()?;
        Ok(Self::over(Form::of(form), parts))
    }

    /// Shares the pattern, with new values in the same number.
    pub(super) fn with_new_values(&self, values: Tensor<T>) -> Self {
        Self::over(self.form, (self.major.clone(), self.minor.clone(), values))
    }
}

/// Taking apart, copies, and the known order of the entries.
impl<F: SparseFormat, T: Element, I: SparseIndex> SparseMatrix<F, T, I> {
    /// The three owners, as the constructors take them: offsets and indices, of COO row and column
    /// indices, and values. Where they came from `Vec`s, and have no other holder, their `into_vec`
    /// gives those back.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?;
    /// let address = matrix.values().as_ptr();
    /// let (row_offsets, col_indices, values) = matrix.into_parts();
    /// assert_eq!((row_offsets.to_vec(), col_indices.to_vec()), (vec![0, 1, 2], vec![0, 2]));
    /// assert_eq!(values.into_vec().ok().unwrap().as_ptr(), address);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn into_parts(self) -> Parts<T, I> {
        (self.major, self.minor, self.values)
    }

    /// Another matrix of the same entries: it shares offsets and indices, and copies values.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?;
    /// let mut clone = matrix.try_clone()?;
    /// clone.values_mut().fill(0.0);
    /// assert_eq!(matrix.values()[0], 1.5);
    /// assert_eq!(clone.col_indices().as_ptr(), matrix.col_indices().as_ptr());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn try_clone(&self) -> Result<Self> {
        Ok(self.with_new_values(self.values.try_clone()?))
    }

    /// Checks that the entries are coalesced: ordered, and no position has two. Returns the matrix
    /// with this property.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: they are not; the message names the entry. The matrix comes back.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?;
    /// assert!(matrix.check_coalesced()?.view().is_coalesced());
    /// # Ok::<(), Error>(())
    /// ```
    #[expect(clippy::result_large_err, reason = "the refused matrix goes back, by value")]
    pub fn check_coalesced(mut self) -> Result<Self, Rejected<Self>> {
        match self.arrays().with_flags(COALESCED) {
            Ok(arrays) => {
                self.form = arrays.form;
                Ok(self)
            }
            Err(error) => Err(Rejected::new(error, self)),
        }
    }
}

/// Lending, and what there is.
impl<F: SparseFormat, T: Element, I: SparseIndex> SparseMatrix<F, T, I> {
    pub(super) fn arrays(&self) -> Arrays<'_, T, I> {
        // Row-major: that was checked, or the library has made it so.
        let major = self.major.as_slice().unwrap_or_default();
        let minor = self.minor.as_slice().unwrap_or_default();
        Arrays::over(self.form, major, minor, self.values())
    }

    /// Lends the matrix for reading.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?;
    /// assert!(matrix.view().iter().len() > 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn view(&self) -> SparseView<'_, F, T, I> {
        SparseView::over(self.arrays())
    }

    /// Lends the matrix, its values for writing.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut matrix = CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?;
    /// matrix.view_mut().values_mut()[0] = 7.0;
    /// assert_eq!(matrix.values()[0], 7.0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn view_mut(&mut self) -> SparseViewMut<'_, F, T, I> {
        let major = self.major.as_slice().unwrap_or_default();
        let minor = self.minor.as_slice().unwrap_or_default();
        let values = self.values.as_mut_slice().unwrap_or_default();
        SparseViewMut::over(ArraysMut::over(self.form, major, minor, values))
    }

    /// The values.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?;
    /// assert_eq!(matrix.values()[0], 1.5);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn values(&self) -> &[T] {
        self.values.as_slice().unwrap_or_default()
    }

    /// The values, to be written.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut matrix = CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?;
    /// matrix.values_mut().fill(0.0);
    /// assert_eq!(matrix.values()[0], 0.0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn values_mut(&mut self) -> &mut [T] {
        self.values.as_mut_slice().unwrap_or_default()
    }
}

super::shape::sized!(
    SparseMatrix, "the matrix",
    example "CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?"
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
        impl<T: Element, I: SparseIndex> SparseMatrix<$format, T, I> {
            /// Adopts three `Vec`s, without a copy, once they are found to be right.
            ///
            /// # Errors
            ///
            /// The errors of the view's `new`; also `InvalidArgument` for entries that no row has,
            /// and `OutOfMemory`: the library's own record of them. The three come back with the
            /// error.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $matrix, ";")]
            /// assert_eq!((matrix.rows(), matrix.cols()), (2, 3));
            /// # Ok::<(), Error>(())
            /// ```
            pub fn from_vecs(
                rows: usize,
                cols: usize,
                $($block: [usize; 2],)?
                $major: Vec<I>,
                $minor: Vec<I>,
                values: Vec<T>,
            ) -> Result<Self, Rejected<Vecs<T, I>>> {
                let form = Form::new::<$format>(rows, cols)$(.with_blocks($block))?;
                Self::adopt(form, ($major, $minor, values))
            }

            /// Holds parts that are held already, once they are found to be right.
            ///
            /// # Errors
            ///
            /// The errors of [`from_vecs`](Self::from_vecs); also `InvalidArgument` for a part
            /// whose elements are not adjacent. The parts come back with the error.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $matrix, ";")]
            #[doc = concat!("let (", stringify!($major), ", ", stringify!($minor),
                ", values) = matrix.into_parts();")]
            #[doc = concat!("let again = ", stringify!($format), "Matrix::from_parts(", $shape,
                ", ", stringify!($major), ", ", stringify!($minor), ", values)?;")]
            /// assert_eq!(again.rows(), 2);
            /// # Ok::<(), Error>(())
            /// ```
            #[expect(clippy::result_large_err, reason = "the refused parts go back, by value")]
            pub fn from_parts(
                rows: usize,
                cols: usize,
                $($block: [usize; 2],)?
                $major: SharedTensor<I>,
                $minor: SharedTensor<I>,
                values: Tensor<T>,
            ) -> Result<Self, Rejected<Parts<T, I>>> {
                let form = Form::new::<$format>(rows, cols)$(.with_blocks($block))?;
                Self::hold(form, ($major, $minor, values))
            }

            #[doc = concat!("The ", stringify!($major), ".")]
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $matrix, ";")]
            #[doc = concat!("assert_eq!(matrix.", stringify!($major), "()[0], 0);")]
            /// # Ok::<(), Error>(())
            /// ```
            pub fn $major(&self) -> &[I] {
                self.arrays().major()
            }

            #[doc = concat!("The ", stringify!($minor), ".")]
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $matrix, ";")]
            #[doc = concat!("assert_eq!(matrix.", stringify!($minor), "()[0], 0);")]
            /// # Ok::<(), Error>(())
            /// ```
            pub fn $minor(&self) -> &[I] {
                self.arrays().minor()
            }
        }
    )*};
}

super::format::for_each_format!(named);
