//! Least squares of sparse matrices.

use super::{Course, LinearOperator, Scaled, Solution, Unsolved, require_tolerance, vectors};
use crate::dense::{Tensor, TensorView};
use crate::dtype::NativeFloat;
use crate::error::Result;
use crate::operand::AsView;

/// How [`lsqr`] iterates, and when it ends. With `r` the residual b - a x, it ends when one of
/// these holds, as in SciPy's:
///
/// - the system is solved: `|r| <= b_tolerance |b| + a_tolerance |a| |x|`;
/// - so are least squares: `|aᵀ r| <= a_tolerance |a| |r|`;
///
/// and without a solution when an estimate of the condition of `a` exceeds the limit.
///
/// ```
/// use tenure::{CsrView, Lsqr, linalg::lsqr};
///
/// let a = CsrView::new(3, 1, &[0, 1, 2, 3], &[0, 0, 0], &[1.0, 1.0, 1.0])?;
/// let with = Lsqr::new().a_tolerance(1e-12).b_tolerance(1e-12);
/// let mean = lsqr(&a, &[1.0, 2.0, 6.0], with)?;
/// assert!((mean.x[[0]] - 3.0_f64).abs() < 1e-9);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Lsqr<'a, T: NativeFloat> {
    a_tolerance: f64,
    b_tolerance: f64,
    condition_limit: f64,
    damping: f64,
    most_iterations: Option<usize>,
    preconditioner: Option<&'a dyn LinearOperator<T>>,
    start: Option<TensorView<'a, T>>,
}

impl<T: NativeFloat> Default for Lsqr<'_, T> {
    fn default() -> Self {
        Lsqr::new()
    }
}

impl<'a, T: NativeFloat> Lsqr<'a, T> {
    /// Tolerances of 1e-6, a limit of 1e8 of the condition, no damping, twice as many iterations as
    /// unknowns, no preconditioner, zeros to start from.
    pub const fn new() -> Self {
        Lsqr {
            a_tolerance: 1e-6,
            b_tolerance: 1e-6,
            condition_limit: 1e8,
            damping: 0.0,
            most_iterations: None,
            preconditioner: None,
            start: None,
        }
    }

    /// An estimate of the relative error of the elements of `a`.
    pub const fn a_tolerance(mut self, tolerance: f64) -> Self {
        self.a_tolerance = tolerance;
        self
    }

    /// An estimate of the relative error of the elements of `b`.
    pub const fn b_tolerance(mut self, tolerance: f64) -> Self {
        self.b_tolerance = tolerance;
        self
    }

    /// The condition of `a` above which to give up; 0: none.
    pub const fn condition_limit(mut self, limit: f64) -> Self {
        self.condition_limit = limit;
        self
    }

    /// A factor d; the length of d x is made short too.
    pub const fn damping(mut self, damping: f64) -> Self {
        self.damping = damping;
        self
    }

    /// Iterations after which to give up.
    pub const fn max_iterations(mut self, most: usize) -> Self {
        self.most_iterations = Some(most);
        self
    }

    /// An operator m: least squares are solved for a m y, and x is m y. Tolerances, the condition
    /// and damping are of a m and y. [`Jacobi::of_columns`](crate::Jacobi::of_columns) is one.
    pub const fn preconditioner(mut self, inverse: &'a dyn LinearOperator<T>) -> Self {
        self.preconditioner = Some(inverse);
        self
    }

    /// A guess to begin with. Zeros replace it if its residual is longer than b and its rounding
    /// hides `b_tolerance`.
    pub fn start(mut self, x: &'a (impl AsView<T> + ?Sized)) -> Self {
        self.start = Some(x.as_view());
        self
    }
}

/// The matrix times the preconditioner, in the units of both.
struct Product<'c, 'a, T: NativeFloat> {
    a: &'c mut Scaled<'a, T>,
    inverse: Option<&'c mut Scaled<'a, T>>,
    between: &'c mut [T],
}

impl<T: NativeFloat> Product<'_, '_, T> {
    fn apply_into(&mut self, x: &[T], out: &mut [T]) -> Result<()> {
        let Some(inverse) = &mut self.inverse else { return self.a.apply_into(x, out) };
        inverse.apply_into(x, self.between)?;
        self.a.apply_into(self.between, out)
    }

    fn apply_transposed_into(&mut self, x: &[T], out: &mut [T]) -> Result<()> {
        let Some(inverse) = &mut self.inverse else { return self.a.apply_transposed_into(x, out) };
        self.a.apply_transposed_into(x, self.between)?;
        inverse.apply_transposed_into(self.between, out)
    }

    /// The exponent of the power of two that divides both, once both have been applied.
    fn exponent(&self) -> i32 {
        self.a.exponent() + self.inverse.as_ref().map_or(0, |inverse| inverse.exponent())
    }
}

/// A vector of this length as that, and the vector of length 1 that is left in its place.
fn normalise<T: NativeFloat>(vector: &mut Tensor<T>, length: f64) -> f64 {
    if length > 0.0 && length.is_finite() {
        vectors::divide(vector.as_mut(), length);
    }
    length
}

/// The x for which the length of a x - b is least, for a matrix of any extents, by the
/// bidiagonalisation of Golub and Kahan. (Paige, Saunders, "LSQR: an algorithm for sparse linear
/// equations and sparse least squares", 1982, and its stopping tests.) Where there are several such
/// x, it is the shortest, if the start is zeros.
///
/// Ends as SciPy's `lsqr` does, and takes the same iterations except for rounding. A product with
/// `a` is made in each and one with its transpose, by as many threads as the context has; all else
/// is done by the calling thread.
///
/// # Errors
///
/// `InvalidArgument`: shapes that do not fit, a tolerance or a damping below 0, a NaN or an
/// infinity in `b` or the start. `NoConvergence`: the iterations are used up, the condition is
/// above its limit, or a number left the range of its type. `OutOfMemory`, and what operators err
/// with.
///
/// ```
/// use tenure::{CsrView, Lsqr, linalg::lsqr};
///
/// let a = CsrView::new(3, 2, &[0, 1, 2, 4], &[0, 1, 0, 1], &[1.0, 1.0, 1.0, 1.0])?;
/// let solution = lsqr(&a, &[1.0, 2.0, 3.0], Lsqr::new())?;
/// assert!((solution.x[[0]] - 1.0_f64).abs() < 1e-6 && (solution.x[[1]] - 2.0).abs() < 1e-6);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn lsqr<T: NativeFloat>(
    a: impl LinearOperator<T>,
    b: impl AsView<T>,
    how: Lsqr<'_, T>,
) -> Result<Solution<T>, Unsolved<T>> {
    for (name, value) in [
        ("a_tolerance", how.a_tolerance),
        ("b_tolerance", how.b_tolerance),
        ("condition_limit", how.condition_limit),
        ("damping", how.damping),
    ] {
        require_tolerance("lsqr", name, value)?;
    }
    let tolerances = [how.b_tolerance, 0.0];
    let mut course = Course::begin_with("lsqr", &a, &b.as_view(), how.preconditioner, tolerances)?;
    course.begin_at(how.start.as_ref())?;
    course.most_iterations = how.most_iterations.unwrap_or(course.x.len().saturating_mul(2));
    let mut left = std::mem::replace(&mut course.residual, Tensor::zeros(0)?);
    let size = normalise(&mut left, course.residual_norm);
    let mut between = match how.preconditioner {
        Some(_) => Tensor::zeros(course.x.len())?,
        None => Tensor::zeros(0)?,
    };
    (course.residual_norm, course.goal) = (1.0, 0.0);
    let result = if size > 0.0 {
        iterate(left, course.b_norm / size, &how, &mut course, between.as_mut())
    } else {
        Ok(None)
    };
    let factor = T::from_f64(size);
    course.x.as_mut().iter_mut().for_each(|x| *x *= factor);
    course.residual_norm *= size;
    course.goal *= size;
    if let Some(inverse) = &mut course.inverse {
        inverse.apply_into(course.x.as_ref(), between.as_mut())?;
        std::mem::swap(&mut course.x, &mut between);
    }
    match result? {
        None => Ok(course.solution()),
        Some(why) => Err(course.fail(why)),
    }
}

/// Iterates until there is a solution, or a reason why there is none. The residual of `course` is
/// not kept: `left`, of length 1, is its first vector.
fn iterate<T: NativeFloat>(
    mut left: Tensor<T>,
    b_norm: f64,
    how: &Lsqr<'_, T>,
    course: &mut Course<'_, T>,
    between: &mut [T],
) -> Result<Option<&'static str>> {
    let Course { a, inverse, .. } = course;
    let mut matrix = Product { a, inverse: inverse.as_mut(), between };
    let (rows, cols) = (left.len(), course.x.len());
    let (mut right, mut direction) = (Tensor::zeros(cols)?, Tensor::zeros(cols)?);
    let (mut of_left, mut of_right) = (Tensor::zeros(rows)?, Tensor::zeros(cols)?);
    matrix.apply_transposed_into(left.as_ref(), right.as_mut())?;
    let length = vectors::norm(right.as_ref());
    let mut alpha = normalise(&mut right, length);
    if alpha == 0.0 {
        return Ok(None);
    }
    vectors::add_scaled(direction.as_mut(), T::ONE, right.as_ref());
    let (mut rho_bar, mut phi_bar) = (alpha, 1.0);
    let damping = vectors::scaled(how.damping, -matrix.exponent());
    let damping_squared = damping * damping;
    // Estimates that are carried along: squares of the norms of a, of its pseudo-inverse and of
    // what damping adds to the residual; then the length of x.
    let (mut a_squared, mut inverse_squared, mut damped_squared) = (0.0, 0.0, 0.0);
    let (mut x_squared, mut cosine_before, mut sine_before, mut z) = (0.0, -1.0, 0.0, 0.0);
    loop {
        if course.iterations >= course.most_iterations {
            return Ok(Some("the iterations are used up"));
        }
        course.iterations += 1;
        // Another row and column of the bidiagonal matrix.
        matrix.apply_into(right.as_ref(), of_left.as_mut())?;
        let factor = T::from_f64(-alpha);
        let length = vectors::scale_and_add_and_norm(left.as_mut(), factor, of_left.as_ref());
        let beta = normalise(&mut left, length);
        if beta > 0.0 {
            a_squared += alpha * alpha + beta * beta + damping_squared;
            matrix.apply_transposed_into(left.as_ref(), of_right.as_mut())?;
            let factor = T::from_f64(-beta);
            let length = vectors::scale_and_add_and_norm(right.as_mut(), factor, of_right.as_ref());
            alpha = normalise(&mut right, length);
        }
        // One rotation removes the damping, another one the element below the diagonal.
        let damped_rho = rho_bar.hypot(damping);
        let psi = damping / damped_rho * phi_bar;
        phi_bar *= rho_bar / damped_rho;
        let rho = damped_rho.hypot(beta);
        let (cosine, sine) = (damped_rho / rho, beta / rho);
        let theta = sine * alpha;
        rho_bar = -cosine * alpha;
        let phi = cosine * phi_bar;
        phi_bar *= sine;
        let steps = [T::from_f64(phi / rho), T::from_f64(-theta / rho)];
        let x = course.x.as_mut();
        let length = vectors::advance(x, direction.as_mut(), right.as_ref(), steps) / rho;
        inverse_squared += length * length;

        // The length of x, by rotations from the right.
        let gamma_bar = -cosine_before * rho;
        let right_side = phi - sine_before * rho * z;
        let x_norm = (x_squared + (right_side / gamma_bar).powi(2)).sqrt();
        let gamma = gamma_bar.hypot(theta);
        (cosine_before, sine_before) = (gamma_bar / gamma, theta / gamma);
        z = right_side / gamma;
        x_squared += z * z;

        damped_squared += psi * psi;
        let a_norm = a_squared.sqrt();
        let condition = a_norm * inverse_squared.sqrt();
        let r_norm = phi_bar.hypot(damped_squared.sqrt());
        let normal_norm = alpha * (sine * phi).abs();
        let undamped = r_norm * r_norm - damping_squared * x_squared;
        course.residual_norm = undamped.max(0.0).sqrt();
        if !(r_norm.is_finite() && normal_norm.is_finite() && x_norm.is_finite()) {
            return Ok(Some("a number left the range of its type"));
        }
        // Each test is passed, too, by what rounding hides.
        let hidden = T::EPSILON.to_f64() / 2.0;
        let reach = b_norm + a_norm * x_norm;
        course.goal = how.b_tolerance * b_norm + how.a_tolerance * a_norm * x_norm;
        if r_norm <= course.goal.max(hidden * reach)
            || normal_norm <= how.a_tolerance.max(hidden) * a_norm * r_norm
        {
            return Ok(None);
        }
        let is_above = how.condition_limit > 0.0 && condition >= how.condition_limit;
        if is_above || condition * hidden >= 1.0 {
            return Ok(Some("the condition of a is above its limit"));
        }
    }
}
