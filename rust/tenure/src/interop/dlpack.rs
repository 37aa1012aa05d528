//! Exchange with other libraries through DLPack: PyTorch, NumPy, JAX, ONNX Runtime, TVM.
//!
//! | you have | and want | call | copied | who frees it afterwards |
//! | --- | --- | --- | --- | --- |
//! | a managed tensor of another library | to read or write it | `unsafe` [`Imported::from_raw`] | 0 | its deleter, when the last holder here is dropped |
//! | an [`Imported`] | a [`Tensor`] or [`SharedTensor`] | [`Imported::into_tensor`], [`Imported::into_shared`] | 0 | the same |
//! | a [`Tensor`] | to hand it over | [`Exported::from_tensor`] | 0 | the consumer, by the deleter |
//! | a [`SharedTensor`] | to share it, read-only | [`Exported::from_shared`] | 0 | the last of the holders, here or there |
//! | a view | to lend it to a call | [`lend`], [`lend_mut`] | 0 | the lender: the tensor is a bare [`DLTensor`] with nothing to free |
//!
//! Tensors on a GPU are taken and given by a [`cuda::Stream`](crate::cuda::Stream::import), whose
//! order they are in.
//!
//! `unsafe` stands where a foreign pointer enters, and nowhere else. Tensors of DLPack that this
//! crate cannot represent are refused with a message that names the field: memory that is not the
//! CPU's, dtypes of no whole number of bytes, data that is misaligned for its dtype, more than 8
//! axes.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::ptr::NonNull;

pub use tenure_sys::{DLManagedTensor, DLManagedTensorVersioned};
use tenure_sys::{TNR_MAX_RANK, tnr_view};

use crate::dense::{DynView, DynViewMut, SharedTensor, Tensor};
use crate::dtype::{DType, Element};
use crate::error::{Error, Rejected, Result};
use crate::layout;
use crate::raw::{self, BlobHandle};
use crate::tenure::Tenure;

/// A kind of device and which one; the CPU is `{1, 0}`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDevice {
    /// DLPack's `DLDeviceType`.
    pub device_type: i32,
    /// Index among devices of its kind.
    pub device_id: i32,
}

/// An element type.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    /// DLPack's `DLDataTypeCode`.
    pub code: u8,
    /// Bits of one lane.
    pub bits: u8,
    /// Lanes of one element.
    pub lanes: u16,
}

/// A tensor that owns nothing, as DLPack lays it out. The pointers are good while the loan lasts
/// that it was made for.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLTensor {
    /// Index 0 on every axis.
    pub data: *mut c_void,
    /// Device of the memory.
    pub device: DLDevice,
    /// Number of axes.
    pub ndim: i32,
    /// Element type.
    pub dtype: DLDataType,
    /// `ndim` extents.
    pub shape: *mut i64,
    /// `ndim` strides, in elements.
    pub strides: *mut i64,
    /// 0.
    pub byte_offset: u64,
}

/// Lends a view to `f` as a bare tensor, to be read and not written.
///
/// ```
/// use tenure::{Tensor, interop::dlpack};
///
/// let tensor = Tensor::from_vec(vec![1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let (data, rank) = dlpack::lend(&tensor, |lent| (lent.data.cast_const(), lent.ndim));
/// assert_eq!((data.cast(), rank), (tensor.as_ptr(), 2));
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn lend<'a, R>(view: impl Into<DynView<'a>>, f: impl FnOnce(&DLTensor) -> R) -> R {
    lend_raw(view.into().raw(), f)
}

/// Lends a view to `f` as a bare tensor, to be read and written.
///
/// ```
/// use tenure::{Tensor, interop::dlpack};
///
/// let mut tensor = Tensor::<u8>::zeros([2, 3])?;
/// dlpack::lend_mut(&mut tensor, |lent| {
///     // SAFETY: six bytes, lent for writing.
///     unsafe { lent.data.cast::<u8>().write_bytes(7, 6) }
/// });
/// assert_eq!(tensor.to_vec(), [7; 6]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn lend_mut<'a, R>(view: impl Into<DynViewMut<'a>>, f: impl FnOnce(&DLTensor) -> R) -> R {
    lend_raw(view.into().view().raw(), f)
}

fn lend_raw<R>(view: &tnr_view, f: impl FnOnce(&DLTensor) -> R) -> R {
    let (mut shape, mut strides): ([i64; TNR_MAX_RANK], [i64; TNR_MAX_RANK]) =
        (view.shape, view.strides);
    let (code, bits, lanes) = DType::from_raw(view.dtype).to_dlpack();
    f(&DLTensor {
        data: view.data.cast_mut(),
        device: DLDevice { device_type: view.device.kind.0, device_id: view.device.index },
        ndim: view.rank as i32,
        dtype: DLDataType { code, bits, lanes },
        shape: shape.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    })
}

/// A tensor of another library, held: its deleter is called when this, or the tensor made of it,
/// ends.
///
/// Its memory may lie in any strides. [`view`](Self::view) and [`view_mut`](Self::view_mut) take it
/// as it lies; [`into_tensor`](Self::into_tensor) and [`into_shared`](Self::into_shared) take
/// memory without gaps.
///
/// ```
/// use tenure::{Tensor, interop::dlpack::{Exported, Imported}};
///
/// let tensor = Tensor::from_vec(vec![1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let address = tensor.as_ptr();
/// let foreign = Exported::from_tensor(tensor)?.into_raw();
///
/// // SAFETY: it has just been made, and nobody else has it.
/// let imported = unsafe { Imported::from_raw(foreign) }?;
/// let tensor = imported.into_tensor::<f32>()?;
/// assert_eq!((tensor.as_ptr(), tensor[[1, 0]]), (address, 3.0));
/// # Ok::<(), tenure::Error>(())
/// ```
// The invariant: `raw` is a checked view of the blob's memory, whose elements are initialised and
// written only by the holder, who may write them unless the blob is shared.
pub struct Imported {
    raw: tnr_view,
    blob: BlobHandle,
}

// SAFETY: it is elements, as a `Vec<u8>` is, and a deleter that may run on any thread.
unsafe impl Send for Imported {}
// SAFETY: through `&Imported` elements are read and nothing else happens.
unsafe impl Sync for Imported {}

impl Imported {
    /// Takes a managed tensor, exactly when it succeeds: after an error it is still the caller's.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: more than 8 axes, a negative extent, data that is null or misaligned.
    /// `Unsupported`: a major version other than 1, a dtype of no whole number of bytes, memory
    /// that is not the CPU's. `OutOfMemory`: the library's own record of it.
    ///
    /// # Safety
    ///
    /// - `tensor` points at a valid managed tensor that no other code deletes, and that the
    ///   deleter, where there is one, ends on any thread.
    /// - Until then its elements are readable and initialised, and no other code writes them;
    ///   without the flag READ_ONLY they are writable, and no other code touches them.
    pub unsafe fn from_raw(tensor: NonNull<DLManagedTensorVersioned>) -> Result<Self> {
        // SAFETY: by this function's contract.
        let (blob, raw) = unsafe { BlobHandle::import(tensor) }?;
        Ok(Imported { raw, blob })
    }

    /// Takes a tensor from before DLPack 1.0, like [`from_raw`](Self::from_raw). It has no flags,
    /// so it is taken as writable.
    ///
    /// # Errors
    ///
    /// The errors of [`from_raw`](Self::from_raw).
    ///
    /// # Safety
    ///
    /// - The conditions of [`from_raw`](Self::from_raw).
    pub unsafe fn from_raw_legacy(tensor: NonNull<DLManagedTensor>) -> Result<Self> {
        // SAFETY: by this function's contract.
        let (blob, raw) = unsafe { BlobHandle::import_legacy(tensor) }?;
        Ok(Imported { raw, blob })
    }

    /// Whether it must not be written.
    pub fn is_read_only(&self) -> bool {
        self.blob.tenure() == Tenure::Shared
    }

    /// Lends the elements for reading.
    pub fn view(&self) -> DynView<'_> {
        // SAFETY: the type's invariant; `&self` keeps writers away.
        unsafe { DynView::from_raw(self.raw) }
    }

    /// Lends the elements for writing.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: it is read-only. `Aliased`: two indices may meet in one element.
    pub fn view_mut(&mut self) -> Result<DynViewMut<'_>> {
        self.require_writable()?;
        layout::check_distinct(&self.raw)?;
        // SAFETY: the type's invariant; `&mut self` keeps everybody else away.
        Ok(unsafe { DynViewMut::from_raw(self.raw) })
    }

    /// A tensor of elements of `T` over the same memory.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another dtype, read-only, or the elements are not adjacent. The import
    /// comes back with the error.
    #[expect(clippy::result_large_err, reason = "the refused import goes back, by value")]
    pub fn into_tensor<T: Element>(self) -> Result<Tensor<T>, Rejected<Self>> {
        match self.require_writable().and_then(|()| self.require_dense::<T>()) {
            // SAFETY: a dense view of exactly the blob's memory, of elements of `T`; by the type's
            // invariant they are initialised, and no other code touches them.
            Ok(()) => Ok(unsafe { Tensor::made(self.raw, self.blob) }),
            Err(error) => Err(Rejected::new(error, self)),
        }
    }

    /// A shared tensor of elements of `T` over the same memory.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another dtype, or the elements are not adjacent. The import comes back
    /// with the error.
    #[expect(clippy::result_large_err, reason = "the refused import goes back, by value")]
    pub fn into_shared<T: Element>(self) -> Result<SharedTensor<T>, Rejected<Self>> {
        match self.require_dense::<T>() {
            // SAFETY: `require_dense` has found a dense view of elements of `T` over all of the
            // blob's memory; by the type's invariant the elements are initialised and only the
            // holder writes them; the tensor becomes a shared one at once, which is only read.
            Ok(()) => Ok(unsafe { Tensor::made(self.raw, self.blob) }.into_shared()),
            Err(error) => Err(Rejected::new(error, self)),
        }
    }

    fn require_writable(&self) -> Result<()> {
        if self.is_read_only() {
            return Err(Error::invalid(
                "the tensor is read-only: its library lets nobody write it",
            ));
        }
        Ok(())
    }

    fn require_dense<T: Element>(&self) -> Result<()> {
        let view = self.view().downcast::<T>()?;
        if layout::is_dense(&self.raw) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "shape {:?} with strides {:?} leaves gaps, repeats elements or runs backwards, which a \
             tensor that is held does not: take a view, and copy that",
            view.shape(),
            view.strides()
        )))
    }
}

impl fmt::Debug for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Imported")
            .field("dtype", &self.view().dtype())
            .field("shape", &self.view().shape())
            .field("strides", &self.view().strides())
            .field("is_read_only", &self.is_read_only())
            .finish()
    }
}

/// A managed tensor for another library, which has not been handed over yet: dropping it calls its
/// deleter.
// The invariant: the pointer is a managed tensor that no other code deletes.
pub struct Exported {
    tensor: NonNull<DLManagedTensorVersioned>,
    _owned: PhantomData<DLManagedTensorVersioned>,
}

// SAFETY: the deleter may be called on any thread, and nothing else is done with the pointer.
unsafe impl Send for Exported {}
// SAFETY: `&Exported` gives the pointer out and touches nothing.
unsafe impl Sync for Exported {}

impl Exported {
    /// Hands a tensor over: the consumer may write it, and no other code has it.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`. The tensor comes back with the error.
    #[expect(clippy::result_large_err, reason = "the refused tensor goes back, by value")]
    pub fn from_tensor<T: Element + Send>(tensor: Tensor<T>) -> Result<Self, Rejected<Tensor<T>>> {
        match tensor.export(false) {
            Ok(exported) => Ok(Self::over(exported)),
            Err(error) => Err(Rejected::new(error, tensor)),
        }
    }

    /// Shares a tensor, read-only.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    ///
    /// ```
    /// use tenure::{SharedTensor, interop::dlpack::{Exported, Imported}};
    ///
    /// let shared = SharedTensor::from_owner(vec![1_i64, 2, 3], 3)?;
    /// let foreign = Exported::from_shared(&shared)?.into_raw();
    /// // SAFETY: it has just been made, and nobody else has it.
    /// let mut imported = unsafe { Imported::from_raw(foreign) }?;
    /// assert!(imported.is_read_only() && imported.view_mut().is_err());
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn from_shared<T: Element + Send + Sync>(tensor: &SharedTensor<T>) -> Result<Self> {
        Ok(Self::over(tensor.export(true)?))
    }

    /// Takes a tensor that no other code deletes.
    pub(crate) fn over(tensor: NonNull<DLManagedTensorVersioned>) -> Self {
        Exported { tensor, _owned: PhantomData }
    }

    /// The managed tensor, to look at while it is not handed over.
    pub fn as_ptr(&self) -> *const DLManagedTensorVersioned {
        self.tensor.as_ptr()
    }

    /// The managed tensor, which is now the caller's to hand over, or to end by its deleter.
    pub fn into_raw(self) -> NonNull<DLManagedTensorVersioned> {
        let tensor = self.tensor;
        mem::forget(self);
        tensor
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        // SAFETY: the type's invariant.
        unsafe { raw::delete(self.tensor) };
    }
}

impl fmt::Debug for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exported({:p})", self.tensor)
    }
}
