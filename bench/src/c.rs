//! The loop in `call.c`.

use std::time::{Duration, Instant};

use tenure_sys::{tnr_status, tnr_view, tnr_view_mut};

unsafe extern "C" {
    fn tenure_bench_add(
        a: *const tnr_view,
        b: *const tnr_view,
        out: *const tnr_view_mut,
        count: u64,
    ) -> tnr_status;
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
