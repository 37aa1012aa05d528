//! The C ABI of Tenure, and the core behind it. Use the `tenure` crate instead, where all of this
//! is safe.
#![allow(non_camel_case_types)]

mod abi;
mod layout;
pub use abi::*;

#[cfg(miri)]
mod miri;
