//! Arithmetic of sparse with sparse matrices, of sparse with dense ones, and in place.

use tenure_sys::tnr_binary_op;

use super::{CompressedFormat, CsrViewMut, SparseMatrix, SparseView, SparseViewMut};
use crate::dense::Tensor;
use crate::dtype::{Element, Float, NativeFloat, Number, index::SparseIndex};
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::sparse::calls::algebra as raw;

/// Products of two sparse matrices of f32 or f64, of CSR and CSC. Results are coalesced and have the
/// same bits for any number of threads; what turns out as 0 stays an entry.
impl<F: CompressedFormat, T: NativeFloat, I: SparseIndex> SparseView<'_, F, T, I> {
    /// The product of two sparse matrices. Each sum begins at 0 and takes the products in the order
    /// of the entries of `self` (of CSC: of `b`).
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `b` has not as many rows as `self` has columns; the result has more
    /// entries than `I` counts. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let a = CsrView::new(2, 2, &[0, 1, 3], &[0, 0, 1], &[1.0, 2.0, 3.0])?; // [1 0; 2 3]
    /// assert_eq!(a.product(a)?.values(), [1.0, 8.0, 9.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn product<'b>(
        &self,
        b: impl Into<SparseView<'b, F, T, I>>,
    ) -> Result<SparseMatrix<F, T, I>> {
        SparseMatrix::from_made(raw::product(&self.arrays().lent(), &b.into().arrays().lent())?)
    }

    /// The product only at the entries of `mask`, in their order; the values of `mask` are not
    /// read, and the rest of the product is never stored. Where no product meets an entry of
    /// `mask`, there is none. The bits are those of [`product`](Self::product). For dense matrices
    /// there is [`sddmm`](SparseView::sddmm).
    ///
    /// # Errors
    ///
    /// The errors of [`product`](Self::product); `InvalidArgument` for a mask of another shape than
    /// the product.
    ///
    /// ```
    /// # use tenure::*;
    /// let a = CsrView::new(2, 2, &[0, 1, 3], &[0, 0, 1], &[1.0, 2.0, 3.0])?; // [1 0; 2 3]
    /// let mask = CsrView::new(2, 2, &[0, 1, 2], &[1, 0], &[1_u8, 1])?; // [0 1; 1 0]
    /// assert_eq!(a.product_masked(a, mask)?.values(), [8.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn product_masked<'b, 'm, M: Element>(
        &self,
        b: impl Into<SparseView<'b, F, T, I>>,
        mask: impl Into<SparseView<'m, F, M, I>>,
    ) -> Result<SparseMatrix<F, T, I>> {
        let (b, mask) = (b.into(), mask.into());
        let [a, b] = [self.arrays().lent(), b.arrays().lent()];
        SparseMatrix::from_made(raw::product_masked(&a, &b, &mask.arrays().lent())?)
    }
}

/// Arithmetic with other matrices, of CSR and CSC. Results are coalesced and have the same bits for
/// any number of threads; what turns out as 0 stays an entry.
impl<F: CompressedFormat, T: Number, I: SparseIndex> SparseView<'_, F, T, I> {
    fn binary(
        &self,
        op: tnr_binary_op,
        b: SparseView<'_, F, T, I>,
    ) -> Result<SparseMatrix<F, T, I>> {
        SparseMatrix::from_made(raw::binary(op, &self.arrays().lent(), &b.arrays().lent())?)
    }

    /// The sum, with an entry wherever one of the two has one.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another shape; entries that are not known to be coalesced; more of them
    /// than `I` counts. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let a = CsrView::new(2, 2, &[0, 1, 3], &[0, 0, 1], &[1.0, 2.0, 3.0])?.check_coalesced()?;
    /// assert_eq!(a.add(a)?.values(), [2.0, 4.0, 6.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn add<'b>(&self, b: impl Into<SparseView<'b, F, T, I>>) -> Result<SparseMatrix<F, T, I>> {
        self.binary(tnr_binary_op::ADD, b.into())
    }

    /// The difference, with an entry wherever one of the two has one.
    ///
    /// # Errors
    ///
    /// The errors of [`add`](Self::add).
    ///
    /// ```
    /// # use tenure::*;
    /// let a = CsrView::new(2, 2, &[0, 1, 3], &[0, 0, 1], &[1.0, 2.0, 3.0])?.check_coalesced()?;
    /// assert_eq!(a.sub(a)?.values(), [0.0; 3]); // zeros stay
    /// # Ok::<(), Error>(())
    /// ```
    pub fn sub<'b>(&self, b: impl Into<SparseView<'b, F, T, I>>) -> Result<SparseMatrix<F, T, I>> {
        self.binary(tnr_binary_op::SUB, b.into())
    }

    /// The product element by element, with an entry wherever both have one.
    ///
    /// # Errors
    ///
    /// The errors of [`add`](Self::add).
    ///
    /// ```
    /// # use tenure::*;
    /// let a = CsrView::new(2, 2, &[0, 1, 3], &[0, 0, 1], &[1.0, 2.0, 3.0])?.check_coalesced()?;
    /// assert_eq!(a.mul(a)?.values(), [1.0, 4.0, 9.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn mul<'b>(&self, b: impl Into<SparseView<'b, F, T, I>>) -> Result<SparseMatrix<F, T, I>> {
        self.binary(tnr_binary_op::MUL, b.into())
    }

    /// The lesser elements, where a missing entry is 0; the result has an entry wherever an operand
    /// has one.
    ///
    /// # Errors
    ///
    /// The errors of [`add`](Self::add).
    ///
    /// ```
    /// # use tenure::*;
    /// let a = CsrView::new(2, 2, &[0, 1, 3], &[0, 0, 1], &[1.0, 2.0, 3.0])?.check_coalesced()?;
    /// assert_eq!(a.minimum(a)?.values(), [1.0, 2.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn minimum<'b>(
        &self,
        b: impl Into<SparseView<'b, F, T, I>>,
    ) -> Result<SparseMatrix<F, T, I>> {
        self.binary(tnr_binary_op::MIN, b.into())
    }

    /// The greater elements, where a missing entry is 0; the result has an entry wherever an
    /// operand has one.
    ///
    /// # Errors
    ///
    /// The errors of [`add`](Self::add).
    ///
    /// ```
    /// # use tenure::*;
    /// let a = CsrView::new(2, 2, &[0, 1, 3], &[0, 0, 1], &[1.0, 2.0, 3.0])?.check_coalesced()?;
    /// assert_eq!(a.maximum(a)?.values(), [1.0, 2.0, 3.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn maximum<'b>(
        &self,
        b: impl Into<SparseView<'b, F, T, I>>,
    ) -> Result<SparseMatrix<F, T, I>> {
        self.binary(tnr_binary_op::MAX, b.into())
    }

    /// Adds the entries to dense memory, in place.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another shape. `Unsupported`: elements other than `f32`, `f64`, `i32` and
    /// `i64`.
    ///
    /// ```
    /// # use tenure::*;
    /// let a = CsrView::new(2, 2, &[0, 1, 3], &[0, 0, 1], &[1.0, 2.0, 3.0])?;
    /// let mut dense = [[10.0, 10.0], [10.0, 10.0]];
    /// a.add_to(&mut dense)?;
    /// assert_eq!(dense, [[11.0, 10.0], [12.0, 13.0]]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn add_to(&self, dense: &mut (impl AsViewMut<T> + ?Sized)) -> Result<()> {
        dense.with_view_mut(|out| raw::accumulate(&self.arrays().lent(), out.lent_mut()))
    }
}

/// Scaling in place, of CSR and CSC.
impl<F: CompressedFormat, T: Number, I: SparseIndex> SparseViewMut<'_, F, T, I> {
    /// Multiplies each row by its factor: the product with a diagonal matrix from the left.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: not one factor for each row. `Unsupported`: elements other than `f32`,
    /// `f64`, `i32` and `i64`.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut values = [1.5, 2.5];
    /// let mut matrix = CsrViewMut::new(2, 3, &[0, 1, 2], &[0, 2], &mut values)?;
    /// matrix.scale_rows(&[2.0, 10.0])?;
    /// assert_eq!(values, [3.0, 25.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn scale_rows(&mut self, factors: &(impl AsView<T> + ?Sized)) -> Result<()> {
        factors.with_view(|factors| raw::scale(factors.lent(), 0, &self.lent_mut()))
    }

    /// Multiplies each column by its factor: the product with a diagonal matrix from the right.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: not one factor for each column. `Unsupported`: as
    /// [`scale_rows`](Self::scale_rows).
    ///
    /// ```
    /// # use tenure::*;
    /// let mut values = [1.5, 2.5];
    /// let mut matrix = CsrViewMut::new(2, 3, &[0, 1, 2], &[0, 2], &mut values)?;
    /// matrix.scale_cols(&[2.0, 1.0, 10.0])?;
    /// assert_eq!(values, [3.0, 25.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn scale_cols(&mut self, factors: &(impl AsView<T> + ?Sized)) -> Result<()> {
        factors.with_view(|factors| raw::scale(factors.lent(), 1, &self.lent_mut()))
    }
}

/// Rows of one length.
impl<F: CompressedFormat, T: Float, I: SparseIndex> SparseViewMut<'_, F, T, I> {
    /// Multiplies each row by the reciprocal of its [p-norm](SparseView::row_norms), which is
    /// rounded first. Rows whose norm is 0 stay as they are.
    ///
    /// # Errors
    ///
    /// The errors of [`row_norms`](SparseView::row_norms). `Unsupported`: elements other than `f32`
    /// and `f64`.
    ///
    /// ```
    /// # use tenure::*;
    /// let matrix = CsrMatrix::from_vecs(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, -3.0, 5.0])?;
    /// let mut matrix = matrix.check_coalesced()?;
    /// matrix.view_mut().normalize_rows(1.0)?;
    /// assert_eq!(matrix.values(), [0.25, -0.75, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn normalize_rows(&mut self, p: f64) -> Result<()> {
        let mut factors = self.view().row_norms(p)?;
        self.bring_near_one(&mut factors)?;
        for factor in factors.view_mut().iter_mut() {
            let norm = factor.to_double();
            *factor = T::of_double(if norm == 0.0 { 1.0 } else { norm.recip() });
        }
        self.scale_rows(&factors)
    }

    /// Multiplies rows by powers of two where the reciprocals of their norms would overflow or lose
    /// digits, and the norms too.
    fn bring_near_one(&mut self, norms: &mut Tensor<T>) -> Result<()> {
        let far = 2.0_f64.powi(if size_of::<T>() == 8 { 1000 } else { 100 });
        let power_for = |norm: f64| match norm {
            _ if norm >= far && norm.is_finite() => far.recip(),
            _ if norm > 0.0 && norm < far.recip() => far,
            _ => 1.0,
        };
        if norms.view().iter().all(|norm| power_for(norm.to_double()) == 1.0) {
            return Ok(());
        }
        let mut powers = Tensor::<T>::zeros([norms.len()])?;
        for (power, norm) in powers.view_mut().iter_mut().zip(norms.view_mut().iter_mut()) {
            *power = T::of_double(power_for(norm.to_double()));
            *norm = T::of_double(norm.to_double() * power.to_double());
        }
        self.scale_rows(&powers)
    }
}

/// Row by row.
impl<T: Float, I: SparseIndex> CsrViewMut<'_, T, I> {
    /// Replaces the entries of each row by their softmax, in place. Elements without an entry
    /// take no part, as if they were -infinity.
    ///
    /// # Errors
    ///
    /// `Unsupported`: elements other than `f32` and `f64`.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut values = [7.0, 7.0, -3.0];
    /// CsrViewMut::new(2, 3, &[0, 2, 3], &[0, 2, 1], &mut values)?.softmax_rows()?;
    /// assert_eq!(values, [0.5, 0.5, 1.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias = "softmax")]
    pub fn softmax_rows(&mut self) -> Result<()> {
        raw::softmax(&self.lent_mut())
    }
}
