//! Host memory lent to a stream for longer than a call.

use std::cell::Cell;
use std::marker::PhantomData;

use crate::cuda::{AsView, AsViewMut, Stream, Tensor};
use crate::dense;
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::order::Order;
use crate::raw::{self, cuda};

/// Copies of host memory that a stream has until the scope ends: see [`Stream::scope`].
///
/// Views lent for `'s` are lent until then. Elements of the host may lie in any order but must
/// have no gaps between them.
// Invariant in both lifetimes: code that could shorten 's could lend memory that ends before the
// scope does.
pub struct Scope<'s, 'env: 's> {
    stream: &'s Stream,
    /// Whether there is anything to wait for.
    is_lent: &'s Cell<bool>,
    _scope: PhantomData<&'s mut &'s ()>,
    _outside: PhantomData<&'env mut &'env ()>,
}

/// Copies that are enqueued.
impl Stream {
    /// Calls `f` with a scope, in which host memory may be lent to copies that are enqueued, and
    /// waits for them before it returns, also where `f` panics. Without a loan it waits for
    /// nothing.
    ///
    /// Copies run in the order of the stream, and concurrently with the host's work if the memory
    /// is [pinned](Self::pinned_zeros). Uploaded elements may be used on the device at once.
    /// Downloaded elements are complete when the scope has ended.
    ///
    /// # Errors
    ///
    /// The errors of `f`. `DeviceError`: the device has failed since the last wait.
    ///
    /// ```
    /// use tenure::cuda::Device;
    ///
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// let stream = device.stream()?;
    /// let mut host = stream.pinned_zeros::<f32>([2, 3])?;
    /// host.view_mut().fill(2.0);
    /// let mut sums = stream.pinned_zeros([3])?;
    ///
    /// stream.scope(|scope| {
    ///     let table = scope.upload(host.view())?; // enqueued, as all here
    ///     scope.download_into(&stream.sum(&table, 0)?, sums.view_mut())
    /// })?; // and here it waits
    /// assert_eq!(sums.to_vec(), [4.0; 3]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    ///
    /// Lent memory cannot end in the scope, E0597 "`host` does not live long enough":
    ///
    /// ```compile_fail,E0597
    /// # use tenure::{AsView, cuda::Stream};
    /// fn escape(stream: &Stream) -> tenure::Result<()> {
    ///     stream.scope(|scope| {
    ///         let host = vec![1.0_f32; 100];
    ///         scope.upload(host.as_view())?;
    ///         Ok(())
    ///     })
    /// }
    /// ```
    ///
    /// Nor be read while it is written, E0502 "cannot borrow `host` as immutable because it is also
    /// borrowed as mutable":
    ///
    /// ```compile_fail,E0502
    /// # use tenure::{Tensor, cuda};
    /// fn peek(
    ///     stream: &cuda::Stream,
    ///     a: &cuda::Tensor<f32>,
    ///     host: &mut Tensor<f32>,
    /// ) -> tenure::Result<f32> {
    ///     stream.scope(|scope| {
    ///         scope.download_into(a, host.view_mut())?;
    ///         Ok(host[[0]])
    ///     })
    /// }
    /// ```
    pub fn scope<'env, R>(
        &self,
        f: impl for<'s> FnOnce(&'s mut Scope<'s, 'env>) -> Result<R>,
    ) -> Result<R> {
        let is_lent = Cell::new(false);
        let wait = Wait { stream: self, is_lent: &is_lent };
        let mut scope =
            Scope { stream: self, is_lent: &is_lent, _scope: PhantomData, _outside: PhantomData };
        let result = f(&mut scope);
        wait.end().and(result)
    }
}

/// Waits wherever the closure is left. It is in the scope's own frame, out of the closure's reach,
/// so that the closure cannot forget it.
struct Wait<'a> {
    stream: &'a Stream,
    is_lent: &'a Cell<bool>,
}

impl Wait<'_> {
    /// Waits if memory was lent, and returns the result of the wait.
    fn end(self) -> Result<()> {
        if self.is_lent.replace(false) { self.stream.wait() } else { Ok(()) }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if self.is_lent.get() {
            // A device that has failed runs nothing any more.
            let _ = self.stream.wait();
        }
    }
}

impl<'s> Scope<'s, '_> {
    /// Copies the elements of `a` into a new row-major tensor of the device.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: gaps between the elements. `OutOfMemory`: of the device. `DeviceError`.
    pub fn upload<T: Element>(&self, a: dense::TensorView<'s, T>) -> Result<Tensor<T>> {
        // SAFETY: `lend` enqueues a copy that writes every element, and reads none of its output.
        unsafe {
            let (shape, order) = (a.shape(), Order::RowMajor);
            Tensor::written_in(self.stream, shape, order, |out| self.lend(a.lent(), out))
        }
        .inspect(|tensor| raw::count_copied(size_of::<T>() * tensor.len()))
        .map_err(|error| error.prefixed("upload: "))
    }

    /// Copies the elements of `a`, of the host, into `out`, of the device and the same shape.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another shape of `out`, or gaps between the elements of `a`.
    /// `OutOfMemory`: of the device, where the two have other orders in memory. `DeviceError`.
    pub fn upload_into<T: Element>(
        &self,
        a: dense::TensorView<'s, T>,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        let mut out = out.as_view_mut();
        // SAFETY: the host's view is lent for 's.
        unsafe { self.lend(a.lent(), out.lent_mut()) }
            .map_err(|error| error.prefixed("upload_into: "))?;
        raw::count_copied(size_of::<T>() * a.len());
        Ok(())
    }

    /// Copies the elements of `a`, of the device, into `out`, of the host and the same shape. They
    /// are there when the scope has ended.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another shape of `out`, or gaps between its elements. `OutOfMemory`: of
    /// the device, where the two have other orders in memory. `DeviceError`.
    pub fn download_into<T: Element>(
        &self,
        a: impl AsView<T>,
        mut out: dense::TensorViewMut<'s, T>,
    ) -> Result<()> {
        // SAFETY: the host's view is lent for 's, and given up here.
        unsafe { self.lend(a.as_view().lent(), out.lent_mut()) }
            .map_err(|error| error.prefixed("download_into: "))?;
        raw::count_copied(size_of::<T>() * out.len());
        Ok(())
    }

    /// # Safety
    ///
    /// - The view of the host is lent for 's.
    unsafe fn lend(&self, a: raw::Lent<'_>, out: raw::LentMut<'_>) -> Result<()> {
        self.is_lent.set(true);
        // SAFETY: [`Stream::scope`], which made the scope, waits before 's ends.
        unsafe { cuda::copy_async(self.stream.handle(), a, out) }
    }
}
