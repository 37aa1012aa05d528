//@ error: none
//@ feature: derive
//! The fields of a tree have names, which are those of inputs.
use tenure::{Leaves, Tree};

#[cfg(not(bad))]
#[derive(Tree)]
struct Layer<L: Leaves> {
    weight: L::Of<f32>,
}
#[cfg(bad)]
#[derive(Tree)]
struct Layer<L: Leaves>(L::Of<f32>);

fn main() {}
