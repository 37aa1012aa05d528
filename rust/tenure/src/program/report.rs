//! The work of each step of a run, and the changes that each pass made to it: a table, a picture,
//! and with the feature `serde` JSON.

mod svg;
mod table;

use super::run::Dynamic;
use super::{MemoryPlan, OutputTypes, Passes, Program, RunInputs};
use crate::dense::{DynView, DynViewMut};
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::Host;
use crate::program::calls::{Fresh, OutputMemory, StepInfo, text_of};
use crate::program::tree::LendAs;

/// The steps of a run on inputs of some layouts, in their order, the memory between them, and the
/// changes that passes made to both.
///
/// It prints itself as a table, and [`to_svg`](Report::to_svg) draws it. It implements `Serialize`
/// with the feature `serde`: `serde_json::to_string(&report)` is JSON.
///
/// ```
/// use tenure::{Program, Tensor};
///
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f32>((graph.extent("rows", 64), 8));
///     let weights = graph.copy_constant(&Tensor::<f32>::zeros([8, 4])?);
///     graph.program((x,), (x * 2.0 + 1.0).matmul(weights))
/// })?;
/// let report = program.report((&Tensor::zeros([16, 8])?,))?;
/// let [affine, product] = &report.steps[..] else { panic!("two steps") };
/// assert_eq!((&affine.name[..], affine.flops), ("mul add", 2 * 16 * 8));
/// assert_eq!((&product.name[..], product.flops), ("matmul", 2 * 16 * 8 * 4));
/// assert_eq!(product.reads, [tenure::program::report::Operand::Step(0)]);
/// assert!(report.to_string().contains("matmul"));
/// assert_eq!(report.count_of(tenure::Passes::FUSION), 1); // `add` is part of the first step
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Report {
    /// In the order in which they run.
    pub steps: Vec<Step>,
    /// The memory of the values between them.
    pub memory: MemoryPlan,
    /// All passes, in the order in which they are made.
    pub passes: Vec<Pass>,
    /// Inputs of the program.
    pub input_count: usize,
    /// The bounds of the machine, where it has been [said](Report::with_roofs).
    pub roofs: Option<Roofs>,
}

/// A pass, and its changes of a program and of the steps of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Pass {
    /// The pass as a flag of [`trace_with`](Program::trace_with).
    #[cfg_attr(feature = "serde", serde(skip))]
    pub pass: Passes,
    /// Such as "constant folding".
    pub name: String,
    /// Whether the program was made with it.
    pub is_on: bool,
    /// How often it changed something, with the bodies of branches and loops.
    pub count: u64,
    /// The thing that is counted, such as "nodes folded".
    pub counted: String,
}

/// The bounds of a machine, as its owner has measured them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Roofs {
    /// Bytes of memory that are read and written per second.
    pub bytes_per_second: f64,
    /// Additions and multiplications per second.
    pub flops_per_second: f64,
}

impl Roofs {
    /// The time that a step takes at the bound that limits it.
    fn nanoseconds(&self, step: &Step) -> f64 {
        let bytes = step.moved_bytes() as f64 / self.bytes_per_second;
        bytes.max(step.flops as f64 / self.flops_per_second) * 1e9
    }
}

/// One step: the call of an operation, or element-wise operations in one pass.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Step {
    /// Names of its operations, the first 63 bytes of them.
    pub name: String,
    /// How it computes.
    pub kind: StepKind,
    /// Operations of the graph that it computes.
    pub node_count: usize,
    /// Element type of its result.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_text"))]
    pub dtype: DType,
    /// Shape of its result.
    pub shape: Vec<usize>,
    /// Arithmetic operations: two for each multiplication and addition of a product or a
    /// convolution, one for each element and operation of others, 0 for copies, branches and loops.
    pub flops: u64,
    /// Bytes of the elements that it reads, each operand once.
    pub read_bytes: u64,
    /// Bytes of the elements that it writes.
    pub written_bytes: u64,
    /// Operands of the step: inputs, and results of earlier steps.
    pub reads: Vec<Operand>,
    /// Where its result is stored.
    pub result: ResultMemory,
    /// The least time of the runs that were measured; `None`: none was.
    pub nanoseconds: Option<u64>,
}

/// How a step computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum StepKind {
    /// Elements move to where a reshape or an output needs them.
    Movement,
    /// Element-wise operations in one pass, and a reduction behind them.
    Expression,
    /// The call of an operation.
    Operation,
    /// Graphs of a branch or a loop, repeated as often as the data require.
    Control,
}

/// An operand of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Operand {
    /// An input of the program, by its number.
    Input(usize),
    /// The result of a step before, by its number.
    Step(usize),
}

/// Where the result of a step is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum ResultMemory {
    /// In an output of the program, by its number.
    Output(usize),
    /// In the block of values, where it may reuse the memory of an operand.
    Block {
        /// Offset of its first byte.
        offset: u64,
        /// Number of bytes that it takes.
        bytes: u64,
        /// The last step that reads it. The result of that step may reuse its memory.
        last_use: usize,
    },
}

impl Report {
    /// Adds the bounds of the machine to the report. The table then has the share of the bound that
    /// each measured step reaches.
    ///
    /// ```
    /// # use tenure::{Program, program::report::Roofs};
    /// # let program = Program::trace(|graph| {
    /// #     let x = graph.input::<f32>([1000]);
    /// #     graph.program((x,), x.exp())
    /// # })?;
    /// let roofs = Roofs { bytes_per_second: 20e9, flops_per_second: 100e9 };
    /// let report = program.measure((&[0.5_f32; 1000],), 5)?.with_roofs(roofs);
    /// assert!(report.share_of_roof(0).unwrap() > 0.0);
    /// assert!(report.to_string().contains("of roof"));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[must_use]
    pub fn with_roofs(self, roofs: Roofs) -> Self {
        Report { roofs: Some(roofs), ..self }
    }

    /// How often this pass changed something; 0 where the program was made without it.
    #[must_use]
    pub fn count_of(&self, pass: Passes) -> u64 {
        self.passes.iter().filter(|of| of.pass == pass).map(|of| of.count).sum()
    }

    /// The time that a step would take at the roof that limits it, divided by the time that it
    /// took; `None` where one of these is not known, or there is no such step.
    #[must_use]
    pub fn share_of_roof(&self, step: usize) -> Option<f64> {
        let (roofs, step) = (self.roofs?, self.steps.get(step)?);
        Some(roofs.nanoseconds(step) / (step.nanoseconds? as f64).max(1.0))
    }

    /// The [`share_of_roof`](Self::share_of_roof) of all steps together.
    fn share_of_all(&self) -> Option<f64> {
        let (roofs, all) = (self.roofs?, self.nanoseconds()?);
        let least: f64 = self.steps.iter().map(|step| roofs.nanoseconds(step)).sum();
        Some(least / (all as f64).max(1.0))
    }

    /// All steps together; `None`: they were not measured.
    #[must_use]
    pub fn nanoseconds(&self) -> Option<u64> {
        self.steps.iter().map(|step| step.nanoseconds).sum()
    }

    /// Draws the report as SVG: a line for each step, with arcs from its operands, and to its right
    /// the layout of the block of values during that step.
    #[must_use]
    pub fn to_svg(&self) -> String {
        svg::draw(self)
    }
}

/// Reports.
impl<I, O: OutputTypes> Program<I, O> {
    /// Reports the steps of a run on inputs of these layouts, and reads no element of them.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run) that concern inputs.
    pub fn report(&self, inputs: impl RunInputs<I>) -> Result<Report> {
        let mut inputs = inputs;
        self.report_of::<I, Host>(&mut inputs)
    }

    /// Reports like [`report`](Self::report), with the least time of each step over `runs` runs on
    /// these inputs, at least one, into outputs that are dropped. Each run updates the inputs that
    /// the program updates.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
    pub fn measure(&self, inputs: impl RunInputs<I>, runs: usize) -> Result<Report> {
        let mut inputs = inputs;
        self.measured::<Host>((), &mut inputs, runs)
    }

    pub(super) fn measured<P: OutputMemory>(
        &self,
        at: P::At<'_>,
        inputs: &mut impl LendAs<I, P>,
        runs: usize,
    ) -> Result<Report>
    where
        O::Fresh: Fresh<P>,
    {
        let mut report = self.report_of(inputs)?;
        let (handle, step_count) = (&self.shared.handle, report.steps.len());
        let lens = &self.shared.output_lens;
        for _ in 0..runs.max(1) {
            let times = handle.times::<I, O::Fresh, P>(at, inputs, lens, self.options, step_count);
            let times = times.map_err(|error| self.located(error))?;
            for (step, time) in report.steps.iter_mut().zip(times) {
                step.nanoseconds = Some(step.nanoseconds.map_or(time, |least| least.min(time)));
            }
        }
        Ok(report)
    }
}

/// Reports of programs whose types may be known only at run time.
impl<I, O> Program<I, O> {
    /// The report of a run whose inputs are known only at run time, otherwise like
    /// [`report`](Self::report). Inputs that are updated are not among the others, as those of
    /// [`run_dyn`](Self::run_dyn).
    ///
    /// # Errors
    ///
    /// The errors of [`report`](Self::report); `InvalidArgument` also for another number of inputs.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([2]);
    ///     graph.program((x,), x * 2.0)
    /// })?;
    /// let x = Tensor::from([1.0_f32, -1.0]);
    /// assert_eq!(program.report_dyn(&[(&x).into()], &mut [])?.steps.len(), 1);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn report_dyn(
        &self,
        inputs: &[DynView<'_>],
        updated: &mut [DynViewMut<'_>],
    ) -> Result<Report> {
        self.check_counts(inputs.len(), updated.len())?;
        self.report_of::<Dynamic, Host>(&mut self.dynamic(inputs, updated))
    }

    pub(super) fn report_of<J, P>(&self, inputs: &mut impl LendAs<J, P>) -> Result<Report> {
        let handle = &self.shared.handle;
        let described = handle.memory(inputs).and_then(|plan| {
            let steps = handle.steps(inputs, plan.step_count)?;
            Ok((MemoryPlan::of(&plan), steps, handle.passes(inputs)?))
        });
        let (memory, steps, passes) = described.map_err(|error| self.located(error))?;
        let mut steps: Vec<Step> = steps.into_iter().map(Step::of).collect();
        end_values(&mut steps);
        let passes = passes.iter().map(Pass::of).collect();
        Ok(Report { steps, memory, passes, input_count: handle.input_count(), roofs: None })
    }
}

/// Values that nothing reads end with the step that writes them.
fn end_values(steps: &mut [Step]) {
    let mut last_uses: Vec<usize> = (0..steps.len()).collect();
    for (nth, step) in steps.iter().enumerate() {
        for read in &step.reads {
            if let Operand::Step(read) = read {
                last_uses[*read] = last_uses[*read].max(nth);
            }
        }
    }
    for (step, last) in steps.iter_mut().zip(last_uses) {
        if let ResultMemory::Block { last_use, .. } = &mut step.result {
            *last_use = last;
        }
    }
}

impl Pass {
    fn of(info: &tenure_sys::tnr_pass_info) -> Pass {
        let text = |bytes| String::from_utf8_lossy(&text_of(bytes)).into_owned();
        Pass {
            pass: Passes(info.pass),
            name: text(&info.name),
            is_on: info.is_on != 0,
            count: info.count,
            counted: text(&info.counted),
        }
    }
}

impl Step {
    fn of(step: StepInfo) -> Step {
        let StepInfo { info, reads, step_count } = step;
        let reads = reads.into_iter().map(|at| {
            if at < step_count { Operand::Step(at) } else { Operand::Input(at - step_count) }
        });
        let shape = info.shape.iter().take(info.rank as usize).map(|extent| *extent as usize);
        Step {
            name: String::from_utf8_lossy(&text_of(&info.name)).into_owned(),
            kind: match info.kind {
                tenure_sys::tnr_step_kind::COPY => StepKind::Movement,
                tenure_sys::tnr_step_kind::EXPRESSION => StepKind::Expression,
                tenure_sys::tnr_step_kind::CONTROL => StepKind::Control,
                _ => StepKind::Operation,
            },
            node_count: info.node_count as usize,
            dtype: DType::from_raw(info.dtype),
            shape: shape.collect(),
            flops: info.flops,
            read_bytes: info.read_bytes,
            written_bytes: info.written_bytes,
            reads: reads.collect(),
            result: match info.output {
                tenure_sys::TNR_OPERAND_NONE => ResultMemory::Block {
                    offset: info.block_offset,
                    bytes: info.block_bytes,
                    last_use: 0, // as `end_values` finds it
                },
                output => ResultMemory::Output(output as usize),
            },
            nanoseconds: None,
        }
    }

    fn moved_bytes(&self) -> u64 {
        self.read_bytes.saturating_add(self.written_bytes)
    }

    fn shape_text(&self) -> String {
        let extents: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        format!("{}[{}]", self.dtype, extents.join(", "))
    }
}

#[cfg(feature = "serde")]
fn as_text<S: serde::Serializer>(dtype: &DType, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(dtype)
}
