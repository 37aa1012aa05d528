//! Tensors of other libraries on a device, by DLPack.

use std::fmt;
use std::ptr::NonNull;

use tenure_sys::{DLManagedTensor, DLManagedTensorVersioned, tnr_view};

use crate::cuda::{Stream, Tensor, TensorView, TensorViewMut};
use crate::dtype::{DType, Element};
use crate::error::{Error, Rejected, Result};
use crate::interop::dlpack::Exported;
use crate::layout;
use crate::raw::{self, BlobHandle};
use crate::tenure::Tenure;

/// A tensor of another library on a device, held. Dropping this value, or the tensor made from it,
/// waits until all work on the memory is done, and then calls the other library's deleter.
///
/// ```
/// use tenure::cuda::Device;
///
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let stream = device.stream()?;
/// // As another library might have made it, for work on this stream.
/// let foreign = stream.export(stream.upload(&[[1.0_f32, 2.0], [3.0, 4.0]])?)?.into_raw();
///
/// // SAFETY: it has just been made, and nobody else has it.
/// let imported = unsafe { stream.import(foreign) }?;
/// let columns = stream.sum(imported.view::<f32>()?, 0)?;
/// assert_eq!(stream.to_vec(&columns)?, [4.0, 6.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
// The invariant: `raw` is a checked view of the blob's memory on the device, which it names as its
// owner; only the holder writes its elements, and only if the blob is not shared.
pub struct Imported {
    raw: tnr_view,
    blob: BlobHandle,
    stream: Stream,
}

// SAFETY: it is elements, as a `Vec<u8>` is, and a deleter that may run on any thread.
unsafe impl Send for Imported {}
// SAFETY: through `&Imported` elements are read and nothing else happens.
unsafe impl Sync for Imported {}

/// Exchange with other libraries by DLPack.
impl Stream {
    /// Takes a managed tensor on the stream's device, exactly when it succeeds: after an error it
    /// is still the caller's.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: more than 8 axes, a negative extent, data that is null or misaligned, or
    /// memory that the driver does not know as the device's. `Unsupported`: a major version other
    /// than 1, a dtype of no whole number of bytes, memory of another device or the host.
    /// `OutOfMemory`: the library's own record of it. `DeviceError`.
    ///
    /// # Safety
    ///
    /// - The conditions of
    ///   [`dlpack::Imported::from_raw`](crate::interop::dlpack::Imported::from_raw).
    /// - Work that was enqueued on the elements before is enqueued on this stream, or this stream
    ///   [follows](Self::follow) it.
    #[doc(alias = "from_dlpack")]
    pub unsafe fn import(&self, tensor: NonNull<DLManagedTensorVersioned>) -> Result<Imported> {
        // SAFETY: by this function's contract.
        let (blob, raw) = unsafe { BlobHandle::import_on(self.handle(), tensor) }?;
        Ok(Imported::over(raw, blob, self))
    }

    /// Takes a tensor from before DLPack 1.0, otherwise like [`import`](Self::import). Such a
    /// tensor has no flags and counts as writable.
    ///
    /// # Errors
    ///
    /// The errors of [`import`](Self::import).
    ///
    /// # Safety
    ///
    /// - The conditions of [`import`](Self::import).
    pub unsafe fn import_legacy(&self, tensor: NonNull<DLManagedTensor>) -> Result<Imported> {
        // SAFETY: by this function's contract.
        let (blob, raw) = unsafe { BlobHandle::import_legacy_on(self.handle(), tensor) }?;
        Ok(Imported::over(raw, blob, self))
    }

    /// Hands a tensor over to a library that works on this stream. Work that the library enqueues
    /// on the stream from now on may read and write the elements. When the library calls the
    /// deleter, the memory becomes free for other use after the work that the stream has by then.
    ///
    /// # Errors
    ///
    /// `Unsupported`: a tensor of another device. `OutOfMemory`. `DeviceError`. The tensor comes
    /// back with the error.
    #[doc(alias = "to_dlpack")]
    #[expect(clippy::result_large_err, reason = "the refused tensor goes back, by value")]
    pub fn export<T: Element + Send>(
        &self,
        tensor: Tensor<T>,
    ) -> Result<Exported, Rejected<Tensor<T>>> {
        match raw::export_on(self.handle(), tensor.raw()) {
            Ok(exported) => Ok(Exported::over(exported)),
            Err(error) => Err(Rejected::new(error, tensor)),
        }
    }
}

impl Imported {
    fn over(raw: tnr_view, blob: BlobHandle, stream: &Stream) -> Self {
        Imported { raw: blob.owned(&raw), blob, stream: stream.clone() }
    }

    /// Whether the tensor is read-only.
    pub fn is_read_only(&self) -> bool {
        self.blob.tenure() == Tenure::Shared
    }

    /// The element type, which need not be one of this crate's operations.
    pub fn dtype(&self) -> DType {
        DType::from_raw(self.raw.dtype)
    }

    /// Lends the elements for reading.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another dtype.
    pub fn view<T: Element>(&self) -> Result<TensorView<'_, T>> {
        self.require_dtype::<T>()?;
        // SAFETY: the type's invariant, and the dtype has been checked; `&self` keeps writers away.
        Ok(unsafe { TensorView::from_raw(self.raw) })
    }

    /// Lends the elements for writing.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another dtype, or it is read-only. `Aliased`: two indices may meet in one
    /// element.
    pub fn view_mut<T: Element>(&mut self) -> Result<TensorViewMut<'_, T>> {
        self.require_writable::<T>()?;
        layout::check_distinct(&self.raw)?;
        // SAFETY: the type's invariant; dtype, writability and distinct elements have been checked;
        // `&mut self` excludes all other access.
        Ok(unsafe { TensorViewMut::from_raw(self.raw) })
    }

    /// A tensor over the same memory.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another dtype, read-only, or gaps between the elements. The import comes
    /// back with the error.
    #[expect(clippy::result_large_err, reason = "the refused import goes back, by value")]
    pub fn into_tensor<T: Element>(self) -> Result<Tensor<T>, Rejected<Self>> {
        let checked = self.require_writable::<T>().and_then(|()| {
            if layout::is_dense(&self.raw) {
                return Ok(());
            }
            Err(Error::invalid(format!(
                "shape {:?} with strides {:?} leaves gaps, repeats elements or runs backwards, \
                 which a tensor that is held does not: take a view, and copy that",
                layout::extents(&self.raw),
                layout::strides(&self.raw)
            )))
        });
        match checked {
            Ok(()) => {
                let size_bytes = self.raw.size_bytes as usize;
                Ok(Tensor::over(&self.stream, self.raw, size_bytes, self.blob))
            }
            Err(error) => Err(Rejected::new(error, self)),
        }
    }

    fn require_dtype<T: Element>(&self) -> Result<()> {
        if self.dtype() == T::DTYPE {
            return Ok(());
        }
        Err(Error::invalid(format!("the tensor is of {} but not of {}", self.dtype(), T::DTYPE)))
    }

    fn require_writable<T: Element>(&self) -> Result<()> {
        self.require_dtype::<T>()?;
        if self.is_read_only() {
            return Err(Error::invalid(
                "the tensor is read-only: its library lets nobody write it",
            ));
        }
        Ok(())
    }
}

impl fmt::Debug for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::view::debug("Imported", &self.raw, f)
    }
}
