#![forbid(unsafe_code)]
//! A small transformer learns the text of this repository, and draws text of its own.
//!
//! `cargo run --release -p tenure-demo --bin language -- [--steps N] [--save FILE.safetensors]`

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::thread::available_parallelism;

use clap::Parser;
use tenure::Context;
use tenure_demo::language::{Options, run};

/// A small transformer learns the text of this repository, and draws text of its own.
#[derive(Parser)]
#[command(name = "language", args_override_self = true)]
struct Arguments {
    /// Steps of training
    #[arg(long, value_name = "N", default_value_t = Options::default().steps)]
    steps: usize,
    /// Likely bytes are drawn more often the nearer this is to 0
    #[arg(long, value_name = "T", default_value_t = Options::default().temperature)]
    #[arg(value_parser = above_0)]
    temperature: f32,
    /// So many likely bytes are drawn from
    #[arg(long, value_name = "K", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    top_k: u16,
    /// The probability with which a step drops an element
    #[arg(long, value_name = "P", default_value_t = Options::default().sizes.dropout)]
    dropout: f64,
    /// Threads that compute; all processors, if this is not said
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Saves the model there, and a picture of its losses next to it
    #[arg(long, value_name = "FILE.safetensors")]
    save: Option<PathBuf>,
}

fn above_0(text: &str) -> Result<f32, String> {
    let number: f32 = text.parse().map_err(|error| format!("{error}"))?;
    match number > 0.0 && number.is_finite() {
        true => Ok(number),
        false => Err(format!("it is finite and above 0, not {number}")),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let mut options = Options {
        steps: arguments.steps,
        temperature: arguments.temperature,
        top_k: arguments.top_k.into(),
        ..Options::default()
    };
    options.sizes.dropout = arguments.dropout;
    let threads = arguments.threads.map_or_else(|| available_parallelism().map(usize::from), Ok)?;
    Context::with_threads(threads)?
        .install(|| run(&options, threads, arguments.save.as_deref(), &mut io::stdout().lock()))
}
