//! Memory lent for writing: a shape over `&'a mut [T]`.

mod elements;
mod parts;

use std::ffi::c_void;
use std::marker::PhantomData;

use tenure_sys::{TNR_VIEW_EXCLUSIVE, tnr_view, tnr_view_mut};

use crate::dense::{IntoShape, TensorView};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout;
use crate::layout::order::Order;
use crate::raw::LentMut;
use crate::raw::leaf_mut::LeafMut;
use crate::tenure::Tenure;

/// A shape over memory lent for writing, which nothing else touches while the loan lasts.
///
/// Manipulations consume the view; [`view_mut`](Self::view_mut) reborrows it first where it is to
/// be used again. No two indices of it ever meet in one element.
///
/// ```
/// use tenure::TensorViewMut;
///
/// let mut data = [1, 2, 3, 4, 5, 6];
/// let mut view = TensorViewMut::from_slice(&mut data, [2, 3])?;
/// view[[0, 0]] = 10;
/// view.view_mut().slice(1, 2..)?.fill(0);
/// assert_eq!(data, [10, 2, 0, 4, 5, 0]);
/// # Ok::<(), tenure::Error>(())
/// ```
// Invariant in T, as &'a mut [T] is. The invariant: `raw` is EXCLUSIVE, has passed `layout::check`
// and `layout::check_distinct`, and its elements are initialised, alive and touched by nothing else
// for 'a.
#[repr(transparent)]
pub struct TensorViewMut<'a, T: Element> {
    raw: tnr_view_mut,
    _lent: PhantomData<&'a mut [T]>,
}

// SAFETY: a view is a `&mut [T]` with a shape, and `&mut [T]` is Send where T is Send.
unsafe impl<T: Element + Send> Send for TensorViewMut<'_, T> {}
// SAFETY: `&TensorViewMut` gives only reads of elements and of plain fields; every write takes
// `&mut self` or the view by value; `&T` may be shared by threads, because T is Sync.
unsafe impl<T: Element + Sync> Sync for TensorViewMut<'_, T> {}

/// Construction.
impl<'a, T: Element> TensorViewMut<'a, T> {
    /// Lends a slice, row-major. The shape must have exactly as many elements.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another count of elements, or a rank over 8.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [0; 6];
    /// TensorViewMut::from_slice(&mut data, [2, 3])?[[1, 1]] = 7;
    /// assert_eq!(data, [0, 0, 0, 0, 7, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline(always)]
    #[doc(alias("from_blob", "frombuffer"))]
    pub fn from_slice(data: &'a mut [T], shape: impl IntoShape) -> Result<Self> {
        Self::from_slice_in(data, shape, Order::RowMajor)
    }

    /// Lends a slice in the order given. The shape must have exactly as many elements.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another count of elements, or a rank over 8.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [0; 6];
    /// TensorViewMut::from_slice_in(&mut data, [2, 3], Order::ColumnMajor)?[[1, 1]] = 7;
    /// assert_eq!(data, [0, 0, 0, 7, 0, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline(always)]
    pub fn from_slice_in(data: &'a mut [T], shape: impl IntoShape, order: Order) -> Result<Self> {
        let base = data.as_mut_ptr().cast::<c_void>();
        let raw = layout::dense(base, data.len(), T::DTYPE, shape.extents(), order)?;
        // SAFETY: `dense` lays the shape over exactly this slice, one index to an element; it is
        // borrowed exclusively for 'a.
        Ok(unsafe { Self::from_raw(raw) })
    }

    /// Lends a slice under strides, counted in elements and of any sign. `offset` is the place in
    /// the slice of index 0 on every axis.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: an element outside the slice, another count of strides than of axes, or
    /// a rank over 8. `Aliased`: two indices may meet in one element; ordered by size, each stride
    /// must exceed the reach of the smaller ones.
    ///
    /// ```
    /// use tenure::{ErrorKind, TensorViewMut};
    ///
    /// let mut data = [1, 2, 3, 4];
    /// let mut reversed = TensorViewMut::from_slice_strided(&mut data, 3, [4], &[-1])?;
    /// reversed[[0]] = 40;
    /// assert_eq!(data, [1, 2, 3, 40]);
    ///
    /// let twice = TensorViewMut::from_slice_strided(&mut data, 0, [4], &[0]);
    /// assert_eq!(twice.err().unwrap().kind(), ErrorKind::Aliased);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn from_slice_strided(
        data: &'a mut [T],
        offset: usize,
        shape: impl IntoShape,
        strides: &[isize],
    ) -> Result<Self> {
        let size_bytes = size_of_val(data);
        let base = data.as_mut_ptr().cast::<c_void>();
        let extents = shape.extents();
        let raw = layout::strided(base, size_bytes, T::DTYPE, offset, extents, strides)?;
        layout::check_distinct(&raw)?;
        // SAFETY: both checks have passed, and the slice is borrowed exclusively for 'a.
        Ok(unsafe { Self::from_raw(raw) })
    }

    /// Lends one value, as rank 0.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut total = 0.0;
    /// TensorViewMut::from_mut(&mut total)[[]] = 1.5;
    /// assert_eq!(total, 1.5);
    /// ```
    #[inline]
    pub fn from_mut(value: &'a mut T) -> Self {
        Self::from_exact(std::slice::from_mut(value), &[])
    }

    /// Lends a slice under a shape that is known to fit; see `TensorView::from_exact`.
    #[inline]
    pub(crate) fn from_exact(data: &'a mut [T], extents: &[usize]) -> Self {
        let len = data.len();
        let raw = layout::exact(data.as_mut_ptr().cast::<c_void>(), len, T::DTYPE, extents);
        // SAFETY: the extents multiply to the length of this slice, which is borrowed exclusively
        // for 'a.
        unsafe { Self::from_raw(raw) }
    }

    /// # Safety
    ///
    /// - `raw` has passed `layout::check` and `layout::check_distinct`, and its dtype is `T`'s.
    /// - Its elements are initialised, alive and touched by nothing else for `'a`, and its pointers
    ///   may write.
    #[inline(always)]
    pub(crate) unsafe fn from_raw(mut raw: tnr_view) -> Self {
        debug_assert!(raw.dtype == T::DTYPE.raw());
        // The borrow checker keeps the promise that the flag makes.
        raw.flags = TNR_VIEW_EXCLUSIVE;
        TensorViewMut { raw: tnr_view_mut { view: raw }, _lent: PhantomData }
    }

    #[inline]
    pub(crate) fn raw(&self) -> &tnr_view {
        &self.raw.view
    }

    /// The elements for reading, without a copy of what the view says: it stays EXCLUSIVE there.
    #[inline(always)]
    pub(crate) fn view_ref(&self) -> &TensorView<'_, T> {
        // SAFETY: `&self` keeps writers away while the result lives.
        unsafe { TensorView::from_raw_ref(&self.raw.view) }
    }

    /// The view as the output of one call.
    #[inline]
    pub(crate) fn lent_mut(&mut self) -> LentMut<'_> {
        // SAFETY: the type's invariant; nothing else touches the elements while `&mut self` lives.
        unsafe { LentMut::new(&self.raw) }
    }

    /// A view of some of the elements, as `manipulate` computes it from a view that is consumed.
    #[inline(always)]
    fn part(raw: tnr_view) -> Self {
        // SAFETY: `manipulate` gives views whose elements are among those of the view it takes,
        // each under one index (all but broadcasts and windows, which are checked).
        unsafe { Self::from_raw(raw) }
    }
}

/// Reborrows.
impl<'a, T: Element> TensorViewMut<'a, T> {
    /// Lends the elements for reading, while `self` is borrowed.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [1, 2, 3, 4];
    /// let view = TensorViewMut::from_slice(&mut data, [2, 2])?;
    /// assert_eq!(view.view().broadcast([3, 2, 2])?.len(), 12);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn view(&self) -> TensorView<'_, T> {
        let mut raw = self.raw.view;
        raw.flags = 0;
        // SAFETY: `&self` keeps writers away while the result lives.
        unsafe { TensorView::from_raw(raw) }
    }

    /// Lends the elements for writing, while `self` is borrowed.
    ///
    /// ```
    /// use tenure::TensorViewMut;
    ///
    /// let mut data = [1, 2, 3, 4];
    /// let mut view = TensorViewMut::from_slice(&mut data, [2, 2])?;
    /// view.view_mut().index(0, 1)?.fill(0); // consumes the reborrow
    /// view[[0, 0]] = 9; // and not the view
    /// assert_eq!(data, [9, 2, 0, 0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T> {
        // SAFETY: `&mut self` keeps everybody else away while the result lives.
        unsafe { TensorViewMut::from_raw(self.raw.view) }
    }

    /// Converts the view into one for reading, for the rest of the loan.
    ///
    /// ```
    /// # use tenure::*;
    /// fn filled<'a>(data: &'a mut [f32]) -> Result<TensorView<'a, f32>> {
    ///     let mut view = TensorViewMut::from_slice(data, data.len())?;
    ///     view.fill(1.0);
    ///     Ok(view.into_view())
    /// }
    /// assert_eq!(filled(&mut [0.0; 3])?.to_vec(), [1.0; 3]);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn into_view(self) -> TensorView<'a, T> {
        let mut raw = self.raw.view;
        raw.flags = 0;
        // SAFETY: the exclusive view is gone, and with it the right to write.
        unsafe { TensorView::from_raw(raw) }
    }
}

/// Tenure of the memory.
impl<T: Element> TensorViewMut<'_, T> {
    /// [`Tenure::BorrowedMut`].
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [1, 2];
    /// assert_eq!(TensorViewMut::from_slice(&mut data, 2)?.tenure(), Tenure::BorrowedMut);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn tenure(&self) -> Tenure {
        Tenure::BorrowedMut
    }

    /// Address of index 0 on every axis, to write to. Dangling for empty views.
    ///
    /// ```
    /// # use tenure::*;
    /// let mut data = [1, 2];
    /// let address = data.as_mut_ptr();
    /// assert_eq!(TensorViewMut::from_slice(&mut data, 2)?.as_mut_ptr(), address);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.raw().data.cast_mut().cast()
    }
}

impl<'a, T: Element> From<&'a mut [T]> for TensorViewMut<'a, T> {
    fn from(data: &'a mut [T]) -> Self {
        let len = data.len();
        Self::from_exact(data, &[len])
    }
}

impl<'s, T: Element> From<TensorViewMut<'s, T>> for LeafMut<'s> {
    #[inline]
    fn from(view: TensorViewMut<'s, T>) -> Self {
        // SAFETY:
        // - checked: the view passed both checks when it was made.
        // - alive and touched by nothing else: it is moved here, and lends its elements for 's.
        unsafe { LeafMut::of_value(tnr_view_mut { view: *view.raw() }) }
    }
}
