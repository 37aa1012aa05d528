//! Many small calls on the same memory, three operations each: by calls, an expression, a
//! program, and the program bound, plain and preallocated; and the tail of the times of a million
//! preallocated runs, next to an empty loop that takes as long.

use std::hint::{black_box, spin_loop};
use std::time::Instant;

use bench::subject::{Case, Subject};
use bench::{CountingAllocator, Scale, allocations_of};
use tenure::{Program, Tensor};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const COUNTS: [usize; 4] = [8, 64, 1024, 16384];

fn main() {
    let mut subject = Subject::open("small");
    for count in COUNTS {
        three_operations(&mut subject, count);
    }
    if subject.wants("tail") {
        let runs = if subject.scale() == Scale::Smoke { 1000 } else { 1_000_000 };
        tail(8, runs);
        tail(1024, runs);
    }
    subject.close();
}

fn floats(count: usize, scale: f32) -> Tensor<f32> {
    let at = |[at]: [usize; 1]| (at % 1000) as f32 * scale - 1.0;
    Tensor::from_fn([count], at).expect("it fits")
}

/// relu(a * b + c).
fn program(count: usize) -> Program<(f32, f32, f32), f32> {
    let made = Program::trace(|graph| {
        let inputs = (graph.input([count]), graph.input([count]), graph.input([count]));
        graph.program(inputs, (inputs.0 * inputs.1 + inputs.2).relu())
    });
    made.expect("the shapes agree")
}

fn three_operations(subject: &mut Subject, count: usize) {
    let (a, b, c) = (floats(count, 0.002), floats(count, 0.001), floats(count, 0.003));
    let mut outs = [(); 6].map(|()| Tensor::<f32>::zeros([count]).expect("it fits"));
    let [out, called, evaluated, run, plain_bound, ready] = &mut outs;

    let plain = Case::repeated("plain", "a loop", || {
        let (a, b, c) = black_box((a.as_slice(), b.as_slice(), c.as_slice()));
        let (Some(a), Some(b), Some(c), Some(out)) = (a, b, c, out.as_mut_slice()) else { return };
        for (((out, a), b), c) in out.iter_mut().zip(a).zip(b).zip(c) {
            *out = (a * b + c).max(0.0);
        }
    });
    let calls = one_pass("calls", || {
        let (a, b, c) = black_box((&a, &b, &c));
        tenure::ops::mul_into(a, b, &mut *called).expect("one shape");
        tenure::ops::add_assign(&mut *called, c).expect("one shape");
        tenure::nn::relu_assign(&mut *called).expect("one shape");
    });
    let expression = one_pass("expression", || {
        let (a, b, c) = black_box((&a, &b, &c));
        (a * b + c).relu().eval_into(&mut *evaluated).expect("one shape");
    });
    let program = program(count);
    let bound = program.bind((&a, &b, &c), &mut *plain_bound).expect("the shapes agree");
    let preallocated =
        program.bind_preallocated((&a, &b, &c), &mut *ready).expect("no operation fails");
    // The first run takes the memory of later ones.
    bound.run((&a, &b, &c), &mut *plain_bound).expect("the same layouts");
    program.run_into((&a, &b, &c), &mut *run).expect("the same shapes");
    let program = one_pass("program", || {
        program.run_into(black_box((&a, &b, &c)), &mut *run).expect("the same shapes");
    });
    let bound = one_pass("bound", || {
        bound.run(black_box((&a, &b, &c)), &mut *plain_bound).expect("the same layouts");
    });
    let preallocated = one_pass("preallocated", || {
        preallocated.run(black_box((&a, &b, &c)), &mut *ready).expect("the same layouts");
    });
    let bytes = count as u64 * 4;
    let cases = vec![plain, calls, expression, program, bound, preallocated];
    subject.measure("relu(a * b + c)", bytes, 1, bytes * 4, cases);
    let [_, ways @ ..] = &outs;
    assert!(ways.iter().all(|way| way == &outs[1]), "one result");
}

/// In one pass, which allocates nothing.
fn one_pass<'a>(way: &'static str, mut run: impl FnMut() + 'a) -> Case<'a> {
    assert_eq!(allocations_of(&mut run), 0, "allocations of {way}");
    Case::repeated("tenure", way, run)
}

/// Each run by itself, so that the clock is in each figure; a loop that spins takes turns with it.
fn tail(count: usize, runs: usize) {
    let (a, b, c) = (floats(count, 0.002), floats(count, 0.001), floats(count, 0.003));
    let mut out = Tensor::<f32>::zeros([count]).expect("it fits");
    let bound = program(count).bind_preallocated((&a, &b, &c), &mut out);
    let bound = bound.expect("no operation fails");
    let mut run = || bound.run((&a, &b, &c), &mut out).expect("the same layouts");
    // Steps of an empty loop that take as long as a run.
    let (start, turns) = (Instant::now(), 10_000);
    (0..turns).for_each(|_| run());
    let taken = start.elapsed();
    let start = Instant::now();
    (0..turns).for_each(|_| spin_loop());
    let steps = (taken.as_nanos() / start.elapsed().as_nanos().max(1)).max(1);

    let mut times = [Vec::with_capacity(runs), Vec::with_capacity(runs)];
    for _ in 0..runs {
        let start = Instant::now();
        run();
        let between = Instant::now();
        (0..black_box(steps)).for_each(|_| spin_loop());
        let end = Instant::now();
        times[0].push((between - start).as_nanos());
        times[1].push((end - between).as_nanos());
    }
    println!("\ntail of {runs} runs, {count} f32");
    for (name, times) in ["preallocated", "empty loop"].iter().zip(&mut times) {
        times.sort_unstable();
        let [median, p999, most] = [times[runs / 2], times[runs / 1000 * 999], times[runs - 1]];
        let ratio = p999 as f64 / median as f64;
        print!("    {name:<16} median {median:>8} ns  ");
        println!("p99.9 {p999:>8} ns ({ratio:.2}x)  max {most:>9} ns");
    }
}
