//! The C ABI of Tenure, and the core behind it. Use the `tenure` crate instead, where all of this
//! is safe.
#![allow(non_camel_case_types)]

mod abi;
pub use abi::*;
