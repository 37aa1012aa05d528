//! Bound programs: runs that check only what can change between them.

// A refusal has its message inside, so that it is not allocated. Only a refused run writes it.
#![allow(clippy::result_large_err)]

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::state::{CallSites, located};
use super::{MemoryPlan, OutputTypes, Program, RunInputs, RunOutputs};
use crate::cuda::Stream;
use crate::error::{Error, ErrorKind, Result};
use crate::expr::{Host, OnDevice};
use crate::program::calls::{
    Binding, BoundHandle, ProgramCall, REFUSED_VALUES, Refusal, RunExtents,
};
use crate::program::tree::{LendAs, LendOut};

/// A [`Program`] that is bound to the layouts of its inputs and outputs: element types, shapes and
/// strides. A run takes any memory of these layouts, and looks for no schedule.
///
/// | made by | a run | runs at once |
/// | --- | --- | --- |
/// | [`Program::bind`] | computes in the current [context](crate::Context) | any number |
/// | [`Program::bind_preallocated`] | allocates nothing, takes no lock, makes no system call | one |
/// | [`Stream::bind`] | is enqueued on the stream | any number |
/// | [`Stream::capture`] | is enqueued as one launch, on tensors that it holds | one |
///
/// `P` says which: [`Host`](crate::expr::Host) for the first two, [`OnDevice`], and
/// [`Captured`](crate::program::Captured).
///
/// ```
/// #![forbid(unsafe_code)]
/// use tenure::{Program, Tensor};
///
/// # fn main() -> tenure::Result<()> {
/// let program = Program::trace(|graph| {
///     let (a, b) = (graph.input::<f32>([graph.extent("n", 1000)]), graph.input::<f32>([1]));
///     graph.program((a, b), (a * b + 1.0).sqrt())
/// })?;
/// let (a, b) = (Tensor::from([1.0, 4.0]), [8.0]);
/// let mut out = [0.0; 2];
/// let bound = program.bind((&a, &b), &mut out)?;
/// bound.run((&[1.0, 3.0], &b), &mut out)?; // other memory of the same layouts
/// assert_eq!(out, [3.0, 5.0]);
///
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| {
///             let mut own = [0.0; 2];
///             bound.run((&a, &b), &mut own).unwrap();
///             assert_eq!(own, [3.0, 33.0_f32.sqrt()]);
///         });
///     }
/// });
/// # Ok(())
/// # }
/// ```
pub struct Bound<I, O, P: BoundIn<I, O> = Host> {
    // Ends before the tensors that `kept` may have.
    pub(super) parts: Parts,
    pub(super) kept: P::Kept,
    _types: PhantomData<fn(I) -> O>,
}

/// The parts of a bound program in any place.
pub(super) struct Parts {
    pub(super) handle: BoundHandle,
    /// Locations of operations in the source, for errors.
    call_sites: Arc<CallSites>,
    shapes: Shapes,
    memory: MemoryPlan,
}

/// Where a [`Bound`] program runs: on the host, on a device, or captured there. Sealed.
pub trait BoundIn<I, O>: sealed::Sealed {
    #[doc(hidden)]
    type Kept;
}

impl<I, O> BoundIn<I, O> for Host {
    type Kept = ();
}
impl<I, O> BoundIn<I, O> for OnDevice {
    type Kept = Stream;
}

pub(super) mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::expr::Host {}
    impl Sealed for crate::expr::OnDevice {}
}

impl<I, O, P: BoundIn<I, O>> fmt::Debug for Bound<I, O, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound")
            .field("shapes", &self.parts.shapes)
            .field("memory", &self.parts.memory)
            .finish_non_exhaustive()
    }
}

/// The shapes of the outputs of a [`Bound`] program, in their order.
///
/// ```
/// use tenure::Program;
///
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f32>([2, 3]);
///     graph.program((x,), (x.t(), x.sum(1)))
/// })?;
/// let bound = program.bind((&[[0.0; 3]; 2],), (&mut [[0.0; 2]; 3], &mut [0.0; 2]))?;
/// let shapes = bound.shapes();
/// assert_eq!(shapes.get(0), Some(&[3, 2][..]));
/// assert_eq!(shapes.iter().collect::<Vec<_>>(), [&[3, 2][..], &[2]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone)]
pub struct Shapes {
    /// The extents that the library writes, also of outputs that update inputs.
    extents: Box<[RunExtents]>,
    shapes: Box<[Vec<usize>]>,
}

impl Shapes {
    /// The shape of an output; `None` beyond the last one.
    pub fn get(&self, output: usize) -> Option<&[usize]> {
        self.shapes.get(output).map(Vec::as_slice)
    }

    /// The shapes of all outputs.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[usize]> {
        self.shapes.iter().map(Vec::as_slice)
    }
}

impl fmt::Debug for Shapes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The reason why a [`Bound`] program did not run: an [`Error`] with its message inside, so that it
/// is not allocated. `?` makes it an [`Error`], whose message has the operation's place in the
/// source.
///
/// ```
/// use tenure::{ErrorKind, Program};
///
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f32>([graph.extent("n", 8)]);
///     graph.program((x,), x * 2.0)
/// })?;
/// let mut out = [0.0; 3];
/// let bound = program.bind((&[0.0; 3],), &mut out)?;
/// let refused = bound.run((&[0.0; 2],), &mut out).unwrap_err();
/// assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
/// let why = "inputs[0] is f32 with the shape [2] but the program is bound to f32 with [3]";
/// assert_eq!(refused.message(), why);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone)]
pub struct Refused {
    refusal: Refusal,
    call_sites: Arc<CallSites>,
}

impl Refused {
    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.refusal.kind
    }

    /// The message, with the value and the bound.
    pub fn message(&self) -> &str {
        self.refusal.message()
    }
}

impl fmt::Debug for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind(), self.message())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Refused {}

/// Allocates.
impl From<Refused> for Error {
    fn from(refused: Refused) -> Error {
        located(&refused.call_sites, Error::new(refused.kind(), refused.message()))
    }
}

/// Binding.
impl<I, O: OutputTypes> Program<I, O> {
    /// Binds the program to the layouts of these inputs and outputs, and reads or writes no element
    /// of them. Any number of threads may run it at once.
    ///
    /// It holds the program, with its [budget](Self::with_budget) and whether it is
    /// [checked](Self::checked).
    ///
    /// # Errors
    ///
    /// The errors of [`run_into`](Self::run_into), except those of the data.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f64>([2, 2]);
    ///     graph.program((x,), (x.sum(0), x.argmax(1)))
    /// })?;
    /// let (mut sum, mut best) = ([0.0; 2], [0; 2]);
    /// let bound = program.bind((&[[0.0; 2]; 2],), (&mut sum, &mut best))?;
    /// bound.run((&[[1.0, 2.0], [4.0, 3.0]],), (&mut sum, &mut best))?;
    /// assert_eq!((sum, best), ([5.0, 5.0], [1, 0]));
    /// # Ok::<(), Error>(())
    /// ```
    #[doc(alias("compile", "plan"))]
    pub fn bind(
        &self,
        inputs: impl RunInputs<I>,
        outputs: impl RunOutputs<O>,
    ) -> Result<Bound<I, O>> {
        self.bind_host(Binding::Plain, inputs, outputs)
    }

    /// Binds the program as [`bind`](Self::bind) does, and takes all memory that a run needs. The
    /// program is run once for that, on zeros in memory of its own, with all bodies of its branches
    /// and loops.
    ///
    /// A run computes on the calling thread only. It allocates nothing, takes no lock and makes no
    /// system call, whether it succeeds or is refused: fit for audio and for control loops. The
    /// first call that a thread makes into the library may take thread-local memory. There is
    /// memory for one run: a second thread that runs it meanwhile is refused, as `Busy`.
    ///
    /// # Errors
    ///
    /// The errors of [`bind`](Self::bind). `Unsupported`, with the location in the source: an
    /// operation on sparse matrices, and one whose shape follows from what a run
    /// [finds](crate::Traced::nonzero) in a way that takes memory. `Unsupported` also for a program
    /// that is [checked](Self::checked). `OutOfMemory`.
    ///
    /// ```
    /// #![forbid(unsafe_code)]
    /// use tenure::Program;
    ///
    /// # fn main() -> tenure::Result<()> {
    /// // A filter of one pole, on blocks of 4 samples.
    /// let filter = Program::trace(|graph| {
    ///     let (x, last) = (graph.input::<f32>([4]), graph.input::<f32>([1]));
    ///     let decay = graph.copy_constant(&[0.5_f32, 0.25, 0.125, 0.0625]);
    ///     let rise = graph.copy_constant(&[2.0_f32, 4.0, 8.0, 16.0]);
    ///     let y = (x * rise).cumsum(0) * decay + last * decay;
    ///     graph.program((x, last.updated_by(y.slice(0, 3, 4))), y)
    /// })?;
    /// let (mut block, mut last) = ([0.0_f32; 4], [0.0_f32]);
    /// let bound = filter.bind_preallocated((&[0.0; 4], &mut last), &mut block)?;
    ///
    /// bound.run((&[1.0, 0.0, 0.0, 0.0], &mut last), &mut block)?;
    /// assert_eq!(block, [1.0, 0.5, 0.25, 0.125]);
    /// bound.run((&[0.0; 4], &mut last), &mut block)?;
    /// assert_eq!(block[0], 0.0625);
    /// # Ok(())
    /// # }
    /// ```
    pub fn bind_preallocated(
        &self,
        inputs: impl RunInputs<I>,
        outputs: impl RunOutputs<O>,
    ) -> Result<Bound<I, O>> {
        if self.options.flags & tenure_sys::TNR_RUN_CHECKED != 0 {
            let why = "the program is checked, but a preallocated run checks no custom operation, as \
                       that takes memory";
            return Err(Error::new(ErrorKind::Unsupported, why));
        }
        if self.options.flags & REFUSED_VALUES != 0 {
            let why = "the program refuses NaN or infinities, but a preallocated run does not look \
                       at results";
            return Err(Error::new(ErrorKind::Unsupported, why));
        }
        self.bind_host(Binding::Preallocated, inputs, outputs)
    }

    fn bind_host(
        &self,
        binding: Binding,
        inputs: impl RunInputs<I>,
        outputs: impl RunOutputs<O>,
    ) -> Result<Bound<I, O>> {
        let (mut inputs, mut outputs) = (inputs, outputs);
        let parts =
            self.parts(binding, |call| lend(&mut inputs, &mut outputs, call), |call| call())?;
        Ok(Bound::of(parts, ()))
    }
}

impl<I, O> Program<I, O> {
    pub(super) fn parts<'s>(
        &self,
        binding: Binding,
        lend: impl FnOnce(&mut ProgramCall<'_, 's>),
        within: impl FnOnce(&mut dyn FnMut()),
    ) -> Result<Parts> {
        let handle = self.shared.handle.bind(binding, self.options, lend, within);
        let (handle, shapes) = handle.map_err(|error| self.located(error))?;
        let memory = MemoryPlan::of(&handle.memory()?);
        let extents = vec![RunExtents::default(); handle.output_count()].into();
        let shapes = Shapes { extents, shapes: shapes.into() };
        Ok(Parts { handle, call_sites: Arc::clone(&self.shared.call_sites), shapes, memory })
    }
}

#[inline]
pub(super) fn lend<'s, I, O, P>(
    inputs: &'s mut impl LendAs<I, P>,
    outputs: &'s mut impl LendOut<O, P>,
    call: &mut ProgramCall<'_, 's>,
) {
    inputs.lend(call);
    outputs.lend_out(call);
}

impl<I, O, P: BoundIn<I, O>> Bound<I, O, P> {
    pub(super) fn of(parts: Parts, kept: P::Kept) -> Self {
        Bound { parts, kept, _types: PhantomData }
    }

    /// The memory of a run. The scratch memory of a preallocated or captured program is exact; of
    /// others it is that of runs so far.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([256, 256]);
    ///     graph.program((x,), x.matmul(x))
    /// })?;
    /// let (x, mut out) = (Tensor::zeros([256, 256])?, Tensor::zeros([256, 256])?);
    /// let bound = program.bind_preallocated((&x,), &mut out)?;
    /// assert_eq!(program.memory((&x,))?.peak_bytes, bound.memory().peak_bytes);
    /// assert!(bound.memory().scratch_bytes > 0);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn memory(&self) -> MemoryPlan {
        // It cannot fail, as the handle is alive: later scratch memory, or that of the binding.
        self.parts.handle.memory().map_or(self.parts.memory, |memory| MemoryPlan::of(&memory))
    }

    /// The shapes of the outputs that it is bound to, without those that update inputs. Where the
    /// program [finds](crate::Traced::nonzero) how large an output is, the largest.
    #[must_use]
    pub fn shapes(&self) -> Shapes {
        self.parts.shapes.clone()
    }
}

impl Parts {
    #[cold]
    pub(super) fn refused(&self, refusal: Refusal) -> Refused {
        Refused { refusal, call_sites: Arc::clone(&self.call_sites) }
    }

    #[inline]
    pub(super) fn ran<'s>(
        &self,
        lend: impl FnOnce(&mut ProgramCall<'_, 's>),
    ) -> Result<(), Refused> {
        self.handle.run(lend, &mut []).map_err(|refusal| self.refused(refusal))
    }

    pub(super) fn ran_shapes<'s>(
        &self,
        lend: impl FnOnce(&mut ProgramCall<'_, 's>),
        shapes: &mut Shapes,
    ) -> Result<(), Refused> {
        let (given, has) = (shapes.extents.len(), self.handle.output_count());
        let are_alike =
            shapes.shapes.iter().zip(&self.shapes.shapes).all(|(a, b)| a.len() == b.len());
        if given != has || shapes.shapes.len() != self.shapes.shapes.len() || !are_alike {
            return Err(self.refused(Refusal::new(
                ErrorKind::InvalidArgument,
                format_args!("shapes are of other outputs than the {has} of this program"),
            )));
        }
        self.handle.run(lend, &mut shapes.extents).map_err(|refusal| self.refused(refusal))?;
        for (shape, extents) in shapes.shapes.iter_mut().zip(&shapes.extents) {
            for (extent, found) in shape.iter_mut().zip(extents) {
                *extent = *found as usize;
            }
        }
        Ok(())
    }
}

/// Runs on the host.
impl<I, O: OutputTypes> Bound<I, O> {
    /// Computes the outputs for these inputs into memory of the caller. All have the layouts that
    /// the program is bound to.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: an input or output of another layout; outputs are then untouched.
    /// `InvalidArgument` also of the data: an index that is out of bounds, more elements than a
    /// node may find, a [loop](crate::Graph::while_loop) that reaches its limit; outputs then hold
    /// a mixture. `Busy`: another thread runs a [preallocated](Program::bind_preallocated) program.
    /// `OutOfMemory` of others.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let (x, i) = (graph.input::<f32>([2]), graph.input::<i64>([1]));
    ///     graph.program((x, i), x.take(0, i))
    /// })?;
    /// let mut out = [0.0];
    /// let bound = program.bind((&[0.0; 2], &[0]), &mut out)?;
    /// bound.run((&[1.0, 2.0], &[1]), &mut out)?;
    /// assert_eq!(out, [2.0]);
    /// let refused = bound.run((&[1.0, 2.0], &[7]), &mut out).unwrap_err();
    /// assert!(refused.message().contains("indices[0] is 7"));
    /// assert!(Error::from(refused).message().contains("take at "));
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn run(
        &self,
        inputs: impl RunInputs<I>,
        outputs: impl RunOutputs<O>,
    ) -> Result<(), Refused> {
        let (mut inputs, mut outputs) = (inputs, outputs);
        self.parts.ran(|call| lend(&mut inputs, &mut outputs, call))
    }

    /// Runs it as [`run`](Self::run) does, and writes the shapes of the outputs to those that
    /// [`shapes`](Self::shapes) gives: for programs that [find](crate::Traced::nonzero) how large
    /// outputs are. The first part of an output along each axis is written. A refused run leaves
    /// the shapes as they were. Nothing is allocated.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run); `InvalidArgument` also for the shapes of another program.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<i32>([5]);
    ///     let (positive, _) = x.masked_select(x.gt(0), "positive", 3);
    ///     graph.program((x,), positive)
    /// })?;
    /// let mut out = [0; 3];
    /// let bound = program.bind_preallocated((&[0; 5],), &mut out)?;
    /// let mut shapes = bound.shapes();
    /// assert_eq!(shapes.get(0), Some(&[3][..]));
    /// bound.run_shapes((&[5, -1, 0, 7, -2],), &mut out, &mut shapes)?;
    /// assert_eq!((out, shapes.get(0)), ([5, 7, 0], Some(&[2][..])));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn run_shapes(
        &self,
        inputs: impl RunInputs<I>,
        outputs: impl RunOutputs<O>,
        shapes: &mut Shapes,
    ) -> Result<(), Refused> {
        let (mut inputs, mut outputs) = (inputs, outputs);
        self.parts.ran_shapes(|call| lend(&mut inputs, &mut outputs, call), shapes)
    }
}
