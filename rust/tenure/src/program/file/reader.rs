//! Reading: what a file has, checked; and the graph that it stands for.

use std::ffi::CString;
use std::ops::Range;

use prost::Message;
use tenure_sys::{
    TNR_EXTENT, TNR_MAX_EXTENTS, TNR_MAX_RANK, TNR_MAX_SUBGRAPH_DEPTH, TNR_OPERAND_NONE, tnr_dtype,
};

use super::container::Sections;
use super::record::{custom_of, has_names, names_in, names_of, require_different, version_of};
use super::schema::{self, StoredSource};
use super::{
    CONSTANT_ALIGNMENT, CustomOperation, GraphHandle, GraphRecord, MOST_VALUES, attributes,
    scalar_of,
};
use crate::dense::{DynView, SharedTensor};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Rejected, Result};
use crate::io::payload::shown;
use crate::program::calls::graph_record::{Extent, NODE_KIND, Node};

/// A file of a graph, whose bytes the graphs that are built of it hold too: a map or a `Vec` is
/// dropped with the last of them.
///
/// ```no_run
/// use tenure::{io, program::file::ProgramFile};
///
/// let file = ProgramFile::new(io::read("digits.tnrp")?)?; // or a map of the file
/// let graph = file.build(Vec::new())?; // its constants lie in the file's bytes
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProgramFile {
    bytes: SharedTensor<u8>,
    graph: schema::Graph,
    /// Bytes of the file.
    constants: Range<usize>,
    custom_names: Vec<String>,
}

impl ProgramFile {
    /// Reads the header and the graph, and no element of a constant. The owner is one of bytes: a
    /// `Vec<u8>`, a `Tensor<u8>`, memory that is mapped.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`, with the part and the number: no such header, a part that leaves the file
    /// or is too short, a graph of more parts than the core takes, a constant whose shape does not
    /// take its bytes, a reference to a part that does not exist. `Unsupported`: a file of a newer
    /// version; on a big-endian machine, constants whose elements have several bytes. The owner
    /// comes back with the error.
    ///
    /// ```
    /// # use tenure::program::file::ProgramFile;
    /// let error = ProgramFile::new(vec![0_u8; 64]).err().unwrap();
    /// let expected = "the file is no program: its first 8 bytes are others";
    /// assert_eq!(error.error().message(), expected);
    /// ```
    pub fn new<O>(owner: O) -> Result<Self, Rejected<O>>
    where
        O: AsRef<[u8]> + Send + Sync + 'static,
    {
        let bytes = owner.as_ref();
        let (len, read) = (bytes.len(), read(bytes));
        match read {
            Ok((graph, constants)) => {
                let bytes = SharedTensor::from_bytes(owner, 0, len)?;
                let custom_names = names_of(&graph);
                Ok(ProgramFile { bytes, graph, constants, custom_names })
            }
            Err(error) => Err(Rejected::new(error, owner)),
        }
    }

    /// Names of the custom operations that [`build`](Self::build) needs: those of the graph itself,
    /// in their order, and then those of graphs within it.
    pub fn custom_names(&self) -> &[String] {
        &self.custom_names
    }

    /// The names of the inputs, and those of the outputs that update none; the numbers of those that
    /// the file does not name.
    ///
    /// ```
    /// use tenure::{Program, program::file::ProgramFile};
    ///
    /// let program = Program::trace(|graph| {
    ///     let (x, y) = (graph.input_named::<f32>("x", [2]), graph.input::<f32>([2]));
    ///     graph.program((x, y), x + y)
    /// })?;
    /// let mut bytes = Vec::new();
    /// program.write(&mut bytes)?;
    /// assert_eq!(ProgramFile::new(bytes)?.names(), [vec!["x", "1"], vec!["0"]]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn names(&self) -> [Vec<String>; 2] {
        names_in(&self.graph)
    }

    /// Everything that the file has, to be written again; constants are lent by the file's bytes.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: the bytes are misaligned in memory.
    pub fn record(&self) -> Result<GraphRecord<'_>> {
        let section = self.bytes.as_ref().get(self.constants.clone()).unwrap_or_default();
        let mut constants = Vec::new();
        for constant in constants_of(&self.graph) {
            let (offset, size_bytes) = (constant.offset as usize, constant.size_bytes as usize);
            let elements = section.get(offset..).and_then(|rest| rest.get(..size_bytes));
            let (dtype, shape) = (dtype_of(constant.dtype), shape_of(constant)?);
            constants.push(DynView::from_bytes(elements.unwrap_or_default(), dtype, &shape[..])?);
        }
        Ok(GraphRecord::new(self.graph.clone(), constants, self.constants.len() as u64))
    }

    /// A copy with outputs that update inputs behind the others, in the order of the inputs.
    pub(crate) fn with_updates_last(&self) -> ProgramFile {
        let mut file = self.clone();
        // `None` is less than any value, and inputs have numbers in their order.
        file.graph.outputs.sort_by_key(|output| output.updates);
        file
    }

    /// Builds the graph. Constants are not copied: the graph, and all programs that are made of it,
    /// hold the file's bytes.
    ///
    /// The graph and those within it get the operations that they call; the others are released.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: an operation that is not given, or twice; bytes that are misaligned in
    /// memory; and what the core refuses of the graph, with the value. `Unsupported`,
    /// `OutOfMemory`: as the core has them.
    pub fn build(&self, customs: Vec<CustomOperation>) -> Result<GraphHandle> {
        require_different("an operation", customs.iter().map(CustomOperation::name))?;
        self.built(&self.graph, &customs)
    }

    /// One of the file's graphs, with those within it, which are no deeper than has been checked.
    fn built(&self, record: &schema::Graph, customs: &[CustomOperation]) -> Result<GraphHandle> {
        let mut graph = GraphHandle::create()?;
        for name in &record.customs {
            graph.add_custom(called(customs, name)?)?;
        }
        for (index, extent) in record.extents.iter().enumerate() {
            let of_extent = |error: Error| error.prefixed(&format!("extents[{index}]: "));
            graph.add_extent(&extent_of(extent).map_err(of_extent)?).map_err(of_extent)?;
        }
        for (index, subgraph) in record.subgraphs.iter().enumerate() {
            let of_subgraph = |error: Error| error.prefixed(&format!("subgraphs[{index}]: "));
            let body = self.built(subgraph, customs).map_err(of_subgraph)?;
            graph.add_subgraph(&body).map_err(of_subgraph)?;
        }
        for (index, value) in record.values.iter().enumerate() {
            let of_value = |error: Error| error.prefixed(&format!("values[{index}]: "));
            // Others would name other values than they are meant to.
            let added = match &value.source {
                Some(StoredSource::Result(_)) => index as u32,
                _ => self.add(&mut graph, value).map_err(of_value)?,
            };
            let count = graph.info()?.value_count;
            if added != index as u32 || added >= count {
                let why = format!("it is no result of its node, or not all are listed, of {count}");
                return Err(of_value(Error::invalid(why)));
            }
        }
        let (has, lists) = (graph.info()?.value_count, record.values.len());
        if has as usize != lists {
            let why = format!("the graph has {has} values but lists {lists}");
            return Err(Error::invalid(why));
        }
        for (index, output) in record.outputs.iter().enumerate() {
            let of_output = |error: Error| error.prefixed(&format!("outputs[{index}]: "));
            graph.add_output(output.value, output.updates).map_err(of_output)?;
        }
        Ok(graph)
    }

    fn add(&self, graph: &mut GraphHandle, value: &schema::Value) -> Result<u32> {
        match &value.source {
            Some(StoredSource::Input(input)) => {
                graph.add_input(dtype_of(input.dtype), &input.numbers)
            }
            Some(StoredSource::Constant(constant)) => {
                let offset = self.constants.start + constant.offset as usize;
                let shape = shape_of(constant)?;
                graph.add_constant(&self.bytes, offset, dtype_of(constant.dtype), &shape)
            }
            Some(StoredSource::Scalar(scalar)) => graph.add_scalar(&scalar_of(scalar)?),
            Some(StoredSource::Node(node)) => graph.add_node(&node_of(node)?),
            // It came with its node.
            Some(StoredSource::Result(_)) | None => Err(Error::invalid("it has no source")),
        }
    }
}

/// The constants of a graph and of all graphs within it, in the order in which the file stores
/// them.
fn constants_of(graph: &schema::Graph) -> Vec<&schema::Constant> {
    let mut constants: Vec<_> = graph
        .values
        .iter()
        .filter_map(|value| match &value.source {
            Some(StoredSource::Constant(constant)) => Some(constant),
            _ => None,
        })
        .collect();
    constants.extend(graph.subgraphs.iter().flat_map(constants_of));
    constants
}

fn dtype_of(recorded: u32) -> DType {
    DType::from_raw(tnr_dtype(recorded))
}

fn shape_of(constant: &schema::Constant) -> Result<Vec<usize>> {
    let too_large = |_| Error::invalid("an extent is larger than memory");
    constant.shape.iter().map(|extent| usize::try_from(*extent).map_err(too_large)).collect()
}

fn extent_of(extent: &schema::Extent) -> Result<Extent> {
    /// The core keeps no more of a name.
    const MOST_NAME_BYTES: usize = 31;
    let schema::Extent { op, a, b, name } = extent;
    if *op != 0 && name.is_empty() {
        return Ok(Extent::Made { op: tenure_sys::tnr_extent_op(*op), a: *a, b: *b });
    }
    if *op != 0 || *b != 0 || name.len() > MOST_NAME_BYTES {
        let bytes = name.len();
        let why = format!("it has op {op}, {a}, {b} and a name of {bytes} bytes, which is none");
        return Err(Error::invalid(why));
    }
    let name = CString::new(&name[..]).map_err(|_| Error::invalid("its name has a 0"))?;
    Ok(Extent::Named { name, maximum: extent.a })
}

fn node_of(node: &schema::Node) -> Result<Node> {
    let attributes = node.attributes.as_ref().map(attributes::rebuilt).transpose()?;
    if attributes.is_some_and(|attributes| !attributes.are_of(node.code)) {
        let kind = node.code & NODE_KIND;
        return Err(Error::invalid(format!("its attributes are not those of kind 0x{kind:08x}")));
    }
    Ok(Node {
        code: node.code,
        dtype: dtype_of(node.dtype),
        flags: node.flags,
        copy: node.copy,
        marks: node.marks,
        operands: node.operands.clone(),
        numbers: node.numbers.clone(),
        attributes,
    })
}

/// The operation of this name.
fn called<'c>(customs: &'c [CustomOperation], name: &str) -> Result<&'c CustomOperation> {
    customs.iter().find(|custom| custom.name() == name).ok_or_else(|| {
        let name = shown(name);
        Error::invalid(format!("the graph calls the operation '{name}', which is not given"))
    })
}

// ---- what the bytes say ----

/// The graph, checked, and the bytes of the section of constants.
fn read(bytes: &[u8]) -> Result<(schema::Graph, Range<usize>)> {
    let sections = Sections::read(bytes)?;
    let version = sections.version;
    let section = bytes.get(sections.graph).unwrap_or_default();
    require_counts(section, 0, &mut 0)?;
    let graph = schema::Graph::decode(section)
        .map_err(|why| Error::invalid(format!("the graph cannot be read: {why}")))?;
    // Protocol Buffers skip fields that they do not know; a graph without them is another one.
    let (known, there) = (graph.encoded_len(), section.len());
    if known != there {
        let why = format!("the graph has {there} bytes, of which {known} are known");
        return Err(Error::new(ErrorKind::Unsupported, why));
    }
    if version_of(&graph) != version {
        let why =
            format!("the file has version {version}, but its subgraphs or names are of another");
        return Err(Error::invalid(why));
    }
    for (what, names) in ["an input", "an output"].into_iter().zip(names_in(&graph)) {
        require_different(what, names.iter().map(String::as_str))?;
    }
    let (mut taken, constants_bytes) = (0, sections.constants.len() as u64);
    check(&graph, &mut taken)?;
    if taken != constants_bytes {
        return Err(Error::invalid(format!(
            "the constants take {taken} bytes but their section has {constants_bytes}"
        )));
    }
    Ok((graph, sections.constants))
}

/// Counts the parts of the graph before memory is taken for them: an empty one takes two bytes
/// here, and a hundred times as many there. Graphs within graphs are counted too, and no deeper
/// than the core has them, so that nothing here calls itself more often.
fn require_counts(mut section: &[u8], depth: usize, total: &mut usize) -> Result<()> {
    /// By the numbers of their fields.
    const PARTS: [(&str, usize); 5] = [
        ("extents", TNR_MAX_EXTENTS),
        ("operations of its caller's own", (!NODE_KIND + 1) as usize),
        ("values", MOST_VALUES),
        ("outputs", MOST_VALUES),
        (SUBGRAPHS, MOST_VALUES),
    ];
    const SUBGRAPHS: &str = "subgraphs";
    /// In a graph and all within it.
    const MOST_PARTS: usize = 4 * MOST_VALUES;
    /// The wire type of a field with a length.
    const LENGTH_DELIMITED: usize = 2;
    let broken = |_| Error::invalid("the graph ends within a number, or has one that is too large");
    let mut counts = [0; PARTS.len()];
    while !section.is_empty() {
        let key = prost::decode_length_delimiter(&mut section).map_err(broken)?;
        let (field, wire_type) = (key >> 3, key & 7);
        let part = field.checked_sub(1).filter(|part| *part < PARTS.len());
        let Some(part) = part.filter(|_| wire_type == LENGTH_DELIMITED) else {
            let why = format!("the graph has field {field} of wire type {wire_type}");
            return Err(Error::new(ErrorKind::Unsupported, why + ", which is not known"));
        };
        let size_bytes = prost::decode_length_delimiter(&mut section).map_err(broken)?;
        let there = section.len();
        let (inner, rest) = section.split_at_checked(size_bytes).ok_or_else(|| {
            Error::invalid(format!("a part of the graph has {size_bytes} bytes of {there}"))
        })?;
        section = rest;
        counts[part] += 1;
        *total += 1;
        let (name, most) = PARTS[part];
        if counts[part] > most {
            return Err(Error::invalid(format!("the graph has more than {most} {name}")));
        }
        if *total > MOST_PARTS {
            let why = format!("the graph and those within have more than {MOST_PARTS} parts");
            return Err(Error::invalid(why));
        }
        if name == SUBGRAPHS {
            if depth >= TNR_MAX_SUBGRAPH_DEPTH {
                let why = format!("subgraphs are more than {TNR_MAX_SUBGRAPH_DEPTH} deep");
                return Err(Error::invalid(why));
            }
            require_counts(inner, depth + 1, total)?;
        }
    }
    Ok(())
}

/// Checks that numbers that name a part name one that exists, and that constants have the bytes
/// that they take.
fn check(graph: &schema::Graph, taken: &mut u64) -> Result<()> {
    require_different("an operation", graph.customs.iter().map(String::as_str))?;
    for (index, extent) in graph.extents.iter().enumerate() {
        let check = || match extent_of(extent)? {
            Extent::Made { a, b, .. } => {
                [a, b].into_iter().try_for_each(|number| require_number(number, index))
            }
            Extent::Named { .. } => Ok(()),
        };
        check().map_err(|error| error.prefixed(&format!("extents[{index}]: ")))?;
    }
    let mut result = None;
    for (index, value) in graph.values.iter().enumerate() {
        let checked = match &value.source {
            Some(StoredSource::Input(input)) => {
                require_numbers(&input.numbers, graph.extents.len())
            }
            Some(StoredSource::Constant(constant)) => check_constant(constant, taken),
            Some(StoredSource::Scalar(scalar)) => scalar_of(scalar).map(|_| ()),
            Some(StoredSource::Node(node)) => check_node(graph, index, node),
            Some(StoredSource::Result(number)) if result == Some(*number) => Ok(()),
            Some(StoredSource::Result(_)) => Err(Error::invalid("it is no next result of a node")),
            None => Err(Error::invalid("it has no source")),
        };
        checked.map_err(|error| error.prefixed(&format!("values[{index}]: ")))?;
        result = match value.source {
            Some(StoredSource::Node(_)) => Some(1),
            Some(StoredSource::Result(number)) => number.checked_add(1),
            _ => None,
        };
    }
    for (index, output) in graph.outputs.iter().enumerate() {
        for value in [Some(output.value), output.updates].into_iter().flatten() {
            require_value(value, graph.values.len())
                .map_err(|error| error.prefixed(&format!("outputs[{index}]: ")))?;
        }
    }
    for (index, subgraph) in graph.subgraphs.iter().enumerate() {
        if has_names(subgraph) {
            let why = format!("subgraphs[{index}]: it names inputs or outputs");
            return Err(Error::invalid(why));
        }
        check(subgraph, taken).map_err(|error| error.prefixed(&format!("subgraphs[{index}]: ")))?;
    }
    Ok(())
}

/// `taken` bytes of the section are those of earlier constants.
fn check_constant(constant: &schema::Constant, taken: &mut u64) -> Result<()> {
    let schema::Constant { dtype, shape, offset, size_bytes } = constant;
    let (dtype, rank) = (dtype_of(*dtype), shape.len());
    if rank > TNR_MAX_RANK {
        return Err(Error::invalid(format!("rank is {rank} but must be at most {TNR_MAX_RANK}")));
    }
    let element_bytes = dtype.size_bytes() as u64;
    if element_bytes == 0 {
        let why = format!("its dtype {dtype:?} has no whole number of bytes");
        return Err(Error::new(ErrorKind::Unsupported, why));
    }
    if cfg!(target_endian = "big") && dtype.alignment_bytes() > 1 {
        let why = format!("its {dtype} have another byte order and cannot be lent");
        return Err(Error::new(ErrorKind::Unsupported, why));
    }
    let needed = match shape.contains(&0) {
        true => Some(0),
        false => shape.iter().try_fold(element_bytes, |bytes, extent| bytes.checked_mul(*extent)),
    };
    if needed != Some(*size_bytes) {
        return Err(Error::invalid(format!(
            "shape {shape:?} of {dtype} does not take {size_bytes} bytes"
        )));
    }
    // Where a writer puts it: nothing is gained by others, such as constants that overlap.
    let expected = taken.checked_next_multiple_of(CONSTANT_ALIGNMENT);
    let end = offset.checked_add(*size_bytes).filter(|_| expected == Some(*offset));
    *taken = end.ok_or_else(|| {
        Error::invalid(format!("it has {size_bytes} bytes at {offset}, behind {taken} others"))
    })?;
    Ok(())
}

fn check_node(graph: &schema::Graph, index: usize, node: &schema::Node) -> Result<()> {
    let customs = graph.customs.len();
    if let Some(custom) = custom_of(node.code).filter(|custom| *custom >= customs) {
        let why = format!("it calls operation {custom} of its caller's own, of {customs}");
        return Err(Error::invalid(why));
    }
    for operand in node.operands.iter().filter(|operand| **operand != TNR_OPERAND_NONE) {
        require_value(*operand, index)?;
    }
    require_numbers(&node.numbers, graph.extents.len())?;
    node_of(node).map(|_| ())
}

fn require_value(value: u32, count: usize) -> Result<()> {
    match (value as usize) < count {
        true => Ok(()),
        false => Err(Error::invalid(format!("it names value {value}, of {count} before it"))),
    }
}

fn require_numbers(numbers: &[i64], extents: usize) -> Result<()> {
    if numbers.len() > TNR_MAX_RANK {
        let count = numbers.len();
        return Err(Error::invalid(format!("it has {count} numbers, at most {TNR_MAX_RANK}")));
    }
    numbers.iter().try_for_each(|number| require_number(*number, extents))
}

/// Checks that the number is a constant, or names one of the `extents` extents before it.
fn require_number(number: i64, extents: usize) -> Result<()> {
    match number.checked_sub(TNR_EXTENT) {
        Some(index) if index >= extents as i64 => {
            Err(Error::invalid(format!("it names extent {index}, of {extents} before it")))
        }
        _ => Ok(()),
    }
}
