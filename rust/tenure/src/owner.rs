//! Owners behind a release callback: what the library holds of a Rust value, and how it gives it
//! back.

use std::any::Any;
use std::ffi::c_void;
use std::mem::{self, ManuallyDrop};
use std::panic::{self, AssertUnwindSafe};

use tenure_sys::tnr_release_fn;

use crate::error::{Error, Result};

/// A value at an address of its own, which stays while pointers into the value are held.
///
/// It is kept as the raw pointer of `Box::into_raw`: moving a `Box` would claim its content anew
/// and end pointers into an owner with inline elements.
pub(crate) struct Boxed<O>(*mut O);

impl<O> Boxed<O> {
    pub(crate) fn new(owner: O) -> Self {
        Boxed(Box::into_raw(Box::new(owner)))
    }

    /// Asks the owner for its elements, once: nothing derived earlier is used after a later use of
    /// the owner. `f` is the caller's code and may panic; the owner is then dropped.
    pub(crate) fn ask<R: 'static>(&mut self, f: impl FnOnce(&mut O) -> R) -> R {
        // SAFETY: the pointer comes from `Box::into_raw`, and `&mut self` is the one way to it.
        f(unsafe { &mut *self.0 })
    }

    /// The owner, back on the stack. Pointers into it end here.
    pub(crate) fn into_inner(self) -> O {
        let boxed = ManuallyDrop::new(self);
        // SAFETY: the pointer comes from `Box::into_raw` and is not used again.
        *unsafe { Box::from_raw(boxed.0) }
    }

    /// Hands the owner to a handle that `hold` makes from the callback and the context it gets. A
    /// handle that is not made has taken nothing: the owner comes back.
    pub(crate) fn hand_over<H>(
        self,
        hold: impl FnOnce(tnr_release_fn, *mut c_void) -> Result<H>,
    ) -> Result<(H, *mut c_void), (Error, Self)> {
        let context = self.0.cast();
        match hold(Some(release::<O>), context) {
            Ok(handle) => {
                // The callback's now.
                mem::forget(self);
                Ok((handle, context))
            }
            Err(error) => Err((error, self)),
        }
    }

    /// # Safety
    ///
    /// - `context` comes from `hand_over` of a `Boxed<O>`, and is not used again.
    pub(crate) unsafe fn from_context(context: *mut c_void) -> Self {
        Boxed(context.cast())
    }
}

impl<O> Drop for Boxed<O> {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from `Box::into_raw` and is not used again.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// The release callback for an owner of type `O`.
///
/// # Safety
///
/// - `context` comes from `hand_over` of a `Boxed<O>`, and this is the one call with it.
unsafe extern "C" fn release<O>(context: *mut c_void) {
    // SAFETY: by this function's contract.
    let owner = unsafe { Boxed::<O>::from_context(context) };
    contained(|| drop(owner));
}

/// Runs the user's code below the library's frames, through which nothing may unwind. A panic ends
/// here, with `None`; the panic hook has reported it.
pub(crate) fn contained<R>(f: impl FnOnce() -> R) -> Option<R> {
    caught(f).ok()
}

/// Does the same as [`contained`], and gives the panic's message.
pub(crate) fn caught<R>(f: impl FnOnce() -> R) -> std::result::Result<R, String> {
    panic::catch_unwind(AssertUnwindSafe(f)).map_err(|payload| {
        let text = panic_text(&*payload);
        // A payload's destructor may panic as well. The second payload ends only where it is text,
        // whose destructor does not panic.
        if let Err(second) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            if !second.is::<&str>() && !second.is::<String>() {
                mem::forget(second);
            }
        }
        text
    })
}

/// The message of a panic.
pub(crate) fn panic_text(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or(payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("with something that is no text").to_owned()
}

/// A `Vec` taken apart: what [`Tensor::into_vec`](crate::Tensor::into_vec) puts together again.
pub(crate) struct VecParts<T: Copy> {
    data: *mut T,
    len: usize,
    capacity: usize,
}

// SAFETY: the parts of a `Vec` move between threads as the `Vec` does.
unsafe impl<T: Copy + Send> Send for VecParts<T> {}

impl<T: Copy> VecParts<T> {
    pub(crate) fn new(vec: Vec<T>) -> Self {
        let mut vec = ManuallyDrop::new(vec);
        VecParts { data: vec.as_mut_ptr(), len: vec.len(), capacity: vec.capacity() }
    }

    pub(crate) fn data(&self) -> *mut T {
        self.data
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn into_vec(self) -> Vec<T> {
        let parts = ManuallyDrop::new(self);
        // SAFETY: the parts are those of a `Vec` that was not dropped, and are not used again.
        unsafe { Vec::from_raw_parts(parts.data, parts.len, parts.capacity) }
    }
}

impl<T: Copy> Drop for VecParts<T> {
    fn drop(&mut self) {
        // SAFETY: the parts are those of a `Vec` that `new` took apart without dropping it;
        // `into_vec` skips this drop, so that the `Vec` is made only once.
        drop(unsafe { Vec::from_raw_parts(self.data, self.len, self.capacity) });
    }
}
