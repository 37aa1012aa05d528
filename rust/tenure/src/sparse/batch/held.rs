//! Batches that are held: three shared tensors of offsets and indices, and one of values.

use std::fmt;
use std::marker::PhantomData;

use super::view_mut::BatchArraysMut;
use super::{BatchArrays, SparseBatchView, SparseBatchViewMut};
use crate::dense::{SharedTensor, Tensor};
use crate::dtype::{Element, index::SparseIndex};
use crate::error::{Rejected, Result};
use crate::sparse::arrays::Form;
use crate::sparse::calls::Made;
use crate::sparse::format::{Bsr, Coo, Csc, Csr, SparseFormat, for_each_format};
use crate::sparse::matrix::{self, elements};

/// The owners of a batch, first that of `batch_offsets`.
type Parts<T, I> = (SharedTensor<i64>, SharedTensor<I>, SharedTensor<I>, Tensor<T>);

/// The `Vec`s that a batch may be made from.
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

/// Sparse matrices of one size in the format `F`, held: three shared tensors of offsets and indices
/// and one of values; see [`SparseBatchView`]. It is written [`CooBatch`], [`CsrBatch`],
/// [`CscBatch`] or [`BsrBatch`].
pub struct SparseBatch<F: SparseFormat, T: Element, I: SparseIndex = i32> {
    form: Form,
    batch_offsets: SharedTensor<i64>,
    major: SharedTensor<I>,
    minor: SharedTensor<I>,
    values: Tensor<T>,
    format: PhantomData<fn() -> F>,
}

/// Matrices by coordinates, held; see
/// [`CooBatchView`](crate::CooBatchView).
pub type CooBatch<T, I = i32> = SparseBatch<Coo, T, I>;

/// Matrices by compressed rows, held; see
/// [`CsrBatchView`](crate::CsrBatchView).
pub type CsrBatch<T, I = i32> = SparseBatch<Csr, T, I>;

/// Matrices by compressed columns, held; see
/// [`CscBatchView`](crate::CscBatchView).
pub type CscBatch<T, I = i32> = SparseBatch<Csc, T, I>;

/// Matrices by compressed rows of blocks, held; see
/// [`BsrBatchView`](crate::BsrBatchView).
pub type BsrBatch<T, I = i32> = SparseBatch<Bsr, T, I>;

impl<F: SparseFormat, T: Element, I: SparseIndex> SparseBatch<F, T, I> {
    /// From parts that have been checked.
    fn over(form: Form, (batch_offsets, major, minor, values): Parts<T, I>) -> Self {
        SparseBatch { form, batch_offsets, major, minor, values, format: PhantomData }
    }

    fn adopt(form: Form, vecs: Vecs<T, I>) -> Result<Self, Rejected<Vecs<T, I>>> {
        let (offsets, major, minor, values) = (&vecs.0, &vecs.1, &vecs.2, &vecs.3);
        match check(BatchArrays { form, offsets, major, minor, values }) {
            Ok(()) => Ok(Self::over(form, adopt(vecs)?)),
            Err(error) => Err(Rejected::new(error, vecs)),
        }
    }

    #[expect(clippy::result_large_err, reason = "the refused parts go back, by value")]
    fn hold(form: Form, parts: Parts<T, I>) -> Result<Self, Rejected<Parts<T, I>>> {
        let (major, minor) = form.names();
        let checked = || {
            check(BatchArrays {
                form,
                offsets: elements(parts.0.as_slice(), "batch_offsets")?,
                major: elements(parts.1.as_slice(), major)?,
                minor: elements(parts.2.as_slice(), minor)?,
                values: elements(parts.3.as_slice(), "values")?,
            })
        };
        match checked() {
            Ok(()) => Ok(Self::over(form, parts)),
            Err(error) => Err(Rejected::new(error, parts)),
        }
    }

    /// Result of an operation, in this format and with these types.
    pub(crate) fn from_made(made: Made) -> Result<Self> {
        let (form, batch_offsets, (major, minor, values)) = made.into_batch()?;
        Ok(Self::over(Form::of(form), (batch_offsets, major, minor, values)))
    }

    /// Shares the patterns, with new values in the same number.
    pub(in crate::sparse) fn with_new_values(&self, values: Tensor<T>) -> Self {
        let (major, minor) = (self.major.clone(), self.minor.clone());
        Self::over(self.form, (self.batch_offsets.clone(), major, minor, values))
    }
}

/// Lending, and taking apart.
impl<F: SparseFormat, T: Element, I: SparseIndex> SparseBatch<F, T, I> {
    /// The four owners: where the matrices begin, offsets and indices (of COO row and column
    /// indices), and values. Where they came from `Vec`s, and have no other holder, their
    /// `into_vec` gives those back.
    ///
    /// ```
    /// # use tenure::*;
    /// let dense = Tensor::<f32>::zeros([2, 2, 3])?;
    /// let batch: CsrBatch<f32> = sparse::sparsify(&dense).to_csr_batch()?;
    /// assert_eq!(batch.into_parts().0.to_vec(), [0, 0, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn into_parts(self) -> Parts<T, I> {
        (self.batch_offsets, self.major, self.minor, self.values)
    }

    /// Lends the batch for reading.
    ///
    /// ```
    /// # use tenure::*;
    /// let dense = Tensor::<f32>::zeros([2, 2, 3])?;
    /// let batch: CsrBatch<f32> = sparse::sparsify(&dense).to_csr_batch()?;
    /// assert_eq!((batch.view().len(), batch.view().nnz()), (2, 0));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn view(&self) -> SparseBatchView<'_, F, T, I> {
        // Row-major: that was checked, or the library has made it so.
        SparseBatchView::over(BatchArrays {
            form: self.form,
            offsets: self.batch_offsets.as_slice().unwrap_or_default(),
            major: self.major.as_slice().unwrap_or_default(),
            minor: self.minor.as_slice().unwrap_or_default(),
            values: self.values.as_slice().unwrap_or_default(),
        })
    }

    /// Lends the batch, its values for writing.
    ///
    /// ```
    /// # use tenure::*;
    /// let dense = Tensor::full([2, 2, 3], 0.5)?;
    /// let mut batch: CsrBatch<f64> = sparse::sparsify(&dense).to_csr_batch()?;
    /// batch.view_mut().get_mut(1).unwrap().values_mut().fill(2.0);
    /// assert_eq!(batch.view().to_dense()?.to_vec(), [[0.5; 6], [2.0; 6]].as_flattened());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn view_mut(&mut self) -> SparseBatchViewMut<'_, F, T, I> {
        SparseBatchViewMut::over(BatchArraysMut {
            form: self.form,
            offsets: self.batch_offsets.as_slice().unwrap_or_default(),
            major: self.major.as_slice().unwrap_or_default(),
            minor: self.minor.as_slice().unwrap_or_default(),
            values: self.values.as_mut_slice().unwrap_or_default(),
        })
    }

    /// The values of all matrices, to be written.
    ///
    /// ```
    /// # use tenure::*;
    /// let dense = Tensor::full([1, 2, 3], 0.5)?;
    /// let mut batch: CsrBatch<f64> = sparse::sparsify(&dense).to_csr_batch()?;
    /// batch.values_mut().fill(2.0);
    /// assert_eq!(batch.view().to_dense()?.to_vec(), [2.0; 6]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn values_mut(&mut self) -> &mut [T] {
        self.values.as_mut_slice().unwrap_or_default()
    }
}

/// Constructors, by the names that arrays have in a format.
macro_rules! named {
    ($(
        $format:ident { $major:ident, $minor:ident $(, $block:ident)? },
        shape $shape:literal, values $values:literal,
        view $view:literal, view_mut $view_mut:literal, matrix $matrix:literal,
        batch $batch:literal, batch_mut $batch_mut:literal;
    )*) => {$(
        /// Construction.
        impl<T: Element, I: SparseIndex> SparseBatch<$format, T, I> {
            /// Adopts four `Vec`s, without a copy, once they are found to be right.
            ///
            /// # Errors
            ///
            /// The errors of the view's `new`; also `InvalidArgument` for entries that no row has,
            /// and `OutOfMemory`: the library's own record of them. The four come back with the
            /// error.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("# let values = ", $values, ";")]
            #[doc = concat!("# let batch = ", $batch, ";")]
            #[doc = concat!("# let ", stringify!($major), " = batch.", stringify!($major),
                "().to_vec();")]
            #[doc = concat!("# let ", stringify!($minor), " = batch.", stringify!($minor),
                "().to_vec();")]
            /// # let (offsets, values) = (batch.batch_offsets().to_vec(), batch.values().to_vec());
            /// let address = values.as_ptr();
            #[doc = concat!("let held = ", stringify!($format), "Batch::from_vecs(", $shape,
                ", offsets, ", stringify!($major), ", ", stringify!($minor), ", values)?;")]
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
                let form = Form::new::<$format>(rows, cols)$(.with_blocks($block))?;
                Self::adopt(form, (batch_offsets, $major, $minor, values))
            }

            /// Holds parts, once they are found to be right.
            ///
            /// # Errors
            ///
            /// The errors of the view's `new`; also `InvalidArgument` for entries that no row has,
            /// and for a part whose elements are not adjacent. The parts come back with the error.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("# let values = ", $values, ";")]
            #[doc = concat!("# let batch = ", $batch, ";")]
            /// # let shared = |indices: &[i32]| -> Result<_> {
            /// #     Ok(Tensor::copy_from_slice(indices, indices.len())?.into_shared())
            /// # };
            #[doc = concat!("# let ", stringify!($major), " = shared(batch.", stringify!($major),
                "())?;")]
            #[doc = concat!("# let ", stringify!($minor), " = shared(batch.", stringify!($minor),
                "())?;")]
            /// # let offsets = Tensor::copy_from_slice(batch.batch_offsets(), 3)?.into_shared();
            /// # let values = Tensor::copy_from_slice(batch.values(), batch.nnz())?;
            #[doc = concat!("let held = ", stringify!($format), "Batch::from_parts(", $shape,
                ", offsets, ", stringify!($major), ", ", stringify!($minor), ", values)?;")]
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
                let form = Form::new::<$format>(rows, cols)$(.with_blocks($block))?;
                Self::hold(form, (batch_offsets, $major, $minor, values))
            }
        }
    )*};
}

for_each_format!(named);

/// Format, size and types, in one line.
impl<F: SparseFormat, T: Element, I: SparseIndex> fmt::Debug for SparseBatch<F, T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().arrays.debug::<F>("Batch", f)
    }
}
