//! A traced function, as programs of its values and of each of its nodes by itself: for checks of
//! its gradients.

use std::collections::HashMap;

use tenure_sys::{TNR_EXTENT, TNR_NODE_COND, TNR_NODE_CUSTOM, TNR_NODE_WHILE, TNR_OPERAND_NONE};

use super::Graph;
use crate::dense::{DynTensor, DynView, Tensor};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::expr::Host;
use crate::program::calls::Options;
use crate::program::calls::custom::CustomOperation;
use crate::program::calls::graph_record::{GraphHandle, Listed, NODE_KIND, Node, ValueSource};
use crate::program::state::{CallSites, State, located};
use crate::program::tree::{LendAs, Like, walked};
use crate::program::{Passes, Program, Shared, Traced};

/// A function that was traced with inputs like a tree of tensors.
pub(crate) struct Probe {
    graph: GraphHandle,
    sites: CallSites,
    customs: Vec<(u32, CustomOperation)>,
    inputs: Vec<u32>,
    /// The value that the function gives.
    of: u32,
    /// Gradients of the floats among the inputs, where a seed was given.
    gradients: Vec<u32>,
}

/// A program whose element types are known when it runs.
pub(crate) struct Computation(Program<(), ()>);

/// A node by itself, as a function of its operands.
pub(crate) struct Alone<'a> {
    /// Such as "mul at src/main.rs:5:9".
    pub(crate) name: String,
    /// Its operands, in their order, without numbers.
    pub(crate) operands: Vec<&'a DynTensor>,
    /// The number of each of these among all operands of the node.
    pub(crate) places: Vec<usize>,
    pub(crate) forward: Computation,
    /// Takes the operands and a seed, and gives the gradients of the floats among them.
    pub(crate) backward: Computation,
}

pub(crate) fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F64 | DType::F32 | DType::F16 | DType::BF16)
}

impl Probe {
    /// Traces the function, and its gradients where there is a seed of the shape of its result.
    pub(crate) fn trace<L, T>(
        like: &L,
        f: &impl for<'g> Fn(Graph<'g>, <L as Like<'g>>::Values) -> Traced<'g, T>,
        seed: Option<&Tensor<T>>,
    ) -> Result<Probe>
    where
        L: for<'g> Like<'g>,
        T: Element,
    {
        let state = State::new(Passes::DEFAULT, None)?;
        let (inputs, of, seed, names) = {
            let graph = Graph::of(&state);
            let values = graph.inputs(like);
            let leaves = walked(&values).leaves;
            let inputs: Vec<u32> = leaves.iter().map(|leaf| leaf.value).collect();
            let of = f(graph, values).value();
            let seed = seed.map(|seed| graph.copy_constant(seed).value());
            state.require_sound()?;
            graph.check_inputs(&leaves)?;
            (inputs, of, seed, graph.names_of(leaves)?)
        };
        let is_float = |value: &&u32| state.handle.dtype_of(**value).is_ok_and(is_float);
        let by: Vec<u32> = inputs.iter().filter(is_float).copied().collect();
        let gradients = match seed {
            Some(seed) => {
                let added = state.handle.add_gradients(of, Some(seed), &by);
                added.map_err(|error| located(&state.call_sites(), error))?
            }
            None => Vec::new(),
        };
        let sites = CallSites { inputs: names, ..state.call_sites() };
        let (handle, customs) = state.into_parts();
        Ok(Probe { graph: handle.into(), sites, customs, inputs, of, gradients })
    }

    /// The names of the inputs.
    pub(crate) fn names(&self) -> &[String] {
        &self.sites.inputs
    }

    /// The program that copies the inputs.
    pub(crate) fn compute_inputs(&mut self) -> Result<Computation> {
        self.compute(&self.inputs.clone())
    }

    /// The program of the result.
    pub(crate) fn compute_result(&mut self) -> Result<Computation> {
        self.compute(&[self.of])
    }

    /// The program of the gradients.
    pub(crate) fn compute_gradients(&mut self) -> Result<Computation> {
        self.compute(&self.gradients.clone())
    }

    /// The program of these values, which are its outputs behind those of earlier calls.
    pub(crate) fn compute(&mut self, values: &[u32]) -> Result<Computation> {
        computation(&mut self.graph, self.inputs.len(), values, self.sites.clone())
    }

    /// The nodes between the floats among the inputs and the result, and the values that they read.
    pub(crate) fn path(&self) -> Result<(Vec<u32>, Vec<u32>)> {
        let info = self.graph.info()?;
        let mut leads = vec![false; info.value_count as usize];
        let mut nodes: Vec<(Node, Vec<u32>)> = Vec::new();
        for value in 0..info.value_count {
            match self.graph.source(value)? {
                ValueSource::Node(index) => nodes.push((self.graph.node(index)?, Vec::new())),
                ValueSource::Result(_) => {}
                ValueSource::Input { dtype, .. } => {
                    leads[value as usize] = is_float(dtype);
                    continue;
                }
                ValueSource::Constant(_) | ValueSource::Scalar(_) => continue,
            }
            let Some((node, results)) = nodes.last_mut() else { continue };
            results.push(value);
            leads[value as usize] =
                given(node).any(|it| leads[it as usize]) && is_float(self.graph.type_of(value)?.0);
        }
        let mut is_needed = vec![false; leads.len()];
        is_needed[self.of as usize] = true;
        let (mut path, mut read) = (Vec::new(), Vec::new());
        for (index, (node, results)) in nodes.iter().enumerate().rev() {
            if !results.iter().any(|it| is_needed[*it as usize] && leads[*it as usize]) {
                continue;
            }
            path.push(index as u32);
            for value in given(node) {
                is_needed[value as usize] = true;
                let is_number = matches!(self.graph.source(value)?, ValueSource::Scalar(_));
                if !is_number && !read.contains(&value) {
                    read.push(value);
                }
            }
        }
        path.reverse();
        Ok((path, read))
    }

    /// A node by itself for each of its results that is a float, at these values of the graph; none
    /// where a run decides its shape, and for operations that only C knows.
    pub(crate) fn alone<'a>(
        &self,
        index: u32,
        values: &HashMap<u32, &'a DynTensor>,
    ) -> Result<Vec<Alone<'a>>> {
        let node = self.graph.node(index)?;
        let mut made = Vec::new();
        loop {
            let mut graph = GraphHandle::create()?;
            let Some((first, operands)) = self.copy_node(&node, values, &mut graph)? else {
                return Ok(made);
            };
            let value_count = graph.info()?.value_count;
            let is_float = |it: &u32| graph.type_of(*it).is_ok_and(|(dtype, _)| is_float(dtype));
            let Some(of) = (first..value_count).filter(is_float).nth(made.len()) else {
                return Ok(made);
            };
            made.push(self.alone_of(index, graph, of, operands)?);
        }
    }

    fn alone_of<'a>(
        &self,
        index: u32,
        mut graph: GraphHandle,
        of: u32,
        operands: Vec<Operand<'a>>,
    ) -> Result<Alone<'a>> {
        let forward = computation(&mut graph, operands.len(), &[of], CallSites::default())?;
        let (dtype, shape) = graph.type_of(of)?;
        let seed = graph.add_input(dtype, &numbers(shape.as_slice()))?;
        let floats = operands.iter().filter(|it| is_float(it.tensor.dtype()));
        let by: Vec<u32> = floats.map(|it| it.input).collect();
        let gradients = graph.add_gradients(of, seed, &by)?;
        let backward =
            computation(&mut graph, operands.len() + 1, &gradients, CallSites::default())?;
        let (operands, places) = operands.iter().map(|it| (it.tensor, it.place)).unzip();
        Ok(Alone { name: self.name_of(index)?, operands, places, forward, backward })
    }

    /// Adds the node to an empty graph, with inputs for its operands. Its first result, and the
    /// operands that are no numbers.
    fn copy_node<'a>(
        &self,
        node: &Node,
        values: &HashMap<u32, &'a DynTensor>,
        graph: &mut GraphHandle,
    ) -> Result<Option<(u32, Vec<Operand<'a>>)>> {
        let mut copy = Node {
            operands: node.operands.clone(),
            numbers: node.numbers.clone(),
            copy: 0,
            marks: 0,
            ..*node
        };
        let mut operands = Vec::new();
        for (place, operand) in copy.operands.iter_mut().enumerate() {
            if *operand == TNR_OPERAND_NONE {
                continue;
            }
            if let ValueSource::Scalar(index) = self.graph.source(*operand)? {
                *operand = graph.add_scalar(&self.graph.scalar(index)?)?;
                continue;
            }
            let Some(tensor) = values.get(operand).copied() else { return Ok(None) };
            let input = graph.add_input(tensor.dtype(), &numbers(tensor.shape()))?;
            operands.push(Operand { tensor, place, input });
            *operand = input;
        }
        if copy.numbers.iter().any(|number| *number >= TNR_EXTENT) {
            return Ok(None);
        }
        match node.code & NODE_KIND {
            TNR_NODE_CUSTOM => {
                let Some(custom) = self.custom_of(node.code) else { return Ok(None) };
                copy.code = TNR_NODE_CUSTOM | graph.add_custom(custom)?;
            }
            TNR_NODE_COND | TNR_NODE_WHILE => {
                for number in copy.numbers.iter_mut().take(2) {
                    let body = Listed::Whole(&self.graph).subgraph(*number as u32)?;
                    *number = graph.add_subgraph(body.graph())?.into();
                }
            }
            _ => {}
        }
        graph.add_node(&copy).map(|first| Some((first, operands)))
    }

    fn custom_of(&self, code: u32) -> Option<&CustomOperation> {
        let number = (code & NODE_KIND == TNR_NODE_CUSTOM).then_some(code & !NODE_KIND)?;
        self.customs.iter().find(|(it, _)| *it == number).map(|(_, custom)| custom)
    }

    fn name_of(&self, index: u32) -> Result<String> {
        let site = self.sites.nodes.get(index as usize).map(ToString::to_string);
        let site = site.unwrap_or_else(|| format!("node {index}"));
        Ok(match self.custom_of(self.graph.node(index)?.code) {
            Some(custom) => format!("the custom operation {}, {site}", custom.name()),
            None => site,
        })
    }
}

/// An operand of a node by itself.
struct Operand<'a> {
    tensor: &'a DynTensor,
    /// Its number among all operands.
    place: usize,
    /// The value in the graph of the node.
    input: u32,
}

/// A shape as an input takes it.
fn numbers(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|extent| *extent as i64).collect()
}

/// The operands that are given.
fn given(node: &Node) -> impl Iterator<Item = u32> + '_ {
    node.operands.iter().copied().filter(|it| *it != TNR_OPERAND_NONE)
}

fn computation(
    graph: &mut GraphHandle,
    input_count: usize,
    values: &[u32],
    sites: CallSites,
) -> Result<Computation> {
    for value in values {
        graph.add_output(*value, None)?;
    }
    let counts = [input_count, graph.info()?.output_count as usize, 0];
    let made = graph.program(Passes::DEFAULT.to_bits(), None, counts);
    let handle = made.map_err(|error| located(&sites, error))?;
    let is_updated = vec![false; input_count].into();
    Ok(Computation(Program::made(Shared::new(handle, sites, is_updated, Box::default()))))
}

impl Computation {
    /// The outputs, also those of earlier calls, for these inputs.
    pub(crate) fn run(&self, inputs: &[&DynTensor]) -> Result<Vec<DynTensor>> {
        let views: Vec<DynView<'_>> = inputs.iter().map(|it| it.view()).collect();
        self.0.run_dyn(&views, &mut [])
    }

    /// Runs like [`run`](Self::run), on a tree of tensors.
    pub(crate) fn run_tree<I>(&self, inputs: &mut impl LendAs<I, Host>) -> Result<Vec<DynTensor>> {
        let made = self.0.shared.handle.run_dyn(inputs, Options::default());
        made.map_err(|error| self.0.located(error))
    }
}

/// Floats of this dtype and shape, rounded.
pub(crate) fn rounded(numbers: Vec<f64>, dtype: DType, shape: &[usize]) -> Result<DynTensor> {
    let tensor = DynTensor::from(Tensor::from_vec(numbers, shape)?);
    Ok(match dtype {
        DType::F64 => tensor,
        DType::F32 => tensor.cast_to::<f32>()?.into(),
        DType::F16 => tensor.cast_to::<half::f16>()?.into(),
        DType::BF16 => tensor.cast_to::<half::bf16>()?.into(),
        other => return Err(Error::invalid(format!("{other} is no float"))),
    })
}
