//! Stabilised biconjugate gradients.

use super::{Course, Krylov, LinearOperator, Scaled, Solution, Unsolved, vectors};
use crate::dense::Tensor;
use crate::dtype::NativeFloat;
use crate::error::Result;
use crate::layout::order::Order;
use crate::operand::AsView;

/// The x of a x = b, for any square `a`, by stabilised biconjugate gradients. (van der Vorst,
/// "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of nonsymmetric
/// linear systems", 1992.)
///
/// Stops as SciPy's `bicgstab` does. Two products with `a` are made in each iteration, by as many
/// threads as the context has; all else is done by the calling thread.
///
/// # Errors
///
/// The errors of [`cg`](crate::linalg::cg). A breakdown is that of a number by which the next step
/// is divided: the shadow residual times the residual or times a product, or the step of the
/// stabilisation.
///
/// ```
/// use tenure::{CsrView, Krylov, linalg::bicgstab};
///
/// let a = CsrView::new(2, 2, &[0, 2, 4], &[0, 1, 0, 1], &[4.0, 1.0, -2.0, 3.0])?;
/// let solution = bicgstab(&a, &[5.0, 1.0], Krylov::new().relative_tolerance(1e-12))?;
/// assert!(solution.x.iter().all(|x| (x - 1.0_f64).abs() < 1e-9));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn bicgstab<T: NativeFloat>(
    a: impl LinearOperator<T>,
    b: impl AsView<T>,
    how: Krylov<'_, T>,
) -> Result<Solution<T>, Unsolved<T>> {
    let mut course = Course::begin("bicgstab", &a, &b.as_view(), &how)?;
    if course.is_there() {
        return Ok(course.solution());
    }
    let order = course.x.len();
    let zeros = || Tensor::<T>::zeros(order);
    let (mut direction, mut along, mut across) = (zeros()?, zeros()?, zeros()?);
    let shadow = Tensor::working_copy(course.residual.view(), Order::RowMajor)?;
    let shadow_norm = course.residual_norm;
    let mut preconditioned = match how.preconditioner {
        Some(_) => [zeros()?, zeros()?],
        None => [Tensor::zeros(0)?, Tensor::zeros(0)?],
    };
    // The share of the product of two vectors' lengths that theirs must exceed, as in SciPy, where
    // lengths are not looked at.
    let least = T::EPSILON.to_f64() * T::EPSILON.to_f64();
    let (mut rho_before, mut step, mut stabilising) = (0.0, 0.0, 0.0);
    loop {
        course = course.go_on()?;
        let rho = vectors::dot(shadow.as_ref(), course.residual.as_ref());
        if !(rho.abs() > least * shadow_norm * course.residual_norm && rho.is_finite()) {
            return Err(course.break_down(
                "the shadow residual times the residual",
                rho,
                [2, 0, 0],
            ));
        }
        if course.iterations > 1 {
            let beta = (rho / rho_before) * (step / stabilising);
            vectors::add_scaled(direction.as_mut(), T::from_f64(-stabilising), along.as_ref());
            let residual = course.residual.as_ref();
            vectors::scale_and_add(direction.as_mut(), T::from_f64(beta), residual);
        } else {
            AsMut::<[T]>::as_mut(&mut direction).copy_from_slice(course.residual.as_ref());
        }
        let [first, second] = &mut preconditioned;
        let first = applied(&mut course.inverse, &direction, first)?;
        course.a.apply_into(first.as_ref(), along.as_mut())?;
        let projected = vectors::dot(shadow.as_ref(), along.as_ref());
        if projected == 0.0 || !projected.is_finite() {
            return Err(course.break_down("the shadow residual times a p", projected, [2, 1, 1]));
        }
        step = rho / projected;
        let factor = T::from_f64(step);
        vectors::add_scaled(course.x.as_mut(), factor, first.as_ref());
        course.residual_norm =
            vectors::add_scaled_and_norm(course.residual.as_mut(), -factor, along.as_ref());
        if course.is_there() {
            return Ok(course.solution());
        }
        let second = applied(&mut course.inverse, &course.residual, second)?;
        course.a.apply_into(second.as_ref(), across.as_mut())?;
        let squares = vectors::dot(across.as_ref(), across.as_ref());
        stabilising = vectors::dot(across.as_ref(), course.residual.as_ref()) / squares;
        if stabilising.abs() <= least || !stabilising.is_finite() {
            return Err(course.break_down(
                "the step of the stabilisation",
                stabilising,
                [0, -1, -1],
            ));
        }
        let factor = T::from_f64(stabilising);
        vectors::add_scaled(course.x.as_mut(), factor, second.as_ref());
        course.residual_norm =
            vectors::add_scaled_and_norm(course.residual.as_mut(), -factor, across.as_ref());
        if course.is_there() {
            return Ok(course.solution());
        }
        rho_before = rho;
    }
}

/// The vector as the preconditioner makes it, or as it is.
fn applied<'v, T: NativeFloat>(
    inverse: &mut Option<Scaled<'_, T>>,
    vector: &'v Tensor<T>,
    into: &'v mut Tensor<T>,
) -> Result<&'v Tensor<T>> {
    let Some(inverse) = inverse else { return Ok(vector) };
    inverse.apply_into(vector.as_ref(), into.as_mut())?;
    Ok(into)
}
