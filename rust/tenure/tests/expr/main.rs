//! Expressions: the bits of separate calls, shapes, errors, updates, and their cost.

// Operands are borrowed, as a caller writes them for types that are not `Copy`.
#![allow(clippy::needless_borrows_for_generic_args)]
#![allow(clippy::op_ref, reason = "views are operands by reference too")]

mod errors;
mod memory;
mod operands;
mod pools;
mod random;
mod table;
mod update;

mod samples;

use samples::*;
use tenure::*;
