//! Dense tensors: views, owners, shapes, printing, errors.

mod dynamic;
mod errors;
mod layout;
mod linalg;
mod migration;
mod patterns;
mod prelude;
mod print;
mod print_in_c;
mod random;
mod shared;
mod slices;
mod soundness;
mod tensor;
mod view;

#[path = "../../src/split_mix.rs"]
#[allow(dead_code)]
mod split_mix;
