//! Arrays that are handed over, given back or shared: the same allocations.

use std::cmp::Reverse;

use ::ndarray::{ArcArray, Array, Array1, ArrayRef, Dimension, IxDyn};
use tenure_sys::{TNR_MAX_RANK, tnr_view};

use super::layouts::{laid, parts};
use crate::dense::Held;
use crate::dense::{SharedTensor, Tensor};
use crate::dtype::Element;
use crate::error::{Error, Rejected, Result};
use crate::layout;

/// The shape of an array whose elements are adjacent, forwards, in any order of the axes: memory
/// that is held must be like that.
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

/// Puts an array together again that has been taken apart, of adjacent elements.
fn reassembled<T: Element, D: Dimension>(
    mut vec: Vec<T>,
    offset: usize,
    raw: &tnr_view,
) -> Result<Array<T, D>> {
    let (extents, len) = (layout::extents(raw), layout::count(raw));
    if len == 0 {
        // Surplus elements of the `Vec` are not the array's.
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
/// `InvalidArgument`: a rank over 8, or elements that are not adjacent, as in an owned array that
/// was sliced or inverted. `OutOfMemory`: the library's own record of it. The array comes back with
/// the error.
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
/// The errors of a [`Tensor`], or others hold it too; the tensor comes back with the error.
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

/// Shares an array without a copy. Another holder that writes gets a copy from `ndarray` first, so
/// that shared elements are never written.
///
/// # Errors
///
/// The errors of a [`Tensor`]; the array comes back with the error.
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
