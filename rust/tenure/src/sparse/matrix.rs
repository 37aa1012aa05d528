//! Matrices that are held: two shared tensors of indices, which nobody writes, and one of values.

use tenure_sys::tnr_sparse_format;

use super::arrays::{Arrays, ArraysMut, COALESCED, Form};
use super::{BsrView, BsrViewMut, CooView, CooViewMut, CscView, CscViewMut, CsrView, CsrViewMut};
use crate::raw::sparse::Made;
use crate::{Element, Error, Rejected, Result, SharedTensor, SparseIndex, Tensor};

/// The parts of a matrix as they are held.
type Parts<T, I> = (SharedTensor<I>, SharedTensor<I>, Tensor<T>);
/// And as they may come.
type Vecs<T, I> = (Vec<I>, Vec<I>, Vec<T>);

/// Adopts a `Vec` as a tensor of rank 1, or gives it back.
pub(super) fn hold<E: Element>(vec: Vec<E>) -> Result<Tensor<E>, (Error, Vec<E>)> {
    let len = vec.len();
    Tensor::from_vec(vec, len).map_err(Rejected::into_parts)
}

/// What has just been adopted, as it was.
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

fn check_parts<T: Element, I: SparseIndex>(
    form: Form,
    [major_name, minor_name]: [&str; 2],
    (major, minor, values): &Parts<T, I>,
) -> Result<Form> {
    let major = elements(major.as_slice(), major_name)?;
    let minor = elements(minor.as_slice(), minor_name)?;
    check(form, major, minor, elements(values.as_slice(), "values")?)
}

macro_rules! matrices {
    ($(
        $(#[$doc:meta])*
        $name:ident lends $view:ident, $view_mut:ident of $format:ident
        { $major:ident, $minor:ident $(, $block:ident)? },
        arguments $arguments:literal, example $make:literal;
    )*) => {$(
        $(#[$doc])*
        pub struct $name<T: Element, I: SparseIndex = i32> {
            form: Form,
            $major: SharedTensor<I>,
            $minor: SharedTensor<I>,
            values: Tensor<T>,
        }

        /// Construction, and taking apart.
        impl<T: Element, I: SparseIndex> $name<T, I> {
            /// Adopts three `Vec`s, without a copy, once they are found to be right.
            ///
            /// # Errors
            ///
            /// As those of the view's `new`; also `InvalidArgument` for entries that no row has, and
            /// `OutOfMemory`: the library's own record of them. The three come back with the error.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $make, ";")]
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
                let form = Form::new(tnr_sparse_format::$format, rows, cols);
                $(let form = Form { block: $block, ..form };)?
                let vecs = ($major, $minor, values);
                match check(form, &vecs.0, &vecs.1, &vecs.2) {
                    Ok(form) => {
                        let ($major, $minor, values) = adopt(vecs)?;
                        Ok($name { form, $major, $minor, values })
                    }
                    Err(error) => Err(Rejected::new(error, vecs)),
                }
            }

            /// Holds parts that are held already, once they are found to be right.
            ///
            /// # Errors
            ///
            /// As those of [`from_vecs`](Self::from_vecs); also `InvalidArgument` for a part whose
            /// elements are not adjacent. The parts come back with the error.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $make, ";")]
            #[doc = concat!("let (", stringify!($major), ", ", stringify!($minor),
                ", values) = matrix.into_parts();")]
            #[doc = concat!("let again = ", stringify!($name), "::from_parts(", $arguments, ", ",
                stringify!($major), ", ", stringify!($minor), ", values)?;")]
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
                let form = Form::new(tnr_sparse_format::$format, rows, cols);
                $(let form = Form { block: $block, ..form };)?
                let parts = ($major, $minor, values);
                let names = [stringify!($major), stringify!($minor)];
                match check_parts(form, names, &parts) {
                    Ok(form) => {
                        let ($major, $minor, values) = parts;
                        Ok($name { form, $major, $minor, values })
                    }
                    Err(error) => Err(Rejected::new(error, parts)),
                }
            }

            #[doc = concat!("The three owners: ", stringify!($major), ", ", stringify!($minor),
                " and values. Where they came from `Vec`s, and nobody else holds them, their \
                `into_vec` gives those back.")]
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $make, ";")]
            /// let address = matrix.values().as_ptr();
            /// let (_, _, values) = matrix.into_parts();
            /// assert_eq!(values.into_vec().ok().unwrap().as_ptr(), address);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn into_parts(self) -> Parts<T, I> {
                (self.$major, self.$minor, self.values)
            }

            /// What an operation has made, in this format and with these types.
            pub(crate) fn from_made(made: Made) -> Result<Self> {
                let (form, ($major, $minor, values)) = made.into_parts()?;
                Ok($name { form: Form::of(form), $major, $minor, values })
            }

            /// The same pattern, shared, with values as many as there are.
            pub(super) fn with_new_values(&self, values: Tensor<T>) -> Self {
                $name {
                    form: self.form,
                    $major: self.$major.clone(),
                    $minor: self.$minor.clone(),
                    values,
                }
            }

            /// Another matrix of the same entries: it shares offsets and indices, and copies values.
            ///
            /// # Errors
            ///
            /// `OutOfMemory`.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $make, ";")]
            /// let mut clone = matrix.try_clone()?;
            /// clone.values_mut().fill(0.0);
            /// assert_eq!(matrix.values()[0], 1.5);
            #[doc = concat!("assert_eq!(clone.", stringify!($minor), "().as_ptr(), matrix.",
                stringify!($minor), "().as_ptr());")]
            /// # Ok::<(), Error>(())
            /// ```
            pub fn try_clone(&self) -> Result<Self> {
                Ok($name {
                    form: self.form,
                    $major: self.$major.clone(),
                    $minor: self.$minor.clone(),
                    values: self.values.try_clone()?,
                })
            }

            /// The same matrix, once it is found that its entries are coalesced: ordered, and no
            /// position has two.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: they are not; the message names the entry. The matrix comes back.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $make, ";")]
            /// assert!(matrix.coalesced()?.view().is_coalesced());
            /// # Ok::<(), Error>(())
            /// ```
            #[expect(clippy::result_large_err, reason = "the refused matrix goes back, by value")]
            pub fn coalesced(mut self) -> Result<Self, Rejected<Self>> {
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
        impl<T: Element, I: SparseIndex> $name<T, I> {
            pub(super) fn arrays(&self) -> Arrays<'_, T, I> {
                Arrays::over(self.form, self.$major(), self.$minor(), self.values())
            }

            /// Lends the matrix for reading.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $make, ";")]
            /// assert!(matrix.view().iter().len() > 0);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn view(&self) -> $view<'_, T, I> {
                $view { arrays: self.arrays() }
            }

            /// Lends the matrix, its values for writing.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let mut matrix = ", $make, ";")]
            /// matrix.view_mut().values_mut()[0] = 7.0;
            /// assert_eq!(matrix.values()[0], 7.0);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn view_mut(&mut self) -> $view_mut<'_, T, I> {
                let major = self.$major.as_slice().unwrap_or_default();
                let minor = self.$minor.as_slice().unwrap_or_default();
                let values = self.values.as_mut_slice().unwrap_or_default();
                $view_mut::over(ArraysMut::over(self.form, major, minor, values))
            }

            #[doc = concat!("The ", stringify!($major), ".")]
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $make, ";")]
            #[doc = concat!("assert_eq!(matrix.", stringify!($major), "()[0], 0);")]
            /// # Ok::<(), Error>(())
            /// ```
            pub fn $major(&self) -> &[I] {
                // Row-major: that was checked, or the library has made it so.
                self.$major.as_slice().unwrap_or_default()
            }

            #[doc = concat!("The ", stringify!($minor), ".")]
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $make, ";")]
            #[doc = concat!("assert_eq!(matrix.", stringify!($minor), "()[0], 0);")]
            /// # Ok::<(), Error>(())
            /// ```
            pub fn $minor(&self) -> &[I] {
                self.$minor.as_slice().unwrap_or_default()
            }

            /// The values.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let matrix = ", $make, ";")]
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
            #[doc = concat!("let mut matrix = ", $make, ";")]
            /// matrix.values_mut().fill(0.0);
            /// assert_eq!(matrix.values()[0], 0.0);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn values_mut(&mut self) -> &mut [T] {
                self.values.as_mut_slice().unwrap_or_default()
            }
        }

        super::shape::sized!($name, setup "", example $make);
    )*};
}

matrices! {
    /// A matrix by coordinates, held; see [`CooView`].
    CooMatrix lends CooView, CooViewMut of COO { row_indices, col_indices },
    arguments "2, 3",
    example "CooMatrix::from_vecs(2, 3, vec![0, 1], vec![0, 2], vec![1.5, 2.5])?";

    /// A matrix by compressed rows, held; see [`CsrView`].
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
    CsrMatrix lends CsrView, CsrViewMut of CSR { row_offsets, col_indices },
    arguments "2, 3",
    example "CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?";

    /// A matrix by compressed columns, held; see [`CscView`].
    CscMatrix lends CscView, CscViewMut of CSC { col_offsets, row_indices },
    arguments "2, 3",
    example "CscMatrix::from_vecs(2, 3, vec![0, 1, 1, 2], vec![0, 1], vec![1.5, 2.5])?";

    /// A matrix by compressed rows of blocks, held; see [`BsrView`].
    BsrMatrix lends BsrView, BsrViewMut of BSR { row_offsets, col_indices, block },
    arguments "2, 3, [2, 1]",
    example "BsrMatrix::from_vecs(2, 3, [2, 1], vec![0, 1], vec![0], vec![1.5, 2.5])?";
}
