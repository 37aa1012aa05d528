//! Filling of batches, by any thread.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::dataset::{Dataset, Owned, ViewsMut, sealed::Owned as _};
use super::order::{Order, Permutation};
use super::ring::Ring;
use super::{BatchError, Position};
use crate::error::Failure;

/// The function that is applied to each batch.
pub(super) type Transform<'t, D> =
    Box<dyn for<'b> Fn(ViewsMut<'b, D>) -> Result<(), Failure> + Send + Sync + 't>;

/// The assignment of samples to batches.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) samples: usize,
    pub(super) batch_size: usize,
    pub(super) is_shuffled: bool,
    pub(super) drops_last: bool,
    /// Position of the first batch.
    pub(super) start: Position,
}

impl Plan {
    /// Batches of an epoch.
    pub(super) fn batches(&self) -> u64 {
        let whole = self.samples / self.batch_size;
        let rest = !self.drops_last && self.samples % self.batch_size > 0;
        whole as u64 + u64::from(rest)
    }

    /// Position of the batch of a number, counted from the start. There is one in each epoch.
    fn position(&self, number: u64) -> Position {
        let from_epoch = self.start.batch + number;
        Position {
            seed: self.start.seed,
            epoch: self.start.epoch.wrapping_add(from_epoch / self.batches()),
            batch: from_epoch % self.batches(),
        }
    }

    /// The places in the order of an epoch that are in one of its batches.
    pub(super) fn places(&self, batch: u64) -> Range<usize> {
        let first = batch as usize * self.batch_size;
        first..self.samples.min(first + self.batch_size)
    }

    /// Samples that a buffer has room for.
    pub(super) fn room(&self) -> usize {
        self.batch_size.min(self.samples)
    }

    fn order(&self, epoch: u64) -> Order {
        if self.is_shuffled {
            Order::Shuffled(Permutation::new(self.samples, self.start.seed, epoch))
        } else {
            Order::Sequential
        }
    }
}

/// A place for a batch: without memory until it is filled for the first time, and after its memory
/// has been taken away.
pub(super) type Buffer<D> = Option<Owned<D>>;

/// A batch, and what became of it.
pub(super) struct Filled<D: Dataset> {
    pub(super) buffer: Buffer<D>,
    pub(super) outcome: Result<(), BatchError>,
}

/// State that all threads of a loader share.
pub(super) struct Work<'t, D: Dataset> {
    pub(super) data: D,
    pub(super) plan: Plan,
    pub(super) transform: Option<Transform<'t, D>>,
    pub(super) ring: Ring<Buffer<D>, Filled<D>>,
}

impl<D: Dataset> Work<'_, D> {
    /// Body of a thread of the loader, until the ring is closed.
    pub(super) fn run(&self) {
        let mut indices = Vec::new();
        while let Some((number, buffer)) = self.ring.begin() {
            self.ring.deliver(number, self.fill(number, buffer, &mut indices));
        }
    }

    /// The batch of a number, in a buffer. `indices` is memory to work with.
    pub(super) fn fill(
        &self,
        number: u64,
        mut buffer: Buffer<D>,
        indices: &mut Vec<usize>,
    ) -> Filled<D> {
        let position = self.plan.position(number);
        // A buffer holds any elements at any time, and the transform's own state is as after a
        // panic in any other thread.
        let work = AssertUnwindSafe(|| self.try_fill(position, &mut buffer, indices));
        let outcome = match catch_unwind(work) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(failure)) => Err(BatchError::failed(position, failure)),
            Err(payload) => Err(BatchError::panicked(position, &*payload as &dyn Any)),
        };
        Filled { buffer, outcome }
    }

    fn try_fill(
        &self,
        position: Position,
        buffer: &mut Buffer<D>,
        indices: &mut Vec<usize>,
    ) -> Result<(), Failure> {
        let order = self.plan.order(position.epoch);
        indices.clear();
        indices.extend(self.plan.places(position.batch).map(|place| order.sample(place)));
        let owned = match buffer {
            Some(owned) => owned,
            None => buffer.insert(self.data.allocate(self.plan.room())?),
        };
        self.data.gather(indices, owned)?;
        match &self.transform {
            Some(transform) => transform(owned.lend_mut(indices.len())),
            None => Ok(()),
        }
    }
}
