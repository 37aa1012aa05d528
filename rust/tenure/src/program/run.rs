//! Runs, and the memory and shapes that are known before a run.

use std::marker::PhantomData;
use std::sync::Arc;

use super::state::located;
use super::{OutputTypes, Program, RunInputs, RunOutputs, Shared};
use crate::dense::{DynTensor, DynView, DynViewMut};
use crate::error::{Error, Result};
use crate::expr::Host;
use crate::program::calls::{Options, ProgramCall};
use crate::program::tree::{LendAs, LendOut};

/// The memory of a run: of its intermediate values, and scratch memory of single operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MemoryPlan {
    /// Bytes that they take, in one block.
    pub peak_bytes: usize,
    /// The most bytes of them that are alive at once: no plan takes less.
    pub live_bytes: usize,
    /// Bytes that all of them would take, each in memory of its own.
    pub total_bytes: usize,
    /// The most bytes of scratch memory that operations take at once, besides `peak_bytes`: exactly
    /// where a program is bound with [all memory](crate::Program::bind_preallocated); else in runs
    /// for these layouts so far.
    pub scratch_bytes: usize,
    /// Calls of operations.
    pub steps: usize,
    /// Bytes of constants that are [packed](crate::Passes::PACKING), which the program holds for
    /// all runs.
    pub packed_bytes: usize,
}

impl MemoryPlan {
    pub(super) fn of(plan: &tenure_sys::tnr_memory_plan) -> MemoryPlan {
        MemoryPlan {
            peak_bytes: plan.peak_bytes as usize,
            live_bytes: plan.live_bytes as usize,
            total_bytes: plan.total_bytes as usize,
            scratch_bytes: plan.scratch_bytes as usize,
            steps: plan.step_count as usize,
            packed_bytes: plan.packed_bytes as usize,
        }
    }
}

/// Running.
impl<I, O: OutputTypes> Program<I, O> {
    /// Computes the outputs for these inputs as new row-major tensors: one, or several in the form
    /// that the outputs have.
    ///
    /// In a [context](crate::Context) its threads help, as with any operation. Inputs are lent only
    /// for the call.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another element type or shape of an input than the graph states, extents
    /// of one name that differ or exceed the maximum, shapes that an operation refuses for these
    /// extents, an index that is out of bounds, an integer divided by zero or to a negative power,
    /// more elements than [`nonzero`](crate::Traced::nonzero) may find; the message has the
    /// operator's place in the source. If the data were refused, updated inputs then hold a mixture
    /// of old values, zeros and results. `OutOfMemory`, also of the [budget](Program::with_budget).
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f64>([graph.extent("n", 100)]);
    ///     graph.program([x], vec![x + 1.0, x.exp()])
    /// })?;
    /// let outputs = program.run([&[0.0, 1.0]])?;
    /// assert_eq!(outputs[0], [1.0, 2.0]);
    /// assert_eq!(outputs.len(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn run(&self, inputs: impl RunInputs<I>) -> Result<O::Tensors> {
        let mut inputs = inputs;
        let (handle, lens) = (&self.shared.handle, &self.shared.output_lens);
        let made = handle.run_new::<I, O::Fresh, Host>((), &mut inputs, lens, self.options);
        made.map(O::tensors).map_err(|error| self.located(error))
    }

    /// Computes the outputs for these inputs into memory of the caller, of any strides.
    ///
    /// With layouts that the program was run with lately it allocates nothing, on one thread.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run), also for another shape of an output. Outputs are then
    /// untouched, unless the data were refused.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f64>([2, 2]);
    ///     graph.program((x,), (x.sum(0), x.argmax(1)))
    /// })?;
    /// let (mut sum, mut best) = (Tensor::zeros(2)?, [0; 2]);
    /// program.run_into((&[[1.0, 2.0], [4.0, 3.0]],), (&mut sum, &mut best))?;
    /// assert_eq!((sum, best), (Tensor::from([5.0, 5.0]), [1, 0]));
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn run_into(&self, inputs: impl RunInputs<I>, outputs: impl RunOutputs<O>) -> Result<()> {
        let (mut inputs, mut outputs) = (inputs, outputs);
        let handle = &self.shared.handle;
        let run = handle.run_into::<I, O, Host>((), &mut inputs, &mut outputs, self.options);
        run.map_err(|error| self.located(error))
    }

    /// Runs the program like [`run_into`](Self::run_into), and returns the shapes of the outputs,
    /// for programs with [data-dependent shapes](crate::Traced::nonzero). The caller's memory has
    /// the [largest shapes](Self::output_shapes) of the outputs. Only its first part along each
    /// axis is written.
    ///
    /// # Errors
    ///
    /// The errors of [`run_into`](Self::run_into).
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<i32>([graph.extent("n", 100)]);
    ///     let (positive, _) = x.masked_select(x.gt(0), "positive", 3);
    ///     graph.program((x,), positive)
    /// })?;
    /// let (x, mut out) = ([5, -1, 0, 7, -2], [0; 3]);
    /// assert_eq!(program.output_shapes((&x,))?, [[3]]);
    /// assert_eq!(program.run_into_shapes((&x,), &mut out)?, [[2]]);
    /// assert_eq!(out, [5, 7, 0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn run_into_shapes(
        &self,
        inputs: impl RunInputs<I>,
        outputs: impl RunOutputs<O>,
    ) -> Result<Vec<Vec<usize>>> {
        let (mut inputs, mut outputs) = (inputs, outputs);
        let run = self.shared.handle.run_into_shapes(&mut inputs, &mut outputs, self.options);
        run.map_err(|error| self.located(error))
    }
}

/// Runs whose element types are found when they run. Inputs that are updated are not among the
/// others: they are lent for writing, in their order.
impl<I, O> Program<I, O> {
    /// Runs the program like [`run`](Self::run).
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run); `InvalidArgument` also for another number of inputs.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let (x, state) = (graph.input::<f32>([2]), graph.input::<f32>([2]));
    ///     graph.program((x, state.updated_by(state + x)), (x.gt(0.0),))
    /// })?;
    /// let (x, mut state) = (Tensor::from([1.0_f32, -1.0]), Tensor::from([5.0_f32, 5.0]));
    /// let outputs = program.run_dyn(&[(&x).into()], &mut [(&mut state).into()])?;
    /// assert_eq!((outputs[0].dtype(), state), (DType::BOOL8, Tensor::from([6.0, 4.0])));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn run_dyn(
        &self,
        inputs: &[DynView<'_>],
        updated: &mut [DynViewMut<'_>],
    ) -> Result<Vec<DynTensor>> {
        self.check_counts(inputs.len(), updated.len())?;
        let mut lent = self.dynamic(inputs, updated);
        let made = self.shared.handle.run_dyn(&mut lent, self.options);
        made.map_err(|error| self.located(error))
    }

    /// Runs the program like [`run_into`](Self::run_into).
    ///
    /// # Errors
    ///
    /// The errors of [`run_into`](Self::run_into); `InvalidArgument` also for another number of
    /// inputs or outputs, or another element type of an output.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([2]);
    ///     graph.program((x,), x * 2.0)
    /// })?;
    /// let (x, mut out) = (Tensor::from([1.0_f32, -1.0]), Tensor::<f32>::zeros(2)?);
    /// program.run_dyn_into(&[(&x).into()], &mut [], &mut [(&mut out).into()])?;
    /// assert_eq!(out, [2.0, -2.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn run_dyn_into(
        &self,
        inputs: &[DynView<'_>],
        updated: &mut [DynViewMut<'_>],
        outputs: &mut [DynViewMut<'_>],
    ) -> Result<()> {
        self.check_counts(inputs.len(), updated.len())?;
        require_count("outputs", outputs.len(), self.shared.handle.output_count())?;
        let (mut lent, handle) = (self.dynamic(inputs, updated), &self.shared.handle);
        let mut outputs = DynOutputs(outputs);
        let run =
            handle.run_into::<Dynamic, Dynamic, Host>((), &mut lent, &mut outputs, self.options);
        run.map_err(|error| self.located(error))
    }
}

/// Methods for use before a run. They read no element of the inputs.
impl<I, O> Program<I, O> {
    /// The memory that a run on inputs of these layouts takes, exactly, if its outputs are
    /// row-major.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run) that concern inputs.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([graph.extent("n", 1 << 30)]);
    ///     graph.program((x,), (x.cumsum(0) + x).cumsum(0))
    /// })?;
    /// let plan = program.memory((&[0.0; 16],))?;
    /// assert!(plan.peak_bytes >= plan.live_bytes && plan.total_bytes >= plan.live_bytes);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn memory(&self, inputs: impl RunInputs<I>) -> Result<MemoryPlan> {
        let mut inputs = inputs;
        self.memory_of::<Host>(&mut inputs)
    }

    /// The memory of a run whose inputs are known only at run time, otherwise like
    /// [`memory`](Self::memory). Inputs that are updated are not among the others, as those of
    /// [`run_dyn`](Self::run_dyn).
    ///
    /// # Errors
    ///
    /// The errors of [`memory`](Self::memory); `InvalidArgument` also for another number of inputs.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([2]);
    ///     graph.program((x,), x * 2.0)
    /// })?;
    /// let x = Tensor::from([1.0_f32, -1.0]);
    /// assert_eq!(program.memory_dyn(&[(&x).into()], &mut [])?, program.memory((&x,))?);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn memory_dyn(
        &self,
        inputs: &[DynView<'_>],
        updated: &mut [DynViewMut<'_>],
    ) -> Result<MemoryPlan> {
        self.check_counts(inputs.len(), updated.len())?;
        let mut lent = self.dynamic(inputs, updated);
        let plan = self.shared.handle.memory::<Dynamic, Host>(&mut lent);
        Ok(MemoryPlan::of(&plan.map_err(|error| self.located(error))?))
    }

    pub(super) fn memory_of<P>(&self, inputs: &mut impl LendAs<I, P>) -> Result<MemoryPlan> {
        let plan = self.shared.handle.memory(inputs).map_err(|error| self.located(error))?;
        Ok(MemoryPlan::of(&plan))
    }

    /// The shapes of the outputs of a run on inputs of these shapes; the largest ones where shapes
    /// are [data-dependent](crate::Traced::nonzero).
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run) that concern inputs.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>((graph.extent("n", 100), 3));
    ///     graph.program((x,), (x.t(), x.sum(1)))
    /// })?;
    /// assert_eq!(program.output_shapes((&[[0.0; 3]; 2],))?, [vec![3, 2], vec![2]]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn output_shapes(&self, inputs: impl RunInputs<I>) -> Result<Vec<Vec<usize>>> {
        let mut inputs = inputs;
        let shapes = self.shared.handle.output_shapes::<I, Host>(&mut inputs);
        let shapes = shapes.map_err(|error| self.located(error))?;
        Ok(shapes.iter().map(|shape| shape.as_slice().to_vec()).collect())
    }

    pub(super) fn made(shared: Shared) -> Self {
        Program { shared: Arc::new(shared), options: Options::default(), _types: PhantomData }
    }

    #[cold]
    pub(super) fn located(&self, error: Error) -> Error {
        located(&self.shared.call_sites, error)
    }

    /// The names of the inputs, in their order: paths in the [tree](crate::tree) of inputs.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let (a, b) = (graph.input::<f32>([2]), graph.input::<f32>([2]));
    ///     let x = graph.input_named::<f32>("x", [2]);
    ///     graph.program((vec![a, b], x), [a + x, b * x])
    /// })?;
    /// assert_eq!(program.input_names(), ["0.0", "0.1", "x"]);
    /// assert_eq!(program.output_names(), ["0", "1"]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn input_names(&self) -> &[String] {
        &self.shared.call_sites.inputs
    }

    /// The names of the outputs, in their order, as [`input_names`](Self::input_names) has those of
    /// the inputs; without those that update inputs.
    pub fn output_names(&self) -> &[String] {
        &self.shared.call_sites.outputs
    }

    pub(super) fn check_counts(&self, inputs: usize, updated: usize) -> Result<()> {
        let handle = &self.shared.handle;
        let update_count = handle.update_count();
        require_count("inputs", inputs, handle.input_count() - update_count)?;
        require_count("inputs that are updated", updated, update_count)
    }

    pub(super) fn dynamic<'v, 'a, 'b>(
        &'v self,
        inputs: &'v [DynView<'a>],
        updated: &'v mut [DynViewMut<'b>],
    ) -> DynInputs<'v, 'a, 'b> {
        DynInputs { is_updated: &self.shared.is_updated, inputs, updated }
    }
}

fn require_count(name: &str, given: usize, has: usize) -> Result<()> {
    match given == has {
        true => Ok(()),
        false => Err(Error::invalid(format!("{given} {name} are given but the program has {has}"))),
    }
}

/// Inputs whose types the program knows.
pub(super) struct DynInputs<'v, 'a, 'b> {
    /// By input.
    is_updated: &'v [bool],
    inputs: &'v [DynView<'a>],
    updated: &'v mut [DynViewMut<'b>],
}

impl LendAs<Dynamic> for DynInputs<'_, '_, '_> {
    fn lend<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        let (mut inputs, mut updated) = (self.inputs.iter(), self.updated.iter_mut());
        for is_updated in self.is_updated {
            // There are as many as the program has.
            if *is_updated {
                updated.by_ref().take(1).for_each(|view| call.updated(view.lent_mut()));
            } else {
                inputs.by_ref().take(1).for_each(|view| call.lent(view.lent()));
            }
        }
    }
}

/// Outputs whose types the program knows.
struct DynOutputs<'v, 'a>(&'v mut [DynViewMut<'a>]);

impl LendOut<Dynamic> for DynOutputs<'_, '_> {
    fn lend_out<'s>(&'s mut self, call: &mut ProgramCall<'_, 's>) {
        for view in &mut *self.0 {
            call.output(view.lent_mut());
        }
    }
}

/// The type argument of runs with element types that are known only at run time.
pub(super) struct Dynamic;
