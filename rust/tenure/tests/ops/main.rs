//! Every operation, typed, against naive Rust: over dtypes, layouts, broadcasts and output layouts.

// Operands are borrowed, as a caller writes them for types that are not `Copy`.
#![allow(clippy::needless_borrows_for_generic_args)]

mod casts;
mod compare;
mod complex;
mod conv2d;
mod einsum;
mod elementwise;
mod forms;
mod indexed;
mod layouts;
mod map;
mod matmul;
mod normalize;
mod ordering;
mod packed_factor;
mod pool2d;
mod quantize;
#[allow(dead_code, reason = "tests take what they need")]
#[path = "../../src/split_mix.rs"]
mod random;
mod reduce;
