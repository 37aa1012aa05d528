//! ONNX models as programs. (Feature `onnx`.)
//!
//! [`Model::open`] reads a file, [`Model::program`] builds a [`Program`] of it, which is run, saved
//! and measured as others are:
//!
//! ```no_run
//! use tenure::onnx::{Model, Settings};
//! use tenure::Tensor;
//!
//! # fn main() -> tenure::Result<()> {
//! let model = Model::open("classifier.onnx")?;
//! for input in model.inputs() {
//!     println!("{input}"); // x: f32 [batch, 64]
//! }
//! let program = model.program(&Settings::new().extent_up_to("batch", 32))?;
//! let x = Tensor::<f32>::zeros([8, 64])?;
//! let outputs = program.run_dyn(&[(&x).into()], &mut [])?;
//! println!("{:?}", outputs[0].shape());
//! # Ok(())
//! # }
//! ```
//!
//! # Support
//!
//! Versions 7 to 28 of the operators of ONNX, of the dtypes that this crate has; others are refused
//! by their names. [`Model::unsupported`] lists all operators of a model that are not supported.
//! `docs/onnx.md` has the table.
//!
//! # Extents
//!
//! An extent that a model leaves open has a name, or else the name `input[axis]`. [`Settings`] fixes
//! it, or gives a maximum up to which each run may have another one. Shapes that a model computes
//! (`Shape`, `Gather`, `Concat`, `Reshape`) are computed while it is imported, with the extents of a
//! run as unknowns. Other numbers that shape a result, such as the axes of a reduction, are constants
//! of the model, or inputs that [`Settings::constant`] gives.
//!
//! # Copies
//!
//! Elements of constants stay in the model's bytes, or in those of a file next to it, where they are
//! aligned there for their type; the program holds these bytes. ONNX does not align constants inside
//! a model, and most of them are copied, once. Most writers align files next to a model. Elements that the file lists as numbers, and not as raw data, are copied
//! always. [`Model::from_bytes`] takes a map of a file.
//!
//! # Trust
//!
//! No byte of a model is trusted. Parts, shapes, lengths and names are checked before memory is
//! taken for them, and files next to a model are read from its folder only: no absolute path, no
//! `..`, no link.

mod build;
mod call;
mod external;
mod fusion;
mod import;
mod number;
mod operators;
mod scan;
mod schema;
mod settings;
mod tensor;
mod value;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use prost::Message;
use prost::bytes::Bytes;

use self::external::External;
use self::operators::Operator;
use self::tensor::ElementType;
use super::Program;
use crate::dense::SharedTensor;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::io::payload::shown;
pub use settings::Settings;

/// The versions of ONNX's operators that are read.
const VERSIONS: std::ops::RangeInclusive<i64> = 7..=28;

/// An ONNX model: see the [module](self).
#[derive(Debug)]
pub struct Model {
    bytes: SharedTensor<u8>,
    external: External,
    graph: schema::Graph,
    version: i64,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

/// The types of a program whose inputs and outputs are known at run time: it is run by
/// [`run_dyn`](Program::run_dyn).
#[derive(Clone, Copy, Debug)]
pub struct Untyped;

/// An input or output of a model. It is displayed as `x: f32 [batch, 64]`.
#[derive(Clone, Debug)]
pub struct Port {
    name: String,
    element: ElementType,
    dimensions: Vec<Dimension>,
}

/// The extent of an axis of an input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A number.
    Known(usize),
    /// One that the model leaves open: its name, or `input[axis]`.
    Named(String),
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dimension::Known(extent) => extent.fmt(f),
            Dimension::Named(name) => f.write_str(&shown(name)),
        }
    }
}

impl Port {
    /// The name in the model.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of the elements; integers of 2 and 4 bits have one byte each.
    pub fn dtype(&self) -> DType {
        self.element.dtype
    }

    /// The extents that the model states: for an output it may state none.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    fn of(info: &schema::ValueInfo) -> Result<Port> {
        let tensor = info.of.as_ref().and_then(|of| of.tensor.as_ref());
        let tensor = tensor.ok_or_else(|| Error::new(ErrorKind::Unsupported, "it is no tensor"))?;
        let element = ElementType::of(tensor.element)?;
        let dims = tensor.shape.iter().flat_map(|shape| &shape.dim).enumerate();
        let dimensions = dims.map(|(axis, dim)| match (dim.value, &dim.name) {
            (Some(extent), _) => usize::try_from(extent)
                .map(Dimension::Known)
                .map_err(|_| Error::invalid(format!("dimension {axis} is {extent}"))),
            (None, Some(name)) if !name.is_empty() => Ok(Dimension::Named(name.clone())),
            _ => Ok(Dimension::Named(format!("{}[{axis}]", info.name))),
        });
        let dimensions: Vec<_> = dimensions.collect::<Result<_>>()?;
        Ok(Port { name: info.name.clone(), element, dimensions })
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<_> = self.dimensions.iter().map(Dimension::to_string).collect();
        write!(f, "{}: {} [{}]", shown(&self.name), self.element.dtype, sizes.join(", "))
    }
}

/// An operator that is not supported, and the node that asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unsupported {
    /// The operator's name.
    pub operator: String,
    /// Its domain: `ai.onnx` for those of ONNX.
    pub domain: String,
    /// The version of the domain's operators that the model imports; 0 where it imports none.
    pub version: i64,
    /// The node's name, or its number.
    pub node: String,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operator, domain) = (shown(&self.operator), shown(&self.domain));
        write!(f, "{operator} ({domain} {}) of node {}", self.version, shown(&self.node))
    }
}

impl Model {
    /// Reads the file of a model. Files next to it that have elements of its tensors are read when a
    /// program is made.
    ///
    /// # Errors
    ///
    /// `Io`: those of the system. The errors of [`from_bytes`](Self::from_bytes).
    pub fn open(path: impl AsRef<Path>) -> Result<Model> {
        let path = path.as_ref();
        let bytes = crate::io::read(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Model::read(bytes, External::of(folder)).map_err(|error| error.in_file(path))
    }

    /// Takes the bytes of a model: a `Vec<u8>`, a `Tensor<u8>`, memory that is mapped. Such a model
    /// has no files next to it.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: bytes that are no model, an input or a tensor that has two meanings, nodes
    /// that read what no earlier one gives. `Unsupported`: a version of the operators that is older
    /// or newer than [those that are read](self#support), inputs that are no tensors.
    ///
    /// ```
    /// use tenure::onnx::Model;
    ///
    /// let error = Model::from_bytes(vec![7; 8]).err().unwrap();
    /// assert_eq!(error.message(), "the model has a field of wire type 7");
    /// ```
    pub fn from_bytes<O>(owner: O) -> Result<Model>
    where
        O: AsRef<[u8]> + Send + Sync + 'static,
    {
        Model::read(owner, External::default())
    }

    fn read<O>(owner: O, external: External) -> Result<Model>
    where
        O: AsRef<[u8]> + Send + Sync + 'static,
    {
        // It has the same address wherever it is moved to, and both count the owner's holders.
        let bytes = Bytes::from_owner(owner);
        scan::require_few_parts(&bytes)?;
        let model = schema::Model::decode(bytes.clone())
            .map_err(|why| Error::invalid(format!("the model cannot be read: {why}")))?;
        let version = version_of(&model)?;
        let len = bytes.len();
        let bytes = SharedTensor::from_bytes(bytes, 0, len).map_err(Error::from)?;
        let graph = model.graph.ok_or_else(|| Error::invalid("the model has no graph"))?;
        if !graph.sparse_initializer.is_empty() {
            let why = "the model has sparse initializers";
            return Err(Error::new(ErrorKind::Unsupported, why));
        }
        let mut model =
            Model { bytes, external, graph, version, inputs: Vec::new(), outputs: Vec::new() };
        model.require_names()?;
        model.inputs = model.ports("input")?;
        model.outputs = model.ports("output")?;
        Ok(model)
    }

    fn ports(&self, what: &str) -> Result<Vec<Port>> {
        let is_input = what == "input";
        let infos = if is_input { &self.graph.input } else { &self.graph.output };
        // Up to version 3 of the IR, initializers are inputs too.
        let names: Vec<&str> = self.graph.initializer.iter().map(|it| it.name.as_str()).collect();
        let names: std::collections::HashSet<&str> = names.into_iter().collect();
        let given = infos.iter().filter(|info| !is_input || !names.contains(info.name.as_str()));
        let of = |info: &schema::ValueInfo| {
            Port::of(info)
                .map_err(|error| error.prefixed(&format!("{what} {}: ", shown(&info.name))))
        };
        given.map(of).collect()
    }

    /// Each name has one meaning, which comes before its uses.
    fn require_names(&self) -> Result<()> {
        let twice = |name: &str| {
            Err(Error::invalid(format!("two parts of the model give the value {}", shown(name))))
        };
        let mut given: HashMap<&str, usize> = HashMap::new();
        for tensor in &self.graph.initializer {
            if given.insert(&tensor.name, 0).is_some() {
                return twice(&tensor.name);
            }
        }
        let mut inputs = std::collections::HashSet::new();
        for input in &self.graph.input {
            if !inputs.insert(&input.name) {
                return twice(&input.name);
            }
            given.insert(&input.name, 0);
        }
        for (index, node) in self.graph.node.iter().enumerate() {
            for name in node.output.iter().filter(|name| !name.is_empty()) {
                if given.insert(name, index + 1).is_some() {
                    return twice(name);
                }
            }
        }
        for (index, node) in self.graph.node.iter().enumerate() {
            for name in node.input.iter().filter(|name| !name.is_empty()) {
                let why = match given.get(name.as_str()) {
                    Some(by) if *by <= index => continue,
                    Some(by) => format!(
                        "which a later node gives, {}: nodes are to be in order and without cycles",
                        self.label(by - 1)
                    ),
                    None => "which nothing gives".to_owned(),
                };
                let label = self.label(index);
                return Err(Error::invalid(format!("{label} reads {}, {why}", shown(name))));
            }
        }
        Ok(())
    }

    /// "node 'x' (Gather)".
    fn label(&self, index: usize) -> String {
        let Some(node) = self.graph.node.get(index) else { return String::new() };
        let operator = shown(&node.op_type);
        match node.name.as_str() {
            "" => format!("node {index} ({operator})"),
            name => format!("node '{}' ({operator})", shown(name)),
        }
    }

    /// The inputs that a run is given. Initializers are none of them.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// The outputs.
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// The version of ONNX's operators that the model imports.
    pub fn version(&self) -> i64 {
        self.version
    }

    /// The number of nodes.
    pub fn node_count(&self) -> usize {
        self.graph.node.len()
    }

    /// All operators of the model that are not supported, with each node that has one. An operator
    /// that is supported may still be refused for its attributes, which [`program`](Self::program)
    /// says.
    pub fn unsupported(&self) -> Vec<Unsupported> {
        let nodes = self.graph.node.iter().enumerate();
        let missing = nodes.filter(|(_, node)| self.operator(node).is_none());
        let described = missing.map(|(index, node)| {
            let is_of_onnx = operators::is_of_onnx(&node.domain);
            Unsupported {
                operator: node.op_type.clone(),
                domain: if is_of_onnx { "ai.onnx".into() } else { node.domain.clone() },
                version: if is_of_onnx { self.version } else { 0 },
                node: if node.name.is_empty() { index.to_string() } else { node.name.clone() },
            }
        });
        described.collect()
    }

    fn operator(&self, node: &schema::Node) -> Option<&'static Operator> {
        Operator::of(&node.domain, &node.op_type, self.version)
    }

    /// The program of the model: its inputs are [those of the model](Self::inputs) that the settings
    /// do not make constants, in their order.
    ///
    /// # Errors
    ///
    /// `Unsupported`: operators that are not supported, all in one message; attributes and element
    /// types that are not, with the node. `InvalidArgument`: an extent without a bound, shapes that do
    /// not agree, a tensor whose bytes are not those of its shape. `Io`: a file next to the model.
    pub fn program(&self, settings: &Settings) -> Result<Program<Untyped, Untyped>> {
        let unsupported = self.unsupported();
        if !unsupported.is_empty() {
            let names: Vec<_> = unsupported.iter().map(Unsupported::to_string).collect();
            let why = format!("the model has unsupported operators: {}", names.join(", "));
            return Err(Error::new(ErrorKind::Unsupported, why));
        }
        import::program(self, settings)
    }
}

/// The version of ONNX's operators, which is one that is read.
fn version_of(model: &schema::Model) -> Result<i64> {
    let import = model.opset_import.iter().find(|set| operators::is_of_onnx(&set.domain));
    let Some(import) = import else {
        return Err(Error::invalid(
            "the model does not say which version of ONNX's operators it has",
        ));
    };
    let (least, most) = (VERSIONS.start(), VERSIONS.end());
    let why = match import.version {
        version if version < *least => "older",
        version if version > *most => "newer",
        version => return Ok(version),
    };
    let why = format!(
        "the model has version {} of ONNX's operators, which is {why} than those that are read, \
         {least} to {most}",
        import.version
    );
    Err(Error::new(ErrorKind::Unsupported, why))
}
