//! Queues of work on a device.

use std::fmt;
use std::sync::Arc;

use crate::context::Engine;
use crate::cuda::{Device, Tensor};
use crate::dense::IntoShape;
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::order::Order;
use crate::raw::{ContextHandle, LentMut};

/// A queue of work on a [`Device`]: what its methods enqueue runs in that order, each after the one
/// before. The [module](crate::cuda) says how streams and their tensors go together.
///
/// A handle, as an `Arc` is: clones are the same stream, which any number of threads may use at a
/// time. It ends with the last clone and the last tensor that was made on it, when its work is
/// done.
///
/// ```
/// use tenure::cuda::Device;
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let stream = device.stream()?;
/// let ones = stream.full([1000, 1000], 1.0_f32)?;
/// let sum = stream.sum(&ones, ..)?;
/// assert_eq!(stream.to_vec(&sum)?, [1e6]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone)]
pub struct Stream {
    device: Device,
    handle: Arc<ContextHandle>,
}

impl Stream {
    pub(super) fn new(device: Device, engine: Engine) -> Result<Stream> {
        let handle = ContextHandle::with_new_stream(device.index() as u32, engine.into())?;
        Ok(Stream::over(device, handle))
    }

    pub(super) fn over(device: Device, handle: ContextHandle) -> Stream {
        Stream { device, handle: Arc::new(handle) }
    }

    pub(crate) fn handle(&self) -> &ContextHandle {
        &self.handle
    }

    /// Runs `f` with the stream as the context of this thread's calls. Hooks and code of users have
    /// no business in there.
    pub(crate) fn within<R>(&self, f: impl FnOnce() -> R) -> R {
        self.handle.install(f)
    }

    /// The device whose stream this is.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Waits until all work that was enqueued so far is done.
    ///
    /// # Errors
    ///
    /// `DeviceError`: the device has failed since the last wait.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let before = tenure::stats().device_waits;
    /// let a = stream.zeros::<f32>([100])?;
    /// let b = stream.exp(&stream.add(&a, 1.0)?)?;
    /// assert_eq!(tenure::stats().device_waits, before); // nobody has waited, and now we do
    /// stream.wait()?;
    /// # drop(b);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("synchronize", "sync"))]
    pub fn wait(&self) -> Result<()> {
        self.handle.wait()
    }

    /// Orders work that is enqueued here from now on after the work that `other` has so far. The
    /// host does not wait.
    ///
    /// Tensors do not need it: work on a tensor runs after earlier work on it, on any stream. The
    /// call is for work that the library did not enqueue.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`. `DeviceError`.
    #[doc(alias("wait_event", "join"))]
    pub fn follow(&self, other: &Stream) -> Result<()> {
        self.handle.follow(&other.handle)
    }

    /// New memory of zeros, row-major.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a rank over 8, or more bytes than memory can have. `OutOfMemory`: the
    /// device has not that many. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// assert_eq!(stream.to_vec(&stream.zeros::<f32>([2, 3])?)?, [0.0; 6]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn zeros<T: Element>(&self, shape: impl IntoShape) -> Result<Tensor<T>> {
        // The default of every element type is its zero.
        self.full(shape, T::default())
    }

    /// New memory with `value` in every element, row-major.
    ///
    /// # Errors
    ///
    /// The errors of [`zeros`](Self::zeros).
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// assert_eq!(stream.to_vec(&stream.full([2, 2], 7_u8)?)?, [7; 4]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias = "full_like")]
    pub fn full<T: Element>(&self, shape: impl IntoShape, value: T) -> Result<Tensor<T>> {
        self.filled(shape.extents(), |out| crate::raw::operations::fill(value, out))
    }

    /// A new row-major tensor that one operation fills: as [`filled_in`](Self::filled_in).
    pub(crate) fn filled<T: Element>(
        &self,
        extents: &[usize],
        operation: impl FnOnce(LentMut<'_>) -> Result<()>,
    ) -> Result<Tensor<T>> {
        self.filled_in(extents, Order::RowMajor, operation)
    }

    /// A new tensor that one operation fills.
    ///
    /// `operation` is a call of `raw::operations`, whose contract is to write every element of its
    /// output when it answers OK; the output is none of its inputs, so that none is read before.
    #[allow(unsafe_code)]
    pub(super) fn filled_in<T: Element>(
        &self,
        extents: &[usize],
        order: Order,
        operation: impl FnOnce(LentMut<'_>) -> Result<()>,
    ) -> Result<Tensor<T>> {
        // SAFETY: by this function's contract, which every caller in this folder keeps.
        unsafe { Tensor::written_in(self, extents, order, operation) }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("device", &self.device).finish_non_exhaustive()
    }
}
