//! Diagonal preconditioners.

use super::LinearOperator;
use crate::dense::Tensor;
use crate::dtype::{NativeFloat, index::SparseIndex};
use crate::error::reserved;
use crate::error::{Error, Result};
use crate::sparse::{format::CompressedFormat, view::SparseView};

/// The inverse of a diagonal matrix: the preconditioner of Jacobi.
///
/// ```
/// use tenure::{CsrView, Jacobi, LinearOperator};
///
/// let a = CsrView::new(2, 2, &[0, 2, 3], &[0, 1, 1], &[2.0, 1.0, 4.0])?;
/// let mut out = [0.0; 2];
/// Jacobi::new(a)?.apply_into(&[1.0, 1.0], &mut out)?;
/// assert_eq!(out, [0.5, 0.25]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Debug)]
pub struct Jacobi<T: NativeFloat> {
    reciprocals: Tensor<T>,
}

impl<T: NativeFloat> Jacobi<T> {
    /// By the diagonal of a square matrix, for [`cg`](crate::linalg::cg) and
    /// [`bicgstab`](crate::linalg::bicgstab).
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a matrix that is not square; a diagonal that is 0, that has no entry, or
    /// whose reciprocal is not finite, with its row. `OutOfMemory`.
    pub fn new<F: CompressedFormat, I: SparseIndex>(a: SparseView<'_, F, T, I>) -> Result<Self> {
        let extents = a.extents();
        if extents[0] != extents[1] {
            return Err(Error::invalid(format!(
                "jacobi: a has shape {extents:?} but must be square"
            )));
        }
        let reciprocals = a.diagonal()?;
        Self::inverted(reciprocals, |row, value| {
            Error::invalid(format!(
                "jacobi: a[{row}, {row}] is {value}, which has no finite reciprocal"
            ))
        })
    }

    /// By the lengths of the columns of any matrix, for [`lsqr`](crate::linalg::lsqr). A column of
    /// zeros counts as one of length 1: it takes no part.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a length, or its reciprocal, that is not finite, with its column.
    /// `OutOfMemory`.
    ///
    /// ```
    /// use tenure::{CsrView, Jacobi, LinearOperator};
    ///
    /// let a = CsrView::new(2, 2, &[0, 1, 2], &[0, 0], &[3.0, 4.0])?;
    /// let mut out = [0.0; 2];
    /// Jacobi::of_columns(a)?.apply_into(&[1.0, 1.0], &mut out)?;
    /// assert_eq!(out, [0.2, 1.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn of_columns<F: CompressedFormat, I: SparseIndex>(
        a: SparseView<'_, F, T, I>,
    ) -> Result<Self> {
        // Squares of elements divided by the largest of their column are in range.
        let (mut largest, mut squares) =
            (reserved(a.cols(), "columns")?, reserved(a.cols(), "columns")?);
        largest.resize(a.cols(), 0.0_f64);
        squares.resize(a.cols(), 0.0_f64);
        for (_, col, value) in a.iter() {
            let magnitude = value.to_f64().abs();
            if magnitude > largest[col] || magnitude.is_nan() {
                largest[col] = magnitude;
            }
        }
        for (_, col, value) in a.iter() {
            squares[col] += (value.to_f64() / largest[col]).powi(2);
        }
        let mut lengths = Tensor::zeros(a.cols())?;
        let of_columns = largest.iter().zip(&squares);
        for (length, (&largest, &squares)) in lengths.as_mut().iter_mut().zip(of_columns) {
            *length = match largest {
                0.0 => T::ONE,
                _ if largest.is_infinite() => T::from_f64(largest),
                _ => T::from_f64(largest * squares.sqrt()),
            };
        }
        Self::inverted(lengths, |column, value| {
            Error::invalid(format!(
                "jacobi: column {column} of a has length {value}, which has no finite reciprocal"
            ))
        })
    }

    fn inverted(mut values: Tensor<T>, refuse: impl Fn(usize, T) -> Error) -> Result<Self> {
        for (place, value) in values.as_mut().iter_mut().enumerate() {
            let reciprocal = T::ONE / *value;
            if !(value.finite() && reciprocal.finite()) {
                return Err(refuse(place, *value));
            }
            *value = reciprocal;
        }
        Ok(Jacobi { reciprocals: values })
    }
}

impl<T: NativeFloat> LinearOperator<T> for Jacobi<T> {
    fn extents(&self) -> [usize; 2] {
        [self.reciprocals.len(); 2]
    }

    fn apply_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        for ((out, &x), &reciprocal) in out.iter_mut().zip(x).zip(self.reciprocals.as_ref()) {
            *out = x * reciprocal;
        }
        Ok(())
    }

    fn apply_transposed_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        self.apply_into(x, out)
    }
}
