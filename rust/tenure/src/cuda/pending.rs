//! Host memory moved into a stream, which gives it back.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};

use tenure_sys::{TNR_VIEW_EXCLUSIVE, tnr_view, tnr_view_mut};

use crate::cuda::{AsView, AsViewMut, Event, Stream};
use crate::dense::{IntoShape, Tensor};
use crate::dtype::Element;
use crate::error::{Error, Rejected, Result};
use crate::layout;
use crate::raw::{self, Lent, LentMut, cuda};

/// Host memory that a stream gives back when it is done with it: by [`wait`](Self::wait), or by
/// `.await`.
///
/// It may be dropped or forgotten instead: its memory ends after the work that uses it, or never.
///
/// ```
/// use tenure::cuda::Device;
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let stream = device.stream()?;
/// let table = stream.full([2, 3], 1.5_f32)?;
/// let host = stream.pinned_zeros([2, 3])?;
/// let pending = stream.download_owned(&table, host)?; // enqueued
/// assert_eq!(pending.wait()?.to_vec(), [1.5; 6]);
/// # Ok::<(), tenure::Error>(())
/// ```
// The invariant: `value` is host memory that work of the stream may use until `event` is done.
#[must_use = "dropped, it is not given back"]
pub struct Pending<V> {
    value: V,
    stream: Stream,
    /// None where there could be no event: then the stream itself is waited for.
    event: Option<Event>,
}

impl<V> Pending<V> {
    fn new(value: V, stream: &Stream) -> Self {
        Pending { value, stream: stream.clone(), event: stream.record().ok() }
    }

    /// Waits for the work, and gives the value back.
    ///
    /// # Errors
    ///
    /// `DeviceError`: the device has failed since the last wait. The value ends when the stream
    /// does.
    pub fn wait(self) -> Result<V> {
        match &self.event {
            Some(event) => event.wait(),
            None => self.stream.wait(),
        }?;
        Ok(self.value)
    }

    /// Whether [`wait`](Self::wait) would return at once.
    ///
    /// # Errors
    ///
    /// The errors of [`wait`](Self::wait).
    pub fn is_done(&self) -> Result<bool> {
        self.event.as_ref().map_or(Ok(false), Event::is_done)
    }
}

impl<V> fmt::Debug for Pending<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("device", &self.stream.device()).finish_non_exhaustive()
    }
}

/// `.await` is [`wait`](Pending::wait) for an executor of any kind.
impl<V> IntoFuture for Pending<V> {
    type Output = Result<V>;
    type IntoFuture = PendingFuture<V>;

    fn into_future(self) -> PendingFuture<V> {
        PendingFuture { pending: Some(self) }
    }
}

/// The future of a [`Pending`].
///
/// Each poll queries the device, and then asks to be polled again: CUDA does not notify the waker
/// of a task when work is done. The future is for an executor that has other work meanwhile.
#[derive(Debug)]
pub struct PendingFuture<V> {
    pending: Option<Pending<V>>,
}

// No pin is ever made of the value.
impl<V> Unpin for PendingFuture<V> {}

impl<V> Future for PendingFuture<V> {
    type Output = Result<V>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<V>> {
        let Some(pending) = &self.pending else {
            return Poll::Ready(Err(Error::invalid("the future has given its value before")));
        };
        // Without an event only the stream can be waited for.
        if pending.event.is_some() && matches!(pending.is_done(), Ok(false)) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        // Done, or failed: the wait says which.
        self.pending.take().map_or(Poll::Pending, |pending| Poll::Ready(pending.wait()))
    }
}

/// Host memory that a stream has by move.
impl Stream {
    /// New memory of the host that the device reads and writes directly, concurrently with the
    /// host's work: zeros, row-major. The result is an ordinary tensor.
    ///
    /// To pin memory takes long, and the system cannot use it otherwise: keep it for the next copy.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a rank over 8, or more bytes than memory can have. `OutOfMemory`.
    /// `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let mut host = stream.pinned_zeros::<f32>([2, 3])?;
    /// host[[1, 2]] = 1.0;
    /// assert_eq!(tenure::ops::sum_all(&host)?, 1.0);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("pin_memory", "page_locked"))]
    pub fn pinned_zeros<T: Element>(&self, shape: impl IntoShape) -> Result<Tensor<T>> {
        Tensor::zeros_by(shape.extents(), |size_bytes| {
            raw::BlobHandle::alloc_pinned(self.handle(), size_bytes)
        })
    }

    /// Enqueues a copy of the elements of `host` into `out`, of the device and the same shape.
    /// `host` comes back when it is done.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another shape of `out`. `OutOfMemory`: of the device, where `out` has
    /// another order in memory. `DeviceError`. The tensor comes back with the error.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let mut host = stream.pinned_zeros::<f32>([4])?;
    /// let mut table = stream.zeros([4])?;
    /// for value in 0..3 {
    ///     host.view_mut().fill(value as f32);
    ///     let pending = stream.upload_owned(host, &mut table)?;
    ///     // Work of the host, beside the copy.
    ///     host = pending.wait()?;
    /// }
    /// assert_eq!(stream.to_vec(&table)?, [2.0; 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[expect(clippy::result_large_err, reason = "the refused tensor goes back, by value")]
    pub fn upload_owned<T: Element>(
        &self,
        host: Tensor<T>,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<Pending<Tensor<T>>, Rejected<Tensor<T>>> {
        let (a, mut out) = (host.owned_raw(), out.as_view_mut());
        // SAFETY: the view names the owner, and no other code has the tensor until the copy is
        // done.
        let copied = unsafe { cuda::copy_async(self.handle(), Lent::new(&a), out.lent_mut()) };
        self.given_back("upload_owned: ", copied, &a, host)
    }

    /// Copies only the first `count` indices along axis 0 of both, otherwise like
    /// [`upload_owned`](Self::upload_owned). `host` is row-major.
    #[expect(clippy::result_large_err, reason = "the refused tensor goes back, by value")]
    pub(super) fn upload_first<T: Element>(
        &self,
        host: Tensor<T>,
        count: usize,
        out: &mut crate::cuda::Tensor<T>,
    ) -> Result<Pending<Tensor<T>>, Rejected<Tensor<T>>> {
        let mut a = host.owned_raw();
        let copied = out.view_mut().slice(0, ..count).and_then(|mut out| {
            a.shape[0] = out.raw().shape[0];
            // SAFETY: the view of the host names its owner, which the library keeps until the copy
            // is done; no other code has the tensor until then; `base` and `size_bytes` stay those
            // of the owner, so that the library refuses a view with too many indices.
            unsafe { cuda::copy_async(self.handle(), Lent::new(&a), out.lent_mut()) }
        });
        self.given_back("submit: ", copied, &a, host)
    }

    /// Enqueues a copy of the elements of `a`, of the device, into `host`, of the same shape, which
    /// comes back when it is done.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another shape of `host`. `OutOfMemory`: of the device, where `a` has
    /// another order in memory. `DeviceError`. The tensor comes back with the error.
    #[expect(clippy::result_large_err, reason = "the refused tensor goes back, by value")]
    pub fn download_owned<T: Element>(
        &self,
        a: impl AsView<T>,
        host: Tensor<T>,
    ) -> Result<Pending<Tensor<T>>, Rejected<Tensor<T>>> {
        let view = tnr_view { flags: TNR_VIEW_EXCLUSIVE, ..host.owned_raw() };
        let out = tnr_view_mut { view };
        // SAFETY:
        // - alive: the view of the host names its owner, which the library keeps until the copy is
        //   done.
        // - distinct: the view is dense, so that no two indices meet.
        // - writable and touched by nothing else: it is that of a `Tensor`, which no other code has
        //   until the copy is done.
        let copied =
            unsafe { cuda::copy_async(self.handle(), a.as_view().lent(), LentMut::new(&out)) };
        self.given_back("download_owned: ", copied, &view, host)
    }

    #[expect(clippy::result_large_err, reason = "the refused tensor goes back, by value")]
    fn given_back<T: Element>(
        &self,
        prefix: &str,
        copied: Result<()>,
        view: &tnr_view,
        host: Tensor<T>,
    ) -> Result<Pending<Tensor<T>>, Rejected<Tensor<T>>> {
        match copied {
            Ok(()) => {
                raw::count_copied(size_of::<T>() * layout::count(view));
                Ok(Pending::new(host, self))
            }
            Err(error) => Err(Rejected::new(error.prefixed(prefix), host)),
        }
    }
}
