//! Arrays as views, and views as arrays: lent.

use ::ndarray::{ArrayBase, ArrayView, ArrayViewMut, Axis, Data, Dimension};

use super::layouts::{laid, laid_at, parts};
use crate::dense::{TensorView, TensorViewMut};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::layout;

/// Lends an array, of any owner, in the strides that it has.
///
/// # Errors
///
/// `InvalidArgument`: a rank over 8.
///
/// ```
/// use ndarray::{array, s};
/// use tenure::TensorView;
///
/// let array = array![[1, 2, 3], [4, 5, 6]];
/// let view = TensorView::try_from(&array)?;
/// assert_eq!(view.as_ptr(), array.as_ptr());
///
/// let backwards = array.slice(s![.., ..;-2]);
/// assert_eq!(TensorView::try_from(backwards)?.to_vec(), [3, 1, 6, 4]);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element, S: Data<Elem = T>, D: Dimension> TryFrom<&'a ArrayBase<S, D>>
    for TensorView<'a, T>
{
    type Error = Error;

    fn try_from(array: &'a ArrayBase<S, D>) -> Result<Self> {
        TensorView::try_from(array.view())
    }
}

/// Lends an array on, for as long as it is lent.
///
/// # Errors
///
/// `InvalidArgument`: a rank over 8.
///
/// ```
/// use ndarray::{Array1, ArrayView2};
/// use tenure::TensorView;
///
/// fn columns<'a>(array: ArrayView2<'a, f32>) -> tenure::Result<TensorView<'a, f32>> {
///     Ok(TensorView::try_from(array)?.t())
/// }
/// let row = Array1::from_vec(vec![1.0, 2.0]);
/// let rows = row.broadcast([3, 2]).unwrap(); // three times the same memory
/// assert_eq!(columns(rows)?.to_vec(), [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element, D: Dimension> TryFrom<ArrayView<'a, T, D>> for TensorView<'a, T> {
    type Error = Error;

    fn try_from(array: ArrayView<'a, T, D>) -> Result<Self> {
        let raw = laid(&array)?;
        // SAFETY: checked, over elements that the array borrows for 'a: initialised, and not
        // written.
        Ok(unsafe { TensorView::from_raw(raw) })
    }
}

/// Lends an array on for writing, for as long as it is lent.
///
/// # Errors
///
/// `InvalidArgument`: a rank over 8. `Aliased`: strides, which only `unsafe` code gives an array,
/// with which two indices may meet as far as the library can tell. Where the array is to be used
/// after a refusal, lend it again (`view_mut`): an error that had it could not leave a function.
///
/// ```
/// use ndarray::Array2;
/// use tenure::TensorViewMut;
///
/// let mut array = Array2::<f32>::zeros((2, 3));
/// TensorViewMut::try_from(array.view_mut())?.index(1, 2)?.fill(7.0);
/// assert_eq!(array, ndarray::array![[0.0, 0.0, 7.0], [0.0, 0.0, 7.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element, D: Dimension> TryFrom<ArrayViewMut<'a, T, D>> for TensorViewMut<'a, T> {
    type Error = Error;

    fn try_from(mut array: ArrayViewMut<'a, T, D>) -> Result<Self> {
        let raw = laid_at(array.as_mut_ptr(), &array)?;
        layout::check_distinct(&raw)?;
        // SAFETY: checked, over elements that the array, which ends here, borrows for 'a:
        // initialised, and touched by no other code.
        Ok(unsafe { TensorViewMut::from_raw(raw) })
    }
}

/// Lends a view on as an array, of a fixed rank or of any (`ArrayViewD`), in the strides that it
/// has.
///
/// # Errors
///
/// `InvalidArgument`: another rank, or no elements and extents that `ndarray` does not take.
///
/// ```
/// use ndarray::{ArrayView2, ArrayViewD};
/// use tenure::Tensor;
///
/// let tensor = Tensor::from_vec(vec![1, 2, 3, 4, 5, 6], [2, 3])?;
/// let array = ArrayView2::try_from(tensor.view().flip(0)?)?;
/// assert_eq!(array, ndarray::array![[4, 5, 6], [1, 2, 3]]);
/// assert_eq!(ArrayViewD::try_from(tensor.view())?.shape(), [2, 3]);
/// let sums = array.sum_axis(ndarray::Axis(1));
/// assert_eq!(sums.to_vec(), [15, 6]);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element, D: Dimension> TryFrom<TensorView<'a, T>> for ArrayView<'a, T, D> {
    type Error = Error;

    fn try_from(view: TensorView<'a, T>) -> Result<Self> {
        let parts = parts::<D>(view.raw())?;
        let (start, backwards) = (parts.start::<T>(view.raw()), parts.backwards);
        // SAFETY: the elements of the view, lent for 'a: aligned, inside one allocation, counted
        // within `isize` as `parts` has checked; strides are not negative, and of no elements 0.
        let mut array = unsafe { ArrayView::from_shape_ptr(parts.shape, start) };
        backwards.into_iter().for_each(|axis| array.invert_axis(Axis(axis)));
        Ok(array)
    }
}

/// Lends a view on as an array for writing.
///
/// # Errors
///
/// The errors of a [`TensorView`]. Where the view is to be used after a refusal, reborrow it first,
/// by [`view_mut`](TensorViewMut::view_mut): an error that had it could not leave a function.
///
/// ```
/// use ndarray::ArrayViewMut2;
/// use tenure::Tensor;
///
/// let mut tensor = Tensor::<f32>::zeros([2, 3])?;
/// ArrayViewMut2::try_from(tensor.view_mut())?.column_mut(1).fill(1.0);
/// assert_eq!(tensor.to_vec(), [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<'a, T: Element, D: Dimension> TryFrom<TensorViewMut<'a, T>> for ArrayViewMut<'a, T, D> {
    type Error = Error;

    fn try_from(view: TensorViewMut<'a, T>) -> Result<Self> {
        let parts = parts::<D>(view.raw())?;
        let (start, backwards) = (parts.start::<T>(view.raw()), parts.backwards);
        // SAFETY: the elements are those of the view: aligned, inside one allocation, initialised,
        // and counted within `isize` by `parts`; strides are not negative, and of no elements 0; no
        // two indices meet; the view, which ends here, had exclusive access to the elements for 'a.
        let mut array = unsafe { ArrayViewMut::from_shape_ptr(parts.shape, start) };
        backwards.into_iter().for_each(|axis| array.invert_axis(Axis(axis)));
        Ok(array)
    }
}
