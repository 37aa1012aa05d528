//! Parts and other shapes of memory lent for reading.

use std::ops::RangeBounds;

use crate::dense::iter::Chunks;
use crate::dense::manipulate;
use crate::{Element, IntoShape, Result, TensorView};

/// Parts and other shapes of the same memory: arithmetic alone, nothing is copied.
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
    pub fn slice(&self, axis: usize, range: impl RangeBounds<usize>) -> Result<Self> {
        self.slice_step(axis, range, 1)
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
        axis: usize,
        range: impl RangeBounds<usize>,
        step: isize,
    ) -> Result<Self> {
        let range = manipulate::resolve(self.raw(), axis, range)?;
        manipulate::slice(self.raw(), axis, range, step).map(Self::part)
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
    pub fn index(&self, axis: usize, index: usize) -> Result<Self> {
        manipulate::index(self.raw(), axis, index).map(Self::part)
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
    pub fn permute(&self, axes: &[usize]) -> Result<Self> {
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
    pub fn transpose(&self, axis_a: usize, axis_b: usize) -> Result<Self> {
        manipulate::transpose(self.raw(), axis_a, axis_b).map(Self::part)
    }

    /// An array whose channels stand last, as most images do, in the order of axes that
    /// [`conv2d`](crate::conv2d) takes: of `[n, height, width, channels]` the view
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

    /// The same elements in row-major order under another shape, if strides can say it; never a
    /// copy.
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
    pub fn reshape(&self, shape: impl IntoShape) -> Result<Self> {
        manipulate::reshape(self.raw(), shape.extents()).map(Self::part)
    }

    /// As [`reshape`](Self::reshape) to one axis.
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
    pub fn squeeze(&self, axis: usize) -> Result<Self> {
        manipulate::squeeze(self.raw(), axis).map(Self::part)
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
    pub fn unsqueeze(&self, axis: usize) -> Result<Self> {
        manipulate::unsqueeze(self.raw(), axis).map(Self::part)
    }

    /// Repeats axes of extent 1, and puts axes in front, as NumPy broadcasts; the repeats share
    /// their elements.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: the shapes do not broadcast.
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
    pub fn flip(&self, axis: usize) -> Result<Self> {
        manipulate::flip(self.raw(), axis).map(Self::part)
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
    pub fn split_at(&self, axis: usize, index: usize) -> Result<(Self, Self)> {
        let (low, high) = manipulate::split(self.raw(), axis, index)?;
        Ok((Self::part(low), Self::part(high)))
    }

    /// Chunk number `index` of an axis cut into `chunk_count` parts, whose extents differ by at
    /// most one, the longer ones first.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, no chunks, or `index` is not below `chunk_count`.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4, 5], 5)?;
    /// assert_eq!(view.chunk(0, 2, 0)?.to_vec(), [1, 2, 3]);
    /// assert_eq!(view.chunk(0, 2, 1)?.to_vec(), [4, 5]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn chunk(&self, axis: usize, chunk_count: usize, index: usize) -> Result<Self> {
        manipulate::chunk(self.raw(), axis, chunk_count, index).map(Self::part)
    }

    /// All [chunks](Self::chunk) of an axis, in order.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or no chunks.
    ///
    /// ```
    /// # use tenure::TensorView;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4, 5], 5)?;
    /// let sums: Vec<i32> = view.chunks(0, 2)?.map(|chunk| chunk.iter().sum()).collect();
    /// assert_eq!(sums, [6, 9]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias = "array_split")]
    pub fn chunks(&self, axis: usize, chunk_count: usize) -> Result<Chunks<'a, T>> {
        Chunks::new(*self, axis, chunk_count)
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
    pub fn windows(&self, axis: usize, size: usize, step: usize) -> Result<Self> {
        manipulate::windows(self.raw(), axis, size, step).map(Self::part)
    }
}
