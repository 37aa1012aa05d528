//! The operations that most programs call, as methods of tensors and views: each calls the function
//! of the same name.

use crate::dense::{SharedTensor, Tensor, TensorView, TensorViewMut};
use crate::dtype::{Arithmetic, Factor, Field, Float, Number};
use crate::error::Result;
use crate::operand::AsView;
use crate::ops::axes::Axes;
use crate::{linalg, nn, ops};

/// A method with an example: `$code` is true of `it`, the numbers 1, 4, 9 and 16 as a (2, 2).
macro_rules! method {
    ($make:literal, $code:literal, $function:literal, $($method:tt)+) => {
        #[doc = concat!("Does the same as [`", $function, "`](fn@crate::", $function, ").")]
        ///
        /// # Errors
        ///
        /// The errors of the function.
        ///
        /// ```
        /// # use tenure::*;
        /// # let mut data = [1.0, 4.0, 9.0, 16.0];
        #[doc = concat!("let it = ", $make, ";")]
        #[doc = concat!("assert_eq!(", $code, ");")]
        /// # Ok::<(), Error>(())
        /// ```
        #[inline]
        $($method)+
    };
}

macro_rules! methods {
    ($($type:ty, [$($lifetime:lifetime)?], $make:literal;)*) => {$(
        /// Operations on numbers, complex ones too. Those without a method are functions of
        /// [`ops`](crate::ops), [`linalg`](crate::linalg) and [`nn`](crate::nn).
        impl<$($lifetime,)? T: Arithmetic> $type {
            method! { $make, "it.sum(0)?, [10.0, 20.0]", "ops::sum",
                pub fn sum(&self, axes: impl Into<Axes>) -> Result<Tensor<T::Sum>> {
                    ops::sum(self, axes)
                }
            }
            method! { $make, "it.abs()?, [[1.0, 4.0], [9.0, 16.0]]", "ops::abs",
                pub fn abs(&self) -> Result<Tensor<T::Magnitude>> {
                    ops::abs(self)
                }
            }
        }

        /// Means.
        impl<$($lifetime,)? T: Field> $type {
            method! { $make, "it.mean(-1)?, [2.5, 12.5]", "ops::mean",
                pub fn mean(&self, axes: impl Into<Axes>) -> Result<Tensor<T>> {
                    ops::mean(self, axes)
                }
            }
        }

        /// Operations on real numbers.
        impl<$($lifetime,)? T: Number> $type {
            method! { $make, "it.max(0)?, [9.0, 16.0]", "ops::max",
                pub fn max(&self, axes: impl Into<Axes>) -> Result<Tensor<T>> {
                    ops::max(self, axes)
                }
            }
            method! { $make, "it.min(..)?.item(), Some(1.0)", "ops::min",
                pub fn min(&self, axes: impl Into<Axes>) -> Result<Tensor<T>> {
                    ops::min(self, axes)
                }
            }
            method! { $make, "it.argmax(1)?, [1, 1]", "ops::argmax",
                pub fn argmax(&self, axes: impl Into<Axes>) -> Result<Tensor<i64>> {
                    ops::argmax(self, axes)
                }
            }
            method! { $make, "it.argmin(1)?, [0, 0]", "ops::argmin",
                pub fn argmin(&self, axes: impl Into<Axes>) -> Result<Tensor<i64>> {
                    ops::argmin(self, axes)
                }
            }
            method! { $make, "it.relu()?, [[1.0, 4.0], [9.0, 16.0]]", "nn::relu",
                pub fn relu(&self) -> Result<Tensor<T>> {
                    nn::relu(self)
                }
            }
        }

        /// Operations on floats.
        impl<$($lifetime,)? T: Float> $type {
            method! { $make, "it.exp()?[[0, 0]], 1.0_f64.exp()", "ops::exp",
                pub fn exp(&self) -> Result<Tensor<T>> {
                    ops::exp(self)
                }
            }
            method! { $make, "it.sqrt()?, [[1.0, 2.0], [3.0, 4.0]]", "ops::sqrt",
                pub fn sqrt(&self) -> Result<Tensor<T>> {
                    ops::sqrt(self)
                }
            }
            method! { $make, "it.softmax(-1)?.shape(), [2, 2]", "nn::softmax",
                pub fn softmax(&self, axes: impl Into<Axes>) -> Result<Tensor<T>> {
                    nn::softmax(self, axes)
                }
            }
        }

        /// Products of matrices.
        impl<$($lifetime,)? T: Factor> $type {
            method! { $make, "it.matmul([1.0, 2.0])?, [9.0, 41.0]", "linalg::matmul",
                pub fn matmul(&self, b: impl AsView<T>) -> Result<Tensor<T::Product>> {
                    linalg::matmul(self, b)
                }
            }
        }
    )*};
}

methods! {
    Tensor<T>, [], "Tensor::copy_from_slice(&data, [2, 2])?";
    SharedTensor<T>, [], "Tensor::copy_from_slice(&data, [2, 2])?.into_shared()";
    TensorView<'a, T>, ['a], "TensorView::from_slice(&data, [2, 2])?";
    TensorViewMut<'a, T>, ['a], "TensorViewMut::from_slice(&mut data, [2, 2])?";
}
