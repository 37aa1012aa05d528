//! Shape arguments, and the order of memory.

/// Shape arguments: `[2, 3]`, a slice or `Vec` of extents, or one number for one axis.
/// `[0usize; 0]` is rank 0: one element, no axes.
///
/// ```
/// use tenure::TensorView;
///
/// let data = [1, 2, 3, 4, 5, 6];
/// assert_eq!(TensorView::from_slice(&data, [2, 3])?.rank(), 2);
/// assert_eq!(TensorView::from_slice(&data, 6)?.shape(), [6]);
/// assert_eq!(TensorView::from_slice(&data, vec![1, 6, 1])?.rank(), 3);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape",
    label = "not a shape",
    note = "write a shape as `[2, 3]`, `6`, a `&[usize]` or a `Vec<usize>`"
)]
pub trait IntoShape {
    /// The extent of each axis, outermost first.
    fn extents(&self) -> &[usize];
}

impl<const N: usize> IntoShape for [usize; N] {
    #[inline]
    fn extents(&self) -> &[usize] {
        self
    }
}

impl<const N: usize> IntoShape for &[usize; N] {
    #[inline]
    fn extents(&self) -> &[usize] {
        *self
    }
}

impl IntoShape for &[usize] {
    #[inline]
    fn extents(&self) -> &[usize] {
        self
    }
}

impl IntoShape for Vec<usize> {
    #[inline]
    fn extents(&self) -> &[usize] {
        self
    }
}

impl IntoShape for &Vec<usize> {
    #[inline]
    fn extents(&self) -> &[usize] {
        self
    }
}

impl IntoShape for usize {
    #[inline]
    fn extents(&self) -> &[usize] {
        std::slice::from_ref(self)
    }
}

/// In which order memory runs through a shape.
///
/// ```
/// use tenure::{Order, TensorView};
///
/// let data = [1, 2, 3, 4, 5, 6];
/// let columns = TensorView::from_slice_in(&data, [2, 3], Order::ColumnMajor)?;
/// assert_eq!((columns[[1, 0]], columns.strides()), (2, &[1, 2][..]));
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last axis runs fastest, as in C, NumPy and Rust's arrays of arrays.
    #[default]
    RowMajor,
    /// The first axis runs fastest, as in Fortran, MATLAB and BLAS.
    ColumnMajor,
    /// The second axis runs fastest, and the others as in row-major order: images
    /// `[n, channels, height, width]` whose channels are adjacent, NHWC in memory, as PyTorch's
    /// `channels_last`. Of fewer than three axes that is row-major.
    ///
    /// ```
    /// # use tenure::*;
    /// let images = Tensor::<f32>::zeros_in([2, 3, 4, 5], Order::ChannelsLast)?;
    /// assert_eq!((images.shape(), images.strides()), (&[2, 3, 4, 5][..], &[60, 1, 15, 3][..]));
    /// # Ok::<(), Error>(())
    /// ```
    ChannelsLast,
}

impl Order {
    /// The axis that is the `nth` from the fastest, of `rank`.
    #[inline(always)]
    pub(crate) fn axis(self, rank: usize, nth: usize) -> usize {
        match self {
            Order::ColumnMajor => nth,
            Order::ChannelsLast if rank > 2 => match nth {
                0 => 1,
                _ if nth + 1 == rank => 0,
                _ => rank - nth,
            },
            Order::RowMajor | Order::ChannelsLast => rank - 1 - nth,
        }
    }
}
