//! Data in batches: as they lie, without a copy, or shuffled into buffers by threads of their own.
#![deny(unsafe_code)]

mod batch;
mod dataset;
mod order;
mod ring;
mod work;

// Prefetches, and stores past the caches.
#[allow(unsafe_code)]
mod gather;

use std::sync::Arc;
use std::thread::{self, JoinHandle};

pub use batch::{Batch, BatchError, Position};
pub use dataset::Dataset;

use crate::error::{Error, ErrorKind, Result};
use crate::error::{Failure, reserved};
use batch::SampleSource;
use dataset::{ViewsMut, samples};
use ring::Ring;
use work::{Buffer, Filled, Plan, Work};

/// Threads of a loader, as many as a context has at most.
const MOST_THREADS: usize = 1024;

/// The configuration of a loader, which gives a [`Dataset`] in batches, epoch after epoch, once it
/// is [started](Self::start).
///
/// ```
/// use tenure::{Loader, SharedTensor};
///
/// // 100 samples of 4 features each, and their labels, held and shared with the loader's threads.
/// let x = SharedTensor::from_owner(vec![0.5_f32; 400], [100, 4])?;
/// let y = SharedTensor::from_owner((0..100).collect::<Vec<i64>>(), 100)?;
///
/// let mut batches = Loader::new((x, y), 32)?.shuffle(42).threads(2).start()?;
/// for epoch in 0..3 {
///     let mut seen = 0;
///     while let Some(batch) = batches.next() {
///         let batch = batch?;
///         let (x, y) = batch.views(); // lent until the next batch is asked for
///         assert_eq!(x.shape(), [y.len(), 4]);
///         seen += y.len();
///     }
///     assert_eq!(seen, 100); // each epoch has all samples, in another order
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// | | copies | threads |
/// | --- | --- | --- |
/// | samples as they lie, no transform | none: batches are views of the dataset | none |
/// | shuffled, or with a transform | once, into one of a ring of buffers | [`start`](Self::start), [`scope`](Self::scope): the loader's own; [`serial`](Self::serial): none |
///
/// The batches are the same for any number of threads and buffers.
///
/// `'t` is how long what a [transform](Self::transform) borrows is there; a type that is named
/// without one says `'static` or `'_`.
pub struct Loader<'t, D: Dataset> {
    data: D,
    plan: Plan,
    transform: Option<work::Transform<'t, D>>,
    threads: usize,
    buffers: Option<usize>,
}

/// Configuration and start.
impl<'t, D: Dataset> Loader<'t, D> {
    /// Batches of `batch_size` samples, as they lie; the last one of an epoch may have fewer.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a batch size of 0, an array without axes, or arrays with different
    /// numbers of samples.
    ///
    /// ```
    /// use tenure::{Loader, TensorView};
    ///
    /// let (x, y) = ([1.0, 2.0, 3.0], [1, 2]);
    /// let refused = Loader::new((TensorView::from(&x[..]), TensorView::from(&y[..])), 2);
    /// assert_eq!(refused.err().unwrap().message(), "array 1 has 2 samples but array 0 has 3");
    /// ```
    pub fn new(data: D, batch_size: usize) -> Result<Self> {
        let samples = samples(&data)?;
        if batch_size == 0 {
            return Err(Error::invalid("batch_size is 0 but must be at least 1"));
        }
        let start = Position::default();
        let plan = Plan { samples, batch_size, is_shuffled: false, drops_last: false, start };
        Ok(Loader { data, plan, transform: None, threads: 1, buffers: None })
    }

    /// Samples in an order of their own in each epoch, which follows from `seed` and the epoch.
    ///
    /// ```
    /// use tenure::{Loader, SharedTensor};
    ///
    /// let data = SharedTensor::from_owner(vec![0, 1, 2, 3, 4, 5, 6, 7], 8)?;
    /// let mut batches = Loader::new(data, 8)?.shuffle(1).start()?;
    /// let first = batches.next().unwrap()?.views().to_vec();
    /// assert!(batches.next().is_none());
    /// let second = batches.next().unwrap()?.views().to_vec();
    /// assert_ne!(first, second);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shuffle(mut self, seed: u64) -> Self {
        self.plan.is_shuffled = true;
        self.plan.start.seed = seed;
        self
    }

    /// Leaves out the last batch of an epoch where it would be shorter than the others.
    ///
    /// ```
    /// use tenure::{Loader, SharedTensor};
    ///
    /// let loader = Loader::new(SharedTensor::from_owner([1, 2, 3, 4, 5], 5)?, 2)?;
    /// assert_eq!(loader.batches_per_epoch(), 3);
    /// assert_eq!(loader.drop_last().batches_per_epoch(), 2);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn drop_last(mut self) -> Self {
        self.plan.drops_last = true;
        self
    }

    /// Does `transform` to each batch, in place, on the thread that fills it; samples are copied
    /// for that also where they come as they lie.
    ///
    /// A batch whose transform fails or panics is a [`BatchError`] in its place; the next ones
    /// follow. With several threads, several transforms run at a time, in any order.
    ///
    /// ```
    /// use tenure::{Loader, SharedTensor};
    ///
    /// let data = SharedTensor::from_owner(vec![1.0_f32, 2.0, 3.0, 4.0], 4)?;
    /// let loader = Loader::new(data, 2)?.transform(|mut batch| {
    ///     tenure::ops::mul_assign(&mut batch, 10.0)?;
    ///     Ok(())
    /// });
    /// let mut batches = loader.start()?;
    /// assert_eq!(batches.next().unwrap()?.views().to_vec(), [10.0, 20.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn transform<F>(mut self, transform: F) -> Self
    where
        F: for<'b> Fn(ViewsMut<'b, D>) -> Result<(), Failure> + Send + Sync + 't,
    {
        self.transform = Some(Box::new(transform));
        self
    }

    /// The number of threads that fill buffers; 1 by default. There are at most as many as buffers,
    /// and 1024.
    pub fn threads(mut self, count: usize) -> Self {
        self.threads = count;
        self
    }

    /// The number of buffers, of a batch each; two more than threads by default. One is lent with
    /// the current batch; the others are being filled, or are filled and wait for a request. More
    /// than an epoch's batches and one are not made, nor threads beyond them started.
    pub fn buffers(mut self, count: usize) -> Self {
        self.buffers = Some(count);
        self
    }

    /// Begins at a position, which [`Batches::position`] gave, rather than with the first epoch.
    /// Its seed takes the place of the one given to [`shuffle`](Self::shuffle).
    pub fn resume(mut self, position: Position) -> Self {
        self.plan.start = position;
        self
    }

    /// The number of batches of an epoch.
    pub fn batches_per_epoch(&self) -> u64 {
        self.plan.batches()
    }

    /// The number of samples of the dataset.
    pub fn samples(&self) -> usize {
        self.plan.samples
    }
}

/// Doing it, for as long as anybody wants batches.
impl<D: Dataset + 'static> Loader<'static, D> {
    /// Starts the threads, which fill buffers ahead of their use: for data that is held
    /// ([`SharedTensor`](crate::SharedTensor)). Where nothing is to be copied there are none.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no threads or no buffers, or a position after the last batch of an epoch.
    /// `OutOfMemory`: the buffers, or the system gives no thread.
    pub fn start(self) -> Result<Batches<'static, D>> {
        let (mut batches, threads) = self.prepare(Filling::Ahead)?;
        for _ in 0..threads {
            let work = Arc::clone(&batches.work);
            let builder = thread::Builder::new().name("tenure-loader".to_owned());
            let thread = builder.spawn(move || work.run()).map_err(|error| {
                Error::new(ErrorKind::OutOfMemory, format!("no thread for the loader: {error}"))
            })?;
            batches.threads.push(thread);
        }
        Ok(batches)
    }
}

/// Doing it here.
impl<'t, D: Dataset> Loader<'t, D> {
    /// Starts the threads for as long as `body` runs: for data that is borrowed, and transforms
    /// that borrow.
    ///
    /// # Errors
    ///
    /// The errors of [`start`](Self::start); `body` has not run then.
    ///
    /// ```
    /// use tenure::{Loader, TensorView};
    ///
    /// let data: Vec<u32> = (0..1000).collect();
    /// let view = TensorView::from_slice(&data, [100, 10])?;
    /// let weights = vec![2_u32; 10];
    /// let loader = Loader::new(view, 32)?.shuffle(3).threads(2);
    /// let weighted =
    ///     loader.transform(|mut batch| Ok(tenure::ops::mul_assign(&mut batch, &weights)?));
    /// let total: u32 = weighted.scope(|batches| {
    ///     let mut total = 0;
    ///     while let Some(Ok(batch)) = batches.next() {
    ///         total += batch.views().iter().sum::<u32>();
    ///     }
    ///     total
    /// })?;
    /// assert_eq!(total, 999_000);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    // No `thread::Scope` is taken: if batches were forgotten in one, its end would wait for ever. A
    // closure's borrowed argument cannot be forgotten.
    pub fn scope<R>(self, body: impl FnOnce(&mut Batches<'t, D>) -> R) -> Result<R> {
        let (mut batches, threads) = self.prepare(Filling::Ahead)?;
        thread::scope(|scope| {
            // Dropped before the scope waits for its threads, also where something panics.
            let closing = Closing(Arc::clone(&batches.work));
            for _ in 0..threads {
                let work = Arc::clone(&closing.0);
                let builder = thread::Builder::new().name("tenure-loader".to_owned());
                builder.spawn_scoped(scope, move || work.run()).map_err(|error| {
                    Error::new(ErrorKind::OutOfMemory, format!("no thread for the loader: {error}"))
                })?;
            }
            Ok(body(&mut batches))
        })
    }

    /// Starts no threads: the thread that requests a batch fills it.
    ///
    /// # Errors
    ///
    /// The errors of [`start`](Self::start).
    pub fn serial(self) -> Result<Batches<'t, D>> {
        let (mut batches, _) = self.prepare(Filling::AsAsked)?;
        batches.indices = Some(Vec::new());
        Ok(batches)
    }

    /// The batches, and how many threads are to be started.
    fn prepare(self, filling: Filling) -> Result<(Batches<'t, D>, usize)> {
        let Loader { data, plan, transform, threads, buffers } = self;
        let buffers = buffers.unwrap_or(threads.saturating_add(2));
        for (name, count) in [("threads", threads), ("buffers", buffers)] {
            if count == 0 {
                return Err(Error::invalid(format!("{name} is 0 but must be at least 1")));
            }
        }
        let (batch, last) = (plan.start.batch, plan.batches());
        if batch > last {
            return Err(Error::invalid(format!(
                "position.batch is {batch} but an epoch has {last} batches"
            )));
        }
        let copies = last > 0 && (plan.is_shuffled || transform.is_some());
        // Serial filling allocates its one buffer at the first batch.
        let is_ahead = copies && matches!(filling, Filling::Ahead);
        let useful = usize::try_from(last).unwrap_or(usize::MAX).saturating_add(1);
        let buffers = if is_ahead { buffers.min(useful) } else { 0 };
        let wanted = threads.min(buffers).min(MOST_THREADS);
        let mut free: Vec<Buffer<D>> = reserved(buffers, "buffers")?;
        for _ in 0..buffers {
            free.push(Some(data.allocate(plan.room())?));
        }
        let (position, ring) = (plan.start, Ring::new(free, wanted)?);
        let work = Arc::new(Work { data, plan, transform, ring });
        let (threads, lent) = (Vec::new(), None);
        let batches = Batches { work, position, copies, number: 0, lent, indices: None, threads };
        Ok((batches, wanted))
    }
}

/// The batches of a [`Loader`], one at a time. An epoch ends with `None`, and the next call begins
/// the next epoch.
///
/// Dropping it ends the threads: it waits for transforms that run at the moment, and not for
/// batches that were not requested.
pub struct Batches<'t, D: Dataset> {
    work: Arc<Work<'t, D>>,
    /// Position of the next batch.
    position: Position,
    /// Whether there are buffers.
    copies: bool,
    /// Batches given so far.
    number: u64,
    /// The buffer of the current batch; it is taken back here, and not when the batch is dropped,
    /// so that forgetting one costs nothing. `Some(None)`: its memory has been taken.
    lent: Option<Buffer<D>>,
    /// Without threads: memory for indices.
    indices: Option<Vec<usize>>,
    threads: Vec<JoinHandle<()>>,
}

impl<D: Dataset> Batches<'_, D> {
    /// The next batch; `None` at the end of each epoch.
    ///
    /// The batch is lent, which no iterator can do: write `while let Some(batch) = batches.next()`.
    ///
    /// # Errors
    ///
    /// The transform of this batch failed or panicked, or (`OutOfMemory`) the memory that
    /// [`Batch::into_owned`] took could not be replaced. The next batch follows.
    #[expect(clippy::should_implement_trait, reason = "an iterator's items outlive its next step")]
    pub fn next(&mut self) -> Option<Result<Batch<'_, D>, BatchError>> {
        if self.position.batch == self.work.plan.batches() {
            self.position.epoch = self.position.epoch.wrapping_add(1);
            self.position.batch = 0;
            return None;
        }
        let position = self.position;
        let places = self.work.plan.places(position.batch);
        let samples = places.len();
        let source = if self.copies {
            let Filled { buffer, outcome } = self.fill()?;
            self.position.batch += 1;
            let lent = self.lent.insert(buffer);
            if let Err(error) = outcome {
                return Some(Err(error));
            }
            SampleSource::Buffer(lent, self.work.plan.room())
        } else {
            self.position.batch += 1;
            SampleSource::Data(&self.work.data, places.start)
        };
        Some(Ok(Batch { position, samples, source }))
    }

    /// The buffer of the next batch, for that of the one before; `None` where its threads have
    /// ended with a scope.
    fn fill(&mut self) -> Option<Filled<D>> {
        if let Some(indices) = &mut self.indices {
            let buffer = self.lent.take().flatten();
            let filled = self.work.fill(self.number, buffer, indices);
            self.number += 1;
            return Some(filled);
        }
        if let Some(buffer) = self.lent.take() {
            self.work.ring.free(buffer);
        }
        self.work.ring.take()
    }

    /// Where [`next`](Self::next) goes on; given to [`Loader::resume`], another loader does.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The number of batches of an epoch.
    pub fn batches_per_epoch(&self) -> u64 {
        self.work.plan.batches()
    }
}

/// When the batches of a loader are filled.
enum Filling {
    /// Threads fill them before they are requested.
    Ahead,
    AsAsked,
}

/// Lets the threads end that were started for some work. Not what `body` was lent: it can put other
/// batches in its place.
struct Closing<'t, D: Dataset>(Arc<Work<'t, D>>);

impl<D: Dataset> Drop for Closing<'_, D> {
    fn drop(&mut self) {
        self.0.ring.close();
    }
}

impl<D: Dataset> Drop for Batches<'_, D> {
    fn drop(&mut self) {
        self.work.ring.close();
        for thread in self.threads.drain(..) {
            // Transforms that panic have been caught: a thread ends by itself.
            let _ = thread.join();
        }
    }
}
