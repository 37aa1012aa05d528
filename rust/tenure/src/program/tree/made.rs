//! Inputs like other trees: of tensors, of values, or of shapes.

use tenure_sys::TNR_EXTENT;

use super::names::{Part, Path};
use super::values::{Parts, Tree};
use crate::cuda;
use crate::dense::{SharedTensor, Tensor, TensorView};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::io::safetensors::Shared;
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

/// A walk over the leaves of a tree.
pub struct LikeWalk<'g> {
    path: Path,
    leaves: Vec<LikeLeaf<'g>>,
    lens: Vec<usize>,
}

/// A leaf of a tree.
pub(crate) struct LikeLeaf<'g> {
    pub(crate) name: String,
    pub(crate) dtype: DType,
    /// In the library's encoding.
    shape: Result<Vec<i64>>,
    /// Adds a constant of the leaf's type, by its name in a file.
    constant: fn(Graph<'g>, &Shared, &str) -> Result<u32>,
}

impl<'g> LikeLeaf<'g> {
    /// The shape of a leaf whose extents have no names.
    pub(crate) fn shape(&self) -> Result<Vec<usize>> {
        let known = |extent: &i64| match *extent {
            0..TNR_EXTENT => Ok(*extent as usize),
            _ => Err(Error::invalid(format!("the shape of '{}' has a named extent", self.name))),
        };
        self.shape.as_ref().map_err(Clone::clone)?.iter().map(known).collect()
    }

    /// A constant with the elements of a tensor of a file, which has the leaf's name.
    pub(crate) fn constant(&self, graph: Graph<'g>, file: &Shared) -> Result<u32> {
        (self.constant)(graph, file, &self.name)
    }
}

fn constant<'g, T: Element>(graph: Graph<'g>, file: &Shared, name: &str) -> Result<u32> {
    Ok(graph.constant(&file.tensor::<T>(name)?).value())
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

    fn leaf<T: Element>(&mut self, shape: Result<Vec<i64>>) {
        let (name, constant) = (self.path.name().text, constant::<T>);
        self.leaves.push(LikeLeaf { name, dtype: T::DTYPE, shape, constant });
    }

    pub(super) fn extents<T: Element>(&mut self, shape: &[usize]) {
        let shape = shape.iter().map(|extent| refusal::counted(&"shape", *extent)).collect();
        self.leaf::<T>(shape);
    }

    /// The leaves of a tree, and the lengths of its `Vec`s.
    fn over(like: &impl Like<'g>) -> Self {
        let mut walk = LikeWalk { path: Path::default(), leaves: Vec::new(), lens: Vec::new() };
        like.walk_like(&mut walk);
        walk
    }
}

/// The leaves of a tree.
pub(crate) fn leaves_like<'g>(like: &impl Like<'g>) -> Vec<LikeLeaf<'g>> {
    LikeWalk::over(like).leaves
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
        let add = |leaf: LikeLeaf<'g>| self.input_like(&leaf.name, leaf.dtype, leaf.shape);
        self.tree_like(like, add)
    }

    /// A tree like another one, of values that `add` makes.
    pub(crate) fn tree_like<L: Like<'g>>(
        self,
        like: &L,
        add: impl FnMut(LikeLeaf<'g>) -> u32,
    ) -> L::Values {
        let walk = LikeWalk::over(like);
        Parts::made(self, &mut walk.leaves.into_iter().map(add), &walk.lens)
    }
}

macro_rules! shaped {
    ($($type:ty)*) => {$(
        impl<'g, T: Element> Like<'g> for $type {
            type Values = Traced<'g, T>;

            fn walk_like(&self, walk: &mut LikeWalk<'g>) {
                walk.extents::<T>(self.shape());
            }
        }
    )*};
}
shaped! { Tensor<T> SharedTensor<T> TensorView<'_, T> cuda::Tensor<T> cuda::TensorView<'_, T> }

impl<'g, T: Element> Like<'g> for Traced<'g, T> {
    type Values = Traced<'g, T>;

    fn walk_like(&self, walk: &mut LikeWalk<'g>) {
        walk.leaf::<T>(self.graph().numbers_of_shape(self.value()));
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
