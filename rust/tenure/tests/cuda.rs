//! Tensors on a device: compares each operation with the host's on the same data, shapes, order,
//! ends.
//!
//! Where there is no device these tests say so and pass; where `TENURE_CUDA_DRIVER` names a driver
//! there must be one. Under Miri the device is a stand-in that copies and fills.
#![allow(clippy::needless_borrows_for_generic_args, reason = "as users have operands")]

#[path = "cuda/adopted.rs"]
mod adopted;
#[cfg(not(miri))]
#[path = "cuda/along.rs"]
mod along;
#[cfg(not(miri))]
#[path = "cuda/bound.rs"]
mod bound;
#[cfg(not(miri))]
#[path = "cuda/captures.rs"]
mod captures;
#[cfg(not(miri))]
#[path = "cuda/close.rs"]
mod close;
#[cfg(not(miri))]
#[path = "cuda/compiled.rs"]
mod compiled;
#[cfg(not(miri))]
#[path = "cuda/custom.rs"]
mod custom;
#[path = "cuda/devices.rs"]
mod devices;
#[cfg(not(miri))]
#[path = "cuda/engines.rs"]
mod engines;
#[cfg(not(miri))]
#[path = "cuda/exchange.rs"]
mod exchange;
#[cfg(not(miri))]
#[path = "cuda/expressions.rs"]
mod expressions;
#[path = "cuda/forms.rs"]
mod forms;
#[cfg(not(miri))]
#[path = "cuda/images.rs"]
mod images;
#[cfg(not(miri))]
#[path = "cuda/kernels.rs"]
mod kernels;
#[cfg(not(miri))]
#[path = "cuda/lent.rs"]
mod lent;
#[cfg(not(miri))]
#[path = "cuda/loader.rs"]
mod loader;
#[cfg(not(miri))]
#[path = "dlpack/managed.rs"]
mod managed;
#[cfg(not(miri))]
#[path = "cuda/operations.rs"]
mod operations;
#[path = "cuda/order.rs"]
mod order;
#[cfg(not(miri))]
#[path = "cuda/products.rs"]
mod products;
#[cfg(not(miri))]
#[path = "cuda/programs.rs"]
mod programs;
#[cfg(not(miri))]
#[path = "cuda/rows.rs"]
mod rows;
#[cfg(not(miri))]
#[allow(dead_code, reason = "tests take what they need")]
#[path = "expr/samples.rs"]
mod samples;
#[cfg(not(miri))]
#[path = "cuda/sparse.rs"]
mod sparse;
#[cfg(not(miri))]
#[path = "cuda/training.rs"]
mod training;
#[path = "cuda/transfers.rs"]
mod transfers;

use tenure::cuda::{Device, Stream};

/// A new stream of the first device, or none where there is none.
fn first_stream() -> Option<Stream> {
    match Device::new(0).and_then(Device::stream) {
        Ok(stream) => Some(stream),
        Err(error) => {
            let is_named = std::env::var_os("TENURE_CUDA_DRIVER").is_some();
            assert!(!is_named, "the driver that is named has no device: {error}");
            println!("skipped: {error}");
            None
        }
    }
}

/// Ends the test where there is no device.
macro_rules! stream {
    () => {
        match crate::first_stream() {
            Some(stream) => stream,
            None => return,
        }
    };
}
use stream;

/// Whether the driver is the one of `tests/cuda`, which takes its devices and its failures from the
/// environment.
fn has_fake_driver() -> bool {
    std::env::var("TENURE_CUDA_DRIVER").is_ok_and(|name| name.contains("fake"))
}

/// Runs a test again in a separate process with a variable set, and returns whether this is that
/// process: for counters and settings of a whole process.
fn alone(test: &str, variable: &str, value: &str) -> bool {
    alone_with(test, &[(variable, value)])
}

/// Like the function above, with several variables.
fn alone_with(test: &str, variables: &[(&str, &str)]) -> bool {
    const INSIDE: &str = "TENURE_TEST_ALONE";
    if std::env::var(INSIDE).is_ok_and(|inside| inside == test) {
        return true;
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(INSIDE, test)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}
