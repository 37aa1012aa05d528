//! Operators in a unit of their own.

use super::{LinearOperator, vectors};
use crate::dense::Tensor;
use crate::dtype::NativeFloat;
use crate::error::Result;

/// An operator divided by a power of two. Its products with vectors near 1 are far from the ends of
/// the range of their type.
///
/// The first product decides on the power, which is 1 unless it has to be another. One half of the
/// power divides the vector, the other half the product, so that both stay away from the ends.
pub(super) struct Scaled<'a, T: NativeFloat> {
    operator: &'a dyn LinearOperator<T>,
    /// The exponent of the power; `None` before the first product.
    exponent: Option<i32>,
    scaled_x: Tensor<T>,
}

impl<'a, T: NativeFloat> Scaled<'a, T> {
    pub(super) fn new(operator: &'a dyn LinearOperator<T>) -> Result<Self> {
        Ok(Scaled { operator, exponent: None, scaled_x: Tensor::zeros(0)? })
    }

    pub(super) fn extents(&self) -> [usize; 2] {
        self.operator.extents()
    }

    /// The exponent of the power of two that divides the operator.
    pub(super) fn exponent(&self) -> i32 {
        self.exponent.unwrap_or(0)
    }

    pub(super) fn apply_into(&mut self, x: &[T], out: &mut [T]) -> Result<()> {
        self.multiply(x, out, |operator, x, out| operator.apply_into(x, out))
    }

    pub(super) fn apply_transposed_into(&mut self, x: &[T], out: &mut [T]) -> Result<()> {
        self.multiply(x, out, |operator, x, out| operator.apply_transposed_into(x, out))
    }

    #[inline]
    fn multiply(
        &mut self,
        x: &[T],
        out: &mut [T],
        product: impl Fn(&dyn LinearOperator<T>, &[T], &mut [T]) -> Result<()>,
    ) -> Result<()> {
        match self.exponent {
            Some(0) => product(self.operator, x, out),
            Some(exponent) => {
                let half = exponent / 2;
                self.multiply_shifted(x, out, -half, &product)?;
                vectors::scale(out, half - exponent);
                Ok(())
            }
            None => {
                product(self.operator, x, out)?;
                self.measure(x, out, product)
            }
        }
    }

    /// The product with x 2^shift.
    fn multiply_shifted(
        &mut self,
        x: &[T],
        out: &mut [T],
        shift: i32,
        product: impl Fn(&dyn LinearOperator<T>, &[T], &mut [T]) -> Result<()>,
    ) -> Result<()> {
        if self.scaled_x.len() != x.len() {
            self.scaled_x = Tensor::zeros(x.len())?;
        }
        let scaled_x: &mut [T] = self.scaled_x.as_mut();
        scaled_x.copy_from_slice(x);
        vectors::scale(scaled_x, shift);
        product(self.operator, scaled_x, out)
    }

    /// Finds the exponent by the first product, and computes that again unless the exponent is 0.
    #[cold]
    fn measure(
        &mut self,
        x: &[T],
        out: &mut [T],
        product: impl Fn(&dyn LinearOperator<T>, &[T], &mut [T]) -> Result<()>,
    ) -> Result<()> {
        let (before, mut after) = (vectors::largest(x), vectors::largest(out));
        let mut shift = 0;
        if before > 0.0 && (after == 0.0 || !after.is_finite()) {
            // The product may have left the range.
            shift = if after == 0.0 { T::FAR } else { -T::FAR };
            self.multiply_shifted(x, out, shift, &product)?;
            after = vectors::largest(out);
        }
        if after == 0.0 || !after.is_finite() {
            // The product is 0 or has a NaN: the product of another vector decides.
            return product(self.operator, x, out);
        }
        let exponent = vectors::exponent(after) - vectors::exponent(before) - shift;
        self.exponent = Some(if exponent.abs() <= T::NEAR { 0 } else { exponent });
        match self.exponent() {
            0 if shift == 0 => Ok(()),
            _ => self.multiply(x, out, product),
        }
    }
}
