//! Batches that are held: three shared tensors of offsets and indices, and one of values.

use std::fmt;

use tenure_sys::tnr_sparse_format;

use super::arrays::Form;
use super::batch::BatchArrays;
use super::batch_mut::BatchArraysMut;
use super::matrix::{self, elements};
use super::{
    BsrBatchView, BsrBatchViewMut, CooBatchView, CooBatchViewMut, CscBatchView, CscBatchViewMut,
    CsrBatchView, CsrBatchViewMut,
};
use crate::raw::sparse::Made;
use crate::{Element, Rejected, Result, SharedTensor, SparseIndex, Tensor};

/// The owners of a batch, first that of `batch_offsets`.
type Parts<T, I> = (SharedTensor<i64>, SharedTensor<I>, SharedTensor<I>, Tensor<T>);

/// As they may come.
type Vecs<T, I> = (Vec<i64>, Vec<I>, Vec<I>, Vec<T>);

/// Adopts four `Vec`s, or gives all of them back.
fn adopt<T: Element, I: SparseIndex>(
    (batch_offsets, major, minor, values): Vecs<T, I>,
) -> Result<Parts<T, I>, Rejected<Vecs<T, I>>> {
    let offsets = match matrix::hold(batch_offsets) {
        Ok(offsets) => offsets,
        Err((error, offsets)) => {
            return Err(Rejected::new(error, (offsets, major, minor, values)));
        }
    };
    match matrix::adopt((major, minor, values)) {
        Ok((major, minor, values)) => Ok((offsets.into_shared(), major, minor, values)),
        Err(rejected) => {
            let (error, (major, minor, values)) = rejected.into_parts();
            Err(Rejected::new(error, (matrix::back(offsets), major, minor, values)))
        }
    }
}

/// Checks whole batches.
fn check<T: Element, I: SparseIndex>(arrays: BatchArrays<'_, T, I>) -> Result<()> {
    arrays.checked()?.require_whole().map(drop)
}

/// A type, and the methods that every format has. `$make` is the arguments of an example with two
/// matrices of two rows and three columns, `$convert` makes such a batch from dense.
macro_rules! batches {
    ($(
        $(#[$doc:meta])*
        $held:ident lends $name:ident, $name_mut:ident of $format:ident { $major:ident, $minor:ident $(, $block:ident)? },
        arguments $arguments:literal, convert $convert:literal, example $make:literal;
    )*) => {$(
        $(#[$doc])*
        pub struct $held<T: Element, I: SparseIndex = i32> {
            form: Form,
            batch_offsets: SharedTensor<i64>,
            $major: SharedTensor<I>,
            $minor: SharedTensor<I>,
            values: Tensor<T>,
        }

        /// Construction, taking apart, and lending.
        impl<T: Element, I: SparseIndex> $held<T, I> {
            /// Adopts four `Vec`s, without a copy, once they are found to be right.
            ///
            /// # Errors
            ///
            /// As those of the view's `new`; also `InvalidArgument` for entries that no row has, and
            /// `OutOfMemory`: the library's own record of them. The four come back with the error.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("# let batch = ", stringify!($name), "::new(", $make, ")?;")]
            #[doc = concat!("# let (major, minor) = (batch.", stringify!($major), "().to_vec(), batch.",
                stringify!($minor), "().to_vec());")]
            /// # let (offsets, values) = (batch.batch_offsets().to_vec(), batch.values().to_vec());
            /// let address = values.as_ptr();
            #[doc = concat!("let held = ", stringify!($held), "::from_vecs(", $arguments, ", offsets, major, minor, values)?;")]
            /// assert_eq!((held.view().len(), held.view().values().as_ptr()), (2, address));
            /// # Ok::<(), Error>(())
            /// ```
            pub fn from_vecs(
                rows: usize,
                cols: usize,
                $($block: [usize; 2],)?
                batch_offsets: Vec<i64>,
                $major: Vec<I>,
                $minor: Vec<I>,
                values: Vec<T>,
            ) -> Result<Self, Rejected<Vecs<T, I>>> {
                let form = Form::new(tnr_sparse_format::$format, rows, cols);
                $(let form = Form { block: $block, ..form };)?
                let vecs = (batch_offsets, $major, $minor, values);
                let (offsets, major, minor, values) = (&vecs.0, &vecs.1, &vecs.2, &vecs.3);
                match check(BatchArrays { form, offsets, major, minor, values }) {
                    Ok(()) => {
                        let (batch_offsets, $major, $minor, values) = adopt(vecs)?;
                        Ok($held { form, batch_offsets, $major, $minor, values })
                    }
                    Err(error) => Err(Rejected::new(error, vecs)),
                }
            }

            /// Holds parts, once they are found to be right.
            ///
            /// # Errors
            ///
            /// As those of the view's `new`; also `InvalidArgument` for entries that no row has, and
            /// for a part whose elements are not adjacent. The parts come back with the error.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("# let batch = ", stringify!($name), "::new(", $make, ")?;")]
            #[doc = concat!("# let (major, minor) = (batch.", stringify!($major), "(), batch.",
                stringify!($minor), "());")]
            /// # let to = |indices: &[i32]| Tensor::copy_from_slice(indices, indices.len());
            /// # let (offsets, values) = (batch.batch_offsets(), batch.values());
            /// # let offsets = Tensor::copy_from_slice(offsets, 3)?.into_shared();
            /// # let (major, minor) = (to(major)?.into_shared(), to(minor)?.into_shared());
            /// # let values = Tensor::copy_from_slice(values, values.len())?;
            #[doc = concat!("let held = ", stringify!($held), "::from_parts(", $arguments, ", offsets, major, minor, values)?;")]
            /// assert_eq!(held.view().get(1).unwrap().rows(), 2);
            /// # Ok::<(), Error>(())
            /// ```
            #[expect(clippy::result_large_err, reason = "the refused parts go back, by value")]
            pub fn from_parts(
                rows: usize,
                cols: usize,
                $($block: [usize; 2],)?
                batch_offsets: SharedTensor<i64>,
                $major: SharedTensor<I>,
                $minor: SharedTensor<I>,
                values: Tensor<T>,
            ) -> Result<Self, Rejected<Parts<T, I>>> {
                let form = Form::new(tnr_sparse_format::$format, rows, cols);
                $(let form = Form { block: $block, ..form };)?
                let checked = || {
                    check(BatchArrays {
                        form,
                        offsets: elements(batch_offsets.as_slice(), "batch_offsets")?,
                        major: elements($major.as_slice(), stringify!($major))?,
                        minor: elements($minor.as_slice(), stringify!($minor))?,
                        values: elements(values.as_slice(), "values")?,
                    })
                };
                match checked() {
                    Ok(()) => Ok($held { form, batch_offsets, $major, $minor, values }),
                    Err(error) => Err(Rejected::new(error, (batch_offsets, $major, $minor, values))),
                }
            }

            #[doc = concat!("The four owners: batch_offsets, ", stringify!($major), ", ",
                stringify!($minor), " and values. Where they came from `Vec`s, and nobody else holds \
                them, their `into_vec` gives those back.")]
            ///
            /// ```
            /// # use tenure::*;
            /// let dense = Tensor::<f32>::zeros([2, 2, 3])?;
            #[doc = concat!("let batch: ", stringify!($held), "<f32> = sparsify(&dense).",
                $convert, ";")]
            /// assert_eq!(batch.into_parts().0.to_vec(), [0, 0, 0]);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn into_parts(self) -> Parts<T, I> {
                (self.batch_offsets, self.$major, self.$minor, self.values)
            }

            /// What an operation has made, in this format and with these types.
            pub(crate) fn from_made(made: Made) -> Result<Self> {
                let (form, batch_offsets, ($major, $minor, values)) = made.into_batch()?;
                Ok($held { form: Form::of(form), batch_offsets, $major, $minor, values })
            }

            /// The same patterns, shared, with values as many as there are.
            pub(super) fn with_new_values(&self, values: Tensor<T>) -> Self {
                $held {
                    form: self.form,
                    batch_offsets: self.batch_offsets.clone(),
                    $major: self.$major.clone(),
                    $minor: self.$minor.clone(),
                    values,
                }
            }

            /// Lends the batch for reading.
            ///
            /// ```
            /// # use tenure::*;
            /// let dense = Tensor::<f32>::zeros([2, 2, 3])?;
            #[doc = concat!("let batch: ", stringify!($held), "<f32> = sparsify(&dense).",
                $convert, ";")]
            /// assert_eq!((batch.view().len(), batch.view().nnz()), (2, 0));
            /// # Ok::<(), Error>(())
            /// ```
            pub fn view(&self) -> $name<'_, T, I> {
                // Row-major: that was checked, or the library has made it so.
                let arrays = BatchArrays {
                    form: self.form,
                    offsets: self.batch_offsets.as_slice().unwrap_or_default(),
                    major: self.$major.as_slice().unwrap_or_default(),
                    minor: self.$minor.as_slice().unwrap_or_default(),
                    values: self.values.as_slice().unwrap_or_default(),
                };
                $name { arrays }
            }

            /// Lends the batch, its values for writing.
            ///
            /// ```
            /// # use tenure::*;
            /// let dense = Tensor::full([2, 2, 3], 0.5)?;
            #[doc = concat!("let mut batch: ", stringify!($held), "<f64> = sparsify(&dense).",
                $convert, ";")]
            /// batch.view_mut().get_mut(1).unwrap().values_mut().fill(2.0);
            /// assert_eq!(batch.view().to_dense()?.to_vec(), [[0.5; 6], [2.0; 6]].as_flattened());
            /// # Ok::<(), Error>(())
            /// ```
            pub fn view_mut(&mut self) -> $name_mut<'_, T, I> {
                let arrays = BatchArraysMut {
                    form: self.form,
                    offsets: self.batch_offsets.as_slice().unwrap_or_default(),
                    major: self.$major.as_slice().unwrap_or_default(),
                    minor: self.$minor.as_slice().unwrap_or_default(),
                    values: self.values.as_mut_slice().unwrap_or_default(),
                };
                $name_mut { arrays }
            }

            /// The values of all matrices, to be written.
            ///
            /// ```
            /// # use tenure::*;
            /// let dense = Tensor::full([1, 2, 3], 0.5)?;
            #[doc = concat!("let mut batch: ", stringify!($held), "<f64> = sparsify(&dense).",
                $convert, ";")]
            /// batch.values_mut().fill(2.0);
            /// assert_eq!(batch.view().to_dense()?.to_vec(), [2.0; 6]);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn values_mut(&mut self) -> &mut [T] {
                self.values.as_mut_slice().unwrap_or_default()
            }
        }

        /// What it is, in one line.
        impl<T: Element, I: SparseIndex> fmt::Debug for $held<T, I> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.view().arrays.debug(stringify!($held), f)
            }
        }
    )*};
}

batches! {
    /// Matrices by coordinates, held; see [`CooBatchView`].
    CooBatch lends CooBatchView, CooBatchViewMut of COO { row_indices, col_indices },
    arguments "2, 3", convert "to_coo_batch()?",
    example "2, 3, &[0, 1, 3], &[0, 0, 1], &[0, 1, 2], &[1.5, 2.5, 3.5]";

    /// Matrices by compressed rows, held; see [`CsrBatchView`].
    CsrBatch lends CsrBatchView, CsrBatchViewMut of CSR { row_offsets, col_indices },
    arguments "2, 3", convert "to_csr_batch()?",
    example "2, 3, &[0, 1, 3], &[0, 1, 1, 0, 1, 2], &[0, 1, 2], &[1.5, 2.5, 3.5]";

    /// Matrices by compressed columns, held; see [`CscBatchView`].
    CscBatch lends CscBatchView, CscBatchViewMut of CSC { col_offsets, row_indices },
    arguments "2, 3", convert "to_csc_batch()?",
    example "2, 3, &[0, 1, 3], &[0, 1, 1, 1, 0, 0, 1, 2], &[0, 0, 1], &[1.5, 2.5, 3.5]";

    /// Matrices by compressed rows of blocks, held; see [`BsrBatchView`].
    BsrBatch lends BsrBatchView, BsrBatchViewMut of BSR { row_offsets, col_indices, block },
    arguments "2, 3, [2, 1]", convert "to_bsr_batch([2, 1])?",
    example "2, 3, [2, 1], &[0, 1, 2], &[0, 1, 0, 1], &[0, 2], &[1.5, 0.0, 2.5, 3.5]";
}
