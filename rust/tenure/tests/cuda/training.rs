//! Training steps on a device, compared with the host's.

use tenure::random::Generator;
use tenure::train::{AdamW, Optimizer, clip_by_global_norm, cross_entropy};
use tenure::*;

use crate::stream;

/// The parameters and the states of the optimiser that a step updates, images, labels; the loss.
type Step = Program<(Vec<program::Updated<f32>>, Vec<program::Updated<f32>>, f32, i64), f32>;

const CLASSES: i64 = 5;

/// Convolutions of both layouts, a pooling by maxima and one by means, and a layer of all pixels.
fn parameters() -> Vec<Tensor<f32>> {
    let mut generator = Generator::new(1);
    [&[12, 1, 3, 3][..], &[12], &[12, 1, 3, 3], &[10, 12, 2, 2], &[10 * 9, CLASSES as usize], &[5]]
        .iter()
        .map(|shape| generator.normal(0.0, 0.2, *shape).unwrap())
        .collect()
}

#[allow(clippy::ptr_arg, reason = "trees are of vectors")]
fn step(parameters: &Vec<Tensor<f32>>, states: &Vec<Tensor<f32>>) -> Step {
    Program::trace(|graph| {
        let (parameters, states) = (graph.inputs(parameters), graph.inputs(states));
        let batch = graph.extent("batch", 16);
        let images = graph.input::<f32>((batch, 1, 12, 12));
        let labels = graph.input::<i64>(batch);
        let [first, bias, by_channel, second, last, last_bias] = parameters[..] else { panic!() };
        let x = images.conv2d(first, Some(bias), Conv2d::new().padding([1, 1])).relu();
        let x = x.max_pool2d(Pool2d::new([2, 2]));
        let x = x + x.conv2d(by_channel, None, Conv2d::new().padding([1, 1]).groups(12)).tanh();
        let x = x.avg_pool2d(Pool2d::new([2, 2]).strides([1, 1]));
        let x = x
            .conv2d(second, None, Conv2d::new().strides([2, 2]).padding_around([1, 0], [1, 0]))
            .relu();
        let scores = x.reshape((batch, 90)).matmul(last) + last_bias;
        let loss = cross_entropy(scores, labels);
        let gradients = graph.gradients(loss, &parameters);
        let (gradients, _) = clip_by_global_norm(&gradients, 1.0);
        let next = AdamW::new().weight_decay(0.01).step(1e-2, &parameters, &gradients, &states);
        graph.program((next.parameters, next.states, images, labels), loss)
    })
    .unwrap()
}

#[test]
fn a_convolutional_network_is_trained() {
    let stream = stream!();
    let mut weights = parameters();
    let mut states = AdamW::new().zeros(&weights).unwrap();
    let step = step(&weights, &states);
    let upload = |of: &[Tensor<f32>]| -> Vec<cuda::Tensor<f32>> {
        of.iter().map(|tensor| stream.upload(tensor).unwrap()).collect()
    };
    let (mut weights_there, mut states_there) = (upload(&weights), upload(&states));
    let mut generator = Generator::new(2);
    let mut losses = Vec::new();
    for (round, rows) in [16, 7, 16, 1, 16, 16].into_iter().enumerate() {
        let labels = Tensor::from_fn([rows], |[row]| (row + round) as i64 % CLASSES).unwrap();
        // Images that say what their labels are.
        let mut images = generator.normal::<f32>(0.0, 0.1, [rows, 1, 12, 12]).unwrap();
        for row in 0..rows {
            let class = (row + round) % CLASSES as usize;
            for column in 0..12 {
                images[[row, 0, 2 * class, column]] += 1.0;
            }
        }
        let loss = step.run((&mut weights, &mut states, &images, &labels)).unwrap();
        let (images, labels) = (stream.upload(&images).unwrap(), stream.upload(&labels).unwrap());
        let there =
            stream.run(&step, (&mut weights_there, &mut states_there, &images, &labels)).unwrap();
        let there = stream.to_vec(&there).unwrap()[0];
        let loss = loss.item().unwrap();
        assert!((loss - there).abs() <= 1e-4 * loss, "{round}: {loss} and {there}");
        losses.push(loss);
    }
    assert!(losses[5] < 0.9 * losses[0], "{losses:?}");
    for (tensors, there) in [(&weights, &weights_there), (&states, &states_there)] {
        for (expected, found) in tensors.iter().zip(there) {
            for (a, b) in expected.iter().zip(stream.to_vec(found).unwrap()) {
                assert!((a - b).abs() <= 1e-4 * (1.0 + a.abs()), "{a} and {b}");
            }
        }
    }
}

/// A step of captured work is one launch, and has the bits of plain runs.
#[test]
fn a_step_is_captured() {
    let stream = stream!();
    let step = Program::trace(|graph| {
        let x = graph.input::<f32>((graph.extent("batch", 16), 2, 9, 9));
        let w = graph.input::<f32>([9, 2, 3, 3]);
        let y = x.conv2d(w, None, Conv2d::new()).max_pool2d(Pool2d::new([3, 3])).square().mean(..);
        let dw = graph.gradients(y, w);
        graph.program((x, w.updated_by(w - dw * 0.5)), y)
    })
    .unwrap();
    let mut generator = Generator::new(3);
    let x = stream.upload(&generator.normal::<f32>(0.0, 1.0, [4, 2, 9, 9]).unwrap()).unwrap();
    let w = generator.normal::<f32>(0.0, 1.0, [9, 2, 3, 3]).unwrap();
    let mut plain = stream.upload(&w).unwrap();
    let inputs = (x, stream.upload(&w).unwrap());
    let mut losses = Vec::new();
    for _ in 0..3 {
        let loss = stream.run(&step, (&inputs.0, &mut plain)).unwrap();
        losses.push(stream.to_vec(&loss).unwrap()[0].to_bits());
    }
    let mut captured = stream.capture(&step, inputs, stream.zeros([]).unwrap()).unwrap();
    for loss in losses {
        captured.run().unwrap();
        assert_eq!(stream.to_vec(captured.outputs()).unwrap()[0].to_bits(), loss);
    }
    assert_eq!(stream.to_vec(&captured.inputs().1).unwrap(), stream.to_vec(&plain).unwrap());
}
