//! Streams and memory of other libraries. The caller guarantees that they are valid.

use crate::cuda::{Device, Stream, Tensor};
use crate::dense::IntoShape;
use crate::dtype::Element;
use crate::error::{Error, Rejected, Result};
use crate::layout;
use crate::layout::order::Order;
use crate::owner::Boxed;
use crate::raw::{BlobHandle, ContextHandle};

/// CUDA's number of the default stream of the calling thread, whichever that is.
const PER_THREAD: u64 = 2;

/// Streams and memory of other libraries.
impl Stream {
    /// Wraps a stream that another library has made: a `CUstream` as a number, or 1 for CUDA's
    /// legacy default stream. 0 makes a new stream.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a stream of another device; CUDA's per-thread default stream, which is
    /// another one on each thread, so that work on it has no order. Also the errors of
    /// [`Device::stream`].
    ///
    /// # Safety
    ///
    /// - The stream is one of the device, and lives longer than this, its clones, and every tensor
    ///   that is made on it. Nobody captures it into a graph meanwhile: work would run again later.
    ///
    /// ```
    /// use tenure::cuda::{Device, Stream};
    ///
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// // SAFETY: CUDA's own stream lives as long as the process.
    /// let stream = unsafe { Stream::from_raw(device, 1) }?;
    /// assert_eq!(stream.sum_all(&stream.full(8, 1.5_f32)?)?, 12.0);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub unsafe fn from_raw(device: Device, stream: u64) -> Result<Stream> {
        if stream == PER_THREAD {
            return Err(Error::invalid(
                "stream is 2, CUDA's default stream of each thread, but must be the same on all",
            ));
        }
        // SAFETY: by this function's contract.
        let handle = unsafe { ContextHandle::with_stream(device.index() as u32, stream) }?;
        Ok(Stream::over(device, handle))
    }

    /// Takes over `len` elements of the device's memory, row-major, without a copy. The shape must
    /// have exactly as many elements. Dropping the tensor waits until all work on it is done, and
    /// then drops `owner`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another count of elements, a rank over 8, memory that is misaligned or
    /// that the driver does not know as this device's. `OutOfMemory`: the library's own record of
    /// it. `DeviceError`. The owner comes back with the error.
    ///
    /// # Safety
    ///
    /// - `data` is the address of `len` elements on the device, until `owner` is dropped, which may
    ///   happen on any thread. Nobody else reads or writes them until then.
    /// - What was enqueued on them before is enqueued on this stream, or this stream
    ///   [follows](Self::follow) it.
    ///
    /// ```
    /// use tenure::cuda::Device;
    ///
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// let stream = device.stream()?;
    /// let mut theirs = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0])?; // as another library might
    /// let data = theirs.as_mut_ptr();
    /// // SAFETY: `theirs` has four elements there, goes along as their owner, and is of `stream`.
    /// let ours = unsafe { stream.adopt(data, 4, [2, 2], theirs) }?;
    /// assert_eq!(stream.to_vec(&stream.sum(&ours, 0)?)?, [4.0, 6.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("from_blob", "from_raw_parts", "from_owner_mut"))]
    pub unsafe fn adopt<T: Element, O: Send + 'static>(
        &self,
        data: *mut T,
        len: usize,
        shape: impl IntoShape,
        owner: O,
    ) -> Result<Tensor<T>, Rejected<O>> {
        let owner = Boxed::new(owner);
        let laid = layout::dense(data.cast(), len, T::DTYPE, shape.extents(), Order::RowMajor)
            .and_then(|raw| layout::check_aligned(&raw).map(|()| raw));
        let taken = match laid {
            Ok(raw) => owner
                .hand_over(|release, context| {
                    let size_bytes = raw.size_bytes as usize;
                    // SAFETY: by this function's contract; `release` drops the owner, and does not
                    // unwind.
                    unsafe {
                        BlobHandle::adopt_on(
                            self.handle(),
                            data.cast(),
                            size_bytes,
                            release,
                            context,
                        )
                    }
                })
                .map(|(blob, _)| Tensor::over(self, raw, raw.size_bytes as usize, blob)),
            Err(error) => Err((error, owner)),
        };
        taken.map_err(|(error, owner)| Rejected::new(error, owner.into_inner()))
    }
}
