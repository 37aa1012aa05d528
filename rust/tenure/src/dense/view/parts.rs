//! Parts and other shapes of memory lent for reading.

use crate::dense::IntoIndex;
use crate::dense::IntoSlice;
use crate::dense::iter::{Chunks, SplitInto};
use crate::dense::manipulate;
use crate::dense::slice::slice_axes;
use crate::dense::{IntoReshape, IntoShape, Slice, TensorView};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::axis::Axis;

/// Parts and other shapes of the same memory: only arithmetic, nothing is copied.
impl<'a, T: Element> TensorView<'a, T> {
    /// The elements of `range` along one axis.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or a range that leaves it.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(view.slice(1, 1..)?.to_vec(), [2, 3, 5, 6]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias = "narrow")]
    pub fn slice(&self, axis: impl Into<Axis>, range: impl IntoSlice) -> Result<Self> {
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
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[0, 1, 2, 3, 4, 5, 6], 7)?;
    /// assert_eq!(view.slice_step(0, 1..6, 2)?.to_vec(), [1, 3, 5]);
    /// assert_eq!(view.slice_step(0, 1..6, -2)?.to_vec(), [5, 3, 1]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn slice_step(
        &self,
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
    /// use tenure::{TensorView, s};
    ///
    /// let view = TensorView::from_slice(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(view.slice_axes(s![.., 1..])?.to_vec(), [2, 3, 5, 6]);
    /// assert_eq!(view.slice_axes(s![-1, ..;-1])?.to_vec(), [6, 5, 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn slice_axes(&self, slices: impl AsRef<[Slice]>) -> Result<Self> {
        slice_axes(self.raw(), slices.as_ref()).map(Self::part)
    }

    /// The part at one index of an axis; the axis is gone from the result.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or an index outside it.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(view.index(0, 1)?.to_vec(), [4, 5, 6]);
    /// assert_eq!(view.index(1, 0)?.to_vec(), [1, 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias("select", "take"))]
    pub fn index(&self, axis: impl Into<Axis>, index: impl IntoIndex) -> Result<Self> {
        manipulate::index("index", self.raw(), axis.into(), index).map(Self::part)
    }

    /// Reorders the axes: axis `i` of the result is axis `axes[i]` of this view.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `axes` does not name every axis once.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// // Pixels in rows of (red, green, blue) as three planes.
    /// let pixels = [1, 10, 100, 2, 20, 200];
    /// let planes = TensorView::from_slice(&pixels, [1, 2, 3])?.permute(&[2, 0, 1])?;
    /// assert_eq!(planes.shape(), [3, 1, 2]);
    /// assert_eq!(planes.to_vec(), [1, 2, 10, 20, 100, 200]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn permute(&self, axes: &[impl Into<Axis> + Copy]) -> Result<Self> {
        manipulate::permute(self.raw(), axes).map(Self::part)
    }

    /// Exchanges two axes.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4], [2, 1, 2])?;
    /// assert_eq!(view.transpose(0, 2)?.to_vec(), [1, 3, 2, 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias = "swapaxes")]
    pub fn transpose(&self, axis_a: impl Into<Axis>, axis_b: impl Into<Axis>) -> Result<Self> {
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
    /// // One row of two pixels (red, green, blue).
    /// let pixels = [1, 10, 100, 2, 20, 200];
    /// let images = TensorView::from_slice(&pixels, [1, 1, 2, 3])?.channels_last()?;
    /// assert_eq!(images.shape(), [1, 3, 1, 2]);
    /// assert_eq!(images.to_vec(), [1, 2, 10, 20, 100, 200]);
    /// assert!(images.is_contiguous(Order::ChannelsLast));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias("nhwc", "memory_format", "moveaxis"))]
    pub fn channels_last(&self) -> Result<Self> {
        manipulate::channels_last(self.raw()).map(Self::part)
    }

    /// All axes in reverse: the transpose of a matrix.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(view.t().to_vec(), [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn t(&self) -> Self {
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
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(view.reshape([3, 2])?[[1, 0]], 3);
    /// assert!(view.t().reshape([6]).is_err());
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias = "view")]
    pub fn reshape(&self, shape: impl IntoReshape) -> Result<Self> {
        manipulate::reshape(self.raw(), &shape).map(Self::part)
    }

    /// Does the same as [`reshape`](Self::reshape) to one axis.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a layout that only a copy could flatten.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(view.slice_step(0, .., 2)?.flatten()?.to_vec(), [1, 2, 3]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias = "ravel")]
    pub fn flatten(&self) -> Result<Self> {
        self.reshape(self.len())
    }

    /// Drops an axis of extent 1.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or its extent is not 1.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3], [1, 3])?;
    /// assert_eq!(view.squeeze(0)?.shape(), [3]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn squeeze(&self, axis: impl Into<Axis>) -> Result<Self> {
        manipulate::squeeze(self.raw(), axis.into()).map(Self::part)
    }

    /// Puts an axis of extent 1 before `axis`; at the end when `axis` is the rank.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `axis` is over the rank, or the rank is 8.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3], [3])?;
    /// assert_eq!(view.unsqueeze(0)?.shape(), [1, 3]);
    /// assert_eq!(view.unsqueeze(1)?.shape(), [3, 1]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias = "expand_dims")]
    pub fn unsqueeze(&self, axis: impl Into<Axis>) -> Result<Self> {
        manipulate::unsqueeze("unsqueeze", self.raw(), axis.into()).map(Self::part)
    }

    /// Repeats axes of extent 1, and puts axes in front, as NumPy broadcasts; the repeats share
    /// their elements.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: the shapes do not broadcast, or the result has more than 2^59 - 1
    /// elements.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2], [2, 1])?;
    /// assert_eq!(view.broadcast([2, 3])?.to_vec(), [1, 1, 1, 2, 2, 2]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias("broadcast_to", "expand"))]
    pub fn broadcast(&self, shape: impl IntoShape) -> Result<Self> {
        manipulate::broadcast(self.raw(), shape.extents()).map(Self::part)
    }

    /// Reverses an axis.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(view.flip(0)?.to_vec(), [3, 4, 1, 2]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn flip(&self, axis: impl Into<Axis>) -> Result<Self> {
        manipulate::flip(self.raw(), axis.into()).map(Self::part)
    }

    /// The parts before and from `index` of an axis.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or `index` is over its extent.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// let (left, right) = view.split_at(1, 1)?;
    /// assert_eq!((left.to_vec(), right.to_vec()), (vec![1, 4], vec![2, 3, 5, 6]));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn split_at(&self, axis: impl Into<Axis>, index: usize) -> Result<(Self, Self)> {
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
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4, 5], 5)?;
    /// assert_eq!(view.split_part(0, 2, 1)?.to_vec(), [4, 5]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias = "chunk")]
    pub fn split_part(
        &self,
        axis: impl Into<Axis>,
        part_count: usize,
        index: usize,
    ) -> Result<Self> {
        manipulate::split_part(self.raw(), axis.into(), part_count, index).map(Self::part)
    }

    /// An axis split into `part_count` [parts](Self::split_part), whose extents differ by at most
    /// one, the longer ones first; some are empty where the axis is shorter.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or no parts.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4, 5, 6, 7], 7)?;
    /// let parts: Vec<_> = view.split_into(0, 3)?.map(|part| part.to_vec()).collect();
    /// assert_eq!(parts, [vec![1, 2, 3], vec![4, 5], vec![6, 7]]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("array_split", "tensor_split"))]
    pub fn split_into(&self, axis: impl Into<Axis>, part_count: usize) -> Result<SplitInto<'a, T>> {
        SplitInto::new(*self, axis.into(), part_count)
    }

    /// Chunks of `size` along an axis, as those of a slice: the last one is smaller where `size`
    /// does not divide the extent.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or a size of 0.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4, 5, 6, 7], 7)?;
    /// let chunks: Vec<_> = view.chunks(0, 3)?.map(|chunk| chunk.to_vec()).collect();
    /// assert_eq!(chunks, [vec![1, 2, 3], vec![4, 5, 6], vec![7]]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("split", "batches"))]
    pub fn chunks(&self, axis: impl Into<Axis>, size: usize) -> Result<Chunks<'a, T>> {
        Chunks::new(*self, axis.into(), size)
    }

    /// The diagonal of the last two axes, `offset` above the main one (below it where negative), as
    /// the last axis of the result.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: fewer than two axes.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// assert_eq!(view.diagonal(0)?.to_vec(), [1, 5]);
    /// assert_eq!(view.diagonal(1)?.to_vec(), [2, 6]);
    /// assert_eq!(view.diagonal(-1)?.to_vec(), [4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias("diag", "trace"))]
    pub fn diagonal(&self, offset: isize) -> Result<Self> {
        manipulate::diagonal(self.raw(), offset).map(Self::part)
    }

    /// Sliding windows along an axis: its extent becomes the number of windows, and a new last
    /// axis of extent `size` runs inside each. Windows share elements where `step` is below `size`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, `size` outside 1 to its extent, `step` of 0, or rank 8.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4], 4)?;
    /// let windows = view.windows(0, 3, 1)?;
    /// assert_eq!(windows.shape(), [2, 3]);
    /// assert_eq!(windows.to_vec(), [1, 2, 3, 2, 3, 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    #[doc(alias("sliding_window_view", "unfold"))]
    pub fn windows(&self, axis: impl Into<Axis>, size: usize, step: usize) -> Result<Self> {
        manipulate::windows(self.raw(), axis.into(), size, step).map(Self::part)
    }
}
