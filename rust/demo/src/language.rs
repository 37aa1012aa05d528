//! A small transformer that learns the text of this repository byte by byte: pages in Markdown and
//! documentation comments.

pub mod network;
mod text;

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use tenure::random::Generator;
use tenure::train::schedules;
use tenure::tree::Tensors;
use tenure::{Result, Tensor, layers};

use crate::learned::{bar, draw_losses};
use network::{Model, Moments, Sizes};
pub use text::Text;

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The extents of the network.
    pub sizes: Sizes,
    /// Steps of training.
    pub steps: usize,
    /// The greatest learning rate.
    pub rate: f64,
    /// Scores of the next byte are divided by this, above 0.
    pub temperature: f32,
    /// The count of likely bytes that a draw chooses from, 1 to 256.
    pub top_k: usize,
    /// Bytes of a sample.
    pub sample: usize,
}

impl Default for Options {
    fn default() -> Self {
        let sizes = Sizes { width: 144, heads: 4, blocks: 4, window: 128, batch: 16, dropout: 0.0 };
        Options { sizes, steps: 400, rate: 3e-3, temperature: 0.7, top_k: 20, sample: 400 }
    }
}

/// A model that has been trained, with the loss of each step in nats for each byte.
#[derive(Debug)]
pub struct Trained {
    /// The model.
    pub model: Model<Tensors>,
    /// The losses.
    pub losses: Vec<f32>,
    /// The memory of a step between its inputs and outputs.
    pub peak_bytes: usize,
}

/// Trains a model on windows of the text at random places.
///
/// # Errors
///
/// Errors of the library; a text that is shorter than a window.
pub fn trained(options: &Options, text: &Text) -> Result<Trained> {
    let Options { sizes, steps, rate, .. } = *options;
    let mut model = Model::new(sizes)?;
    let mut moments: Moments<Tensors> = [Model::zeros(sizes)?, Model::zeros(sizes)?];
    let mut count = Tensor::zeros(1)?;
    let step = network::step(sizes, &model)?;

    let mut generator = Generator::new(7);
    let (bar, mut losses, mut peak_bytes) = (bar(steps), Vec::new(), 0);
    for number in 0..steps {
        let windows = text.learned_windows(sizes.batch, sizes.window + 1, &mut generator)?;
        let share = schedules::warmup(number, steps / 20) * schedules::cosine(number, steps);
        let (rate, number) = ([(rate * share) as f32], number as u64);
        if number == 0 {
            let inputs = (&windows, &rate, &number, &mut model, &mut moments, &mut count);
            peak_bytes = step.memory(inputs)?.peak_bytes;
        }
        let inputs = (&windows, &rate, &number, &mut model, &mut moments, &mut count);
        losses.extend(step.run(inputs)?.item());
        bar.inc(1);
        bar.set_message(format!("{:.3}", losses.last().copied().unwrap_or(f32::NAN)));
    }
    bar.finish_and_clear();
    Ok(Trained { model, losses, peak_bytes })
}

/// The bits by which the model foretells a byte of the text that is held out, on average.
///
/// # Errors
///
/// Errors of the library.
pub fn bits_per_byte(options: &Options, model: &Model<Tensors>, text: &Text) -> Result<f32> {
    let loss = network::loss(options.sizes, model)?;
    let (mut sum, mut count) = (0.0, 0);
    for windows in text.held_out_windows(options.sizes.window + 1)? {
        let rows = windows.shape()[0];
        sum += loss.run((&windows, model))?.item().unwrap_or(f32::NAN) * rows as f32;
        count += rows;
    }
    Ok(sum / count as f32 / std::f32::consts::LN_2)
}

/// Text that the model draws, byte by byte, to go on with `prompt`.
///
/// # Errors
///
/// Errors of the library.
pub fn sampled(
    options: &Options,
    model: &Model<Tensors>,
    prompt: &str,
    seed: u64,
) -> Result<String> {
    let (window, next) =
        (options.sizes.window, network::next(options.sizes, model, options.top_k, seed)?);
    let mut bytes = prompt.as_bytes().to_vec();
    for draw in 0..options.sample as u64 {
        // The end of the text, with as many zeros behind it as a window has room for.
        let mut seen = bytes[bytes.len().saturating_sub(window)..].to_vec();
        let last = seen.len() as i64 - 1;
        seen.resize(window, 0);
        let seen = Tensor::from_vec(seen, [1, window])?;
        let byte = next.run((&seen, &last, &options.temperature, &draw, model))?;
        bytes.extend(byte.item());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Trains a model, and prints how well it foretells text, and text that it draws. With a path, the
/// model is saved there, and the losses of its steps as a picture next to it.
///
/// # Errors
///
/// Errors of files, and of the library.
pub fn run(
    options: &Options,
    threads: usize,
    path: Option<&Path>,
    out: &mut dyn Write,
) -> std::result::Result<(), Box<dyn Error>> {
    let text = Text::of_repository()?;
    let Options { sizes, steps, .. } = *options;
    let (learned, held_out) = (text.learned.len(), text.held_out.len());
    writeln!(out, "{learned} bytes to learn, {held_out} held out")?;
    let before = bits_per_byte(options, &Model::new(sizes)?, &text)?;

    let begin = Instant::now();
    let Trained { model, losses, peak_bytes } = trained(options, &text)?;
    let seconds = begin.elapsed().as_secs_f64();
    let speed = (steps * sizes.batch * sizes.window) as f64 / seconds;
    let weights = sizes.weights();
    writeln!(out, "{steps} steps of {weights} weights in {seconds:.1} s, {threads} threads")?;
    writeln!(out, "  {speed:.0} bytes a second, {peak_bytes} bytes planned for a step")?;
    let after = bits_per_byte(options, &model, &text)?;
    let alone = text.bits_of_single_bytes();
    writeln!(out, "bits per byte held out: {before:.2} before, then {after:.2}")?;
    writeln!(out, "  by the frequency of bytes: {alone:.2}")?;
    for (seed, prompt) in (0..).zip(["The program ", "An error "]) {
        writeln!(out, "---- \"{prompt}\" and on:\n{}", sampled(options, &model, prompt, seed)?)?;
    }
    if let Some(path) = path {
        layers::save(path, &model)?;
        let curve = path.with_extension("losses.svg");
        draw_losses(&curve, &losses)?;
        writeln!(out, "saved as {}, the losses as {}", path.display(), curve.display())?;
    }
    Ok(io::Write::flush(out)?)
}
