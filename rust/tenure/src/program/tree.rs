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
//! A CSR matrix is the tree of its row offsets, column indices and values: a
//! [`TracedCsr`](crate::program::TracedCsr) in a graph, `(I, I, T)` or `(I, I, Updated<T>)` in a
//! program's type, and a matrix or view in a run.
//!
//! Each leaf has a name: its path from the root, with the numbers of tuples, arrays and `Vec`s, and
//! the names of fields.
//!
//! With the feature `derive` a struct with named fields is a tree too. It has a parameter `L`, a
//! kind of [leaves](Leaves), and a leaf of elements of `T` has the type `L::Of<T>`:
//!
//! | leaves | `L::Of<T>` | the struct is |
//! | --- | --- | --- |
//! | [`InGraph<'g>`](InGraph) | `Traced<'g, T>` | a tree of values in a graph |
//! | [`Updates<'g>`](Updates) | an updated input | the result of [`updated_by`](Tree::updated_by) |
//! | [`Types`], [`UpdatedTypes`] | `T`, `Updated<T>` | a part of the type of a program |
//! | [`Tensors`], [`SharedTensors`], [`Views<'a>`](Views), [`ViewsMut<'a>`](ViewsMut) | `Tensor<T>` and so on | lent to a run |
//! | [`DeviceTensors`], [`DeviceViews<'a>`](DeviceViews), [`DeviceViewsMut<'a>`](DeviceViewsMut) | `cuda::Tensor<T>` and so on | lent to a run on a device |
//! | [`Shapes`] | [`Shape<T>`](Shape) | what [`Graph::inputs`](crate::Graph::inputs) makes inputs of |
//!
//! ```
//! # #[cfg(not(feature = "derive"))] fn main() {}
//! # #[cfg(feature = "derive")]
//! # fn main() -> tenure::Result<()> {
//! use tenure::prelude::*;
//! use tenure::tree::{Shapes, Tensors, Types};
//!
//! #[derive(Tree)]
//! struct Layer<L: Leaves> {
//!     weight: L::Of<f32>,
//!     bias: L::Of<f32>,
//! }
//!
//! let program: Program<(Layer<Types>, f32), f32> = Program::trace(|graph| {
//!     let shapes = Layer::<Shapes> { weight: [2, 3].into(), bias: [3].into() };
//!     let (layer, x) = (graph.inputs(&shapes), graph.input::<f32>([1, 2]));
//!     graph.program((&layer, x), x.matmul(layer.weight) + layer.bias)
//! })?;
//! assert_eq!(program.input_names(), ["0.weight", "0.bias", "1"]);
//!
//! let weight = Tensor::from([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]]);
//! let layer = Layer::<Tensors> { weight, bias: Tensor::from([0.5, 0.5, 0.5]) };
//! assert_eq!(program.run((&layer, &[[1.0, 2.0]]))?, [[1.5, 4.5, 3.5]]);
//! # Ok(())
//! # }
//! ```

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
pub(crate) use lend::{Fill, LendAs, LendOut, LendShared, LendUnique};
pub use lend::{RunInputs, RunOutputs};
pub use made::Like;
pub(crate) use made::{LikeLeaf, leaves_like};
pub(crate) use names::require_given;
#[cfg(feature = "derive")]
pub use tenure_derive::Tree;
pub use types::{InputTypes, OutputTypes, Updated};
pub use values::{Inputs, Operands, Outputs, Tree, TreeOf};
pub(super) use values::{Leaf, Made, Parts, Walk, Walked, walked};
pub(crate) use values::{leaves, updated};

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
