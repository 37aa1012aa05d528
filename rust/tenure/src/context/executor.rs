//! Threads that are not the library's own.

use crate::raw;

/// Gives threads to operations: a thread pool, an event loop, or any `Fn(Task)`.
///
/// A large operation calls [`spawn`](Self::spawn) for each thread that it requests in addition to
/// the calling one, then begins. It works through its own slices one by one, and each thread that
/// arrives takes the next slice. The operation waits only for threads that have taken one. So
/// nothing depends on the executor: it may run a task at once, later, long after the operation, or
/// drop it, and it may panic. The result is the same bits; only the time differs. For the same
/// reason an operation that is called from one of the executor's own threads cannot wait for
/// itself.
///
/// ```
/// use std::sync::{Mutex, mpsc};
/// use tenure::{Context, Executor, Task};
///
/// /// One thread that runs what it is sent.
/// struct Worker(Mutex<mpsc::Sender<Task>>);
///
/// impl Executor for Worker {
///     fn spawn(&self, task: Task) {
///         // Should the worker have gone, the operation does its work alone.
///         let _ = self.0.lock().map(|tasks| tasks.send(task));
///     }
/// }
///
/// let (sender, tasks) = mpsc::channel::<Task>();
/// let worker = std::thread::spawn(move || tasks.into_iter().for_each(Task::run));
/// let context = Context::with_executor(Worker(Mutex::new(sender)), 2)?;
/// let data = vec![1.0_f32; 1 << 20];
/// let total = context.install(|| tenure::ops::sum(&data, ..))?;
/// assert_eq!(total.item(), Some((1 << 20) as f32));
/// drop(context); // and with it the executor, and the sender
/// worker.join().unwrap();
/// # Ok::<(), tenure::Error>(())
/// ```
///
/// A context may outlive every scope, and its executor with it: it borrows nothing. The threads
/// may: those of a [`std::thread::scope`] take tasks from the other end of such a channel.
///
/// `spawn` runs in the default context, on the thread of the operation, with no lock held. The
/// executor is dropped on whichever thread lets go of the context last.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot give threads to operations",
    label = "not an `Executor`, nor a function that takes a `Task`",
    note = "executors are shared by the threads that call operations: `Fn(Task) + Send + Sync + 'static`"
)]
pub trait Executor: Send + Sync + 'static {
    /// Asks for one more thread: to call [`Task::run`] on it.
    fn spawn(&self, task: Task);
}

impl<F: Fn(Task) + Send + Sync + 'static> Executor for F {
    fn spawn(&self, task: Task) {
        self(task)
    }
}

/// The wish of an operation for one more thread.
///
/// It is a token that borrows nothing: keep it, send it anywhere, drop it. See [`Executor`].
#[derive(Debug)]
pub struct Task {
    token: u64,
}

impl Task {
    pub(crate) fn new(token: u64) -> Task {
        Task { token }
    }

    /// Works at the operation on the calling thread until nothing is left to take. Does nothing if
    /// the operation has returned.
    ///
    /// It runs no code but the library's, and does not panic.
    pub fn run(self) {
        raw::run_task(self.token);
    }
}

/// Rayon's threads: those of the pool that the operation is called in, and outside of any those of
/// the global pool.
///
/// For another pool, say so: `move |task: Task| pool.spawn(|| task.run())`.
///
/// Inside a parallel iterator the operations use the default context, unless they install another:
/// Rayon has given its threads work already.
///
/// ```
/// # use tenure::*;
/// let context = Context::builder().threads(2).executor(RayonExecutor).build()?;
/// assert_eq!(context.install(|| ops::add(&[1.0], 2.0))?.to_vec(), [3.0]);
/// # Ok::<(), Error>(())
/// ```
#[cfg(feature = "rayon")]
#[derive(Clone, Copy, Debug, Default)]
pub struct RayonExecutor;

#[cfg(feature = "rayon")]
impl Executor for RayonExecutor {
    fn spawn(&self, task: Task) {
        rayon_core::spawn(|| task.run());
    }
}
