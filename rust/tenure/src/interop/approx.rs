//! Equality up to a tolerance, by the traits of the crate `approx`.

use ::approx::{AbsDiffEq, RelativeEq, UlpsEq};

use crate::dense::{SharedTensor, Tensor, TensorView, TensorViewMut};
use crate::dtype::Element;
use crate::operand::AsView;

/// Whether the shapes are equal and `is_near` holds for each two elements.
fn near<T: Element>(
    a: &TensorView<'_, T>,
    b: &TensorView<'_, T>,
    is_near: impl Fn(&T, &T) -> bool,
) -> bool {
    a.shape() == b.shape() && a.iter().zip(b.iter()).all(|(a, b)| is_near(a, b))
}

/// Implements the traits for one type, with each type that it can be equal to.
macro_rules! approximate {
    ($($type:ty;)*) => {$(
        /// Requires equal shapes, and compares element by element.
        ///
        /// ```
        /// use approx::{assert_abs_diff_eq, assert_abs_diff_ne};
        /// use tenure::Tensor;
        ///
        /// let tensor = Tensor::from([1.0, 2.0]);
        /// assert_abs_diff_eq!(tensor, [1.0, 2.01], epsilon = 0.1);
        /// assert_abs_diff_ne!(tensor, Tensor::from([[1.0, 2.0]]), epsilon = 0.1);
        /// ```
        impl<T, B> AbsDiffEq<B> for $type
        where
            T: Element + AbsDiffEq<Epsilon: Copy>,
            B: AsView<T> + ?Sized,
            Self: PartialEq<B>,
        {
            type Epsilon = T::Epsilon;

            fn default_epsilon() -> T::Epsilon {
                T::default_epsilon()
            }

            fn abs_diff_eq(&self, other: &B, epsilon: T::Epsilon) -> bool {
                near(&self.as_view(), &other.as_view(), |a, b| a.abs_diff_eq(b, epsilon))
            }
        }

        /// Requires equal shapes, and compares element by element.
        ///
        /// ```
        /// use approx::assert_relative_eq;
        /// use tenure::{TensorView, ops::exp};
        ///
        /// let data = [0.0_f64, 10.0];
        /// let view = TensorView::from(&data[..]);
        /// assert_relative_eq!(exp(view)?, [1.0, 22026.46579], max_relative = 1e-9);
        /// # Ok::<(), tenure::Error>(())
        /// ```
        impl<T, B> RelativeEq<B> for $type
        where
            T: Element + RelativeEq<Epsilon: Copy>,
            B: AsView<T> + ?Sized,
            Self: PartialEq<B>,
        {
            fn default_max_relative() -> T::Epsilon {
                T::default_max_relative()
            }

            fn relative_eq(&self, other: &B, epsilon: T::Epsilon, relative: T::Epsilon) -> bool {
                near(&self.as_view(), &other.as_view(), |a, b| a.relative_eq(b, epsilon, relative))
            }
        }

        /// Requires equal shapes, and compares element by element.
        ///
        /// ```
        /// use approx::assert_ulps_eq;
        /// use tenure::Tensor;
        ///
        /// assert_ulps_eq!(Tensor::from([0.1 + 0.2]), [0.3], max_ulps = 1);
        /// ```
        impl<T, B> UlpsEq<B> for $type
        where
            T: Element + UlpsEq<Epsilon: Copy>,
            B: AsView<T> + ?Sized,
            Self: PartialEq<B>,
        {
            fn default_max_ulps() -> u32 {
                T::default_max_ulps()
            }

            fn ulps_eq(&self, other: &B, epsilon: T::Epsilon, ulps: u32) -> bool {
                near(&self.as_view(), &other.as_view(), |a, b| a.ulps_eq(b, epsilon, ulps))
            }
        }
    )*};
}

approximate! { Tensor<T>; SharedTensor<T>; TensorView<'_, T>; TensorViewMut<'_, T>; }
