//! Trees of values in a graph.

use tenure_sys::TNR_OPERAND_NONE;

use super::names::{Name, Part, Path};
use super::{InputTypes, OutputTypes, Updated};
use crate::dtype::Element;
use crate::error::Error;
use crate::program::{Graph, Traced, Updating};

/// A leaf of a tree in a graph.
pub(in crate::program) struct Leaf {
    pub(in crate::program) value: u32,
    /// The value that a run gives it.
    pub(in crate::program) update: Option<u32>,
    pub(in crate::program) name: Name,
}

/// A walk over the leaves of a tree.
pub struct Walk<'g> {
    path: Path,
    pub(in crate::program) graph: Option<Graph<'g>>,
    pub(in crate::program) leaves: Vec<Leaf>,
    /// How many elements each `Vec` has.
    pub(in crate::program) lens: Vec<usize>,
}

impl<'g> Walk<'g> {
    fn part(&mut self, part: Part<'_>, tree: &impl Walked<'g>) {
        let from = self.path.enter(part);
        tree.walk(self);
        self.path.leave(from);
    }

    /// An element of a tuple or array.
    #[doc(hidden)]
    pub fn place(&mut self, number: usize, tree: &impl Walked<'g>) {
        self.part(Part::Place(number), tree);
    }

    /// A field of a struct.
    #[doc(hidden)]
    pub fn field(&mut self, name: &str, tree: &impl Walked<'g>) {
        self.part(Part::Field(name), tree);
    }

    fn leaf(&mut self, leaf: Traced<'g, impl Element>, update: Option<u32>) {
        self.graph = Some(leaf.graph());
        self.leaves.push(Leaf { value: leaf.value(), update, name: self.path.name() });
    }

    /// The numbers of the leaves.
    pub(in crate::program) fn numbers(&self) -> Vec<u32> {
        self.leaves.iter().map(|leaf| leaf.value).collect()
    }
}

/// The leaves of a tree.
pub(in crate::program) fn walked<'g>(tree: &impl Walked<'g>) -> Walk<'g> {
    let mut walk =
        Walk { path: Path::default(), graph: None, leaves: Vec::new(), lens: Vec::new() };
    tree.walk(&mut walk);
    walk
}

/// A tree that can be walked.
pub trait Walked<'g> {
    #[doc(hidden)]
    fn walk(&self, walk: &mut Walk<'g>);
}

/// The numbers of a tree's values.
pub struct Parts<'p, 'g> {
    graph: Option<Graph<'g>>,
    /// Values, each with the value that a run gives it.
    values: &'p mut dyn Iterator<Item = (u32, u32)>,
    lens: &'p mut dyn Iterator<Item = usize>,
}

impl<'g> Parts<'_, 'g> {
    fn leaf<T: Element>(&mut self) -> (Traced<'g, T>, Traced<'g, T>) {
        let graph = self.graph.unwrap_or_else(|| unreachable!("a leaf has a graph"));
        let (value, update) = self.values.next().unwrap_or((TNR_OPERAND_NONE, TNR_OPERAND_NONE));
        (Traced::of(graph, value), Traced::of(graph, update))
    }

    pub(in crate::program) fn made<V: Made<'g>>(
        graph: Graph<'g>,
        values: &mut dyn Iterator<Item = u32>,
        lens: &[usize],
    ) -> V {
        let mut values = values.map(|value| (value, TNR_OPERAND_NONE));
        let mut lens = lens.iter().copied();
        V::made(&mut Parts { graph: Some(graph), values: &mut values, lens: &mut lens })
    }
}

/// A tree that is made of numbers of values.
pub trait Made<'g>: Sized {
    #[doc(hidden)]
    fn made(parts: &mut Parts<'_, 'g>) -> Self;
}

/// The inputs of a program that is being made: a [value](Traced), one that is
/// [updated](Traced::updated_by), or a [tree](super) of them, also borrowed. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no inputs of a program",
    label = "not an input of the graph, or a tuple, array or `Vec` of inputs"
)]
pub trait Inputs<'g>: Walked<'g> {
    /// The types of all, as the program has them.
    type Types: InputTypes;
}

/// The outputs of a program that is being made: a [value](Traced), or a [tree](super) of values,
/// also borrowed. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no outputs of a program",
    label = "not a value of the graph, or a tuple, array or `Vec` of values"
)]
pub trait Outputs<'g>: Inputs<'g, Types: OutputTypes> {}
impl<'g, V: Inputs<'g, Types: OutputTypes>> Outputs<'g> for V {}

/// Operands of a custom operation: a value, or a [tree](super) of values. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no operands of an operation",
    label = "not a value of the graph, or a tuple, array or `Vec` of values"
)]
pub trait Operands<'g>: Walked<'g> {}
impl<'g, V: Outputs<'g>> Operands<'g> for V {}

/// Values of a graph: one, or a tuple of up to eight, an array or a `Vec`, and these nested.
/// Sealed.
///
/// ```
/// use tenure::prelude::*;
///
/// let step = Program::trace(|graph| {
///     let layer = || (graph.input::<f32>([2, 2]), graph.input::<f32>([2]));
///     let layers = vec![layer(), layer()];
///     let x = graph.input::<f32>((graph.extent("rows", 64), 2));
///     let mut y = x;
///     for (weight, bias) in &layers {
///         y = (y.matmul(*weight) + *bias).tanh();
///     }
///     let loss = y.square().mean(..);
///     let gradients = graph.gradients(loss, &layers);
///     let [next] = graph.map_trees([&layers, &gradients], |[p, g]| [p - g * 0.1]);
///     graph.program((layers.updated_by(next), x), loss)
/// })?;
/// assert_eq!(step.input_names(), ["0.0.0", "0.0.1", "0.1.0", "0.1.1", "1"]);
///
/// let full = |shape: &[usize]| Tensor::<f32>::full(shape, 0.5);
/// let mut layers = vec![(full(&[2, 2])?, full(&[2])?), (full(&[2, 2])?, full(&[2])?)];
/// let x = [[1.0_f32, 2.0], [3.0, -1.0]];
/// let first = step.run((&mut layers, &x))?.item();
/// assert!(step.run((&mut layers, &x))?.item() < first);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no values of a graph",
    label = "not a value of the graph, or a tuple, array or `Vec` of values"
)]
pub trait Tree<'g>: Outputs<'g> + Made<'g> {
    /// The tree of inputs, each with its update.
    type Updating: Inputs<'g> + Made<'g>;

    /// Marks these inputs as updated by each run, each by the value in its place: see
    /// [`Traced::updated_by`]. Trees that differ in the length of a `Vec` are refused, by
    /// [`Graph::program`].
    fn updated_by(self, by: Self) -> Self::Updating {
        let (inputs, updates) = (walked(&self), walked(&by));
        let graph = inputs.graph.or(updates.graph);
        if let (Some(graph), false) = (graph, inputs.lens == updates.lens) {
            graph.fail(different(inputs.leaves.len(), updates.leaves.len()));
        }
        updated(&self, updates.numbers())
    }
}

/// A tree of inputs, each with its update.
pub(crate) fn updated<'g, V: Tree<'g>>(
    tree: &V,
    updates: impl IntoIterator<Item = u32>,
) -> V::Updating {
    let walk = walked(tree);
    let mut updates = updates.into_iter();
    let mut values =
        walk.leaves.iter().map(|leaf| (leaf.value, updates.next().unwrap_or(TNR_OPERAND_NONE)));
    let mut lens = walk.lens.iter().copied();
    Made::made(&mut Parts { graph: walk.graph, values: &mut values, lens: &mut lens })
}

/// The leaves of a tree, in their order.
pub(crate) fn leaves<'g, T: Element>(tree: &impl TreeOf<'g, T>) -> Vec<Traced<'g, T>> {
    let walk = walked(tree);
    let of = |graph| walk.leaves.iter().map(move |leaf| Traced::of(graph, leaf.value));
    walk.graph.into_iter().flat_map(of).collect()
}

/// A [tree](trait@Tree) whose leaves are all elements of `T`. Sealed.
pub trait TreeOf<'g, T: Element>: Tree<'g> {}

#[cold]
fn different(a: usize, b: usize) -> Error {
    Error::invalid(format!("trees differ in the length of a Vec: they have {a} and {b} values"))
}

/// Trees.
impl<'g> Graph<'g> {
    /// The leaves of a tree, in their order: the fields of a struct as they are declared.
    pub fn leaves<T: Element>(self, tree: &impl TreeOf<'g, T>) -> Vec<Traced<'g, T>> {
        leaves(tree)
    }

    /// Calls `f` for each leaf of `N` trees of one form, with the values of all trees there, and
    /// makes `M` trees of the results: a step of an optimiser, for example. Trees that differ in the length
    /// of a `Vec` are refused, by [`program`](Self::program).
    ///
    /// ```
    /// use tenure::prelude::*;
    ///
    /// let step = Program::trace(|graph| {
    ///     let inputs = || vec![graph.input::<f32>([2]), graph.input::<f32>([3])];
    ///     let (weights, momenta, gradients) = (inputs(), inputs(), inputs());
    ///     let trees = [&weights, &momenta, &gradients];
    ///     let [next, next_momenta] = graph.map_trees(trees, |[p, m, g]| {
    ///         let m = m * 0.9 + g;
    ///         [p - m * 0.1, m]
    ///     });
    ///     let updates = (weights.updated_by(next), momenta.updated_by(next_momenta));
    ///     graph.program((updates, gradients), ())
    /// })?;
    /// let full = |length: usize, x| Tensor::<f32>::full(length, x);
    /// let mut weights = vec![full(2, 1.0)?, full(3, 1.0)?];
    /// let mut momenta = vec![full(2, 0.0)?, full(3, 0.0)?];
    /// step.run(((&mut weights, &mut momenta), vec![full(2, 5.0)?, full(3, 5.0)?]))?;
    /// assert_eq!((&weights[0], &momenta[1]), (&Tensor::from([0.5, 0.5]), &Tensor::from([5.0; 3])));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn map_trees<T: Element, V: TreeOf<'g, T>, const N: usize, const M: usize>(
        self,
        trees: [&V; N],
        mut f: impl FnMut([Traced<'g, T>; N]) -> [Traced<'g, T>; M],
    ) -> [V; M] {
        let walks = trees.map(walked);
        let Some(first) = walks.first() else {
            // There is no tree that says how long each `Vec` is.
            return std::array::from_fn(|_| Parts::made(self, &mut std::iter::empty(), &[]));
        };
        if let Some(other) = walks.iter().find(|walk| walk.lens != first.lens) {
            self.fail(different(first.leaves.len(), other.leaves.len()));
        }
        let mut made: [Vec<u32>; M] = std::array::from_fn(|_| Vec::new());
        for nth in 0..first.leaves.len() {
            let at = |walk: &Walk<'g>| walk.leaves.get(nth).map_or(TNR_OPERAND_NONE, |it| it.value);
            let values = f(walks.each_ref().map(|walk| Traced::of(self, at(walk))));
            for (made, value) in made.iter_mut().zip(values) {
                made.push(value.value());
            }
        }
        made.map(|numbers| Parts::made(self, &mut numbers.into_iter(), &first.lens))
    }
}

/// Leaves.
impl<'g, T: Element> Walked<'g> for Traced<'g, T> {
    fn walk(&self, walk: &mut Walk<'g>) {
        walk.leaf(*self, None);
    }
}
impl<'g, T: Element> Made<'g> for Traced<'g, T> {
    fn made(parts: &mut Parts<'_, 'g>) -> Self {
        parts.leaf().0
    }
}
impl<'g, T: Element> Inputs<'g> for Traced<'g, T> {
    type Types = T;
}
impl<'g, T: Element> Tree<'g> for Traced<'g, T> {
    type Updating = Updating<'g, T>;
}
impl<'g, T: Element> TreeOf<'g, T> for Traced<'g, T> {}

impl<'g, T: Element> Walked<'g> for Updating<'g, T> {
    fn walk(&self, walk: &mut Walk<'g>) {
        walk.leaf(self.input, Some(self.value.value()));
    }
}
impl<'g, T: Element> Made<'g> for Updating<'g, T> {
    fn made(parts: &mut Parts<'_, 'g>) -> Self {
        let (input, value) = parts.leaf();
        Updating { input, value }
    }
}
impl<'g, T: Element> Inputs<'g> for Updating<'g, T> {
    type Types = Updated<T>;
}

/// Borrowed trees.
impl<'g, V: Walked<'g>> Walked<'g> for &V {
    fn walk(&self, walk: &mut Walk<'g>) {
        (**self).walk(walk);
    }
}
impl<'g, V: Inputs<'g>> Inputs<'g> for &V {
    type Types = V::Types;
}

/// Arrays.
impl<'g, V: Walked<'g>, const N: usize> Walked<'g> for [V; N] {
    fn walk(&self, walk: &mut Walk<'g>) {
        self.iter().enumerate().for_each(|(nth, tree)| walk.place(nth, tree));
    }
}
impl<'g, V: Made<'g>, const N: usize> Made<'g> for [V; N] {
    fn made(parts: &mut Parts<'_, 'g>) -> Self {
        std::array::from_fn(|_| V::made(parts))
    }
}
impl<'g, V: Inputs<'g>, const N: usize> Inputs<'g> for [V; N] {
    type Types = [V::Types; N];
}
impl<'g, V: Tree<'g>, const N: usize> Tree<'g> for [V; N] {
    type Updating = [V::Updating; N];
}
impl<'g, T: Element, V: TreeOf<'g, T>, const N: usize> TreeOf<'g, T> for [V; N] {}

/// `Vec`s.
impl<'g, V: Walked<'g>> Walked<'g> for Vec<V> {
    fn walk(&self, walk: &mut Walk<'g>) {
        walk.lens.push(self.len());
        self.iter().enumerate().for_each(|(nth, tree)| walk.part(Part::Element(nth), tree));
    }
}
impl<'g, V: Made<'g>> Made<'g> for Vec<V> {
    fn made(parts: &mut Parts<'_, 'g>) -> Self {
        let len = parts.lens.next().unwrap_or(0);
        (0..len).map(|_| V::made(parts)).collect()
    }
}
impl<'g, V: Inputs<'g>> Inputs<'g> for Vec<V> {
    type Types = Vec<V::Types>;
}
impl<'g, V: Tree<'g>> Tree<'g> for Vec<V> {
    type Updating = Vec<V::Updating>;
}
impl<'g, T: Element, V: TreeOf<'g, T>> TreeOf<'g, T> for Vec<V> {}

/// None.
impl<'g> Walked<'g> for () {
    fn walk(&self, _: &mut Walk<'g>) {}
}
impl<'g> Made<'g> for () {
    fn made(_: &mut Parts<'_, 'g>) -> Self {}
}
impl Inputs<'_> for () {
    type Types = ();
}
impl Tree<'_> for () {
    type Updating = ();
}
impl<'g, T: Element> TreeOf<'g, T> for () {}
