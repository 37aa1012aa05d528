//! A graph, listed; and written.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

use prost::Message;
use tenure_sys::{
    TNR_NODE_COND, TNR_NODE_CUSTOM, TNR_NODE_MASKED_SELECT, TNR_NODE_NONZERO, TNR_NODE_WHILE,
    TNR_OPERAND_NONE,
};

use super::container::{SECTION_ALIGNMENT, Sections, VERSION};
use super::schema::{self, StoredSource};
use super::{CONSTANT_ALIGNMENT, GraphHandle, MOST_VALUES, attributes, recorded_scalar};
use crate::dense::DynView;
use crate::dtype::bytes;
use crate::error::{Error, Result};
use crate::io::payload::{Body, shown};
use crate::program::calls::graph_record::{Extent, Listed, NODE_KIND, ValueSource};

/// All that a graph is, with its constants lent: a list of its parts, by which it is built again.
#[derive(Clone, Debug)]
pub struct GraphRecord<'a> {
    graph: schema::Graph,
    /// In the order in which the graph has them.
    constants: Vec<DynView<'a>>,
    constants_bytes: u64,
    custom_names: Vec<String>,
}

impl<'a> GraphRecord<'a> {
    pub(super) fn new(
        graph: schema::Graph,
        constants: Vec<DynView<'a>>,
        constants_bytes: u64,
    ) -> Self {
        let custom_names = names_of(&graph);
        GraphRecord { graph, constants, constants_bytes, custom_names }
    }

    /// Lists a graph. Custom operations are recorded by names: `custom_names` has those of the
    /// graph in the order in which they were added. Operations that its subgraphs call have their
    /// own names.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another number of names than the graph has custom operations, or a name
    /// that occurs twice in a graph. `Unsupported`: parts that a newer core has and this version
    /// does not know. `StaleHandle`.
    pub fn of(graph: &'a GraphHandle, custom_names: &[&str]) -> Result<Self> {
        Self::listing(graph, custom_names, Values::All)
    }

    /// Lists the inputs of a graph, and the values that its outputs depend on. Otherwise as
    /// [`of`](Self::of).
    pub(super) fn of_outputs(graph: &'a GraphHandle, custom_names: &[&str]) -> Result<Self> {
        Self::listing(graph, custom_names, Values::Needed)
    }

    fn listing(graph: &'a GraphHandle, custom_names: &[&str], values: Values) -> Result<Self> {
        let info = graph.info()?;
        let (names, count) = (custom_names.len(), info.custom_count as usize);
        if names != count {
            return Err(Error::invalid(format!(
                "{names} names are given but the graph has {count} operations of its caller's own"
            )));
        }
        let customs = custom_names.iter().map(|name| name.to_string()).collect();
        let mut record = GraphRecord::new(schema::Graph::default(), Vec::new(), 0);
        record.graph = record.listed(&Listed::Whole(graph), customs, values)?;
        record.custom_names = names_of(&record.graph);
        Ok(record)
    }

    /// A graph and those within it, which are no deeper than the core lets them be.
    fn listed(
        &mut self,
        listed: &Listed<'a>,
        customs: Vec<String>,
        values: Values,
    ) -> Result<schema::Graph> {
        let graph = listed.graph();
        let info = graph.info()?;
        require_different("an operation", customs.iter().map(String::as_str))?;
        let mut record = schema::Graph { customs, ..Default::default() };
        for index in 0..info.extent_count {
            record.extents.push(match graph.extent(index)? {
                Extent::Named { name, maximum } => {
                    schema::Extent { op: 0, a: maximum, b: 0, name: name.into_bytes() }
                }
                Extent::Made { op, a, b } => schema::Extent { op: op.0, a, b, name: Vec::new() },
            });
        }
        let mut constants = Vec::new();
        for value in 0..info.value_count {
            let source = match graph.source(value)? {
                ValueSource::Input { dtype, numbers } => StoredSource::Input(schema::Input {
                    dtype: dtype.raw().0,
                    numbers,
                    name: String::new(),
                }),
                ValueSource::Constant(index) => {
                    constants.push((value, index));
                    StoredSource::Constant(schema::Constant::default())
                }
                ValueSource::Scalar(index) => {
                    StoredSource::Scalar(recorded_scalar(&graph.scalar(index)?))
                }
                ValueSource::Node(index) => StoredSource::Node(node(graph, index)?),
                ValueSource::Result(number) => StoredSource::Result(number),
            };
            record.values.push(schema::Value { source: Some(source) });
        }
        for index in 0..info.output_count {
            let (value, updates) = graph.output(index)?;
            record.outputs.push(schema::Output { value, updates, name: String::new() });
        }
        let numbers = match values {
            Values::All => (0..info.value_count).map(Some).collect(),
            Values::Needed => keep_needed(&mut record),
        };
        for (value, index) in constants {
            let Some(number) = numbers[value as usize] else { continue };
            let placed = self.place(listed.constant(index)?)?;
            record.values[number as usize].source = Some(StoredSource::Constant(placed));
        }
        for index in 0..info.subgraph_count {
            let part = listed.subgraph(index)?;
            let names = part.graph().custom_names()?;
            let of_subgraph = |error: Error| error.prefixed(&format!("subgraphs[{index}]: "));
            let graph = self.listed(&part, names, Values::All).map_err(of_subgraph)?;
            record.subgraphs.push(graph);
        }
        Ok(record)
    }

    /// Puts a constant behind those that have a place.
    fn place(&mut self, view: DynView<'a>) -> Result<schema::Constant> {
        let too_large = || Error::invalid("the constants have more bytes than a file");
        let size_bytes = view.len().checked_mul(view.dtype().size_bytes());
        let size_bytes = size_bytes.ok_or_else(too_large)? as u64;
        let offset = self.constants_bytes.checked_next_multiple_of(CONSTANT_ALIGNMENT);
        let offset = offset.ok_or_else(too_large)?;
        self.constants_bytes = offset.checked_add(size_bytes).ok_or_else(too_large)?;
        self.constants.push(view);
        let shape = view.shape().iter().map(|extent| *extent as u64).collect();
        Ok(schema::Constant { dtype: view.dtype().raw().0, shape, offset, size_bytes })
    }

    /// Names the inputs, and the outputs that update none, in their order. Names that are the
    /// numbers from 0 on are not written.
    pub(super) fn with_names(mut self, inputs: &[String], outputs: &[String]) -> Self {
        let written = |number: usize, name: &String| match *name == number.to_string() {
            true => String::new(),
            false => name.clone(),
        };
        let sources = self.graph.values.iter_mut().filter_map(|value| match &mut value.source {
            Some(StoredSource::Input(input)) => Some(&mut input.name),
            _ => None,
        });
        for (number, (to, name)) in sources.zip(inputs).enumerate() {
            *to = written(number, name);
        }
        let fresh = self.graph.outputs.iter_mut().filter(|output| output.updates.is_none());
        for (number, (output, name)) in fresh.zip(outputs).enumerate() {
            output.name = written(number, name);
        }
        self
    }

    /// Names of custom operations, by which the graph and those within it call them; those of the
    /// graph itself first, in their order.
    pub fn custom_names(&self) -> &[String] {
        &self.custom_names
    }

    /// Number of values: inputs, constants, scalars and nodes.
    pub fn value_count(&self) -> usize {
        self.graph.values.len()
    }

    /// The constants, in the order in which the graph has them.
    pub fn constants(&self) -> &[DynView<'a>] {
        &self.constants
    }

    /// Writes a file. Equal graphs and constants give equal bytes.
    ///
    /// # Errors
    ///
    /// `Io`: those of the output. `InvalidArgument`: a graph that takes more than 16 MiB without its
    /// constants.
    pub fn save(&self, mut out: impl Write) -> Result<()> {
        let graph = self.graph.encode_to_vec();
        let version = version_of(&self.graph);
        let sections = Sections::of(version, graph.len() as u64, self.constants_bytes)?;
        out.write_all(&sections.header())?;
        out.write_all(&graph)?;
        if self.constants_bytes > 0 {
            let gap = sections.constants.start - sections.graph.end;
            out.write_all(&[0; SECTION_ALIGNMENT as usize][..gap])?;
        }
        let mut written = 0_u64;
        for view in &self.constants {
            let gap = written.next_multiple_of(CONSTANT_ALIGNMENT) - written;
            let body = Body::new(*view)?;
            let elements: &[u8] = body.as_ref();
            out.write_all(&[0; CONSTANT_ALIGNMENT as usize][..gap as usize])?;
            if cfg!(target_endian = "little") {
                out.write_all(elements)?;
            } else {
                let mut turned = elements.to_vec();
                bytes::swap(&mut turned, view.dtype());
                out.write_all(&turned)?;
            }
            written += gap + elements.len() as u64;
        }
        Ok(out.flush()?)
    }
}

impl GraphRecord<'_> {
    /// Writes a new file in the same folder, and renames it to this path when it is whole: a
    /// process that has the old one mapped keeps it, and no reader sees a half of the new one.
    ///
    /// # Errors
    ///
    /// The errors of [`save`](Self::save). The message names the file.
    pub fn save_as(&self, path: impl AsRef<Path>) -> Result<()> {
        crate::io::save::save(path.as_ref(), |out| self.save(out))
    }
}

/// The values of a graph that a record has.
#[derive(Clone, Copy)]
enum Values {
    All,
    /// Inputs, and those that outputs depend on.
    Needed,
}

/// Removes the values that no output depends on, except inputs. Returns the new numbers.
fn keep_needed(graph: &mut schema::Graph) -> Vec<Option<u32>> {
    let mut needed = vec![false; graph.values.len()];
    for output in &graph.outputs {
        needed[output.value as usize] = true;
    }
    // The results of a node follow it: one that is needed needs the node.
    for number in (0..needed.len()).rev() {
        match &graph.values[number].source {
            Some(StoredSource::Input(_)) => needed[number] = true,
            Some(StoredSource::Result(result)) if needed[number] => {
                needed[number - *result as usize] = true;
            }
            // Extents that nodes find are numbered in the order of these nodes, which are kept.
            Some(StoredSource::Node(node)) if needed[number] || is_kept(node) => {
                needed[number] = true;
                for &operand in node.operands.iter().filter(|value| **value != TNR_OPERAND_NONE) {
                    needed[operand as usize] = true;
                }
            }
            _ => {}
        }
    }
    let mut count = 0;
    let mut last_node = false;
    let numbers: Vec<Option<u32>> = graph
        .values
        .iter()
        .zip(&needed)
        .map(|(value, needed)| {
            let is_needed = match &value.source {
                Some(StoredSource::Result(_)) => last_node,
                _ => *needed,
            };
            last_node = is_needed;
            is_needed.then(|| {
                count += 1;
                count - 1
            })
        })
        .collect();
    let there = |value: &mut u32| {
        if let Some(&Some(number)) = numbers.get(*value as usize) {
            *value = number;
        }
    };
    let mut at = numbers.iter();
    graph.values.retain(|_| at.next().is_some_and(Option::is_some));
    for value in &mut graph.values {
        if let Some(StoredSource::Node(node)) = &mut value.source {
            node.operands.iter_mut().for_each(there);
        }
    }
    for output in &mut graph.outputs {
        there(&mut output.value);
        output.updates.iter_mut().for_each(there);
    }
    numbers
}

/// Whether the node may do more than give its results: find an extent, or call a custom operation.
fn is_kept(node: &schema::Node) -> bool {
    let kinds =
        [TNR_NODE_CUSTOM, TNR_NODE_COND, TNR_NODE_WHILE, TNR_NODE_NONZERO, TNR_NODE_MASKED_SELECT];
    kinds.contains(&(node.code & NODE_KIND))
}

/// The version of the container, which tells readers that know no names, no marks, no subgraphs, or
/// no subgraphs that call custom operations, that the graph has them.
pub(super) fn version_of(graph: &schema::Graph) -> u32 {
    fn call(graphs: &[schema::Graph]) -> bool {
        graphs.iter().any(|graph| !graph.customs.is_empty() || call(&graph.subgraphs))
    }
    match (has_names(graph) || has_marks(graph), graph.subgraphs.is_empty(), call(&graph.subgraphs))
    {
        (true, ..) => VERSION,
        (false, true, _) => 1,
        (false, false, false) => 2,
        (false, false, true) => 3,
    }
}

/// Whether nodes of a graph, or of graphs within it, have marks or copy numbers.
pub(super) fn has_marks(graph: &schema::Graph) -> bool {
    let is_marked = |value: &schema::Value| match &value.source {
        Some(StoredSource::Node(node)) => node.marks != 0 || node.copy != 0,
        _ => false,
    };
    graph.values.iter().any(is_marked) || graph.subgraphs.iter().any(has_marks)
}

/// Whether inputs or outputs of a graph have names, without those of graphs within it.
pub(super) fn has_names(graph: &schema::Graph) -> bool {
    let is_named = |value: &schema::Value| match &value.source {
        Some(StoredSource::Input(input)) => !input.name.is_empty(),
        _ => false,
    };
    graph.values.iter().any(is_named) || graph.outputs.iter().any(|output| !output.name.is_empty())
}

/// Names of the inputs, and of the outputs that update none. An input or output without a name in
/// the file has its number.
pub(super) fn names_in(graph: &schema::Graph) -> [Vec<String>; 2] {
    let named = |(number, name): (usize, &String)| match name.is_empty() {
        true => number.to_string(),
        false => name.clone(),
    };
    let inputs = graph.values.iter().filter_map(|value| match &value.source {
        Some(StoredSource::Input(input)) => Some(&input.name),
        _ => None,
    });
    let fresh = graph.outputs.iter().filter(|output| output.updates.is_none());
    let outputs = fresh.map(|output| &output.name);
    [inputs.enumerate().map(named).collect(), outputs.enumerate().map(named).collect()]
}

/// Names of operations of a graph and of those within it, each once.
pub(super) fn names_of(graph: &schema::Graph) -> Vec<String> {
    fn add<'g>(graph: &'g schema::Graph, seen: &mut HashSet<&'g str>, names: &mut Vec<String>) {
        for name in graph.customs.iter().filter(|name| seen.insert(name)) {
            names.push(name.clone());
        }
        graph.subgraphs.iter().for_each(|subgraph| add(subgraph, seen, names));
    }
    let mut names = Vec::new();
    add(graph, &mut HashSet::new(), &mut names);
    names
}

fn node(graph: &GraphHandle, index: u32) -> Result<schema::Node> {
    let node = graph.node(index)?;
    let attributes = node.attributes.as_ref().map(attributes::recorded).transpose()?;
    Ok(schema::Node {
        code: node.code,
        dtype: node.dtype.raw().0,
        flags: node.flags,
        operands: node.operands,
        numbers: node.numbers,
        copy: node.copy,
        marks: node.marks,
        attributes,
    })
}

/// Operations, inputs and outputs are found by their names.
pub(super) fn require_different<'n>(
    what: &str,
    names: impl Iterator<Item = &'n str>,
) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            let why = format!("the name '{}' of {what} stands twice", shown(name));
            return Err(Error::invalid(why));
        }
    }
    Ok(())
}

/// The index of the custom operation that a node calls.
pub(super) fn custom_of(code: u32) -> Option<usize> {
    (code & NODE_KIND == TNR_NODE_CUSTOM).then_some((code & !NODE_KIND) as usize)
}

// A value that none of the others is has no number.
const _: () = assert!(MOST_VALUES < tenure_sys::TNR_OPERAND_NONE as usize);
