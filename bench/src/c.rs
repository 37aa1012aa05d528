//! The loops in `call.c` and `dlpack.c`.

use std::time::{Duration, Instant};

use tenure_sys::{tnr_abi_version, tnr_status, tnr_view, tnr_view_mut};

unsafe extern "C" {
    fn tenure_bench_add(
        a: *const tnr_view,
        b: *const tnr_view,
        out: *const tnr_view_mut,
        count: u64,
    ) -> tnr_status;

    fn tenure_bench_empty(count: u64) -> u64;

    fn tenure_bench_dlpack_import(count: u64) -> tnr_status;

    fn tenure_bench_dlpack_export(view: *const tnr_view, count: u64) -> tnr_status;
}

/// Time of `count` calls of `tnr_binary` from C, which add two views into a third.
///
/// # Safety
///
/// - The memory of the views is as they say.
/// - Nobody else uses it meanwhile.
///
/// # Panics
///
/// When the library refuses a call.
pub unsafe fn add_from_c(a: &tnr_view, b: &tnr_view, out: &tnr_view_mut, count: u64) -> Duration {
    let start = Instant::now();
    // SAFETY: the references are valid, and the caller vouches for the memory behind them.
    let status = unsafe { tenure_bench_add(a, b, out, count) };
    let elapsed = start.elapsed();
    assert_eq!(status, tnr_status::OK, "tnr_binary");
    elapsed
}

/// Time of `count` calls of `tnr_abi_version` from C: of crossing the ABI, and nothing else.
///
/// # Panics
///
/// When a call returned something else than it does to Rust.
pub fn empty_calls_from_c(count: u64) -> Duration {
    let start = Instant::now();
    // SAFETY: takes no memory.
    let sum = unsafe { tenure_bench_empty(count) };
    let elapsed = start.elapsed();
    // SAFETY: as above.
    let version = unsafe { tnr_abi_version() };
    assert_eq!(sum, count * u64::from(version), "tnr_abi_version");
    elapsed
}

/// Time of `count` tensors of DLPack that come in from C and are released.
///
/// # Panics
///
/// When the library refuses one.
pub fn dlpack_imports_from_c(count: u64) -> Duration {
    let start = Instant::now();
    // SAFETY: the tensor is the C file's own.
    let status = unsafe { tenure_bench_dlpack_import(count) };
    let elapsed = start.elapsed();
    assert_eq!(status, tnr_status::OK, "tnr_blob_import");
    elapsed
}

/// Time of `count` tensors of DLPack that go out to C and are deleted there.
///
/// # Panics
///
/// When the library refuses one: a view without an owner, or of memory that is borrowed.
pub fn dlpack_exports_from_c(view: &tnr_view, count: u64) -> Duration {
    let start = Instant::now();
    // SAFETY: the reference is valid, and the library looks up the owner that the view names.
    let status = unsafe { tenure_bench_dlpack_export(view, count) };
    let elapsed = start.elapsed();
    assert_eq!(status, tnr_status::OK, "tnr_view_export");
    elapsed
}
