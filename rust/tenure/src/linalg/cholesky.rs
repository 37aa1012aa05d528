//! Symmetric matrices: Cholesky's factorisation of positive definite ones, Bunch and Kaufman's of
//! others.

use super::operand::{self, Matrix};
use crate::dense::{Tensor, TensorView};
use crate::dtype::backend::Range;
use crate::dtype::{NativeFloat, triangle::Triangle};
use crate::error::{Error, Result};
use crate::operand::AsView;

/// The factorisation `a = L Lᵀ` of a symmetric positive definite matrix: `L` is lower triangular.
///
/// Half the work of [`Lu`](super::Lu), and the way to ask whether a matrix is positive definite.
/// The lower triangle of `a` is read, and nothing above it.
///
/// ```
/// use tenure::linalg::Cholesky;
///
/// let factors = Cholesky::new(&[[4.0, 2.0], [2.0, 5.0]])?;
/// assert_eq!(factors.l().to_vec(), [2.0, 0.0, 1.0, 2.0]);
/// assert_eq!(factors.solve(&[6.0, 7.0])?.to_vec(), [1.0, 1.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Debug)]
pub struct Cholesky<T: NativeFloat> {
    l: Tensor<T>,
}

impl<T: NativeFloat> Cholesky<T> {
    /// Factorises a copy of `a`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `a` is no square matrix, is not positive definite, or has a NaN or an
    /// infinity in its lower triangle. `OutOfMemory`.
    pub fn new(a: impl AsView<T>) -> Result<Self> {
        let (matrix, _) = Matrix::lower("cholesky", a.as_view())?;
        let mut l = matrix.copied()?;
        operand::clear_above_diagonal(&mut l);
        if !matrix.is_empty() {
            T::cholesky(operand::lent_mut(&mut l)?)?.map_err(indefinite)?;
            operand::clear_above_diagonal(&mut l);
            operand::require_in_range("cholesky", &l)?;
        }
        Ok(Cholesky { l })
    }

    /// `L`, column-major, with zeros above its diagonal.
    pub fn l(&self) -> TensorView<'_, T> {
        self.l.view()
    }

    pub(super) fn into_l(self) -> Tensor<T> {
        self.l
    }

    /// The x of a x = b; `b` is `[n]`, or `[n, k]` for k systems at once.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another shape of `b`, a NaN or an infinity in it. `OutOfMemory`.
    pub fn solve(&self, b: impl AsView<T>) -> Result<Tensor<T>> {
        let order = self.l.shape()[0];
        let mut x = operand::right_side("cholesky solve", [order, order], b.as_view())?;
        if !x.is_empty() {
            let l = operand::lent(&self.l)?;
            // Elements of `l` are no greater than the roots of those of `a`: their quotients are in
            // range, unless a pivot is subnormal.
            let range = Range::Narrow;
            T::substitute(Triangle::Lower, range, l, operand::columns(&mut x)?);
            T::substitute(Triangle::Upper, range, l.transpose(), operand::columns(&mut x)?);
        }
        Ok(x)
    }
}

#[cold]
fn indefinite(order: usize) -> Error {
    Error::invalid(format!(
        "cholesky: a is not positive definite: its leading minor of order {order} is not positive"
    ))
}

/// The factorisation `P a Pᵀ = L D Lᵀ` of any symmetric matrix, with the pivots of Bunch and
/// Kaufman: `L` is lower triangular with ones on its diagonal, and `D` has blocks of 1 x 1 and
/// 2 x 2 on its own. (Bunch, Kaufman, "Some stable methods for calculating inertia and solving
/// symmetric linear systems", 1977.)
///
/// The lower triangle of `a` is read, and nothing above it.
///
/// ```
/// use tenure::linalg::Ldlt;
///
/// // Neither positive definite nor with a diagonal to divide by.
/// let factors = Ldlt::new(&[[0.0, 2.0], [2.0, 0.0]])?;
/// assert_eq!(factors.solve(&[2.0, 4.0])?.to_vec(), [2.0, 1.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Debug)]
pub struct Ldlt<T: NativeFloat> {
    l: Tensor<T>,
    diagonal: Tensor<T>,
    subdiagonal: Tensor<T>,
    permutation: Vec<usize>,
    inverse: Vec<usize>,
}

impl<T: NativeFloat> Ldlt<T> {
    /// Factorises a copy of `a`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `a` is no square matrix, is singular, or has a NaN or an infinity in its
    /// lower triangle. `OutOfMemory`.
    pub fn new(a: impl AsView<T>) -> Result<Self> {
        let (matrix, _) = Matrix::lower("ldlt", a.as_view())?;
        let order = matrix.extents[0];
        let mut l = matrix.copied()?;
        operand::clear_above_diagonal(&mut l);
        let (mut diagonal, mut subdiagonal) = (Tensor::zeros(order)?, Tensor::zeros(order)?);
        let (mut permutation, mut inverse) = (operand::indices(order)?, operand::indices(order)?);
        if order > 0 {
            let both = [&mut permutation[..], &mut inverse[..]];
            T::ldlt(operand::lent_mut(&mut l)?, subdiagonal.as_mut(), both)?;
        }
        let view = l.view();
        let elements: &mut [T] = diagonal.as_mut();
        elements.iter_mut().enumerate().for_each(|(place, one)| *one = view[[place, place]]);
        operand::clear_above_diagonal(&mut l);
        operand::fill_diagonal(&mut l, T::ONE);
        let factors = Ldlt { l, diagonal, subdiagonal, permutation, inverse };
        if let Some(pivot) = factors.zero_pivot() {
            return Err(operand::singular("ldlt", pivot));
        }
        operand::require_in_range("ldlt", &factors.l)?;
        operand::require_in_range("ldlt", &factors.diagonal)?;
        Ok(factors)
    }

    /// The first block of `D` that has no inverse. (Of two rows those with a pivot of their own
    /// have one: their determinant is negative.)
    fn zero_pivot(&self) -> Option<usize> {
        let (diagonal, subdiagonal) = (self.diagonal.as_ref(), self.subdiagonal.as_ref());
        let mut place = 0;
        while place < diagonal.len() {
            let has_two_rows = subdiagonal[place] != T::ZERO;
            if !has_two_rows && diagonal[place] == T::ZERO {
                return Some(place);
            }
            place += if has_two_rows { 2 } else { 1 };
        }
        None
    }

    /// `L`, column-major, with zeros above its diagonal.
    pub fn l(&self) -> TensorView<'_, T> {
        self.l.view()
    }

    /// `D` as a matrix, row-major.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    pub fn d(&self) -> Result<Tensor<T>> {
        let order = self.diagonal.len();
        let mut d = Tensor::zeros([order, order])?;
        let mut view = d.view_mut();
        for (place, &one) in self.diagonal.as_ref().iter().enumerate() {
            view[[place, place]] = one;
        }
        for (place, &one) in self.subdiagonal.as_ref().iter().enumerate() {
            if place + 1 < order {
                view[[place + 1, place]] = one;
                view[[place, place + 1]] = one;
            }
        }
        Ok(d)
    }

    /// `P`: row and column i of `P a Pᵀ` are those of `a` at this index.
    pub fn permutation(&self) -> &[usize] {
        &self.permutation
    }

    /// The x of a x = b; `b` is `[n]`, or `[n, k]` for k systems at once.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another shape of `b`, a NaN or an infinity in it. `OutOfMemory`.
    pub fn solve(&self, b: impl AsView<T>) -> Result<Tensor<T>> {
        let order = self.l.shape()[0];
        let mut x = operand::right_side("ldlt solve", [order, order], b.as_view())?;
        if !x.is_empty() {
            let diagonals = [self.diagonal.as_ref(), self.subdiagonal.as_ref()];
            let permutation = [&self.permutation[..], &self.inverse];
            let l = operand::lent(&self.l)?;
            T::solve_ldlt(l, diagonals, permutation, operand::columns(&mut x)?)?;
        }
        Ok(x)
    }
}
