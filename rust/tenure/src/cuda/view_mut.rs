//! Memory of a device, lent for writing.

use std::fmt;
use std::marker::PhantomData;

use tenure_sys::{TNR_VIEW_EXCLUSIVE, tnr_view, tnr_view_mut};

use crate::cuda::TensorView;
use crate::dtype::Element;
use crate::layout;
use crate::raw::LentMut;
use crate::raw::expression::Leaf;
use crate::raw::leaf_mut::LeafMut;

/// A shape over memory of a device, lent for writing: as a [`TensorViewMut`](crate::TensorViewMut),
/// but nothing here reads or writes an element.
///
/// Manipulations consume the view; [`view_mut`](Self::view_mut) reborrows it first where it is to
/// be used again. No two indices of it ever meet in one element.
///
/// ```
/// use tenure::cuda::Device;
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let stream = device.stream()?;
/// let mut tensor = stream.zeros::<i32>([2, 3])?;
/// let mut view = tensor.view_mut();
/// stream.fill(&mut view.view_mut().index(0, 1)?, 7)?;
/// stream.add_assign(&mut view, 1)?;
/// assert_eq!(stream.to_vec(&tensor)?, [1, 1, 1, 8, 8, 8]);
/// # Ok::<(), tenure::Error>(())
/// ```
// Invariant in T, as &'a mut [T] is. The invariant: `raw` is EXCLUSIVE and has passed
// `layout::check_distinct`; it names a blob of a device as its owner, which is held for 'a, and all
// its elements lie in that; work that touches them is enqueued only through this view for 'a.
#[repr(transparent)]
pub struct TensorViewMut<'a, T: Element> {
    raw: tnr_view_mut,
    _lent: PhantomData<&'a mut [T]>,
}

// SAFETY: a view is a `&mut [T]` with a shape, and `&mut [T]` is Send where T is Send.
unsafe impl<T: Element + Send> Send for TensorViewMut<'_, T> {}
// SAFETY: `&TensorViewMut` gives only plain fields and views for reading; work that writes takes
// `&mut self` or the view by value; T is Sync, as sharing a `&mut [T]` requires.
unsafe impl<T: Element + Sync> Sync for TensorViewMut<'_, T> {}

impl<'a, T: Element> TensorViewMut<'a, T> {
    /// # Safety
    ///
    /// - `raw` has passed `layout::check_distinct`, is in memory of the blob that it names, on the
    ///   blob's device, and may be written; its dtype is that of `T`.
    /// - The blob is held, and work that touches the elements is enqueued only through the result,
    ///   while it lives.
    pub(crate) unsafe fn from_raw(mut raw: tnr_view) -> Self {
        debug_assert!(raw.dtype == T::DTYPE.raw() && raw.owner != 0);
        // The borrow checker keeps the promise that the flag makes.
        raw.flags = TNR_VIEW_EXCLUSIVE;
        TensorViewMut { raw: tnr_view_mut { view: raw }, _lent: PhantomData }
    }

    /// A view of some of the elements of one that is consumed, as `manipulate` computes it.
    pub(super) fn part(raw: tnr_view) -> Self {
        // SAFETY: `manipulate` gives views whose elements are among those of the view it takes,
        // each under one index (all but broadcasts, which there are none of here, and windows,
        // which are checked).
        unsafe { Self::from_raw(raw) }
    }

    pub(crate) fn raw(&self) -> &tnr_view {
        &self.raw.view
    }

    /// The view as the output of one call, which enqueues its writing.
    pub(crate) fn lent_mut(&mut self) -> LentMut<'_> {
        // SAFETY: the library pins the blob for the call, and orders the work on it before its end
        // and before what will be enqueued on it; the borrow keeps everybody else away until the
        // call returns.
        unsafe { LentMut::new(&self.raw) }
    }

    /// The view as an operand of an expression, by its address.
    pub(crate) fn leaf(&self) -> Leaf<'_> {
        // SAFETY: checked when it was made; no write is enqueued while it is borrowed.
        unsafe { Leaf::address(&self.raw.view) }
    }

    /// Lends the elements for reading, while `self` is borrowed.
    pub fn view(&self) -> TensorView<'_, T> {
        // SAFETY: the type's invariant; `&self` keeps writers away while the result lives.
        unsafe { TensorView::from_raw(self.raw.view) }
    }

    /// Lends the elements for writing, while `self` is borrowed.
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T> {
        // SAFETY: the type's invariant; `&mut self` keeps everybody else away while the result
        // lives.
        unsafe { TensorViewMut::from_raw(self.raw.view) }
    }

    /// Converts to a view for reading, for the rest of the loan.
    pub fn into_view(self) -> TensorView<'a, T> {
        // SAFETY: the exclusive view is gone, and with it the right to write.
        unsafe { TensorView::from_raw(self.raw.view) }
    }

    /// Whether no two indices of a view meet in one element, before it is made.
    pub(super) fn distinct(raw: tnr_view) -> crate::error::Result<Self> {
        layout::check_distinct(&raw)?;
        Ok(Self::part(raw))
    }

    /// The address on the device of index 0 on every axis, to write to. It is none of the host's.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.raw.view.data.cast_mut().cast()
    }
}

impl<T: Element> fmt::Debug for TensorViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::view::debug("TensorViewMut", &self.raw.view, f)
    }
}

impl<'s, T: Element> From<TensorViewMut<'s, T>> for LeafMut<'s> {
    #[inline]
    fn from(view: TensorViewMut<'s, T>) -> Self {
        // SAFETY:
        // - checked: the view passed both checks when it was made.
        // - alive and touched by nothing else: it is moved here, its blob is held for 's, and no other view
        //   reaches its elements.
        unsafe { LeafMut::of_value(tnr_view_mut { view: *view.raw() }) }
    }
}
