//! Memory with a single holder.

mod elements;
mod patterns;

use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use tenure_sys::{DLManagedTensorVersioned, tnr_view, tnr_view_mut};

use crate::dense::Held;
use crate::dense::{IntoShape, SharedTensor, TensorView, TensorViewMut};
use crate::dtype::Element;
use crate::error::{Rejected, Result};
use crate::layout::order::Order;
use crate::raw::{self, BlobHandle, LentMut};
use crate::tenure::Tenure;

/// A tensor that is the only holder of its memory, as a `Box` is: allocated by the library, copied,
/// or adopted from a `Vec` or another owner.
///
/// It lends [views](Self::view). Operations are functions ([`ops`](crate::ops),
/// [`linalg`](crate::linalg), [`nn`](crate::nn)), and the most common ones also methods:
/// [`sum`](Self::sum), [`matmul`](Self::matmul). It is not `Clone`: a copy may fail for want of
/// memory, and says that it is one, as [`try_clone`](Self::try_clone).
///
/// ```
/// use tenure::Tensor;
///
/// let mut tensor = Tensor::from_vec(vec![1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
/// tensor[[0, 0]] = 10.0;
/// assert_eq!(tensor.view().t().to_vec(), [10.0, 3.0, 2.0, 4.0]);
/// assert_eq!(tensor.into_vec().ok(), Some(vec![10.0, 2.0, 3.0, 4.0]));
/// # Ok::<(), tenure::Error>(())
/// ```
pub struct Tensor<T: Element> {
    held: Held<T>,
}

/// Construction.
impl<T: Element> Tensor<T> {
    /// New memory of zeros, row-major.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a rank over 8, or more bytes than memory can have. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(Tensor::<f32>::zeros([2, 3])?.to_vec(), [0.0; 6]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn zeros(shape: impl IntoShape) -> Result<Self> {
        Self::zeros_in(shape, Order::RowMajor)
    }

    /// New memory of zeros in the order given.
    ///
    /// # Errors
    ///
    /// The errors of [`zeros`](Self::zeros).
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(Tensor::<f32>::zeros_in([2, 3], Order::ColumnMajor)?.strides(), [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn zeros_in(shape: impl IntoShape, order: Order) -> Result<Self> {
        Ok(Tensor { held: Held::zeros(shape.extents(), order)? })
    }

    /// New memory with `value` in every element, row-major.
    ///
    /// # Errors
    ///
    /// The errors of [`zeros`](Self::zeros).
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(Tensor::full([2, 2], 7_u8)?.to_vec(), [7; 4]);
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias("fill", "full_like"))]
    pub fn full(shape: impl IntoShape, value: T) -> Result<Self> {
        Ok(Tensor { held: Held::full(shape.extents(), Order::RowMajor, value)? })
    }

    /// New memory that holds a copy of `data`, row-major. The shape must have exactly as many
    /// elements.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another count of elements, or a rank over 8. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let before = tenure::stats().copied_bytes;
    /// let tensor = Tensor::copy_from_slice(&[1.0_f64; 6], [2, 3])?;
    /// assert_eq!(tensor.tenure(), Tenure::Copied);
    /// assert!(tenure::stats().copied_bytes >= before + 48);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn copy_from_slice(data: &[T], shape: impl IntoShape) -> Result<Self> {
        Ok(Tensor { held: Held::copy(data, shape.extents(), Order::RowMajor)? })
    }

    /// Adopts a `Vec`, row-major, without a copy. The shape must have exactly as many elements.
    /// [`into_vec`](Self::into_vec) gives it back.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another count of elements, or a rank over 8. `OutOfMemory`: the
    /// library's own record of it. The `Vec` comes back with the error.
    ///
    /// ```
    /// # use tenure::*;
    /// let vec = vec![1, 2, 3, 4];
    /// let address = vec.as_ptr();
    /// assert_eq!(Tensor::from_vec(vec, [2, 2])?.as_ptr(), address);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_vec(vec: Vec<T>, shape: impl IntoShape) -> Result<Self, Rejected<Vec<T>>> {
        Self::from_vec_in(vec, shape, Order::RowMajor)
    }

    /// Adopts a `Vec` in the order given, without a copy.
    ///
    /// # Errors
    ///
    /// The errors of [`from_vec`](Self::from_vec).
    ///
    /// ```
    /// # use tenure::*;
    /// let tensor = Tensor::from_vec_in(vec![1, 2, 3, 4], [2, 2], Order::ColumnMajor)?;
    /// assert_eq!(tensor.to_vec(), [1, 3, 2, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_vec_in(
        vec: Vec<T>,
        shape: impl IntoShape,
        order: Order,
    ) -> Result<Self, Rejected<Vec<T>>> {
        Ok(Tensor { held: Held::adopt_vec(vec, shape.extents(), order)? })
    }

    /// Adopts any owner of elements, row-major, without a copy. The owner is moved to an address
    /// that stays, asked for its elements once, and dropped when the tensor is.
    ///
    /// # Errors
    ///
    /// The errors of [`from_vec`](Self::from_vec); the owner comes back with the error.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut tensor = Tensor::from_owner_mut(Box::<[f32]>::from([1.0, 2.0]), 2)?;
    /// tensor[[0]] = 10.0;
    /// assert_eq!(tensor.to_vec(), [10.0, 2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn from_owner_mut<O>(owner: O, shape: impl IntoShape) -> Result<Self, Rejected<O>>
    where
        O: AsMut<[T]> + Send + 'static,
    {
        Ok(Tensor { held: Held::adopt_owner(owner, shape.extents())? })
    }

    /// New row-major memory of zeros, which `allocate` gets.
    pub(crate) fn zeros_by(
        extents: &[usize],
        allocate: impl FnOnce(usize) -> Result<BlobHandle>,
    ) -> Result<Self> {
        Ok(Tensor { held: Held::zeros_by(extents, allocate)? })
    }

    /// A tensor that a call of the library has made.
    pub(crate) fn of_new(new: raw::NewTensor<T>) -> Self {
        let (view, blob) = new.into_parts();
        // SAFETY: the view is dense, over all of a new blob, of the dtype of `T`, and every element
        // has been written: the invariant of `NewTensor`.
        unsafe { Tensor::made(view, blob) }
    }

    /// Takes memory that the library has allocated.
    ///
    /// # Safety
    ///
    /// - The conditions of [`Held::made`].
    pub(crate) unsafe fn made(raw: tnr_view, blob: BlobHandle) -> Self {
        // SAFETY: by this function's contract.
        Tensor { held: unsafe { Held::made(raw, blob) } }
    }

    pub(crate) fn over(held: Held<T>) -> Self {
        Tensor { held }
    }

    #[cfg(any(feature = "nalgebra", feature = "ndarray"))]
    pub(crate) fn into_held(self) -> Held<T> {
        self.held
    }

    /// A copy of a view, in the order given.
    pub(crate) fn copy_of(view: TensorView<'_, T>, order: Order) -> Result<Self> {
        if let (Order::RowMajor, Some(elements)) = (order, view.as_slice()) {
            return Self::copy_from_slice(elements, view.shape());
        }
        let tensor = Self::working_copy(view, order)?;
        raw::count_copied(size_of::<T>() * tensor.len());
        Ok(tensor)
    }

    /// A copy of a view in the order given, for an operation to work on: not one that is counted.
    pub(crate) fn working_copy(view: TensorView<'_, T>, order: Order) -> Result<Self> {
        // SAFETY: a copy that answers Ok has written every element, and reads none of its output.
        unsafe { Self::written_in(view.shape(), order, |out| raw::copy(view.lent(), out)) }
    }

    /// New row-major memory, initialised by `write` through the view that it gets.
    ///
    /// # Safety
    ///
    /// - When `write` answers Ok, it has written every element of the view, and read none before.
    #[inline(always)]
    pub(crate) unsafe fn written_by(
        extents: &[usize],
        write: impl FnOnce(LentMut<'_>) -> Result<()>,
    ) -> Result<Self> {
        // SAFETY: by this function's contract.
        unsafe { Self::written_in(extents, Order::RowMajor, write) }
    }

    /// Does the same as [`written_by`](Self::written_by), in the order given.
    ///
    /// # Safety
    ///
    /// - The conditions of [`written_by`](Self::written_by).
    #[inline(always)]
    pub(crate) unsafe fn written_in(
        extents: &[usize],
        order: Order,
        write: impl FnOnce(LentMut<'_>) -> Result<()>,
    ) -> Result<Self> {
        // SAFETY: by this function's contract.
        let held = unsafe { Held::written_by(extents, order, write) }?;
        Ok(Tensor { held })
    }
}

/// Elements by their bytes.
impl<T: Element> Tensor<T> {
    /// # Safety
    ///
    /// - The conditions of [`Held::filled_by`].
    pub(crate) unsafe fn filled_by(
        extents: &[usize],
        order: Order,
        write: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<()>,
    ) -> Result<Self> {
        // SAFETY: by this function's contract.
        Ok(Tensor { held: unsafe { Held::filled_by(extents, order, write) }? })
    }

    /// Gives the memory another dtype and shape, which must take all of it.
    pub(crate) fn into_elements<U: Element>(
        self,
        extents: &[usize],
        order: Order,
    ) -> Result<Tensor<U>> {
        Ok(Tensor { held: self.held.into_elements(extents, order)? })
    }
}

/// Lending, and giving back.
impl<T: Element> Tensor<T> {
    #[inline]
    pub(crate) fn raw(&self) -> &tnr_view {
        self.held.raw()
    }

    /// The view of all of it, which names the blob that holds the memory.
    pub(crate) fn owned_raw(&self) -> tnr_view {
        self.held.owned_raw()
    }

    /// A managed tensor that holds on to the memory.
    pub(crate) fn export(&self, is_read_only: bool) -> Result<NonNull<DLManagedTensorVersioned>> {
        self.held.export(is_read_only)
    }

    /// Lends the elements for reading.
    ///
    /// ```
    /// # use tenure::*;
    /// let tensor = Tensor::from_vec(vec![1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(tensor.view().index(1, 0)?.to_vec(), [1, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn view(&self) -> TensorView<'_, T> {
        // SAFETY: `Held` keeps the elements alive, and `&self` keeps writers away.
        unsafe { TensorView::from_raw(*self.raw()) }
    }

    #[inline]
    pub(crate) fn view_ref(&self) -> &TensorView<'_, T> {
        // SAFETY: the raw view is dense over all of the blob's memory; `Held` keeps the elements
        // alive and initialised; `&self` keeps writers away while the result lives.
        unsafe { TensorView::from_raw_ref(self.raw()) }
    }

    /// Lends the elements for writing.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut tensor = Tensor::from_vec(vec![1, 2, 3, 4], [2, 2])?;
    /// tensor.view_mut().index(1, 0)?.fill(0);
    /// assert_eq!(tensor.to_vec(), [0, 2, 0, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T> {
        // SAFETY: `Held` keeps the elements alive, the memory of a `Tensor` may be written, and
        // `&mut self` keeps everybody else away.
        unsafe { TensorViewMut::from_raw(*self.raw()) }
    }

    /// The view of all elements as the output of one call, by its address.
    #[inline]
    pub(crate) fn lent_mut(&mut self) -> LentMut<'_> {
        // SAFETY: a `tnr_view_mut` is its first and only field, a view.
        let view = unsafe { &*ptr::from_ref(self.raw()).cast::<tnr_view_mut>() };
        // SAFETY: the view is dense over the blob's memory, so that it passes both checks, which do
        // not read the flag EXCLUSIVE; `Held` keeps the elements alive, and a `Tensor` may write
        // them; `&mut self` excludes every other access while the result lives.
        unsafe { LentMut::new(view) }
    }

    /// The `Vec` that was adopted: the same allocation, with its capacity.
    ///
    /// # Errors
    ///
    /// The tensor itself, unchanged, where it was not made by [`from_vec`](Self::from_vec) or is
    /// not row-major: only a copy, [`to_vec`](Self::to_vec), gives a `Vec` then.
    ///
    /// ```
    /// use tenure::Tensor;
    ///
    /// let vec = vec![1, 2, 3, 4];
    /// let address = vec.as_ptr();
    /// let tensor = Tensor::from_vec(vec, [2, 2])?;
    /// assert_eq!(tensor.into_vec().ok().unwrap().as_ptr(), address);
    ///
    /// assert!(Tensor::<i32>::zeros([2, 2])?.into_vec().is_err());
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[expect(clippy::result_large_err, reason = "the refused tensor goes back, by value")]
    pub fn into_vec(self) -> Result<Vec<T>, Self> {
        self.held.into_vec().map_err(|held| Tensor { held })
    }

    /// Gives up writing, so that the memory can be shared. Nothing moves.
    ///
    /// ```
    /// # use tenure::*;
    /// let tensor = Tensor::from_vec(vec![1, 2, 3, 4], [2, 2])?;
    /// let address = tensor.as_ptr();
    /// assert_eq!(tensor.into_shared().clone().as_ptr(), address);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn into_shared(self) -> SharedTensor<T> {
        SharedTensor::new(self.held)
    }

    /// Copies the elements into a tensor of its own, in the same order of memory.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let tensor = Tensor::from_vec_in(vec![1, 2, 3, 4], [2, 2], Order::ColumnMajor)?;
    /// let clone = tensor.try_clone()?;
    /// assert_eq!((clone.strides(), clone.to_vec()), (tensor.strides(), tensor.to_vec()));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn try_clone(&self) -> Result<Self> {
        Ok(Tensor { held: self.held.duplicate()? })
    }

    /// Copies the elements into a row-major tensor of its own.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let tensor = Tensor::from_vec_in(vec![1, 2, 3, 4], [2, 2], Order::ColumnMajor)?;
    /// assert_eq!(tensor.to_tensor()?.as_slice(), Some(&[1, 3, 2, 4][..]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_tensor(&self) -> Result<Self> {
        self.view().to_tensor()
    }

    /// Copies the elements, in row-major order, into a new `Vec`.
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(Tensor::full(3, 1.5)?.to_vec(), [1.5; 3]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_vec(&self) -> Vec<T> {
        self.view().to_vec()
    }
}

/// Tenure of the memory.
impl<T: Element> Tensor<T> {
    /// [`Tenure::Allocated`], [`Tenure::Copied`] or [`Tenure::Adopted`].
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(Tensor::from_vec(vec![1], 1)?.tenure(), Tenure::Adopted);
    /// assert_eq!(Tensor::<u8>::zeros(1)?.tenure(), Tenure::Allocated);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn tenure(&self) -> Tenure {
        self.held.tenure()
    }
}

/// The elements as they lie in memory: in the order of the shape where the tensor is row-major.
///
/// So a tensor of bytes is an owner that [`SharedTensor::from_bytes`] takes.
impl<T: Element> AsRef<[T]> for Tensor<T> {
    fn as_ref(&self) -> &[T] {
        self.held.elements()
    }
}

/// The elements as they lie in memory, to be written.
impl<T: Element> AsMut<[T]> for Tensor<T> {
    fn as_mut(&mut self) -> &mut [T] {
        self.held.elements_mut()
    }
}
