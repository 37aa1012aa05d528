//! Eigenvalues of symmetric matrices, and singular values.

use super::operand::{self, Matrix};
use crate::dense::{Tensor, TensorView};
use crate::dtype::NativeFloat;
use crate::error::Result;
use crate::layout::order::Order;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Vectors {
    Computed,
    /// Their tensors have no columns.
    Omitted,
}

/// The eigenvalues of a symmetric matrix, in rising order, and its eigenvectors, a column each.
pub(super) fn symmetric<T: NativeFloat>(
    operation: &'static str,
    a: TensorView<'_, T>,
    vectors: Vectors,
) -> Result<[Tensor<T>; 2]> {
    let (matrix, largest) = Matrix::lower(operation, a)?;
    let order = matrix.extents[0];
    let count = if vectors == Vectors::Computed { order } else { 0 };
    let mut columns = Tensor::zeros_in([order, count], Order::ColumnMajor)?;
    let mut values = Tensor::zeros(order)?;
    if order > 0 {
        let rescaled = matrix.rescaled(largest)?;
        let lent = match &rescaled {
            Some((copy, _)) => operand::lent(copy)?,
            None => matrix.lent()?,
        };
        let lent_columns = if count > 0 { Some(operand::lent_mut(&mut columns)?) } else { None };
        T::eigh(lent, values.as_mut(), lent_columns)?
            .map_err(|_| operand::endless(operation, matrix.extents))?;
        if let Some((_, factor)) = rescaled {
            operand::multiply(&mut values, factor);
        }
    }
    Ok([values, columns])
}

/// Left singular vectors in columns, singular values in falling order, right vectors in rows.
pub(super) fn singular<T: NativeFloat>(
    operation: &'static str,
    a: TensorView<'_, T>,
    vectors: Vectors,
) -> Result<[Tensor<T>; 3]> {
    let matrix = Matrix::new(operation, a)?;
    let [rows, cols] = matrix.extents;
    let order = rows.min(cols);
    let count = if vectors == Vectors::Computed { order } else { 0 };
    let mut left = Tensor::zeros_in([rows, count], Order::ColumnMajor)?;
    // Row-major: its transpose is the column-major matrix that is computed.
    let mut right = Tensor::zeros([count, cols])?;
    let mut values = Tensor::zeros(order)?;
    if order > 0 {
        let rescaled = matrix.rescaled(matrix.largest()?)?;
        let lent = match &rescaled {
            Some((copy, _)) => operand::lent(copy)?,
            None => matrix.lent()?,
        };
        let lent_columns = match vectors {
            Vectors::Computed => {
                let right = operand::lent_mut(&mut right)?.transpose_mut();
                Some([operand::lent_mut(&mut left)?, right])
            }
            Vectors::Omitted => None,
        };
        T::svd(lent, values.as_mut(), lent_columns)?
            .map_err(|_| operand::endless(operation, matrix.extents))?;
        if let Some((_, factor)) = rescaled {
            operand::multiply(&mut values, factor);
        }
    }
    Ok([left, values, right])
}
