//! Poolings of images.

use std::mem::size_of;

use tenure_sys::{
    TNR_POOL2D_ADAPTIVE, TNR_POOL2D_CEIL, TNR_POOL2D_COUNT_PADDING, tnr_pool2d_attributes,
    tnr_reduce_op,
};

use crate::dense::Tensor;
use crate::dtype::Float;
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::ops::results::{filled_in, of_both, of_sides, order_of_images};
use crate::raw::operations;

/// The windows of [`max_pool2d`] and [`avg_pool2d`]. The first of two numbers is down, the second
/// one right.
///
/// ```
/// use tenure::{Pool2d, nn::avg_pool2d};
///
/// let image = [[[[2.0, 4.0, 6.0]]]];
/// let windows = Pool2d::new([1, 2]).strides([1, 1]).padding([0, 1]);
/// assert_eq!(avg_pool2d(&image, windows)?.to_vec(), [2.0, 3.0, 5.0, 6.0]);
/// assert_eq!(avg_pool2d(&image, windows.count_padding())?.to_vec(), [1.0, 3.0, 5.0, 3.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pool2d {
    kernel: [usize; 2],
    strides: [usize; 2],
    padding: [[usize; 2]; 2],
    dilations: [usize; 2],
    counts_padding: bool,
    rounds_up: bool,
}

impl Pool2d {
    /// Adjacent windows of `kernel[0]` rows and `kernel[1]` columns.
    pub const fn new(kernel: [usize; 2]) -> Self {
        Pool2d {
            kernel,
            strides: kernel,
            padding: [[0, 0], [0, 0]],
            dilations: [1, 1],
            counts_padding: false,
            rounds_up: false,
        }
    }

    /// Elements of the image from one window to the next.
    pub const fn strides(mut self, strides: [usize; 2]) -> Self {
        self.strides = strides;
        self
    }

    /// On both sides of each image: rows above it and as many below, and columns. No element of it
    /// is a maximum, nor part of a mean.
    pub const fn padding(self, [rows, columns]: [usize; 2]) -> Self {
        self.padding_around([rows, rows], [columns, columns])
    }

    /// Around each image: rows above and below it, columns left and right.
    pub const fn padding_around(mut self, rows: [usize; 2], columns: [usize; 2]) -> Self {
        self.padding = [rows, columns];
        self
    }

    /// Elements of the image from one element of a window to the next.
    pub const fn dilations(mut self, dilations: [usize; 2]) -> Self {
        self.dilations = dilations;
        self
    }

    /// Counts the padding's zeros as elements of means. [`max_pool2d`] refuses it.
    pub const fn count_padding(mut self) -> Self {
        self.counts_padding = true;
        self
    }

    /// Rounds the extents of the result up, as PyTorch and ONNX do. The last window may end beyond
    /// the padded image, where it has neither elements nor padding. It begins in the image or in
    /// the padding before it: one that would begin behind the image is left out.
    ///
    /// ```
    /// use tenure::{Pool2d, nn::avg_pool2d};
    ///
    /// let windows = Pool2d::new([1, 2]).ceil_mode();
    /// assert_eq!(avg_pool2d(&[[[[2.0, 4.0, 6.0]]]], windows)?.to_vec(), [3.0, 6.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub const fn ceil_mode(mut self) -> Self {
        self.rounds_up = true;
        self
    }

    pub(crate) fn attributes(&self) -> Result<tnr_pool2d_attributes> {
        let counts = if self.counts_padding { TNR_POOL2D_COUNT_PADDING } else { 0 };
        let ceil = if self.rounds_up { TNR_POOL2D_CEIL } else { 0 };
        Ok(tnr_pool2d_attributes {
            kernel: of_both("kernel", self.kernel)?,
            strides: of_both("strides", self.strides)?,
            padding: of_sides("padding", self.padding)?,
            dilations: of_both("dilations", self.dilations)?,
            flags: counts | ceil,
            ..GLOBAL_POOL
        })
    }

    /// The shape of the result, with extents of 0 where the library refuses the image or the
    /// windows.
    pub(crate) fn result_shape(&self, a: &[usize]) -> [usize; 4] {
        let &[images, channels, height, width] = a else { return [0; 4] };
        let places = |axis: usize, extent: usize| {
            let [before, after] = self.padding[axis];
            let padded = extent.checked_add(before)?.checked_add(after)?;
            let padded = isize::try_from(padded).ok()? as usize;
            let reach = self.kernel[axis].checked_sub(1)?.checked_mul(self.dilations[axis])?;
            let (reach, stride) = (reach.checked_add(1)?, self.strides[axis]);
            let count = padded.checked_sub(reach).map_or(0, |room| room / stride + 1);
            let next = count.saturating_mul(stride);
            let has_rest = padded.saturating_add(stride) > next.saturating_add(reach);
            if !self.rounds_up {
                return Some(count);
            }
            let up = count + usize::from(has_rest);
            let last = up.saturating_sub(1).saturating_mul(stride);
            Some(up.saturating_sub(usize::from(last >= extent + before)))
        };
        [images, channels, places(0, height).unwrap_or(0), places(1, width).unwrap_or(0)]
    }
}

/// One window is the whole image.
pub(crate) const GLOBAL_POOL: tnr_pool2d_attributes = tnr_pool2d_attributes {
    struct_size: size_of::<tnr_pool2d_attributes>() as u64,
    kernel: [0; 2],
    strides: [0; 2],
    padding: [0; 4],
    dilations: [0; 2],
    flags: 0,
    reserved: 0,
};
pub(crate) const ADAPTIVE_POOL: tnr_pool2d_attributes =
    tnr_pool2d_attributes { flags: TNR_POOL2D_ADAPTIVE, ..GLOBAL_POOL };

fn pool<T: Float>(
    op: tnr_reduce_op,
    a: impl AsView<T>,
    attributes: &tnr_pool2d_attributes,
    shape: impl FnOnce(&[usize]) -> [usize; 4],
) -> Result<Tensor<T>> {
    let a = a.as_view();
    let lent = a.lent();
    filled_in(&shape(a.shape()), order_of_images(&a), |out| {
        operations::pool2d(op, lent, attributes, out)
    })
}

fn pool_into<T: Float>(
    op: tnr_reduce_op,
    a: impl AsView<T>,
    attributes: &tnr_pool2d_attributes,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    let (a, mut out) = (a.as_view(), out.as_view_mut());
    operations::pool2d(op, a.lent(), attributes, out.lent_mut())
}

/// The images and channels of `a`, with another height and width.
pub(crate) fn of_size(a: &[usize], [height, width]: [usize; 2]) -> [usize; 4] {
    let &[images, channels, _, _] = a else { return [0; 4] };
    [images, channels, height, width]
}

/// The maximum of each window of each channel of images, `[images, channels, height, width]`, as a
/// new tensor. NaN is a maximum. It is row-major (NCHW), or has its channels last (NHWC) where
/// those of `a` are adjacent and `a` is not row-major; any strides will do.
///
/// # Errors
///
/// `InvalidArgument`: a rank other than 4, a kernel that exceeds the padded image (in ceil mode: by
/// a stride or more), a window without an element of the image, a kernel, stride or dilation of 0,
/// padding that is counted. `OutOfMemory`.
///
/// ```
/// use tenure::{Pool2d, nn::max_pool2d};
///
/// let image = [[[[1.0, 2.0, 3.0, 4.0], [8.0, 7.0, 6.0, 5.0]]]];
/// assert_eq!(max_pool2d(&image, Pool2d::new([2, 2]))?.to_vec(), [8.0, 6.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn max_pool2d<T: Float>(a: impl AsView<T>, windows: Pool2d) -> Result<Tensor<T>> {
    pool(tnr_reduce_op::MAX, a, &windows.attributes()?, |a| windows.result_shape(a))
}

/// Does the same as [`max_pool2d`], into the caller's memory.
///
/// # Errors
///
/// The errors of [`max_pool2d`], and another shape of `out`.
pub fn max_pool2d_into<T: Float>(
    a: impl AsView<T>,
    windows: Pool2d,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    pool_into(tnr_reduce_op::MAX, a, &windows.attributes()?, out)
}

/// The mean of each window of each channel of images, as [`max_pool2d`] has the maximum: the sum of
/// the window's rows, each from left to right, divided by the number of its elements. Padding is no
/// element, unless [counted](Pool2d::count_padding).
///
/// # Errors
///
/// The errors of [`max_pool2d`], except that padding may be counted.
///
/// ```
/// use tenure::{Pool2d, nn::avg_pool2d};
///
/// let image = [[[[1.0, 2.0, 3.0, 4.0], [8.0, 7.0, 6.0, 5.0]]]];
/// assert_eq!(avg_pool2d(&image, Pool2d::new([2, 2]))?.to_vec(), [4.5, 4.5]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn avg_pool2d<T: Float>(a: impl AsView<T>, windows: Pool2d) -> Result<Tensor<T>> {
    pool(tnr_reduce_op::MEAN, a, &windows.attributes()?, |a| windows.result_shape(a))
}

/// Does the same as [`avg_pool2d`], into the caller's memory.
///
/// # Errors
///
/// The errors of [`avg_pool2d`], and another shape of `out`.
pub fn avg_pool2d_into<T: Float>(
    a: impl AsView<T>,
    windows: Pool2d,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    pool_into(tnr_reduce_op::MEAN, a, &windows.attributes()?, out)
}

/// Does the same as [`max_pool2d`], with windows that give a result of `size`, rows and columns:
/// the window of row y begins at row `y * height / size[0]`, rounded down, and ends before
/// `(y + 1) * height / size[0]`, rounded up.
///
/// # Errors
///
/// The errors of [`max_pool2d`].
pub fn adaptive_max_pool2d<T: Float>(a: impl AsView<T>, size: [usize; 2]) -> Result<Tensor<T>> {
    pool(tnr_reduce_op::MAX, a, &ADAPTIVE_POOL, |a| of_size(a, size))
}

/// Does the same as [`adaptive_max_pool2d`], into the caller's memory. The shape of `out` gives the
/// numbers of rows and columns.
///
/// # Errors
///
/// The errors of [`adaptive_max_pool2d`], and other images or channels of `out`.
pub fn adaptive_max_pool2d_into<T: Float>(
    a: impl AsView<T>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    pool_into(tnr_reduce_op::MAX, a, &ADAPTIVE_POOL, out)
}

/// Does the same as [`avg_pool2d`], with the windows of [`adaptive_max_pool2d`], which give a
/// result of `size`.
///
/// # Errors
///
/// The errors of [`max_pool2d`].
///
/// ```
/// use tenure::nn::adaptive_avg_pool2d;
///
/// let image = [[[[1.0, 2.0, 3.0]]]];
/// assert_eq!(adaptive_avg_pool2d(&image, [1, 2])?.to_vec(), [1.5, 2.5]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn adaptive_avg_pool2d<T: Float>(a: impl AsView<T>, size: [usize; 2]) -> Result<Tensor<T>> {
    pool(tnr_reduce_op::MEAN, a, &ADAPTIVE_POOL, |a| of_size(a, size))
}

/// Does the same as [`adaptive_avg_pool2d`], into the caller's memory. The shape of `out` gives the
/// numbers of rows and columns.
///
/// # Errors
///
/// The errors of [`adaptive_avg_pool2d`], and other images or channels of `out`.
pub fn adaptive_avg_pool2d_into<T: Float>(
    a: impl AsView<T>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    pool_into(tnr_reduce_op::MEAN, a, &ADAPTIVE_POOL, out)
}

/// The mean of each channel of each image, `[images, channels, 1, 1]`: [`mean`](crate::ops::mean)
/// over the last two axes.
///
/// # Errors
///
/// The errors of [`max_pool2d`].
///
/// ```
/// use tenure::nn::global_avg_pool2d;
///
/// assert_eq!(global_avg_pool2d(&[[[[1.0, 2.0], [4.0, 5.0]]]])?.to_vec(), [3.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn global_avg_pool2d<T: Float>(a: impl AsView<T>) -> Result<Tensor<T>> {
    pool(tnr_reduce_op::MEAN, a, &GLOBAL_POOL, |a| of_size(a, [1, 1]))
}

/// Does the same as [`global_avg_pool2d`], into the caller's memory.
///
/// # Errors
///
/// The errors of [`global_avg_pool2d`], and another shape of `out`.
pub fn global_avg_pool2d_into<T: Float>(
    a: impl AsView<T>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    pool_into(tnr_reduce_op::MEAN, a, &GLOBAL_POOL, out)
}
