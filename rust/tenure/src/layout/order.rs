//! Orders of memory.

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
    /// `channels_last`. For fewer than three axes it is row-major.
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
