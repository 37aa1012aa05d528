//! Trains a model on the texts of pages, and compares how well it finds those that belong together
//! before and after that.

use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use tenure::{random::Generator, train::schedules};
use tenure_encoder::{Pair, Ranking, Sequences, TooLong, Tuning, batches, pairs, ranking, vectors};

use crate::model::Model;
use crate::{Result, in_file, read, with_threads};

/// Every 8th section is held out.
const HELD_OUT: usize = 8;

/// Trains a model on pairs of adjacent texts of the sections of pages in Markdown: each text is to
/// be nearer to the other one of its pair than to those of other sections. Every 8th section is
/// held out: its texts say how well that works
#[derive(clap::Args)]
#[command(args_override_self = true)]
pub struct Tune {
    /// The pages, in UTF-8
    #[arg(required = true)]
    pages: Vec<PathBuf>,
    /// The folder of model.safetensors, tokenizer.json and config.json
    #[arg(long, value_name = "FOLDER")]
    model: PathBuf,
    /// The folder of the trained model
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Steps of training
    #[arg(long, value_name = "N", default_value_t = 60)]
    steps: usize,
    /// Pairs in a step
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = pairs_of_step)]
    batch: usize,
    /// Texts of more tokens are left out
    #[arg(long, value_name = "N", default_value_t = 48)]
    words: usize,
    /// The learning rate after a tenth of the steps; from there on it falls to 0
    #[arg(long, value_name = "RATE", default_value_t = 2e-4, value_parser = learning_rate)]
    rate: f32,
    /// The most memory of a step between its inputs and outputs: values are computed again for that
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    budget: Option<u32>,
    /// The order of the pairs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Threads that compute; all processors, if this is not said
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

fn pairs_of_step(text: &str) -> Result<usize, String> {
    let pairs = text.parse().map_err(|error| format!("{error}"))?;
    match pairs {
        2..=1024 => Ok(pairs),
        _ => Err(format!("a step takes 2 to 1024 pairs, not {pairs}")),
    }
}

fn learning_rate(text: &str) -> Result<f32, String> {
    let rate: f32 = text.parse().map_err(|error| format!("{error}"))?;
    match rate.is_finite() && rate >= 0.0 {
        true => Ok(rate),
        false => Err(format!("a rate is finite and at least 0, not {rate}")),
    }
}

/// The pairs of some pages.
struct Texts {
    texts: Vec<String>,
    ids: Sequences,
    learned: Vec<Pair>,
    held_out: Vec<Pair>,
}

pub fn tune(arguments: &Tune) -> Result<()> {
    with_threads(arguments.threads, |threads| {
        let model = Model::open(&arguments.model, TooLong::Cut)?;
        let texts = texts(arguments, &model)?;
        let (learned, held_out) = (texts.learned.len(), texts.held_out.len());
        let pages = arguments.pages.len();
        writeln!(stdout(), "{pages} pages, {learned} pairs to learn, {held_out} held out")?;
        say("before", ranking_of(&model, &texts)?)?;
        let trained = trained(arguments, &model, &texts, threads)?;
        save(arguments, &trained)?;
        say("after", ranking_of(&Model::open(&arguments.out, TooLong::Cut)?, &texts)?)?;
        writeln!(stdout(), "saved in {}, for embed --model", arguments.out.display())?;
        Ok(())
    })
}

fn texts(arguments: &Tune, model: &Model) -> Result<Texts> {
    let mut sections = Vec::new();
    for page in &arguments.pages {
        sections.extend(tenure_encoder::sections(&read(page)?));
    }
    let pairs = pairs(&sections);
    let texts = sections.concat();
    let ids = model.tokens.sequences(texts.iter().map(|text| &text[..]))?;
    let is_short = |text: &usize| ids.ids(*text).len() <= arguments.words;
    let short = pairs.into_iter().filter(|pair| pair.texts.iter().all(is_short));
    let (held_out, learned): (Vec<_>, Vec<_>) =
        short.partition(|pair| pair.section % HELD_OUT == HELD_OUT - 1);
    if learned.is_empty() || held_out.is_empty() {
        let (learned, held_out) = (learned.len(), held_out.len());
        let why = format!("the pages have {learned} pairs to learn and {held_out} to hold out");
        return Err(format!("{why}, but each must be at least 1").into());
    }
    Ok(Texts { texts, ids, learned, held_out })
}

/// The quality of the vectors of the pairs that are held out.
fn ranking_of(model: &Model, texts: &Texts) -> Result<Ranking> {
    let program = model.bert.program(tenure::Passes::DEFAULT)?;
    let of = |side: usize| {
        let of_side = texts.held_out.iter().map(|pair| &texts.texts[pair.texts[side]][..]);
        vectors(&program, &model.tokens.sequences(of_side)?, |_| ())
    };
    Ok(ranking(&of(0)?, &of(1)?)?)
}

fn say(when: &str, Ranking { loss, accuracy }: Ranking) -> Result<()> {
    let percent = 100.0 * accuracy;
    Ok(writeln!(stdout(), "{when}: loss {loss:.4}, {percent:.1} % found among those held out")?)
}

fn trained(arguments: &Tune, model: &Model, texts: &Texts, threads: usize) -> Result<Tuning> {
    let Tune { steps, batch, words, rate, budget, seed, .. } = *arguments;
    let words = words.min(model.bert.positions());
    let budget = budget.map(|mebibytes| (mebibytes as usize) << 20);
    let mut tuning = Tuning::new(&model.bert, batch, words, budget)?;
    let planned = tuning.memory()?.peak_bytes as f64 / f64::from(1 << 20);
    writeln!(stdout(), "a step of {batch} pairs of {words} tokens: {planned:.1} MiB planned")?;

    let bar = ProgressBar::new(steps as u64);
    bar.set_style(ProgressStyle::with_template("{wide_bar} {pos}/{len} steps, {eta}, loss {msg}")?);
    let (mut generator, mut order) = (Generator::new(seed), Vec::new());
    let (start, mut tokens, mut losses) = (Instant::now(), 0, Vec::new());
    for step in 0..steps {
        if order.is_empty() {
            order = batches(&texts.learned, batch, &mut generator)?;
            // Small ones at the end have few negatives.
            let largest = order.iter().map(Vec::len).max().unwrap_or(0);
            order.retain(|pairs| 2 * pairs.len() >= largest);
        }
        let pairs = order.pop().unwrap_or_default();
        let scale = schedules::warmup(step, steps / 10) * schedules::linear(step, steps);
        losses.push(tuning.step(rate * scale as f32, &texts.ids, &pairs)?);
        let of_pair = |pair: &Pair| pair.texts.map(|text| texts.ids.ids(text).len());
        tokens += pairs.iter().flat_map(of_pair).sum::<usize>();
        bar.inc(1);
        bar.set_message(format!("{:.3}", losses[step]));
    }
    bar.finish_and_clear();
    let took = start.elapsed().as_secs_f64();
    let speed = tokens as f64 / took;
    writeln!(
        stdout(),
        "{steps} steps in {took:.1} s, {speed:.0} tokens a second, threads: {threads}"
    )?;
    if let (Some(first), Some(last)) = (losses.first(), losses.last()) {
        writeln!(stdout(), "  loss of the first batch {first:.4}, of the last {last:.4}")?;
    }
    Ok(tuning)
}

/// Writes a folder of a model.
fn save(arguments: &Tune, tuning: &Tuning) -> Result<()> {
    let Tune { model, out, .. } = arguments;
    fs::create_dir_all(out).map_err(in_file(out))?;
    tuning.weights.save(&out.join("model.safetensors"))?;
    for name in ["tokenizer.json", "config.json"] {
        copy(&model.join(name), &out.join(name))?;
    }
    Ok(())
}

/// Copies a small file, which may be the same one: it is read before it is written.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let bytes = fs::read(from).map_err(in_file(from))?;
    Ok(fs::write(to, bytes).map_err(in_file(to))?)
}
