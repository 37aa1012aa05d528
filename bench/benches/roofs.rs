//! What the machine allows: the speed of its memory at the sizes of the other benches, of its
//! arithmetic, of touching fresh pages and of an empty call; on one thread and on two.
//!
//! No criterion: the kinds take turns, so that a slow moment of the machine meets all of them.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bench::roofs::kernels::{Arrays, Move, Peak, Set, sets};
use bench::roofs::pages::{Mapping, Pages};
use bench::roofs::record::{Record, Row};
use bench::{available_bytes, cpu_model, empty_calls_from_c, is_asked_for, is_smoke_run};

const THREADS: [usize; 2] = [1, 2];

/// How much is measured.
struct Effort {
    rounds: usize,
    /// A round repeats its kernel until about this much time is over.
    round: Duration,
    /// Bytes of each array.
    sizes: &'static [usize],
    touched: &'static [usize],
    iterations: u64,
    calls: u64,
}

const FULL: Effort = Effort {
    rounds: 11,
    round: Duration::from_millis(3),
    sizes: &[32 << 10, 1 << 20, 64 << 20, 256 << 20, 1 << 30],
    touched: &[64 << 20, 256 << 20],
    iterations: 1 << 20,
    calls: 1 << 20,
};

const SMOKE: Effort = Effort {
    rounds: 1,
    round: Duration::ZERO,
    sizes: &[32 << 10, 1 << 20],
    touched: &[4 << 20],
    iterations: 1000,
    calls: 1000,
};

fn main() {
    if !is_asked_for("roofs") {
        return;
    }
    let smoke = is_smoke_run();
    let effort = if smoke { SMOKE } else { FULL };
    let mut rows = Vec::new();
    let all = sets();
    for set in &all {
        Arrays::new(24 << 10).check(*set);
        (0..4).for_each(|iterations| set.peaks().iter().for_each(|peak| peak.run(iterations)));
        println!("{}: every kernel does what plain Rust does", set.name);
    }
    let set = *all.last().expect("plain is always there");
    memory(&effort, set, &mut rows);
    first_touch(&effort, set, &mut rows);
    peaks(&effort, set, &mut rows);
    empty_call(&effort, &mut rows);

    let machine = format!("{}; {}; {} rounds", cpu_model(), set.name, effort.rounds);
    let record = Record { machine, rows };
    let path = record.write(smoke).expect("the target folder can be written");
    assert_eq!(Record::read(smoke).as_ref(), Some(&record), "what was written is read back");
    println!("CPU: {}\n\n{}", record.machine, record.to_markdown());
    println!(
        "Not measured: a fork-join round trip, since the library has no threads of its own yet."
    );
    println!("Written to {} and .csv", path.display());
}

/// Read, fill, copy and `a + b`, at each size.
fn memory(effort: &Effort, set: Set, rows: &mut Vec<Row>) {
    for bytes in effort.sizes.iter().copied() {
        let (needed, available) = (bytes as u64 * 3, available_bytes());
        // Half as much again, for whatever else runs. 0 means that the system does not tell.
        if available > 0 && available < needed + needed / 2 {
            println!("skipped: three arrays of {bytes} bytes, with {available} available");
            continue;
        }
        let arrays = Arrays::new(bytes);
        let there = |what: &Move| arrays.pass(set, *what, 0, 1).is_some();
        let kinds: Vec<Move> = Move::ALL.into_iter().filter(there).collect();
        let jobs: Vec<_> =
            kinds.iter().flat_map(|what| THREADS.map(|threads| (*what, threads))).collect();
        let times = in_turn(effort, &jobs, |(what, threads), passes| {
            let pass = |part| {
                arrays.pass(set, what, part, threads);
            };
            timed(threads, pass, |part| (0..passes).for_each(|_| pass(part)))
        });
        for ((what, threads), times) in jobs.iter().zip(times) {
            let moved = bytes as u64 * what.arrays();
            rows.push(rate(what.name(), bytes, *threads, "GB/s", moved, &times));
        }
    }
}

/// Writing to pages that the system has yet to provide.
fn first_touch(effort: &Effort, set: Set, rows: &mut Vec<Row>) {
    if !Mapping::HAS_PAGES {
        println!("skipped: first touch, since this system does not let pages be chosen");
        return;
    }
    let kinds =
        [("first touch, 4 KiB pages", Pages::Small), ("first touch, 2 MiB pages", Pages::Huge)];
    let jobs: Vec<_> =
        kinds.iter().flat_map(|kind| THREADS.map(|threads| (*kind, threads))).collect();
    for bytes in effort.touched.iter().copied() {
        let times = in_turn(effort, &jobs, |((_, pages), threads), passes| {
            let once = |_| {
                let fresh = Mapping::new(bytes, pages);
                timed(threads, |_| (), |part| set.touch(&fresh, part, threads))
            };
            (0..passes).map(once).sum()
        });
        for (((name, _), threads), times) in jobs.iter().zip(times) {
            rows.push(rate(name, bytes, *threads, "GB/s", bytes as u64, &times));
        }
    }
}

/// Arithmetic in registers.
fn peaks(effort: &Effort, set: Set, rows: &mut Vec<Row>) {
    let jobs: Vec<(Peak, usize)> =
        set.peaks().into_iter().flat_map(|peak| THREADS.map(|threads| (peak, threads))).collect();
    let times = in_turn(effort, &jobs, |(peak, threads), passes| {
        let run = |_| peak.run(effort.iterations);
        timed(threads, run, |part| (0..passes).for_each(|_| run(part)))
    });
    for ((peak, threads), times) in jobs.iter().zip(times) {
        let operations = peak.operations * effort.iterations * *threads as u64;
        rows.push(rate(peak.name, 0, *threads, "Gop/s", operations, &times));
    }
}

/// Crossing the C ABI from C.
fn empty_call(effort: &Effort, rows: &mut Vec<Row>) {
    let times = in_turn(effort, &[()], |(), passes| {
        (0..passes).map(|_| empty_calls_from_c(effort.calls)).sum()
    });
    let (median, best) = median_and_best(&times[0]);
    let calls = effort.calls as f64;
    rows.push(Row {
        name: "empty C call (tnr_abi_version)".to_owned(),
        bytes: 0,
        threads: 1,
        unit: "ns".to_owned(),
        median: rounded(median / calls),
        best: rounded(best / calls),
    });
}

/// Nanoseconds of one pass of each job in each round, the jobs taking turns. `run` does a job so
/// many times in a row. A round before them warms up, and tells how many times fill a round.
fn in_turn<J: Copy>(
    effort: &Effort,
    jobs: &[J],
    run: impl Fn(J, u32) -> Duration,
) -> Vec<Vec<f64>> {
    let fills = |once: Duration| {
        effort.round.as_nanos().div_ceil(once.as_nanos().max(1)).clamp(1, 1 << 20) as u32
    };
    let passes: Vec<u32> = jobs.iter().map(|job| fills(run(*job, 1))).collect();
    let mut times = vec![Vec::with_capacity(effort.rounds); jobs.len()];
    for _ in 0..effort.rounds {
        for ((job, passes), times) in jobs.iter().zip(&passes).zip(&mut times) {
            times.push(run(*job, *passes).as_secs_f64() * 1e9 / f64::from(*passes));
        }
    }
    times
}

/// Time of `work` on `threads` threads at once, each with its number: from the first start to the
/// last end. Each does `warm` before, and waits for the others. Threads are not pinned.
fn timed(threads: usize, warm: impl Fn(usize) + Sync, work: impl Fn(usize) + Sync) -> Duration {
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

/// `amount` per nanosecond, which is 10^9 of them a second.
fn rate(name: &str, bytes: usize, threads: usize, unit: &str, amount: u64, times: &[f64]) -> Row {
    let (median, best) = median_and_best(times);
    let amount = amount as f64;
    Row {
        name: name.to_owned(),
        bytes: bytes as u64,
        threads,
        unit: unit.to_owned(),
        median: rounded(amount / median),
        best: rounded(amount / best),
    }
}

fn median_and_best(times: &[f64]) -> (f64, f64) {
    let mut times = times.to_vec();
    times.sort_unstable_by(f64::total_cmp);
    (times[times.len() / 2], times[0])
}

/// To four decimals: the rest is noise, and would not survive being written and read.
fn rounded(figure: f64) -> f64 {
    (figure * 1e4).round() / 1e4
}
