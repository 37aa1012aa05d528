#![forbid(unsafe_code)]
//! The programs of `./x demo`, as a library that tests call too.

/// A tour of one data file.
pub mod digits;
pub mod language;
pub mod learned;
pub mod quantized;
pub mod small_calls;

/// The folder of the handwritten digits.
pub const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tenure/examples/data");
