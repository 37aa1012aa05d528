//! Views whose dtype is known at run time: what comes from files and from other languages.

mod shape;
mod tensor;

use std::marker::PhantomData;

use tenure_sys::{TNR_VIEW_EXCLUSIVE, tnr_view, tnr_view_mut};

pub use tensor::DynTensor;

use crate::dense::{IntoShape, SharedTensor, Tensor, TensorView, TensorViewMut};
use crate::dtype::{DType, Element, Real};
use crate::error::{Error, ErrorKind, Rejected, Result};
use crate::layout;
use crate::layout::order::Order;
use crate::raw::{self, Lent, LentMut, operations};

/// A [`TensorView`] whose dtype is known at run time.
///
/// It carries any dtype of whole bytes that DLPack can name. Operations that compute on it answer
/// `Unsupported` to a dtype that the library does not know; [`downcast`](Self::downcast) leads back
/// to a typed view and all of its operations.
///
/// ```
/// use tenure::{DType, DynView, TensorView};
///
/// let data = [1.0_f32, 2.0, 3.0, 4.0];
/// let view = DynView::from(TensorView::from_slice(&data, [2, 2])?);
/// assert_eq!((view.dtype(), view.shape()), (DType::F32, &[2, 2][..]));
/// assert_eq!(view.downcast::<f32>()?[[1, 0]], 3.0);
/// assert_eq!(view.downcast::<u8>().err().unwrap().message(), "dtype is f32 but u8 is asked for");
/// # Ok::<(), tenure::Error>(())
/// ```
// The invariant is TensorView's, but that `raw.dtype` is any dtype of whole bytes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct DynView<'a> {
    raw: tnr_view,
    _lent: PhantomData<&'a [u8]>,
}

/// A [`TensorViewMut`] whose dtype is known at run time.
///
/// ```
/// use tenure::{DType, DynViewMut};
///
/// let mut bytes = [0; 6];
/// let view = DynViewMut::from_bytes(&mut bytes, DType::U8, [2, 3])?;
/// view.downcast::<u8>()?.index(0, 1)?.fill(7);
/// assert_eq!(bytes, [0, 0, 0, 7, 7, 7]);
/// # Ok::<(), tenure::Error>(())
/// ```
// The invariant is TensorViewMut's, but that `raw.dtype` is any dtype of whole bytes.
#[repr(transparent)]
pub struct DynViewMut<'a> {
    raw: tnr_view_mut,
    _lent: PhantomData<&'a mut [u8]>,
}

// SAFETY: a view is a `&[u8]` with a shape.
unsafe impl Send for DynView<'_> {}
// SAFETY: `&DynView` gives only reads of bytes and of plain fields; no code writes the bytes while
// the view lives, by the type's invariant; a reference to bytes may be shared by threads.
unsafe impl Sync for DynView<'_> {}
// SAFETY: a view is a `&mut [u8]` with a shape.
unsafe impl Send for DynViewMut<'_> {}
// SAFETY: `&DynViewMut` gives only reads of bytes and of plain fields; writes take `&mut self` or
// the view by value; a reference to bytes may be shared by threads.
unsafe impl Sync for DynViewMut<'_> {}

/// Lays a dense shape over all of some bytes.
fn dense(
    base: *const u8,
    len: usize,
    dtype: DType,
    extents: &[usize],
    order: Order,
) -> Result<tnr_view> {
    let element_bytes = dtype.size_bytes();
    if element_bytes == 0 {
        let message = format!("{dtype:?} has no whole number of bytes");
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    let (mut view, count) = layout::shaped(dtype, extents, order)?;
    let size_bytes = count * element_bytes;
    if size_bytes != len {
        return Err(Error::invalid(format!(
            "shape {extents:?} of {dtype:?} takes {size_bytes} bytes but the memory has {len}"
        )));
    }
    layout::place(&mut view, base.cast(), size_bytes);
    if count > 0 {
        layout::check_aligned(&view)?;
    }
    Ok(view)
}

#[cold]
#[inline(never)]
fn other_dtype(dtype: DType, asked: DType) -> Error {
    Error::invalid(format!("dtype is {dtype:?} but {asked} is asked for"))
}

impl<'a> DynView<'a> {
    /// Lends bytes as elements of `dtype` in native byte order, row-major.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: the shape takes another number of bytes, the bytes are not aligned for
    /// `dtype`, or a rank over 8. `Unsupported`: `dtype` has no whole number of bytes.
    ///
    /// ```
    /// use tenure::{DType, DynView, ErrorKind};
    ///
    /// let view = DynView::from_bytes(&[0, 1, 2], DType::BOOL8, 3)?;
    /// assert_eq!(view.to_string(), "[False  True  True]");
    ///
    /// let error = DynView::from_bytes(&[0, 1, 2], DType::F32, 1).err().unwrap();
    /// assert_eq!(error.message(), "shape [1] of f32 takes 4 bytes but the memory has 3");
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn from_bytes(bytes: &'a [u8], dtype: DType, shape: impl IntoShape) -> Result<Self> {
        Self::from_bytes_in(bytes, dtype, shape, Order::RowMajor)
    }

    /// Lends bytes as elements of `dtype` in native byte order, in the order given.
    ///
    /// # Errors
    ///
    /// The errors of [`from_bytes`](Self::from_bytes).
    ///
    /// ```
    /// use tenure::{DType, DynView, Order};
    ///
    /// let view = DynView::from_bytes_in(&[1, 2, 3, 4], DType::U8, [2, 2], Order::ColumnMajor)?;
    /// assert_eq!(view.downcast::<u8>()?.to_vec(), [1, 3, 2, 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn from_bytes_in(
        bytes: &'a [u8],
        dtype: DType,
        shape: impl IntoShape,
        order: Order,
    ) -> Result<Self> {
        let raw = dense(bytes.as_ptr(), bytes.len(), dtype, shape.extents(), order)?;
        // SAFETY: laid over exactly these bytes, which are borrowed for 'a and initialised.
        Ok(unsafe { Self::from_raw(raw) })
    }

    /// # Safety
    ///
    /// - The conditions of `TensorView::from_raw`, for whichever dtype `raw` has.
    pub(crate) unsafe fn from_raw(raw: tnr_view) -> Self {
        DynView { raw, _lent: PhantomData }
    }

    pub(crate) fn raw(&self) -> &tnr_view {
        &self.raw
    }

    pub(crate) fn lent(&self) -> Lent<'_> {
        // SAFETY: the type's invariant is what `Lent` asks.
        unsafe { Lent::new(&self.raw) }
    }

    /// The view of elements of `T`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: the dtype is not `T`'s.
    ///
    /// ```
    /// use tenure::{DType, DynView};
    ///
    /// let view = DynView::from_bytes(&[1, 255], DType::I8, 2)?;
    /// assert_eq!(view.downcast::<i8>()?.to_vec(), [1, -1]);
    /// assert!(view.downcast::<u8>().is_err());
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn downcast<T: Element>(self) -> Result<TensorView<'a, T>> {
        if self.dtype() != T::DTYPE {
            return Err(other_dtype(self.dtype(), T::DTYPE));
        }
        // The view has the dtype's alignment, which is the type's.
        const { assert!(align_of::<T>() == T::DTYPE.alignment_bytes()) };
        // SAFETY: the type's invariant, for the dtype of `T`.
        Ok(unsafe { TensorView::from_raw(self.raw) })
    }

    /// The bytes of the elements, where they are adjacent in row-major order.
    ///
    /// ```
    /// use tenure::{DynView, TensorView};
    ///
    /// let view = DynView::from(TensorView::from_slice(&[1_u8, 2, 3, 4], [2, 2])?);
    /// assert_eq!(view.as_bytes(), Some(&[1, 2, 3, 4][..]));
    /// assert_eq!(view.t().as_bytes(), None);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn as_bytes(&self) -> Option<&'a [u8]> {
        if self.is_empty() {
            return Some(&[]);
        }
        let size_bytes = self.len() * self.dtype().size_bytes();
        layout::is_row_major(&self.raw).then(|| {
            // SAFETY: the elements are adjacent from the first on, and have this size together; by
            // the type's invariant they are initialised and lent for 'a. They have no padding: a
            // dtype describes all of its bytes.
            unsafe { std::slice::from_raw_parts(self.raw.data.cast(), size_bytes) }
        })
    }

    /// Converts the elements into a new row-major tensor, as [`cast`](crate::ops::cast) does.
    ///
    /// # Errors
    ///
    /// `Unsupported`: a dtype that is no number and no truth value. `OutOfMemory`.
    ///
    /// ```
    /// use tenure::{DType, DynView};
    ///
    /// let view = DynView::from_bytes(&[255, 1], DType::I8, 2)?;
    /// assert_eq!(view.cast_to::<f64>()?.to_vec(), [-1.0, 1.0]);
    ///
    /// let float8 = DType::from_dlpack(10, 8, 1);
    /// let error = DynView::from_bytes(&[0, 0], float8, 2)?.cast_to::<f64>().err().unwrap();
    /// assert_eq!(error.kind(), tenure::ErrorKind::Unsupported);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn cast_to<T: Real>(&self) -> Result<Tensor<T>> {
        // SAFETY: a cast that answers OK has written every element, and reads none of its output.
        unsafe { Tensor::written_by(self.shape(), |out| operations::cast(self.lent(), out)) }
    }

    /// Copies the elements, broadcast, into `out` of the same dtype.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another dtype, or the shape does not broadcast to `out`'s.
    ///
    /// ```
    /// use tenure::{DType, DynView, DynViewMut};
    ///
    /// let float8 = DType::from_dlpack(10, 8, 1); // moves, although nothing computes on it
    /// let mut bytes = [0; 4];
    /// let mut out = DynViewMut::from_bytes(&mut bytes, float8, [2, 2])?;
    /// DynView::from_bytes(&[8, 9], float8, 2)?.copy_into(&mut out)?;
    /// assert_eq!(bytes, [8, 9, 8, 9]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn copy_into(&self, out: &mut DynViewMut<'_>) -> Result<()> {
        raw::copy(self.lent(), out.lent_mut())
    }
}

impl<'a> DynViewMut<'a> {
    /// Lends bytes as elements of `dtype` in native byte order, row-major.
    ///
    /// # Errors
    ///
    /// The errors of [`DynView::from_bytes`].
    ///
    /// ```
    /// use tenure::{DType, DynViewMut};
    ///
    /// let mut bytes = [0; 4];
    /// let view = DynViewMut::from_bytes(&mut bytes, DType::I8, [2, 2])?;
    /// view.downcast::<i8>()?.fill(-1);
    /// assert_eq!(bytes, [255; 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn from_bytes(bytes: &'a mut [u8], dtype: DType, shape: impl IntoShape) -> Result<Self> {
        Self::from_bytes_in(bytes, dtype, shape, Order::RowMajor)
    }

    /// Lends bytes as elements of `dtype` in native byte order, in the order given.
    ///
    /// # Errors
    ///
    /// The errors of [`DynView::from_bytes`].
    ///
    /// ```
    /// use tenure::{DType, DynViewMut, Order};
    ///
    /// let mut bytes = [1, 2, 3, 4];
    /// let view = DynViewMut::from_bytes_in(&mut bytes, DType::U8, [2, 2], Order::ColumnMajor)?;
    /// view.index(0, 0)?.downcast::<u8>()?.fill(0); // the first row
    /// assert_eq!(bytes, [0, 2, 0, 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn from_bytes_in(
        bytes: &'a mut [u8],
        dtype: DType,
        shape: impl IntoShape,
        order: Order,
    ) -> Result<Self> {
        let (base, len) = (bytes.as_mut_ptr(), bytes.len());
        let raw = dense(base, len, dtype, shape.extents(), order)?;
        // SAFETY: laid over exactly these bytes, one index to an element; they are borrowed
        // exclusively for 'a.
        Ok(unsafe { Self::from_raw(raw) })
    }

    /// # Safety
    ///
    /// - The conditions of `TensorViewMut::from_raw`, for whichever dtype `raw` has.
    pub(crate) unsafe fn from_raw(mut raw: tnr_view) -> Self {
        raw.flags = TNR_VIEW_EXCLUSIVE;
        DynViewMut { raw: tnr_view_mut { view: raw }, _lent: PhantomData }
    }

    pub(crate) fn lent_mut(&mut self) -> LentMut<'_> {
        // SAFETY: the type's invariant; nothing else touches the elements while `&mut self` lives.
        unsafe { LentMut::new(&self.raw) }
    }

    /// Lends the elements for reading, while `self` is borrowed.
    ///
    /// ```
    /// use tenure::{DType, DynViewMut};
    ///
    /// let mut bytes = [1, 2];
    /// let view = DynViewMut::from_bytes(&mut bytes, DType::U8, 2)?;
    /// assert_eq!(view.view().downcast::<u8>()?.to_vec(), [1, 2]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn view(&self) -> DynView<'_> {
        // SAFETY: `&self` keeps writers away while the result lives.
        unsafe { DynView::from_raw(tnr_view { flags: 0, ..self.raw.view }) }
    }

    /// Lends the elements for writing, while `self` is borrowed.
    ///
    /// ```
    /// use tenure::{DType, DynViewMut};
    ///
    /// let mut bytes = [1, 2];
    /// let mut view = DynViewMut::from_bytes(&mut bytes, DType::U8, 2)?;
    /// view.view_mut().slice(0, 1..)?.downcast::<u8>()?.fill(7); // consumes the reborrow
    /// assert_eq!(view.to_string(), "[1 7]"); // and not the view
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn view_mut(&mut self) -> DynViewMut<'_> {
        // SAFETY: `&mut self` keeps everybody else away while the result lives.
        unsafe { DynViewMut::from_raw(self.raw.view) }
    }

    /// Converts the view into one for reading, for the rest of the loan.
    ///
    /// ```
    /// use tenure::{DType, DynViewMut};
    ///
    /// let mut bytes = [1, 2];
    /// let view = DynViewMut::from_bytes(&mut bytes, DType::U8, 2)?.into_view();
    /// let copy = view; // a plain value
    /// assert_eq!(view.to_string(), copy.to_string());
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn into_view(self) -> DynView<'a> {
        // SAFETY: the exclusive view is gone, and with it the right to write.
        unsafe { DynView::from_raw(tnr_view { flags: 0, ..self.raw.view }) }
    }

    /// The exclusive view of elements of `T`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: the dtype is not `T`'s; the view comes back with the error.
    ///
    /// ```
    /// use tenure::{DType, DynViewMut};
    ///
    /// let mut bytes = [1, 2];
    /// let view = DynViewMut::from_bytes(&mut bytes, DType::U8, 2)?;
    /// let view = view.downcast::<f32>().err().unwrap().into_data();
    /// view.downcast::<u8>()?.fill(9);
    /// assert_eq!(bytes, [9, 9]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[allow(clippy::result_large_err)] // A view either way.
    pub fn downcast<T: Element>(self) -> Result<TensorViewMut<'a, T>, Rejected<Self>> {
        if self.dtype() != T::DTYPE {
            return Err(Rejected::new(other_dtype(self.dtype(), T::DTYPE), self));
        }
        // The alignment is right, as in `DynView::downcast`.
        const { assert!(align_of::<T>() == T::DTYPE.alignment_bytes()) };
        // SAFETY: the type's invariant, for the dtype of `T`.
        Ok(unsafe { TensorViewMut::from_raw(self.raw.view) })
    }
}

impl<'a, T: Element> From<TensorView<'a, T>> for DynView<'a> {
    fn from(view: TensorView<'a, T>) -> Self {
        // SAFETY: the invariant of `TensorView`.
        unsafe { Self::from_raw(*view.raw()) }
    }
}

impl<'a> From<&DynView<'a>> for DynView<'a> {
    fn from(view: &DynView<'a>) -> Self {
        *view
    }
}

impl<'a, T: Element> From<&TensorView<'a, T>> for DynView<'a> {
    fn from(view: &TensorView<'a, T>) -> Self {
        (*view).into()
    }
}

impl<'a, T: Element> From<&'a TensorViewMut<'_, T>> for DynView<'a> {
    fn from(view: &'a TensorViewMut<'_, T>) -> Self {
        view.view().into()
    }
}

impl<'a, T: Element> From<&'a Tensor<T>> for DynView<'a> {
    fn from(tensor: &'a Tensor<T>) -> Self {
        tensor.view().into()
    }
}

impl<'a, T: Element> From<&'a SharedTensor<T>> for DynView<'a> {
    fn from(tensor: &'a SharedTensor<T>) -> Self {
        tensor.view().into()
    }
}

impl<'a, T: Element> From<TensorViewMut<'a, T>> for DynViewMut<'a> {
    fn from(view: TensorViewMut<'a, T>) -> Self {
        // SAFETY: the invariant of `TensorViewMut`.
        unsafe { Self::from_raw(*view.raw()) }
    }
}

impl<'a, T: Element> From<&'a mut Tensor<T>> for DynViewMut<'a> {
    fn from(tensor: &'a mut Tensor<T>) -> Self {
        tensor.view_mut().into()
    }
}
