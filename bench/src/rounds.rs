//! Rounds in which the ways to do one thing take turns, so that a slow moment of the machine meets
//! all of them.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The count of rounds, and the time of one way in a round.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// At least 1.
    pub count: usize,
    /// A round repeats its work until about this much time is over.
    pub length: Duration,
}

impl Rounds {
    /// Nanoseconds of one pass of each job in each round, the jobs taking turns. `run` does a job a
    /// given number of times in a row. Two rounds before them warm up; the second tells how many
    /// times fill a round.
    pub fn in_turn<J>(
        self,
        jobs: &mut [J],
        mut run: impl FnMut(&mut J, u32) -> Duration,
    ) -> Vec<Vec<f64>> {
        let fills = |once: Duration| {
            self.length.as_nanos().div_ceil(once.as_nanos().max(1)).clamp(1, 1 << 20) as u32
        };
        if self.count > 1 {
            jobs.iter_mut().for_each(|job| _ = run(job, 1));
        }
        let passes: Vec<u32> = jobs.iter_mut().map(|job| fills(run(job, 1))).collect();
        let mut times = vec![Vec::with_capacity(self.count); jobs.len()];
        for _ in 0..self.count {
            for ((job, passes), times) in jobs.iter_mut().zip(&passes).zip(&mut times) {
                times.push(run(job, *passes).as_secs_f64() * 1e9 / f64::from(*passes));
            }
        }
        times
    }
}

/// The median of some figures, and the least.
///
/// # Panics
///
/// When there is none.
pub fn median_and_least(figures: &[f64]) -> (f64, f64) {
    let mut figures = figures.to_vec();
    figures.sort_unstable_by(f64::total_cmp);
    (figures[figures.len() / 2], figures[0])
}

/// Time of `work` on `threads` threads at once, each with its number: from the first start to the
/// last end. Each does `warm` before, and waits for the others. Threads are not pinned.
pub fn at_once(
    threads: usize,
    warm: impl Fn(usize) + Sync,
    work: impl Fn(usize) + Sync,
) -> Duration {
    let awaited = AtomicUsize::new(threads);
    let run = |number| {
        warm(number);
        awaited.fetch_sub(1, Ordering::AcqRel);
        while awaited.load(Ordering::Acquire) > 0 {
            spin_loop();
        }
        let start = Instant::now();
        work(number);
        (start, Instant::now())
    };
    let run = &run;
    let spans = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|i| scope.spawn(move || run(i))).collect();
        let mut spans = vec![run(0)];
        spans.extend(others.into_iter().map(|other| other.join().expect("it does not panic")));
        spans
    });
    let start = spans.iter().map(|span| span.0).min().expect("one thread at least");
    let end = spans.iter().map(|span| span.1).max().expect("one thread at least");
    end - start
}
