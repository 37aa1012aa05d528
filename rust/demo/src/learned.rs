//! A convolutional network that learns the handwritten digits end to end: one program is a step of
//! training, which updates all weights in their place, and another one classifies batches of any
//! size.

use std::error::Error;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plotters::prelude::*;
use tenure::program::Updated;
use tenure::train::{AdamW, LossScale, Optimizer, Stepped, all_finite, cross_entropy, schedules};
use tenure::{
    Activation, Conv2d, Float, Graph, Loader, Matmul, PadMode, Pool2d, Program, Result,
    SharedTensor, Tensor, Traced,
    io::npy,
    ops::{eq, mean_all},
    random::Generator,
};

const EDGES: usize = 16;
const SHAPES: usize = 32;
/// The pixels of each shape, halved in both directions.
const FEATURES: usize = SHAPES * 4 * 4;
const CLASSES: usize = 10;
const EPOCHS: usize = 30;
/// Images in a step of training.
pub const BATCH: usize = 32;
/// The first ones are learned, and the others tried.
pub const LEARNED: usize = 1500;

/// The classes of images.
pub type Classifier = Program<(u8,), i64>;

/// Weights and biases before training, with deviations that keep the size of activations (He et
/// al., 2015).
///
/// # Errors
///
/// Errors of the library.
pub fn initial() -> Result<Vec<Tensor<f32>>> {
    let mut generator = Generator::new(16);
    let mut normal =
        |shape: &[usize], inputs: usize| generator.normal(0.0, (2.0 / inputs as f64).sqrt(), shape);
    Ok(vec![
        normal(&[EDGES, 1, 3, 3], 9)?,
        Tensor::zeros(EDGES)?,
        normal(&[SHAPES, EDGES, 3, 3], 9 * EDGES)?,
        Tensor::zeros(SHAPES)?,
        normal(&[FEATURES, CLASSES], FEATURES)?,
        Tensor::zeros(CLASSES)?,
    ])
}

/// Images `[batch, 1, 8, 8]` of pixels from 0 to 16, as rows of 64.
fn images(pixels: Traced<'_, u8>) -> Traced<'_, f32> {
    (pixels.cast::<f32>() * 0.0625).reshape((pixels.size(0), 1, 8, 8))
}

/// Images moved by up to one pixel: `rows` and `columns` are 8 indices into the padded ones.
fn moved<'g>(
    images: Traced<'g, f32>,
    rows: Traced<'g, i64>,
    columns: Traced<'g, i64>,
) -> Traced<'g, f32> {
    let padded = images.pad_to((images.size(0), 1, 10, 10), [0, 0, 1, 1], PadMode::Constant(0.0));
    padded.take(2, rows).take(3, columns)
}

fn features<'g>(images: Traced<'g, f32>, weights: &[Traced<'g, f32>]) -> Traced<'g, f32> {
    let batch = images.size(0);
    let relu = Conv2d::new().padding([1, 1]).activation(Activation::Relu);
    let edges = images.conv2d(weights[0], Some(weights[1]), relu);
    let shapes = edges.conv2d(weights[2], Some(weights[3]), relu);
    shapes.max_pool2d(Pool2d::new([2, 2])).reshape((batch, FEATURES))
}

fn scores<'g>(features: Traced<'g, f32>, weights: &[Traced<'g, f32>]) -> Traced<'g, f32> {
    features.matmul_with(weights[4], Some(weights[5]), Matmul::new())
}

/// A bar on a terminal, and nothing elsewhere.
pub(crate) fn bar(steps: usize) -> ProgressBar {
    let target = match std::io::stderr().is_terminal() {
        true => ProgressDrawTarget::stderr(),
        false => ProgressDrawTarget::hidden(),
    };
    let style = ProgressStyle::with_template("learning {wide_bar} {pos}/{len} steps, loss {msg}");
    ProgressBar::with_draw_target(Some(steps as u64), target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Draws the loss of each step, and its mean over 20 steps, as an SVG file.
pub fn draw_losses(path: &Path, losses: &[f32]) -> std::result::Result<(), Box<dyn Error>> {
    let picture = SVGBackend::new(path, (720, 400)).into_drawing_area();
    picture.fill(&WHITE)?;
    let most = losses.iter().copied().fold(0.0_f32, f32::max);
    let mut chart = ChartBuilder::on(&picture)
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(48)
        .build_cartesian_2d(0..losses.len(), 0.0..most)?;
    chart.configure_mesh().x_desc("step").y_desc("cross entropy").draw()?;
    chart.draw_series(LineSeries::new(losses.iter().copied().enumerate(), &BLUE.mix(0.25)))?;
    let means = losses.windows(20).map(|of| of.iter().sum::<f32>() / of.len() as f32);
    chart.draw_series(LineSeries::new(means.enumerate().map(|(i, mean)| (i + 19, mean)), &BLUE))?;
    picture.present()?;
    Ok(())
}

/// Learns from the first 1500 digits of the files in the folder `data`, and tries the others.
///
/// # Errors
///
/// Errors of reading the files, and of the library.
pub fn learned(data: &str) -> std::result::Result<Classifier, Box<dyn Error>> {
    Ok(learned_by(&step()?, first_states(None)?, data)?.0)
}

/// A step of training: of images, labels, the learning rate, the number of the step, the rows and
/// columns of the padded images, weights, and states of the optimiser. It gives the loss.
pub type Step = Program<(u8, i64, f32, u64, i64, i64, Vec<Updated<f32>>, Vec<Updated<f32>>), f32>;

/// Traces the step, in which dropout keeps half of the features.
///
/// # Errors
///
/// Errors of the library.
pub fn step() -> Result<Step> {
    step_keeping(0.5)
}

/// Traces the step. Dropout keeps each feature with this probability, others in each step.
///
/// # Errors
///
/// Errors of the library.
pub fn step_keeping(probability: f64) -> Result<Step> {
    step_with(probability, None, |_, loss| loss)
}

/// Traces the step in mixed precision, with a loss scale behind the other states.
///
/// # Errors
///
/// Errors of the library.
pub fn mixed_step<N: Float>(scaling: LossScale) -> Result<Step> {
    step_with(0.5, Some(scaling), |graph, loss| graph.mixed_precision::<N, _>(loss, &[]))
}

/// The states of the optimiser before the first step, and that of a loss scale.
///
/// # Errors
///
/// Errors of the library.
pub fn first_states(scaling: Option<LossScale>) -> Result<Vec<Tensor<f32>>> {
    let mut states = AdamW::new().zeros(&initial()?)?;
    if let Some(scaling) = scaling {
        states.push(scaling.first_state()?);
    }
    Ok(states)
}

fn step_with(
    probability: f64,
    scaling: Option<LossScale>,
    lower: impl for<'g> FnOnce(Graph<'g>, Traced<'g, f32>) -> Traced<'g, f32>,
) -> Result<Step> {
    let weights = initial()?;
    let states = first_states(scaling)?;
    Program::trace(|graph| {
        let batch = graph.extent("batch", BATCH);
        let x = graph.input_named::<u8>("images", (batch, 64));
        let y = graph.input_named::<i64>("labels", batch);
        let rate = graph.input_named::<f32>("rate", [1]);
        let number = graph.input_named::<u64>("step", ());
        let rows = graph.input_named::<i64>("rows", [8]);
        let columns = graph.input_named::<i64>("columns", [8]);
        let parameters = graph.inputs(&weights);
        let mut states = graph.inputs(&states);
        let x_features = features(moved(images(x), rows, columns), &parameters);
        let generator = graph.generator_at(7, number * (BATCH * FEATURES) as u64);
        let is_kept = generator.bernoulli(probability, x_features.sizes());
        let kept = is_kept.select(x_features * (1.0 / probability as f32), 0.0);
        let loss = lower(graph, cross_entropy(scores(kept, &parameters), y));
        let next = next(rate, loss, &parameters, &mut states, scaling);
        graph.program((x, y, rate, number, rows, columns, next.parameters, next.states), loss)
    })
}

/// The parameters and the states after a step, with the state of a loss scale as the last one.
fn next<'g>(
    rate: Traced<'g, f32>,
    loss: Traced<'g, f32>,
    parameters: &[Traced<'g, f32>],
    states: &mut Vec<Traced<'g, f32>>,
    scaling: Option<LossScale>,
) -> Stepped<'g, f32> {
    let (graph, optimizer) = (loss.graph(), AdamW::new());
    let Some((scaling, scale)) = scaling.and_then(|scaling| Some((scaling, states.pop()?))) else {
        let gradients = graph.gradients(loss, parameters.to_vec());
        return optimizer.step(rate, parameters, &gradients, states);
    };
    let gradients = graph.gradients(scaling.scaled(loss, scale), parameters.to_vec());
    let gradients = scaling.unscaled(&gradients, scale);
    let finite = all_finite(&gradients).unwrap_or_else(|| unreachable!("there are parameters"));
    let mut next = optimizer.step(rate, parameters, &gradients, states).only_if(finite);
    next.states.push(scaling.next(scale, finite));
    next
}

/// Learns by this step from these states, otherwise like [`learned`]. Gives the loss of each step
/// too, and the share of right answers on digits that it has not seen.
///
/// # Errors
///
/// The errors of [`learned`].
pub fn learned_by(
    step: &Step,
    states: Vec<Tensor<f32>>,
    data: &str,
) -> std::result::Result<(Classifier, Vec<f32>, f32), Box<dyn Error>> {
    let begin = Instant::now();
    let (weights, losses) = trained(step, states, data)?;
    let seconds = begin.elapsed().as_secs_f64();
    let classify = classifier(&weights, |_, scores| scores)?;
    let (x, y) = unseen(data)?;
    let accuracy = accuracy(&classify, &x, &y)?;
    let last = losses.len() - 1;
    println!(
        "{} steps in {seconds:.1} s: loss {:.3}, then {:.4}",
        losses.len(),
        losses[0],
        losses[last]
    );
    println!("{:.1} % of 297 digits that it has not seen", 100.0 * accuracy);
    assert!(accuracy >= 0.96);
    Ok((classify, losses, accuracy))
}

/// Weights, and the loss of each step of their training.
pub type Trained = (Vec<SharedTensor<f32>>, Vec<f32>);

/// The weights after training, and the loss of each step.
///
/// # Errors
///
/// The errors of [`learned`].
pub fn trained(
    step: &Step,
    mut states: Vec<Tensor<f32>>,
    data: &str,
) -> std::result::Result<Trained, Box<dyn Error>> {
    let (pixels, labels) = digits(data)?;
    let mut weights = initial()?;
    let train = (pixels.slice(0, ..LEARNED)?, labels.slice(0, ..LEARNED)?);
    let mut batches = Loader::new(train, BATCH)?.shuffle(1).serial()?;
    let steps = EPOCHS * LEARNED.div_ceil(BATCH);
    let bar = bar(steps);
    let mut losses = Vec::new();
    for _epoch in 0..EPOCHS {
        while let Some(batch) = batches.next() {
            let batch = batch?;
            let (x, y) = batch.views();
            let rate = 3e-3 * schedules::cosine(losses.len(), steps) as f32;
            let number = losses.len() as u64;
            let [rows, columns] = [number % 3, number / 3 % 3]
                .map(|from| std::array::from_fn::<_, 8, _>(|i| from as i64 + i as i64));
            let inputs = (x, y, &[rate], &number, &rows, &columns, &mut weights, &mut states);
            let loss = step.run(inputs)?;
            losses.extend(loss.item());
            bar.inc(1);
            bar.set_message(format!("{:.4}", losses[losses.len() - 1]));
        }
    }
    bar.finish_and_clear();
    Ok((weights.into_iter().map(Tensor::into_shared).collect(), losses))
}

/// The pixels and the labels of all digits.
pub(crate) fn digits(data: &str) -> std::result::Result<(Tensor<u8>, Tensor<i64>), Box<dyn Error>> {
    Ok((
        npy::read_as(format!("{data}/digits.npy"))?,
        npy::read_as(format!("{data}/digits.labels.npy"))?,
    ))
}

/// The pixels and the labels of the digits that are not learned.
pub(crate) fn unseen(data: &str) -> std::result::Result<(Tensor<u8>, Tensor<i64>), Box<dyn Error>> {
    let (pixels, labels) = digits(data)?;
    let rest = (pixels.slice(0, LEARNED..)?, labels.slice(0, LEARNED..)?);
    Ok((rest.0.to_tensor()?, rest.1.to_tensor()?))
}

/// The scores of images `[batch, 64]` of pixels, by these weights as constants.
pub(crate) fn scores_of<'g>(
    pixels: Traced<'g, u8>,
    weights: &[SharedTensor<f32>],
) -> Traced<'g, f32> {
    let graph = pixels.graph();
    let weights = weights.iter().map(|of| graph.constant(of)).collect::<Vec<_>>();
    scores(features(images(pixels), &weights), &weights)
}

/// The program that classifies images by these weights, with scores as `change` makes them.
pub(crate) fn classifier(
    weights: &[SharedTensor<f32>],
    change: impl for<'g> FnOnce(Graph<'g>, Traced<'g, f32>) -> Traced<'g, f32>,
) -> Result<Classifier> {
    Program::trace(|graph| {
        let x = graph.input::<u8>((graph.extent("batch", 1 << 20), 64));
        graph.program((x,), change(graph, scores_of(x, weights)).argmax(1))
    })
}

/// The share of right answers.
pub(crate) fn accuracy(classify: &Classifier, x: &Tensor<u8>, y: &Tensor<i64>) -> Result<f32> {
    mean_all(eq(classify.run((x,))?, y)?.cast::<f32>()?)
}
