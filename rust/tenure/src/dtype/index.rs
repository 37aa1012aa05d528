//! The types of indices.

use crate::dtype::Element;

mod sealed {
    pub trait Sealed {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
}

/// A type of offsets and indices: `i32`, which is half the memory, or `i64`, for matrices of 2^31
/// entries and more. Sealed.
///
/// ```
/// use tenure::{CsrView, SparseIndex};
///
/// fn index_bytes<I: SparseIndex>(matrix: CsrView<'_, f32, I>) -> usize {
///     size_of_val(matrix.col_indices())
/// }
/// let narrow = CsrView::new(1, 2, &[0_i32, 1], &[1], &[0.5])?;
/// let wide = CsrView::new(1, 2, &[0_i64, 1], &[1], &[0.5])?;
/// assert_eq!((index_bytes(narrow), index_bytes(wide)), (4, 8));
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an index of a sparse matrix",
    label = "not `i32` or `i64`",
    note = "other libraries take these two from and give them to C as they are; `usize` is neither"
)]
pub trait SparseIndex: sealed::Sealed + Element + Ord {
    /// Converts the index to a `usize`. The index has been checked: it is not negative.
    #[doc(hidden)]
    fn to_usize(self) -> usize;

    /// The number as an index, where it can be one.
    #[doc(hidden)]
    fn from_usize(number: usize) -> Option<Self>;
}

impl SparseIndex for i32 {
    #[inline]
    fn to_usize(self) -> usize {
        self as usize
    }

    #[inline]
    fn from_usize(number: usize) -> Option<Self> {
        number.try_into().ok()
    }
}

impl SparseIndex for i64 {
    #[inline]
    fn to_usize(self) -> usize {
        self as usize
    }

    #[inline]
    fn from_usize(number: usize) -> Option<Self> {
        number.try_into().ok()
    }
}
