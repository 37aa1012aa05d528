//! State of a graph in this crate: its handle, the names of its values in messages, and the first
//! refusal.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::Location;
#[cfg(feature = "programs")]
use std::sync::Arc;

use tenure_sys::tnr_value_source;

use super::Passes;
#[cfg(feature = "programs")]
use super::Shared;
use crate::dense::SharedTensor;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::program::calls::custom::CustomOperation;
use crate::program::calls::{Given, GraphHandle, NewNode};
use crate::raw::expression::Code;

/// A graph.
pub(super) struct State {
    pub(super) handle: GraphHandle,
    pub(super) passes: Passes,
    /// The constants that are packed, of an earlier program.
    pub(super) packed: Option<SharedTensor<u8>>,
    /// The most `peak_bytes` at the maxima; 0: any.
    pub(super) budget_bytes: Cell<u64>,
    pub(super) failure: RefCell<Option<Error>>,
    /// By their numbers.
    pub(super) values: RefCell<Vec<Value>>,
    nodes: RefCell<Vec<CallSite>>,
    /// CallSites in the graphs of branches and loops, by their numbers.
    bodies: RefCell<Vec<CallSites>>,
    /// By their numbers.
    pub(super) inputs: RefCell<Vec<InputName>>,
    /// With their numbers. Derivatives of others may have added more.
    customs: RefCell<Vec<(u32, CustomOperation)>>,
    /// The program of the graph, once there is one.
    #[cfg(feature = "programs")]
    pub(super) made: RefCell<Option<Arc<Shared>>>,
}

/// The name of an input while its graph is built.
#[derive(Clone, Debug, Default)]
pub(super) struct InputName {
    /// In messages; its number where it is empty.
    pub(super) text: String,
    /// Whether the caller has given it, for the program too.
    pub(super) is_given: bool,
}

/// A value for messages.
#[derive(Clone, Copy)]
pub(super) enum Value {
    Input(usize),
    Constant,
    Number,
    Node(CallSite),
}

/// An operation and where the source has it.
#[derive(Clone, Copy)]
pub(super) struct CallSite {
    pub(super) name: &'static str,
    pub(super) at: &'static Location<'static>,
}

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.name, self.at)
    }
}

/// Where the source has each node of a graph, by its number in messages of the library; and so
/// those of the graphs within it.
#[derive(Clone, Default)]
pub(super) struct CallSites {
    pub(super) nodes: Box<[CallSite]>,
    pub(super) bodies: Box<[CallSites]>,
    /// Names of nodes that come from a model and not from the source, by their numbers.
    pub(super) named_nodes: Box<[String]>,
    /// Names of the program's inputs and outputs, by their numbers.
    pub(super) inputs: Box<[String]>,
    pub(super) outputs: Box<[String]>,
}

/// A node to be added.
pub(super) struct Step<'a> {
    pub(super) name: &'static str,
    pub(super) node: NewNode<'a>,
    /// The operands' names in messages.
    pub(super) names: &'static [&'static str],
}

impl<'a> Step<'a> {
    /// An operation of the table.
    pub(super) fn of(code: Code, operands: &'a [u32]) -> Step<'a> {
        Step::new(crate::expr::name::of(code), code.kind() | code.op() as u32, operands)
    }

    /// An operation of this kind.
    pub(super) fn new(name: &'static str, code: u32, operands: &'a [u32]) -> Step<'a> {
        Step {
            name,
            node: NewNode {
                code,
                dtype: None,
                flags: 0,
                copy: 0,
                marks: 0,
                operands,
                numbers: &[],
                attributes: Given::NONE,
            },
            names: &["a", "b", "c"],
        }
    }

    pub(super) fn named(self, names: &'static [&'static str]) -> Self {
        Step { names, ..self }
    }
    pub(super) fn cast(mut self, dtype: DType) -> Self {
        self.node.dtype = Some(dtype);
        self
    }
    pub(super) fn numbers(mut self, numbers: &'a [i64]) -> Self {
        self.node.numbers = numbers;
        self
    }
    pub(super) fn flags(mut self, flags: u32) -> Self {
        self.node.flags = flags;
        self
    }
    pub(super) fn with(mut self, attributes: impl Into<Given<'a>>) -> Self {
        self.node.attributes = attributes.into();
        self
    }
}

impl State {
    pub(super) fn new(passes: Passes, packed: Option<SharedTensor<u8>>) -> Result<State> {
        Ok(State { packed, ..State::of(GraphHandle::new()?, passes) })
    }

    /// State for a graph that may have values.
    pub(super) fn of(handle: GraphHandle, passes: Passes) -> State {
        State {
            handle,
            passes,
            packed: None,
            budget_bytes: Cell::new(0),
            failure: RefCell::new(None),
            values: RefCell::new(Vec::new()),
            nodes: RefCell::new(Vec::new()),
            bodies: RefCell::new(Vec::new()),
            inputs: RefCell::new(Vec::new()),
            customs: RefCell::new(Vec::new()),
            #[cfg(feature = "programs")]
            made: RefCell::new(None),
        }
    }

    /// The graph and its custom operations.
    pub(super) fn into_parts(self) -> (GraphHandle, Vec<(u32, CustomOperation)>) {
        (self.handle, self.customs.into_inner())
    }

    /// The number of an operation, which is added when it is called first.
    pub(super) fn custom(&self, operation: &CustomOperation) -> Result<u32> {
        let mut customs = self.customs.borrow_mut();
        if let Some((number, _)) = customs.iter().find(|(_, known)| known.is(operation)) {
            return Ok(*number);
        }
        let number = self.handle.add_custom(operation)?;
        customs.push((number, operation.clone()));
        Ok(number)
    }

    /// Records a value by its number. Code of the user that lends a constant may add values to the
    /// graph before and after the constant, and may panic: a number without a record is a constant.
    pub(super) fn note_value(&self, number: u32, value: Value) {
        let (mut values, number) = (self.values.borrow_mut(), number as usize);
        if values.len() <= number {
            values.resize(number + 1, Value::Constant);
        }
        values[number] = value;
    }

    pub(super) fn note_node(&self, site: CallSite) {
        self.nodes.borrow_mut().push(site);
    }

    /// Records one call site for the nodes that a call added, which may be several.
    pub(super) fn note_added_nodes(&self, site: CallSite) {
        let Ok(info) = self.handle.info() else { return };
        self.nodes.borrow_mut().resize(info.node_count as usize, site);
        // Messages have the numbers of nodes in bodies that the call added.
        self.bodies.borrow_mut().resize_with(info.subgraph_count as usize, CallSites::default);
        let known = self.values.borrow().len() as u32;
        for value in known..info.value_count {
            let source = self.handle.describe_value(value).map(|info| info.source);
            if source.is_ok_and(|source| source == tnr_value_source::NODE) {
                self.note_value(value, Value::Node(site));
            }
        }
    }

    /// A library's message about a node, behind the call site that met it.
    #[cold]
    pub(super) fn refused_at(&self, site: CallSite, error: Error) -> Error {
        located(&self.call_sites(), error).prefixed(&format!("{site}: "))
    }

    /// The names of all nodes.
    pub(super) fn node_names(&self) -> Vec<&'static str> {
        self.nodes.borrow().iter().map(|site| site.name).collect()
    }

    /// The number of a copy of what `body` is now.
    pub(super) fn add_body(&self, body: &State) -> Result<u32> {
        let number = self.handle.add_subgraph(&body.handle)?;
        self.bodies.borrow_mut().push(body.call_sites());
        Ok(number)
    }

    pub(super) fn call_sites(&self) -> CallSites {
        let (nodes, bodies) = (self.nodes.borrow().clone(), self.bodies.borrow().clone());
        CallSites { nodes: nodes.into(), bodies: bodies.into(), ..CallSites::default() }
    }

    /// The name of an input in messages.
    fn input_name(&self, number: usize) -> String {
        let inputs = self.inputs.borrow();
        let named = inputs.get(number).filter(|input| !input.text.is_empty());
        named.map_or_else(|| number.to_string(), |input| input.text.clone())
    }

    /// The first refusal, if there was one.
    pub(super) fn require_sound(&self) -> Result<()> {
        self.failure.borrow().clone().map_or(Ok(()), Err)
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failure.borrow().is_some()
    }

    /// "a is add at src/main.rs:6:14 of shape [2, 3]".
    pub(super) fn described(&self, name: &str, value: u32) -> Option<String> {
        let what = match *self.values.borrow().get(value as usize)? {
            Value::Input(number) => format!("input {}", self.input_name(number)),
            Value::Constant => "a constant".into(),
            Value::Number => return Some(format!("{name} is a number")),
            Value::Node(site) => site.to_string(),
        };
        let shape = self.handle.shape_of(value).ok()?;
        Some(format!("{name} is {what} of shape {:?}", shape.as_slice()))
    }

    #[cold]
    pub(super) fn refused(&self, site: CallSite, step: &Step<'_>, error: &Error) -> Error {
        let operands = step.node.operands.iter().enumerate();
        let operands: Vec<_> = operands
            .filter_map(|(nth, value)| {
                // The last name also applies to all further operands.
                let name = step.names.get(nth).or(step.names.last())?;
                self.described(name, *value)
            })
            .collect();
        let why = without_node(error.message()).map_or(error.message(), |(_, why)| why);
        let why = located_within(&self.bodies.borrow(), why);
        let operands = match operands.is_empty() {
            true => String::new(),
            false => operands.join(" and ") + ": ",
        };
        Error::new(error.kind(), format!("{site}: {operands}{why}"))
    }
}

/// Splits a message of the library, such as "nodes[2], add: why", into the number of the node and
/// the reason.
fn without_node(message: &str) -> Option<(usize, &str)> {
    let (number, rest) = message.strip_prefix("nodes[")?.split_once("], ")?;
    Some((number.parse().ok()?, rest.split_once(": ")?.1))
}

/// A library's message of a run, with the node's place in the source, and behind it that of a node
/// in its body: "cond at src/main.rs:5:9: div at src/main.rs:7:30: why".
#[cold]
pub(super) fn located(call_sites: &CallSites, error: Error) -> Error {
    let message = error.message();
    match located_text(call_sites, message).or_else(|| named_text(call_sites, message)) {
        Some(text) => Error::new(error.kind(), text),
        None => error,
    }
}

/// A message about "inputs[1]" or "outputs[1]", with the name that it has instead of the number.
fn named_text(call_sites: &CallSites, message: &str) -> Option<String> {
    let named = |array, what, names: &[String]| {
        let (number, rest) = message.strip_prefix(array)?.strip_prefix('[')?.split_once(']')?;
        let name = names.get(number.parse::<usize>().ok()?).filter(|name| *name != number)?;
        Some(match rest.strip_prefix('.') {
            Some(field) => format!("{what} {name}: {field}"),
            None => format!("{what} {name}{rest}"),
        })
    };
    named("inputs", "input", &call_sites.inputs)
        .or_else(|| named("outputs", "output", &call_sites.outputs))
}

fn located_text(call_sites: &CallSites, message: &str) -> Option<String> {
    let (node, why) = without_node(message)?;
    let site = match call_sites.nodes.get(node) {
        Some(site) => site.to_string(),
        None => call_sites.named_nodes.get(node)?.clone(),
    };
    let derived = || located_text(call_sites, why.strip_prefix(DERIVED)?);
    Some(match derived() {
        Some(of) => format!("{site}: {DERIVED}{of}"),
        None => match located_within(&call_sites.bodies, why) {
            Cow::Owned(of_body) => format!("{site}: {of_body}"),
            Cow::Borrowed(why) => {
                let named = operand_text(call_sites, why);
                format!("{site}: {}", named.as_deref().unwrap_or(why))
            }
        },
    })
}

/// Precedes the node whose derivative another one is a part of.
const DERIVED: &str = "in the derivative of ";

/// The message with the name of an operand that is an input, "operands[1] is inputs[0] and ...".
fn operand_text(call_sites: &CallSites, why: &str) -> Option<String> {
    let (before, rest) = why.split_once(" is inputs[")?;
    let (number, after) = rest.split_once(']')?;
    let name = call_sites.inputs.get(number.parse::<usize>().ok()?)?;
    Some(format!("{before} is input {name}{after}"))
}

/// The message of a node with bodies about one of them, "subgraphs[1], nodes[2], add: why", also
/// behind "iteration 3, ", or another.
fn located_within<'w>(bodies: &[CallSites], why: &'w str) -> Cow<'w, str> {
    let of_body = || {
        let at = why.find("subgraphs[").filter(|at| *at == 0 || why.starts_with("iteration "))?;
        let (number, message) = why[at..].strip_prefix("subgraphs[")?.split_once("], ")?;
        let located = located_text(bodies.get(number.parse::<usize>().ok()?)?, message)?;
        Some(format!("{}{located}", &why[..at]))
    };
    of_body().map_or(Cow::Borrowed(why), Cow::Owned)
}
