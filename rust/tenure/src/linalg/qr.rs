//! Matrices of any extents: orthogonal factors, and least squares.

use super::operand::{self, Matrix};
use crate::dense::{Tensor, TensorView};
use crate::dtype::backend::{Range, Reflect, reflection_block};
use crate::dtype::{NativeFloat, triangle::Triangle};
use crate::error::Result;
use crate::layout::order::Order;
use crate::operand::AsView;

/// A product of reflections, and the upper triangle that they leave of a matrix.
#[derive(Debug)]
struct Reflections<T: NativeFloat> {
    /// Column-major: the triangle, and below it the vectors of the reflections.
    packed: Tensor<T>,
    /// The triangular factors of blocks of reflections.
    factor: Tensor<T>,
    /// The range of the triangle.
    range: Range,
}

impl<T: NativeFloat> Reflections<T> {
    /// Takes a column-major matrix, once it is factorised by `factorise`.
    fn made_by(
        mut packed: Tensor<T>,
        factorise: impl FnOnce(faer::MatMut<'_, T>, faer::MatMut<'_, T>) -> Result<()>,
    ) -> Result<Self> {
        let extents = [packed.shape()[0], packed.shape()[1]];
        let count = extents[0].min(extents[1]);
        let block = if count == 0 { 0 } else { reflection_block(extents) };
        let mut factor = Tensor::zeros_in([block, count], Order::ColumnMajor)?;
        if count > 0 {
            factorise(operand::lent_mut(&mut packed)?, operand::lent_mut(&mut factor)?)?;
        }
        let range = operand::range_above(&packed);
        Ok(Reflections { packed, factor, range })
    }

    fn of(packed: Tensor<T>) -> Result<Self> {
        Self::made_by(packed, |a, factor| T::qr(a, factor))
    }

    fn extents(&self) -> [usize; 2] {
        [self.packed.shape()[0], self.packed.shape()[1]]
    }

    fn count(&self) -> usize {
        self.factor.shape()[1]
    }

    fn apply(&self, how: Reflect, x: &mut Tensor<T>) -> Result<()> {
        if self.count() == 0 || x.is_empty() {
            return Ok(());
        }
        let vectors = operand::lent(&self.packed)?.subcols(0, self.count());
        T::reflect(how, vectors, operand::lent(&self.factor)?, operand::columns(x)?)
    }

    /// The first columns of the product, as many as there are reflections.
    fn q(&self) -> Result<Tensor<T>> {
        let mut q = Tensor::zeros_in([self.extents()[0], self.count()], Order::ColumnMajor)?;
        operand::fill_diagonal(&mut q, T::ONE);
        self.apply(Reflect::AsIs, &mut q)?;
        Ok(q)
    }

    fn r(&self) -> Result<Tensor<T>> {
        let rows = self.packed.view().slice(0, ..self.count())?;
        let mut r = Tensor::working_copy(rows, Order::ColumnMajor)?;
        operand::clear_below_diagonal(&mut r);
        Ok(r)
    }

    /// x = R⁻¹ x, of the first `order` rows and columns.
    fn substitute(&self, how: Reflect, order: usize, x: &mut Tensor<T>) -> Result<()> {
        if order == 0 || x.is_empty() {
            return Ok(());
        }
        let r = operand::lent(&self.packed)?.submatrix(0, 0, order, order);
        match how {
            Reflect::AsIs => {
                T::substitute(Triangle::Upper, self.range, r, operand::columns(x)?);
            }
            Reflect::Transposed => {
                T::substitute(Triangle::Lower, self.range, r.transpose(), operand::columns(x)?);
            }
        }
        Ok(())
    }
}

/// The first rows, as a tensor of their own.
fn first_rows<T: NativeFloat>(x: &Tensor<T>, count: usize) -> Result<Tensor<T>> {
    Tensor::working_copy(x.view().slice(0, ..count)?, Order::RowMajor)
}

/// The factorisation `a = Q R` of a matrix `[m, n]`, by reflections of Householder: with k the
/// smaller of m and n, `Q` is `[m, k]` with orthonormal columns, and `R` is `[k, n]`, upper
/// triangular or trapezoidal.
///
/// `R` has a 0 on the diagonal for a column that is a combination of the columns before it to within
/// `16 m e` of its length; `e` is the distance from 1 to the next number.
///
/// ```
/// use tenure::linalg::Qr;
///
/// let factors = Qr::new(&[[3.0, 1.0], [4.0, 2.0], [0.0, 2.0]])?;
/// assert_eq!(factors.r()?.shape(), [2, 2]);
/// let x = factors.solve(&[4.0, 6.0, 2.0])?;
/// assert!((x[[0]] - 1.0_f64).abs() < 1e-14 && (x[[1]] - 1.0).abs() < 1e-14);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Debug)]
pub struct Qr<T: NativeFloat> {
    reflections: Reflections<T>,
}

impl<T: NativeFloat> Qr<T> {
    /// Factorises a copy of `a`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `a` is no matrix, or has a NaN or an infinity. `OutOfMemory`.
    pub fn new(a: impl AsView<T>) -> Result<Self> {
        let matrix = Matrix::new("qr", a.as_view())?;
        let reflections = Reflections::of(matrix.copied()?)?;
        operand::require_in_range("qr", &reflections.packed)?;
        Ok(Qr { reflections })
    }

    /// `Q`, column-major.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    pub fn q(&self) -> Result<Tensor<T>> {
        self.reflections.q()
    }

    /// `R`, column-major.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    pub fn r(&self) -> Result<Tensor<T>> {
        self.reflections.r()
    }

    /// The x for which the length of a x - b is least, of a matrix with at least as many rows as
    /// columns; `b` is `[m]`, or `[m, k]` for k systems at once.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: fewer rows than columns, or a 0 on the diagonal of `R`, which
    /// [`PivotedQr`] takes; another shape of `b`, a NaN or an infinity in it. `OutOfMemory`.
    pub fn solve(&self, b: impl AsView<T>) -> Result<Tensor<T>> {
        let [rows, cols] = self.reflections.extents();
        if rows < cols {
            return Err(crate::error::Error::invalid(format!(
                "qr solve: a has shape [{rows}, {cols}], fewer rows than columns; lstsq takes it"
            )));
        }
        let mut x = operand::right_side("qr solve", [rows, cols], b.as_view())?;
        let r = self.reflections.packed.view();
        if let Some(pivot) = (0..cols).find(|&place| r[[place, place]] == T::ZERO) {
            return Err(operand::singular("qr solve", pivot));
        }
        self.reflections.apply(Reflect::Transposed, &mut x)?;
        let mut x = if rows == cols { x } else { first_rows(&x, cols)? };
        self.reflections.substitute(Reflect::AsIs, cols, &mut x)?;
        Ok(x)
    }
}

/// The factorisation `a P = Q R` of a matrix `[m, n]` of any rank: `P` orders columns so that the
/// diagonal of `R` falls in magnitude. Else as [`Qr`].
///
/// It solves least squares as LAPACK's `gelsy` does: among all x for which the length of a x - b is
/// least, the shortest.
///
/// ```
/// use tenure::linalg::PivotedQr;
///
/// let factors = PivotedQr::new(&[[1.0_f64, 1.0], [1.0, 1.0]])?;
/// assert_eq!(factors.rank(), 1);
/// let x = factors.solve(&[2.0, 2.0])?;
/// assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-14));
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Debug)]
pub struct PivotedQr<T: NativeFloat> {
    reflections: Reflections<T>,
    /// The transpose of the first `rank` rows of R, factorised, where there are more columns.
    across: Option<Reflections<T>>,
    permutation: Vec<usize>,
    inverse: Vec<usize>,
    rank: usize,
    /// The number that the matrix was divided by.
    scale: T,
}

impl<T: NativeFloat> PivotedQr<T> {
    /// Factorises a copy of `a`.
    ///
    /// # Errors
    ///
    /// The errors of [`Qr::new`].
    pub fn new(a: impl AsView<T>) -> Result<Self> {
        Self::of("pivoted_qr", a.as_view())
    }

    pub(super) fn of(operation: &'static str, a: TensorView<'_, T>) -> Result<Self> {
        let matrix = Matrix::new(operation, a)?;
        let cols = matrix.extents[1];
        let largest = matrix.largest()?;
        let (copy, scale) = match matrix.rescaled(largest)? {
            Some(rescaled) => rescaled,
            None => (matrix.copied()?, T::ONE),
        };
        let (mut permutation, mut inverse) = (operand::indices(cols)?, operand::indices(cols)?);
        let reflections = Reflections::made_by(copy, |a, factor| {
            // Lengths of columns are divided by the largest of them.
            if largest > T::ZERO {
                T::pivoted_qr(a, factor, [&mut permutation, &mut inverse])
            } else {
                T::qr(a, factor)
            }
        })?;
        operand::require_in_range(operation, &reflections.packed)?;
        let rank = rank(&reflections);
        let across = if rank < cols {
            let rows = reflections.r()?;
            let rows = rows.view().slice(0, ..rank)?.t();
            Some(Reflections::of(Tensor::working_copy(rows, Order::ColumnMajor)?)?)
        } else {
            None
        };
        Ok(PivotedQr { reflections, across, permutation, inverse, rank, scale })
    }

    /// `Q`, column-major.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    pub fn q(&self) -> Result<Tensor<T>> {
        self.reflections.q()
    }

    /// `R`, column-major.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    pub fn r(&self) -> Result<Tensor<T>> {
        let mut r = self.reflections.r()?;
        if self.scale != T::ONE {
            operand::multiply(&mut r, self.scale);
        }
        Ok(r)
    }

    /// `P`: column i of `a P` is the column of `a` at this index.
    pub fn permutation(&self) -> &[usize] {
        &self.permutation
    }

    /// How many elements of the diagonal of `R` are above the first one's magnitude times the
    /// larger extent of `a` and the distance from 1 to the next number.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The shortest x for which the length of a x - b is least; `b` is `[m]`, or `[m, k]` for k
    /// systems at once.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another shape of `b`, a NaN or an infinity in it. `OutOfMemory`.
    pub fn solve(&self, b: impl AsView<T>) -> Result<Tensor<T>> {
        self.solve_for("pivoted_qr solve", b.as_view())
    }

    pub(super) fn solve_for(
        &self,
        operation: &'static str,
        b: TensorView<'_, T>,
    ) -> Result<Tensor<T>> {
        let extents @ [_, cols] = self.reflections.extents();
        let mut rotated = operand::right_side(operation, extents, b)?;
        self.reflections.apply(Reflect::Transposed, &mut rotated)?;
        let mut x = first_rows(&rotated, self.rank)?;
        // Half of the scale before and half after, so that only a solution overflows.
        let half = T::ONE / self.scale.root();
        if self.scale != T::ONE {
            operand::multiply(&mut x, half);
        }
        if let Some(across) = &self.across {
            across.substitute(Reflect::Transposed, self.rank, &mut x)?;
            let mut shape = rotated.shape().to_vec();
            shape[0] = cols;
            let mut long = Tensor::zeros(shape)?;
            long.as_mut()[..x.len()].copy_from_slice(x.as_ref());
            across.apply(Reflect::AsIs, &mut long)?;
            x = long;
        } else {
            self.reflections.substitute(Reflect::AsIs, self.rank, &mut x)?;
        }
        if !x.is_empty() {
            T::permute_rows(operand::columns(&mut x)?, [&self.inverse, &self.permutation])?;
            if self.scale != T::ONE {
                operand::multiply(&mut x, half);
            }
        }
        Ok(x)
    }
}

fn rank<T: NativeFloat>(reflections: &Reflections<T>) -> usize {
    let r = reflections.packed.view();
    let [rows, cols] = reflections.extents();
    let diagonal = (0..reflections.count()).map(|place| r[[place, place]].magnitude());
    let first = diagonal.clone().next().unwrap_or(T::ZERO);
    let least = first * T::EPSILON * T::from_f64(rows.max(cols) as f64);
    diagonal.take_while(|&one| one > least).count()
}
