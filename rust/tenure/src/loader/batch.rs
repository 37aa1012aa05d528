//! A batch, where it is among others, and why there is none.

use std::any::Any;
use std::error::Error as StdError;
use std::fmt;

use super::dataset::{Dataset, Owned, Views, sealed::Owned as _};
use super::work::Buffer;
use crate::error::Failure;
use crate::error::Result;
use crate::owner::panic_text;

/// The next batch and its epoch: three numbers to be kept with a model's checkpoint.
///
/// The seed and the epoch give the order of the samples, in this and every later version of the
/// library and on every machine. Batches are counted in the batch size of the loader.
///
/// ```
/// use tenure::{Loader, Position, SharedTensor};
///
/// let data = SharedTensor::from_owner((0..10).collect::<Vec<i32>>(), 10)?;
/// let mut batches = Loader::new(data.clone(), 3)?.shuffle(7).start()?;
/// batches.next().unwrap()?;
/// let kept = batches.position();
/// assert_eq!(kept, Position { seed: 7, epoch: 0, batch: 1 });
/// let expected = batches.next().unwrap()?.views().to_vec();
///
/// let mut resumed = Loader::new(data, 3)?.shuffle(7).resume(kept).start()?;
/// assert_eq!(resumed.next().unwrap()?.views().to_vec(), expected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Position {
    /// The seed of the orders; 0 where samples come as they lie.
    pub seed: u64,
    /// Counted from 0.
    pub epoch: u64,
    /// Counted from 0 in each epoch; at its end, as many as it has.
    pub batch: u64,
}

/// A batch, lent by its loader until the next one is requested.
///
/// Forgetting it (`mem::forget`) does no harm: its memory belongs to the loader, which takes it
/// back when the next batch is requested.
pub struct Batch<'a, D: Dataset> {
    pub(super) position: Position,
    pub(super) samples: usize,
    pub(super) source: SampleSource<'a, D>,
}

pub(super) enum SampleSource<'a, D: Dataset> {
    /// The dataset itself, from a sample on.
    Data(&'a D, usize),
    /// A buffer of the loader, and how many samples have room in it.
    Buffer(&'a mut Buffer<D>, usize),
}

/// There is a buffer wherever there is a batch in it; only `into_owned` takes it.
const THERE: &str = "a batch has its buffer";

impl<D: Dataset> Batch<'_, D> {
    /// The batch to read: a view for one array, a tuple or a `Vec` of views for several.
    ///
    /// ```
    /// use tenure::{Loader, TensorView};
    ///
    /// let (x, y) = ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [10, 20, 30]);
    /// let x = TensorView::from_slice(x.as_flattened(), [3, 2])?;
    /// let y = TensorView::from_slice(&y, 3)?;
    /// let mut batches = Loader::new((x, y), 2)?.serial()?;
    /// let batch = batches.next().unwrap()?;
    /// let (features, labels) = batch.views();
    /// assert_eq!((features.shape(), labels.to_vec()), (&[2, 2][..], vec![10, 20]));
    /// assert_eq!(features.as_ptr(), x.as_ptr()); // as they lie: no copy
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn views(&self) -> Views<'_, D> {
        match &self.source {
            SampleSource::Data(data, first) => data.part(*first..first + self.samples),
            SampleSource::Buffer(buffer, _) => buffer.as_ref().expect(THERE).lend(self.samples),
        }
    }

    /// The batch with its memory, to be kept: a tensor, a tuple or a `Vec` of tensors.
    ///
    /// A buffer leaves the loader, which allocates another one. Views of the dataset, and a last
    /// batch that is shorter than its buffer, are copied.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`, where it is copied.
    ///
    /// ```
    /// use tenure::{Loader, SharedTensor, Tensor};
    ///
    /// let data = SharedTensor::from_owner((0..6).collect::<Vec<i32>>(), 6)?;
    /// let mut batches = Loader::new(data, 2)?.shuffle(1).start()?;
    /// let mut kept: Vec<Tensor<i32>> = Vec::new();
    /// while let Some(batch) = batches.next() {
    ///     kept.push(batch?.into_owned()?);
    /// }
    /// assert_eq!(kept.iter().flat_map(|batch| batch.iter()).sum::<i32>(), 15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_owned(self) -> Result<Owned<D>> {
        match self.source {
            SampleSource::Buffer(buffer, room) if room == self.samples => {
                Ok(buffer.take().expect(THERE))
            }
            _ => Owned::<D>::copy(&self.views()),
        }
    }

    /// The number of its samples.
    #[expect(clippy::len_without_is_empty, reason = "no batch is empty")]
    pub fn len(&self) -> usize {
        self.samples
    }

    /// Its position.
    pub fn position(&self) -> Position {
        self.position
    }
}

/// The reason that a batch is missing. The loader goes on with the next one.
///
/// ```
/// use tenure::{Loader, SharedTensor};
///
/// let data = SharedTensor::from_owner(vec![1.0, 2.0, f64::NAN, 4.0], 4)?;
/// let mut batches = Loader::new(data, 2)?
///     .transform(|batch| match batch.iter().find(|number| number.is_nan()) {
///         Some(_) => Err("a number is missing".into()),
///         None => Ok(()),
///     })
///     .start()?;
/// assert!(batches.next().unwrap().is_ok());
/// let error = batches.next().unwrap().err().unwrap();
/// assert_eq!(error.to_string(), "batch 1 of epoch 0: a number is missing");
/// assert!(batches.next().is_none());
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Debug)]
pub struct BatchError {
    position: Position,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    Failed(Failure),
    Panicked(String),
}

impl BatchError {
    pub(super) fn failed(position: Position, failure: Failure) -> Self {
        BatchError { position, cause: Cause::Failed(failure) }
    }

    pub(super) fn panicked(position: Position, payload: &dyn Any) -> Self {
        BatchError { position, cause: Cause::Panicked(panic_text(payload)) }
    }

    /// The position of the missing batch.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Whether the transform panicked, rather than failed.
    pub fn is_panic(&self) -> bool {
        matches!(self.cause, Cause::Panicked(_))
    }
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { epoch, batch, .. } = self.position;
        write!(f, "batch {batch} of epoch {epoch}: ")?;
        match &self.cause {
            Cause::Failed(failure) => failure.fmt(f),
            Cause::Panicked(text) => write!(f, "the transform panicked: {text}"),
        }
    }
}

impl StdError for BatchError {
    /// The error of the transform, or of the library.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.cause {
            Cause::Failed(failure) => Some(&**failure),
            Cause::Panicked(_) => None,
        }
    }
}
