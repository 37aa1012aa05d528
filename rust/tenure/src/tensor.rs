//! Memory held alone.

use std::ops::{Index, IndexMut};

use crate::held::Held;
use crate::iter::{Iter, IterMut};
use crate::raw::{self, LentMut};
use crate::{
    DType, Element, IntoShape, Order, Rejected, Result, SharedTensor, TensorView, TensorViewMut,
    Tenure, layout, refusal,
};

/// A tensor that holds its memory alone, as a `Box` does: allocated by the library, copied, or
/// adopted from a `Vec` or another owner.
///
/// It lends [views](Self::view), which do everything else.
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
    pub fn zeros(shape: impl IntoShape) -> Result<Self> {
        Self::zeros_in(shape, Order::RowMajor)
    }

    /// New memory of zeros in the order given.
    ///
    /// # Errors
    ///
    /// As [`zeros`](Self::zeros).
    pub fn zeros_in(shape: impl IntoShape, order: Order) -> Result<Self> {
        Ok(Tensor { held: Held::zeros(shape.extents(), order)? })
    }

    /// New memory with `value` in every element, row-major.
    ///
    /// # Errors
    ///
    /// As [`zeros`](Self::zeros).
    pub fn full(shape: impl IntoShape, value: T) -> Result<Self> {
        Ok(Tensor { held: Held::full(shape.extents(), Order::RowMajor, value)? })
    }

    /// New memory that holds a copy of `data`, row-major. The shape must have exactly as many
    /// elements.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another count of elements, or a rank over 8. `OutOfMemory`.
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
    pub fn from_vec(vec: Vec<T>, shape: impl IntoShape) -> Result<Self, Rejected<Vec<T>>> {
        Self::from_vec_in(vec, shape, Order::RowMajor)
    }

    /// Adopts a `Vec` in the order given, without a copy.
    ///
    /// # Errors
    ///
    /// As [`from_vec`](Self::from_vec).
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
    /// As [`from_vec`](Self::from_vec); the owner comes back with the error.
    pub fn from_owner_mut<O>(owner: O, shape: impl IntoShape) -> Result<Self, Rejected<O>>
    where
        O: AsMut<[T]> + Send + 'static,
    {
        Ok(Tensor { held: Held::adopt_owner(owner, shape.extents())? })
    }

    /// A row-major copy of a view.
    pub(crate) fn copy_of(view: TensorView<'_, T>) -> Result<Self> {
        if let Some(elements) = view.as_slice() {
            return Self::copy_from_slice(elements, view.shape());
        }
        // SAFETY: a copy that answers Ok has written every element, and reads none of its output.
        let tensor = unsafe { Self::written_by(view.shape(), |out| raw::copy(view.lent(), out)) }?;
        raw::count_copied(size_of::<T>() * tensor.len());
        Ok(tensor)
    }

    /// New row-major memory, initialised by `write` through the view that it gets.
    ///
    /// # Safety
    ///
    /// - When `write` answers Ok, it has written every element of the view, and read none before.
    pub(crate) unsafe fn written_by(
        extents: &[usize],
        write: impl FnOnce(LentMut<'_>) -> Result<()>,
    ) -> Result<Self> {
        // SAFETY: by this function's contract.
        let held = unsafe { Held::written_by(extents, Order::RowMajor, write) }?;
        Ok(Tensor { held })
    }
}

/// Lending, and giving back.
impl<T: Element> Tensor<T> {
    /// Lends the elements for reading.
    #[inline]
    pub fn view(&self) -> TensorView<'_, T> {
        // SAFETY: `Held` keeps the elements alive, and `&self` keeps writers away.
        unsafe { TensorView::from_raw(*self.held.raw()) }
    }

    /// Lends the elements for writing.
    #[inline]
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T> {
        // SAFETY: `Held` keeps the elements alive, the memory of a `Tensor` may be written, and
        // `&mut self` keeps everybody else away.
        unsafe { TensorViewMut::from_raw(*self.held.raw()) }
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
    pub fn into_vec(self) -> Result<Vec<T>, Self> {
        self.held.into_vec().map_err(|held| Tensor { held })
    }

    /// Gives up writing, so that the memory can be shared. Nothing moves.
    pub fn into_shared(self) -> SharedTensor<T> {
        SharedTensor::new(self.held)
    }

    /// Copies the elements into a tensor of its own, in the same order of memory.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    pub fn try_clone(&self) -> Result<Self> {
        Ok(Tensor { held: self.held.duplicate()? })
    }

    /// Copies the elements into a row-major tensor of its own.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    pub fn to_tensor(&self) -> Result<Self> {
        self.view().to_tensor()
    }

    /// Copies the elements, in row-major order, into a new `Vec`.
    pub fn to_vec(&self) -> Vec<T> {
        self.view().to_vec()
    }
}

/// What it is.
impl<T: Element> Tensor<T> {
    /// The extent of each axis, outermost first.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        layout::extents(self.held.raw())
    }

    /// Elements from one index to the next, for each axis.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        layout::strides(self.held.raw())
    }

    /// Number of axes, 0 to 8.
    #[inline]
    pub fn rank(&self) -> usize {
        self.held.raw().rank as usize
    }

    /// Number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        layout::count(self.held.raw())
    }

    /// Whether an extent is 0.
    #[inline]
    pub fn is_empty(&self) -> bool {
        layout::is_empty(self.held.raw())
    }

    /// The dtype of `T`.
    #[inline]
    pub fn dtype(&self) -> DType {
        T::DTYPE
    }

    /// [`Tenure::Allocated`], [`Tenure::Copied`] or [`Tenure::Adopted`].
    pub fn tenure(&self) -> Tenure {
        self.held.tenure()
    }

    /// Whether the elements are adjacent in memory in row-major order.
    #[inline]
    pub fn is_row_major(&self) -> bool {
        layout::is_row_major(self.held.raw())
    }

    /// Where the first element lies. Dangling or null when empty.
    #[inline]
    pub fn as_ptr(&self) -> *const T {
        self.held.raw().data.cast()
    }
}

/// Elements.
impl<T: Element> Tensor<T> {
    /// The one element of a tensor that has one, whatever its rank.
    #[inline]
    pub fn item(&self) -> Option<T> {
        match self.view().as_slice() {
            Some(&[element]) => Some(element),
            _ => None,
        }
    }

    /// One element, or `None` where an index is outside its axis or the rank differs.
    #[inline]
    pub fn get<const N: usize>(&self, index: [usize; N]) -> Option<&T> {
        self.view().get(index)
    }

    /// One element to write, or `None` where an index is outside its axis or the rank differs.
    #[inline]
    pub fn get_mut<const N: usize>(&mut self, index: [usize; N]) -> Option<&mut T> {
        let offset = layout::offset_of(self.held.raw(), &index)?;
        // SAFETY: every index is inside its axis, so the element is one of the tensor's, and
        // `&mut self` keeps everybody else away from them.
        Some(unsafe { &mut *self.as_ptr().cast_mut().offset(offset) })
    }

    /// The elements as a slice, where they are adjacent in row-major order.
    #[inline]
    pub fn as_slice(&self) -> Option<&[T]> {
        self.view().as_slice()
    }

    /// The elements as a slice to write, where they are adjacent in row-major order.
    #[inline]
    pub fn as_mut_slice(&mut self) -> Option<&mut [T]> {
        self.view_mut().into_mut_slice()
    }

    /// The elements in row-major order.
    pub fn iter(&self) -> Iter<'_, T> {
        self.view().iter()
    }

    /// The elements in row-major order, to be written.
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        self.view_mut().into_iter()
    }
}

/// Panics as slices do where an index is outside; [`get`](Tensor::get) does not.
impl<T: Element, const N: usize> Index<[usize; N]> for Tensor<T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: [usize; N]) -> &T {
        match self.get(index) {
            Some(element) => element,
            None => refusal::no_such_element(self.held.raw(), &index),
        }
    }
}

/// Panics as slices do where an index is outside; [`get_mut`](Tensor::get_mut) does not.
impl<T: Element, const N: usize> IndexMut<[usize; N]> for Tensor<T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, index: [usize; N]) -> &mut T {
        let raw = *self.held.raw();
        match self.get_mut(index) {
            Some(element) => element,
            None => refusal::no_such_element(&raw, &index),
        }
    }
}
