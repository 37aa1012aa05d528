//! Memory of a device, held by a single owner.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;

use tenure_sys::{TNR_VIEW_EXCLUSIVE, tnr_view, tnr_view_mut};

use crate::cuda::{Device, Stream, TensorView, TensorViewMut};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout;
use crate::layout::order::Order;
use crate::raw::expression::Leaf;
use crate::raw::{BlobHandle, LentMut, cuda as raw};
use crate::tenure::Tenure;

/// A tensor in memory of a device. It is the only owner of the memory: allocated, copied or
/// adopted.
///
/// Made by a [`Stream`], and used by any stream of its device, from any thread. It may be dropped
/// while work on it is still to come: its memory ends after that. Nothing reads an element of it
/// but the operations of a stream; [`Stream::to_vec`] and [`Stream::download`] copy it to the host.
///
/// ```
/// use tenure::cuda::Device;
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let stream = device.stream()?;
/// let mut tensor = stream.upload(&[[1, 2, 3], [4, 5, 6]])?;
/// stream.fill(&mut tensor.view_mut().index(1, 0)?, 0)?;
/// assert_eq!(stream.to_vec(tensor.t())?, [0, 0, 2, 5, 3, 6]);
/// # Ok::<(), tenure::Error>(())
/// ```
// The invariant: `raw` is a dense view of exactly the blob's memory, which it names as its owner,
// and only calls of the holder enqueue work that writes it.
pub struct Tensor<T: Element> {
    raw: tnr_view,
    blob: BlobHandle,
    device: Device,
    _elements: PhantomData<T>,
}

// SAFETY: it holds elements, as a `Vec<T>` does, and an owner that is Send by the bounds of `adopt`
// and is touched once more, when the holder drops it.
unsafe impl<T: Element + Send> Send for Tensor<T> {}
// SAFETY: through `&Tensor` elements are read, by work that is ordered after what wrote them.
unsafe impl<T: Element + Sync> Sync for Tensor<T> {}

impl<T: Element> Tensor<T> {
    /// New memory of a stream's device in the order given, initialised by `write` through the view
    /// that it gets, in the stream's context.
    ///
    /// # Safety
    ///
    /// - When `write` answers Ok, it has enqueued work that writes every element of the view, and
    ///   none that reads one before.
    pub(super) unsafe fn written_in(
        stream: &Stream,
        extents: &[usize],
        order: Order,
        write: impl FnOnce(LentMut<'_>) -> Result<()>,
    ) -> Result<Self> {
        // SAFETY: nothing reads an element before `write` has had all of them written.
        let tensor = unsafe { Self::uninitialised(stream, extents, order) }?;
        let out = tnr_view_mut { view: tnr_view { flags: TNR_VIEW_EXCLUSIVE, ..tensor.raw } };
        // SAFETY: a dense view of new memory, to which no other reference exists.
        stream.within(|| write(unsafe { LentMut::new(&out) }))?;
        Ok(tensor)
    }

    /// New memory of a stream's device, dense in this order.
    ///
    /// # Safety
    ///
    /// - No work that reads an element is enqueued, or shown to others who might, before work that
    ///   writes it.
    pub(crate) unsafe fn uninitialised(
        stream: &Stream,
        extents: &[usize],
        order: Order,
    ) -> Result<Self> {
        let (raw, count) = layout::shaped(T::DTYPE, extents, order)?;
        let size_bytes = count * size_of::<T>();
        let blob = stream.within(|| BlobHandle::alloc(size_bytes))?;
        Ok(Self::over(stream, raw, size_bytes, blob))
    }

    /// New memory of a stream's device that holds a copy of `data`, row-major; `extents` multiply
    /// to its length.
    pub(super) fn copy_of(stream: &Stream, data: &[T], extents: &[usize]) -> Result<Self> {
        let raw = layout::exact(std::ptr::null(), data.len(), T::DTYPE, extents);
        let (source, size_bytes) = (data.as_ptr().cast::<c_void>(), size_of_val(data));
        // SAFETY: a slice is readable and initialised over its length.
        let blob = stream.within(|| unsafe { BlobHandle::copy(source, size_bytes) })?;
        Ok(Self::over(stream, raw, size_bytes, blob))
    }

    /// Puts a dense shape over all of a blob's memory on the stream's device.
    pub(super) fn over(
        stream: &Stream,
        mut raw: tnr_view,
        size_bytes: usize,
        mut blob: BlobHandle,
    ) -> Self {
        let device = stream.device();
        layout::place(&mut raw, blob.data_mut(), size_bytes);
        raw.device = raw::device(device.index() as u32);
        Tensor { raw: blob.owned(&raw), blob, device, _elements: PhantomData }
    }

    pub(crate) fn raw(&self) -> &tnr_view {
        &self.raw
    }

    /// The tensor as an operand of an expression.
    pub(crate) fn leaf(&self) -> Leaf<'_> {
        // SAFETY: the type's invariant; `&self` keeps writers away.
        unsafe { Leaf::address(&self.raw) }
    }

    /// Lends the elements for reading, by work that comes before the end of this memory.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let tensor = stream.upload(&[1, 2, 3, 4])?;
    /// assert_eq!(stream.to_vec(tensor.view().slice(0, 1..3)?)?, [2, 3]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn view(&self) -> TensorView<'_, T> {
        // SAFETY: the type's invariant, and `&self` keeps writers away.
        unsafe { TensorView::from_raw(self.raw) }
    }

    /// Lends the elements for writing.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let mut tensor = stream.upload(&[1, 2, 3, 4])?;
    /// stream.neg_assign(&mut tensor.view_mut().slice(0, 1..3)?)?;
    /// assert_eq!(stream.to_vec(&tensor)?, [1, -2, -3, 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn view_mut(&mut self) -> TensorViewMut<'_, T> {
        // SAFETY: the type's invariant, and `&mut self` keeps everybody else away.
        unsafe { TensorViewMut::from_raw(self.raw) }
    }

    /// The device whose memory it is.
    pub fn device(&self) -> Device {
        self.device
    }

    /// [`Tenure::Allocated`], [`Tenure::Copied`] or [`Tenure::Adopted`].
    pub fn tenure(&self) -> Tenure {
        self.blob.tenure()
    }

    /// The address on the device of index 0 on every axis, to write to. It is none of the host's.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.raw.data.cast_mut().cast()
    }
}

impl<T: Element> fmt::Debug for Tensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::view::debug("Tensor", &self.raw, f)
    }
}
