//! The programs in docs/ are tests.

include!(concat!(env!("OUT_DIR"), "/pages.rs"));
