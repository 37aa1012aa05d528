//! Kernels of users on a device: their handles, and launches.

use std::ffi::{CStr, c_char};
use std::ptr::{self, NonNull};

use tenure_sys as sys;
use tenure_sys::{
    tnr_kernel, tnr_kernel_argument, tnr_kernel_grid, tnr_kernel_options, tnr_kernel_parameter,
};

use super::{ContextHandle, check, entered, last_failure};
use crate::error::Result;

/// Where the code of a kernel comes from.
pub(crate) enum Code<'a> {
    Image(&'a [u8]),
    Source { text: &'a CStr, options: &'a [*const c_char] },
}

/// One handle on a kernel; dropping it releases it.
pub(crate) struct KernelHandle {
    token: NonNull<tnr_kernel>,
}

// SAFETY: the handle is a token, and the library takes it from any thread.
unsafe impl Send for KernelHandle {}
// SAFETY: the handle is a token, and the library takes it from any thread; no method changes the
// kernel through `&self`.
unsafe impl Sync for KernelHandle {}

impl KernelHandle {
    /// On the device of `home`.
    ///
    /// # Safety
    ///
    /// - The pointers of [`Code::Source`] are to strings that end with a 0, and outlive the call.
    pub(crate) unsafe fn create(
        home: &ContextHandle,
        name: &CStr,
        code: Code<'_>,
        parameters: &[tnr_kernel_parameter],
    ) -> Result<KernelHandle> {
        entered()?;
        let mut options = tnr_kernel_options {
            struct_size: size_of::<tnr_kernel_options>() as u64,
            name: name.as_ptr(),
            image: ptr::null(),
            image_bytes: 0,
            source: ptr::null(),
            compiler_options: ptr::null(),
            parameters: parameters.as_ptr(),
            compiler_option_count: 0,
            parameter_count: count_of(parameters),
        };
        match code {
            Code::Image(image) => {
                options.image = image.as_ptr().cast();
                options.image_bytes = image.len() as u64;
            }
            Code::Source { text, options: given } => {
                options.source = text.as_ptr();
                options.compiler_options = given.as_ptr();
                options.compiler_option_count = count_of(given);
            }
        }
        // SAFETY: the context is alive; each pointer of the options is to as much as its count
        // says, or to a string, and outlives the call.
        let token = NonNull::new(unsafe { sys::tnr_kernel_create(home.token(), &options) });
        let token = token.ok_or_else(last_failure)?;
        Ok(KernelHandle { token })
    }

    /// Enqueues a launch on the stream of `home`.
    ///
    /// # Safety
    ///
    /// - Each argument's pointer is NULL, or points to a value of the argument's type that `Lent`
    ///   or `LentMut` could be made of.
    /// - The kernel does nothing with these arguments and this grid but read the elements of its
    ///   views and write those of its outputs.
    pub(crate) unsafe fn launch(
        &self,
        home: &ContextHandle,
        grid: &tnr_kernel_grid,
        arguments: &[tnr_kernel_argument],
    ) -> Result<()> {
        // SAFETY: the handles are alive; the rest by this function's contract.
        check(unsafe {
            sys::tnr_kernel_launch(
                home.token(),
                self.token.as_ptr(),
                grid,
                arguments.as_ptr(),
                count_of(arguments),
            )
        })
    }
}

impl Drop for KernelHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again.
        let _ = unsafe { sys::tnr_kernel_release(self.token.as_ptr()) };
    }
}

/// A count beyond u32 is beyond each limit, and the library says so.
fn count_of<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}
