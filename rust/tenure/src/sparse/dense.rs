//! From dense to sparse, and back.

use tenure_sys::{
    TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO, tnr_sparse_format, tnr_sparse_order, tnr_sparse_predicate,
};

use super::{
    BsrBatch, BsrMatrix, CooBatch, CooMatrix, CscBatch, CscMatrix, CsrBatch, CsrMatrix,
    SparseFormat, SparseIndex, SparseMatrix, SparseView,
};
use crate::dense::{SharedTensor, Tensor, TensorView};
use crate::dtype::{Bool8, Element, Float, Number};
use crate::error::{Error, Result};
use crate::operand::{AsView, AsViewMut};
use crate::sparse::calls::{
    Made, SparseOptions, from_dense, from_dense_dropout, from_dense_top_k, to_dense,
};

/// Begins a conversion from a dense matrix to a sparse one; without more, of the elements that are
/// not zero.
///
/// ```
/// use tenure::{CsrMatrix, sparse::sparsify};
///
/// let dense = [[0.0, -2.0, 0.5], [3.0, 0.0, 0.1]];
/// let matrix: CsrMatrix<f64> = sparsify(&dense).above_in_magnitude(0.25).to_csr()?;
/// assert_eq!(matrix.values(), [-2.0, 0.5, 3.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn sparsify<'a, T: Element>(dense: &'a (impl AsView<T> + ?Sized)) -> Sparsify<'a, T> {
    Sparsify { dense: dense.as_view(), options: SparseOptions::new() }
}

/// A conversion from a dense matrix to a sparse one, of elements that are chosen: by [`sparsify`].
/// NaN is always chosen, whatever it is compared with.
///
/// The formats that it can be converted to are methods. Each reads the elements once, computes on
/// the threads of the context in use, and gives a matrix that is
/// [coalesced](SparseView::is_coalesced), the same for any number of threads. Each errs with
/// `InvalidArgument` for a rank that is not 2, a mask of another shape, two of
/// `keep_negative_zero`, a mask and a threshold, and more entries than the indices can count (use
/// `i64` then); `Unsupported` for numbers of 16 bytes; and `OutOfMemory`.
pub struct Sparsify<'a, T: Element> {
    dense: TensorView<'a, T>,
    options: SparseOptions<'a>,
}

/// Which elements.
impl<'a, T: Element> Sparsify<'a, T> {
    /// -0.0 as well, which otherwise is a zero.
    ///
    /// ```
    /// use tenure::{CooMatrix, sparse::sparsify};
    ///
    /// let matrix: CooMatrix<f32> = sparsify(&[[0.0, -0.0]]).keep_negative_zero().to_coo()?;
    /// assert_eq!(matrix.col_indices(), [1]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn keep_negative_zero(mut self) -> Self {
        self.options.set_flags(TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO);
        self
    }

    /// Chooses the elements for which the mask, a matrix of the same shape, is true, whatever their
    /// values.
    ///
    /// ```
    /// use tenure::{Bool8, CooMatrix, sparse::sparsify};
    ///
    /// let mask = [[1_u8, 0, 1]].map(|row| row.map(Bool8::from_byte));
    /// let matrix: CooMatrix<f32> = sparsify(&[[0.0, 1.0, 2.0]]).masked(&mask).to_coo()?;
    /// assert_eq!(matrix.values(), [0.0, 2.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn masked(mut self, mask: &'a (impl AsView<Bool8> + ?Sized)) -> Self {
        self.options.set_mask(&mask.as_view());
        self
    }
}

/// Which elements, by their size.
impl<T: Number> Sparsify<'_, T> {
    /// Chooses the elements above the threshold. Where that is negative, zeros are entries too.
    ///
    /// The conversion errs with `InvalidArgument` for a threshold that is NaN.
    ///
    /// ```
    /// use tenure::{CsrMatrix, sparse::sparsify};
    ///
    /// let matrix: CsrMatrix<i32> = sparsify(&[[3, -4, 1]]).above(1).to_csr()?;
    /// assert_eq!(matrix.values(), [3]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn above(mut self, threshold: T) -> Self {
        self.options.set_threshold(tnr_sparse_predicate::GREATER, threshold);
        self
    }

    /// Chooses the elements whose magnitude is above the threshold.
    ///
    /// The conversion errs with `InvalidArgument` for a threshold that is NaN or negative.
    ///
    /// ```
    /// use tenure::{CsrMatrix, sparse::sparsify};
    ///
    /// let matrix: CsrMatrix<i32> = sparsify(&[[3, -4, 1]]).above_in_magnitude(1).to_csr()?;
    /// assert_eq!(matrix.values(), [3, -4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn above_in_magnitude(mut self, threshold: T) -> Self {
        self.options.set_threshold(tnr_sparse_predicate::MAGNITUDE_GREATER, threshold);
        self
    }
}

/// To which format.
impl<T: Element> Sparsify<'_, T> {
    fn made<I: SparseIndex>(self, format: tnr_sparse_format) -> Result<Made> {
        self.made_of_rank::<I>(2, format)
    }

    fn made_of_rank<I: SparseIndex>(
        mut self,
        wanted: usize,
        format: tnr_sparse_format,
    ) -> Result<Made> {
        let rank = self.dense.rank();
        if rank != wanted {
            let what = if wanted == 2 { "" } else { ", of a batch of matrices" };
            return Err(Error::invalid(format!("dense.rank is {rank} but must be {wanted}{what}")));
        }
        self.options.set_format::<I>(format);
        from_dense(self.dense.lent(), &self.options)
    }

    /// A batch by coordinates, of elements `[matrices, rows, cols]`; a mask has this shape too.
    ///
    /// # Errors
    ///
    /// The errors of the [type](Self), where the rank must be 3 instead of 2.
    ///
    /// ```
    /// # use tenure::*;
    /// let batch: CooBatch<i32> = sparse::sparsify(&[[[0, 1]], [[2, 0]]]).to_coo_batch()?;
    /// assert_eq!(batch.view().get(1).unwrap().col_indices(), [0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_coo_batch<I: SparseIndex>(self) -> Result<CooBatch<T, I>> {
        CooBatch::from_made(self.made_of_rank::<I>(3, tnr_sparse_format::COO)?)
    }

    /// A batch by compressed rows, of elements `[matrices, rows, cols]`.
    ///
    /// # Errors
    ///
    /// The errors of [`to_coo_batch`](Self::to_coo_batch).
    ///
    /// ```
    /// # use tenure::*;
    /// let batch: CsrBatch<i32, i64> = sparse::sparsify(&[[[0, 1]], [[2, 3]]]).to_csr_batch()?;
    /// assert_eq!(batch.view().row_offsets(), [0, 1, 0, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_csr_batch<I: SparseIndex>(self) -> Result<CsrBatch<T, I>> {
        CsrBatch::from_made(self.made_of_rank::<I>(3, tnr_sparse_format::CSR)?)
    }

    /// A batch by compressed columns, of elements `[matrices, rows, cols]`.
    ///
    /// # Errors
    ///
    /// The errors of [`to_coo_batch`](Self::to_coo_batch).
    ///
    /// ```
    /// # use tenure::*;
    /// let batch: CscBatch<i32> = sparse::sparsify(&[[[0, 1]], [[2, 3]]]).to_csc_batch()?;
    /// assert_eq!(batch.view().col_offsets(), [0, 0, 1, 0, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_csc_batch<I: SparseIndex>(self) -> Result<CscBatch<T, I>> {
        CscBatch::from_made(self.made_of_rank::<I>(3, tnr_sparse_format::CSC)?)
    }

    /// A batch by compressed rows of blocks with the rows and columns of `block`, of elements
    /// `[matrices, rows, cols]`.
    ///
    /// # Errors
    ///
    /// The errors of [`to_coo_batch`](Self::to_coo_batch) and [`to_bsr`](Self::to_bsr).
    ///
    /// ```
    /// # use tenure::*;
    /// let batch: BsrBatch<i32> = sparse::sparsify(&[[[0, 1]], [[0, 0]]]).to_bsr_batch([1, 2])?;
    /// assert_eq!(batch.view().values(), [0, 1]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_bsr_batch<I: SparseIndex>(mut self, block: [usize; 2]) -> Result<BsrBatch<T, I>> {
        self.options.set_block(block)?;
        BsrBatch::from_made(self.made_of_rank::<I>(3, tnr_sparse_format::BSR)?)
    }

    /// To coordinates.
    ///
    /// # Errors
    ///
    /// The errors of the [type](Self).
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix: CooMatrix<f32, i64> = sparse::sparsify(&[[0.0, 1.0], [2.0, 0.0]]).to_coo()?;
    /// assert_eq!((matrix.row_indices(), matrix.col_indices()), (&[0, 1][..], &[1, 0][..]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_coo<I: SparseIndex>(self) -> Result<CooMatrix<T, I>> {
        CooMatrix::from_made(self.made::<I>(tnr_sparse_format::COO)?)
    }

    /// To compressed rows.
    ///
    /// # Errors
    ///
    /// The errors of the [type](Self).
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix: CsrMatrix<f32, i64> = sparse::sparsify(&[[0.0, 1.0], [2.0, 0.0]]).to_csr()?;
    /// assert_eq!(matrix.row_offsets(), [0, 1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias("to_sparse_csr", "csr_matrix"))]
    pub fn to_csr<I: SparseIndex>(self) -> Result<CsrMatrix<T, I>> {
        CsrMatrix::from_made(self.made::<I>(tnr_sparse_format::CSR)?)
    }

    /// To compressed columns.
    ///
    /// # Errors
    ///
    /// The errors of the [type](Self).
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix: CscMatrix<f32> = sparse::sparsify(&[[0.0, 1.0], [2.0, 0.0]]).to_csc()?;
    /// assert_eq!(matrix.row_indices(), [1, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_csc<I: SparseIndex>(self) -> Result<CscMatrix<T, I>> {
        CscMatrix::from_made(self.made::<I>(tnr_sparse_format::CSC)?)
    }

    /// To compressed rows of blocks with the rows and columns of `block`: the blocks that have an
    /// entry, with all of their elements.
    ///
    /// # Errors
    ///
    /// The errors of the [type](Self); also `InvalidArgument` for blocks that do not divide the
    /// shape, and `Unsupported` for more than 16 rows or columns.
    ///
    /// ```
    /// # use tenure::*;
    /// let dense = [[0, 0, 1, 0], [0, 0, 2, 3]];
    /// let matrix: BsrMatrix<i32> = sparse::sparsify(&dense).to_bsr([2, 2])?;
    /// assert_eq!((matrix.col_indices(), matrix.values()), (&[1][..], &[1, 0, 2, 3][..]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_bsr<I: SparseIndex>(mut self, block: [usize; 2]) -> Result<BsrMatrix<T, I>> {
        self.options.set_block(block)?;
        BsrMatrix::from_made(self.made::<I>(tnr_sparse_format::BSR)?)
    }
}

/// The entries of `max(dense, 0)`: those above 0. The dense result never exists.
///
/// # Errors
///
/// The errors of [`Sparsify`].
///
/// ```
/// use tenure::sparse::sparse_relu;
///
/// let matrix = sparse_relu(&[[0.5, -2.0, 0.0], [-1.0, 3.0, 0.0]])?;
/// assert_eq!(matrix.row_offsets(), [0, 1, 2]);
/// assert_eq!(matrix.values(), [0.5, 3.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn sparse_relu<T: Number + Default>(dense: &(impl AsView<T> + ?Sized)) -> Result<CsrMatrix<T>> {
    sparsify(dense).above(T::default()).to_csr()
}

/// The `k` largest elements of each row of a dense matrix; of equals the first. Each row has `k`
/// entries, zeros too if they are among the largest. NaN is less than everything.
///
/// # Errors
///
/// `InvalidArgument`: a rank that is not 2; `k` is above the number of columns; more entries than
/// `I` counts. `Unsupported`: integers of 64 bits. `OutOfMemory`.
///
/// ```
/// use tenure::{CsrMatrix, sparse::sparse_top_k};
///
/// let matrix: CsrMatrix<f64> = sparse_top_k(&[[0.5, -2.0, 1.0], [-1.0, 3.0, 0.0]], 2)?;
/// assert_eq!(matrix.col_indices(), [0, 2, 1, 2]);
/// assert_eq!(matrix.values(), [0.5, 1.0, 3.0, 0.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn sparse_top_k<T: Number, I: SparseIndex>(
    dense: &(impl AsView<T> + ?Sized),
    k: usize,
) -> Result<CsrMatrix<T, I>> {
    let order = tnr_sparse_order::VALUE;
    CsrMatrix::from_made(dense.with_view(|dense| from_dense_top_k::<I>(dense.lent(), k, order))?)
}

/// The `k` elements of each row of a dense matrix that are the largest in magnitude, as
/// [`sparse_top_k`].
///
/// # Errors
///
/// As that.
///
/// ```
/// use tenure::{CsrMatrix, sparse::sparse_top_k_in_magnitude};
///
/// let dense = [[0.5, -2.0, 1.0], [-1.0, 3.0, 0.0]];
/// let matrix: CsrMatrix<f64> = sparse_top_k_in_magnitude(&dense, 1)?;
/// assert_eq!(matrix.values(), [-2.0, 3.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn sparse_top_k_in_magnitude<T: Number, I: SparseIndex>(
    dense: &(impl AsView<T> + ?Sized),
    k: usize,
) -> Result<CsrMatrix<T, I>> {
    let order = tnr_sparse_order::MAGNITUDE;
    CsrMatrix::from_made(dense.with_view(|dense| from_dense_top_k::<I>(dense.lent(), k, order))?)
}

/// Dropout: each element of a dense matrix becomes 0 with this probability, and is multiplied by
/// `1 / (1 - probability)` otherwise; the entries are the elements that are not 0 then. The dense
/// result never exists.
///
/// Whether an element is dropped depends only on the seed and on its index in row-major order: not
/// on the number of threads.
///
/// # Errors
///
/// `InvalidArgument`: a rank that is not 2; a probability that is not at least 0 and below 1; more
/// entries than `I` counts. `OutOfMemory`.
///
/// ```
/// use tenure::{CsrMatrix, sparse::sparse_dropout};
///
/// let dense = [[1.0_f32; 100]; 100];
/// let matrix: CsrMatrix<f32> = sparse_dropout(&dense, 0.75, 42)?;
/// assert!(matrix.nnz() > 2300 && matrix.nnz() < 2700);
/// assert!(matrix.values().iter().all(|value| *value == 4.0));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn sparse_dropout<T: Float, I: SparseIndex>(
    dense: &(impl AsView<T> + ?Sized),
    probability: f64,
    seed: u64,
) -> Result<CsrMatrix<T, I>> {
    let made = dense.with_view(|dense| from_dense_dropout::<I>(dense.lent(), probability, seed))?;
    CsrMatrix::from_made(made)
}

/// The elements of `dense` above a threshold, as entries; all others become 0.
///
/// # Errors
///
/// The errors of [`Sparsify`]; also `InvalidArgument` for a threshold that is NaN.
///
/// ```
/// use tenure::sparse::sparse_threshold;
///
/// let matrix = sparse_threshold(&[[0.5, -2.0, 0.2], [-1.0, 3.0, 0.0]], 0.25)?;
/// assert_eq!(matrix.values(), [0.5, 3.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn sparse_threshold<T: Number>(
    dense: &(impl AsView<T> + ?Sized),
    threshold: T,
) -> Result<CsrMatrix<T>> {
    sparsify(dense).above(threshold).to_csr()
}

/// The conversions of dense matrices, with `i32` indices.
macro_rules! dense_conversions {
    ($($name:ident $(<$life:lifetime>)?, example $make:literal;)*) => {$(
        /// To sparse: the elements that are not zero. [`sparsify`](crate::sparse::sparsify) chooses
        /// others, and `i64` indices.
        impl<T: Element> $name<$($life,)? T> {
            /// The matrix by coordinates.
            ///
            /// # Errors
            ///
            /// The errors of [`Sparsify`](crate::Sparsify).
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let dense = ", $make, ";")]
            /// let matrix = dense.to_coo()?;
            /// assert_eq!(matrix.row_indices(), [0, 1]);
            /// assert_eq!(matrix.col_indices(), [1, 0]);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn to_coo(&self) -> Result<CooMatrix<T>> {
                sparsify(self).to_coo()
            }

            /// The matrix by compressed rows.
            ///
            /// # Errors
            ///
            /// The errors of [`Sparsify`](crate::Sparsify).
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let dense = ", $make, ";")]
            /// assert_eq!(dense.to_csr()?.row_offsets(), [0, 1, 2]);
            /// # Ok::<(), Error>(())
            /// ```
            #[doc(alias("to_sparse_csr", "csr_matrix"))]
            pub fn to_csr(&self) -> Result<CsrMatrix<T>> {
                sparsify(self).to_csr()
            }

            /// The matrix by compressed columns.
            ///
            /// # Errors
            ///
            /// The errors of [`Sparsify`](crate::Sparsify).
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let dense = ", $make, ";")]
            /// assert_eq!(dense.to_csc()?.row_indices(), [1, 0]);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn to_csc(&self) -> Result<CscMatrix<T>> {
                sparsify(self).to_csc()
            }

            /// The matrix by compressed rows of blocks with the rows and columns of `block`.
            ///
            /// # Errors
            ///
            /// The errors of [`Sparsify::to_bsr`](crate::Sparsify::to_bsr).
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let dense = ", $make, ";")]
            /// assert_eq!(dense.to_bsr([2, 1])?.values(), [0.0, 2.0, 1.5, 0.0]);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn to_bsr(&self, block: [usize; 2]) -> Result<BsrMatrix<T>> {
                sparsify(self).to_bsr(block)
            }

            /// From elements `[matrices, rows, cols]` to matrices by compressed rows. Other formats
            /// are methods of [`sparsify`](crate::sparse::sparsify).
            ///
            /// # Errors
            ///
            /// The errors of [`Sparsify::to_csr_batch`](crate::Sparsify::to_csr_batch).
            ///
            /// ```
            /// # use tenure::*;
            #[doc = concat!("let dense = ", $make, ";")]
            /// let batch = dense.as_view().reshape([2, 1, 2])?.to_csr_batch()?;
            /// assert_eq!(batch.view().batch_offsets(), [0, 1, 2]);
            /// # Ok::<(), Error>(())
            /// ```
            pub fn to_csr_batch(&self) -> Result<CsrBatch<T>> {
                sparsify(self).to_csr_batch()
            }
        }
    )*};
}

dense_conversions! {
    TensorView<'_>, example "[[0.0, 1.5], [2.0, 0.0]]; let dense = dense.as_view()";
    Tensor, example "Tensor::from_vec(vec![0.0, 1.5, 2.0, 0.0], [2, 2])?";
    SharedTensor, example "Tensor::from_vec(vec![0.0, 1.5, 2.0, 0.0], [2, 2])?.into_shared()";
}

/// To dense.
impl<F: SparseFormat, T: Element, I: SparseIndex> SparseView<'_, F, T, I> {
    /// A new matrix with zeros and the entries. Several for one position are added up.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`; `Unsupported` for elements without a sum, [`Bool8`] and complex ones,
    /// where the entries are not known to be [coalesced](Self::check_coalesced).
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?;
    /// assert_eq!(matrix.view().to_dense()?.to_vec(), [1.5, 0.0, 0.0, 0.0, 0.0, 2.5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[allow(unsafe_code)]
    #[doc(alias("toarray", "todense"))]
    pub fn to_dense(&self) -> Result<Tensor<T>> {
        let lent = self.arrays().lent();
        // SAFETY: `to_dense` writes every element of its output when it answers OK, and reads none
        // before.
        unsafe { Tensor::written_by(&[self.rows(), self.cols()], |out| to_dense(&lent, out)) }
    }

    /// Writes zeros and the entries to a matrix of the same shape.
    ///
    /// # Errors
    ///
    /// The errors of [`to_dense`](Self::to_dense); `InvalidArgument` for another shape, and
    /// `Aliased` for an output that shares memory with the values.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?;
    /// let mut out = [[9.0; 3]; 2];
    /// matrix.view().to_dense_into(&mut out)?;
    /// assert_eq!(out, [[1.5, 0.0, 0.0], [0.0, 0.0, 2.5]]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_dense_into(&self, out: &mut (impl AsViewMut<T> + ?Sized)) -> Result<()> {
        let lent = self.arrays().lent();
        out.with_view_mut(|out| to_dense(&lent, out.lent_mut()))
    }
}

/// To dense.
impl<F: SparseFormat, T: Element, I: SparseIndex> SparseMatrix<F, T, I> {
    /// Does the same as [`SparseView::to_dense`].
    ///
    /// # Errors
    ///
    /// The errors of that method.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?;
    /// assert_eq!(matrix.to_dense()?.to_vec(), [1.5, 0.0, 0.0, 0.0, 0.0, 2.5]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias("toarray", "todense"))]
    pub fn to_dense(&self) -> Result<Tensor<T>> {
        self.view().to_dense()
    }

    /// Does the same as [`SparseView::to_dense_into`].
    ///
    /// # Errors
    ///
    /// The errors of that method.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrMatrix::from_vecs(2, 3, vec![0, 1, 2], vec![0, 2], vec![1.5, 2.5])?;
    /// let mut out = [[9.0; 3]; 2];
    /// matrix.to_dense_into(&mut out)?;
    /// assert_eq!(out, [[1.5, 0.0, 0.0], [0.0, 0.0, 2.5]]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_dense_into(&self, out: &mut (impl AsViewMut<T> + ?Sized)) -> Result<()> {
        self.view().to_dense_into(out)
    }
}
