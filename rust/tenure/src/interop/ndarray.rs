//! Arrays of the crate `ndarray`: lent both ways, handed over both ways, operands as they are.
//!
//! A refusal is a shape that the other side cannot say. `ndarray` counts no more elements than
//! `isize::MAX` also where an extent of 0 leaves none, and a view here has at most 8 axes.

// Conversion of layouts.
mod layouts;
mod operands;
mod owners;
mod views;
