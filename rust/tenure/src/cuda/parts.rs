//! Parts and other shapes of memory of a device, and the getters of views.

use crate::cuda::{Tensor, TensorView, TensorViewMut};
use crate::dense::IntoIndex;
use crate::dense::IntoSlice;
use crate::dense::described::described;
use crate::dense::{IntoReshape, IntoShape, Slice};
use crate::dense::{manipulate, slice::slice_axes};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::axis::Axis;

/// The manipulations of a type that has `raw()`, which give `$part`: those of the views of the
/// host, by the same functions.
macro_rules! parts {
    (
        $type:ty, [$($lifetime:lifetime)?] => $part:ty, [$($receiver:tt)+] $self:ident;
        $also:literal
    ) => {
        /// Parts and other shapes of the same memory, by arithmetic only: nothing is copied and
        #[doc = concat!("nothing enqueued. ", $also)]
        impl<$($lifetime,)? T: Element> $type {
            /// The elements of `range` along one axis.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis, or a range that leaves it.
            #[doc(alias = "narrow")]
            pub fn slice(
                $($receiver)+,
                axis: impl Into<Axis>,
                range: impl IntoSlice,
            ) -> Result<$part> {
                manipulate::slice("slice", $self.raw(), axis.into(), range, 1).map(<$part>::part)
            }

            /// The elements of `range` along one axis, every `|step|`-th; a negative `step` starts
            /// at the range's end.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis, a range that leaves it, or a step of 0.
            pub fn slice_step(
                $($receiver)+,
                axis: impl Into<Axis>,
                range: impl IntoSlice,
                step: isize,
            ) -> Result<$part> {
                manipulate::slice("slice_step", $self.raw(), axis.into(), range, step)
                    .map(<$part>::part)
            }

            /// The elements at several ranges and indices, one for each axis from the first on, as
            /// [`s!`](crate::s) makes them; axes without one are whole.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: more of them than axes, one that leaves its axis, or a step of 0.
            pub fn slice_axes($($receiver)+, slices: impl AsRef<[Slice]>) -> Result<$part> {
                slice_axes($self.raw(), slices.as_ref()).map(<$part>::part)
            }

            /// The part at one index of an axis; the axis is gone from the result.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis, or an index outside it.
            pub fn index($($receiver)+, axis: impl Into<Axis>, index: impl IntoIndex) -> Result<$part> {
                manipulate::index("index", $self.raw(), axis.into(), index).map(<$part>::part)
            }

            /// Reorders the axes: axis `i` of the result is axis `axes[i]` of this.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: `axes` does not name every axis once.
            pub fn permute($($receiver)+, axes: &[impl Into<Axis> + Copy]) -> Result<$part> {
                manipulate::permute($self.raw(), axes).map(<$part>::part)
            }

            /// Exchanges two axes.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis.
            #[doc(alias = "swapaxes")]
            pub fn transpose(
                $($receiver)+,
                axis_a: impl Into<Axis>,
                axis_b: impl Into<Axis>,
            ) -> Result<$part> {
                manipulate::transpose($self.raw(), axis_a.into(), axis_b.into()).map(<$part>::part)
            }

            /// The last axis as the second one: images whose channels stand last, in the order of
            /// axes that [`conv2d`](crate::cuda::Stream::conv2d) takes.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: fewer than three axes.
            #[doc(alias("nhwc", "memory_format"))]
            pub fn channels_last($($receiver)+) -> Result<$part> {
                manipulate::channels_last($self.raw()).map(<$part>::part)
            }

            /// All axes in reverse: the transpose of a matrix.
            pub fn t($($receiver)+) -> $part {
                <$part>::part(manipulate::reversed($self.raw()))
            }

            /// Gives the elements in row-major order another shape, if strides can express it.
            /// Never copies.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: another count of elements, or a layout that only a copy could
            /// reshape.
            #[doc(alias = "view")]
            pub fn reshape($($receiver)+, shape: impl IntoReshape) -> Result<$part> {
                manipulate::reshape($self.raw(), &shape).map(<$part>::part)
            }

            /// Reshapes to one axis: see [`reshape`](Self::reshape).
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: a layout that only a copy could flatten.
            #[doc(alias = "ravel")]
            pub fn flatten($($receiver)+) -> Result<$part> {
                $self.reshape(-1)
            }

            /// Drops an axis of extent 1.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis, or its extent is not 1.
            pub fn squeeze($($receiver)+, axis: impl Into<Axis>) -> Result<$part> {
                manipulate::squeeze($self.raw(), axis.into()).map(<$part>::part)
            }

            /// Puts an axis of extent 1 before `axis`; at the end when `axis` is the rank.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: `axis` is over the rank, or the rank is 8.
            #[doc(alias = "expand_dims")]
            pub fn unsqueeze($($receiver)+, axis: impl Into<Axis>) -> Result<$part> {
                manipulate::unsqueeze("unsqueeze", $self.raw(), axis.into()).map(<$part>::part)
            }

            /// Reverses an axis.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis.
            pub fn flip($($receiver)+, axis: impl Into<Axis>) -> Result<$part> {
                manipulate::flip($self.raw(), axis.into()).map(<$part>::part)
            }

            /// The parts before and from `index` of an axis.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis, or `index` is over its extent.
            pub fn split_at(
                $($receiver)+,
                axis: impl Into<Axis>,
                index: usize,
            ) -> Result<($part, $part)> {
                let (low, high) = manipulate::split($self.raw(), axis.into(), index)?;
                Ok((<$part>::part(low), <$part>::part(high)))
            }

            /// Part number `index` of an axis split into `part_count` parts, whose extents differ
            /// by at most one, the longer ones first.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis, no parts, or `index` is not below `part_count`.
            #[doc(alias = "chunk")]
            pub fn split_part(
                $($receiver)+,
                axis: impl Into<Axis>,
                part_count: usize,
                index: usize,
            ) -> Result<$part> {
                manipulate::split_part($self.raw(), axis.into(), part_count, index)
                    .map(<$part>::part)
            }

            /// The diagonal of the last two axes, `offset` above the main one (below it where
            /// negative), as the last axis of the result.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: fewer than two axes.
            #[doc(alias("diag", "trace"))]
            pub fn diagonal($($receiver)+, offset: isize) -> Result<$part> {
                manipulate::diagonal($self.raw(), offset).map(<$part>::part)
            }
        }
    };
}

parts!(TensorView<'a, T>, ['a] => TensorView<'a, T>, [&self] self; "");
parts!(Tensor<T>, [] => TensorView<'_, T>, [&self] self; "");
parts!(TensorViewMut<'a, T>, ['a] => TensorViewMut<'a, T>, [self] self;
    "Each consumes the view; to use it again, [reborrow](TensorViewMut::view_mut) it first.");

/// Shapes in which indices meet in one element.
macro_rules! repeats {
    ($type:ty, [$($lifetime:lifetime)?] => $part:ty) => {
        /// Shapes in which several indices have one element.
        impl<$($lifetime,)? T: Element> $type {
            /// Repeats axes of extent 1, and puts axes in front, as NumPy broadcasts; the repeats
            /// share their elements.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: the shapes do not broadcast.
            #[doc(alias("broadcast_to", "expand"))]
            pub fn broadcast(&self, shape: impl IntoShape) -> Result<$part> {
                manipulate::broadcast(self.raw(), shape.extents()).map(<$part>::part)
            }

            /// Sliding windows along an axis: its extent becomes the number of windows, and a new
            /// last axis of extent `size` runs inside each. Windows share elements where `step` is
            /// below `size`.
            ///
            /// # Errors
            ///
            /// `InvalidArgument`: no such axis, `size` outside 1 to its extent, `step` of 0, or
            /// rank 8.
            #[doc(alias("sliding_window_view", "unfold"))]
            pub fn windows(
                &self,
                axis: impl Into<Axis>,
                size: usize,
                step: usize,
            ) -> Result<$part> {
                manipulate::windows(self.raw(), axis.into(), size, step).map(<$part>::part)
            }
        }
    };
}

repeats!(TensorView<'a, T>, ['a] => TensorView<'a, T>);
repeats!(Tensor<T>, [] => TensorView<'_, T>);

impl<T: Element> TensorViewMut<'_, T> {
    /// Sliding windows along an axis, as of a [`TensorView`]. Windows that share elements cannot be
    /// written.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, `size` outside 1 to its extent, `step` of 0, or rank 8.
    /// `Aliased`: more than one window and `step` below `size`.
    #[doc(alias("sliding_window_view", "unfold"))]
    pub fn windows(self, axis: impl Into<Axis>, size: usize, step: usize) -> Result<Self> {
        Self::distinct(manipulate::windows(self.raw(), axis.into(), size, step)?)
    }
}

/// Addresses that mean nothing to the host.
macro_rules! addresses {
    ($($type:ty, [$($lifetime:lifetime)?];)*) => {$(
        impl<$($lifetime,)? T: Element> $type {
            /// The address on the device of index 0 on every axis; it is none of the host's. NULL
            /// or dangling when there are no elements.
            pub fn as_ptr(&self) -> *const T {
                self.raw().data.cast()
            }
        }
    )*};
}

addresses! { Tensor<T>, []; TensorView<'a, T>, ['a]; TensorViewMut<'a, T>, ['a]; }

/// The beginning of examples: a tensor on a device, where there is one.
macro_rules! on_device {
    ($($type:ty, [$($lifetime:lifetime)?], example $make:literal;)*) => {$(
        described!($type, [$($lifetime)?];
            "# let Ok(device) = cuda::Device::new(0) else { return Ok(()) };
# let mut tensor = device.stream()?.upload(&[[1, 2, 3], [4, 5, 6]])?;", example $make);
    )*};
}

on_device! {
    Tensor<T>, [], example "tensor";
    TensorView<'a, T>, ['a], example "tensor.view()";
    TensorViewMut<'a, T>, ['a], example "tensor.view_mut()";
}
