//! The tour of a data file, which shows every address.

pub mod network;
pub mod tour;
