//! Files of programs for C: `include/tenure/program_file.h` says what each function does.

use std::cell::RefCell;
use std::ffi::{CStr, CString, OsStr, c_char};
use std::fs::File;
use std::mem::ManuallyDrop;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::ptr;

use memmap2::Mmap;
use tenure::ErrorKind;
use tenure::program::file::{CustomOperation, GraphHandle, GraphRecord, ProgramFile};
use tenure_sys::{tnr_custom_operation, tnr_graph, tnr_status};

mod opened;

pub use opened::*;

thread_local! {
    static ERROR: RefCell<CString> = RefCell::new(CString::default());
}

/// A status, and its reason.
struct Refusal(tnr_status, String);

impl From<tenure::Error> for Refusal {
    fn from(error: tenure::Error) -> Self {
        let status = match error.kind() {
            ErrorKind::OutOfMemory => tnr_status::OUT_OF_MEMORY,
            ErrorKind::Unsupported => tnr_status::UNSUPPORTED,
            ErrorKind::StaleView => tnr_status::STALE_VIEW,
            ErrorKind::StaleHandle => tnr_status::STALE_HANDLE,
            ErrorKind::Busy => tnr_status::BUSY,
            ErrorKind::Internal => tnr_status::INTERNAL,
            _ => tnr_status::INVALID_ARGUMENT,
        };
        Refusal(status, error.message().to_owned())
    }
}

fn invalid(why: impl Into<String>) -> Refusal {
    Refusal(tnr_status::INVALID_ARGUMENT, why.into())
}

fn refused_by_system(path: &Path, why: &std::io::Error) -> Refusal {
    invalid(format!("{}: {why}", path.display()))
}

/// Runs the body of a function, through which nothing may unwind, and keeps why it failed.
fn guarded<R>(body: impl FnOnce() -> Result<R, Refusal>) -> Result<R, tnr_status> {
    let result = panic::catch_unwind(AssertUnwindSafe(body))
        .unwrap_or_else(|_| Err(Refusal(tnr_status::INTERNAL, "a panic; please report it".into())));
    let (result, message) = match result {
        Ok(value) => (Ok(value), String::new()),
        Err(Refusal(status, message)) => (Err(status), message),
    };
    // A message has no 0 in it but that of a path, which is shown as something else.
    let message = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
    // At the end of a thread no code asks for its error any more.
    let _ = ERROR.try_with(|error| error.replace(message));
    result
}

/// # Safety
///
/// - `path` is NULL, or ends with a 0.
unsafe fn path_of(path: *const c_char) -> Result<PathBuf, Refusal> {
    if path.is_null() {
        return Err(invalid("the path is NULL"));
    }
    // SAFETY: by this function's contract.
    let path = unsafe { CStr::from_ptr(path) };
    #[cfg(unix)]
    let path = <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path.to_bytes());
    #[cfg(not(unix))]
    let path = OsStr::new(path.to_str().map_err(|_| invalid("the path is no UTF-8"))?);
    Ok(path.into())
}

/// # Safety
///
/// - No code writes the file, or makes it shorter, while its bytes are mapped: until the result and
///   all graphs of it have ended.
unsafe fn mapped(path: &Path) -> Result<ProgramFile, Refusal> {
    let of_system = |why| refused_by_system(path, &why);
    let file = File::open(path).map_err(of_system)?;
    // SAFETY: by this function's contract no code changes the file.
    let map = unsafe { Mmap::map(&file) }.map_err(of_system)?;
    ProgramFile::new(map).map_err(|refused| Refusal::from(refused.into_parts().0.in_file(path)))
}

/// A slice of `count` pointers.
///
/// # Safety
///
/// - `pointers` is readable for `count` of them; it may be NULL where there are none.
unsafe fn listed<'p, E>(pointers: *const *const E, count: u32) -> Result<&'p [*const E], Refusal> {
    match (pointers.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(invalid(format!("the array of {count} pointers is NULL"))),
        // SAFETY: by this function's contract.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(pointers, count as usize) }),
    }
}

/// # Safety
///
/// - `path` is NULL, or ends with a 0. No code writes the file, or makes it shorter, while the
///   graph or a program of it lives.
/// - `operations` is readable for `operation_count` pointers, each NULL or to an operation as
///   `tnr_graph_add_custom` takes it; it may be NULL where there are none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tnr_program_file_load(
    path: *const c_char,
    operations: *const *const tnr_custom_operation,
    operation_count: u32,
) -> *mut tnr_graph {
    let loaded = guarded(|| {
        // Taken first, and all of them, so that each is released whatever the result.
        // SAFETY: by this function's contract.
        let taken = unsafe { listed(operations, operation_count) }?.iter();
        // SAFETY: by this function's contract.
        let taken: Vec<_> =
            taken.map(|given| unsafe { CustomOperation::from_raw(*given) }).collect();
        let taken = taken.into_iter().collect::<tenure::Result<Vec<CustomOperation>>>()?;
        // SAFETY: by this function's contract.
        let path = unsafe { path_of(path) }?;
        // SAFETY: by this function's contract no code changes the file.
        let file = unsafe { mapped(&path) }?;
        Ok(file.build(taken).map_err(|error| error.in_file(&path))?.into_raw())
    });
    loaded.unwrap_or(ptr::null_mut())
}

/// # Safety
///
/// - `path` is NULL, or ends with a 0.
/// - `operation_names` is readable for `operation_count` pointers, each to a name that ends with a
///   0; it may be NULL where there are none.
/// - No code adds to the graph, or releases it, during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tnr_program_file_save(
    graph: *const tnr_graph,
    path: *const c_char,
    operation_names: *const *const c_char,
    operation_count: u32,
) -> tnr_status {
    let saved = guarded(|| {
        // SAFETY: by this function's contract.
        let path = unsafe { path_of(path) }?;
        // SAFETY: by this function's contract.
        let names = unsafe { listed(operation_names, operation_count) }?.iter().map(|name| {
            if name.is_null() {
                return Err(invalid("the name of an operation is NULL"));
            }
            // SAFETY: by this function's contract.
            let name = unsafe { CStr::from_ptr(*name) };
            name.to_str().map_err(|_| invalid(format!("the name {name:?} is no UTF-8")))
        });
        let names = names.collect::<Result<Vec<&str>, Refusal>>()?;
        // SAFETY: by this function's contract; the handle stays the caller's.
        let graph = ManuallyDrop::new(unsafe { GraphHandle::from_raw(graph.cast_mut()) }?);
        let record = GraphRecord::of(&graph, &names)?;
        Ok(record.save_as(&path)?)
    });
    saved.err().unwrap_or(tnr_status::OK)
}

/// Why the calling thread's last call failed; "" if it did not.
#[unsafe(no_mangle)]
pub extern "C" fn tnr_program_file_error() -> *const c_char {
    ERROR.try_with(|error| error.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}
