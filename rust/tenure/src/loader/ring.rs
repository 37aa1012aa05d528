//! Buffers on their way between the threads that fill them and the one that uses them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A fixed number of buffers. Whoever fills one takes it together with the number of the next batch,
/// under one lock; so the batch that is awaited always has a buffer, and nobody can wait for ever.
pub(super) struct Ring<B, F> {
    state: Mutex<State<B, F>>,
    /// A buffer is free, or the ring closed.
    freed: Condvar,
    /// A batch is there.
    filled: Condvar,
}

struct State<B, F> {
    free: Vec<B>,
    /// Batches that have been begun and not been taken, in order; those that are done are there.
    begun: VecDeque<Option<F>>,
    /// The number of the first of them.
    first: u64,
    is_closed: bool,
}

impl<B, F> Ring<B, F> {
    pub(super) fn new(buffers: Vec<B>) -> Self {
        let begun = VecDeque::with_capacity(buffers.len());
        let state = State { free: buffers, begun, first: 0, is_closed: false };
        Ring { state: Mutex::new(state), freed: Condvar::new(), filled: Condvar::new() }
    }

    /// Nobody panics while the lock is held, so that it is never left half-changed.
    fn lock(&self) -> MutexGuard<'_, State<B, F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next batch to fill and a buffer for it, as soon as one is free; `None` once the ring is
    /// closed.
    pub(super) fn begin(&self) -> Option<(u64, B)> {
        let waiting = |state: &mut State<B, F>| !state.is_closed && state.free.is_empty();
        let state = self.freed.wait_while(self.lock(), waiting);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let buffer = if state.is_closed { None } else { state.free.pop() }?;
        state.begun.push_back(None);
        Some((state.first + state.begun.len() as u64 - 1, buffer))
    }

    /// Hands over the batch of a number that `begin` gave.
    pub(super) fn deliver(&self, number: u64, filled: F) {
        let mut state = self.lock();
        let place = (number - state.first) as usize;
        state.begun[place] = Some(filled);
        drop(state);
        if place == 0 {
            self.filled.notify_one();
        }
    }

    /// The batch after the one taken before, as soon as it is there; `None` where the ring was closed
    /// before it was begun. One thread asks for it.
    pub(super) fn take(&self) -> Option<F> {
        let waiting = |state: &mut State<B, F>| match state.begun.front() {
            Some(batch) => batch.is_none(),
            None => !state.is_closed,
        };
        let state = self.filled.wait_while(self.lock(), waiting);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let taken = state.begun.pop_front().flatten()?;
        state.first += 1;
        Some(taken)
    }

    /// Returns a buffer.
    pub(super) fn free(&self, buffer: B) {
        self.lock().free.push(buffer);
        self.freed.notify_one();
    }

    /// Lets nobody begin any more.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.freed.notify_all();
        self.filled.notify_all();
    }
}
