#![forbid(unsafe_code)]
//! A network learns the handwritten digits, loses nine tenths of its weights, and goes on learning
//! with the others as CSR matrices.
//!
//! `cargo run --release --example pruned`

use std::time::Instant;

use tenure::ops::{abs, argmax, div, eq, mean_all, quantile};
use tenure::train::{AdamW, Optimizer, cross_entropy};
use tenure::{
    CsrMatrix, Graph, Loader, Program, Tensor, TensorView, Traced, TracedCsr, io::npy,
    random::Generator, sparse::sparsify,
};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/digits");
const WIDTHS: [usize; 4] = [64, 512, 512, 10];
const BATCH: usize = 32;
/// The share of the weights of each layer that goes.
const PRUNED: f64 = 0.9;

/// A weight `[outputs, inputs]` and a bias for each output.
type Layer = (Tensor<f32>, Tensor<f32>);
type SparseLayer = (CsrMatrix<f32>, Tensor<f32>);
/// Digits that are learned, with their labels, and digits that are tried.
type Digits<'a> = [(TensorView<'a, f32>, TensorView<'a, i64>); 2];
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The scores `[classes, digits]` of digits `[digits, 64]`. Each layer multiplies from the left, as
/// sparse matrices do.
fn scores<'g, W: Copy>(
    x: Traced<'g, f32>,
    layers: &[(W, Traced<'g, f32>)],
    multiply: impl Fn(W, Traced<'g, f32>) -> Traced<'g, f32>,
) -> Traced<'g, f32> {
    layers.iter().enumerate().fold(x.t(), |x, (nth, (weight, bias))| {
        let y = multiply(*weight, x) + bias.unsqueeze(1);
        if nth + 1 == layers.len() { y } else { y.relu() }
    })
}

/// Calls `step` for each batch of some passes over the digits; returns the seconds of a step.
fn passes(
    (pixels, labels): (TensorView<'_, f32>, TensorView<'_, i64>),
    count: usize,
    mut step: impl FnMut(TensorView<'_, f32>, TensorView<'_, i64>) -> tenure::Result<()>,
) -> Result<f64> {
    let mut batches = Loader::new((pixels, labels), BATCH)?.shuffle(1).serial()?;
    let (begin, mut steps) = (Instant::now(), 0);
    for _pass in 0..count {
        while let Some(batch) = batches.next() {
            let batch = batch?;
            let (x, y) = batch.views();
            step(x, y)?;
            steps += 1;
        }
    }
    Ok(begin.elapsed().as_secs_f64() / f64::from(steps))
}

fn accuracy(scores: &Tensor<f32>, labels: TensorView<'_, i64>) -> Result<f64> {
    Ok(mean_all(eq(argmax(scores, 0)?, labels)?.cast::<f64>()?)?)
}

/// Trains a dense network; returns it, its accuracy, the bytes of its parameters and of the states
/// of its optimiser, and the seconds of a step.
fn dense([learned, tried]: Digits<'_>) -> Result<(Vec<Layer>, f64, usize, f64)> {
    let mut generator = Generator::new(9);
    let mut layers = Vec::new();
    for width in WIDTHS.windows(2) {
        let deviation = (2.0 / width[0] as f64).sqrt();
        let weight = generator.normal(0.0, deviation, [width[1], width[0]])?;
        layers.push((weight, Tensor::zeros(width[1])?));
    }
    let optimizer = AdamW::new();
    let mut states = optimizer.zeros(layers.iter().flat_map(|(weight, bias)| [weight, bias]))?;
    let step = Program::trace(|graph| {
        let batch = graph.extent("batch", BATCH);
        let (x, y) = (graph.input::<f32>((batch, WIDTHS[0])), graph.input::<i64>(batch));
        let (layers, states) = (graph.inputs(&layers), graph.inputs(&states));
        let loss = cross_entropy(scores(x, &layers, Traced::matmul).t(), y);
        let parameters: Vec<_> = layers.iter().flat_map(|(w, b)| [*w, *b]).collect();
        let gradients = graph.gradients(loss, &parameters);
        let next = optimizer.step(2e-3, &parameters, &gradients, &states);
        let layers: Vec<_> = next.parameters.chunks(2).map(|layer| (layer[0], layer[1])).collect();
        graph.program((x, y, layers, next.states), loss)
    })?;
    let seconds = passes(learned, 8, |x, y| step.run((x, y, &mut layers, &mut states)).map(drop))?;
    let classify = Program::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("digits", 1 << 20), WIDTHS[0]));
        let layers = graph.inputs(&layers);
        graph.program((x, &layers), scores(x, &layers, Traced::matmul))
    })?;
    let accuracy = accuracy(&classify.run((tried.0, &layers))?, tried.1)?;
    let parameters: usize = layers.iter().map(|(weight, bias)| weight.len() + bias.len()).sum();
    let state: usize = states.iter().map(Tensor::len).sum();
    Ok((layers, accuracy, 4 * (parameters + state), seconds))
}

/// The weights of the greatest magnitude of each layer.
fn pruned(layers: Vec<Layer>) -> Result<Vec<SparseLayer>> {
    let prune = |(weight, bias): Layer| {
        let magnitudes = abs(&weight)?;
        let least = quantile(&magnitudes, PRUNED, ..)?.item().unwrap_or_default();
        Ok((sparsify(&weight).above_in_magnitude(least).to_csr()?, bias))
    };
    layers.into_iter().map(prune).collect()
}

/// Trains the values of the entries; returns the accuracy before and after it, the bytes of
/// parameters, indices and states, and the seconds of a step.
fn sparse(
    mut layers: Vec<SparseLayer>,
    [learned, tried]: Digits<'_>,
) -> Result<([f64; 2], usize, f64)> {
    let optimizer = AdamW::new();
    let parameters = layers.iter().flat_map(|(w, b)| [Some(w.values()), b.as_slice()]).flatten();
    let mut states = optimizer.zeros(parameters)?;
    let step = Program::trace(|graph| {
        let batch = graph.extent("batch", BATCH);
        let (x, y) = (graph.input::<f32>((batch, WIDTHS[0])), graph.input::<i64>(batch));
        let layers = inputs(graph, &layers);
        let states = graph.inputs(&states);
        let loss = cross_entropy(scores(x, &layers, TracedCsr::matmul).t(), y);
        let parameters: Vec<_> = layers.iter().flat_map(|(w, b)| [w.values(), *b]).collect();
        let gradients = graph.gradients(loss, &parameters);
        let next = optimizer.step(1e-3, &parameters, &gradients, &states);
        // Offsets and indices are read, and values are updated in their place.
        let updates = layers.iter().zip(next.parameters.chunks(2));
        let layers: Vec<_> =
            updates.map(|((w, _), next)| (w.updated_by(next[0].value()), next[1])).collect();
        graph.program((x, y, layers, next.states), loss)
    })?;
    let classify = Program::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("digits", 1 << 20), WIDTHS[0]));
        let layers = inputs(graph, &layers);
        graph.program((x, &layers), scores(x, &layers, TracedCsr::matmul))
    })?;
    let before = accuracy(&classify.run((tried.0, &layers))?, tried.1)?;
    let seconds = passes(learned, 8, |x, y| step.run((x, y, &mut layers, &mut states)).map(drop))?;
    let after = accuracy(&classify.run((tried.0, &layers))?, tried.1)?;
    let numbers = |(w, b): &SparseLayer| 2 * w.nnz() + w.row_offsets().len() + b.len();
    let parameters: usize = layers.iter().map(numbers).sum();
    let state: usize = states.iter().map(Tensor::len).sum();
    Ok(([before, after], 4 * (parameters + state), seconds))
}

/// Inputs like these layers.
fn inputs<'g>(
    graph: Graph<'g>,
    layers: &[SparseLayer],
) -> Vec<(TracedCsr<'g, f32>, Traced<'g, f32>)> {
    let input = |(weight, bias): &SparseLayer| {
        (graph.csr_input(weight.rows(), weight.cols(), weight.nnz()), graph.inputs(bias))
    };
    layers.iter().map(input).collect()
}

pub(crate) fn main() -> Result<()> {
    let pixels = div(npy::read_as::<f32>(format!("{DATA}.npy"))?, 16.0)?;
    let labels: Tensor<i64> = npy::read_as(format!("{DATA}.labels.npy"))?;
    let digits = [
        (pixels.slice(0, ..1500)?, labels.slice(0, ..1500)?),
        (pixels.slice(0, 1500..)?, labels.slice(0, 1500..)?),
    ];
    let (layers, trained, dense_bytes, dense_seconds) = dense(digits)?;
    let ([before, after], sparse_bytes, sparse_seconds) = sparse(pruned(layers)?, digits)?;

    println!("of 297 digits that it has not seen, the network classifies");
    println!("{:5.1} % after training", 100.0 * trained);
    println!("{:5.1} % without {:.0} % of its weights", 100.0 * before, 100.0 * PRUNED);
    println!("{:5.1} % after training of the others", 100.0 * after);
    println!("parameters and states: {dense_bytes} bytes dense, {sparse_bytes} sparse");
    let [dense_us, sparse_us] = [dense_seconds, sparse_seconds].map(|seconds| seconds * 1e6);
    println!("a step: {dense_us:.0} µs dense, {sparse_us:.0} µs sparse");
    assert!(trained > 0.9 && after > 0.9 && before < after, "{trained} {before} {after}");
    assert!(4 * sparse_bytes < dense_bytes);
    Ok(())
}
