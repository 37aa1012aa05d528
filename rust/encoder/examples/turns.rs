//! Runs a model as lines of the input request, for benches that take turns with another process
//! (`bench/embed_peers.py`). Each line is answered by a time in milliseconds.
//!
//! `turns MODEL_FOLDER THREADS`, then
//!
//! - `run plain|packed|int8|int4 BATCH WORDS`: one run, with weights as they are, packed, or packed as
//!   integers of 8 or 4 bits
//! - `lines sorted|padded LENGTH...`: texts of these lengths, in sorted batches, or in their order
//!   with 32 in a batch
//! - `serve THREADS RUNS BATCH WORDS`: as many runs by each of these threads, of one program
#![forbid(unsafe_code)]

use std::cell::OnceCell;
use std::error::Error;
use std::io::{self, BufRead};
use std::path::Path;
use std::time::Instant;
use std::{env, fs, thread};

use tenure::{Context, Passes, Tensor, io::safetensors};
use tenure_encoder::{Batch, Bert, Embedding, heads};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().collect();
    let [_, folder, threads] = &arguments[..] else { return Err("which model?".into()) };
    let folder = Path::new(folder);
    // The file is read, not mapped: only computing is measured.
    let file = tenure::io::read(folder.join("model.safetensors"))?.into_shared();
    let heads = heads(&fs::read_to_string(folder.join("config.json"))?)?;
    let bert = Bert::new(&safetensors::Shared::new(file)?, heads)?;
    let plain = bert.program(Passes::DEFAULT)?;
    let packing = Passes::DEFAULT.with(Passes::PACKING);
    let packed = bert.program(packing)?;
    let int8 = OnceCell::new();
    let int4 = OnceCell::new();
    Context::with_threads(threads.parse()?)?.install(|| {
        for line in io::stdin().lock().lines() {
            let line = line?;
            let words: Vec<&str> = line.split_whitespace().collect();
            let numbers = |from: usize| words[from..].iter().map(|word| word.parse());
            let time = match &words[..] {
                ["run", "packed", ..] => run(&packed, &numbers(2).collect::<Result<Vec<_>, _>>()?)?,
                ["run", "int8", ..] => {
                    let made = || bert.quantized_program(packing);
                    run(once(&int8, made)?, &numbers(2).collect::<Result<Vec<_>, _>>()?)?
                }
                ["run", "int4", ..] => {
                    let made = || bert.four_bit_program(packing);
                    run(once(&int4, made)?, &numbers(2).collect::<Result<Vec<_>, _>>()?)?
                }
                ["run", ..] => run(&plain, &numbers(2).collect::<Result<Vec<_>, _>>()?)?,
                ["lines", how, ..] => {
                    let lengths = numbers(2).collect::<Result<Vec<_>, _>>()?;
                    lines(&packed, *how == "sorted", &lengths)?
                }
                ["serve", ..] => serve(&plain, &numbers(1).collect::<Result<Vec<_>, _>>()?)?,
                _ => return Err(format!("what is {line:?}?").into()),
            };
            println!("{:.6}", time * 1e3);
        }
        Ok(())
    })
}

/// The program, which the first use makes.
fn once(
    cell: &OnceCell<Embedding>,
    made: impl FnOnce() -> tenure::Result<Embedding>,
) -> Result<&Embedding> {
    match cell.get() {
        Some(program) => Ok(program),
        None => {
            let program = made()?;
            Ok(cell.get_or_init(|| program))
        }
    }
}

/// A batch of texts of these lengths.
fn inputs(lengths: &[usize]) -> Result<(Tensor<i64>, Vec<i64>)> {
    let words = lengths.iter().copied().max().unwrap_or(0);
    let id = |[row, word]: [usize; 2]| ((row * 7919 + word * 104_729) % 20_000) as i64;
    let counts = lengths.iter().map(|&length| length as i64).collect();
    Ok((Tensor::from_fn([lengths.len(), words], id)?, counts))
}

fn run(program: &Embedding, shape: &[usize]) -> Result<f64> {
    let (tokens, counts) = inputs(&vec![shape[1]; shape[0]])?;
    let start = Instant::now();
    program.run((&tokens, &counts))?;
    Ok(start.elapsed().as_secs_f64())
}

fn lines(program: &Embedding, sorted: bool, lengths: &[usize]) -> Result<f64> {
    let start = Instant::now();
    let batches: Vec<Vec<usize>> = if sorted {
        let batches = Batch::of_lengths(lengths, 1024);
        let lengths_of = |batch: Batch| batch.texts.iter().map(|&text| lengths[text]).collect();
        batches.into_iter().map(lengths_of).collect()
    } else {
        lengths.chunks(32).map(<[usize]>::to_vec).collect()
    };
    for batch in batches {
        let (tokens, counts) = inputs(&batch)?;
        program.run((&tokens, &counts))?;
    }
    Ok(start.elapsed().as_secs_f64())
}

fn serve(program: &Embedding, numbers: &[usize]) -> Result<f64> {
    let [threads, runs, batch, words] = *numbers else { return Err("serve four numbers".into()) };
    let (tokens, counts) = inputs(&vec![words; batch])?;
    let start = Instant::now();
    thread::scope(|scope| {
        let work = || (0..runs).try_for_each(|_| program.run((&tokens, &counts)).map(drop));
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("it does not panic"))
    })?;
    Ok(start.elapsed().as_secs_f64())
}
