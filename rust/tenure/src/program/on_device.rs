//! Runs on a device: the traits of their inputs and outputs, and the methods of a stream.

// See `bound.rs` for the reason.
#![allow(clippy::result_large_err)]

use super::bound::lend;
use super::report::Report;
use super::{Bound, MemoryPlan, OutputTypes, Program, Refused, Shapes};
use crate::cuda::Stream;
use crate::error::Result;
use crate::expr::OnDevice;
use crate::program::calls::{Binding, OutputMemory};
use crate::program::tree::{LendAs, LendOut};

/// Inputs of a run on a device: an operand, or a [tree](super::tree) of operands; or `&` or `&mut`
/// of a tree of tensors.
///
/// An operand is what lends a view of memory of the device, as [`AsView`](crate::cuda::AsView)
/// says; and `&mut` of what lends one for writing, as [`AsViewMut`](crate::cuda::AsViewMut) says,
/// for an input that is [updated](crate::program::Updated). Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent on a device as inputs of the types `{I}`",
    label = "not tensors or views of a device of these element types, in the form of these types",
    note = "`stream.upload` copies what is in memory of the host to the device",
    note = "an input that the program updates is lent as `&mut`"
)]
pub trait RunInputs<I>: LendAs<I, OnDevice> {}
impl<I, L: LendAs<I, OnDevice>> RunInputs<I> for L {}

/// Outputs of a run that are memory of a device: `&mut out`, or a [tree](super::tree) of them, as
/// the program's outputs are; or `&mut` of a tree of tensors. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent on a device as outputs of the types `{O}`",
    label = "not `&mut` of a tensor or view of a device of this element type, or a tuple of them",
    note = "outputs are passed as `&mut out`; a `TensorView` may not be written"
)]
pub trait RunOutputs<O>: LendOut<O, OnDevice> {}
impl<O, L: LendOut<O, OnDevice>> RunOutputs<O> for L {}

/// Programs on a device.
impl Stream {
    /// Enqueues [`Program::run`], and returns the outputs for these inputs as new row-major tensors
    /// of the device.
    ///
    /// The bits are those of the stream's operations. The first run on a device copies the
    /// program's constants there and waits for that. Values between inputs and outputs take one
    /// allocation, which ends in the order of the stream.
    ///
    /// # Errors
    ///
    /// The errors of [`Program::run`]. `Unsupported`, before anything is enqueued: an operation of
    /// the program that devices do not compute; the message has its location in the source.
    /// `DeviceError`.
    ///
    /// ```
    /// use tenure::Program;
    /// use tenure::cuda::Device;
    ///
    /// let Ok(device) = Device::new(0) else { return Ok(()) };
    /// let stream = device.stream()?;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>((graph.extent("n", 100), 2));
    ///     graph.program((x,), ((x * 2.0).relu(), x.sum(0)))
    /// })?;
    /// let x = stream.upload(&[[1.0_f32, -1.0], [2.0, 3.0]])?;
    /// let (doubled, sums) = stream.run(&program, (&x,))?;
    /// assert_eq!(stream.to_vec(&doubled)?, [2.0, 0.0, 4.0, 6.0]);
    /// assert_eq!(stream.to_vec(&sums)?, [3.0, 2.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn run<I, O: OutputTypes>(
        &self,
        program: &Program<I, O>,
        inputs: impl RunInputs<I>,
    ) -> Result<O::DeviceTensors> {
        let mut inputs = inputs;
        let (handle, lens) = (&program.shared.handle, &program.shared.output_lens);
        let made =
            handle.run_new::<I, O::Fresh, OnDevice>(self, &mut inputs, lens, program.options);
        made.map(O::device_tensors).map_err(|error| program.located(error))
    }

    /// Enqueues a run like [`run`](Self::run), and writes its outputs into memory of the caller, of
    /// any strides.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run), also for another shape of an output. Outputs are then
    /// untouched, unless the data were refused.
    ///
    /// ```
    /// # use tenure::Program;
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let step = Program::trace(|graph| {
    ///     let (w, gradient) = (graph.input::<f32>([2]), graph.input::<f32>([2]));
    ///     graph.program((w.updated_by(w - gradient * 0.5), gradient), gradient.max(0))
    /// })?;
    /// let mut w = stream.upload(&[1.0_f32, 2.0])?;
    /// let (gradient, mut most) = (stream.upload(&[2.0_f32, -2.0])?, stream.zeros([])?);
    /// stream.run_into(&step, (&mut w, &gradient), &mut most)?;
    /// assert_eq!(stream.to_vec(&w)?, [0.0, 3.0]);
    /// assert_eq!(stream.to_vec(&most)?, [2.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn run_into<I, O>(
        &self,
        program: &Program<I, O>,
        inputs: impl RunInputs<I>,
        outputs: impl RunOutputs<O>,
    ) -> Result<()> {
        let (mut inputs, mut outputs) = (inputs, outputs);
        let handle = &program.shared.handle;
        let run =
            handle.run_into::<I, O, OnDevice>(self, &mut inputs, &mut outputs, program.options);
        run.map_err(|error| program.located(error))
    }

    /// Binds a program to memory of the device, as [`Program::bind`] binds it to memory of the
    /// host. A run is enqueued on this stream. The first time on a device the program's constants
    /// are copied there, and waited for.
    ///
    /// # Errors
    ///
    /// The errors of [`run_into`](Self::run_into), except those of the data.
    ///
    /// ```
    /// # use tenure::Program;
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let program = Program::trace(|graph| {
    ///     let (a, b) = (graph.input::<f32>([2]), graph.input::<f32>([2]));
    ///     graph.program((a, b), a * 10.0 + b)
    /// })?;
    /// let (a, b) = (stream.upload(&[1.0, 2.0])?, stream.upload(&[3.0, 4.0])?);
    /// let mut out = stream.zeros([2])?;
    /// let bound = stream.bind(&program, (&a, &b), &mut out)?;
    /// bound.run((&b, &a), &mut out)?; // other memory of the same layouts
    /// assert_eq!(stream.to_vec(&out)?, [31.0, 42.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn bind<I, O: OutputTypes>(
        &self,
        program: &Program<I, O>,
        inputs: impl RunInputs<I>,
        outputs: impl RunOutputs<O>,
    ) -> Result<Bound<I, O, OnDevice>> {
        let (mut inputs, mut outputs) = (inputs, outputs);
        let parts = program.parts(
            Binding::Plain,
            |call| lend(&mut inputs, &mut outputs, call),
            |call| OnDevice::within(self, call),
        )?;
        Ok(Bound::of(parts, self.clone()))
    }

    /// Plans the memory of a run on a device with inputs of these layouts, like
    /// [`Program::memory`]. A run takes exactly this memory of the device if its outputs are
    /// row-major, in one allocation of `peak_bytes`. Memory that operations take in addition is not
    /// included. Nothing is enqueued. Without inputs, the plan is that of a run on the host.
    ///
    /// # Errors
    ///
    /// The errors of [`Program::memory`].
    ///
    /// ```
    /// # use tenure::Program;
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>((graph.extent("n", 1 << 20), 8));
    ///     graph.program((x,), (x.softmax(1) * 2.0).sum(0))
    /// })?;
    /// let plan = stream.memory(&program, (&stream.zeros([16, 8])?,))?;
    /// assert!(plan.peak_bytes >= 16 * 8 * 4); // what the sum reads is stored
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn memory<I, O: OutputTypes>(
        &self,
        program: &Program<I, O>,
        inputs: impl RunInputs<I>,
    ) -> Result<MemoryPlan> {
        let mut inputs = inputs;
        program.memory_of::<OnDevice>(&mut inputs)
    }

    /// Reports the steps of a run on a device with inputs of these layouts, like
    /// [`Program::report`].
    ///
    /// # Errors
    ///
    /// The errors of [`Program::report`].
    ///
    /// ```
    /// # use tenure::Program;
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([64, 64]);
    ///     graph.program((x,), (x * 2.0 + 1.0).matmul(x))
    /// })?;
    /// let x = stream.zeros([64, 64])?;
    /// let report = stream.report(&program, (&x,))?;
    /// assert_eq!(report.steps.len(), 2);
    /// let measured = stream.measure(&program, (&x,), 3)?;
    /// assert!(measured.nanoseconds().unwrap() > 0);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn report<I, O: OutputTypes>(
        &self,
        program: &Program<I, O>,
        inputs: impl RunInputs<I>,
    ) -> Result<Report> {
        let mut inputs = inputs;
        program.report_of::<_, OnDevice>(&mut inputs)
    }

    /// Reports like [`report`](Self::report), with the least time of each step over `runs` runs on
    /// these inputs, at least one, like [`Program::measure`]. It waits after each step, so that the
    /// time includes the step's launches.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
    pub fn measure<I, O: OutputTypes>(
        &self,
        program: &Program<I, O>,
        inputs: impl RunInputs<I>,
        runs: usize,
    ) -> Result<Report> {
        let mut inputs = inputs;
        program.measured::<OnDevice>(self, &mut inputs, runs)
    }
}

/// Runs on a device.
impl<I, O: OutputTypes> Bound<I, O, OnDevice> {
    /// Enqueues a run, on the stream that the program was bound by, that computes the outputs for
    /// these inputs into memory of the device. All have the layouts that the program is bound to.
    ///
    /// # Errors
    ///
    /// The errors of [`Stream::run_into`]; `InvalidArgument` also for another layout or device.
    pub fn run(
        &self,
        inputs: impl RunInputs<I>,
        outputs: impl RunOutputs<O>,
    ) -> Result<(), Refused> {
        let (mut inputs, mut outputs) = (inputs, outputs);
        OnDevice::within(&self.kept, || {
            self.parts.ran(|call| lend(&mut inputs, &mut outputs, call))
        })
    }

    /// Enqueues a [`run`](Self::run), and writes the [shapes](Self::shapes) of the outputs.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run); `InvalidArgument` also for the shapes of another program.
    pub fn run_shapes(
        &self,
        inputs: impl RunInputs<I>,
        outputs: impl RunOutputs<O>,
        shapes: &mut Shapes,
    ) -> Result<(), Refused> {
        let (mut inputs, mut outputs) = (inputs, outputs);
        OnDevice::within(&self.kept, || {
            self.parts.ran_shapes(|call| lend(&mut inputs, &mut outputs, call), shapes)
        })
    }
}
