//! Inputs like other trees: of tensors, of values, or of shapes.

use super::names::{Part, Path};
use super::values::{Parts, Tree};
use crate::cuda;
use crate::dense::{SharedTensor, Tensor, TensorView};
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::layout::refusal;
use crate::program::{Graph, Traced};

/// A tree of tensors, views or values, of whose element types and shapes [`Graph::inputs`] makes
/// inputs. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says no element types and shapes of inputs",
    label = "not a tensor, view or value, or a tuple, array or `Vec` of them"
)]
pub trait Like<'g> {
    /// The inputs, in the form of the tree.
    type Values: Tree<'g>;
    #[doc(hidden)]
    fn walk_like(&self, walk: &mut LikeWalk<'g>);
}

/// A walk over the leaves of a tree, which adds an input for each.
pub struct LikeWalk<'g> {
    graph: Graph<'g>,
    path: Path,
    values: Vec<u32>,
    lens: Vec<usize>,
}

impl<'g> LikeWalk<'g> {
    fn part(&mut self, part: Part<'_>, tree: &impl Like<'g>) {
        let from = self.path.enter(part);
        tree.walk_like(self);
        self.path.leave(from);
    }

    /// An element of a tuple or array.
    #[doc(hidden)]
    pub fn place(&mut self, number: usize, tree: &impl Like<'g>) {
        self.part(Part::Place(number), tree);
    }

    /// A field of a struct.
    #[doc(hidden)]
    pub fn field(&mut self, name: &str, tree: &impl Like<'g>) {
        self.part(Part::Field(name), tree);
    }

    fn leaf(&mut self, dtype: DType, shape: Result<Vec<i64>>) {
        let name = self.path.name().text;
        self.values.push(self.graph.input_like(&name, dtype, shape));
    }

    pub(super) fn extents(&mut self, dtype: DType, shape: &[usize]) {
        let shape = shape.iter().map(|extent| refusal::counted(&"shape", *extent)).collect();
        self.leaf(dtype, shape);
    }
}

/// Inputs of trees.
impl<'g> Graph<'g> {
    /// Inputs with the element types and shapes of these tensors, views or values, in the same
    /// form. Inputs like a value have its [extents](Self::extent).
    ///
    /// ```
    /// use tenure::prelude::*;
    ///
    /// let mut weights = vec![Tensor::<f32>::zeros([3, 2])?, Tensor::<f32>::zeros([2, 2])?];
    /// let double = Program::trace(|graph| {
    ///     let inputs = graph.inputs(&weights);
    ///     let [next] = graph.map_trees([&inputs], |[p]| [p * 2.0 + 1.0]);
    ///     graph.program(inputs.updated_by(next), ())
    /// })?;
    /// double.run(&mut weights)?;
    /// assert_eq!(weights[1], [[1.0, 1.0], [1.0, 1.0]]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("zeros_like", "placeholders"))]
    pub fn inputs<L: Like<'g>>(self, like: &L) -> L::Values {
        let mut walk =
            LikeWalk { graph: self, path: Path::default(), values: Vec::new(), lens: Vec::new() };
        like.walk_like(&mut walk);
        Parts::made(self, &mut walk.values.into_iter(), &walk.lens)
    }
}

macro_rules! shaped {
    ($($type:ty)*) => {$(
        impl<'g, T: Element> Like<'g> for $type {
            type Values = Traced<'g, T>;

            fn walk_like(&self, walk: &mut LikeWalk<'g>) {
                walk.extents(T::DTYPE, self.shape());
            }
        }
    )*};
}
shaped! { Tensor<T> SharedTensor<T> TensorView<'_, T> cuda::Tensor<T> cuda::TensorView<'_, T> }

impl<'g, T: Element> Like<'g> for Traced<'g, T> {
    type Values = Traced<'g, T>;

    fn walk_like(&self, walk: &mut LikeWalk<'g>) {
        walk.leaf(T::DTYPE, walk.graph.numbers_of_shape(self.value()));
    }
}
impl<'g, L: Like<'g>, const N: usize> Like<'g> for [L; N] {
    type Values = [L::Values; N];

    fn walk_like(&self, walk: &mut LikeWalk<'g>) {
        self.iter().enumerate().for_each(|(nth, tree)| walk.place(nth, tree));
    }
}
impl<'g, L: Like<'g>> Like<'g> for Vec<L> {
    type Values = Vec<L::Values>;

    fn walk_like(&self, walk: &mut LikeWalk<'g>) {
        walk.lens.push(self.len());
        self.iter().enumerate().for_each(|(nth, tree)| walk.part(Part::Element(nth), tree));
    }
}
impl<'g> Like<'g> for () {
    type Values = ();

    fn walk_like(&self, _: &mut LikeWalk<'g>) {}
}
