//! Graphs while they are built: each value is added to the library's graph at once, and the first
//! refusal is kept, with the operator's place in the source.

mod calibration;
mod gradients;
mod precision;
pub(crate) mod probe;
pub(crate) mod quantization;
pub(crate) mod quantized;
mod recomputation;

use std::cell::Cell;
use std::collections::HashSet;
use std::ffi::CString;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
#[cfg(feature = "programs")]
use std::sync::Arc;

use tenure_sys::TNR_OPERAND_NONE;

use super::state::{CallSite, CallSites, InputName, State, Step, Value, located};
use super::tree::{Leaf, Walk, require_given, walked};
use super::{Inputs, IntoSizes, Outputs, Program, Shared, Traced};
use crate::dense::SharedTensor;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::layout::refusal;
use crate::operand::AsView;
use crate::ops::results::Extents;
use crate::program::Extent;
use crate::raw::operations::scalar;

/// A graph that [`Program::trace`] lends to its closure: it makes inputs and constants, which
/// operations then make other values of.
///
/// No method panics or fails: the first refusal is kept, later values mean nothing, and
/// [`program`](Self::program) gives it.
#[derive(Clone, Copy)]
pub struct Graph<'g> {
    pub(super) state: &'g State,
    // Invariant in 'g, so that no value of another graph passes for one of this.
    _brand: PhantomData<Cell<&'g ()>>,
}

/// Methods that add values, for the other modules of programs.
impl<'g> Graph<'g> {
    pub(super) fn of(state: &'g State) -> Self {
        Graph { state, _brand: PhantomData }
    }

    pub(super) fn fail(self, error: Error) {
        self.state.failure.borrow_mut().get_or_insert(error);
    }

    /// The value's number, or `TNR_OPERAND_NONE` once something was refused.
    fn add(self, value: Value, add: impl FnOnce(&'g State) -> Result<u32>) -> u32 {
        if self.state.has_failed() {
            return TNR_OPERAND_NONE;
        }
        match add(self.state) {
            Ok(number) => {
                self.state.note_value(number, value);
                number
            }
            Err(error) => {
                self.fail(error);
                TNR_OPERAND_NONE
            }
        }
    }

    /// A number that `find` finds, or 0 once something was refused.
    pub(super) fn number(
        self,
        at: &Location<'_>,
        name: &str,
        find: impl FnOnce(&'g State) -> Result<i64>,
    ) -> i64 {
        if self.state.has_failed() {
            return 0;
        }
        find(self.state).unwrap_or_else(|error| {
            self.fail(error.prefixed(&format!("{name} at {at}: ")));
            0
        })
    }

    pub(crate) fn scalar<T: Element>(self, value: T) -> u32 {
        self.add(Value::Number, |state| state.handle.add_scalar(&scalar(value)))
    }

    /// The result of a node, which `step` makes ready.
    pub(super) fn step<T: Element>(
        self,
        at: &'static Location<'static>,
        step: &Step<'_>,
    ) -> Traced<'g, T> {
        let site = CallSite { name: step.name, at };
        let value = self.add(Value::Node(site), |state| {
            let value = state
                .handle
                .add_node(&step.node)
                .map_err(|error| state.refused(site, step, &error))?;
            state.note_node(site);
            Ok(value)
        });
        Traced::of(self, value)
    }

    /// A value that stands for none, after a refusal of this operation's arguments.
    #[cold]
    pub(super) fn refuse<T: Element>(
        self,
        name: &'static str,
        at: &'static Location<'static>,
        error: Error,
    ) -> Traced<'g, T> {
        self.fail(error.prefixed(&format!("{}: ", CallSite { name, at })));
        Traced::of(self, TNR_OPERAND_NONE)
    }

    /// Keeps the refusal of the arguments of a call that makes several values.
    #[cold]
    pub(crate) fn refuse_call(
        self,
        name: &'static str,
        at: &'static Location<'static>,
        error: Error,
    ) {
        self.fail(error.prefixed(&format!("{}: ", CallSite { name, at })));
    }

    /// `None` for a value that means nothing.
    pub(super) fn dtype_of(self, value: u32) -> Option<DType> {
        self.state.handle.dtype_of(value).ok()
    }

    /// The shape of a value with its extents, as inputs take it.
    pub(super) fn numbers_of_shape(self, value: u32) -> Result<Vec<i64>> {
        let info = self.state.handle.describe_value(value)?;
        Ok(info.numbers[..info.rank as usize].to_vec())
    }

    /// The shape where all extents are at their maxima, and that of a number for a value that means
    /// nothing.
    pub(super) fn shape_of(self, value: u32) -> Extents {
        self.state.handle.shape_of(value).unwrap_or(Extents::of(&[]))
    }
}

/// Inputs, constants and numbers.
impl<'g> Graph<'g> {
    /// An extent that each run finds in its inputs, which has this name in messages: at most
    /// `maximum`, and that of an axis of some input.
    ///
    /// Shapes are checked where all extents are at their maxima when an operation is added, and in
    /// each run for those that it has. No memory is taken for the maxima.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let length = graph.extent("length", 1 << 20);
    ///     let (a, b) = (graph.input::<f32>([length]), graph.input::<f32>([length]));
    ///     graph.program((a, b), (a - b).square().sum(0))
    /// })?;
    /// assert_eq!(program.run((&[1.0, 2.0, 3.0], &[0.0, 0.0, 1.0]))?.item(), Some(9.0));
    ///
    /// let error = program.run((&[1.0, 2.0, 3.0], &[0.0, 0.0])).err().unwrap();
    /// assert_eq!(error.message(), "inputs[1].shape[0] is 2 but length is 3");
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn extent(self, name: &str, maximum: usize) -> Extent<'g> {
        let number = self.number(Location::caller(), "an extent", |state| {
            let name = CString::new(name)
                .map_err(|_| Error::invalid(format!("the name {name:?} has a byte of 0")))?;
            state.handle.add_extent(&name, refusal::counted(&"maximum", maximum)?)
        });
        Extent::of(self, number)
    }

    /// An input: elements of this shape, of any strides, that each run is given.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let (image, mask) = (graph.input::<u8>([2, 2]), graph.input::<Bool8>([2, 2]));
    ///     graph.program((image, mask), mask.select(image, 0))
    /// })?;
    /// let mask = Tensor::from([[true, false], [false, true]].map(|row| row.map(Bool8::from)));
    /// assert_eq!(program.run((&[[1, 2], [3, 4]], &mask))?, [[1, 0], [0, 4]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn input<T: Element>(self, shape: impl IntoSizes<'g>) -> Traced<'g, T> {
        self.input_at(Location::caller(), InputName::default(), shape)
    }

    /// An input with a name, which messages have, and [`Program::input_names`]: there it stands for
    /// the number that the input has in a tuple or array.
    ///
    /// A name is not empty, has no dot and does not begin with a digit.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let rows = graph.extent("rows", 8);
    ///     let x = graph.input_named::<f32>("x", (rows, 2));
    ///     let weights = graph.input_named::<f32>("weights", [2]);
    ///     graph.program((x, weights), x.matmul(weights))
    /// })?;
    /// assert_eq!(program.input_names(), ["x", "weights"]);
    /// let error = program.run((&[[1.0, 2.0]], &[1.0, 2.0, 3.0])).unwrap_err();
    /// assert_eq!(error.message(), "input weights: shape[0] is 3 but must be 2; its shape is [3]");
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn input_named<T: Element>(self, name: &str, shape: impl IntoSizes<'g>) -> Traced<'g, T> {
        let at = Location::caller();
        if let Err(error) = require_given(name) {
            self.fail(error.prefixed(&format!("input at {at}: ")));
        }
        self.input_at(at, InputName { text: name.to_owned(), is_given: true }, shape)
    }

    fn input_at<T: Element>(
        self,
        at: &Location<'_>,
        name: InputName,
        shape: impl IntoSizes<'g>,
    ) -> Traced<'g, T> {
        let value = self.add_input(name, |state| {
            let added = shape
                .numbers()
                .and_then(|shape| state.handle.add_input(T::DTYPE, shape.as_slice()));
            added.map_err(|error| error.prefixed(&format!("input at {at}: ")))
        });
        Traced::of(self, value)
    }

    /// An input of a tree, which has this name in messages.
    pub(super) fn input_like(self, name: &str, dtype: DType, shape: Result<Vec<i64>>) -> u32 {
        let named = InputName { text: name.to_owned(), is_given: false };
        self.add_input(named, |state| {
            let added = shape.and_then(|shape| state.handle.add_input(dtype, &shape));
            added.map_err(|error| error.prefixed(&format!("input {name}: ")))
        })
    }

    fn add_input(self, name: InputName, add: impl FnOnce(&'g State) -> Result<u32>) -> u32 {
        let number = self.state.inputs.borrow().len();
        self.add(Value::Input(number), |state| {
            let value = add(state)?;
            state.inputs.borrow_mut().push(name);
            Ok(value)
        })
    }

    /// A constant: the memory of the shared tensor itself, which the program holds as another clone
    /// of the tensor does. Nothing is copied.
    ///
    /// ```
    /// use tenure::{Program, SharedTensor};
    ///
    /// static TABLE: [f32; 3] = [1.0, 2.0, 3.0];
    /// let table = SharedTensor::from_owner(&TABLE, [3])?;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([3]);
    ///     graph.program((x,), x * graph.constant(&table))
    /// })?;
    /// drop(table);
    /// assert_eq!(program.run((&[1.0, 10.0, 100.0],))?, [1.0, 20.0, 300.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[track_caller]
    pub fn constant<T: Element>(self, tensor: &SharedTensor<T>) -> Traced<'g, T> {
        let at = Location::caller();
        let value = self.add(Value::Constant, |state| {
            let held = state.handle.hold_constant(tensor);
            held.map_err(|error| error.prefixed(&format!("constant at {at}: ")))
        });
        Traced::of(self, value)
    }

    /// A constant that is a copy of these elements, row-major. [`constant`](Self::constant) copies
    /// none; [`Tensor::into_shared`](crate::Tensor::into_shared) makes the tensor that it takes.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<i32>([3]);
    ///     graph.program((x,), x + graph.copy_constant(&[10, 20, 30]))
    /// })?;
    /// assert_eq!(program.run((&[1, 2, 3],))?, [11, 22, 33]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn copy_constant<T: Element>(self, elements: &(impl AsView<T> + ?Sized)) -> Traced<'g, T> {
        let at = Location::caller();
        let value = self.add(Value::Constant, |state| {
            let copied = elements.with_view(|view| state.handle.copy_constant(view.lent()));
            copied.map_err(|error| error.prefixed(&format!("copy_constant at {at}: ")))
        });
        Traced::of(self, value)
    }
}

/// The program.
impl<'g> Graph<'g> {
    /// The program that computes these outputs of these inputs, which are all that the graph has,
    /// in the order in which they were made.
    ///
    /// Inputs are one input, or a tuple of up to eight, an array or a `Vec` of inputs, and these
    /// nested: a [tree](super::tree). An input that a run updates is written as
    /// [`x.updated_by(value)`](Traced::updated_by) among them. Outputs are a tree of values, and
    /// `()` if only updates are of interest.
    ///
    /// # Errors
    ///
    /// The first refusal of a value, with the operator's place in the source: `InvalidArgument` for
    /// shapes, axes and options that do not agree, `Unsupported` for element types that an
    /// operation does not take. `InvalidArgument`: other inputs than the graph's, an output that is
    /// a number, an extent that no input has, an update by a value of another shape. Errors of
    /// operations on constants, which are computed here. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let error = Program::trace(|graph| {
    ///     let (a, b) = (graph.input::<f32>([2, 3]), graph.input::<f32>([4]));
    ///     graph.program((a, b), (a + 1.0) * b)
    /// });
    /// // mul at src/main.rs:4:27: a is add at src/main.rs:4:27 of shape [2, 3] and b is input 1 of
    /// // shape [4]: ...
    /// let error = error.err().unwrap();
    /// assert!(error.message().contains("of shape [2, 3] and b is input 1 of shape [4]"));
    /// ```
    pub fn program<I: Inputs<'g>, O: Outputs<'g>>(
        self,
        inputs: I,
        outputs: O,
    ) -> Result<Program<I::Types, O::Types>> {
        let state = self.state;
        state.require_sound()?;
        let (inputs, outputs) = (walked(&inputs), walked(&outputs));
        self.check_inputs(&inputs.leaves)?;
        self.add_outputs(&outputs)?;
        let mut update_count = 0;
        for Leaf { value: input, update, .. } in &inputs.leaves {
            let Some(by) = update else { continue };
            update_count += 1;
            state.handle.add_output(*by, Some(*input)).map_err(|error| {
                let names = [("the input", input), ("its update", by)];
                let names = names.map(|(name, value)| state.described(name, *value));
                let names: Vec<_> = names.into_iter().flatten().collect();
                error.prefixed(&format!("{}: ", names.join(" and ")))
            })?;
        }
        let counts = [inputs.leaves.len(), outputs.leaves.len(), update_count];
        let is_updated = inputs.leaves.iter().map(|leaf| leaf.update.is_some()).collect();
        let call_sites = CallSites {
            inputs: self.names_of(inputs.leaves)?,
            outputs: outputs.leaves.into_iter().map(|leaf| leaf.name.given(None)).collect(),
            ..state.call_sites()
        };
        let handle = state
            .handle
            .program(
                state.passes.to_bits(),
                state.packed.as_ref(),
                state.budget_bytes.get(),
                counts,
            )
            .map_err(|error| located(&call_sites, error))?;
        // The graph has its outputs now: another program of it would have them too.
        self.fail(Error::invalid("the graph has been made a program"));
        let program =
            Program::made(Shared::new(handle, call_sites, is_updated, outputs.lens.into()));
        #[cfg(feature = "programs")]
        state.made.replace(Some(Arc::clone(&program.shared)));
        Ok(program)
    }

    /// Adds all.
    pub(super) fn add_outputs(self, outputs: &Walk<'g>) -> Result<()> {
        outputs.leaves.iter().try_for_each(|leaf| {
            let refused = |error: Error| error.prefixed(&format!("output {}: ", leaf.name.text));
            self.state.handle.add_output(leaf.value, None).map_err(refused)
        })
    }

    /// The names of the program's inputs, which all differ.
    fn names_of(self, leaves: Vec<Leaf>) -> Result<Box<[String]>> {
        let inputs = self.state.inputs.borrow();
        let name = |(leaf, input): (Leaf, &InputName)| {
            leaf.name.given(input.is_given.then_some(&input.text[..]))
        };
        let names: Box<[String]> = leaves.into_iter().zip(&*inputs).map(name).collect();
        let mut seen = HashSet::new();
        match names.iter().find(|name| !seen.insert(&name[..])) {
            Some(twice) => Err(Error::invalid(format!("two inputs have the name {twice}"))),
            None => Ok(names),
        }
    }

    fn check_inputs(self, leaves: &[Leaf]) -> Result<()> {
        let values = self.state.values.borrow();
        for (nth, leaf) in leaves.iter().enumerate() {
            match values.get(leaf.value as usize) {
                Some(Value::Input(number)) if *number == nth => {}
                Some(Value::Input(number)) => {
                    return Err(Error::invalid(format!(
                        "input {nth} of the program is input {number} of the graph, but their \
                         order must be one"
                    )));
                }
                _ => {
                    return Err(Error::invalid(format!("input {nth} of the program is no input")));
                }
            }
        }
        let (given, has) = (leaves.len(), self.state.inputs.borrow().len());
        match given == has {
            true => Ok(()),
            false => Err(Error::invalid(format!(
                "the program has {given} inputs but the graph has {has}"
            ))),
        }
    }

    /// Joins values along an axis that they have: the function [`concat`](fn@crate::ops::concat).
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let n = graph.extent("n", 10);
    ///     let (a, b) = (graph.input::<i32>((2, n)), graph.input::<i32>([2, 1]));
    ///     graph.program((a, b), graph.concat([a, b], 1))
    /// })?;
    /// assert_eq!(program.run((&[[1, 2], [3, 4]], &[[5], [6]]))?, [[1, 2, 5], [3, 4, 6]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("concatenate", "cat", "hstack", "vstack"))]
    pub fn concat<T: Element>(
        self,
        parts: impl AsRef<[Traced<'g, T>]>,
        axis: impl Into<crate::layout::axis::Axis>,
    ) -> Traced<'g, T> {
        let at = Location::caller();
        let operands: Vec<u32> = parts.as_ref().iter().map(|part| part.value()).collect();
        let Some(first) = parts.as_ref().first() else {
            return self.refuse("concat", at, Error::invalid("there are no parts"));
        };
        match first.axis(axis.into()) {
            Ok(axis) => {
                let step = Step::new("concat", tenure_sys::TNR_NODE_CONCAT, &operands);
                self.step(at, &step.named(&["a part"]).numbers(&[axis]))
            }
            Err(error) => self.refuse("concat", at, error),
        }
    }
}

impl fmt::Debug for Graph<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph({})", self.state.node_names().join(", "))
    }
}
