//! Buffers on their way between the threads that fill them and the one that uses them.

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::error::Result;
use crate::error::reserved;

/// How often the thread that takes batches lets others run before it sleeps, where it has a core of
/// its own: some 100 us. Waking a thread that sleeps costs the one that fills batches tens of
/// microseconds of a virtual machine, a tenth of its speed with batches of 1 MiB. Where all cores
/// fill batches, it would cost more than that.
const YIELDS: u32 = 200;

/// A fixed number of buffers. A thread that fills one takes it together with the number of the next
/// batch, under one lock; so the batch that is awaited always has a buffer, and no thread can wait
/// forever.
pub(super) struct Ring<B, F> {
    state: Mutex<State<B, F>>,
    /// A buffer is free, or the ring closed.
    freed: Condvar,
    /// A batch is there.
    filled: Condvar,
    /// Whether the batch that is awaited was there when the lock was last given back: a hint.
    is_there: AtomicBool,
    yields: u32,
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
    /// A ring for `threads` threads that fill the buffers.
    pub(super) fn new(buffers: Vec<B>, threads: usize) -> Result<Self> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let begun = VecDeque::from(reserved(buffers.len(), "buffers")?);
        let state = State { free: buffers, begun, first: 0, is_closed: false };
        Ok(Ring {
            state: Mutex::new(state),
            freed: Condvar::new(),
            filled: Condvar::new(),
            is_there: AtomicBool::new(false),
            yields: if cores > threads { YIELDS } else { 0 },
        })
    }

    /// No code panics while the lock is held, so that the state is never left half-changed.
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
        if place == 0 {
            self.is_there.store(true, Ordering::Release);
        }
        drop(state);
        if place == 0 {
            self.filled.notify_one();
        }
    }

    /// The batch after the one taken before, as soon as it is there; `None` where the ring was
    /// closed before it was begun. One thread asks for it.
    pub(super) fn take(&self) -> Option<F> {
        for _ in 0..self.yields {
            if self.is_there.load(Ordering::Acquire) {
                break;
            }
            thread::yield_now();
        }
        let waiting = |state: &mut State<B, F>| match state.begun.front() {
            Some(batch) => batch.is_none(),
            None => !state.is_closed,
        };
        let state = self.filled.wait_while(self.lock(), waiting);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let taken = state.begun.pop_front().flatten()?;
        state.first += 1;
        self.is_there.store(matches!(state.begun.front(), Some(Some(_))), Ordering::Release);
        Some(taken)
    }

    /// Returns a buffer.
    pub(super) fn free(&self, buffer: B) {
        self.lock().free.push(buffer);
        self.freed.notify_one();
    }

    /// Lets no thread begin another batch.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.freed.notify_all();
        self.filled.notify_all();
    }
}
