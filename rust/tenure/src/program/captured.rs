//! Programs that are captured on a device: one run, enqueued again and again as a whole.

// See `bound.rs` for the reason.
#![allow(clippy::result_large_err)]

use super::bound::{BoundIn, Refused, sealed};
use super::{Bound, InputTypes, OutputTypes, Program};
use crate::cuda::Stream;
use crate::error::Result;
use crate::expr::OnDevice;
use crate::program::calls::{Binding, OutputMemory};
use crate::program::tree::{Fill, LendUnique};

/// One run of a [`Program`] on a device that was recorded, with the memory of its inputs and
/// outputs, and is enqueued as a whole: a [`Bound`] in this place, by [`Stream::capture`].
///
/// It has the tensors. Between runs its inputs are written, and its outputs read, through views;
/// [`into_parts`](Bound::into_parts) gives the tensors back. It may be forgotten: then nothing of
/// it ends, and nothing more runs.
///
/// ```
/// #![forbid(unsafe_code)]
/// use tenure::Program;
/// use tenure::cuda::Device;
///
/// # fn main() -> tenure::Result<()> {
/// let Ok(device) = Device::new(0) else { return Ok(()) };
/// let stream = device.stream()?;
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f32>([3]);
///     graph.program((x,), ((x * 2.0).relu(), x.sum(0)))
/// })?;
/// let outputs = (stream.zeros([3])?, stream.zeros([])?);
/// let mut captured = stream.capture(&program, (stream.zeros([3])?,), outputs)?;
/// for batch in [[1.0_f32, -2.0, 3.0], [4.0, 5.0, -6.0]] {
///     stream.upload_into(&batch, &mut captured.inputs_mut().0)?;
///     captured.run()?; // one launch
///     let (doubled, sum) = captured.outputs();
///     assert_eq!(stream.to_vec(doubled)?, batch.map(|x| (x * 2.0).max(0.0)));
///     assert_eq!(stream.to_vec(sum)?, [batch.iter().sum::<f32>()]);
/// }
/// let ((x,), _) = captured.into_parts();
/// assert_eq!(stream.to_vec(&x)?, [4.0, 5.0, -6.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Captured;

impl sealed::Sealed for Captured {}
impl<I: InputTypes, O: OutputTypes> BoundIn<I, O> for Captured {
    type Kept = Capture<I, O>;
}

// The invariant: the program is captured with these tensors, which stay where they are, and are
// lent only as views: code that held one of the tensors would see its elements change.
#[doc(hidden)]
pub struct Capture<I: InputTypes, O: OutputTypes> {
    stream: Stream,
    inputs: I::DeviceTensors,
    outputs: O::DeviceTensors,
}

impl<I: InputTypes, O: OutputTypes> Bound<I, O, Captured> {
    /// Enqueues the run on the stream that it was captured by, as one launch. The run comes after
    /// all earlier work on its memory, on any stream, and before all later work.
    ///
    /// # Errors
    ///
    /// `DeviceError`.
    ///
    /// ```
    /// # use tenure::Program;
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let step = Program::trace(|graph| {
    ///     let (w, gradient) = (graph.input::<f32>([2]), graph.input::<f32>([2]));
    ///     graph.program((w.updated_by(w - gradient * 0.5), gradient), ())
    /// })?;
    /// let inputs = (stream.upload(&[1.0_f32, 2.0])?, stream.upload(&[2.0_f32, -2.0])?);
    /// let mut captured = stream.capture(&step, inputs, ())?;
    /// captured.run()?;
    /// captured.run()?;
    /// assert_eq!(stream.to_vec(captured.inputs().0)?, [-1.0, 4.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn run(&mut self) -> Result<(), Refused> {
        // SAFETY: the tensors are this program's, by the invariant, and `&mut self` says that no
        // view of them is alive.
        let ran =
            OnDevice::within(&self.kept.stream, || unsafe { self.parts.handle.run_captured() });
        ran.map_err(|refusal| self.parts.refused(refusal))
    }

    /// Views of the inputs.
    ///
    /// ```
    /// # use tenure::Program;
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([2]);
    ///     graph.program((x,), -x)
    /// })?;
    /// let x = stream.full([2], 1.5_f32)?;
    /// let captured = stream.capture(&program, (x,), stream.zeros([2])?)?;
    /// assert_eq!(stream.to_vec(captured.inputs().0)?, [1.5, 1.5]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn inputs(&self) -> I::Views<'_> {
        I::views(&self.kept.inputs)
    }

    /// Views of the inputs, to write what the next run reads.
    ///
    /// ```
    /// # use tenure::Program;
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([2]);
    ///     graph.program((x,), -x)
    /// })?;
    /// let mut captured = stream.capture(&program, (stream.zeros([2])?,), stream.zeros([2])?)?;
    /// stream.fill(&mut captured.inputs_mut().0, 3.0)?;
    /// captured.run()?;
    /// assert_eq!(stream.to_vec(captured.outputs())?, [-3.0, -3.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn inputs_mut(&mut self) -> I::ViewsMut<'_> {
        I::views_mut(&mut self.kept.inputs)
    }

    /// Views of the outputs, as the last run leaves them.
    ///
    /// ```
    /// # use tenure::Program;
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([2]);
    ///     graph.program((x,), -x)
    /// })?;
    /// let captured = stream.capture(&program, (stream.zeros([2])?,), stream.full([2], 7.0)?)?;
    /// assert_eq!(stream.to_vec(captured.outputs())?, [7.0, 7.0]); // nothing has run
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn outputs(&self) -> O::Views<'_> {
        O::views(&self.kept.outputs)
    }

    /// Returns the tensors, inputs and outputs. Enqueued work continues.
    ///
    /// ```
    /// # use tenure::Program;
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([2]);
    ///     graph.program((x,), -x)
    /// })?;
    /// let x = stream.full([2], 1.5_f32)?;
    /// let mut captured = stream.capture(&program, (x,), stream.zeros([2])?)?;
    /// captured.run()?;
    /// let (_, negated) = captured.into_parts();
    /// assert_eq!(stream.to_vec(&negated)?, [-1.5, -1.5]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn into_parts(self) -> (I::DeviceTensors, O::DeviceTensors) {
        (self.kept.inputs, self.kept.outputs)
    }
}

/// Programs that are captured.
impl Stream {
    /// Records a run of a program on these inputs and into these outputs, and reads or writes no
    /// element of them. Each [`run`](Bound::run) is one launch, whatever the number of its
    /// operations, with the bits of [`run_into`](Self::run_into); intermediate values are stored in
    /// memory that is allocated now.
    ///
    /// The program may be dropped. The first time on a device its constants are copied there, and
    /// waited for.
    ///
    /// # Errors
    ///
    /// The errors of [`run_into`](Self::run_into). `Unsupported`, with the operation's location in
    /// the source: an operation that devices do not compute; a custom operation; an operation that
    /// waits in a run, because it reads by index, divides integers by a value, or multiplies a
    /// sparse matrix. The tensors are dropped then.
    ///
    /// ```
    /// # use tenure::{ErrorKind, Program};
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let program = Program::trace(|graph| {
    ///     let (x, i) = (graph.input::<f32>([4]), graph.input::<i64>([2]));
    ///     graph.program((x, i), x.take(0, i))
    /// })?;
    /// let inputs = (stream.zeros([4])?, stream.zeros([2])?);
    /// let error = stream.capture(&program, inputs, stream.zeros([2])?).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Unsupported);
    /// assert!(error.message().contains("take at "), "{error}");
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("graph", "cudaStreamBeginCapture"))]
    pub fn capture<I: InputTypes, O: OutputTypes>(
        &self,
        program: &Program<I, O>,
        inputs: I::DeviceTensors,
        outputs: O::DeviceTensors,
    ) -> Result<Bound<I, O, Captured>> {
        let (mut inputs, mut outputs) = (inputs, outputs);
        let parts = program.parts(
            Binding::Captured,
            |call| {
                inputs.lend_unique(call);
                outputs.lend_filled(call);
            },
            |call| OnDevice::within(self, call),
        )?;
        Ok(Bound::of(parts, Capture { stream: self.clone(), inputs, outputs }))
    }
}
