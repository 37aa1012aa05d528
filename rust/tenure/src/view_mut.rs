//! Memory lent for writing: a shape over `&'a mut [T]`.

mod parts;

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use tenure_sys::{TNR_VIEW_EXCLUSIVE, tnr_view, tnr_view_mut};

use crate::iter::{AxisIterMut, ChunksMut, Iter, IterMut, RowsMut};
use crate::raw::LentMut;
use crate::{
    DType, Element, IntoShape, Order, Result, Tensor, TensorView, Tenure, layout, refusal,
};

/// A shape over memory lent for writing, which nobody else touches while the loan lasts.
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
// and `layout::check_distinct`, and its elements are initialised, alive and touched by nobody else
// for 'a.
#[repr(transparent)]
pub struct TensorViewMut<'a, T: Element> {
    raw: tnr_view_mut,
    _lent: PhantomData<&'a mut [T]>,
}

// SAFETY: a view is a `&mut [T]` with a shape, and `&mut [T]` is Send where T is Send.
unsafe impl<T: Element + Send> Send for TensorViewMut<'_, T> {}
// SAFETY: as above; `& &mut [T]` only reads, so that T is to be Sync.
unsafe impl<T: Element + Sync> Sync for TensorViewMut<'_, T> {}

/// Construction.
impl<'a, T: Element> TensorViewMut<'a, T> {
    /// Lends a slice, row-major. The shape must have exactly as many elements.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another count of elements, or a rank over 8.
    #[inline(always)]
    pub fn from_slice(data: &'a mut [T], shape: impl IntoShape) -> Result<Self> {
        Self::from_slice_in(data, shape, Order::RowMajor)
    }

    /// Lends a slice in the order given. The shape must have exactly as many elements.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another count of elements, or a rank over 8.
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
    /// - Its elements are initialised, alive and touched by nobody else for `'a`, and its pointers
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

    /// The view as the output of one call.
    #[inline]
    pub(crate) fn lent_mut(&mut self) -> LentMut<'_> {
        // SAFETY: the type's invariant; nobody else touches the elements while `&mut self` lives.
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
    /// The same elements for reading, while `self` is borrowed.
    #[inline]
    pub fn view(&self) -> TensorView<'_, T> {
        let mut raw = self.raw.view;
        raw.flags = 0;
        // SAFETY: `&self` keeps writers away while the result lives.
        unsafe { TensorView::from_raw(raw) }
    }

    /// The same elements for writing, while `self` is borrowed.
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

    /// The same elements for reading, for the rest of the loan.
    #[inline]
    pub fn into_view(self) -> TensorView<'a, T> {
        let mut raw = self.raw.view;
        raw.flags = 0;
        // SAFETY: the exclusive view is gone, and with it the right to write.
        unsafe { TensorView::from_raw(raw) }
    }
}

/// What it is.
impl<T: Element> TensorViewMut<'_, T> {
    /// The extent of each axis, outermost first.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        layout::extents(self.raw())
    }

    /// Elements from one index to the next, for each axis; may be negative. On axes of extent 0 or
    /// 1 they mean nothing.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        layout::strides(self.raw())
    }

    /// Number of axes, 0 to 8.
    #[inline]
    pub fn rank(&self) -> usize {
        self.raw().rank as usize
    }

    /// Number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        layout::count(self.raw())
    }

    /// Whether an extent is 0.
    #[inline]
    pub fn is_empty(&self) -> bool {
        layout::is_empty(self.raw())
    }

    /// The dtype of `T`.
    #[inline]
    pub fn dtype(&self) -> DType {
        T::DTYPE
    }

    /// [`Tenure::BorrowedMut`].
    pub fn tenure(&self) -> Tenure {
        Tenure::BorrowedMut
    }

    /// Where index 0 on every axis lies. Dangling for empty views.
    #[inline]
    pub fn as_ptr(&self) -> *const T {
        self.raw().data.cast()
    }

    /// Where index 0 on every axis lies, to write to. Dangling for empty views.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.raw().data.cast_mut().cast()
    }

    /// Whether the elements are adjacent in memory in row-major order.
    #[inline]
    pub fn is_row_major(&self) -> bool {
        layout::is_row_major(self.raw())
    }
}

/// Elements.
impl<'a, T: Element> TensorViewMut<'a, T> {
    /// One element, or `None` where an index is outside its axis or the rank differs.
    #[inline]
    pub fn get<const N: usize>(&self, index: [usize; N]) -> Option<&T> {
        self.view().get(index)
    }

    /// One element to write, or `None` where an index is outside its axis or the rank differs.
    #[inline]
    pub fn get_mut<const N: usize>(&mut self, index: [usize; N]) -> Option<&mut T> {
        let offset = layout::offset_of(self.raw(), &index)?;
        // SAFETY: every index is inside its axis, so the element is one of the view's, and
        // `&mut self` keeps everybody else away from them.
        Some(unsafe { &mut *self.as_mut_ptr().offset(offset) })
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

    /// The elements as a slice to write for the rest of the loan, where they are adjacent in
    /// row-major order.
    #[inline]
    pub fn into_mut_slice(mut self) -> Option<&'a mut [T]> {
        if !self.is_row_major() {
            return None;
        }
        match self.len() {
            0 => Some(&mut []),
            // SAFETY: row-major means that the `len` elements of the view are the `len` elements
            // from `data` on; they are exclusive for 'a, and the view is consumed.
            len => Some(unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr(), len) }),
        }
    }

    /// Sets every element.
    pub fn fill(&mut self, value: T) {
        match self.as_mut_slice() {
            Some(elements) => elements.fill(value),
            None => self.iter_mut().for_each(|element| *element = value),
        }
    }

    /// The elements in row-major order.
    pub fn iter(&self) -> Iter<'_, T> {
        self.view().iter()
    }

    /// The elements in row-major order, to be written.
    pub fn iter_mut(&mut self) -> IterMut<'_, T> {
        IterMut::new(self.view_mut())
    }

    /// The parts at each index of an axis, to be written; they share no element.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis.
    pub fn axis_iter_mut(&mut self, axis: usize) -> Result<AxisIterMut<'_, T>> {
        AxisIterMut::new(self.view_mut(), axis)
    }

    /// The rows, to be written: views of rank 1 along the last axis, in row-major order of the
    /// other axes. A view of rank 0 is one row of one element.
    pub fn rows_mut(&mut self) -> RowsMut<'_, T> {
        RowsMut::new(self.view_mut())
    }

    /// All [chunks](Self::chunk) of an axis, to be written; they share no element.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis, or no chunks.
    pub fn chunks_mut(&mut self, axis: usize, chunk_count: usize) -> Result<ChunksMut<'_, T>> {
        ChunksMut::new(self.view_mut(), axis, chunk_count)
    }

    /// Copies the elements, in row-major order, into a new `Vec`.
    pub fn to_vec(&self) -> Vec<T> {
        self.view().to_vec()
    }

    /// Copies the elements into a new row-major [`Tensor`].
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    pub fn to_tensor(&self) -> Result<Tensor<T>> {
        self.view().to_tensor()
    }
}

/// Panics as slices do where an index is outside; [`get`](TensorViewMut::get) does not.
impl<T: Element, const N: usize> Index<[usize; N]> for TensorViewMut<'_, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: [usize; N]) -> &T {
        match self.view().get(index) {
            Some(element) => element,
            None => refusal::no_such_element(self.raw(), &index),
        }
    }
}

/// Panics as slices do where an index is outside; [`get_mut`](TensorViewMut::get_mut) does not.
impl<T: Element, const N: usize> IndexMut<[usize; N]> for TensorViewMut<'_, T> {
    #[inline]
    #[track_caller]
    fn index_mut(&mut self, index: [usize; N]) -> &mut T {
        let raw = *self.raw();
        match self.get_mut(index) {
            Some(element) => element,
            None => refusal::no_such_element(&raw, &index),
        }
    }
}

impl<'a, T: Element> IntoIterator for TensorViewMut<'a, T> {
    type Item = &'a mut T;
    type IntoIter = IterMut<'a, T>;

    fn into_iter(self) -> IterMut<'a, T> {
        IterMut::new(self)
    }
}

impl<'a, T: Element> From<&'a mut [T]> for TensorViewMut<'a, T> {
    fn from(data: &'a mut [T]) -> Self {
        let len = data.len();
        Self::from_exact(data, &[len])
    }
}
