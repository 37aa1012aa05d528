//! Accessors of tensors' and views' metadata, written once.

use crate::dense::{SharedTensor, Tensor, TensorView, TensorViewMut};

/// The accessors of a type that has `raw()`, its `tnr_view`. `$make` is an expression for the
/// examples that gives a (2, 3) of the numbers from 1 to 6, after `$setup`.
macro_rules! described {
    (
        $type:ty, [$($lifetime:lifetime)?];
        $setup:literal, example $make:literal
    ) => {
        /// Metadata: shape, strides, dtype.
        impl<$($lifetime,)? T: $crate::Element> $type {
            /// The extent of each axis, outermost first.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = $setup]
            #[doc = concat!("let it = ", $make, ";")]
            /// assert_eq!(it.shape(), [2, 3]);
            /// # Ok::<(), Error>(())
            /// ```
            #[inline]
            pub fn shape(&self) -> &[usize] {
                $crate::layout::extents(self.raw())
            }

            /// Elements from one index to the next, for each axis; of any sign. On axes of extent
            /// 0 or 1 they mean nothing.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = $setup]
            #[doc = concat!("let it = ", $make, ";")]
            /// assert_eq!(it.strides(), [3, 1]);
            /// # Ok::<(), Error>(())
            /// ```
            #[inline]
            pub fn strides(&self) -> &[isize] {
                $crate::layout::strides(self.raw())
            }

            /// Number of axes, 0 to 8.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = $setup]
            #[doc = concat!("let it = ", $make, ";")]
            /// assert_eq!(it.rank(), 2);
            /// # Ok::<(), Error>(())
            /// ```
            #[inline]
            pub fn rank(&self) -> usize {
                self.raw().rank as usize
            }

            /// Number of elements: the product of the extents.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = $setup]
            #[doc = concat!("let it = ", $make, ";")]
            /// assert_eq!(it.len(), 6);
            /// # Ok::<(), Error>(())
            /// ```
            #[inline]
            pub fn len(&self) -> usize {
                $crate::layout::count(self.raw())
            }

            /// Whether an extent is 0, so that there are no elements.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = $setup]
            #[doc = concat!("let it = ", $make, ";")]
            /// assert!(!it.is_empty());
            /// # Ok::<(), Error>(())
            /// ```
            #[inline]
            pub fn is_empty(&self) -> bool {
                $crate::layout::is_empty(self.raw())
            }

            /// The dtype of `T`.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = $setup]
            #[doc = concat!("let it = ", $make, ";")]
            /// assert_eq!(it.dtype(), DType::I32);
            /// # Ok::<(), Error>(())
            /// ```
            #[inline]
            pub fn dtype(&self) -> $crate::DType {
                T::DTYPE
            }

            /// Whether the elements are adjacent in memory in row-major order.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = $setup]
            #[doc = concat!("let it = ", $make, ";")]
            /// assert!(it.is_row_major());
            /// # Ok::<(), Error>(())
            /// ```
            #[inline]
            pub fn is_row_major(&self) -> bool {
                $crate::layout::is_row_major(self.raw())
            }

            /// Whether the elements are adjacent in memory in this order. A single element, or
            /// none, is contiguous in every order.
            ///
            /// ```
            /// # use tenure::*;
            #[doc = $setup]
            #[doc = concat!("let it = ", $make, ";")]
            /// assert!(it.is_contiguous(Order::RowMajor));
            /// assert!(!it.is_contiguous(Order::ColumnMajor));
            /// # Ok::<(), Error>(())
            /// ```
            #[inline]
            pub fn is_contiguous(&self, order: $crate::Order) -> bool {
                $crate::layout::is_contiguous(self.raw(), order)
            }
        }
    };
}
pub(crate) use described;

/// Addresses that the host may read.
macro_rules! addressed {
    ($type:ty, [$($lifetime:lifetime)?]; example $make:literal) => {
        impl<$($lifetime,)? T: $crate::Element> $type {
            /// Address of index 0 on every axis. Dangling or null when there are no elements.
            ///
            /// ```
            /// # use tenure::*;
            /// # let mut data = [1, 2, 3, 4, 5, 6];
            #[doc = concat!("let it = ", $make, ";")]
            /// assert!(std::ptr::eq(it.as_ptr(), &it[[0, 0]]));
            /// # Ok::<(), Error>(())
            /// ```
            #[inline]
            pub fn as_ptr(&self) -> *const T {
                self.raw().data.cast()
            }
        }
    };
}

/// Both macros, for types in memory of the host.
macro_rules! of_host {
    ($($type:ty, [$($lifetime:lifetime)?], example $make:literal;)*) => {$(
        described!($type, [$($lifetime)?];
            "# let mut data = [1, 2, 3, 4, 5, 6];", example $make);
        addressed!($type, [$($lifetime)?]; example $make);
    )*};
}

of_host! {
    TensorView<'a, T>, ['a], example "TensorView::from_slice(&data, [2, 3])?";
    TensorViewMut<'a, T>, ['a], example "TensorViewMut::from_slice(&mut data, [2, 3])?";
    Tensor<T>, [], example "Tensor::copy_from_slice(&data, [2, 3])?";
    SharedTensor<T>, [], example "Tensor::copy_from_slice(&data, [2, 3])?.into_shared()";
}
