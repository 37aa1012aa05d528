//! Many small calls on the same memory, by each of the ways: relu(a * b + c) into preallocated
//! memory. Nothing is converted, and the more is known before, the less is left to check.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use tenure::{Program, Result, Tensor};

const ROUNDS: usize = 20;
const CALLS: u32 = if cfg!(debug_assertions) { 100 } else { 10_000 };

/// Nanoseconds of a call, of the best round.
fn nanoseconds(mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..CALLS {
            call()?;
        }
        best = best.min(start.elapsed());
    }
    Ok(best.as_secs_f64() * 1e9 / f64::from(CALLS))
}

/// By three calls, an expression, a program, and the program bound, plain and preallocated.
fn ways(count: usize) -> std::result::Result<[f64; 5], Box<dyn Error>> {
    let numbers = |scale: f32| Tensor::from_fn([count], |[at]| at as f32 * scale - 1.0);
    let (a, b, c) = (&numbers(0.002)?, &numbers(0.001)?, &numbers(0.003)?);
    let mut outs = [(); 5].map(|()| Tensor::<f32>::zeros([count]));
    let [Ok(called), Ok(evaluated), Ok(run), Ok(plain), Ok(ready)] = &mut outs else {
        return Err("no memory".into());
    };
    let program = Program::trace(|graph| {
        let (a, b, c) = (graph.input([count]), graph.input([count]), graph.input([count]));
        graph.program((a, b, c), (a * b + c).relu())
    })?;
    let bound = program.bind((a, b, c), &mut *plain)?;
    let preallocated = program.bind_preallocated((a, b, c), &mut *ready)?;
    let nanoseconds = [
        nanoseconds(|| {
            tenure::ops::mul_into(black_box(a), b, called)?;
            tenure::ops::add_assign(called, c)?;
            tenure::nn::relu_assign(called)
        })?,
        nanoseconds(|| (black_box(a) * b + c).relu().eval_into(&mut *evaluated))?,
        nanoseconds(|| program.run_into(black_box((a, b, c)), &mut *run))?,
        nanoseconds(|| Ok(bound.run(black_box((a, b, c)), &mut *plain)?))?,
        nanoseconds(|| Ok(preallocated.run(black_box((a, b, c)), &mut *ready)?))?,
    ];
    let others = [&*evaluated, &*run, &*plain, &*ready];
    assert!(others.iter().all(|other| **other == *called), "the same bits by each way");
    Ok(nanoseconds)
}

/// Prints the nanoseconds of a call for each way and size.
pub fn run() -> std::result::Result<(), Box<dyn Error>> {
    println!("relu(a * b + c) in ns   three calls  expression  program   bound  preallocated");
    for count in [8, 64, 1024, 16384] {
        let [calls, expression, program, bound, preallocated] = ways(count)?;
        println!(
            "{count:>8} f32 {calls:>24.0} {expression:>11.0} {program:>8.0} {bound:>7.0} \
             {preallocated:>13.0}"
        );
    }
    Ok(())
}
