//! Arrays of Arrow's crates: values lent by their buffers or shared with them, and tensors as
//! arrays.
//!
//! Nulls are never ignored: the validity bitmap of an array is copied into a mask, or the array is
//! refused.

use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeListArray, PrimitiveArray,
};
use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer};
use arrow_schema::Field;
use tenure_sys::TNR_MAX_RANK;

use crate::dense::{DynView, SharedTensor, Tensor, TensorView};
use crate::dtype::{Bool8, DType, Element};
use crate::error::{Error, ErrorKind, Rejected, Result};
use crate::layout::refusal;
use crate::raw;

/// An array with the lists around its values as axes.
struct Parts<'a> {
    /// The array itself, then the lists in it, then the values.
    levels: Vec<&'a dyn Array>,
    shape: Vec<usize>,
    dtype: DType,
    values: &'a Buffer,
}

impl<'a> Parts<'a> {
    fn new(array: &'a dyn Array) -> Result<Self> {
        let (mut levels, mut shape, mut inner) = (vec![array], vec![array.len()], array);
        while let Some(list) = inner.as_any().downcast_ref::<FixedSizeListArray>() {
            if shape.len() == TNR_MAX_RANK {
                return Err(refusal::rank_too_high(TNR_MAX_RANK + 1));
            }
            inner = list.values();
            levels.push(inner);
            // Arrow has found it to be 0 or more.
            shape.push(list.value_length() as usize);
        }
        match values_of(inner) {
            Some((dtype, values)) => Ok(Parts { levels, shape, dtype, values }),
            None => Err(no_values(inner)),
        }
    }

    /// The bytes of the values: a list may have been made of some more, which are none of its own.
    fn size_bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.size_bytes()
    }

    fn view(&self) -> Result<DynView<'a>> {
        DynView::from_bytes(&self.values[..self.size_bytes()], self.dtype, &*self.shape)
    }

    fn require_no_nulls(&self) -> Result<()> {
        let nulls = |array: &&&dyn Array| array.null_count() > 0;
        match self.levels.iter().find(nulls) {
            None => Ok(()),
            Some(array) => Err(Error::invalid(format!(
                "{} of {} {} are null, which elements cannot be: take a mask with them",
                array.null_count(),
                array.len(),
                array.data_type()
            ))),
        }
    }

    /// A truth for each value: whether it is there, and the lists that it is in.
    fn copy_mask(&self) -> Result<Tensor<Bool8>> {
        let mut tensor = Tensor::full(&*self.shape, Bool8::TRUE)?;
        let mask: &mut [Bool8] = tensor.as_mut();
        let mut part = mask.len();
        for (array, extent) in self.levels.iter().zip(&self.shape) {
            part /= extent.max(&1);
            let Some(nulls) = array.nulls().filter(|_| !mask.is_empty()) else { continue };
            for (values, is_valid) in mask.chunks_exact_mut(part).zip(nulls) {
                if !is_valid {
                    values.fill(Bool8::FALSE);
                }
            }
        }
        raw::count_copied(mask.len());
        Ok(tensor)
    }
}

/// The values of an array of numbers; of times, the counts that Arrow keeps, in its units.
fn values_of(array: &dyn Array) -> Option<(DType, &Buffer)> {
    macro_rules! first_of {
        ($($type:ident)*) => {$(
            if let Some(array) = array.as_any().downcast_ref::<PrimitiveArray<$type>>() {
                let dtype = <<$type as ArrowPrimitiveType>::Native as Element>::DTYPE;
                return Some((dtype, array.values().inner()));
            }
        )*};
    }
    first_of! {
        Float32Type Float64Type Float16Type
        Int8Type Int16Type Int32Type Int64Type UInt8Type UInt16Type UInt32Type UInt64Type
        Date32Type Date64Type Time32SecondType Time32MillisecondType
        Time64MicrosecondType Time64NanosecondType
        TimestampSecondType TimestampMillisecondType
        TimestampMicrosecondType TimestampNanosecondType
        DurationSecondType DurationMillisecondType
        DurationMicrosecondType DurationNanosecondType
    }
    None
}

#[cold]
fn no_values(array: &dyn Array) -> Error {
    let message = if array.as_any().is::<BooleanArray>() {
        "an array of Boolean is packed in bits: Tensor::copy_from_arrow unpacks it".to_owned()
    } else {
        format!("an array of {} has no elements of a dtype here, side by side", array.data_type())
    };
    Error::new(ErrorKind::Unsupported, message)
}

// ---- lent and shared ----

/// Arrays of Arrow.
impl<'a> DynView<'a> {
    /// Lends the values of an array: of numbers, or of dates, times, timestamps and durations,
    /// which are the integers that count their units. Each fixed-size list around them is an axis.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a value or a list is null, or a rank over 8. `Unsupported`: another type.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use arrow_array::{ArrayRef, Int32Array, RecordBatch, record_batch};
    /// use tenure::{DType, DynView};
    ///
    /// let batch = record_batch!(("id", Int32, [1, 2, 3]), ("price", Float64, [0.5, 1.5, 2.5]))
    ///     .unwrap();
    /// let prices = DynView::from_arrow(&batch["price"])?;
    /// assert_eq!((prices.dtype(), prices.shape()), (DType::F64, &[3][..]));
    ///
    /// let some: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
    /// let error = DynView::from_arrow(&some).err().unwrap();
    /// assert!(error.message().starts_with("1 of 3 Int32 are null"));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn from_arrow(array: &'a dyn Array) -> Result<Self> {
        let parts = Parts::new(array)?;
        parts.require_no_nulls()?;
        parts.view()
    }

    /// Lends the values of an array, which may have nulls, and copies its validity bitmap into a
    /// mask of the same shape: true where there is a value. Elements elsewhere are unspecified.
    ///
    /// # Errors
    ///
    /// The errors of [`from_arrow`](Self::from_arrow), except for nulls. `OutOfMemory`.
    ///
    /// ```
    /// use arrow_array::Float32Array;
    /// use tenure::{DynView, ops::{select, sum}};
    ///
    /// let array = Float32Array::from(vec![Some(1.0), None, Some(3.0)]);
    /// let (values, mask) = DynView::from_arrow_and_copy_mask(&array)?;
    /// let known = select(&mask, values.downcast::<f32>()?, 0.0)?;
    /// assert_eq!(sum(&known, ..)?.item(), Some(4.0));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn from_arrow_and_copy_mask(array: &'a dyn Array) -> Result<(Self, Tensor<Bool8>)> {
        let parts = Parts::new(array)?;
        Ok((parts.view()?, parts.copy_mask()?))
    }
}

/// Arrays of Arrow.
impl<'a, T: Element> TensorView<'a, T> {
    /// Lends the values of an array, as [`DynView::from_arrow`] does, of elements of `T`.
    ///
    /// # Errors
    ///
    /// The errors of [`DynView::from_arrow`]. `InvalidArgument`: another dtype.
    ///
    /// ```
    /// use arrow_array::{FixedSizeListArray, types::Float32Type};
    /// use tenure::TensorView;
    ///
    /// let points = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]].map(|point| Some(point.map(Some)));
    /// let points = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(points, 2);
    /// let later = points.slice(1, 2);
    /// assert_eq!(TensorView::<f32>::from_arrow(&later)?[[1, 0]], 5.0);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn from_arrow(array: &'a dyn Array) -> Result<Self> {
        DynView::from_arrow(array)?.downcast()
    }
}

/// A buffer as an owner of bytes. Arrow writes a buffer only where it has no other holder.
struct Bytes(Buffer);

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Arrays of Arrow.
impl<T: Element> SharedTensor<T> {
    /// Shares the values of an array with it, as [`DynView::from_arrow`] lends them: their buffer
    /// lives until the last of both is gone.
    ///
    /// # Errors
    ///
    /// The errors of [`DynView::from_arrow`]. `InvalidArgument`: another dtype. `OutOfMemory`: the
    /// library's own record of it.
    ///
    /// ```
    /// use arrow_array::Int64Array;
    /// use tenure::SharedTensor;
    ///
    /// let array = Int64Array::from(vec![1, 2, 3]);
    /// let address = array.values().as_ptr();
    /// let shared = SharedTensor::<i64>::from_arrow(&array.slice(1, 2))?;
    /// drop(array);
    /// assert_eq!((shared.as_ptr(), shared.to_vec()), (address.wrapping_add(1), vec![2, 3]));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn from_arrow(array: &dyn Array) -> Result<Self> {
        let parts = Parts::new(array)?;
        parts.require_no_nulls()?;
        parts.view()?.downcast::<T>()?;
        Ok(Self::from_bytes(Bytes(parts.values.clone()), 0, parts.shape)?)
    }

    /// Hands the tensor over as an array of `P`, or shares it, where others hold it too: of rank 1
    /// as a [`PrimitiveArray`], of a higher rank in a [`FixedSizeListArray`] for each axis after
    /// the first.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: rank 0, a tensor that is not row-major, or a list of more elements than
    /// an `i32` counts. The tensor comes back with the error.
    ///
    /// ```
    /// use arrow_array::{Array, FixedSizeListArray, types::Float32Type};
    /// use tenure::Tensor;
    ///
    /// let tensor = Tensor::from_vec(vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
    /// let array = tensor.into_shared().into_arrow::<Float32Type>()?;
    /// assert_eq!(array.data_type().to_string(), "FixedSizeList(3 x non-null Float32)");
    /// assert_eq!(array.len(), 2);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn into_arrow<P: ArrowPrimitiveType<Native = T>>(self) -> Result<ArrayRef, Rejected<Self>>
    where
        T: ArrowNativeType,
    {
        let shape = self.shape().to_vec();
        let Some((&len, lists)) = shape.split_first() else {
            let error = Error::invalid("rank is 0 but an array has an axis");
            return Err(Rejected::new(error, self));
        };
        if let Some(extent) = lists.iter().find(|&&extent| i32::try_from(extent).is_err()) {
            let error = Error::invalid(format!(
                "a list of {extent} is longer than {}, the most that Arrow's fixed size counts",
                i32::MAX
            ));
            return Err(Rejected::new(error, self));
        }
        // Lists without elements may be more than can be counted.
        let mut counts = Vec::with_capacity(lists.len());
        for axis in 0..lists.len() {
            let count = lists[..axis].iter().try_fold(len, |count, &list| count.checked_mul(list));
            let Some(count) = count else {
                let error = Error::invalid(format!(
                    "shape {shape:?} is of more lists than {}, the most that are counted",
                    usize::MAX
                ));
                return Err(Rejected::new(error, self));
            };
            counts.push(count);
        }
        let values = PrimitiveArray::<P>::new(ScalarBuffer::try_from(self)?, None);
        let mut array: ArrayRef = Arc::new(values);
        for (&extent, count) in lists.iter().zip(counts).rev() {
            let field = Arc::new(Field::new_list_field(array.data_type().clone(), false));
            // In range: each extent was checked above.
            let list =
                FixedSizeListArray::try_new_with_length(field, extent as i32, array, None, count);
            array = Arc::new(list.expect("as many values as the lists hold, none null"));
        }
        Ok(array)
    }
}

/// Hands the memory of a tensor over as a buffer, or shares it, where others hold it too. Arrow
/// never writes it, and the tensor, or its share, ends with the buffer.
///
/// # Errors
///
/// `InvalidArgument`: a tensor that is not row-major. It comes back with the error.
///
/// ```
/// use arrow_buffer::ScalarBuffer;
/// use tenure::Tensor;
///
/// let tensor = Tensor::from_vec(vec![1, 2, 3, 4], [2, 2])?;
/// let address = tensor.as_ptr();
/// let buffer = ScalarBuffer::<i32>::try_from(tensor.into_shared())?;
/// assert_eq!((buffer.as_ptr(), &buffer[..]), (address, &[1, 2, 3, 4][..]));
/// # Ok::<(), tenure::Error>(())
/// ```
impl<T: Element + ArrowNativeType> TryFrom<SharedTensor<T>> for ScalarBuffer<T> {
    type Error = Rejected<SharedTensor<T>>;

    fn try_from(tensor: SharedTensor<T>) -> Result<Self, Self::Error> {
        if !tensor.is_row_major() {
            let error = Error::invalid(format!(
                "shape {:?} with strides {:?} is not row-major, which a buffer is: copy it by \
                 to_tensor",
                tensor.shape(),
                tensor.strides()
            ));
            return Err(Rejected::new(error, tensor));
        }
        let (len, size_bytes) = (tensor.len(), size_of::<T>() * tensor.len());
        // Empty memory may begin anywhere, which Arrow does not take.
        let data = NonNull::new(tensor.as_ptr().cast_mut()).filter(|_| len > 0);
        let data = data.unwrap_or(NonNull::dangling());
        // A panic leaves no trace in a tensor that is not written.
        let owner = Arc::new(AssertUnwindSafe(tensor));
        // SAFETY: these are the elements of the tensor, readable, and not written, while it lives,
        // which it does until the buffer ends. Arrow writes no memory that it has not allocated.
        let buffer = unsafe { Buffer::from_custom_allocation(data.cast(), size_bytes, owner) };
        Ok(ScalarBuffer::new(buffer, 0, len))
    }
}

/// Arrays of Arrow.
impl Tensor<Bool8> {
    /// Copies an array of truth values, which Arrow packs in bits, into bytes.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a value is null. `OutOfMemory`.
    ///
    /// ```
    /// use arrow_array::BooleanArray;
    /// use tenure::Tensor;
    ///
    /// let mask = Tensor::copy_from_arrow(&BooleanArray::from(vec![true, false, true]))?;
    /// assert_eq!(mask.to_string(), "[ True False  True]");
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn copy_from_arrow(array: &BooleanArray) -> Result<Self> {
        if array.null_count() > 0 {
            return Err(Error::invalid(format!(
                "{} of {} Boolean are null, which elements cannot be",
                array.null_count(),
                array.len()
            )));
        }
        let values: Vec<Bool8> = array.values().iter().map(Bool8::from).collect();
        raw::count_copied(values.len());
        let len = values.len();
        Ok(Self::from_vec(values, len)?)
    }
}
