//! A model becomes a graph: its nodes in their order, each by the function of its operator.

use std::collections::HashMap;
use std::rc::Rc;

use super::build::Build;
use super::call::Call;
use super::fusion::Fusion;
use super::number::Number;
use super::operators::Operator;
use super::settings::{Maximum, Settings};
use super::tensor::{Constant, ElementType, count_of};
use super::value::{MOST_KNOWN, Value};
use super::{Dimension, Model, Port, schema};
use crate::dense::DynTensor;
use crate::error::{Error, ErrorKind, Result};
use crate::io::payload::shown;
use crate::program::state::CallSites;
use crate::program::{Passes, Program, Shared};

use super::Untyped;

/// The values of a model by their names.
type Values<'m> = HashMap<&'m str, Value>;

pub(super) fn program(model: &Model, settings: &Settings) -> Result<Program<Untyped, Untyped>> {
    settings.require_known(model)?;
    let build = Build::new(Some(model.bytes.clone()))?;
    let mut values = Values::new();
    for tensor in &model.graph.initializer {
        let of_tensor =
            |error: Error| error.prefixed(&format!("initializer {}: ", shown(&tensor.name)));
        let constant = Constant::read(tensor, &model.external).map_err(of_tensor)?;
        values.insert(&tensor.name, Value::Constant(constant.into()));
    }
    let inputs = add_inputs(model, settings, &build, &mut values)?;
    let mut folding = Folding::of(model, settings);
    let mut fusion = Fusion::default();
    for (index, node) in model.graph.node.iter().enumerate() {
        let label = model.label(index);
        build.label.replace(label.as_str().into());
        add_node(model, node, (&build, &mut folding, &mut fusion), &mut values)
            .map_err(|error| error.prefixed(&format!("{label}: ")))?;
    }
    for output in &model.graph.output {
        let of_output = |error: Error| error.prefixed(&format!("output {}: ", shown(&output.name)));
        let value = values.get(output.name.as_str());
        let value = value.ok_or_else(|| of_output(Error::invalid("no node gives it")))?;
        build.value(value).and_then(|value| build.output(value)).map_err(of_output)?;
    }
    let outputs = model.graph.output.iter().map(|output| output.name.clone()).collect();
    made(build, settings.passes, [inputs, outputs])
}

fn made(
    build: Build,
    passes: Passes,
    [inputs, outputs]: [Vec<String>; 2],
) -> Result<Program<Untyped, Untyped>> {
    let (graph, named_nodes) = build.into_parts();
    let is_updated = vec![false; inputs.len()].into();
    let counts = [inputs.len(), outputs.len(), 0];
    let call_sites = CallSites {
        named_nodes: named_nodes.into(),
        inputs: inputs.into(),
        outputs: outputs.into(),
        ..CallSites::default()
    };
    let handle = graph.program(passes.to_bits(), None, counts);
    let handle = handle.map_err(|error| crate::program::state::located(&call_sites, error))?;
    Ok(Program::of_graph(Shared::new(handle, call_sites, is_updated, Box::default()), graph))
}

/// The names of the inputs that a run is given.
fn add_inputs<'m>(
    model: &'m Model,
    settings: &Settings,
    build: &Build,
    values: &mut Values<'m>,
) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut extents = HashMap::new();
    for Port { name, element, dimensions, .. } in &model.inputs {
        let of_input = |error: Error| error.prefixed(&format!("input {}: ", shown(name)));
        if let Some(constant) = settings.constant_of(name) {
            let constant = constant.checked(*element).map_err(of_input)?;
            values.insert(name, Value::Constant(constant.into()));
            continue;
        }
        let sizes = dimensions.iter().map(|it| size_of(it, settings, build, &mut extents));
        let sizes: Result<Vec<_>> = sizes.collect();
        let value = sizes.and_then(|sizes| build.input(element.dtype, &sizes)).map_err(of_input)?;
        values.insert(name, Value::Graph(value, *element));
        names.push(name.clone());
    }
    Ok(names)
}

fn size_of<'m>(
    dimension: &'m Dimension,
    settings: &Settings,
    build: &Build,
    extents: &mut HashMap<&'m str, Number>,
) -> Result<Number> {
    let name = match dimension {
        Dimension::Known(extent) => return Ok(Number::from(*extent)),
        Dimension::Named(name) => name,
    };
    if let Some(known) = extents.get(name.as_str()) {
        return Ok(*known);
    }
    let size = match settings.maximum_of(name) {
        Some(Maximum::Fixed(extent)) => Number::from(extent),
        Some(Maximum::UpTo(extent)) => build.extent(name, extent)?,
        // `require_known` has found one.
        None => return Err(Error::invalid(format!("the extent {} has no bound", shown(name)))),
    };
    extents.insert(name, size);
    Ok(size)
}

fn add_node<'m>(
    model: &'m Model,
    node: &'m schema::Node,
    (build, folding, fusion): (&Build, &mut Folding, &mut Fusion),
    values: &mut Values<'m>,
) -> Result<()> {
    let operator = model
        .operator(node)
        .ok_or_else(|| Error::new(ErrorKind::Unsupported, "the operator is not supported"))?;
    let read = |name: &String| match name.as_str() {
        "" => Ok(None),
        name => values.get(name).cloned().map(Some).ok_or_else(|| {
            let name = shown(name);
            Error::invalid(format!("it reads {name}, which no input or earlier node gives"))
        }),
    };
    let inputs: Vec<Option<Value>> = node.input.iter().map(read).collect::<Result<_>>()?;
    let version = model.version;
    let call = Call { node, version, inputs, build };
    let results = match fusion.fused(&call, operator)? {
        Some(results) => results,
        None => match folding.folded(&call, operator)? {
            Some(results) => results,
            None => (operator.add)(&call)?,
        },
    };
    for (at, name) in node.output.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        let result = results.get(at).ok_or_else(|| {
            let name = shown(name);
            Error::new(ErrorKind::Unsupported, format!("output {at}, {name}, is not supported"))
        })?;
        values.insert(name, result.clone());
    }
    Ok(())
}

/// Computes nodes with known operands while the model is read.
struct Folding {
    /// Whether constants become wider: else they do in each run.
    widens: bool,
    /// Bytes that may still be taken for that.
    bytes: usize,
}

impl Folding {
    fn of(model: &Model, settings: &Settings) -> Folding {
        let sizes = model.graph.initializer.iter().map(|tensor| tensor.raw_data.as_ref());
        let held = sizes.flatten().map(|raw| raw.len()).sum::<usize>();
        Folding { widens: settings.widens, bytes: held.saturating_mul(8).saturating_add(1 << 20) }
    }

    /// Whether results are computed now. Shapes are made of few numbers. Numbers with more bytes than
    /// their operands are left to each run by the passes of a graph.
    fn takes(&mut self, inputs: &[Option<Value>], results: &[(Vec<usize>, ElementType)]) -> bool {
        let count = |shape: &Vec<usize>| count_of(shape).unwrap_or(usize::MAX);
        let bytes = |shape: &Vec<usize>, of: &ElementType| {
            count(shape).saturating_mul(of.dtype.size_bytes())
        };
        let constants = inputs.iter().flatten().filter_map(|input| match input {
            Value::Constant(constant) => Some(constant),
            _ => None,
        });
        let is_small = constants.clone().all(|constant| count(&constant.shape) <= MOST_KNOWN)
            && results.iter().all(|(shape, _)| count(shape) <= MOST_KNOWN);
        let given: usize = constants.map(|constant| constant.data.len()).sum();
        let made = results.iter().map(|(shape, of)| bytes(shape, of));
        let made = made.fold(0_usize, usize::saturating_add);
        let is_wider = made > given && made <= given.saturating_mul(8) && made <= self.bytes;
        if !is_small && self.widens && is_wider {
            self.bytes -= made;
        }
        is_small || self.widens && is_wider
    }

    /// The results of a node, by a program of its own.
    fn folded(&mut self, call: &Call<'_>, operator: &Operator) -> Result<Option<Vec<Value>>> {
        let known = |value: &Option<Value>| match value {
            Some(value) => Some(Some(Value::Constant(Rc::new(value.known()?)))),
            None => Some(None),
        };
        let inputs: Option<Vec<_>> = call.inputs.iter().map(known).collect();
        let Some(inputs) = inputs.filter(|inputs| !inputs.is_empty()) else { return Ok(None) };
        let build = Build::new(None)?;
        let call = Call { node: call.node, version: call.version, inputs, build: &build };
        let results = (operator.add)(&call)?;
        let mut types = Vec::new();
        for result in &results {
            if let Value::Graph(value, of) = result {
                types.push((build.largest(*value)?, *of));
            }
        }
        if types.is_empty() {
            return Ok(Some(results));
        }
        if !self.takes(&call.inputs, &types) {
            return Ok(None);
        }
        for result in &results {
            if let Value::Graph(value, _) = result {
                build.output(*value)?;
            }
        }
        let names = types.iter().map(|_| String::new()).collect();
        let computed = made(build, Passes::DEFAULT, [Vec::new(), names])?.run_dyn(&[], &mut [])?;
        let mut computed = computed.iter().zip(types);
        let results = results.into_iter().map(|result| match result {
            Value::Graph(..) => {
                let (tensor, (_, of)) =
                    computed.next().ok_or_else(|| Error::invalid("no result"))?;
                Ok(Value::Constant(constant_of(tensor, of)?.into()))
            }
            known => Ok(known),
        });
        results.collect::<Result<_>>().map(Some)
    }
}

fn constant_of(tensor: &DynTensor, of: ElementType) -> Result<Constant> {
    let view = tensor.view();
    let bytes = view.as_bytes().ok_or_else(|| Error::invalid("a result is not row-major"))?;
    let data = prost::bytes::Bytes::copy_from_slice(bytes);
    Constant::new(of, view.shape().to_vec(), data)
}
