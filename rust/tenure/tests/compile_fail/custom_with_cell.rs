//@ error: E0277
//! Several threads call a custom operation at once.
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use tenure::CustomOperation;

fn main() {
    let (cell, atomic) = (Cell::new(0), AtomicUsize::new(0));
    cell.set(1);
    CustomOperation::new::<(), f32>(
        "counts",
        |[]| Ok(vec![]),
        move |(), mut out| {
            #[cfg(bad)]
            cell.set(cell.get() + 1);
            Ok(out.fill(atomic.fetch_add(1, Ordering::Relaxed) as f32))
        },
    )
    .unwrap();
}
