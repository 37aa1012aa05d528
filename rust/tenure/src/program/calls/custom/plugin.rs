//! Plug-ins: shared libraries that are loaded while the program runs.

use std::any::Any;
use std::ffi::OsStr;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use libloading::Library;
use tenure_sys as sys;

use super::CustomOperation;
use crate::error::{Error, ErrorKind, Result};
use crate::raw::{entered, last_failure};

/// The operations of a plug-in: a shared library that exports `tnr_plugin_entry`, in C, C++ or
/// Rust. It stays loaded as long as one of them, or a program that calls one. (Feature `plugins`.)
///
/// Nothing but its entry is called before the ABI that it was compiled for has been compared with
/// this library's. `docs/custom-operations.md` says how one is written and built.
///
/// # Safety
///
/// - The file is a shared library that may run in this process, from its initialisers on.
/// - Its `tnr_plugin_entry` and its operations do what `tenure.h` asks of them, from any thread.
/// - Nothing that it started, a thread for one, outlives its operations.
///
/// # Errors
///
/// `Io`: a file that the system does not load. `Unsupported`: a plug-in of another ABI.
/// `InvalidArgument`: no function `tnr_plugin_entry`, and what a graph refuses of an operation.
///
/// ```no_run
/// use tenure::{Program, program::load_plugin};
///
/// // SAFETY: it is ours.
/// let operations = unsafe { load_plugin("./libsoftsign.so") }?;
/// let softsign = operations.iter().find(|it| it.name() == "softsign").unwrap();
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f32>([2]);
///     graph.program((x,), graph.custom::<f32>(softsign, (x,)))
/// })?;
/// # Ok::<(), tenure::Error>(())
/// ```
pub unsafe fn load_plugin(path: impl AsRef<Path>) -> Result<Vec<CustomOperation>> {
    let path = path.as_ref();
    // SAFETY: by this function's contract.
    unsafe { loaded(path.as_os_str()) }.map_err(|error| error.in_file(path))
}

/// # Safety
///
/// - The conditions of [`load_plugin`].
unsafe fn loaded(path: &OsStr) -> Result<Vec<CustomOperation>> {
    entered()?;
    // SAFETY: by this function's contract.
    let library = unsafe { Library::new(path) }
        .map_err(|why| Error::new(ErrorKind::Io, format!("it is not loaded: {why}")))?;
    // SAFETY: a symbol of this name is such a function, by this function's contract; the library is
    // open as long as it is used.
    let entry = unsafe { library.get::<sys::tnr_plugin_fn>(b"tnr_plugin_entry\0") };
    let entry = entry.ok().and_then(|entry| *entry);
    // SAFETY: NULL, or an entry.
    let plugin = NonNull::new(unsafe { sys::tnr_plugin_check(entry) }.cast_mut())
        .ok_or_else(last_failure)?;
    let library: Arc<dyn Any + Send + Sync> = Arc::new(library);
    // SAFETY: it has been checked, and lies in the library.
    let plugin = unsafe { plugin.as_ref() };
    let operations = (0..plugin.operation_count as usize).map(|nth| {
        // SAFETY: there are as many, which have been checked, and the library is held.
        unsafe { CustomOperation::held(*plugin.operations.add(nth), Some(Arc::clone(&library))) }
    });
    operations.collect()
}
