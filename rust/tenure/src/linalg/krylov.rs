//! Iterative solvers: their requirements on a matrix, their limits, and their results.
//!
//! Vectors are walked in loops of this crate's, several steps of a method in each: an addition, a
//! product and a sum that were operations of their own would read and write memory once each.

mod bicgstab;
mod cg;
mod ilu;
mod jacobi;
mod lsqr;
mod scaled;
mod vectors;

use std::fmt;

pub use bicgstab::bicgstab;
pub use cg::cg;
pub use ilu::Ilu0;
pub use jacobi::Jacobi;
pub use lsqr::{Lsqr, lsqr};

use self::scaled::Scaled;
use super::matmul::matmul_into;
use crate::dense::{Tensor, TensorView};
use crate::dtype::{NativeFloat, index::SparseIndex};
use crate::error::{Error, ErrorKind, Rejected, Result};
use crate::layout::order::Order;
use crate::operand::AsView;
use crate::sparse::{
    format::SparseFormat, matrix::SparseMatrix, packed::PackedMatrix, view::SparseView,
};

/// A matrix that is only multiplied by: what [`cg`], [`bicgstab`] and [`lsqr`] solve with, and what
/// preconditions them. Sparse matrices of every format, [`PackedMatrix`], dense tensors and views
/// are operators; implement it for a matrix that is computed and not stored.
///
/// ```
/// use tenure::{Krylov, LinearOperator, Result, linalg::cg};
///
/// /// The second difference of neighbours.
/// struct Stiffness(usize);
///
/// impl LinearOperator<f64> for Stiffness {
///     fn extents(&self) -> [usize; 2] {
///         [self.0, self.0]
///     }
///     fn apply_into(&self, x: &[f64], out: &mut [f64]) -> Result<()> {
///         let at = |index: Option<usize>| index.and_then(|index| x.get(index)).unwrap_or(&0.0);
///         for (row, out) in out.iter_mut().enumerate() {
///             *out = 2.0 * x[row] - at(row.checked_sub(1)) - at(row.checked_add(1));
///         }
///         Ok(())
///     }
/// }
///
/// let solution = cg(&Stiffness(9), &[1.0; 9], Krylov::new())?;
/// assert!((solution.x[[4]] - 12.5).abs() < 1e-9);
/// # Ok::<(), tenure::Error>(())
/// ```
pub trait LinearOperator<T: NativeFloat> {
    /// Rows and columns.
    fn extents(&self) -> [usize; 2];

    /// The product with `x`, which has an element for each column, into `out`, one for each row.
    ///
    /// # Errors
    ///
    /// Whatever keeps the product from being computed. A solver hands it on.
    fn apply_into(&self, x: &[T], out: &mut [T]) -> Result<()>;

    /// The product of the transpose with `x`, which has an element for each row. [`lsqr`] asks for
    /// it.
    ///
    /// # Errors
    ///
    /// The errors of [`apply_into`](Self::apply_into); `Unsupported`, unless it is implemented.
    fn apply_transposed_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        let _ = (x, out);
        let message = "the operator has no product of its transpose: apply_transposed_into";
        Err(Error::new(ErrorKind::Unsupported, message))
    }
}

impl<T: NativeFloat, A: LinearOperator<T> + ?Sized> LinearOperator<T> for &A {
    fn extents(&self) -> [usize; 2] {
        (**self).extents()
    }

    fn apply_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        (**self).apply_into(x, out)
    }

    fn apply_transposed_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        (**self).apply_transposed_into(x, out)
    }
}

impl<F: SparseFormat, T: NativeFloat, I: SparseIndex> LinearOperator<T>
    for SparseView<'_, F, T, I>
{
    fn extents(&self) -> [usize; 2] {
        [self.rows(), self.cols()]
    }

    fn apply_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        self.matmul_into(x, out)
    }

    fn apply_transposed_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        self.t_matmul_into(x, out)
    }
}

impl<F: SparseFormat, T: NativeFloat, I: SparseIndex> LinearOperator<T> for SparseMatrix<F, T, I> {
    fn extents(&self) -> [usize; 2] {
        self.view().extents()
    }

    fn apply_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        self.view().apply_into(x, out)
    }

    fn apply_transposed_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        self.view().apply_transposed_into(x, out)
    }
}

/// It has no product of its transpose.
impl<T: NativeFloat> LinearOperator<T> for PackedMatrix<T> {
    fn extents(&self) -> [usize; 2] {
        [self.rows(), self.cols()]
    }

    fn apply_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        self.matmul_into(x, out)
    }
}

/// Dense matrices are of rank 2; another rank is 0 rows and columns.
impl<T: NativeFloat> LinearOperator<T> for TensorView<'_, T> {
    fn extents(&self) -> [usize; 2] {
        self.shape().try_into().unwrap_or_default()
    }

    fn apply_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        matmul_into(self, x, out)
    }

    fn apply_transposed_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        matmul_into(self.t(), x, out)
    }
}

/// Calls the implementation of a view.
impl<T: NativeFloat> LinearOperator<T> for Tensor<T> {
    fn extents(&self) -> [usize; 2] {
        self.view().extents()
    }

    fn apply_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        self.view().apply_into(x, out)
    }

    fn apply_transposed_into(&self, x: &[T], out: &mut [T]) -> Result<()> {
        self.view().apply_transposed_into(x, out)
    }
}

/// How [`cg`] and [`bicgstab`] iterate. They end when the length of the residual b - a x is at most
/// the relative tolerance times that of b, or the absolute one, as SciPy's do.
///
/// ```
/// use tenure::{CsrMatrix, Jacobi, Krylov, linalg::cg, sparse::gallery};
///
/// let a: CsrMatrix<f64> = gallery::poisson([5, 5, 4])?;
/// let (b, jacobi) = (vec![1.0; 100], Jacobi::new(a.view())?);
/// let how = Krylov::new().relative_tolerance(1e-10).preconditioner(&jacobi);
/// let solution = cg(&a, &b, how)?;
/// assert!(solution.residual_norm <= 1e-10 * 10.0);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Krylov<'a, T: NativeFloat> {
    relative: f64,
    absolute: f64,
    most_iterations: Option<usize>,
    preconditioner: Option<&'a dyn LinearOperator<T>>,
    start: Option<TensorView<'a, T>>,
}

impl<T: NativeFloat> Default for Krylov<'_, T> {
    fn default() -> Self {
        Krylov::new()
    }
}

impl<'a, T: NativeFloat> Krylov<'a, T> {
    /// A relative tolerance of 1e-5 and an absolute one of 0, ten times as many iterations as
    /// unknowns, no preconditioner, zeros to start from.
    pub const fn new() -> Self {
        Krylov {
            relative: 1e-5,
            absolute: 0.0,
            most_iterations: None,
            preconditioner: None,
            start: None,
        }
    }

    /// The residual's length over that of b.
    pub const fn relative_tolerance(mut self, tolerance: f64) -> Self {
        self.relative = tolerance;
        self
    }

    /// The residual's length.
    pub const fn absolute_tolerance(mut self, tolerance: f64) -> Self {
        self.absolute = tolerance;
        self
    }

    /// Iterations after which to give up.
    pub const fn max_iterations(mut self, most: usize) -> Self {
        self.most_iterations = Some(most);
        self
    }

    /// An operator near the inverse of the matrix: [`Jacobi`], [`Ilu0`], or one of yours. [`cg`]
    /// asks for a symmetric positive definite one.
    pub const fn preconditioner(mut self, inverse: &'a dyn LinearOperator<T>) -> Self {
        self.preconditioner = Some(inverse);
        self
    }

    /// A guess to begin with. Zeros replace it if its residual is longer than b and its rounding
    /// hides the tolerance.
    pub fn start(mut self, x: &'a (impl AsView<T> + ?Sized)) -> Self {
        self.start = Some(x.as_view());
        self
    }
}

/// The answer of an iterative solver.
#[derive(Debug)]
#[non_exhaustive]
pub struct Solution<T: NativeFloat> {
    /// The solution, `[n]`.
    pub x: Tensor<T>,
    /// Iterations that were made.
    pub iterations: usize,
    /// The length of the residual b - a x, as the iterations carry it along. Rounding errors move
    /// it from what a product with x shows.
    pub residual_norm: f64,
}

/// Why an iterative solver has no solution, and how far it got. `?` makes an [`Error`] of it, and
/// drops the rest.
///
/// ```
/// use tenure::{CsrMatrix, ErrorKind, Krylov, linalg::cg, sparse::gallery};
///
/// let a: CsrMatrix<f64> = gallery::poisson([10, 10, 9])?;
/// let unsolved = cg(&a, &vec![1.0; 900], Krylov::new().max_iterations(5)).err().unwrap();
/// assert_eq!(unsolved.error().kind(), ErrorKind::NoConvergence);
/// let reached = unsolved.reached().unwrap();
/// assert_eq!((reached.iterations, reached.x.len()), (5, 900));
/// # Ok::<(), tenure::Error>(())
/// ```
pub struct Unsolved<T: NativeFloat> {
    error: Error,
    // Boxed, so that the result of a solver that succeeds is moved for less.
    reached: Option<Box<Solution<T>>>,
}

impl<T: NativeFloat> Unsolved<T> {
    /// The reason: `InvalidArgument` of a refused argument, `NoConvergence` with the iterations and
    /// the residual in its message, or the error of an operator.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// Where the iterations ended, if they began.
    pub fn reached(&self) -> Option<&Solution<T>> {
        self.reached.as_deref()
    }

    /// Both.
    pub fn into_parts(self) -> (Error, Option<Solution<T>>) {
        (self.error, self.reached.map(|reached| *reached))
    }
}

impl<T: NativeFloat> From<Error> for Unsolved<T> {
    fn from(error: Error) -> Self {
        Unsolved { error, reached: None }
    }
}

impl<T: NativeFloat, D> From<Rejected<D>> for Unsolved<T> {
    fn from(rejected: Rejected<D>) -> Self {
        Error::from(rejected).into()
    }
}

impl<T: NativeFloat> From<Unsolved<T>> for Error {
    fn from(unsolved: Unsolved<T>) -> Error {
        unsolved.error
    }
}

impl<T: NativeFloat> fmt::Display for Unsolved<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

// A solution may be long.
impl<T: NativeFloat> fmt::Debug for Unsolved<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unsolved").field("error", &self.error).finish_non_exhaustive()
    }
}

impl<T: NativeFloat> std::error::Error for Unsolved<T> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// An iteration at work: its vectors, and how it ends.
///
/// Vectors and lengths are in units of powers of two, so that no square and no product leaves the
/// range of its type. The unit of b is that of its largest element; those of operators are in
/// [`Scaled`]. Powers of two cause no rounding.
struct Course<'a, T: NativeFloat> {
    method: &'static str,
    a: Scaled<'a, T>,
    inverse: Option<Scaled<'a, T>>,
    /// The exponent of the unit of b.
    unit: i32,
    start: Option<Tensor<T>>,
    /// The difference from the start.
    x: Tensor<T>,
    /// The residual b - a x.
    residual: Tensor<T>,
    residual_norm: f64,
    /// The length of b.
    b_norm: f64,
    iterations: usize,
    /// The residual's length that is short enough.
    goal: f64,
    most_iterations: usize,
}

impl<'a, T: NativeFloat> Course<'a, T> {
    /// The start of a method for square matrices.
    fn begin(
        method: &'static str,
        a: &'a dyn LinearOperator<T>,
        b: &TensorView<'_, T>,
        how: &Krylov<'a, T>,
    ) -> Result<Self> {
        let extents @ [rows, cols] = a.extents();
        if rows != cols {
            return Err(Error::invalid(format!(
                "{method}: a has shape {extents:?} but must be square"
            )));
        }
        require_tolerance(method, "relative_tolerance", how.relative)?;
        require_tolerance(method, "absolute_tolerance", how.absolute)?;
        let tolerances = [how.relative, how.absolute];
        let mut course = Course::begin_with(method, a, b, how.preconditioner, tolerances)?;
        course.begin_at(how.start.as_ref())?;
        course.most_iterations = how.most_iterations.unwrap_or(rows.saturating_mul(10));
        Ok(course)
    }

    /// The start of any method, at zeros, with a relative and an absolute tolerance.
    fn begin_with(
        method: &'static str,
        a: &'a dyn LinearOperator<T>,
        b: &TensorView<'_, T>,
        inverse: Option<&'a dyn LinearOperator<T>>,
        [relative, absolute]: [f64; 2],
    ) -> Result<Self> {
        let extents @ [rows, cols] = a.extents();
        let mut residual = vector(method, "b", b, extents, rows)?;
        if let Some(inverse) = inverse {
            require_inverse(method, inverse, extents, cols)?;
        }
        let unit = vectors::exponent(vectors::largest(residual.as_ref()));
        vectors::scale(residual.as_mut(), -unit);
        let b_norm = vectors::norm(residual.as_ref());
        Ok(Course {
            method,
            a: Scaled::new(a)?,
            inverse: inverse.map(Scaled::new).transpose()?,
            unit,
            start: None,
            x: Tensor::zeros(cols)?,
            residual,
            residual_norm: b_norm,
            b_norm,
            iterations: 0,
            goal: (relative * b_norm).max(vectors::scaled(absolute, -unit)),
            most_iterations: 0,
        })
    }

    /// Takes a start. Zeros replace it if b is 0, so that they are the solution, and if they are
    /// nearer and the rounding of its residual hides the goal.
    fn begin_at(&mut self, start: Option<&TensorView<'_, T>>) -> Result<()> {
        let Some(start) = start else { return Ok(()) };
        let start = vector(self.method, "start", start, self.a.extents(), self.x.len())?;
        if self.b_norm == 0.0 {
            return Ok(());
        }
        let mut x = start.try_clone()?;
        let unit = vectors::exponent(vectors::largest(x.as_ref()));
        vectors::scale(x.as_mut(), -unit);
        let mut residual = Tensor::zeros(self.residual.len())?;
        self.a.apply_into(x.as_ref(), residual.as_mut())?;
        vectors::scale(residual.as_mut(), unit + self.a.exponent() - self.unit);
        vectors::subtract_from(residual.as_mut(), self.residual.as_ref());
        let norm = vectors::norm(residual.as_ref());
        // Also false where it is not finite.
        if norm <= self.b_norm || norm * T::EPSILON.to_f64() <= self.goal {
            (self.start, self.residual, self.residual_norm) = (Some(start), residual, norm);
        }
        Ok(())
    }

    /// Whether there is nothing left to do.
    fn is_there(&self) -> bool {
        self.residual_norm <= self.goal
    }

    /// Another iteration, unless there have been too many.
    fn go_on(mut self) -> Result<Self, Unsolved<T>> {
        if self.iterations >= self.most_iterations {
            return Err(self.fail("the iterations are used up"));
        }
        self.iterations += 1;
        Ok(self)
    }

    fn solution(self) -> Solution<T> {
        let Course { a, unit, start, mut x, residual_norm, iterations, .. } = self;
        vectors::scale(x.as_mut(), unit - a.exponent());
        if let Some(start) = start {
            vectors::add_scaled(x.as_mut(), T::ONE, start.as_ref());
        }
        Solution { x, iterations, residual_norm: vectors::scaled(residual_norm, unit) }
    }

    #[cold]
    fn fail(self, why: &str) -> Unsolved<T> {
        let Course { method, iterations, unit, .. } = self;
        let [residual_norm, goal] =
            [self.residual_norm, self.goal].map(|length| vectors::scaled(length, unit));
        let message = format!(
            "{method}: no convergence after {iterations} iterations, with a residual of \
             {residual_norm:e} where {goal:e} was asked for: {why}"
        );
        let error = Error::new(ErrorKind::NoConvergence, message);
        Unsolved { error, reached: Some(Box::new(self.solution())) }
    }

    /// The end by a divisor that is 0 or not finite. The last argument has the powers of the units
    /// of b, of the matrix and of the preconditioner in its own unit.
    #[cold]
    fn break_down(self, name: &str, value: f64, [of_b, of_a, of_inverse]: [i32; 3]) -> Unsolved<T> {
        let inverse = self.inverse.as_ref().map_or(0, Scaled::exponent);
        let exponent = of_b * self.unit + of_a * self.a.exponent() + of_inverse * inverse;
        let value = vectors::scaled(value, exponent);
        self.fail(&format!("breakdown, as {name} is {value:e}"))
    }
}

fn require_tolerance(method: &str, name: &str, tolerance: f64) -> Result<()> {
    if tolerance >= 0.0 {
        return Ok(());
    }
    Err(Error::invalid(format!("{method}: {name} is {tolerance} but must be 0 at least")))
}

/// An inverse has as many rows and columns as there are unknowns.
fn require_inverse<T: NativeFloat>(
    method: &str,
    inverse: &dyn LinearOperator<T>,
    a: [usize; 2],
    unknowns: usize,
) -> Result<()> {
    let found = inverse.extents();
    if found == [unknowns; 2] {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{method}: the preconditioner has shape {found:?} but a has shape {a:?}, so that it must \
         be {:?}",
        [unknowns; 2]
    )))
}

/// A copy of a vector, whose elements are finite.
fn vector<T: NativeFloat>(
    method: &str,
    name: &str,
    given: &TensorView<'_, T>,
    a: [usize; 2],
    count: usize,
) -> Result<Tensor<T>> {
    if given.shape() != [count] {
        return Err(Error::invalid(format!(
            "{method}: {name} has shape {:?} but a has shape {a:?}, so that it must be [{count}]",
            given.shape()
        )));
    }
    let copy = Tensor::working_copy(*given, Order::RowMajor)?;
    let elements: &[T] = copy.as_ref();
    if let Some(place) = elements.iter().position(|&element| !element.finite()) {
        let element = elements[place].to_f64();
        return Err(Error::invalid(format!(
            "{method}: {name}[{place}] is {element} but must be finite"
        )));
    }
    Ok(copy)
}
