//! What the machine allows: the speed of its memory and of its arithmetic, without Tenure. A kernel
//! is to be read beside them.

pub mod kernels;
pub mod pages;
pub mod record;
