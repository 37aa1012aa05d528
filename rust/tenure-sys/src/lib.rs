//! The C ABI of Tenure, and the core behind it. Use the `tenure` crate instead, where all of this
//! is safe.
#![allow(non_camel_case_types)]

// Named, so that its library is linked.
#[cfg(feature = "onednn-src")]
extern crate onednn_src as _;

mod abi;
mod codes;
pub mod counters;
mod layout;
pub mod node_kinds;
pub mod operations;
pub mod private;
pub use abi::*;
pub use codes::*;

impl tnr_stats {
    /// All zero, with the size that the library asks for.
    pub const ZERO: Self = tnr_stats {
        struct_size: size_of::<Self>() as u64,
        allocated_bytes: 0,
        copied_bytes: 0,
        blobs_made: 0,
        blobs_finished: 0,
        cached_bytes: 0,
        calls: 0,
        read_bytes: 0,
        written_bytes: 0,
        device_launches: 0,
        device_waits: 0,
    };
}

#[cfg(miri)]
mod miri;
