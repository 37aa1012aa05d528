//! Trees of values: the form that the inputs and outputs of a program have in its graph, in its
//! type and in its runs.
//!
//! A tree is a leaf, or a tuple of up to eight trees, an array or a `Vec` of trees of one type, or
//! `()`.
//!
//! | role | a leaf | trait |
//! | --- | --- | --- |
//! | values in a graph | [`Traced`](crate::Traced) | [`Tree`](trait@Tree) |
//! | inputs of [`Graph::program`](crate::Graph::program) | the same, or [updated](crate::Traced::updated_by) | [`Inputs`] |
//! | its outputs | `Traced` | [`Outputs`] |
//! | inputs in a program's type | `T`, or [`Updated<T>`](Updated) | [`InputTypes`] |
//! | outputs in a program's type | `T` | [`OutputTypes`] |
//! | inputs of a run | a tensor or view, or `&mut` of it | [`RunInputs`] |
//! | outputs of a run | `&mut` of a tensor or view | [`RunOutputs`] |
//!
//! Each leaf has a name: its path from the root, with the numbers of tuples, arrays and `Vec`s, and
//! the names of fields.

mod expected;
mod leaves;
mod lend;
mod made;
mod names;
mod tuples;
mod types;
mod values;

#[cfg(feature = "programs")]
pub(super) use expected::Expected;
pub use leaves::{
    DeviceTensors, DeviceViews, DeviceViewsMut, InGraph, Leaves, Shape, Shapes, SharedTensors,
    Tensors, Types, UpdatedTypes, Updates, Views, ViewsMut,
};
pub(crate) use lend::{Fill, LendAs, LendOut, LendUnique};
pub use lend::{RunInputs, RunOutputs};
pub use made::Like;
pub(crate) use names::require_given;
pub use types::{InputTypes, OutputTypes, Updated};
pub use values::{Inputs, Operands, Outputs, Tree, TreeOf};
pub(super) use values::{Leaf, Made, Parts, Walk, walked};

/// For the code that `#[derive(Tree)]` writes.
#[doc(hidden)]
pub mod derived {
    pub use super::expected::Expected;
    pub use super::lend::{Fill, LendAs, LendShared, LendUnique};
    pub use super::made::{Like, LikeWalk};
    pub use super::values::{Made, Parts, Walk, Walked};
    pub use super::{InputTypes, Inputs, OutputTypes, Tree, TreeOf};
    pub use crate::expr::{Host, OnDevice};
    pub use crate::program::calls::{Fresh, ProgramCall};
}
