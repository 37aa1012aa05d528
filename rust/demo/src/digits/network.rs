//! A small convolutional network for the pictures, into memory that is lent again for each batch,
//! and with a new tensor for each result.

use std::io::Write;
use std::time::Instant;

use tenure::*;

use super::tour::{Outcome, heading};

/// Pictures at a time: the data between two layers stays in the second-level cache.
const BATCH: usize = 100;
const SIDE: usize = 8;
const FILTERS: [usize; 2] = [8, 24];
/// Convolutions without padding take 2 from each side.
const SIDES: [usize; 2] = [SIDE - 2, SIDE - 4];
/// Numbers for each picture after the first convolution, and after the second one.
const HIDDEN: usize = FILTERS[0] * SIDES[0] * SIDES[0];
const FEATURES: usize = FILTERS[1] * SIDES[1] * SIDES[1];

/// conv 3x3, relu, conv 3x3, relu, linear.
struct Network {
    filters: [Tensor<f32>; 2],
    biases: [Tensor<f32>; 2],
    /// `[classes, filters, height, width]`: the weight of each feature.
    linear: Tensor<f32>,
    linear_bias: Tensor<f32>,
}

/// Shows the network on rows that are pictures of 8 x 8; it learns from the first half of them.
pub fn show<T: Real>(
    table: TensorView<'_, T>,
    labels: Option<&[u8]>,
    out: &mut dyn Write,
) -> Outcome {
    let (Some(labels), &[rows, columns]) = (labels, table.shape()) else { return Ok(()) };
    if rows < 2 || columns != SIDE * SIDE {
        return Ok(());
    }
    heading(out, "A small network: conv 3x3, relu, conv 3x3, relu, linear; 100 rows at a time")?;
    let mut pixels: Tensor<f32> = ops::cast(table)?;
    ops::mul_assign(&mut pixels, 1.0 / 16.0)?;
    // Images of one channel are NCHW and NHWC at once.
    let images = pixels.view().reshape([rows, 1, SIDE, SIDE])?;
    let (known, unseen) = images.split_at(0, rows / 2)?;
    let (known_labels, unseen_labels) = labels.split_at(rows / 2);
    let mut network = Network::random()?;
    network.fit(known, known_labels)?;
    writeln!(out, "filters  {FILTERS:?}, random; the linear layer fitted to {} rows", rows / 2)?;

    let scores = network.run_in_place("in place, NCHW", Order::RowMajor, unseen, out)?;
    let in_nhwc = network.run_in_place("in place, NHWC", Order::ChannelsLast, unseen, out)?;
    let allocated = network.run_allocating("allocating, NCHW", unseen, out)?;
    let furthest = |other: &Tensor<f32>| ops::max(ops::abs(ops::sub(other, &scores)?)?, ..);
    writeln!(out, "furthest from the first: {}, {}", furthest(&in_nhwc)?, furthest(&allocated)?)?;
    let found = ops::argmax(&scores, 1)?;
    let pairs = found.iter().zip(unseen_labels);
    let right = pairs.filter(|(class, label)| **class == i64::from(**label)).count();
    let share = right as f64 / unseen_labels.len() as f64;
    Ok(writeln!(out, "accuracy {share:.4}, of the {} other rows\n", unseen_labels.len())?)
}

impl Network {
    /// Random filters, and no linear layer yet.
    fn random() -> Result<Network> {
        let mut generator = random::Generator::new(14);
        // The width keeps the variance of values that pass through a relu. (He et al., "Delving
        // deep into rectifiers", 2015.)
        let mut uniform = |shape: &[usize], inputs: usize| {
            let width = (6.0 / inputs as f64).sqrt();
            generator.uniform(-width..width, shape)
        };
        let [first, second] = FILTERS;
        Ok(Network {
            filters: [uniform(&[first, 1, 3, 3], 9)?, uniform(&[second, first, 3, 3], 9 * first)?],
            biases: [uniform(&[first], 9)?, uniform(&[second], 9 * first)?],
            linear: Tensor::zeros([0, second, SIDES[1], SIDES[1]])?,
            linear_bias: Tensor::zeros(0)?,
        })
    }

    /// Fits the linear layer to what the filters make of `images`: ridge regression, by conjugate
    /// gradients on its normal equations.
    fn fit(&mut self, images: TensorView<'_, f32>, labels: &[u8]) -> Result<()> {
        let (mut hidden, mut features) =
            (vec![0.0; labels.len() * HIDDEN], vec![0.0; labels.len() * FEATURES]);
        self.convolve_into(images, Order::ChannelsLast, &mut hidden, &mut features)?;
        let features = TensorView::from_slice(&features, [labels.len(), FEATURES])?;
        let classes = labels.iter().max().map_or(0, |most| usize::from(*most) + 1);
        let mut targets = Tensor::zeros([labels.len(), classes])?;
        for (row, label) in labels.iter().enumerate() {
            targets[[row, usize::from(*label)]] = 1.0;
        }
        self.linear_bias = ops::mean(&targets, 0)?;
        ops::sub_assign(&mut targets, &self.linear_bias)?;

        let mut normal = linalg::matmul(features.t(), features)?;
        (0..FEATURES).for_each(|feature| normal[[feature, feature]] += 1.0);
        let (sums, mut linear) = (linalg::matmul(targets.view().t(), features)?, Vec::new());
        // To solve them exactly would not help with pictures that were not among these.
        let how = Krylov::new().relative_tolerance(1e-2);
        for class in sums.view().rows() {
            linear.extend(linalg::cg(&normal, class, how)?.x.iter());
        }
        let shape = [classes, FILTERS[1], SIDES[1], SIDES[1]];
        self.linear = Tensor::from_vec_in(linear, shape, Order::ChannelsLast)?;
        Ok(())
    }

    /// Both convolutions, with `order` as the layout of their outputs.
    fn convolve_into(
        &self,
        images: TensorView<'_, f32>,
        order: Order,
        hidden: &mut [f32],
        features: &mut [f32],
    ) -> Result<()> {
        let shape = |layer| [images.shape()[0], FILTERS[layer], SIDES[layer], SIDES[layer]];
        let with = |layer| Conv2d::new().bias(&self.biases[layer]).activation(Activation::Relu);
        let mut hidden = TensorViewMut::from_slice_in(hidden, shape(0), order)?;
        nn::conv2d_into(images, &self.filters[0], with(0), &mut hidden)?;
        let mut features = TensorViewMut::from_slice_in(features, shape(1), order)?;
        nn::conv2d_into(&hidden, &self.filters[1], with(1), &mut features)
    }

    /// The linear layer as a matrix, for features that lie in memory in `order`.
    fn linear_in(&self, order: Order) -> Result<Tensor<f32>> {
        let mut weights = vec![0.0; self.linear.len()];
        let mut images = TensorViewMut::from_slice_in(&mut weights, self.linear.shape(), order)?;
        ops::copy_into(&self.linear, &mut images)?;
        Ok(Tensor::from_vec(weights, [self.linear_bias.len(), FEATURES])?)
    }

    /// The score of each class for each picture, through buffers that are allocated once.
    fn run_in_place(
        &self,
        name: &str,
        order: Order,
        images: TensorView<'_, f32>,
        out: &mut dyn Write,
    ) -> Outcome<Tensor<f32>> {
        let (mut hidden, mut features) = (vec![0.0; BATCH * HIDDEN], vec![0.0; BATCH * FEATURES]);
        let linear = self.linear_in(order)?;
        let with = Matmul::new().bias(&self.linear_bias);
        let lent = size_of::<f32>() * BATCH * (HIDDEN + FEATURES + self.linear_bias.len());
        self.in_batches(name, lent, images, out, |images, scores| {
            let count = images.shape()[0];
            let hidden = &mut hidden[..count * HIDDEN];
            let features = &mut features[..count * FEATURES];
            self.convolve_into(images, order, hidden, features)?;
            let features = TensorView::from_slice(features, [count, FEATURES])?;
            linalg::matmul_with_into(features, linear.view().t(), with, scores)
        })
    }

    /// Runs the network with a tensor for each result; all of these live until the batch is done.
    fn run_allocating(
        &self,
        name: &str,
        images: TensorView<'_, f32>,
        out: &mut dyn Write,
    ) -> Outcome<Tensor<f32>> {
        let linear = self.linear_in(Order::RowMajor)?;
        self.in_batches(name, 0, images, out, |images, scores| {
            let first = nn::conv2d(images, &self.filters[0], Conv2d::new().bias(&self.biases[0]))?;
            let hidden = nn::relu(&first)?;
            let second =
                nn::conv2d(&hidden, &self.filters[1], Conv2d::new().bias(&self.biases[1]))?;
            let features = nn::relu(&second)?;
            let features = features.view().reshape([images.shape()[0], FEATURES])?;
            let sums = linalg::matmul(features, linear.view().t())?;
            ops::copy_into(ops::add(&sums, &self.linear_bias)?, scores)
        })
    }

    /// Calls `batch` for all pictures, and says how much memory and time that took.
    fn in_batches(
        &self,
        name: &str,
        lent: usize,
        images: TensorView<'_, f32>,
        out: &mut dyn Write,
        mut batch: impl FnMut(TensorView<'_, f32>, &mut TensorViewMut<'_, f32>) -> Result<()>,
    ) -> Outcome<Tensor<f32>> {
        let (rows, classes) = (images.shape()[0], self.linear_bias.len());
        let (mut scores, mut allocated) = (vec![0.0; rows * classes], 0);
        let start = Instant::now();
        for (index, scores) in scores.chunks_mut(BATCH * classes).enumerate() {
            let (first, count, before) = (index * BATCH, scores.len() / classes, stats());
            let mut scores = TensorViewMut::from_slice(scores, [count, classes])?;
            batch(images.slice(0, first..first + count)?, &mut scores)?;
            // No tensor ends before its batch does, so that their sum is the peak.
            allocated = allocated.max(stats().allocated_bytes - before.allocated_bytes);
        }
        let milliseconds = start.elapsed().as_secs_f64() * 1e6 / rows as f64;
        let peak = lent as u64 + allocated;
        writeln!(out, "{name:<17} peak {peak} bytes, {allocated} of them allocated by each batch")?;
        writeln!(out, "{:<17} {milliseconds:.2} ms for 1000 rows", "")?;
        Ok(Tensor::from_vec(scores, [rows, classes])?)
    }
}
