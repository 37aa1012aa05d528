//! Conjugate gradients.

use super::{Course, Krylov, LinearOperator, Solution, Unsolved, vectors};
use crate::dense::Tensor;
use crate::dtype::NativeFloat;
use crate::operand::AsView;

/// The x of a x = b, for a symmetric positive definite `a`, by conjugate gradients. (Hestenes,
/// Stiefel, "Methods of conjugate gradients for solving linear systems", 1952; with a
/// preconditioner, algorithm 9.1 of Saad, "Iterative methods for sparse linear systems", 2003.)
///
/// Stops as SciPy's `cg` does, and takes the same iterations except for rounding. A product with
/// `a` is made in each, by as many threads as the context has; all else is done by the calling
/// thread.
///
/// # Errors
///
/// `InvalidArgument`: `a` is not square, shapes that do not fit, a tolerance below 0, a NaN or an
/// infinity in `b` or the start. `NoConvergence`: the iterations are used up; or a breakdown, where
/// a direction shows that `a` or the preconditioner is not positive definite, or a number left the
/// range of its type. `OutOfMemory`.
///
/// ```
/// use tenure::{CsrMatrix, Krylov, linalg::cg, sparse::gallery};
///
/// let a: CsrMatrix<f64> = gallery::poisson([8, 10, 5])?;
/// let b = a.view().matmul(&vec![1.0; 400])?;
/// let solution = cg(&a, &b, Krylov::new().relative_tolerance(1e-12))?;
/// assert!(solution.x.iter().all(|x| (x - 1.0).abs() < 1e-9));
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias = "conjugate_gradient")]
pub fn cg<T: NativeFloat>(
    a: impl LinearOperator<T>,
    b: impl AsView<T>,
    how: Krylov<'_, T>,
) -> Result<Solution<T>, Unsolved<T>> {
    let mut course = Course::begin("cg", &a, &b.as_view(), &how)?;
    if course.is_there() {
        return Ok(course.solution());
    }
    let order = course.x.len();
    let (mut direction, mut product) = (Tensor::zeros(order)?, Tensor::zeros(order)?);
    let mut preconditioned = match how.preconditioner {
        Some(_) => Tensor::zeros(order)?,
        None => Tensor::zeros(0)?,
    };
    let mut rho_before = 0.0;
    loop {
        course = course.go_on()?;
        let (gradient, rho) = match &mut course.inverse {
            None => (&course.residual, course.residual_norm * course.residual_norm),
            Some(inverse) => {
                inverse.apply_into(course.residual.as_ref(), preconditioned.as_mut())?;
                let rho = vectors::dot(course.residual.as_ref(), preconditioned.as_ref());
                (&preconditioned, rho)
            }
        };
        if !(rho > 0.0 && rho.is_finite()) {
            let name = "the residual times the preconditioned residual";
            return Err(course.break_down(name, rho, [2, 0, 1]));
        }
        // At first there is no direction before.
        let beta = if course.iterations == 1 { 0.0 } else { rho / rho_before };
        vectors::scale_and_add(direction.as_mut(), T::from_f64(beta), gradient.as_ref());
        course.a.apply_into(direction.as_ref(), product.as_mut())?;
        let curvature = vectors::dot(direction.as_ref(), product.as_ref());
        if !(curvature > 0.0 && curvature.is_finite()) {
            return Err(course.break_down("a direction p times a p", curvature, [2, 1, 2]));
        }
        let step = T::from_f64(rho / curvature);
        vectors::add_scaled(course.x.as_mut(), step, direction.as_ref());
        course.residual_norm =
            vectors::add_scaled_and_norm(course.residual.as_mut(), -step, product.as_ref());
        if course.is_there() {
            return Ok(course.solution());
        }
        rho_before = rho;
    }
}
