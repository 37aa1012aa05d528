//! Equality up to rounding.

use super::results::{broadcast_shape, refused};
use crate::dense::TensorView;
use crate::dtype::Number;
use crate::error::Result;
use crate::operand::AsView;

/// How far two numbers may be apart in [`all_close`]: `|a - b| <= absolute + relative * |b|`.
///
/// By default as in NumPy: relative 1e-5, absolute 1e-8.
///
/// ```
/// use tenure::{Tolerance, ops::all_close};
///
/// assert!(all_close(&[1.0], &[1.0 + 1e-7], Tolerance::default())?);
/// assert!(!all_close(&[1.0], &[1.0 + 1e-7], Tolerance::default().relative(1e-9))?);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct Tolerance {
    relative: f64,
    absolute: f64,
    nan_equals_nan: bool,
}

impl Default for Tolerance {
    fn default() -> Self {
        Tolerance { relative: 1e-5, absolute: 1e-8, nan_equals_nan: false }
    }
}

impl Tolerance {
    /// The part that grows with `|b|`.
    #[doc(alias = "rtol")]
    pub const fn relative(self, relative: f64) -> Self {
        Tolerance { relative, ..self }
    }

    /// The part that does not.
    #[doc(alias = "atol")]
    pub const fn absolute(self, absolute: f64) -> Self {
        Tolerance { absolute, ..self }
    }

    /// NaN is close to NaN, which it is not by default.
    ///
    /// ```
    /// use tenure::{Tolerance, ops::all_close};
    ///
    /// assert!(!all_close(&[f64::NAN], &[f64::NAN], Tolerance::default())?);
    /// assert!(all_close(&[f64::NAN], &[f64::NAN], Tolerance::default().nan_equals_nan())?);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias = "equal_nan")]
    pub const fn nan_equals_nan(self) -> Self {
        Tolerance { nan_equals_nan: true, ..self }
    }

    fn takes<T: Number>(&self, a: T, b: T) -> bool {
        if a == b {
            return true; // equal infinities, whose difference is NaN
        }
        let (a, b) = (a.to_double(), b.to_double());
        let is_near = (a - b).abs() <= self.absolute + self.relative * b.abs();
        (is_near && b.is_finite()) || (self.nan_equals_nan && a.is_nan() && b.is_nan())
    }
}

/// Whether every element of `a` is within `tolerance` of that of `b`; both are broadcast. True of
/// no elements.
///
/// # Errors
///
/// `InvalidArgument`: the shapes do not broadcast.
///
/// ```
/// use tenure::{Tolerance, ops::{all_close, exp}};
///
/// let result = exp(&[0.0_f64, 1.0])?;
/// assert!(all_close(&result, &[1.0, 2.718_281_83], Tolerance::default())?);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("allclose", "isclose", "abs_diff_eq"))]
pub fn all_close<T: Number>(
    a: impl AsView<T>,
    b: impl AsView<T>,
    tolerance: Tolerance,
) -> Result<bool> {
    let (a, b): (TensorView<'_, T>, TensorView<'_, T>) = (a.as_view(), b.as_view());
    let shapes = [a.shape(), b.shape()];
    let shape =
        broadcast_shape(shapes).map_err(|error| refused(error, "all_close", &shapes, None))?;
    let (a, b) = (a.broadcast(shape.as_slice())?, b.broadcast(shape.as_slice())?);
    Ok(a.iter().zip(b).all(|(&a, &b)| tolerance.takes(a, b)))
}
