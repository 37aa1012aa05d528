//! New memory for an output of a run, here or on a device. It cannot be read before it is written.

use tenure_sys::{TNR_MAX_RANK, TNR_VIEW_EXCLUSIVE, tnr_device, tnr_view, tnr_view_mut};

use crate::cuda::running::run_on;
use crate::cuda::{self, Stream};
use crate::dense::Held;
use crate::dense::{DynTensor, Tensor, TensorView};
use crate::dtype::{DType, Element};
use crate::error::{Error, ErrorKind, Result};
use crate::expr::{Host, OnDevice};
use crate::layout;
use crate::layout::order::Order;
use crate::ops::results::Extents;
use crate::raw::LentMut;
use crate::raw::call::ProgramCall;
use crate::raw::cuda::device;

/// The shape of an output.
pub struct Shape(pub(super) Extents);

impl Shape {
    pub(crate) fn as_slice(&self) -> &[usize] {
        self.0.as_slice()
    }
}

/// New memory for an output. It cannot be read.
pub struct Blank<T: Element> {
    view: tnr_view_mut,
    held: Held<T>,
}

impl<T: Element> Blank<T> {
    pub(crate) fn new(extents: &[usize]) -> Result<Blank<T>> {
        // SAFETY: only `written` shows it, and its callers say that it was written.
        let held = unsafe { Held::<T>::uninitialised(extents, Order::RowMajor) }?;
        let view = tnr_view { flags: TNR_VIEW_EXCLUSIVE, ..*held.raw() };
        Ok(Blank { view: tnr_view_mut { view }, held })
    }

    #[inline]
    pub(crate) fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        // SAFETY: a dense view of memory that no other code knows of.
        call.output(unsafe { LentMut::new(&self.view) });
    }

    /// The elements that a run has written: the memory itself, or a copy of its first part.
    ///
    /// # Safety
    ///
    /// - No extent is more than the memory's, and every element up to them has been written.
    pub(crate) unsafe fn written(self, extents: &RunExtents) -> Result<Tensor<T>> {
        let view = &self.view.view;
        if view.shape == *extents {
            return Ok(Tensor::over(self.held));
        }
        // SAFETY: a part of a dense view, whose elements have been written; the memory is alive,
        // and no other code knows of it.
        unsafe { TensorView::<T>::from_raw(tnr_view { shape: *extents, ..*view }) }.to_tensor()
    }
}

/// The extents of an output as a run has them; those beyond its rank are 0.
pub type RunExtents = [i64; TNR_MAX_RANK];

/// A place where runs have memory: the host, or a device.
pub trait OutputMemory {
    /// The argument of a run there: nothing, or a stream.
    type At<'a>: Copy;
    /// New memory for an output.
    type Blank<T: Element>;
    /// That memory after it has been written, as a tensor.
    type Tensor<T: Element>;

    fn blank<T: Element>(at: Self::At<'_>, shape: &Shape) -> Result<Self::Blank<T>>;
    fn lend<'s, T: Element>(blank: &'s mut Self::Blank<T>, call: &mut ProgramCall<'_, 's>);
    /// # Safety
    ///
    /// - No extent is more than the memory's, and every element up to them has been written, or
    ///   work that writes it has been enqueued.
    unsafe fn written<T: Element>(
        blank: Self::Blank<T>,
        extents: &RunExtents,
    ) -> Result<Self::Tensor<T>>;
    /// The device as the ABI names it.
    fn device(at: Self::At<'_>) -> tnr_device;
    /// Makes a call of the library there.
    fn within<R>(at: Self::At<'_>, call: impl FnOnce() -> R) -> R;
}

impl OutputMemory for Host {
    type At<'a> = ();
    type Blank<T: Element> = Blank<T>;
    type Tensor<T: Element> = Tensor<T>;

    fn blank<T: Element>((): (), shape: &Shape) -> Result<Blank<T>> {
        Blank::new(shape.as_slice())
    }
    fn lend<'s, T: Element>(blank: &'s mut Blank<T>, call: &mut ProgramCall<'_, 's>) {
        blank.lend(call);
    }
    unsafe fn written<T: Element>(blank: Blank<T>, extents: &RunExtents) -> Result<Tensor<T>> {
        // SAFETY: by this function's contract.
        unsafe { blank.written(extents) }
    }
    fn device((): ()) -> tnr_device {
        layout::CPU
    }
    #[inline]
    fn within<R>((): (), call: impl FnOnce() -> R) -> R {
        call()
    }
}

/// New memory of a device for an output.
pub struct DeviceBlank<T: Element>(cuda::Tensor<T>);

impl OutputMemory for OnDevice {
    type At<'a> = &'a Stream;
    type Blank<T: Element> = DeviceBlank<T>;
    type Tensor<T: Element> = cuda::Tensor<T>;

    fn blank<T: Element>(stream: &Stream, shape: &Shape) -> Result<DeviceBlank<T>> {
        let extents = shape.as_slice();
        // SAFETY: only `written` shows it, and its callers say that it was written.
        let tensor = unsafe { cuda::Tensor::uninitialised(stream, extents, Order::RowMajor) }?;
        Ok(DeviceBlank(tensor))
    }
    fn lend<'s, T: Element>(blank: &'s mut DeviceBlank<T>, call: &mut ProgramCall<'_, 's>) {
        call.output_of(blank.0.view_mut().into());
    }
    unsafe fn written<T: Element>(
        DeviceBlank(tensor): DeviceBlank<T>,
        extents: &RunExtents,
    ) -> Result<cuda::Tensor<T>> {
        // So far no device computes a step that decides in a run how large an output is.
        match layout::extents(tensor.raw()).iter().zip(extents).all(|(has, of)| *has as i64 == *of)
        {
            true => Ok(tensor),
            false => Err(Error::new(ErrorKind::Internal, "a part of an output was written")),
        }
    }
    fn device(stream: &Stream) -> tnr_device {
        device(stream.device().index() as u32)
    }
    fn within<R>(stream: &Stream, call: impl FnOnce() -> R) -> R {
        run_on(stream, call)
    }
}

/// New memory for an output whose element type is found when it runs.
pub(super) struct DynBlank(pub(super) Box<dyn AnyBlank>);

pub(super) trait AnyBlank {
    fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>);
    /// # Safety
    ///
    /// - The conditions of [`Blank::written`].
    unsafe fn written(self: Box<Self>, extents: &RunExtents) -> Result<DynTensor>;
}

impl<T: Element> AnyBlank for Blank<T> {
    fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        Blank::lend(self, call);
    }
    unsafe fn written(self: Box<Self>, extents: &RunExtents) -> Result<DynTensor> {
        // SAFETY: by this function's contract.
        Ok(unsafe { Blank::written(*self, extents) }?.into())
    }
}

macro_rules! dyn_blank {
    ($dtype:expr, $extents:expr; $($element:ty)*) => {
        $(if $dtype == <$element>::DTYPE {
            return Ok(DynBlank(Box::new(Blank::<$element>::new($extents)?)));
        })*
    };
}

impl DynBlank {
    pub(super) fn new(dtype: DType, extents: &[usize]) -> Result<DynBlank> {
        dyn_blank! {
            dtype, extents;
            f64 f32 half::f16 half::bf16 i8 i16 i32 i64 u8 u16 u32 u64 crate::dtype::Bool8
            num_complex::Complex<f32> num_complex::Complex<f64>
        }
        Err(Error::new(ErrorKind::Unsupported, format!("an output of {dtype:?}")))
    }
}
