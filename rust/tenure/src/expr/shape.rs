//! The shape of a result, and the error where it has none.

use crate::error::{Error, ErrorKind, Result};
use crate::ops::results::{Extents, broadcast_shape};
use crate::raw::expression::{Graph, Kind, Node, Operand};
use tenure_sys::TNR_NODE_REDUCE;

use super::name;

/// Beyond these, shapes of nodes are on the heap, as nodes are.
const INLINE_NODES: usize = 16;

/// The shape of the result; `output` is that of the output where a node reads it.
#[inline]
pub(crate) fn of_result(graph: &Graph<'_>, output: &[usize]) -> Result<Extents> {
    if graph.nodes().is_empty() {
        return Ok(of_leaf(graph, graph.root(), output));
    }
    match of_all_views(graph, output) {
        Some(extents) => Ok(extents),
        None => node_by_node(graph, output),
    }
}

/// Without axes that are reduced it is that of all views together; `None` where there are some, or
/// views do not broadcast.
#[inline]
fn of_all_views(graph: &Graph<'_>, output: &[usize]) -> Option<Extents> {
    let mut common = Extents::of(&[]);
    for node in graph.nodes() {
        if node.is_over_axes() {
            return None;
        }
        for operand in node.inputs() {
            match graph.kind_of(*operand) {
                Kind::View => graph.with_shape(*operand, |shape| common.join(shape))?,
                Kind::Output => common.join(output)?,
                Kind::Node(_) | Kind::Number => {}
            }
        }
    }
    Some(common)
}

fn node_by_node(graph: &Graph<'_>, output: &[usize]) -> Result<Extents> {
    let nodes = graph.nodes();
    let mut few = [Extents::of(&[]); INLINE_NODES];
    let mut many;
    let shapes = match few.get_mut(..nodes.len()) {
        Some(few) => few,
        None => {
            many = vec![Extents::of(&[]); nodes.len()];
            &mut many[..]
        }
    };
    for (number, node) in nodes.iter().enumerate() {
        shapes[number] = of_node(graph, node, shapes, output)?;
    }
    Ok(shapes[nodes.len() - 1])
}

fn of_leaf(graph: &Graph<'_>, operand: Operand, output: &[usize]) -> Extents {
    match graph.kind_of(operand) {
        Kind::Output => Extents::of(output),
        _ => graph.with_shape(operand, Extents::of),
    }
}

/// The shape of a node; `shapes` are those of the nodes before it.
fn of_node(
    graph: &Graph<'_>,
    node: &Node,
    shapes: &[Extents],
    output: &[usize],
) -> Result<Extents> {
    let shape_of = |operand: Operand| match graph.kind_of(operand) {
        Kind::Node(number) => shapes[number],
        _ => of_leaf(graph, operand, output),
    };
    let inputs = node.inputs();
    // A node has three inputs at most; the shapes of missing inputs do not matter.
    let of_inputs =
        [0, 1, 2].map(|nth| inputs.get(nth).map_or(Extents::of(&[]), |operand| shape_of(*operand)));
    if node.code.kind() == TNR_NODE_REDUCE {
        let (mask, are_kept) = node.axes();
        return Ok(Extents::reduced(of_inputs[0].as_slice(), mask, are_kept));
    }
    broadcast_shape([0, 1, 2].map(|nth| of_inputs[nth].as_slice()))
        .map_err(|error| mismatch(graph, node, &of_inputs, error))
}

/// The message of shapes that do not broadcast: the operation, its place, and its operands.
#[cold]
fn mismatch(graph: &Graph<'_>, node: &Node, of_inputs: &[Extents], error: Error) -> Error {
    let names = match node.code.kind() {
        tenure_sys::TNR_NODE_SELECT => ["condition", "a", "b"],
        _ => ["a", "b", "c"],
    };
    let inputs = names.iter().zip(node.inputs()).zip(of_inputs);
    let inputs: Vec<String> = inputs
        .map(|((name, operand), shape)| {
            let what = match graph.kind_of(*operand) {
                Kind::Node(number) => place(&graph.nodes()[number]),
                Kind::View => "a view".into(),
                Kind::Number => "a number".into(),
                Kind::Output => "the output".into(),
            };
            format!("{name} is {what} of shape {:?}", shape.as_slice())
        })
        .collect();
    error.prefixed(&format!("{}: {}: ", place(node), inputs.join(" and ")))
}

fn place(node: &Node) -> String {
    format!("{} at {}", name::of(node.code), node.at)
}

/// Puts the place of the expression's last operation in the source in front of an error of the
/// library.
#[cold]
#[inline(never)]
pub(crate) fn located(graph: &Graph<'_>, error: Error) -> Error {
    let is_of_library = matches!(
        error.kind(),
        ErrorKind::InvalidArgument | ErrorKind::Unsupported | ErrorKind::Aliased
    );
    match graph.nodes().last() {
        Some(last) if is_of_library && !graph.has_failed() => {
            error.prefixed(&format!("expression up to {}: ", place(last)))
        }
        _ => error,
    }
}

/// Does the same as `located`, for an expression with an output of shape `out`. Where this or
/// another shape is the reason, the error says so.
#[cold]
#[inline(never)]
pub(crate) fn refused(graph: &Graph<'_>, error: Error, out: &[usize]) -> Error {
    if error.kind() != ErrorKind::InvalidArgument || graph.has_failed() {
        return located(graph, error);
    }
    match of_result(graph, out) {
        Err(mismatch) => mismatch,
        Ok(shape) if shape.as_slice() == out => located(graph, error),
        Ok(shape) => {
            let shapes = format!("a result of shape {:?} into {out:?}: ", shape.as_slice());
            located(graph, error.prefixed(&shapes))
        }
    }
}
