//! Sealed programs: runs that ask nobody for anything.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{MemoryPlan, OutputTypes, Program, RunInputs, RunOutputs, Shared};
use crate::raw::program::{SealedHandle, last_message};
use crate::{Error, ErrorKind, Result};

/// Bytes of a message of the library, at most.
const MESSAGE: usize = 256;

/// A [`Program`] for inputs and outputs of some layouts, which has all memory that a run needs: by
/// [`Program::seal`].
///
/// On whatever thread it runs, it computes there alone, and allocates nothing, takes no lock and
/// makes no system call, whether it succeeds or is refused: fit for audio and for control loops. The
/// first call that a thread makes into the library may take thread-local memory.
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
/// let mut sealed = filter.seal((&[0.0; 4], &mut last), &mut block)?;
///
/// sealed.run_into((&[1.0, 0.0, 0.0, 0.0], &mut last), &mut block)?;
/// assert_eq!(block, [1.0, 0.5, 0.25, 0.125]);
/// sealed.run_into((&[0.0; 4], &mut last), &mut block)?;
/// assert_eq!(block[0], 0.0625);
/// # Ok(())
/// # }
/// ```
pub struct SealedProgram<I, O> {
    // Ends before the program.
    handle: SealedHandle,
    shared: Arc<Shared>,
    memory: MemoryPlan,
    message: [u8; MESSAGE],
    _types: PhantomData<fn(I) -> O>,
}

impl<I, O> fmt::Debug for SealedProgram<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedProgram").finish_non_exhaustive()
    }
}

/// Why a [`SealedProgram`] did not run: an [`Error`] that has not been allocated, with a message
/// that is the program's until it runs again.
///
/// ```
/// use tenure::{ErrorKind, Program};
///
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f32>([graph.extent("n", 8)]);
///     graph.program((x,), x * 2.0)
/// })?;
/// let mut out = [0.0; 3];
/// let mut sealed = program.seal((&[0.0; 3],), &mut out)?;
/// let refused = sealed.run_into((&[0.0; 2],), &mut out).err().unwrap();
/// assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
/// assert!(refused.message().contains("inputs[0] is f32 with the shape [2]"));
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Refused<'a> {
    kind: ErrorKind,
    message: &'a [u8],
}

impl<'a> Refused<'a> {
    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The message, with the value and the bound.
    pub fn message(&self) -> &'a str {
        // Messages are of ASCII, but names of the user's may be cut.
        match std::str::from_utf8(self.message) {
            Ok(message) => message,
            Err(end) => std::str::from_utf8(&self.message[..end.valid_up_to()]).unwrap_or(""),
        }
    }
}

impl fmt::Debug for Refused<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message())
    }
}

impl fmt::Display for Refused<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Refused<'_> {}

/// Allocates.
impl From<Refused<'_>> for Error {
    fn from(refused: Refused<'_>) -> Error {
        Error::new(refused.kind, refused.message())
    }
}

impl<I, O: OutputTypes> Program<I, O> {
    /// The program for inputs and outputs of the layouts that these have, of which no element is
    /// read or written, with all memory that a run needs: for that it is run once now, on zeros in
    /// memory of its own, with all bodies of its branches and loops.
    ///
    /// # Errors
    ///
    /// As [`run_into`](Self::run_into); `Unsupported` for operations on sparse matrices, and where
    /// shapes of some others follow from what a run [finds](crate::Traced::nonzero): the message
    /// has the place in the source. `OutOfMemory`.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let (x, i) = (graph.input::<f32>([2]), graph.input::<i64>([1]));
    ///     graph.program((x, i), x.take(0, i))
    /// })?;
    /// let mut out = [0.0];
    /// let mut sealed = program.seal((&[0.0; 2], &[0]), &mut out)?;
    /// sealed.run_into((&[1.0, 2.0], &[1]), &mut out)?;
    /// assert_eq!(out, [2.0]);
    /// let refused = sealed.run_into((&[1.0, 2.0], &[7]), &mut out).err().unwrap();
    /// assert!(refused.message().contains("indices[0] is 7"));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn seal(
        &self,
        inputs: impl RunInputs<I>,
        outputs: impl RunOutputs<O>,
    ) -> Result<SealedProgram<I, O>> {
        let (mut inputs, mut outputs) = (inputs, outputs);
        let handle = SealedHandle::new(&self.shared.handle, &mut inputs, &mut outputs)
            .map_err(|error| self.located(error))?;
        let memory = MemoryPlan::of(&handle.memory()?);
        let shared = Arc::clone(&self.shared);
        Ok(SealedProgram { handle, shared, memory, message: [0; MESSAGE], _types: PhantomData })
    }
}

impl<I, O: OutputTypes> SealedProgram<I, O> {
    /// The outputs on these inputs, into memory of the caller's, all of the layouts that it is
    /// sealed for.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: an input or output of another layout, where outputs are then untouched;
    /// what is refused of the data, as an index that is out of bounds, more elements than a node
    /// may find or a [loop](crate::Graph::while_loop) that reaches its limit, where they hold a
    /// mixture.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f64>([2, 2]);
    ///     graph.program((x,), (x.sum(0), x.argmax(1)))
    /// })?;
    /// let (mut sum, mut best) = ([0.0; 2], [0; 2]);
    /// let mut sealed = program.seal((&[[0.0; 2]; 2],), (&mut sum, &mut best))?;
    /// sealed.run_into((&[[1.0, 2.0], [4.0, 3.0]],), (&mut sum, &mut best))?;
    /// assert_eq!((sum, best), ([5.0, 5.0], [1, 0]));
    /// # Ok::<(), Error>(())
    /// ```
    #[inline]
    pub fn run_into(
        &mut self,
        inputs: impl RunInputs<I>,
        outputs: impl RunOutputs<O>,
    ) -> Result<(), Refused<'_>> {
        let (mut inputs, mut outputs) = (inputs, outputs);
        match self.handle.run_into(&self.shared.handle, &mut inputs, &mut outputs) {
            Ok(()) => Ok(()),
            Err(kind) => {
                let count = last_message(&mut self.message);
                Err(Refused { kind, message: &self.message[..count] })
            }
        }
    }

    /// The shape of an output of the last run: where the program [finds](crate::Traced::nonzero)
    /// how large it is, of the first part along each axis, which was written. `None` where the last
    /// run was refused what it found in the data, before the first one, and of no output.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<i32>([5]);
    ///     let (positive, _) = x.masked_select(x.greater(0), "positive", 3);
    ///     graph.program((x,), positive)
    /// })?;
    /// let mut out = [0; 3];
    /// let mut sealed = program.seal((&[0; 5],), &mut out)?;
    /// sealed.run_into((&[5, -1, 0, 7, -2],), &mut out)?;
    /// assert_eq!((out, sealed.output_shape(0)), ([5, 7, 0], Some(&[2][..])));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn output_shape(&mut self, output: usize) -> Option<&[usize]> {
        self.handle.output_shape(output)
    }

    /// The memory that a run takes, exactly, and that this has.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([256, 256]);
    ///     graph.program((x,), x.matmul(x))
    /// })?;
    /// let (x, mut out) = (Tensor::zeros([256, 256])?, Tensor::zeros([256, 256])?);
    /// let sealed = program.seal((&x,), &mut out)?;
    /// assert_eq!(program.memory((&x,))?.peak_bytes, sealed.memory().peak_bytes);
    /// assert!(sealed.memory().scratch_bytes > 0);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn memory(&self) -> MemoryPlan {
        self.memory
    }
}
