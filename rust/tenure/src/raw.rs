//! Calls of `tenure-sys`: statuses become results, handles become owners, views are lent. The calls
//! for sparse matrices are in `sparse::calls`, those for graphs and programs in `program::calls`.
//!
//! The operations take [`Lent`] and [`LentMut`], which only checked views give out, so that the
//! modules above are safe code.

pub(crate) mod call;
pub(crate) mod context;
pub(crate) mod cuda;
mod dlpack;
pub(crate) mod expression;
pub(crate) mod factor;
pub(crate) mod kernel;
pub(crate) mod leaf_mut;
mod library;
pub(crate) mod movement;
pub(crate) mod operations;
pub(crate) mod ordering;
pub(crate) mod quantize;
#[cfg(feature = "tracing")]
pub(crate) mod spans;

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use tenure_sys as sys;
use tenure_sys::{tnr_blob, tnr_release_fn, tnr_status, tnr_view, tnr_view_mut};

use crate::dtype::Element;
use crate::error::Failure;
use crate::error::{Error, ErrorKind, Result};
use crate::tenure::Tenure;

use context::current;
pub(crate) use context::{ContextHandle, has_context, in_default, run_task};
pub(crate) use dlpack::{delete, export_on};
pub(crate) use library::*;

/// Turns a status into a result, with the message of the calling thread's last error.
#[inline]
pub(crate) fn check(status: tnr_status) -> Result<()> {
    if status == tnr_status::OK { Ok(()) } else { Err(failure(status)) }
}

/// Reads the last error in the same breath as the failing call returned, so that no other call on
/// this thread can have replaced it.
#[cold]
#[inline(never)]
pub(crate) fn failure(status: tnr_status) -> Error {
    // SAFETY: the pointer is to the calling thread's own error, and no other call is made on this
    // thread while it is read; the message is NUL-terminated.
    let message = unsafe { CStr::from_ptr((*sys::tnr_last_error()).message.as_ptr()) };
    Error::new(kind_of(status), message.to_string_lossy())
}

/// The error of a constructor that has just returned NULL, and so written the thread's status.
#[cold]
pub(crate) fn last_failure() -> Error {
    // SAFETY: the pointer is to the calling thread's own error, and no other call is made on this
    // thread while it is read.
    failure(unsafe { (*sys::tnr_last_error()).status })
}

/// Kinds that the library has a status of.
const KINDS: [(tnr_status, ErrorKind); 10] = [
    (tnr_status::INVALID_ARGUMENT, ErrorKind::InvalidArgument),
    (tnr_status::OUT_OF_MEMORY, ErrorKind::OutOfMemory),
    (tnr_status::UNSUPPORTED, ErrorKind::Unsupported),
    (tnr_status::ALIASED, ErrorKind::Aliased),
    (tnr_status::STALE_VIEW, ErrorKind::StaleView),
    (tnr_status::STALE_HANDLE, ErrorKind::StaleHandle),
    (tnr_status::BUSY, ErrorKind::Busy),
    (tnr_status::BORROW_ESCAPED, ErrorKind::BorrowEscaped),
    (tnr_status::DEVICE_ERROR, ErrorKind::DeviceError),
    (tnr_status::INTERNAL, ErrorKind::Internal),
];

/// The kind of a status that is not OK; `Internal` for a status of a newer library.
pub(crate) fn kind_of(status: tnr_status) -> ErrorKind {
    KINDS.iter().find(|(known, _)| *known == status).map_or(ErrorKind::Internal, |(_, kind)| *kind)
}

/// The status of a closure's failure: where the library has none of its kind it is that of a wrong
/// argument.
pub(crate) fn status_of(failure: &Failure) -> tnr_status {
    let kind = failure.downcast_ref::<Error>().map(Error::kind);
    let known = KINDS.iter().find(|(_, known)| Some(*known) == kind);
    known.map_or(tnr_status::INVALID_ARGUMENT, |(status, _)| *status)
}

/// Asks once per process whether the library that is loaded speaks the ABI of this crate.
#[inline]
pub(crate) fn entered() -> Result<()> {
    // Relaxed: nothing is published by it; a thread that misses it asks again.
    if COMPATIBLE.load(Ordering::Relaxed) { Ok(()) } else { ask_version() }
}

static COMPATIBLE: AtomicBool = AtomicBool::new(false);

#[cold]
#[inline(never)]
fn ask_version() -> Result<()> {
    // SAFETY: takes nothing.
    let version = unsafe { sys::tnr_abi_version() };
    let (major, minor) = (version >> 16, version & 0xffff);
    if !speaks(major, minor) {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "the loaded library has ABI {major}.{minor} but this crate needs {}.{}",
                sys::TNR_ABI_MAJOR,
                sys::TNR_ABI_MINOR
            ),
        ));
    }
    COMPATIBLE.store(true, Ordering::Relaxed);
    Ok(())
}

/// Whether the library has this crate's major version, and at least its minor version.
fn speaks(major: u32, minor: u32) -> bool {
    major == sys::TNR_ABI_MAJOR && (sys::TNR_ABI_MINOR..).contains(&minor)
}

// ---- blobs ----

/// One handle on a blob; dropping it releases it.
pub(crate) struct BlobHandle {
    token: *mut tnr_blob,
    tenure: Tenure,
}

// SAFETY: the handle is a token, and the library takes it from any thread. Requirements of the
// memory's elements and owner are bounds of the types that hold a handle.
unsafe impl Send for BlobHandle {}
// SAFETY: the handle is a token, and the library takes it from any thread; no method changes the
// handle through `&self`; requirements of the memory are bounds of the types that hold a handle.
unsafe impl Sync for BlobHandle {}

impl BlobHandle {
    /// Memory of undefined bytes, aligned to 64.
    pub(crate) fn alloc(size_bytes: usize) -> Result<BlobHandle> {
        entered()?;
        // SAFETY: the context is checked by the library.
        let token = unsafe { sys::tnr_blob_alloc(current(), size_bytes) };
        owned(token, Tenure::Allocated)
    }

    /// Memory that holds a copy.
    ///
    /// # Safety
    ///
    /// - `data` is readable and initialised for `size_bytes` bytes.
    pub(crate) unsafe fn copy(data: *const c_void, size_bytes: usize) -> Result<BlobHandle> {
        entered()?;
        // SAFETY: the context is checked by the library; `data` by this function's contract.
        let token = unsafe { sys::tnr_blob_copy(current(), data, size_bytes) };
        owned(token, Tenure::Copied)
    }

    /// Takes memory over; nothing is taken on failure.
    ///
    /// # Safety
    ///
    /// - `data` is readable and writable for `size_bytes` bytes, only by the holder, until
    ///   `release` is called.
    /// - `release(context)` may be called once, from any thread, and does not unwind.
    pub(crate) unsafe fn adopt(
        data: *mut c_void,
        size_bytes: usize,
        release: tnr_release_fn,
        context: *mut c_void,
    ) -> Result<BlobHandle> {
        entered()?;
        // SAFETY: by this function's contract.
        let token = unsafe { sys::tnr_blob_adopt(data, size_bytes, release, context) };
        owned(token, Tenure::Adopted)
    }

    /// Takes a share in memory that is never written; nothing is taken on failure.
    ///
    /// # Safety
    ///
    /// - `data` is readable for `size_bytes` bytes, and they are not written, until `release` is
    ///   called.
    /// - `release(context)` may be called once, from any thread, and does not unwind.
    pub(crate) unsafe fn share(
        data: *const c_void,
        size_bytes: usize,
        release: tnr_release_fn,
        context: *mut c_void,
    ) -> Result<BlobHandle> {
        entered()?;
        // SAFETY: by this function's contract.
        let token = unsafe { sys::tnr_blob_share(data, size_bytes, release, context) };
        owned(token, Tenure::Shared)
    }

    /// Undoes an adopt: the memory and `context` are the caller's again, and nothing is called.
    /// On failure the handle comes back.
    pub(crate) fn reclaim(self, context: *mut c_void) -> std::result::Result<(), BlobHandle> {
        // SAFETY: the handle is alive; `context` is only compared.
        match unsafe { sys::tnr_blob_reclaim(self.token, context) } {
            tnr_status::OK => {
                // The handle has ended: there is nothing to release.
                std::mem::forget(self);
                Ok(())
            }
            _ => Err(self),
        }
    }

    /// # Safety
    ///
    /// - `token` is a handle on a blob of this tenure, and nothing else releases it.
    pub(crate) unsafe fn from_token(token: *mut tnr_blob, tenure: Tenure) -> BlobHandle {
        BlobHandle { token, tenure }
    }

    #[cfg(test)]
    pub(crate) fn token(&self) -> *mut tnr_blob {
        self.token
    }

    pub(crate) fn tenure(&self) -> Tenure {
        self.tenure
    }

    /// A view of this blob's memory that names the blob as its owner.
    pub(crate) fn owned(&self, view: &tnr_view) -> tnr_view {
        tnr_view { owner: self.token.addr() as u64, flags: 0, ..*view }
    }

    /// Lowest byte; may be NULL when the blob is empty.
    pub(crate) fn data_mut(&mut self) -> *mut c_void {
        // SAFETY: the handle is alive.
        unsafe { sys::tnr_blob_data_mut(self.token) }
    }
}

pub(crate) fn owned(token: *mut tnr_blob, tenure: Tenure) -> Result<BlobHandle> {
    if token.is_null() {
        return Err(last_failure());
    }
    Ok(BlobHandle { token, tenure })
}

impl Drop for BlobHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again. The last release of a blob that is not
        // borrowed cannot fail, and a handle of ours is never borrowed.
        unsafe { sys::tnr_blob_release(self.token) };
    }
}

/// A new tensor, as a call has made it.
// The invariant: the view is dense, over all of the blob, of the dtype of T, and every element has
// been written.
pub(crate) struct NewTensor<T> {
    view: tnr_view,
    blob: BlobHandle,
    _elements: PhantomData<T>,
}

impl<T: Element> NewTensor<T> {
    /// # Safety
    ///
    /// - `view` is dense, over all of the new blob `blob`, and of the dtype of `T`.
    /// - Every element has been written.
    pub(crate) unsafe fn new(view: tnr_view, blob: BlobHandle) -> Self {
        NewTensor { view, blob, _elements: PhantomData }
    }

    pub(crate) fn into_parts(self) -> (tnr_view, BlobHandle) {
        (self.view, self.blob)
    }
}

// ---- views lent to one call ----

/// A view to be read by one call: checked, over initialised memory that nothing else writes.
#[derive(Clone, Copy)]
pub(crate) struct Lent<'a>(&'a tnr_view);

/// A view to be written by one call: checked, distinct, and over memory that nothing else touches.
pub(crate) struct LentMut<'a>(&'a tnr_view_mut);

impl<'a> Lent<'a> {
    /// # Safety
    ///
    /// - `view` has passed `layout::check`.
    /// - Its elements are initialised, alive, and not written, while `'a` lasts.
    #[inline]
    pub(crate) unsafe fn new(view: &'a tnr_view) -> Lent<'a> {
        Lent(view)
    }
}

impl<'a> Lent<'a> {
    pub(crate) fn raw(self) -> &'a tnr_view {
        self.0
    }
}

impl<'a> LentMut<'a> {
    pub(crate) fn raw(&self) -> &'a tnr_view_mut {
        self.0
    }
}

impl<'a> LentMut<'a> {
    /// # Safety
    ///
    /// - `view` has passed `layout::check` and `layout::check_distinct`.
    /// - Its elements are alive and touched by nothing else while `'a` lasts. They need not be
    ///   initialised if the call only writes them.
    #[inline]
    pub(crate) unsafe fn new(view: &'a tnr_view_mut) -> LentMut<'a> {
        LentMut(view)
    }
}

/// An input of an operation.
#[derive(Clone, Copy)]
pub(crate) enum Input<'a> {
    /// A view that shares no element with the output.
    View(Lent<'a>),
    /// The output itself, in place: its elements must be initialised.
    Output,
}

impl Input<'_> {
    #[inline]
    fn resolve(self, out: &LentMut<'_>) -> *const tnr_view {
        match self {
            Input::View(lent) => lent.0,
            Input::Output => &out.0.view,
        }
    }
}

impl<'a> From<Lent<'a>> for Input<'a> {
    #[inline]
    fn from(lent: Lent<'a>) -> Input<'a> {
        Input::View(lent)
    }
}

/// A span around the rest of the block, under the feature `tracing`; else nothing.
macro_rules! traced {
    ($family:ident($($argument:expr),*)) => {
        #[cfg(feature = "tracing")]
        let _traced = $crate::raw::spans::$family($($argument),*);
    };
}
pub(crate) use traced;

/// Copies elements into `out`.
#[inline]
pub(crate) fn copy(a: Lent<'_>, out: LentMut<'_>) -> Result<()> {
    entered()?;
    traced!(copy(&out.0.view));
    // SAFETY: what `Lent` and `LentMut` promise is what the call asks.
    check(unsafe { sys::tnr_copy(current(), a.0, ptr::null(), out.0) })
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;
    use crate::dtype::DType;
    use crate::layout;

    #[test]
    fn a_newer_minor_is_understood_and_nothing_else() {
        assert!(speaks(sys::TNR_ABI_MAJOR, sys::TNR_ABI_MINOR));
        assert!(speaks(sys::TNR_ABI_MAJOR, sys::TNR_ABI_MINOR + 1));
        assert!(!speaks(sys::TNR_ABI_MAJOR, sys::TNR_ABI_MINOR - 1));
        assert!(!speaks(sys::TNR_ABI_MAJOR + 1, sys::TNR_ABI_MINOR));
    }

    #[track_caller]
    fn assert_fails(status: tnr_status, kind: ErrorKind, message: &str) {
        let error = check(status).expect_err("this is refused");
        assert_eq!(error.kind(), kind);
        assert!(error.message().contains(message), "{error}");
    }

    // The statuses that safe code cannot reach, through the functions that the crate keeps from it.
    #[test]
    #[cfg_attr(miri, ignore = "calls the core")]
    fn misuse_of_handles_becomes_its_kind_and_message() {
        let bytes = [0_u8; 8];
        let mut view = layout::exact(ptr::null(), 0, DType::U8, &[0]);
        // SAFETY: the library is made for misuse of handles; `bytes` outlives them all.
        unsafe {
            let adopted =
                sys::tnr_blob_adopt(bytes.as_ptr().cast_mut().cast(), 8, None, ptr::null_mut());
            let second = sys::tnr_blob_retain(adopted);
            let refused = sys::tnr_blob_reclaim(adopted, ptr::null_mut());
            assert_fails(
                refused,
                ErrorKind::Busy,
                "has 2 handles and 0 users but must have 1 and 0",
            );
            let out = &raw mut view;
            check(sys::tnr_blob_view(
                adopted,
                0,
                DType::U8.raw(),
                0,
                ptr::null(),
                ptr::null(),
                out,
            ))
            .expect("one byte of eight");
            sys::tnr_blob_release(second);
            sys::tnr_blob_release(adopted);
            let refused = sys::tnr_view_check(out);
            assert_fails(refused, ErrorKind::StaleView, "a blob that has been released");
            assert_fails(
                sys::tnr_blob_release(adopted),
                ErrorKind::StaleHandle,
                "has been released",
            );

            let borrowed = sys::tnr_blob_borrow(bytes.as_ptr().cast(), 8);
            let escaped = sys::tnr_blob_retain(borrowed);
            let refused = sys::tnr_blob_end_borrow(borrowed);
            assert_fails(refused, ErrorKind::BorrowEscaped, "has 2 handles but must have 1");
            sys::tnr_blob_release(escaped);
            check(sys::tnr_blob_end_borrow(borrowed)).expect("nobody else holds it");
            sys::tnr_blob_release(borrowed);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "calls the core")]
    fn statuses_that_nothing_answers_yet_have_their_kinds() {
        assert_eq!(failure(tnr_status::DEVICE_ERROR).kind(), ErrorKind::DeviceError);
        assert_eq!(failure(tnr_status::INTERNAL).kind(), ErrorKind::Internal);
        // A status of a newer library.
        assert_eq!(failure(tnr_status(i32::MAX)).kind(), ErrorKind::Internal);
    }
}
