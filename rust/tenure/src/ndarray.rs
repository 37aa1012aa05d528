//! Arrays of the crate `ndarray`: lent both ways, handed over both ways, operands as they are.
//!
//! A refusal is a shape that the other side cannot say. `ndarray` counts no more elements than
//! `isize::MAX` also where an extent of 0 leaves none, and a view here has at most 8 axes.

use std::cmp::Reverse;
use std::ffi::c_void;
use std::ptr::NonNull;

use ::ndarray::{
    ArcArray, Array, Array1, ArrayBase, ArrayRef, ArrayView, ArrayViewMut, Axis, Data, Dimension,
    Ix0, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn, OwnedRepr, ShapeBuilder, StrideShape, ViewRepr,
};
use tenure_sys::{TNR_MAX_RANK, tnr_view};

use crate::held::Held;
use crate::{
    AsView, AsViewMut, Element, Error, Rejected, Result, SharedTensor, Tensor, TensorView,
    TensorViewMut, layout,
};

// ---- lent: arrays as views ----

/// The elements of an array as they lie.
fn laid<T: Element, D: Dimension>(array: &ArrayRef<T, D>) -> Result<tnr_view> {
    laid_at(array.as_ptr(), array)
}

/// The same, at a pointer that may have more rights.
fn laid_at<T: Element, D: Dimension>(data: *const T, array: &ArrayRef<T, D>) -> Result<tnr_view> {
    layout::around(data.cast::<c_void>(), T::DTYPE, array.shape(), array.strides())
}

/// Lends an array, whoever owns it, in the strides that it has.
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
        // SAFETY: checked, over elements that the array borrows for 'a: initialised, and written by
        // nobody.
        Ok(unsafe { TensorView::from_raw(raw) })
    }
}

/// Lends an array on for writing, for as long as it is lent.
///
/// # Errors
///
/// `InvalidArgument`: a rank over 8. `Aliased`: strides, which only `unsafe` code gives an array, of
/// which it cannot be told that no two indices meet. The array comes back with the error.
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
    type Error = Rejected<ArrayViewMut<'a, T, D>>;

    fn try_from(mut array: ArrayViewMut<'a, T, D>) -> Result<Self, Self::Error> {
        let laid = laid_at(array.as_mut_ptr(), &array)
            .and_then(|raw| layout::check_distinct(&raw).map(|()| raw));
        match laid {
            // SAFETY: checked, over elements that the array, which ends here, borrows for 'a:
            // initialised, and touched by nobody else.
            Ok(raw) => Ok(unsafe { TensorViewMut::from_raw(raw) }),
            Err(error) => Err(Rejected::new(error, array)),
        }
    }
}

// ---- lent: views as arrays ----

/// What an array of `D` is made of: extents with the sizes of the strides, and the axes that run
/// backwards.
struct Parts<D> {
    shape: StrideShape<D>,
    backwards: Vec<usize>,
    /// From index 0 on every axis to the lowest element; no element lies below.
    lowest: isize,
}

fn parts<D: Dimension>(raw: &tnr_view) -> Result<Parts<D>> {
    let (extents, strides) = (layout::extents(raw), layout::strides(raw));
    if D::NDIM.is_some_and(|rank| rank != extents.len()) {
        return Err(Error::invalid(format!(
            "rank is {} but the array has {} axes",
            extents.len(),
            D::NDIM.unwrap_or_default()
        )));
    }
    let counted = extents.iter().try_fold(1_isize, |count, &extent| {
        if extent == 0 { Some(count) } else { count.checked_mul(isize::try_from(extent).ok()?) }
    });
    if counted.is_none() {
        return Err(Error::invalid(format!(
            "extents other than 0 of shape {extents:?} multiply to more than {}, which ndarray does \
             not take",
            isize::MAX
        )));
    }
    let (mut shape, mut steps) = (D::zeros(extents.len()), D::zeros(extents.len()));
    shape.slice_mut().copy_from_slice(extents);
    if layout::is_empty(raw) {
        // Strides of ours may mean nothing then; ndarray looks at them.
        let shape = shape.into_shape_with_order().into();
        return Ok(Parts { shape, backwards: Vec::new(), lowest: 0 });
    }
    let (mut backwards, mut lowest) = (Vec::new(), 0);
    for axis in (0..extents.len()).filter(|&axis| extents[axis] > 1) {
        steps[axis] = strides[axis].unsigned_abs();
        if strides[axis] < 0 {
            backwards.push(axis);
            // No overflow: it is the place of an element.
            lowest += strides[axis] * (extents[axis] as isize - 1);
        }
    }
    Ok(Parts { shape: shape.strides(steps), backwards, lowest })
}

impl<D: Dimension> Parts<D> {
    /// The lowest element, from which the array is laid forwards.
    fn start<T>(&self, raw: &tnr_view) -> *mut T {
        if layout::is_empty(raw) {
            // A view of no elements may point nowhere, an array may not.
            return NonNull::dangling().as_ptr();
        }
        raw.data.cast_mut().cast::<T>().wrapping_offset(self.lowest)
    }
}

/// Lends a view on as an array, of a fixed rank or of any (`ArrayViewD`), in the strides that it has.
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
/// As of [`TensorView`]; the view comes back with the error.
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
    type Error = Rejected<TensorViewMut<'a, T>>;

    fn try_from(view: TensorViewMut<'a, T>) -> Result<Self, Self::Error> {
        let parts = match parts::<D>(view.raw()) {
            Ok(parts) => parts,
            Err(error) => return Err(Rejected::new(error, view)),
        };
        let (start, backwards) = (parts.start::<T>(view.raw()), parts.backwards);
        // SAFETY: as of a view for reading; no two indices meet, and the view, which ends here, had
        // the elements alone for 'a.
        let mut array = unsafe { ArrayViewMut::from_shape_ptr(parts.shape, start) };
        backwards.into_iter().for_each(|axis| array.invert_axis(Axis(axis)));
        Ok(array)
    }
}

// ---- operands ----

/// Arrays of a fixed rank, which is 6 at most, are operands: their views need no check.
macro_rules! operands {
    ($($dimension:ident)*) => {$(
        impl<T: Element> AsView<T> for ArrayRef<T, $dimension> {
            fn as_view(&self) -> TensorView<'_, T> {
                let raw = layout::around_unchecked(
                    self.as_ptr().cast(), T::DTYPE, self.shape(), self.strides(),
                );
                // SAFETY: what an array promises of its elements is what a view does: aligned,
                // inside one allocation, counted within `isize`, initialised, written by nobody.
                unsafe { TensorView::from_raw(raw) }
            }
        }

        impl<T: Element> AsViewMut<T> for ArrayRef<T, $dimension> {
            fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
                let data = self.as_mut_ptr();
                let raw = layout::around_unchecked(
                    data.cast(), T::DTYPE, self.shape(), self.strides(),
                );
                // SAFETY: as above, and `&mut self` keeps everybody else away. No two indices of an
                // array that may be written meet, whether or not `check_distinct` could tell; where
                // it could not, operations answer ALIASED.
                unsafe { TensorViewMut::from_raw(raw) }
            }
        }

        impl<T: Element, S: Data<Elem = T>> AsView<T> for ArrayBase<S, $dimension> {
            fn as_view(&self) -> TensorView<'_, T> {
                (**self).as_view()
            }
        }

        // Not every array that can be written: a shared one would be copied first, unasked.
        impl<T: Element> AsViewMut<T> for ArrayBase<OwnedRepr<T>, $dimension> {
            fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
                (**self).as_view_mut()
            }
        }

        impl<T: Element> AsViewMut<T> for ArrayBase<ViewRepr<&mut T>, $dimension> {
            fn as_view_mut(&mut self) -> TensorViewMut<'_, T> {
                (**self).as_view_mut()
            }
        }
    )*};
}

operands! { Ix0 Ix1 Ix2 Ix3 Ix4 Ix5 Ix6 }

// ---- held ----

/// The shape of an array whose elements lie side by side, forwards, in whatever order of the axes:
/// what memory that is held must be.
fn held<T: Element, D: Dimension>(array: &ArrayRef<T, D>) -> Result<tnr_view> {
    let raw = laid(array)?;
    if raw.data == raw.base && layout::is_dense(&raw) {
        return Ok(raw);
    }
    Err(Error::invalid(format!(
        "shape {:?} with strides {:?} leaves gaps, repeats elements or runs backwards, which a \
         tensor that is held does not: lend the array, or copy it into standard layout",
        array.shape(),
        array.strides()
    )))
}

/// Puts an array together again that has been taken apart, of elements that lie side by side.
fn reassembled<T: Element, D: Dimension>(
    mut vec: Vec<T>,
    offset: usize,
    raw: &tnr_view,
) -> Result<Array<T, D>> {
    let (extents, len) = (layout::extents(raw), layout::count(raw));
    if len == 0 {
        // What lies beside no elements is not the array's.
        vec.clear();
        return Array::from_shape_vec(parts::<D>(raw)?.shape, vec).map_err(refused_by_ndarray);
    }
    // From the axis of the largest stride to the smallest; those of extent 1 lie anywhere.
    let mut axes: Vec<usize> = (0..extents.len()).collect();
    axes.sort_by_key(|&axis| Reverse(if extents[axis] > 1 { raw.strides[axis] } else { 0 }));
    let in_memory: Vec<usize> = axes.iter().map(|&axis| extents[axis]).collect();
    let mut place = [0; TNR_MAX_RANK];
    axes.iter().enumerate().for_each(|(nth, &axis)| place[axis] = nth);
    Array1::from_vec(vec)
        .slice_move(::ndarray::s![offset..offset + len])
        .into_shape_with_order(IxDyn(&in_memory))
        .and_then(|array| {
            array.permuted_axes(IxDyn(&place[..axes.len()])).into_dimensionality::<D>()
        })
        .map_err(refused_by_ndarray)
}

fn refused_by_ndarray(error: ::ndarray::ShapeError) -> Error {
    Error::invalid(format!("ndarray takes no such array: {error}"))
}

/// Adopts an array without a copy, and its `Vec` with it: [`Tensor::into_vec`] and
/// `Array::try_from` give it back, where the array had all of it.
///
/// # Errors
///
/// `InvalidArgument`: a rank over 8, or elements that do not lie side by side, as those of an owned
/// array do that was sliced or inverted. `OutOfMemory`: the library's own record of it. The array
/// comes back with the error.
///
/// ```
/// use ndarray::{Array2, array};
/// use tenure::Tensor;
///
/// let array = array![[1, 2, 3], [4, 5, 6]].reversed_axes(); // column-major
/// let address = array.as_ptr();
/// let mut tensor = Tensor::try_from(array)?;
/// assert_eq!((tensor.as_ptr(), tensor.strides()), (address, &[1, 3][..]));
///
/// tensor[[2, 0]] = 30;
/// let array = Array2::try_from(tensor)?;
/// assert_eq!((array.as_ptr(), array), (address, array![[1, 4], [2, 5], [30, 6]]));
/// # Ok::<(), tenure::Error>(())
/// ```
impl<T: Element, D: Dimension> TryFrom<Array<T, D>> for Tensor<T> {
    type Error = Rejected<Array<T, D>>;

    fn try_from(array: Array<T, D>) -> Result<Self, Self::Error> {
        let raw = match held(&array) {
            Ok(raw) => raw,
            Err(error) => return Err(Rejected::new(error, array)),
        };
        let (vec, offset) = array.into_raw_vec_and_offset();
        let offset = offset.unwrap_or_default();
        match Held::adopt_vec_laid(vec, offset, raw) {
            Ok(held) => Ok(Tensor::over(held)),
            Err(rejected) => {
                let (error, vec) = rejected.into_parts();
                let array = reassembled(vec, offset, &raw).expect("it was such an array");
                Err(Rejected::new(error, array))
            }
        }
    }
}

/// Gives a `Vec` back that was adopted, as an array: the same allocation, nothing is copied.
///
/// # Errors
///
/// `InvalidArgument`: another rank, no elements and extents that `ndarray` does not take, or memory
/// that is not that of a `Vec`, or of all of one: results of operations are the library's memory.
/// The tensor comes back with the error; `ArrayView::try_from(tensor.view())` lends it, and
/// `to_owned` on that copies it. An operation writes into an array that is its output.
///
/// ```
/// use ndarray::Array2;
/// use tenure::Tensor;
///
/// let array = Array2::try_from(Tensor::from_vec(vec![1, 2, 3, 4], [2, 2])?)?;
/// assert_eq!(array.row(1).to_vec(), [3, 4]);
///
/// let refused = Array2::try_from(Tensor::<f32>::zeros([2, 2])?).err().unwrap();
/// assert_eq!(refused.error().message(), "there is no Vec to give back: the memory is allocated");
/// # Ok::<(), tenure::Error>(())
/// ```
impl<T: Element, D: Dimension> TryFrom<Tensor<T>> for Array<T, D> {
    type Error = Rejected<Tensor<T>>;

    fn try_from(tensor: Tensor<T>) -> Result<Self, Self::Error> {
        if let Err(error) = parts::<D>(tensor.raw()) {
            return Err(Rejected::new(error, tensor));
        }
        given_back(tensor.into_held()).map_err(|held| {
            let error = Error::invalid(format!(
                "there is no Vec to give back: the memory is {}",
                held.tenure()
            ));
            Rejected::new(error, Tensor::over(held))
        })
    }
}

/// Gives a `Vec` back that was adopted and shared, to its last holder, as an array; `ndarray` makes
/// an `ArcArray` of that by `into_shared`, without a copy either.
///
/// # Errors
///
/// As of [`Tensor`], or others hold it too; the tensor comes back with the error.
///
/// ```
/// use ndarray::Array1;
/// use tenure::Tensor;
///
/// let shared = Tensor::from_vec(vec![1, 2, 3], 3)?.into_shared();
/// let clone = shared.clone();
/// let shared = Array1::try_from(shared).err().unwrap().into_data(); // the clone holds it too
/// drop(clone);
/// assert_eq!(Array1::try_from(shared)?.into_shared().to_vec(), [1, 2, 3]);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<T: Element, D: Dimension> TryFrom<SharedTensor<T>> for Array<T, D> {
    type Error = Rejected<SharedTensor<T>>;

    fn try_from(tensor: SharedTensor<T>) -> Result<Self, Self::Error> {
        if let Err(error) = parts::<D>(tensor.raw()) {
            return Err(Rejected::new(error, tensor));
        }
        let tenure = tensor.tenure();
        let refused = |why: &str, tensor| {
            let message = format!("there is no Vec to give back: the memory is {tenure}{why}");
            Err(Rejected::new(Error::invalid(message), tensor))
        };
        match tensor.into_held() {
            Err(tensor) => refused(", and others hold it too", tensor),
            Ok(held) => given_back(held).or_else(|held| refused("", SharedTensor::new(held))),
        }
    }
}

/// The adopted `Vec` as an array. The shape has been found to be one of `D`.
#[expect(clippy::result_large_err, reason = "the refused holder goes back, by value")]
fn given_back<T: Element, D: Dimension>(held: Held<T>) -> Result<Array<T, D>, Held<T>> {
    let (vec, raw) = held.reclaim_vec()?;
    Ok(reassembled(vec, 0, &raw).expect("its shape has been looked at"))
}

/// Shares an array without a copy. Who holds it too and writes gets a copy from `ndarray` first, so
/// that nobody writes what is shared.
///
/// # Errors
///
/// As of [`Tensor`]; the array comes back with the error.
///
/// ```
/// use ndarray::ArcArray2;
/// use tenure::SharedTensor;
///
/// let mut array = ArcArray2::<f32>::ones((2, 2));
/// let shared = SharedTensor::try_from(array.clone())?;
/// assert_eq!(shared.as_ptr(), array.as_ptr());
///
/// array[[0, 0]] = 7.0; // ndarray copies on write
/// assert_eq!(shared[[0, 0]], 1.0);
/// # Ok::<(), tenure::Error>(())
/// ```
impl<T: Element, D: Dimension + 'static> TryFrom<ArcArray<T, D>> for SharedTensor<T> {
    type Error = Rejected<ArcArray<T, D>>;

    fn try_from(array: ArcArray<T, D>) -> Result<Self, Self::Error> {
        let laid = held(&array);
        // SAFETY: the array keeps these elements at their address until it is dropped, on any
        // thread. Who shares them writes only into a copy, and the array itself is not touched.
        unsafe { Held::share_laid(laid, array) }.map(SharedTensor::new)
    }
}
