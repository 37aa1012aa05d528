//! Embeds the lines of a file by the weights of a mapped model, and finds those nearest to a query;
//! and trains a model.

mod model;
mod packed;
mod tune;

use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::Instant;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use tenure::{Context, Passes, Tensor, io::npy, linalg::matmul, ops::top_k};
use tenure_encoder::{Bert, Embedding, Error, Sequences, TooLong, report, vectors};

use model::Model;

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Embeds each line of a text: vectors of length 1, near to each other where lines mean the same.
#[derive(Parser)]
#[command(name = "embed", args_override_self = true)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct Command {
    #[command(subcommand)]
    other: Option<Other>,
    #[command(flatten)]
    arguments: Option<Arguments>,
}

#[derive(clap::Subcommand)]
enum Other {
    Tune(tune::Tune),
}

#[derive(clap::Args)]
struct Arguments {
    /// The text, in UTF-8
    file: PathBuf,
    /// The folder of model.safetensors, tokenizer.json and config.json
    #[arg(long, value_name = "FOLDER")]
    model: PathBuf,
    /// Prints the lines that are nearest to this
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
    /// How many of them
    #[arg(long, value_name = "K", default_value_t = 5)]
    top: usize,
    /// Threads that compute; all processors, if this is not said
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Writes the vectors as a file of NumPy's
    #[arg(long, value_name = "OUT.npy")]
    npy: Option<PathBuf>,
    /// Measures the steps of the longest lines' batch: report.txt and report.svg
    #[arg(long, value_name = "FOLDER")]
    report: Option<PathBuf>,
    /// Saves the program with its weights, for any other to run
    #[arg(long, value_name = "OUT.tnrp")]
    save: Option<PathBuf>,
    /// Refuses a line of more tokens than the model takes, which else is cut
    #[arg(long)]
    strict: bool,
    /// Leaves out the smallest PERCENT % of the weights of products
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(..=100))]
    sparse: Option<u8>,
    /// Rounds the weights of products to bf16
    #[arg(long, conflicts_with = "sparse")]
    bf16: bool,
    /// Multiplies integers of 8 bits: weights are rounded to them once, and rows of other factors in
    /// each run
    #[arg(long, conflicts_with_all = ["sparse", "bf16"])]
    int8: bool,
    /// Multiplies by weights of 4 bits, in groups of 32 with a scale each
    #[arg(long, conflicts_with_all = ["sparse", "bf16", "int8"])]
    int4: bool,
    /// Multiplies by packed weights, which is faster: they are kept next to the model, and mapped
    /// by later runs
    #[arg(long)]
    pack: bool,
}

impl Arguments {
    fn program(&self, bert: &Bert, passes: Passes) -> tenure::Result<Embedding> {
        match self {
            Arguments { int8: true, .. } => bert.quantized_program(passes),
            Arguments { int4: true, .. } => bert.four_bit_program(passes),
            _ => bert.program(passes),
        }
    }
}

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command { other: Some(Other::Tune(arguments)), .. } => tune::tune(&arguments),
        Command { arguments: Some(arguments), .. } => embed(&arguments),
        Command { .. } => unreachable!("the text is required without a subcommand"),
    };
    match done.inspect_err(|error| eprintln!("embed: {error}")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Calls `f` in a context of this many threads; one for each processor, if it is not said.
fn with_threads(threads: Option<usize>, f: impl FnOnce(usize) -> Result<()>) -> Result<()> {
    let threads = threads.map_or_else(|| available_parallelism().map(usize::from), Ok)?;
    Context::with_threads(threads)?.install(|| f(threads))
}

fn embed(arguments: &Arguments) -> Result<()> {
    let text = read(&arguments.file)?;
    let lines: Vec<&str> = text.lines().collect();
    with_threads(arguments.threads, |threads| {
        let too_long = if arguments.strict { TooLong::Refused } else { TooLong::Cut };
        let mut model = Model::open(&arguments.model, too_long)?;
        model.bert = match arguments.sparse {
            Some(percent) => model.bert.pruned(percent)?,
            None if arguments.bf16 => model.bert.halved()?,
            None => model.bert,
        };
        let sequences = model.tokens.sequences(lines.iter().copied());
        let sequences = sequences.map_err(|error| in_line(error, &arguments.file))?;
        let program = first_vector(arguments, &model, lines[0])?;
        let vectors = all_vectors(&program, &sequences, threads)?;
        writeln!(stdout(), "bytes copied by Tenure: {}", tenure::stats().copied_bytes)?;
        if let Some(first) = sequences.cut.first().map(|text| text + 1) {
            let (count, most) = (sequences.cut.len(), model.bert.positions());
            writeln!(stdout(), "cut to {most} tokens: {count} lines, the first is line {first}")?;
        }
        if let Some(query) = &arguments.query {
            writeln!(stdout(), "nearest to \"{query}\":")?;
            let query =
                tenure_encoder::vectors(&program, &model.tokens.sequences([&query[..]])?, |_| ())?;
            nearest(&query, &vectors, &lines, arguments.top)?;
        }
        if let Some(path) = &arguments.npy {
            npy::save(path, &vectors)?;
        }
        if let Some(folder) = &arguments.report {
            let report = report(&program, &sequences, 5)?;
            let write = |name: &str, text| fs::write(folder.join(name), text);
            fs::create_dir_all(folder).map_err(in_file(folder))?;
            write("report.txt", report.to_string()).map_err(in_file(folder))?;
            write("report.svg", report.to_svg()).map_err(in_file(folder))?;
        }
        arguments.save.as_ref().map_or(Ok(()), |path| Ok(program.save(path)?))
    })
}

/// The text of a file that has a line.
fn read(path: &Path) -> Result<String> {
    let bytes = fs::read(path).map_err(in_file(path))?;
    if bytes.is_empty() {
        return Err(in_file(path)("the file is empty").into());
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + valid.iter().filter(|&&byte| byte == b'\n').count();
        in_file(path)(format!("line {line} is not UTF-8")).into()
    })
}

/// The error of a text, by its number in the file.
fn in_line(error: Error, path: &Path) -> String {
    let Error::Length { text, tokens, most } = error else { return in_file(path)(error) };
    in_file(path)(format!("line {} has {tokens} tokens but the model takes 1 to {most}", text + 1))
}

fn in_file<E: std::fmt::Display>(path: &Path) -> impl FnOnce(E) -> String + '_ {
    move |error| format!("{}: {error}", path.display())
}

/// The program, and how long it took to be ready and to compute one line.
fn first_vector(arguments: &Arguments, model: &Model, line: &str) -> Result<Embedding> {
    let line = model.tokens.sequences([line])?;
    let (start, faults) = (Instant::now(), model::faults());
    // Pruned weights are sparse, and nothing of them is packed.
    let (program, packed) = if arguments.pack && arguments.sparse.is_none() {
        packed::program(arguments, model).map(|(one, how)| (one, Some(how)))?
    } else {
        (arguments.program(&model.bert, Passes::DEFAULT)?, None)
    };
    let ready = start.elapsed();
    vectors(&program, &line, |_| ())?;
    let took = model.opening + start.elapsed();
    let count = line.ids(0).len();
    writeln!(stdout(), "file opened to views: {:.2?}", model.opening)?;
    writeln!(stdout(), "to the first vector, of {count} tokens: {took:.2?}")?;
    writeln!(stdout(), "  of these for the program: {ready:.2?}")?;
    if let Some(packed) = packed {
        writeln!(stdout(), "  weights: {packed}")?;
    }
    if let (Some(before), Some(after)) = (faults, model::faults()) {
        let [minor, major] = [0, 1].map(|kind| after[kind] - before[kind]);
        writeln!(stdout(), "  page faults: {minor}, and {major} that waited for the disk")?;
    }
    writeln!(stdout(), "tokens read, before that: {:.2?}", model.reading_tokens)?;
    Ok(program)
}

/// The vectors of all lines, under a progress bar where it is visible.
fn all_vectors(program: &Embedding, texts: &Sequences, threads: usize) -> Result<Tensor<f32>> {
    let (lines, tokens) = (texts.lengths().len(), texts.lengths().iter().sum::<usize>());
    let bar = if tokens > 10_000 { ProgressBar::new(tokens as u64) } else { ProgressBar::hidden() };
    bar.set_style(ProgressStyle::with_template("{wide_bar} {percent} % of the tokens, {eta}")?);
    let start = Instant::now();
    let vectors = vectors(program, texts, |batch| {
        let tokens: usize = batch.texts.iter().map(|&text| texts.ids(text).len()).sum();
        bar.inc(tokens as u64);
    })?;
    bar.finish_and_clear();
    let took = start.elapsed().as_secs_f64();
    writeln!(stdout(), "{lines} lines, {tokens} tokens, threads: {threads}")?;
    writeln!(stdout(), "  {took:.2} s, {:.1} vectors a second", lines as f64 / took)?;
    Ok(vectors)
}

fn nearest(query: &Tensor<f32>, vectors: &Tensor<f32>, lines: &[&str], top: usize) -> Result<()> {
    // For vectors of length 1 the product is the cosine.
    let cosines = matmul(vectors, query.t())?;
    let best = top_k(&cosines, top.min(lines.len()), 0)?;
    for rank in 0..best.values.shape()[0] {
        let (cosine, line) = (best.values[[rank, 0]], best.indices[[rank, 0]] as usize);
        writeln!(stdout(), "{cosine:8.4}  line {}: {:.100}", line + 1, lines[line])?;
    }
    Ok(())
}
