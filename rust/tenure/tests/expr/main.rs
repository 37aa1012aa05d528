//! Expressions: the bits of calls one by one, shapes, errors, updates, and what they cost.

// Operands are lent, as one writes them for what is not `Copy`.
#![allow(clippy::needless_borrows_for_generic_args)]

mod errors;
mod operands;
mod pools;
mod random;
mod table;
mod update;

mod samples;

use samples::*;
use tenure::*;
