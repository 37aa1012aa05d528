//! Programs: graphs of operations that are traced once, with the memory between them planned, and
//! run on memory of any shape that they were traced for.
//!
//! [`Program::trace`] gives a closure a [`Graph`]. The closure makes [values](Traced) from the
//! graph and then the program: which values are its inputs, and which are its outputs.
//!
//! ```
//! #![forbid(unsafe_code)]
//! use tenure::{Program, Tensor};
//!
//! # fn main() -> tenure::Result<()> {
//! let weights = Tensor::from([[1.0_f32, -1.0], [0.5, 2.0]]).into_shared();
//! let program = Program::trace(|graph| {
//!     let rows = graph.extent("rows", 64); // found in the inputs of each run
//!     let x = graph.input::<f32>((rows, 2));
//!     let scores = (x.matmul(graph.constant(&weights)) + 1.0).relu();
//!     graph.program((x,), (scores, scores.argmax(1)))
//! })?;
//!
//! let (scores, best) = program.run((&[[1.0, 2.0], [3.0, 0.0], [0.0, -4.0]],))?;
//! assert_eq!(scores, [[3.0, 4.0], [4.0, 0.0], [0.0, 0.0]]);
//! assert_eq!(best, [1, 0, 0]);
//! # Ok(())
//! # }
//! ```

mod bound;
#[allow(unsafe_code)]
pub(crate) mod calls;
#[allow(unsafe_code)]
mod captured;
mod control;
mod custom;
mod extent;
#[cfg(feature = "programs")]
pub mod file;
mod found;
mod functions;
mod graph;
mod images;
mod movement;
pub mod on_device;
#[cfg(feature = "onnx")]
pub mod onnx;
mod operators;
mod ordering;
mod products;
mod quantile;
mod random;
mod reduce;
pub mod report;
mod run;
mod sparse;
mod state;
mod traced;
pub mod tree;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
#[cfg(feature = "programs")]
use std::sync::{Mutex, OnceLock};

pub use crate::program::calls::custom::own::OperandTypes;
#[cfg(feature = "plugins")]
pub use crate::program::calls::custom::plugin::load_plugin;
pub use bound::{Bound, BoundIn, Refused, Shapes};
pub use captured::Captured;
pub use control::Body;
pub use extent::{Extent, IntoSizes, Size};
pub use graph::Graph;
pub(crate) use graph::probe;
pub use graph::quantization::Quantizable;
pub use graph::quantized::TracedQuantized;
pub use random::TracedGenerator;
pub use run::MemoryPlan;
pub use sparse::{TracedCsr, UpdatingCsr};
use state::{CallSites, State};
pub(crate) use traced::Num;
pub use traced::{IntoTraced, Traced, Updating};
pub use tree::{
    InputTypes, Inputs, Operands, OutputTypes, Outputs, RunInputs, RunOutputs, Tree, Updated,
};

use crate::dense::{SharedTensor, Tensor};
use crate::error::Result;
#[cfg(feature = "programs")]
use crate::program::calls::graph_record::GraphHandle;
use crate::program::calls::{Options, ProgramHandle};

/// A graph of operations that nothing changes any more, to be run by any number of threads.
///
/// `I` is the element type of its input, or a [tree] of the types of its inputs, with
/// [`Updated`] around those that a run writes; `O` are those of its outputs in the same way. A clone
/// is the same program.
///
/// A program holds its constants, and keeps the layouts that it was run with, up to 16, and memory
/// for one run of each: run again on memory of the same layouts, on one thread, it allocates
/// nothing but new outputs. The bits are those of the functions called one by one, for any number
/// of threads; but a bias or an activation that has become part of a product of `f16` or `bf16`
/// skips a rounding.
///
/// ```
/// use tenure::{Program, Tensor};
///
/// let program = Program::trace(|graph| {
///     let (a, b) = (graph.input::<f64>([2]), graph.input::<f64>([2]));
///     graph.program((a, b), a * b + 1.0)
/// })?;
/// assert_eq!(program.run((&[1.0, 2.0], &[3.0, 4.0]))?, [4.0, 9.0]);
///
/// let mut out = [0.0; 2];
/// std::thread::scope(|scope| {
///     scope.spawn(|| program.run_into((&[1.0, 2.0], &[0.0, 0.0]), &mut out));
/// });
/// assert_eq!(out, [1.0, 1.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub struct Program<I, O> {
    shared: Arc<Shared>,
    options: Options,
    _types: PhantomData<fn(I) -> O>,
}

struct Shared {
    handle: ProgramHandle,
    call_sites: Arc<CallSites>,
    /// By input.
    is_updated: Box<[bool]>,
    /// Lengths of `Vec`s among the outputs.
    output_lens: Box<[usize]>,
    /// To be saved, when it has been traced.
    #[cfg(feature = "programs")]
    graph: OnceLock<Mutex<GraphHandle>>,
}

impl Shared {
    fn new(
        handle: ProgramHandle,
        call_sites: CallSites,
        is_updated: Box<[bool]>,
        output_lens: Box<[usize]>,
    ) -> Self {
        Shared {
            handle,
            call_sites: Arc::new(call_sites),
            is_updated,
            output_lens,
            #[cfg(feature = "programs")]
            graph: OnceLock::new(),
        }
    }
}

impl<I, O> Clone for Program<I, O> {
    fn clone(&self) -> Self {
        let shared = Arc::clone(&self.shared);
        Program { shared, options: self.options, _types: PhantomData }
    }
}

impl<I, O> fmt::Debug for Program<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.shared.call_sites.nodes.iter().map(|site| site.name).collect();
        write!(f, "Program({})", names.join(", "))
    }
}

/// Tracing.
impl<I, O> Program<I, O> {
    /// Gives `f` a new graph, of whose values it makes a program by [`Graph::program`].
    ///
    /// # Errors
    ///
    /// The errors of `f`; and the first refusal of a value, which [`Graph::program`] gives.
    /// `OutOfMemory`.
    ///
    /// A value means nothing outside of the closure, and none of another graph goes with it:
    ///
    /// ```compile_fail,E0521
    /// use tenure::Program;
    ///
    /// let mut escaped = None;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([2]);
    ///     escaped = Some(x);
    ///     graph.program((x,), x + 1.0)
    /// });
    /// ```
    pub fn trace(f: impl for<'g> FnOnce(Graph<'g>) -> Result<Self>) -> Result<Self> {
        Self::trace_with(Passes::DEFAULT, f)
    }

    /// Traces as [`trace`](Self::trace) does, with only these passes: to see the effect of one of
    /// them.
    ///
    /// # Errors
    ///
    /// The errors of [`trace`](Self::trace).
    ///
    /// ```
    /// use tenure::{Passes, Program};
    ///
    /// let [fused, single] = [Passes::DEFAULT, Passes::DEFAULT.without(Passes::FUSION)].map(|passes| {
    ///     Program::trace_with(passes, |graph| {
    ///         let x = graph.input::<f32>([1000]);
    ///         graph.program((x,), (x * 2.0 + 1.0).sqrt())
    ///     })
    /// });
    /// let x = [1.0; 1000];
    /// assert_eq!(fused?.memory((&x,))?.steps, 1);
    /// assert_eq!(single?.memory((&x,))?.steps, 3);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn trace_with(
        passes: Passes,
        f: impl for<'g> FnOnce(Graph<'g>) -> Result<Self>,
    ) -> Result<Self> {
        Self::traced(State::new(passes, None)?, f)
    }

    /// Traces as [`trace`](Self::trace) does, with the packed constants of products taken from
    /// these bytes, which [`packed`](Self::packed) gave for the same program: those of a mapped
    /// file, say, that processes share. Nothing is copied, and the constants themselves are not
    /// read.
    ///
    /// # Errors
    ///
    /// The errors of [`trace`](Self::trace). `InvalidArgument`: bytes of another program, or that
    /// do not begin at a multiple of 64. `Unsupported`: bytes for other kernels than this processor
    /// has; pack anew.
    ///
    /// ```
    /// use tenure::{Passes, Program, Tensor};
    ///
    /// let weights = Tensor::<f32>::full([64, 32], 0.5)?.into_shared();
    /// let layer = |graph: tenure::Graph<'_>| {
    ///     let x = graph.input::<f32>([4, 64]);
    ///     graph.program((x,), x.matmul(graph.constant(&weights)))
    /// };
    /// let packing = Program::<(f32,), f32>::trace_with(Passes::DEFAULT.with(Passes::PACKING), layer)?;
    /// let bytes = packing.packed()?.into_shared(); // or those of a file
    /// let lent = Program::<(f32,), f32>::trace_packed(&bytes, layer)?;
    /// let x = Tensor::full([4, 64], 2.0)?;
    /// assert_eq!(lent.run((&x,))?, packing.run((&x,))?);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn trace_packed(
        packed: &SharedTensor<u8>,
        f: impl for<'g> FnOnce(Graph<'g>) -> Result<Self>,
    ) -> Result<Self> {
        Self::traced(State::new(Passes::DEFAULT.with(Passes::PACKING), Some(packed.clone()))?, f)
    }

    fn traced(state: State, f: impl for<'g> FnOnce(Graph<'g>) -> Result<Self>) -> Result<Self> {
        let program = f(Graph::of(&state))?;
        #[cfg(feature = "programs")]
        file::save::keep_graph(state);
        Ok(program)
    }

    /// A copy of the constants that are [packed](Passes::PACKING), for
    /// [`trace_packed`](Self::trace_packed): of this version of the library, and for processors
    /// that use the same kernels.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    pub fn packed(&self) -> Result<Tensor<u8>> {
        self.shared.handle.packed()
    }

    /// Limits the memory of runs by this handle: a run that needs more than `bytes` bytes for
    /// intermediate values fails with `OutOfMemory`, before anything is allocated.
    ///
    /// ```
    /// use tenure::{ErrorKind, Program};
    ///
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f64>([100]);
    ///     graph.program((x,), x.cumsum(0).cumsum(0).cumsum(0))
    /// })?;
    /// let needed = program.memory((&[1.0; 100],))?.peak_bytes;
    /// assert!(program.clone().with_budget(needed).run((&[1.0; 100],)).is_ok());
    /// let error = program.with_budget(needed - 1).run((&[1.0; 100],)).err().unwrap();
    /// assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[must_use]
    pub fn with_budget(self, bytes: usize) -> Self {
        let flags = self.options.flags | tenure_sys::TNR_RUN_BUDGET;
        Program { options: Options { budget_bytes: bytes as u64, flags }, ..self }
    }

    /// Verifies custom operations in runs by this handle: each is computed twice, into memory of
    /// two patterns with guards around it. Outputs have the same bits. The operations of the
    /// library are not checked, so that the extra cost is that of the custom operations.
    ///
    /// A run is then `Internal` where an operation wrote outside of its output, left an element
    /// unwritten, or gave two results. The elements of an output are a pattern when it is lent: an
    /// operation that adds to them gives two results.
    ///
    /// ```
    /// use tenure::Program;
    ///
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f64>([2]);
    ///     graph.program((x,), x + 1.0)
    /// })?;
    /// assert_eq!(program.checked().run((&[1.0, 2.0],))?, [2.0, 3.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[must_use]
    pub fn checked(self) -> Self {
        self.with_flag(tenure_sys::TNR_RUN_CHECKED)
    }

    /// Refuses NaN in runs by this handle on the CPU: a run ends with `InvalidArgument` behind the
    /// first operation that gives one. The message has the operation's place in the source, the
    /// value's number, element type and shape, the index of its first NaN, and the operand that has a NaN
    /// or an infinity already, with the name of an input. In a loop it has the iteration, counted
    /// from 0. An operation that a gradient has added has the place of
    /// [`gradients`](Graph::gradients), and that of the operation whose derivative it is a part of.
    ///
    /// Operations are computed one by one, in the order of the trace and without fusion, so that
    /// none is hidden in another. That takes more time and memory. Results have the bits of other
    /// runs; only `f16` and `bf16` products with a bias or an activation behind them are rounded
    /// once more. Inputs that the program updates hold their old values if the run is refused.
    ///
    /// A NaN in an input or a constant is no error until an operation passes it on. Operations that
    /// give NaN on purpose, such as a mean of nothing or a quotient in the branch that
    /// [`select`](Traced::select) leaves out, are marked by [`Traced::allow_non_finite`].
    ///
    /// `Unsupported`: runs on a device, [preallocated](Self::bind_preallocated) programs and
    /// [`measure`](Self::measure).
    ///
    /// ```
    /// use tenure::{ErrorKind, Program};
    ///
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input_named::<f64>("x", [3]);
    ///     graph.program(x, x.ln() * 0.5 + 1.0)
    /// })?;
    /// assert!(program.run(&[1.0, -1.0, 4.0])?.to_vec()[1].is_nan());
    ///
    /// let debugged = program.refusing_nan();
    /// assert_eq!(debugged.run(&[1.0, 1.0, 1.0])?, [1.0, 1.0, 1.0]);
    /// let error = debugged.run(&[1.0, -1.0, 4.0]).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    /// // ln at src/main.rs:5:22: the result, value 1, f64 of shape [3], has a NaN at [1]; all operands are finite
    /// assert!(error.message().starts_with("ln at "), "{error}");
    /// assert!(error.message().ends_with("has a NaN at [1]; all operands are finite"), "{error}");
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[must_use]
    #[doc(alias("detect_anomaly", "debug_nans"))]
    pub fn refusing_nan(self) -> Self {
        self.with_flag(tenure_sys::TNR_RUN_REFUSE_NAN)
    }

    /// Refuses NaN and infinities like [`refusing_nan`](Self::refusing_nan).
    ///
    /// ```
    /// use tenure::Program;
    ///
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([2]);
    ///     graph.program(x, x.exp())
    /// })?;
    /// assert!(program.clone().refusing_nan().run(&[1.0, 100.0]).is_ok());
    /// let error = program.refusing_non_finite().run(&[1.0, 100.0]).unwrap_err();
    /// assert!(error.message().ends_with("has an infinity at [1]; all operands are finite"), "{error}");
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[must_use]
    pub fn refusing_non_finite(self) -> Self {
        self.with_flag(tenure_sys::TNR_RUN_REFUSE_NON_FINITE)
    }

    fn with_flag(self, flag: u32) -> Self {
        let options = Options { flags: self.options.flags | flag, ..self.options };
        Program { options, ..self }
    }
}

/// Passes over a graph, which a program makes when it is traced, or when it is first run on memory
/// of some layouts.
///
/// ```
/// use tenure::Passes;
///
/// assert_eq!(Passes::DEFAULT.without(Passes::FUSION).with(Passes::FUSION), Passes::DEFAULT);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Passes(u32);

macro_rules! passes {
    ($($name:ident $code:ident, $doc:literal;)*) => {
        impl Passes {
            $(
                #[doc = $doc]
                pub const $name: Passes = Passes(tenure_sys::$code);
            )*
            /// All of them except [`PACKING`](Passes::PACKING).
            pub const DEFAULT: Passes = Passes($(tenure_sys::$code)|*);
            /// None: each node is a call, into memory of its own.
            pub const NONE: Passes = Passes(0);
        }
    };
}

passes! {
    DEAD_CODE TNR_PASS_DEAD_CODE, "Operations that no output needs are left out.";
    COMMON_SUBEXPRESSIONS TNR_PASS_COMMON_SUBEXPRESSIONS,
        "The same operation on the same values is computed once.";
    CONSTANT_FOLDING TNR_PASS_CONSTANT_FOLDING,
        "Operations on constants alone are computed when the program is made.";
    EPILOGUES TNR_PASS_EPILOGUES,
        "A bias and an activation behind a product or a convolution become part of it.";
    FUSION TNR_PASS_FUSION,
        "Element-wise operations are computed in one pass with a reduction behind them and, on the \
         CPU, with reductions of their rows that later ones read.";
    IN_PLACE TNR_PASS_IN_PLACE,
        "A result takes the memory of an operand that nothing reads any more, or of the input that \
         it updates.";
    MEMORY TNR_PASS_MEMORY, "Values that are not alive at once share memory.";
    RECOMPUTATION TNR_PASS_RECOMPUTATION,
        "Values that are marked, and as many as a budget needs, are computed again instead of kept.";
    LAYOUT TNR_PASS_LAYOUT, "Images between convolutions and poolings lie channels-last.";
}

impl Passes {
    /// Constants that are right factors of products, or `f32` and `f64` filters of convolutions,
    /// are packed when the program is made, so that no run has to: a copy, of
    /// [`MemoryPlan::packed_bytes`](crate::MemoryPlan), and not among [`DEFAULT`](Passes::DEFAULT)
    /// for that. It pays where products have few rows or images few pixels, and where they are run
    /// often.
    ///
    /// ```
    /// use tenure::{Passes, Program, Tensor};
    ///
    /// let weights = Tensor::<f32>::full([64, 32], 0.5)?.into_shared();
    /// let layer = Program::trace_with(Passes::DEFAULT.with(Passes::PACKING), |graph| {
    ///     let x = graph.input::<f32>([4, 64]);
    ///     graph.program((x,), x.matmul(graph.constant(&weights)))
    /// })?;
    /// let x = Tensor::full([4, 64], 2.0)?;
    /// assert!(layer.memory((&x,))?.packed_bytes >= 64 * 32 * 4);
    /// assert_eq!(layer.run((&x,))?.to_vec(), [64.0; 4 * 32]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub const PACKING: Passes = Passes(tenure_sys::TNR_PASS_PACKING);

    /// These and those.
    #[must_use]
    pub const fn with(self, passes: Passes) -> Passes {
        Passes(self.0 | passes.0)
    }

    /// The passes of `self` that are not in `passes`.
    #[must_use]
    pub const fn without(self, passes: Passes) -> Passes {
        Passes(self.0 & !passes.0)
    }

    /// The default passes that are not among these, and these, as the library takes them.
    fn to_bits(self) -> [u32; 2] {
        [Passes::DEFAULT.0 & !self.0, self.0]
    }
}

impl Default for Passes {
    fn default() -> Self {
        Passes::DEFAULT
    }
}
