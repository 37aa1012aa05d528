//! The library as a whole: its build and its statistics.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering};

use tenure_sys as sys;
use tenure_sys::{tnr_operation, tnr_operation_stats, tnr_stats};

/// One line that says how the library was built.
pub(crate) fn build_info() -> &'static str {
    // SAFETY: takes nothing; the text is NUL-terminated and lives as long as the process.
    let text = unsafe { CStr::from_ptr(sys::tnr_build_info()) };
    text.to_str().unwrap_or("unknown")
}

/// Bytes that this crate itself has duplicated, in addition to those that the library counts.
static COPIED_BYTES: AtomicU64 = AtomicU64::new(0);

/// Counts a copy that was made without the library.
pub(crate) fn count_copied(size_bytes: usize) {
    // Relaxed: a total, and only its value is read.
    COPIED_BYTES.fetch_add(size_bytes as u64, Ordering::Relaxed);
}

/// The process totals of the library, with the copies made by this crate.
pub(crate) fn stats() -> tnr_stats {
    let mut stats = tnr_stats::ZERO;
    // SAFETY: `stats` is writable, and `struct_size` says how far. It cannot fail: the size is
    // no smaller than the first version's.
    let _ = unsafe { sys::tnr_stats_read(&mut stats) };
    stats.copied_bytes += COPIED_BYTES.load(Ordering::Relaxed);
    stats
}

/// The process totals of one kind of operation; zeros for a kind that the library does not know.
pub(crate) fn operation_stats(operation: tnr_operation) -> tnr_operation_stats {
    let mut stats = tnr_operation_stats {
        struct_size: size_of::<tnr_operation_stats>() as u64,
        calls: 0,
        read_bytes: 0,
        written_bytes: 0,
        nanoseconds: 0,
    };
    // SAFETY: `stats` is a writable local, and its `struct_size` says how far the library writes.
    // The call fails only on an operation without a name.
    let _ = unsafe { sys::tnr_operation_stats_read(operation, &mut stats) };
    stats
}

pub(crate) fn start_timing() {
    // SAFETY: takes nothing.
    unsafe { sys::tnr_stats_time_start() }
}

pub(crate) fn stop_timing() {
    // SAFETY: takes nothing.
    unsafe { sys::tnr_stats_time_stop() }
}

pub(crate) fn trim() -> usize {
    // SAFETY: takes nothing, and unmaps only memory that no blob has.
    unsafe { sys::tnr_memory_trim() }
}
