//! Square matrices.

use super::operand::{self, Matrix};
use crate::dense::{Tensor, TensorView};
use crate::dtype::backend::Range;
use crate::dtype::{NativeFloat, triangle::Triangle};
use crate::error::Result;
use crate::operand::AsView;

/// The factorisation `P a = L U` of a square matrix, with partial pivoting: `P` orders rows, `L` is
/// lower triangular with ones on its diagonal, `U` is upper triangular.
///
/// ```
/// use tenure::linalg::Lu;
///
/// let factors = Lu::new(&[[0.0, 2.0], [4.0, 1.0]])?;
/// assert_eq!(factors.permutation(), [1, 0]);
/// assert_eq!(factors.u()?.to_vec(), [4.0, 1.0, 0.0, 2.0]);
/// assert_eq!(factors.solve(&[2.0, 5.0])?.to_vec(), [1.0, 1.0]);
/// assert_eq!(factors.det(), -8.0);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Debug)]
pub struct Lu<T: NativeFloat> {
    /// Column-major: `U`, and below it `L`.
    factors: Tensor<T>,
    permutation: Vec<usize>,
    inverse: Vec<usize>,
    swaps: usize,
    /// The range of `U`.
    range: Range,
}

impl<T: NativeFloat> Lu<T> {
    /// Factorises a copy of `a`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `a` is no square matrix, has a pivot of exactly 0, or a NaN or an
    /// infinity. `OutOfMemory`.
    pub fn new(a: impl AsView<T>) -> Result<Self> {
        Self::of("lu", a.as_view())?.map_err(|pivot| operand::singular("lu", pivot))
    }

    /// The factors, or the first pivot that is 0; what comes after it is not computed.
    pub(super) fn of(
        operation: &'static str,
        a: TensorView<'_, T>,
    ) -> Result<std::result::Result<Self, usize>> {
        let matrix = Matrix::square(operation, a)?;
        let order = matrix.extents[0];
        let mut factors = matrix.copied()?;
        let (mut permutation, mut inverse) = (operand::indices(order)?, operand::indices(order)?);
        let mut swaps = 0;
        if order > 0 {
            let both = [&mut permutation[..], &mut inverse[..]];
            swaps = T::lu(operand::lent_mut(&mut factors)?, both)?;
        }
        let view = factors.view();
        if let Some(pivot) = (0..order).find(|&place| view[[place, place]] == T::ZERO) {
            return Ok(Err(pivot));
        }
        operand::require_in_range(operation, &factors)?;
        let range = operand::range_above(&factors);
        Ok(Ok(Lu { factors, permutation, inverse, swaps, range }))
    }

    /// `L`, column-major.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    pub fn l(&self) -> Result<Tensor<T>> {
        let mut l = self.factors.try_clone()?;
        operand::clear_above_diagonal(&mut l);
        operand::fill_diagonal(&mut l, T::ONE);
        Ok(l)
    }

    /// `U`, column-major.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    pub fn u(&self) -> Result<Tensor<T>> {
        let mut u = self.factors.try_clone()?;
        operand::clear_below_diagonal(&mut u);
        Ok(u)
    }

    /// `P`: row i of `P a` is the row of `a` at this index.
    pub fn permutation(&self) -> &[usize] {
        &self.permutation
    }

    /// The x of a x = b; `b` is `[n]`, or `[n, k]` for k systems at once.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another shape of `b`, a NaN or an infinity in it. `OutOfMemory`.
    pub fn solve(&self, b: impl AsView<T>) -> Result<Tensor<T>> {
        self.solve_for("lu solve", b.as_view())
    }

    pub(super) fn solve_for(
        &self,
        operation: &'static str,
        b: TensorView<'_, T>,
    ) -> Result<Tensor<T>> {
        let order = self.permutation.len();
        let mut x = operand::right_side(operation, [order, order], b)?;
        if !x.is_empty() {
            T::permute_rows(operand::columns(&mut x)?, [&self.permutation, &self.inverse])?;
            let factors = operand::lent(&self.factors)?;
            T::substitute(Triangle::UnitLower, self.range, factors, operand::columns(&mut x)?);
            T::substitute(Triangle::Upper, self.range, factors, operand::columns(&mut x)?);
        }
        Ok(x)
    }

    /// The determinant: 1 of a matrix without elements. It is infinite or 0 only where the product
    /// of the pivots is out of the range of its type.
    pub fn det(&self) -> T {
        let sign = if self.swaps % 2 == 0 { T::ONE } else { -T::ONE };
        let diagonal = self.factors.view().diagonal(0).expect("factors have two axes");
        sign * crate::ops::prod_all(diagonal).expect("floats have a product")
    }

    /// The inverse, row-major. To multiply by it is more work than [`solve`](Self::solve), and less
    /// exact.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    pub fn inverse(&self) -> Result<Tensor<T>> {
        let order = self.permutation.len();
        let mut identity = Tensor::zeros([order, order])?;
        operand::fill_diagonal(&mut identity, T::ONE);
        self.solve(identity)
    }
}
