//! Contexts: whose threads and whose memory operations use.

#[allow(unsafe_code)]
mod allocator;
mod engine;
mod executor;
#[allow(unsafe_code)]
mod hooks;

use std::fmt;
use std::sync::Arc;

pub use allocator::Allocator;
pub use engine::Engine;
#[cfg(feature = "rayon")]
pub use executor::RayonExecutor;
pub use executor::{Executor, Task};

use crate::error::{Error, Result};
use crate::raw::ContextHandle;
use hooks::Hooks;

/// Threads and memory for operations. How do I use two threads?
///
/// ```
/// use tenure::{Context, Tensor, ops::sum};
///
/// let context = Context::with_threads(2)?; // you and one more
/// let total = context.install(|| {
///     let ones = Tensor::full([1000, 1000], 1.0)?; // everything in here uses both
///     sum(&ones, ..)
/// })?;
/// assert_eq!(total.item(), Some(1e6));
/// # Ok::<(), tenure::Error>(())
/// ```
///
/// Without a context, every operation computes on the thread that calls it. Inside
/// [`install`](Self::install) the context's threads help with large operations; small ones stay
/// with the caller, who would be done before anybody came. The result has the same bits for any
/// number of threads.
///
/// A context is a handle, as an `Arc` is: clones are the same threads and the same memory, which
/// end with the last clone and the last tensor allocated in it. Any number of threads may use it
/// at a time.
#[derive(Clone, Default)]
pub struct Context {
    /// None: the default context, which there always is.
    handle: Option<Arc<ContextHandle>>,
}

impl Context {
    /// A context of `thread_count` threads: the calling one, and as many less one of its own, which
    /// sleep while there is nothing to do.
    ///
    /// `std::thread::available_parallelism` says how many this machine runs at a time.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no threads, or more than 1024. `OutOfMemory`: the system refused one of
    /// them; none is left behind.
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(Context::with_threads(4)?.thread_count(), 4);
    /// assert_eq!(Context::with_threads(0).err().unwrap().kind(), ErrorKind::InvalidArgument);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn with_threads(thread_count: usize) -> Result<Context> {
        Context::builder().threads(thread_count).build()
    }

    /// A context whose threads come from `executor`: the calling one, and up to `thread_count` less
    /// one more for each operation.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no threads, or more than 1024.
    ///
    /// ```
    /// use tenure::{Context, Task};
    ///
    /// // Any function that takes tasks is an executor. This one is wasteful but correct.
    /// let context = Context::with_executor(|task: Task| {
    ///     std::thread::spawn(|| task.run());
    /// }, 2)?;
    /// let result = context.install(|| tenure::ops::add(&[1, 2, 3], &[10, 20, 30]))?;
    /// assert_eq!(result.to_vec(), [11, 22, 33]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn with_executor(executor: impl Executor, thread_count: usize) -> Result<Context> {
        Context::builder().threads(thread_count).executor(executor).build()
    }

    /// A context of `thread_count` threads of Rayon: [`RayonExecutor`](crate::RayonExecutor) says
    /// which.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no threads, or more than 1024.
    ///
    /// ```
    /// # use tenure::*;
    /// let context = Context::with_rayon(2)?;
    /// assert_eq!(context.install(|| ops::sum(&[1.5, 2.5], ..))?.item(), Some(4.0));
    /// # Ok::<(), Error>(())
    /// ```
    #[cfg(feature = "rayon")]
    pub fn with_rayon(thread_count: usize) -> Result<Context> {
        Context::with_executor(crate::context::RayonExecutor, thread_count)
    }

    /// A context whose tensors are in memory of `allocator`, and which computes on the calling
    /// thread.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`: the library's own record of it.
    ///
    /// See [`Allocator`] for an example.
    pub fn with_allocator(allocator: impl Allocator) -> Result<Context> {
        Context::builder().allocator(allocator).build()
    }

    /// Begins a context with threads and memory of the caller's choice.
    ///
    /// ```
    /// # use tenure::*;
    /// let inline = |task: Task| task.run(); // no help, but no harm
    /// let context = Context::builder().threads(2).executor(inline).build()?;
    /// assert_eq!(context.thread_count(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn builder() -> ContextBuilder {
        ContextBuilder {
            thread_count: 1,
            engine: Engine::default(),
            hooks: Hooks { executor: None, allocator: None },
        }
    }

    /// The most threads that work at an operation, the calling one among them.
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(Context::default().thread_count(), 1);
    /// ```
    pub fn thread_count(&self) -> usize {
        self.handle.as_ref().map_or(1, |handle| handle.thread_count())
    }

    /// Runs `f` with this as the calling thread's context: every operation that `f` calls on this
    /// thread uses its threads, and every tensor that it makes its memory.
    ///
    /// It nests, and the context from before is back when `f` returns or panics. It holds on this
    /// thread and while `f` runs: threads that `f` starts and futures that it returns install a
    /// clone of their own.
    ///
    /// ```
    /// use tenure::{Context, ops::add};
    ///
    /// let context = Context::with_threads(2)?;
    /// let sums = context.install(|| {
    ///     // One operation that would not gain: the default context is the calling thread alone.
    ///     let small = Context::default().install(|| add(&[1, 2], &[3, 4]))?;
    ///     std::thread::scope(|scope| {
    ///         let context = context.clone();
    ///         scope.spawn(move || context.install(|| add(&small, 1))).join().unwrap()
    ///     })
    /// })?;
    /// assert_eq!(sums.to_vec(), [5, 7]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[inline]
    pub fn install<R>(&self, f: impl FnOnce() -> R) -> R {
        match &self.handle {
            Some(handle) => handle.install(f),
            None => crate::raw::in_default(f),
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("thread_count", &self.thread_count()).finish()
    }
}

/// A context that is being described: [`Context::builder`].
///
/// ```
/// # use tenure::*;
/// let context = Context::builder().threads(2).build()?;
/// assert_eq!(format!("{context:?}"), "Context { thread_count: 2 }");
/// # Ok::<(), Error>(())
/// ```
#[must_use = "a builder does nothing before `build`"]
pub struct ContextBuilder {
    thread_count: usize,
    engine: Engine,
    hooks: Hooks,
}

impl ContextBuilder {
    /// The number of threads that work at an operation, the calling one among them; 1 by default.
    ///
    /// ```
    /// # use tenure::*;
    /// assert_eq!(Context::builder().threads(3).build()?.thread_count(), 3);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn threads(self, thread_count: usize) -> ContextBuilder {
        ContextBuilder { thread_count, ..self }
    }

    /// Whose code computes products of dense matrices and convolutions; [`Engine::Environment`] by
    /// default.
    ///
    /// ```
    /// # use tenure::*;
    /// let context = Context::builder().engine(Engine::Auto).build()?;
    /// let product = context.install(|| linalg::matmul(&[[1.0, 2.0]], &[[3.0], [4.0]]))?;
    /// assert_eq!(product.to_vec(), [11.0]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn engine(self, engine: Engine) -> ContextBuilder {
        ContextBuilder { engine, ..self }
    }

    /// The source of the other threads, instead of the library.
    ///
    /// ```
    /// # use tenure::*;
    /// let none = |task: Task| drop(task);
    /// let context = Context::builder().threads(2).executor(none).build()?;
    /// assert_eq!(context.install(|| ops::add(&[1], 2))?.to_vec(), [3]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn executor(mut self, executor: impl Executor) -> ContextBuilder {
        self.hooks.executor = Some(Box::new(executor));
        self
    }

    /// The source of the memory of tensors, instead of the library.
    ///
    /// See [`Allocator`] for an example.
    pub fn allocator(mut self, allocator: impl Allocator) -> ContextBuilder {
        self.hooks.allocator = Some(Box::new(allocator));
        self
    }

    /// Makes the context. On failure the executor and the allocator are dropped.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no threads, or more than 1024. `Unsupported`: an engine that is not in
    /// this build. `OutOfMemory`: the system refused one of the threads, or there is no memory for
    /// the library's own record.
    ///
    /// ```
    /// # use tenure::*;
    /// let error = Context::builder().threads(1 << 20).build().err().unwrap();
    /// assert!(error.message().contains("1048576"), "{error}");
    /// ```
    pub fn build(self) -> Result<Context> {
        let Ok(thread_count) = u32::try_from(self.thread_count) else {
            return Err(Error::invalid(format!(
                "thread_count is {} but must be 1 to 1024",
                self.thread_count
            )));
        };
        let handle = ContextHandle::new(thread_count, self.engine.into(), self.hooks)?;
        Ok(Context { handle: Some(Arc::new(handle)) })
    }
}

impl fmt::Debug for ContextBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextBuilder")
            .field("thread_count", &self.thread_count)
            .field("engine", &self.engine)
            .field("executor", &self.hooks.executor.is_some())
            .field("allocator", &self.hooks.allocator.is_some())
            .finish()
    }
}
