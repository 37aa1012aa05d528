//! The limits of the machine: the speed of its memory at the sizes of the other benches, of its
//! arithmetic, of touching fresh pages and of an empty call, on one thread and on two; and of the
//! way from one thread to the other and back.
//!
//! No criterion: the kinds take turns, so that a slow moment of the machine meets all of them.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bench::roofs::kernels::{Arrays, Move, Peak, Set, sets};
use bench::roofs::pages::{Mapping, Pages};
use bench::roofs::record::{Record, Row};
use bench::rounds::{Rounds, at_once, median_and_least};
use bench::{Scale, cpu_model, empty_calls_from_c, is_asked_for};

const THREADS: [usize; 2] = [1, 2];

/// How much is measured.
struct Effort {
    rounds: Rounds,
    /// Bytes of each array.
    sizes: &'static [usize],
    touched: &'static [usize],
    iterations: u64,
    calls: u64,
    turns: u64,
}

const FULL: Effort = Effort {
    rounds: Rounds { count: 11, length: Duration::from_millis(3) },
    sizes: &[32 << 10, 1 << 20, 64 << 20, 256 << 20, 1 << 30],
    touched: &[64 << 20, 256 << 20],
    iterations: 1 << 20,
    calls: 1 << 20,
    turns: 1 << 12,
};

const QUICK: Effort = Effort {
    rounds: Rounds { count: 9, length: Duration::from_millis(2) },
    sizes: &[32 << 10, 1 << 20, 64 << 20],
    touched: &[64 << 20],
    ..FULL
};

const SMOKE: Effort = Effort {
    rounds: Rounds { count: 1, length: Duration::ZERO },
    sizes: &[32 << 10, 1 << 20],
    touched: &[4 << 20],
    iterations: 1000,
    calls: 1000,
    turns: 10,
};

fn main() {
    if !is_asked_for("roofs") {
        return;
    }
    let (smoke, effort) = match Scale::asked_for() {
        Scale::Smoke => (true, SMOKE),
        Scale::Quick => (false, QUICK),
        Scale::Full => (false, FULL),
    };
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
    round_trip(&effort, &mut rows);

    let machine = format!("{}; {}; {} rounds", cpu_model(), set.name, effort.rounds.count);
    let record = Record { machine, rows };
    let path = record.write(smoke).expect("the target folder can be written");
    assert_eq!(Record::read(smoke).as_ref(), Some(&record), "what was written is read back");
    println!("CPU: {}\n\n{}", record.machine, record.to_markdown());
    println!("Written to {} and .csv", path.display());
}

/// Read, fill, copy and `a + b`, at each size.
fn memory(effort: &Effort, set: Set, rows: &mut Vec<Row>) {
    for bytes in effort.sizes.iter().copied() {
        let Some(arrays) = Arrays::if_they_fit(bytes) else { continue };
        let there = |what: &Move| arrays.pass(set, *what, 0, 1).is_some();
        let kinds: Vec<Move> = Move::ALL.into_iter().filter(there).collect();
        let mut jobs: Vec<_> =
            kinds.iter().flat_map(|what| THREADS.map(|threads| (*what, threads))).collect();
        let times = effort.rounds.in_turn(&mut jobs, |&mut (what, threads), passes| {
            let pass = |part| {
                arrays.pass(set, what, part, threads);
            };
            at_once(threads, pass, |part| (0..passes).for_each(|_| pass(part)))
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
    let mut jobs: Vec<_> =
        kinds.iter().flat_map(|kind| THREADS.map(|threads| (*kind, threads))).collect();
    for bytes in effort.touched.iter().copied() {
        let times = effort.rounds.in_turn(&mut jobs, |&mut ((_, pages), threads), passes| {
            let once = |_| {
                let fresh = Mapping::new(bytes, pages);
                at_once(threads, |_| (), |part| set.touch(&fresh, part, threads))
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
    let mut jobs: Vec<(Peak, usize)> =
        set.peaks().into_iter().flat_map(|peak| THREADS.map(|threads| (peak, threads))).collect();
    let times = effort.rounds.in_turn(&mut jobs, |&mut (peak, threads), passes| {
        let run = |_| peak.run(effort.iterations);
        at_once(threads, run, |part| (0..passes).for_each(|_| run(part)))
    });
    for ((peak, threads), times) in jobs.iter().zip(times) {
        let operations = peak.operations * effort.iterations * *threads as u64;
        rows.push(rate(peak.name, 0, *threads, "Gop/s", operations, &times));
    }
}

/// Crossing the C ABI from C.
fn empty_call(effort: &Effort, rows: &mut Vec<Row>) {
    rows.push(each("empty C call (tnr_abi_version)", 1, effort, effort.calls, empty_calls_from_c));
}

/// From one thread to another and back, both looking all the time: what sharing a call costs at
/// least.
fn round_trip(effort: &Effort, rows: &mut Vec<Row>) {
    rows.push(each("fork-join round trip", 2, effort, effort.turns, hand_over));
}

/// The time of one of `count`, which `run` does and takes the time of.
fn each(
    name: &str,
    threads: usize,
    effort: &Effort,
    count: u64,
    run: impl Fn(u64) -> Duration,
) -> Row {
    let times =
        effort.rounds.in_turn(&mut [()], |(), passes| (0..passes).map(|_| run(count)).sum());
    let (median, best) = median_and_least(&times[0]);
    let count = count as f64;
    Row {
        name: name.to_owned(),
        bytes: 0,
        threads,
        unit: "ns".to_owned(),
        median: rounded(median / count),
        best: rounded(best / count),
    }
}

/// Time of `turns` round trips. Even numbers are the caller's turn.
fn hand_over(turns: u64) -> Duration {
    let turn = AtomicU64::new(0);
    let wait_for = |number| {
        let mut looks = 0;
        while turn.load(Ordering::Acquire) != number {
            looks += 1;
            // The other may need this processor.
            if looks < 1000 { spin_loop() } else { thread::yield_now() }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in (1..=2 * turns + 1).step_by(2) {
                wait_for(number);
                turn.store(number + 1, Ordering::Release);
            }
        });
        // The first trip waits for the thread to start.
        turn.store(1, Ordering::Release);
        wait_for(2);
        let start = Instant::now();
        for number in (2..=2 * turns).step_by(2) {
            turn.store(number + 1, Ordering::Release);
            wait_for(number + 2);
        }
        start.elapsed()
    })
}

/// `amount` per nanosecond, which is 10^9 of them a second.
fn rate(name: &str, bytes: usize, threads: usize, unit: &str, amount: u64, times: &[f64]) -> Row {
    let (median, best) = median_and_least(times);
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

/// To four decimals: the rest is noise, and would not survive being written and read.
fn rounded(figure: f64) -> f64 {
    (figure * 1e4).round() / 1e4
}
