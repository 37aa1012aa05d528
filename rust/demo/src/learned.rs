//! A convolutional network that classifies the handwritten digits: one program is a step of
//! learning, which updates the weights in their place, and another one classifies batches of any
//! size.

use std::error::Error;

use tenure::{Activation, Conv2d, Extent, Graph, Loader, Matmul, Pool2d, Program, Result};
use tenure::{
    SharedTensor, Tensor, Traced,
    io::npy,
    ops::{eq, mean_all},
    random,
};

const EDGES: usize = 16;
const SHAPES: usize = 32;
/// The pixels of each shape, halved in both directions.
const FEATURES: usize = SHAPES * 4 * 4;
const CLASSES: usize = 10;

/// Filters without training: edges of all directions, and sums of them at random. The last layer
/// learns which of these tell digits apart.
fn filters() -> Result<[SharedTensor<f32>; 2]> {
    let edge = |[filter, _, row, col]: [usize; 4]| {
        let (sin, cos) = (filter as f32 / EDGES as f32 * std::f32::consts::TAU).sin_cos();
        sin * (row as f32 - 1.0) + cos * (col as f32 - 1.0)
    };
    let edges = Tensor::from_fn([EDGES, 1, 3, 3], edge)?;
    let shapes = random::Generator::new(16).normal(0.0, 0.1, [SHAPES, EDGES, 3, 3])?;
    Ok([edges.into_shared(), shapes.into_shared()])
}

/// `[batch, 64]`, of 0 to 16, to `[batch, FEATURES]`.
fn features<'g>(
    graph: Graph<'g>,
    pixels: Traced<'g, u8>,
    batch: Extent<'g>,
    filters: &[SharedTensor<f32>; 2],
) -> Traced<'g, f32> {
    let images = (pixels.cast::<f32>() * 0.0625).reshape((batch, 1, 8, 8));
    let relu = Conv2d::new().padding([1, 1]).activation(Activation::Relu);
    let edges = images.conv2d(graph.constant(&filters[0]), None, relu);
    let shapes = edges.conv2d(graph.constant(&filters[1]), None, relu);
    shapes.max_pool2d(Pool2d::new([2, 2])).reshape((batch, FEATURES))
}

/// The classes of images `[batch, 64]`, learned from the first 1500 of the files in the folder
/// `data` and tried on the others.
pub fn learned(data: &str) -> std::result::Result<Program<(u8,), i64>, Box<dyn Error>> {
    let pixels: Tensor<u8> = npy::read_as(format!("{data}/digits.npy"))?;
    let labels: Tensor<i64> = npy::read_as(format!("{data}/digits.labels.npy"))?;
    let filters = filters()?;

    let step = Program::trace(|graph| {
        let batch = graph.extent("batch", 32);
        let (x, y) = (graph.input::<u8>((batch, 64)), graph.input::<i64>(batch));
        let (w, b) = (graph.input::<f32>([FEATURES, CLASSES]), graph.input::<f32>([CLASSES]));
        let x_features = features(graph, x, batch, &filters);
        let chances = (x_features.matmul(w) + b).log_softmax(1);
        let classes = graph.copy_constant(&Tensor::arange(0..CLASSES as i64)?);
        let wanted = y.reshape((batch, 1)).eq(classes).cast::<f32>();
        // Cross-entropy: its gradient before the softmax is a difference.
        let d_scores = (chances.exp() - wanted) * 0.01;
        let next = (w - x_features.t().matmul(d_scores), b - d_scores.sum(0));
        let loss = -(chances * wanted).sum(1).mean(0);
        graph.program((x, y, w.updated_by(next.0), b.updated_by(next.1)), loss)
    })?;

    let mut w = Tensor::zeros([FEATURES, CLASSES])?;
    let mut b = Tensor::zeros(CLASSES)?;
    let (train, test) = (pixels.slice(0, ..1500)?, pixels.slice(0, 1500..)?);
    let mut batches = Loader::new((train, labels.slice(0, ..1500)?), 32)?.shuffle(1).serial()?;
    let mut losses = Vec::new();
    for _epoch in 0..20 {
        while let Some(batch) = batches.next() {
            let batch = batch?;
            let (x, y) = batch.views();
            losses.extend(step.run((x, y, &mut w, &mut b))?.item());
        }
    }

    let (w, b) = (w.into_shared(), b.into_shared());
    let classify = Program::trace(|graph| {
        let batch = graph.extent("batch", 1 << 20);
        let x = graph.input::<u8>((batch, 64));
        let x_features = features(graph, x, batch, &filters);
        let scores =
            x_features.matmul_with(graph.constant(&w), Some(graph.constant(&b)), Matmul::new());
        graph.program((x,), scores.argmax(1))
    })?;
    let right = eq(classify.run((test,))?, labels.slice(0, 1500..)?)?.cast::<f32>()?;
    let accuracy = mean_all(right)?;
    println!("loss {:.3}, then {:.3}", losses[0], losses[losses.len() - 1]);
    println!("{:.1} % of 297 digits that it has not seen", 100.0 * accuracy);
    assert!(accuracy > 0.92);
    Ok(classify)
}
