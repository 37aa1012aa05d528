//! Programs that are captured on a device: one run, enqueued again and again as a whole.

// See `bound.rs` for the reason.
#![allow(clippy::result_large_err)]

use super::bound::{BoundIn, Refused, sealed};
use super::{Bound, InputTypes, OutputTypes, Program, Updated};
use crate::cuda::{Stream, Tensor, TensorView, TensorViewMut};
use crate::dtype::Element;
use crate::error::Result;
use crate::expr::OnDevice;
use crate::program::calls::{Binding, OutputMemory, ProgramCall};
use crate::raw::expression::LendView;

/// Tensors of a device that a [captured](Captured) program has for the inputs of these types: in
/// the form of the program's inputs, one for each. Sealed.
pub trait HeldInputs {
    /// The tensors, which are moved in.
    type Held;
    /// To read from between runs.
    type Views<'a>;
    /// To write to between runs.
    type ViewsMut<'a>;
    #[doc(hidden)]
    fn views(held: &Self::Held) -> Self::Views<'_>;
    #[doc(hidden)]
    fn views_mut(held: &mut Self::Held) -> Self::ViewsMut<'_>;
    #[doc(hidden)]
    fn lend_held<'s>(held: &'s mut Self::Held, call: &mut ProgramCall<'_, 's>);
}

/// Tensors of a device that a [captured](Captured) program has for the outputs of these types: in
/// the form of the program's outputs, one for each. Sealed.
pub trait HeldOutputs {
    /// The tensors, which are moved in.
    type HeldOut;
    /// To read from between runs.
    type OutViews<'a>;
    #[doc(hidden)]
    fn out_views(held: &Self::HeldOut) -> Self::OutViews<'_>;
    #[doc(hidden)]
    fn lend_held_out<'s>(held: &'s mut Self::HeldOut, call: &mut ProgramCall<'_, 's>);
}

/// One.
impl<T: Element> HeldInputs for T {
    type Held = Tensor<T>;
    type Views<'a> = TensorView<'a, T>;
    type ViewsMut<'a> = TensorViewMut<'a, T>;

    fn views(held: &Tensor<T>) -> TensorView<'_, T> {
        held.view()
    }
    fn views_mut(held: &mut Tensor<T>) -> TensorViewMut<'_, T> {
        held.view_mut()
    }
    fn lend_held<'s>(held: &'s mut Tensor<T>, call: &mut ProgramCall<'_, 's>) {
        call.input(LendView::<T, OnDevice>::lent_leaf(held));
    }
}
impl<T: Element> HeldInputs for Updated<T> {
    type Held = Tensor<T>;
    type Views<'a> = TensorView<'a, T>;
    type ViewsMut<'a> = TensorViewMut<'a, T>;

    fn views(held: &Tensor<T>) -> TensorView<'_, T> {
        held.view()
    }
    fn views_mut(held: &mut Tensor<T>) -> TensorViewMut<'_, T> {
        held.view_mut()
    }
    fn lend_held<'s>(held: &'s mut Tensor<T>, call: &mut ProgramCall<'_, 's>) {
        call.updated_of(held.view_mut().into());
    }
}
impl<T: Element> HeldOutputs for T {
    type HeldOut = Tensor<T>;
    type OutViews<'a> = TensorView<'a, T>;

    fn out_views(held: &Tensor<T>) -> TensorView<'_, T> {
        held.view()
    }
    fn lend_held_out<'s>(held: &'s mut Tensor<T>, call: &mut ProgramCall<'_, 's>) {
        call.output_of(held.view_mut().into());
    }
}

/// Arrays, and `Vec` for outputs.
impl<K: HeldInputs, const N: usize> HeldInputs for [K; N] {
    type Held = [K::Held; N];
    type Views<'a> = [K::Views<'a>; N];
    type ViewsMut<'a> = [K::ViewsMut<'a>; N];

    fn views(held: &[K::Held; N]) -> [K::Views<'_>; N] {
        held.each_ref().map(K::views)
    }
    fn views_mut(held: &mut [K::Held; N]) -> [K::ViewsMut<'_>; N] {
        held.each_mut().map(K::views_mut)
    }
    fn lend_held<'s>(held: &'s mut [K::Held; N], call: &mut ProgramCall<'_, 's>) {
        for held in held {
            K::lend_held(held, call);
        }
    }
}
impl<T: Element, const N: usize> HeldOutputs for [T; N] {
    type HeldOut = [Tensor<T>; N];
    type OutViews<'a> = [TensorView<'a, T>; N];

    fn out_views(held: &[Tensor<T>; N]) -> [TensorView<'_, T>; N] {
        held.each_ref().map(Tensor::view)
    }
    fn lend_held_out<'s>(held: &'s mut [Tensor<T>; N], call: &mut ProgramCall<'_, 's>) {
        for held in held {
            call.output_of(held.view_mut().into());
        }
    }
}
impl<T: Element> HeldOutputs for Vec<T> {
    type HeldOut = Vec<Tensor<T>>;
    type OutViews<'a> = Vec<TensorView<'a, T>>;

    fn out_views(held: &Vec<Tensor<T>>) -> Vec<TensorView<'_, T>> {
        held.iter().map(Tensor::view).collect()
    }
    fn lend_held_out<'s>(held: &'s mut Vec<Tensor<T>>, call: &mut ProgramCall<'_, 's>) {
        for held in held {
            call.output_of(held.view_mut().into());
        }
    }
}

/// None.
impl HeldInputs for () {
    type Held = ();
    type Views<'a> = ();
    type ViewsMut<'a> = ();

    fn views((): &()) {}
    fn views_mut((): &mut ()) {}
    fn lend_held<'s>((): &'s mut (), _: &mut ProgramCall<'_, 's>) {}
}
impl HeldOutputs for () {
    type HeldOut = ();
    type OutViews<'a> = ();

    fn out_views((): &()) {}
    fn lend_held_out<'s>((): &'s mut (), _: &mut ProgramCall<'_, 's>) {}
}

macro_rules! tuples {
    ($($($element:ident)+;)*) => {$(
        impl<$($element: HeldInputs),+> HeldInputs for ($($element,)+) {
            type Held = ($($element::Held,)+);
            type Views<'a> = ($($element::Views<'a>,)+);
            type ViewsMut<'a> = ($($element::ViewsMut<'a>,)+);

            #[allow(non_snake_case, reason = "a variable for each type")]
            fn views(held: &Self::Held) -> Self::Views<'_> {
                let ($($element,)+) = held;
                ($($element::views($element),)+)
            }
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn views_mut(held: &mut Self::Held) -> Self::ViewsMut<'_> {
                let ($($element,)+) = held;
                ($($element::views_mut($element),)+)
            }
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn lend_held<'s>(held: &'s mut Self::Held, call: &mut ProgramCall<'_, 's>) {
                let ($($element,)+) = held;
                $($element::lend_held($element, call);)+
            }
        }
        impl<$($element: Element),+> HeldOutputs for ($($element,)+) {
            type HeldOut = ($(Tensor<$element>,)+);
            type OutViews<'a> = ($(TensorView<'a, $element>,)+);

            #[allow(non_snake_case, reason = "a variable for each type")]
            fn out_views(held: &Self::HeldOut) -> Self::OutViews<'_> {
                let ($($element,)+) = held;
                ($($element.view(),)+)
            }
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn lend_held_out<'s>(held: &'s mut Self::HeldOut, call: &mut ProgramCall<'_, 's>) {
                let ($($element,)+) = held;
                $(call.output_of($element.view_mut().into());)+
            }
        }
    )*};
}

tuples! {
    T1;
    T1 T2;
    T1 T2 T3;
    T1 T2 T3 T4;
    T1 T2 T3 T4 T5;
    T1 T2 T3 T4 T5 T6;
    T1 T2 T3 T4 T5 T6 T7;
    T1 T2 T3 T4 T5 T6 T7 T8;
}

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
    inputs: I::Held,
    outputs: O::HeldOut,
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
    pub fn outputs(&self) -> O::OutViews<'_> {
        O::out_views(&self.kept.outputs)
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
    pub fn into_parts(self) -> (I::Held, O::HeldOut) {
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
        inputs: I::Held,
        outputs: O::HeldOut,
    ) -> Result<Bound<I, O, Captured>> {
        let (mut inputs, mut outputs) = (inputs, outputs);
        let parts = program.parts(
            Binding::Captured,
            |call| {
                I::lend_held(&mut inputs, call);
                O::lend_held_out(&mut outputs, call);
            },
            |call| OnDevice::within(self, call),
        )?;
        Ok(Bound::of(parts, Capture { stream: self.clone(), inputs, outputs }))
    }
}
