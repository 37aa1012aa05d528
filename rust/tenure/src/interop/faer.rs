//! Matrices of the crate `faer`: dense ones lent both ways and operands as they are, sparse ones
//! lent both ways.
//!
//! Indices of `faer` are unsigned and those here are not; of the numbers that an index can be both
//! have the same bytes, so that none is copied.

use std::ptr::NonNull;

use ::faer::sparse::{
    SparseColMatRef, SparseRowMatRef, SymbolicSparseColMatRef, SymbolicSparseRowMatRef,
};
use ::faer::{Mat, MatMut, MatRef};
use tenure_sys::tnr_view;

use crate::dense::{TensorView, TensorViewMut};
use crate::dtype::{Element, index::SparseIndex};
use crate::error::{Error, Result};
use crate::layout;
use crate::layout::refusal;
use crate::operand::{AsView, AsViewMut};
use crate::sparse::view::{CscView, CsrView};

// ---- dense ----

fn extents<T>(matrix: &MatRef<'_, T>) -> [usize; 2] {
    [matrix.nrows(), matrix.ncols()]
}

fn strides<T>(matrix: &MatRef<'_, T>) -> [isize; 2] {
    [matrix.row_stride(), matrix.col_stride()]
}

fn laid<T: Element>(matrix: &MatRef<'_, T>) -> Result<tnr_view> {
    layout::around(matrix.as_ptr().cast(), T::DTYPE, &extents(matrix), &strides(matrix))
}

/// Lends a matrix on, in the strides that it has.
///
/// # Errors
///
/// `InvalidArgument`: a matrix of more than 2^59 - 1 elements, repeated by strides of 0.
///
/// ```
/// use faer::mat;
/// use tenure::TensorView;
///
/// let matrix = mat![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// let view = TensorView::try_from(matrix.as_ref())?;
/// assert_eq!((view.shape(), view.as_ptr()), (&[2, 3][..], matrix.as_ptr()));
/// assert_eq!(TensorView::try_from(matrix.transpose().reverse_rows())?[[0, 1]], 6.0);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element> TryFrom<MatRef<'a, T>> for TensorView<'a, T> {
    type Error = Error;

    fn try_from(matrix: MatRef<'a, T>) -> Result<Self> {
        let raw = laid(&matrix)?;
        // SAFETY: checked, over elements that the matrix borrows for 'a: initialised, and not
        // written.
        Ok(unsafe { TensorView::from_raw(raw) })
    }
}

/// Lends a matrix on for writing.
///
/// # Errors
///
/// `Aliased`: strides, which only `unsafe` code gives a matrix, with which two indices may meet as
/// far as the library can tell. Where the matrix is to be used after a refusal, lend it again
/// (`as_mut`).
///
/// ```
/// use faer::Mat;
/// use tenure::TensorViewMut;
///
/// let mut matrix = Mat::<f64>::zeros(2, 3);
/// TensorViewMut::try_from(matrix.as_mut())?.index(0, 1)?.fill(7.0);
/// assert_eq!((matrix[(0, 2)], matrix[(1, 2)]), (0.0, 7.0));
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element> TryFrom<MatMut<'a, T>> for TensorViewMut<'a, T> {
    type Error = Error;

    fn try_from(matrix: MatMut<'a, T>) -> Result<Self> {
        let data = matrix.as_ptr_mut();
        let (extents, strides) = (extents(&matrix.as_ref()), strides(&matrix.as_ref()));
        let raw = layout::around(data.cast_const().cast(), T::DTYPE, &extents, &strides)?;
        layout::check_distinct(&raw)?;
        // SAFETY: checked, over elements that the matrix, which ends here, borrows for 'a:
        // initialised, and touched by no other code.
        Ok(unsafe { TensorViewMut::from_raw(raw) })
    }
}

/// The parts of a matrix: its first element, rows and columns, and their strides.
fn parts<T>(raw: &tnr_view) -> Result<(NonNull<T>, [usize; 2], [isize; 2])> {
    let &[rows, cols] = layout::extents(raw) else {
        return Err(Error::invalid(format!("rank is {} but a matrix has 2 axes", raw.rank)));
    };
    let (mut data, mut strides) = (NonNull::dangling(), [1, 1]);
    if let Some(first) = NonNull::new(raw.data.cast_mut().cast()).filter(|_| rows > 0 && cols > 0) {
        data = first;
        let given = layout::strides(raw);
        // A stride along one element means nothing here, and need not be one of any memory.
        strides = [0, 1].map(|axis| if [rows, cols][axis] > 1 { given[axis] } else { 1 });
    }
    Ok((data, [rows, cols], strides))
}

/// Lends a view of rank 2 on as a matrix, in the strides that it has; `unsqueeze` makes one of rank
/// 1 such a view.
///
/// # Errors
///
/// `InvalidArgument`: another rank.
///
/// ```
/// use faer::MatRef;
/// use tenure::Tensor;
///
/// let tensor = Tensor::from_vec(vec![4.0, 1.0, 1.0, 3.0], [2, 2])?;
/// let matrix = MatRef::try_from(tensor.view())?;
/// assert_eq!((matrix[(0, 1)], matrix.as_ptr()), (1.0, tensor.as_ptr()));
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element> TryFrom<TensorView<'a, T>> for MatRef<'a, T> {
    type Error = Error;

    fn try_from(view: TensorView<'a, T>) -> Result<Self> {
        let (data, [rows, cols], [row, col]) = parts::<T>(view.raw())?;
        // SAFETY: the elements of the view, lent for 'a: aligned, inside one allocation,
        // initialised, and not written.
        Ok(unsafe { MatRef::from_raw_parts(data.as_ptr(), rows, cols, row, col) })
    }
}

/// Lends a view of rank 2 on as a matrix for writing.
///
/// # Errors
///
/// `InvalidArgument`: another rank. Where the view is to be used after a refusal, reborrow it first,
/// by [`view_mut`](TensorViewMut::view_mut).
///
/// ```
/// use faer::MatMut;
/// use tenure::Tensor;
///
/// let mut tensor = Tensor::<f32>::zeros([2, 2])?;
/// MatMut::try_from(tensor.view_mut())?.fill(1.0);
/// assert_eq!(tensor.to_vec(), [1.0; 4]);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element> TryFrom<TensorViewMut<'a, T>> for MatMut<'a, T> {
    type Error = Error;

    fn try_from(view: TensorViewMut<'a, T>) -> Result<Self> {
        let (data, [rows, cols], [row, col]) = parts::<T>(view.raw())?;
        // SAFETY: the elements are those of the view: aligned, inside one allocation and
        // initialised; no two indices meet; the view, which ends here, had exclusive access to them
        // for 'a.
        Ok(unsafe { MatMut::from_raw_parts_mut(data.as_ptr(), rows, cols, row, col) })
    }
}

// A `MatRef` may repeat one element more often than can be counted: `try_from` checks that.
impl<T: Element> AsView<T> for Mat<T> {
    fn as_view(&self) -> TensorView<'_, T> {
        let matrix = self.as_dyn_stride();
        let (extents, strides) = (extents(&matrix), strides(&matrix));
        let data = matrix.as_ptr().cast();
        let raw = layout::around_unchecked(data, T::DTYPE, &extents, &strides);
        // SAFETY: a matrix owns its elements, column by column: aligned, inside one allocation,
        // initialised, not written.
        unsafe { TensorView::from_raw(raw) }
    }
}

impl<T: Element> AsViewMut<T> for Mat<T> {
    fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
        let matrix = self.as_dyn_stride_mut();
        let (extents, strides) = (extents(&matrix.as_ref()), strides(&matrix.as_ref()));
        let data = matrix.as_ptr_mut().cast_const().cast();
        let raw = layout::around_unchecked(data, T::DTYPE, &extents, &strides);
        // SAFETY: the matrix owns its elements column by column, so they are aligned, initialised
        // and inside one allocation; no two indices meet; `&mut self` gives exclusive access to
        // them for the lifetime of the view.
        unsafe { TensorViewMut::from_raw(raw) }
    }
}

// ---- sparse ----

/// Rows and columns that `faer` takes with indices of `I`.
fn require_counted<I: SparseIndex>(rows: usize, cols: usize) -> Result<()> {
    for (name, extent) in [("rows", rows), ("cols", cols)] {
        if I::from_usize(extent).is_none() {
            let why = refusal::more_than_counted(extent, I::DTYPE);
            return Err(Error::invalid(format!("{name} is {extent}, {why}")));
        }
    }
    Ok(())
}

#[cold]
fn uncompressed(name: &str) -> Error {
    Error::invalid(format!("the matrix has {name}, entries with gaps between, and must have none"))
}

macro_rules! sparse {
    ($(
        $view:ident { $rows_or_cols:literal, $major:ident, $minor:ident }
        and $matrix:ident, $symbolic:ident { $ptr:ident, $nnz:ident, $idx:ident }:
        $($unsigned:ident as $index:ident)*;
    )*) => {$($(
        #[doc = concat!("Lends a sparse matrix of `faer` on, whose indices are `", stringify!($unsigned),
            "`, once they are looked at in one pass. Nothing is copied.")]
        ///
        /// # Errors
        ///
        /// `InvalidArgument`: a matrix that is not compressed, or whose indices are not in order,
        /// which `faer` need not have asked.
        impl<'a, T: Element> TryFrom<$matrix<'a, $unsigned, T>> for $view<'a, T, $index> {
            type Error = Error;

            fn try_from(matrix: $matrix<'a, $unsigned, T>) -> Result<Self> {
                let (symbolic, values) = matrix.parts();
                if symbolic.$nnz().is_some() {
                    return Err(uncompressed(stringify!($nnz)));
                }
                let $major = ::bytemuck::cast_slice::<$unsigned, $index>(symbolic.$ptr());
                let $minor = ::bytemuck::cast_slice::<$unsigned, $index>(symbolic.$idx());
                $view::new(symbolic.nrows(), symbolic.ncols(), $major, $minor, values)?.check_coalesced()
            }
        }

        #[doc = concat!("Lends a sparse matrix on to `faer`, with indices of `", stringify!($unsigned),
            "`. Nothing is copied.")]
        ///
        /// # Errors
        ///
        #[doc = concat!("`InvalidArgument`: entries that are not coalesced, ", $rows_or_cols,
            ", which is looked at in one pass.")]
        impl<'a, T: Element> TryFrom<$view<'a, T, $index>> for $matrix<'a, $unsigned, T> {
            type Error = Error;

            fn try_from(view: $view<'a, T, $index>) -> Result<Self> {
                // Looked at whatever the view says: it may be by `assume_coalesced`, and what faer
                // does with entries in another order is not ours to promise.
                let view = view.check_coalesced()?;
                let (rows, cols) = (view.rows(), view.cols());
                require_counted::<$index>(rows, cols)?;
                // Offsets count from the first index that was lent, also those of a range.
                let (major, minor, values) = view.arrays().counted()?;
                let major = ::bytemuck::cast_slice::<$index, $unsigned>(major);
                let minor = ::bytemuck::cast_slice::<$index, $unsigned>(minor);
                // SAFETY: a view has been checked: offsets rise within the entries, and indices are
                // inside the matrix; rows and columns are counted; and the entries of each row (of
                // CSC column) have just been found to rise.
                let symbolic = unsafe { $symbolic::new_unchecked(rows, cols, major, None, minor) };
                Ok($matrix::new(symbolic, values))
            }
        }
    )*)*};
}

sparse! {
    CscView { "column by column and in each by row", col_offsets, row_indices }
    and SparseColMatRef, SymbolicSparseColMatRef { col_ptr, col_nnz, row_idx }:
    u32 as i32 u64 as i64 usize as i64;
    CsrView { "row by row and in each by column", row_offsets, col_indices }
    and SparseRowMatRef, SymbolicSparseRowMatRef { row_ptr, row_nnz, col_idx }:
    u32 as i32 u64 as i64 usize as i64;
}
