//! Parts and other shapes of memory lent for writing.

use crate::dense::IntoIndex;
use crate::dense::IntoSlice;
use crate::dense::manipulate;
use crate::dense::slice::slice_axes;
use crate::dense::{IntoReshape, Slice, TensorViewMut};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout;
use crate::layout::axis::Axis;

/// Parts and other shapes of the same memory: only arithmetic, nothing is copied. Each consumes the
/// view; where it is to be used again, [reborrow](TensorViewMut::view_mut) it first.
impl<'a, T: Element> TensorViewMut<'a, T> {
    /// The elements of `range` along one axis.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or a range that leaves it.
    ///
    /// ```
    /// # use tenure::TensorViewMut;
    /// let mut data = [1, 2, 3, 4, 5, 6];
    /// TensorViewMut::from_slice(&mut data, [2, 3])?.slice(1, 1..)?.fill(0);
    /// assert_eq!(data, [1, 0, 0, 4, 0, 0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias = "narrow")]
    pub fn slice(self, axis: impl Into<Axis>, range: impl IntoSlice) -> Result<Self> {
        manipulate::slice("slice", self.raw(), axis.into(), range, 1).map(Self::part)
    }

    /// The elements of `range` along one axis, every `|step|`-th; a negative `step` starts at the
    /// range's end.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, a range that leaves it, or a step of 0.
    ///
    /// ```
    /// # use tenure::TensorViewMut;
    /// let mut data = [0; 5];
    /// let odd = TensorViewMut::from_slice(&mut data, 5)?.slice_step(0, 1.., -2)?;
    /// odd.into_iter().zip(1..).for_each(|(element, nth)| *element = nth);
    /// assert_eq!(data, [0, 0, 2, 0, 1]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn slice_step(
        self,
        axis: impl Into<Axis>,
        range: impl IntoSlice,
        step: isize,
    ) -> Result<Self> {
        manipulate::slice("slice_step", self.raw(), axis.into(), range, step).map(Self::part)
    }

    /// The elements at several ranges and indices, one for each axis from the first on, as
    /// [`s!`](crate::s) makes them; axes without one are whole.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: more of them than axes, one that leaves its axis, or a step of 0.
    ///
    /// ```
    /// use tenure::{TensorViewMut, s};
    ///
    /// let mut data = [1, 2, 3, 4, 5, 6];
    /// TensorViewMut::from_slice(&mut data, [2, 3])?.slice_axes(s![-1, ..;2])?.fill(0);
    /// assert_eq!(data, [1, 2, 3, 0, 5, 0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn slice_axes(self, slices: impl AsRef<[Slice]>) -> Result<Self> {
        slice_axes(self.raw(), slices.as_ref()).map(Self::part)
    }

    /// The part at one index of an axis; the axis is gone from the result.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or an index outside it.
    ///
    /// ```
    /// # use tenure::TensorViewMut;
    /// let mut data = [1, 2, 3, 4, 5, 6];
    /// TensorViewMut::from_slice(&mut data, [2, 3])?.index(1, 0)?.fill(0);
    /// assert_eq!(data, [0, 2, 3, 0, 5, 6]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias("select", "take"))]
    pub fn index(self, axis: impl Into<Axis>, index: impl IntoIndex) -> Result<Self> {
        manipulate::index("index", self.raw(), axis.into(), index).map(Self::part)
    }

    /// Reorders the axes: axis `i` of the result is axis `axes[i]` of this view.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `axes` does not name every axis once.
    ///
    /// ```
    /// # use tenure::TensorViewMut;
    /// let mut pixels = [0; 6];
    /// // Pixels in rows of (red, green, blue), as three planes.
    /// let mut planes = TensorViewMut::from_slice(&mut pixels, [1, 2, 3])?.permute(&[2, 0, 1])?;
    /// planes.view_mut().index(0, 0)?.fill(255);
    /// assert_eq!(pixels, [255, 0, 0, 255, 0, 0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn permute(self, axes: &[impl Into<Axis> + Copy]) -> Result<Self> {
        manipulate::permute(self.raw(), axes).map(Self::part)
    }

    /// Exchanges two axes.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis.
    ///
    /// ```
    /// # use tenure::TensorViewMut;
    /// let mut data = [1, 2, 3, 4];
    /// TensorViewMut::from_slice(&mut data, [2, 2])?.transpose(0, 1)?[[0, 1]] = 30;
    /// assert_eq!(data, [1, 2, 30, 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias = "swapaxes")]
    pub fn transpose(self, axis_a: impl Into<Axis>, axis_b: impl Into<Axis>) -> Result<Self> {
        manipulate::transpose(self.raw(), axis_a.into(), axis_b.into()).map(Self::part)
    }

    /// An array whose channels stand last, as most images do, in the order of axes that
    /// [`conv2d`](crate::nn::conv2d) takes: of `[n, height, width, channels]` the view
    /// `[n, channels, height, width]` of the same memory, which is
    /// [`Order::ChannelsLast`](crate::Order) where the array is row-major.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: fewer than three axes.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut pixels = [0; 6];
    /// let mut images = TensorViewMut::from_slice(&mut pixels, [1, 1, 2, 3])?.channels_last()?;
    /// images.view_mut().index(1, 0)?.fill(255);
    /// assert_eq!(pixels, [255, 0, 0, 255, 0, 0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias("nhwc", "memory_format", "moveaxis"))]
    pub fn channels_last(self) -> Result<Self> {
        manipulate::channels_last(self.raw()).map(Self::part)
    }

    /// All axes in reverse: the transpose of a matrix.
    ///
    /// ```
    /// # use tenure::TensorViewMut;
    /// let mut data = [1, 2, 3, 4];
    /// TensorViewMut::from_slice(&mut data, [2, 2])?.t()[[0, 1]] = 30;
    /// assert_eq!(data, [1, 2, 30, 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn t(self) -> Self {
        Self::part(manipulate::reversed(self.raw()))
    }

    /// Gives the elements in row-major order another shape, if strides can express it; never
    /// copies.
    ///
    /// One extent may be -1, for what the others leave: `[3, -1]`, or `(n, -1)` where `n` is a
    /// `usize`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another count of elements, or a layout that only a copy could reshape.
    ///
    /// ```
    /// # use tenure::TensorViewMut;
    /// let mut data = [1, 2, 3, 4, 5, 6];
    /// TensorViewMut::from_slice(&mut data, [2, 3])?.reshape([3, 2])?[[1, 0]] = 30;
    /// assert_eq!(data, [1, 2, 30, 4, 5, 6]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias = "view")]
    pub fn reshape(self, shape: impl IntoReshape) -> Result<Self> {
        manipulate::reshape(self.raw(), &shape).map(Self::part)
    }

    /// Does the same as [`reshape`](Self::reshape) to one axis.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a layout that only a copy could flatten.
    ///
    /// ```
    /// # use tenure::TensorViewMut;
    /// let mut data = [1, 2, 3, 4];
    /// TensorViewMut::from_slice(&mut data, [2, 2])?.flatten()?[[2]] = 30;
    /// assert_eq!(data, [1, 2, 30, 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias = "ravel")]
    pub fn flatten(self) -> Result<Self> {
        self.reshape(-1)
    }

    /// Drops an axis of extent 1.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or its extent is not 1.
    ///
    /// ```
    /// # use tenure::TensorViewMut;
    /// let mut data = [1, 2, 3];
    /// TensorViewMut::from_slice(&mut data, [1, 3])?.squeeze(0)?[[2]] = 30;
    /// assert_eq!(data, [1, 2, 30]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn squeeze(self, axis: impl Into<Axis>) -> Result<Self> {
        manipulate::squeeze(self.raw(), axis.into()).map(Self::part)
    }

    /// Puts an axis of extent 1 before `axis`; at the end when `axis` is the rank.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `axis` is over the rank, or the rank is 8.
    ///
    /// ```
    /// # use tenure::TensorViewMut;
    /// let mut data = [1, 2, 3];
    /// TensorViewMut::from_slice(&mut data, [3])?.unsqueeze(1)?[[2, 0]] = 30;
    /// assert_eq!(data, [1, 2, 30]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias = "expand_dims")]
    pub fn unsqueeze(self, axis: impl Into<Axis>) -> Result<Self> {
        manipulate::unsqueeze("unsqueeze", self.raw(), axis.into()).map(Self::part)
    }

    /// Reverses an axis.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis.
    ///
    /// ```
    /// # use tenure::TensorViewMut;
    /// let mut data = [1, 2, 3];
    /// TensorViewMut::from_slice(&mut data, [3])?.flip(0)?[[0]] = 30;
    /// assert_eq!(data, [1, 2, 30]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn flip(self, axis: impl Into<Axis>) -> Result<Self> {
        manipulate::flip(self.raw(), axis.into()).map(Self::part)
    }

    /// The parts before and from `index` of an axis.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or `index` is over its extent.
    ///
    /// ```
    /// # use tenure::TensorViewMut;
    /// let mut data = [0; 6];
    /// let (mut left, mut right) = TensorViewMut::from_slice(&mut data, [2, 3])?.split_at(1, 1)?;
    /// // Interleaved in memory, and still two: threads may write them at once.
    /// std::thread::scope(|scope| {
    ///     scope.spawn(move || left.fill(1));
    ///     scope.spawn(move || right.fill(2));
    /// });
    /// assert_eq!(data, [1, 2, 2, 1, 2, 2]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn split_at(self, axis: impl Into<Axis>, index: usize) -> Result<(Self, Self)> {
        let (low, high) = manipulate::split(self.raw(), axis.into(), index)?;
        Ok((Self::part(low), Self::part(high)))
    }

    /// Part number `index` of an axis split into `part_count` parts, whose extents differ by at
    /// most one, the longer ones first.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, no parts, or `index` is not below `part_count`.
    ///
    /// ```
    /// # use tenure::TensorViewMut;
    /// let mut data = [1, 2, 3, 4, 5];
    /// TensorViewMut::from_slice(&mut data, 5)?.split_part(0, 2, 1)?.fill(0);
    /// assert_eq!(data, [1, 2, 3, 0, 0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias = "chunk")]
    pub fn split_part(
        self,
        axis: impl Into<Axis>,
        part_count: usize,
        index: usize,
    ) -> Result<Self> {
        manipulate::split_part(self.raw(), axis.into(), part_count, index).map(Self::part)
    }

    /// The diagonal of the last two axes, `offset` above the main one (below it where negative), as
    /// the last axis of the result.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: fewer than two axes.
    ///
    /// ```
    /// # use tenure::TensorViewMut;
    /// let mut data = [0; 9];
    /// TensorViewMut::from_slice(&mut data, [3, 3])?.diagonal(1)?.fill(7);
    /// assert_eq!(data, [0, 7, 0, 0, 0, 7, 0, 0, 0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias("diag", "trace"))]
    pub fn diagonal(self, offset: isize) -> Result<Self> {
        manipulate::diagonal(self.raw(), offset).map(Self::part)
    }

    /// Sliding windows along an axis: its extent becomes the number of windows, and a new last
    /// axis of extent `size` runs inside each. Windows that share elements cannot be written.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, `size` outside 1 to its extent, `step` of 0, or rank 8.
    /// `Aliased`: more than one window and `step` below `size`.
    ///
    /// ```
    /// # use tenure::TensorViewMut;
    /// let mut data = [1, 2, 3, 4, 5];
    /// let mut view = TensorViewMut::from_slice(&mut data, 5)?;
    /// view.view_mut().windows(0, 2, 3)?.index(0, 1)?.fill(0);
    /// assert!(view.windows(0, 2, 1).is_err());
    /// assert_eq!(data, [1, 2, 3, 0, 0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias("sliding_window_view", "unfold"))]
    pub fn windows(self, axis: impl Into<Axis>, size: usize, step: usize) -> Result<Self> {
        let windows = manipulate::windows(self.raw(), axis.into(), size, step)?;
        layout::check_distinct(&windows)?;
        Ok(Self::part(windows))
    }
}
