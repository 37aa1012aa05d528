//! Memory of a device, lent for reading.

use std::fmt;
use std::marker::PhantomData;

use tenure_sys::tnr_view;

use crate::dtype::{DType, Element};
use crate::layout;
use crate::raw::Lent;
use crate::raw::expression::Leaf;

/// A shape over memory of a device, lent for reading: as a [`TensorView`](crate::TensorView), and
/// `Copy` as it is, but nothing here reads an element.
///
/// ```
/// use tenure::cuda::Device;
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let stream = device.stream()?;
/// let tensor = stream.upload(&[[1, 2, 3], [4, 5, 6]])?;
/// let view = tensor.view();
/// assert_eq!(view.t().shape(), [3, 2]);
/// assert_eq!(stream.to_vec(view.slice(1, 1..)?)?, [2, 3, 5, 6]);
/// # Ok::<(), tenure::Error>(())
/// ```
// The invariant: `raw` names a blob of a device as its owner, which is held for 'a, and all its
// elements lie in that; work that writes them is not enqueued for 'a.
#[repr(transparent)]
pub struct TensorView<'a, T: Element> {
    raw: tnr_view,
    _lent: PhantomData<&'a [T]>,
}

impl<T: Element> Clone for TensorView<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element> Copy for TensorView<'_, T> {}

// SAFETY: a view is a `&[T]` with a shape, and `&[T]` is Send where T is Sync.
unsafe impl<T: Element + Sync> Send for TensorView<'_, T> {}
// SAFETY: `&TensorView` gives only plain fields and copies of the view; neither gives a reference
// to an element, and work through them only reads the elements; T is Sync, as `&[T]` requires.
unsafe impl<T: Element + Sync> Sync for TensorView<'_, T> {}

impl<T: Element> TensorView<'_, T> {
    /// # Safety
    ///
    /// - `raw` lies in memory of the blob that it names, on that one's device, and its dtype is
    ///   `T`'s.
    /// - The blob is held, and no work that writes the elements is enqueued, while the result
    ///   lives.
    pub(crate) unsafe fn from_raw(mut raw: tnr_view) -> Self {
        debug_assert!(raw.dtype == T::DTYPE.raw() && raw.owner != 0);
        raw.flags = 0;
        TensorView { raw, _lent: PhantomData }
    }

    /// A view of some of the elements of one that may be read as long, as `manipulate` computes it.
    pub(super) fn part(raw: tnr_view) -> Self {
        // SAFETY: `manipulate` gives views whose elements are among those of the view it takes.
        unsafe { Self::from_raw(raw) }
    }

    pub(crate) fn raw(&self) -> &tnr_view {
        &self.raw
    }

    /// The view as an operand of an expression, by its address.
    pub(crate) fn leaf(&self) -> Leaf<'_> {
        // SAFETY: checked when it was made; no write is enqueued while it is borrowed.
        unsafe { Leaf::address(&self.raw) }
    }

    /// The view as an input of one call, which enqueues its reading.
    pub(super) fn lent(&self) -> Lent<'_> {
        // SAFETY: the library pins the blob for the call, and orders the work on it before its end
        // and before all work that is enqueued later; later work that writes comes after 'a.
        unsafe { Lent::new(&self.raw) }
    }
}

impl<'a, T: Element> TensorView<'a, T> {
    /// The view as an operand of an expression, by value.
    pub(crate) fn into_leaf(self) -> Leaf<'a> {
        // SAFETY: checked when it was made, and no write is enqueued for 'a.
        unsafe { Leaf::value(self.raw) }
    }
}

impl<T: Element> fmt::Debug for TensorView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug("TensorView", &self.raw, f)
    }
}

/// Formats the device, dtype, shape and strides of a view. No element is read.
pub(super) fn debug(name: &str, raw: &tnr_view, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.debug_struct(name)
        .field("device", &format_args!("cuda:{}", raw.device.index))
        .field("dtype", &DType::from_raw(raw.dtype))
        .field("shape", &layout::extents(raw))
        .field("strides", &layout::strides(raw))
        .finish()
}
