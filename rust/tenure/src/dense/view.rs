//! Memory lent for reading: a shape over `&'a [T]`.

mod parts;

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::Index;

use tenure_sys::tnr_view;

use crate::dense::iter::{AxisIter, Iter, Rows};
use crate::dense::{IntoShape, Tensor};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout;
use crate::layout::{axis::Axis, order::Order, refusal};
use crate::raw::expression::Leaf;
use crate::raw::{self, Lent};
use crate::tenure::Tenure;

/// A shape over memory lent for reading; a plain value, `Copy`, that lives no longer than the loan.
///
/// Every manipulation is arithmetic on the shape: none allocates, none copies an element, none
/// calls into the library.
///
/// ```
/// use tenure::TensorView;
///
/// let data = [1, 2, 3, 4, 5, 6];
/// let view = TensorView::from_slice(&data, [2, 3])?;
/// assert_eq!(view[[1, 0]], 4);
/// assert_eq!(view.t().shape(), [3, 2]);
/// assert_eq!(view.slice(1, 1..)?.to_vec(), [2, 3, 5, 6]);
/// # Ok::<(), tenure::Error>(())
/// ```
// Covariant in 'a and T, as &'a [T] is. The invariant: `raw` has passed `layout::check`, and its
// elements are initialised, alive and not written for 'a.
#[repr(transparent)]
pub struct TensorView<'a, T: Element> {
    raw: tnr_view,
    _lent: PhantomData<&'a [T]>,
}

impl<T: Element> Clone for TensorView<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element> Copy for TensorView<'_, T> {}

// SAFETY: a view is a `&[T]` with a shape, and `&[T]` is Send where T is Sync.
unsafe impl<T: Element + Sync> Send for TensorView<'_, T> {}
// SAFETY: `&TensorView` gives only reads of elements and of plain fields; no code writes the
// elements while the view lives, by the type's invariant; `&T` may be shared by threads, because T
// is Sync.
unsafe impl<T: Element + Sync> Sync for TensorView<'_, T> {}

/// Construction.
impl<'a, T: Element> TensorView<'a, T> {
    /// Lends a slice, row-major. The shape must have exactly as many elements.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another count of elements, or a rank over 8.
    ///
    /// ```
    /// use tenure::TensorView;
    ///
    /// let data = [1.0, 2.0, 3.0, 4.0];
    /// let view = TensorView::from_slice(&data, [2, 2])?;
    /// assert_eq!(view.as_ptr(), data.as_ptr());
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline(always)]
    #[doc(alias("from_blob", "frombuffer"))]
    pub fn from_slice(data: &'a [T], shape: impl IntoShape) -> Result<Self> {
        Self::from_slice_in(data, shape, Order::RowMajor)
    }

    /// Lends a slice in the order given. The shape must have exactly as many elements.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another count of elements, or a rank over 8.
    ///
    /// ```
    /// use tenure::{Order, TensorView};
    ///
    /// let columns = [1, 2, 3, 4, 5, 6];
    /// let view = TensorView::from_slice_in(&columns, [2, 3], Order::ColumnMajor)?;
    /// assert_eq!(view.to_vec(), [1, 3, 5, 2, 4, 6]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline(always)]
    pub fn from_slice_in(data: &'a [T], shape: impl IntoShape, order: Order) -> Result<Self> {
        let base = data.as_ptr().cast::<c_void>();
        let raw = layout::dense(base, data.len(), T::DTYPE, shape.extents(), order)?;
        // SAFETY: `dense` lays the shape over exactly this slice, which is borrowed for 'a.
        Ok(unsafe { Self::from_raw(raw) })
    }

    /// Lends a slice under any strides, counted in elements and of any sign. `offset` is the place
    /// in the slice of index 0 on every axis. Indices may meet in one element.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: an element outside the slice, another count of strides than of axes, or
    /// a rank over 8.
    ///
    /// ```
    /// use tenure::TensorView;
    ///
    /// // A 2 x 2 window of a 3 x 3 picture, bottom row first.
    /// let picture = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    /// let window = TensorView::from_slice_strided(&picture, 4, [2, 2], &[-3, 1])?;
    /// assert_eq!(window.to_vec(), [5, 6, 2, 3]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn from_slice_strided(
        data: &'a [T],
        offset: usize,
        shape: impl IntoShape,
        strides: &[isize],
    ) -> Result<Self> {
        let base = data.as_ptr().cast::<c_void>();
        let extents = shape.extents();
        let raw = layout::strided(base, size_of_val(data), T::DTYPE, offset, extents, strides)?;
        // SAFETY: `strided` has checked that every element lies inside this slice, which is
        // borrowed for 'a.
        Ok(unsafe { Self::from_raw(raw) })
    }

    /// Lends one value, as rank 0.
    ///
    /// ```
    /// use tenure::TensorView;
    ///
    /// let view = TensorView::from_ref(&7);
    /// assert_eq!((view.rank(), view[[]]), (0, 7));
    /// ```
    #[inline]
    pub fn from_ref(value: &'a T) -> Self {
        Self::from_exact(std::slice::from_ref(value), &[])
    }

    /// Lends a slice under a shape that is known to fit: arrays of arrays, whose extents may
    /// overflow only where they are empty and strides are ignored.
    #[inline]
    pub(crate) fn from_exact(data: &'a [T], extents: &[usize]) -> Self {
        let raw = layout::exact(data.as_ptr().cast::<c_void>(), data.len(), T::DTYPE, extents);
        // SAFETY: the extents multiply to the length of this slice, which is borrowed for 'a.
        unsafe { Self::from_raw(raw) }
    }

    /// # Safety
    ///
    /// - `raw` has passed `layout::check`, and its dtype is `T`'s.
    /// - Its elements are initialised, alive and not written for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn from_raw(raw: tnr_view) -> Self {
        debug_assert!(raw.dtype == T::DTYPE.raw());
        TensorView { raw, _lent: PhantomData }
    }

    /// Makes the view by reference: a copy is one of 192 bytes.
    ///
    /// # Safety
    ///
    /// - The conditions of [`from_raw`](Self::from_raw).
    #[inline(always)]
    pub(crate) unsafe fn from_raw_ref(raw: &'a tnr_view) -> &'a Self {
        debug_assert!(raw.dtype == T::DTYPE.raw());
        // SAFETY: a view is its raw view, transparently; it is valid by this function's contract.
        unsafe { &*std::ptr::from_ref(raw).cast::<Self>() }
    }

    #[inline]
    pub(crate) fn raw(&self) -> &tnr_view {
        &self.raw
    }

    /// The view as an input of one call.
    #[inline]
    pub(crate) fn lent(&self) -> Lent<'_> {
        // SAFETY: the type's invariant is what `Lent` asks.
        unsafe { Lent::new(&self.raw) }
    }

    /// The view as an operand of an expression, which keeps its address.
    #[inline(always)]
    pub(crate) fn as_leaf(&'a self) -> Leaf<'a> {
        // SAFETY: the type's invariant is what `Leaf` asks.
        unsafe { Leaf::address(&self.raw) }
    }

    /// The view as an operand of an expression, which keeps a copy of it.
    #[inline(always)]
    pub(crate) fn into_leaf(self) -> Leaf<'a> {
        // SAFETY: the type's invariant is what `Leaf` asks.
        unsafe { Leaf::value(self.raw) }
    }

    /// A view of some of the elements, as `manipulate` computes it.
    #[inline(always)]
    fn part(raw: tnr_view) -> Self {
        // SAFETY: `manipulate` gives views whose elements are among those of the view it takes.
        unsafe { Self::from_raw(raw) }
    }
}

/// Tenure of the memory.
impl<'a, T: Element> TensorView<'a, T> {
    /// [`Tenure::Borrowed`].
    ///
    /// ```
    /// # use tenure::*;
    /// let view = TensorView::from_slice(&[1, 2], 2)?;
    /// assert_eq!(view.tenure(), Tenure::Borrowed);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn tenure(&self) -> Tenure {
        Tenure::Borrowed
    }

    /// The elements as a slice, where they are adjacent in row-major order.
    ///
    /// ```
    /// use tenure::TensorView;
    ///
    /// let view = TensorView::from_slice(&[1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(view.as_slice(), Some(&[1, 2, 3, 4][..]));
    /// assert_eq!(view.t().as_slice(), None);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn as_slice(&self) -> Option<&'a [T]> {
        if !self.is_row_major() {
            return None;
        }
        match self.len() {
            0 => Some(&[]),
            // SAFETY: row-major means that the `len` elements of the view are the `len` elements
            // from `data` on; they are readable for 'a.
            len => Some(unsafe { std::slice::from_raw_parts(self.as_ptr(), len) }),
        }
    }
}

/// Elements.
impl<'a, T: Element> TensorView<'a, T> {
    /// One element, or `None` where an index is outside its axis or the rank differs.
    ///
    /// ```
    /// # use tenure::*;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(view.get([1, 0]), Some(&3));
    /// assert_eq!(view.get([2, 0]), None);
    /// assert_eq!(view.get([1]), None);
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn get<const N: usize>(&self, index: [usize; N]) -> Option<&'a T> {
        let offset = layout::offset_of(&self.raw, &index)?;
        // SAFETY: every index is inside its axis, so the element is one of the view's, which are
        // readable for 'a.
        Some(unsafe { &*self.as_ptr().offset(offset) })
    }

    /// The elements in row-major order.
    ///
    /// ```
    /// # use tenure::*;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4], [2, 2])?;
    /// assert!(view.t().iter().eq(&[1, 3, 2, 4]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn iter(&self) -> Iter<'a, T> {
        Iter::new(*self)
    }

    /// The parts at each index of an axis.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no such axis.
    ///
    /// ```
    /// # use tenure::*;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// let column_sums: Vec<i32> = view.axis_iter(1)?.map(|column| column.iter().sum()).collect();
    /// assert_eq!(column_sums, [5, 7, 9]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn axis_iter(&self, axis: impl Into<Axis>) -> Result<AxisIter<'a, T>> {
        AxisIter::new(*self, axis.into())
    }

    /// The rows: views of rank 1 along the last axis, in row-major order of the other axes. A view
    /// of rank 0 is one row of one element.
    ///
    /// ```
    /// # use tenure::*;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4, 5, 6], [2, 3])?;
    /// let row_sums: Vec<i32> = view.rows().map(|row| row.iter().sum()).collect();
    /// assert_eq!(row_sums, [6, 15]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn rows(&self) -> Rows<'a, T> {
        Rows::new(*self)
    }

    /// Copies the elements, in row-major order, into a new `Vec`.
    ///
    /// # Panics
    ///
    /// As `Vec` does, where a broadcast view has more elements than memory can hold. For
    /// [`to_tensor`](Self::to_tensor) that is an error.
    ///
    /// ```
    /// # use tenure::*;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4], [2, 2])?;
    /// assert_eq!(view.t().to_vec(), [1, 3, 2, 4]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_vec(&self) -> Vec<T> {
        let elements = match self.as_slice() {
            Some(elements) => elements.to_vec(),
            None => {
                let mut elements = Vec::with_capacity(self.len());
                self.iter().for_each(|&element| elements.push(element));
                elements
            }
        };
        raw::count_copied(size_of_val(elements.as_slice()));
        elements
    }

    /// Copies the elements into a new row-major [`Tensor`].
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let view = TensorView::from_slice(&[1, 2, 3, 4], [2, 2])?;
    /// let tensor = view.t().to_tensor()?;
    /// assert_eq!((tensor[[0, 1]], tensor.is_row_major()), (3, true));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_tensor(&self) -> Result<Tensor<T>> {
        Tensor::copy_of(*self, Order::RowMajor)
    }
}

/// Panics as slices do where an index is outside; [`get`](TensorView::get) does not.
impl<T: Element, const N: usize> Index<[usize; N]> for TensorView<'_, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: [usize; N]) -> &T {
        match self.get(index) {
            Some(element) => element,
            None => refusal::no_such_element(&self.raw, &index),
        }
    }
}

impl<'a, T: Element> IntoIterator for TensorView<'a, T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T: Element> IntoIterator for &TensorView<'a, T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T: Element> From<&'a [T]> for TensorView<'a, T> {
    fn from(data: &'a [T]) -> Self {
        Self::from_exact(data, &[data.len()])
    }
}

// SAFETY:
// - `TensorView` is `repr(transparent)` over a `tnr_view`; its other field has no bytes.
// - Constructors check the view, and its elements are initialised and not written while it lives.
unsafe impl<T: Element> crate::raw::operations::IsView for TensorView<'_, T> {}
