//! Copies between memory of the host and of a device. Host memory is lent only for the call, so
//! that each call waits until its copy is complete.

use std::ffi::c_void;

use crate::cuda::{AsView, AsViewMut, Stream, Tensor, TensorView};
use crate::dense;
use crate::dtype::Element;
use crate::error::Result;
use crate::layout;
use crate::raw::{self, LentMut};

/// Copies between host and device, whose bytes [`stats`](crate::stats()) counts. They wait.
impl Stream {
    /// Copies the elements of `a` into a new row-major tensor of the device, and waits for the
    /// copy. Then the owner of `a` may use its memory again.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`: of the device, or of the host where `a` is not contiguous. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let tensor = stream.upload(&[[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(tensor.shape(), [2, 3]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("to_device", "cuda", "from_slice"))]
    pub fn upload<T: Element>(&self, a: impl crate::operand::AsView<T>) -> Result<Tensor<T>> {
        let a = a.as_view();
        if let Some(elements) = a.as_slice() {
            return Tensor::copy_of(self, elements, a.shape());
        }
        let tensor = self.filled(a.shape(), |out| raw::copy(a.lent(), out))?;
        raw::count_copied(size_of::<T>() * tensor.len());
        Ok(tensor)
    }

    /// Copies the elements of `a`, of the host, into `out`, of the device and the same shape.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another shape of `out`. `OutOfMemory`: elements that are not contiguous
    /// need temporary memory. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let mut table = stream.zeros::<i32>([2, 3])?;
    /// stream.upload_into(&[7, 8], &mut table.view_mut().index(1, 2)?)?;
    /// assert_eq!(stream.to_vec(&table)?, [0, 0, 7, 0, 0, 8]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn upload_into<T: Element>(
        &self,
        a: impl crate::operand::AsView<T>,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        let (a, mut out) = (a.as_view(), out.as_view_mut());
        self.within(|| raw::copy(a.lent(), out.lent_mut()))
            .map_err(|error| error.prefixed("upload_into: "))?;
        raw::count_copied(size_of::<T>() * a.len());
        Ok(())
    }

    /// Copies the elements of `a` into a new row-major tensor of the host.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let tensor = stream.upload(&[[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(stream.download(tensor.t())?[[2, 0]], 3);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("to_host", "cpu"))]
    pub fn download<T: Element>(&self, a: impl AsView<T>) -> Result<crate::dense::Tensor<T>> {
        let a = a.as_view();
        // SAFETY: a copy that answers Ok has written every element, and reads none of its output.
        let tensor = unsafe {
            crate::dense::Tensor::written_by(a.shape(), |out| {
                self.within(|| raw::copy(a.lent(), out))
            })
        }?;
        raw::count_copied(size_of::<T>() * tensor.len());
        Ok(tensor)
    }

    /// Copies the elements of `a`, of the device, into `out`, of the host and the same shape.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another shape of `out`. `OutOfMemory`: elements that are not contiguous
    /// need temporary memory. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let mut row = [0; 3];
    /// stream.download_into(&stream.upload(&[1, 2, 3])?, &mut row)?;
    /// assert_eq!(row, [1, 2, 3]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn download_into<T: Element>(
        &self,
        a: impl AsView<T>,
        out: &mut (impl crate::operand::AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        self.bring(a.as_view(), &mut out.as_view_mut())
            .map_err(|error| error.prefixed("download_into: "))
    }

    pub(super) fn bring<T: Element>(
        &self,
        a: TensorView<'_, T>,
        out: &mut dense::TensorViewMut<'_, T>,
    ) -> Result<()> {
        self.within(|| raw::copy(a.lent(), out.lent_mut()))?;
        raw::count_copied(size_of::<T>() * a.len());
        Ok(())
    }

    /// Copies the elements of `a`, in row-major order, into a new `Vec`.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`: of the host, also for a broadcast view of more elements than memory holds; of
    /// the device, if the elements are not contiguous. `DeviceError`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let tensor = stream.upload(&[[1, 2, 3], [4, 5, 6]])?;
    /// assert_eq!(stream.to_vec(tensor.t())?, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn to_vec<T: Element>(&self, a: impl AsView<T>) -> Result<Vec<T>> {
        let a = a.as_view();
        let len = a.len();
        let mut elements: Vec<T> = Vec::new();
        elements.try_reserve_exact(len).map_err(|why| {
            crate::error::Error::new(
                crate::error::ErrorKind::OutOfMemory,
                format!("{len} elements: {why}"),
            )
        })?;
        let spare = elements.as_mut_ptr().cast::<c_void>();
        let view = layout::exact(spare, len, T::DTYPE, a.shape());
        let out = tenure_sys::tnr_view_mut {
            view: tenure_sys::tnr_view { flags: tenure_sys::TNR_VIEW_EXCLUSIVE, ..view },
        };
        // SAFETY: the shape has as many elements as the new `Vec` has room for, to which no other
        // reference exists; a copy only writes them.
        self.within(|| raw::copy(a.lent(), unsafe { LentMut::new(&out) }))?;
        // SAFETY: a copy that answers Ok has written every element.
        unsafe { elements.set_len(len) };
        raw::count_copied(size_of_val(elements.as_slice()));
        Ok(elements)
    }
}
