//! The case that started this project: 10^9 f64 in a `Vec`, to be computed on where they are.
//!
//! Prints the time and the growth of resident memory of lending them, and of the copy that other
//! libraries make. A program of its own: growth is read off the whole process.

use std::time::Instant;

use bench::{available_bytes, is_asked_for, is_smoke_run, numbers, print_machine, resident_bytes};
use tenure::{Tensor, TensorView};

fn main() {
    if !is_asked_for("lend_8gb") {
        return;
    }
    print_machine();
    let count = if is_smoke_run() { 1_000_000 } else { 1_000_000_000 };
    let Some(data) = numbers(count) else { return };
    println!("{count} f64, {} bytes, in a Vec", count * 8);

    // Once on a few numbers, so that the pages of the code itself are there before growth is read.
    let few = vec![1.0f64; 1000];
    step("(warm up) lend", || lend(&few));
    step("(warm up) sum", || sum_of_last_row(lend(&few)));

    let copied_before = tenure::stats().copied_bytes;
    let view = step("lend", || lend(&data));
    let last = step("sum of the last row", || sum_of_last_row(view));
    let expected: f64 = data[count - 1000..].iter().sum();
    assert!((last - expected).abs() <= expected * 1e-12, "{last} is not {expected}");
    assert_eq!(view.as_ptr(), data.as_ptr(), "the view is the Vec's own memory");
    assert_eq!(tenure::stats().copied_bytes, copied_before);

    if available_bytes() < count as u64 * 9 {
        println!("skipped: the copy beside it, with {} bytes available", available_bytes());
        return;
    }
    let copy = step("copy", || Tensor::copy_from_slice(&data, [count]).expect("room for it"));
    assert_eq!(tenure::stats().copied_bytes - copied_before, count as u64 * 8);
    drop(copy);
}

#[inline(never)]
fn lend(data: &[f64]) -> TensorView<'_, f64> {
    TensorView::from_slice(data, [data.len() / 1000, 1000]).expect("rows of 1000")
}

#[inline(never)]
fn sum_of_last_row(view: TensorView<'_, f64>) -> f64 {
    let row = view.index(0, view.shape()[0] - 1).expect("in range");
    tenure::ops::sum(row, ..).expect("a float").item().expect("one element")
}

fn step<R>(name: &str, work: impl FnOnce() -> R) -> R {
    let resident = resident_bytes();
    let start = Instant::now();
    let result = work();
    let elapsed = start.elapsed();
    let grown = resident_bytes().saturating_sub(resident);
    println!("{name:<20} {elapsed:>12.2?}   resident memory grew by {grown} bytes");
    result
}
