//! Whole networks, with each pass left out.

use super::*;

const PASSES: [Passes; 8] = [
    Passes::DEAD_CODE,
    Passes::COMMON_SUBEXPRESSIONS,
    Passes::CONSTANT_FOLDING,
    Passes::EPILOGUES,
    Passes::FUSION,
    Passes::IN_PLACE,
    Passes::MEMORY,
    Passes::LAYOUT,
];

/// From -2 to 2.
fn signed<const N: usize>(seed: u64, shape: [usize; N]) -> Tensor<f32> {
    tensor(&mut Random::new(seed), shape, |random| f32::small(random) - 3.0)
}

struct Weights {
    first: SharedTensor<f32>,
    second: SharedTensor<f32>,
    linear: SharedTensor<f32>,
    bias: SharedTensor<f32>,
}

fn weights() -> Weights {
    Weights {
        first: signed(1, [8, 1, 3, 3]).into_shared(),
        second: signed(2, [16, 8, 3, 3]).into_shared(),
        linear: signed(3, [64, 10]).into_shared(),
        bias: floats(4, [10]).into_shared(),
    }
}

fn convolutional<'g>(graph: Graph<'g>, of: &Weights) -> Result<Program<(f32,), f32>> {
    let batch = graph.extent("batch", 64);
    let images = graph.input::<f32>((batch, 1, 8, 8));
    let around = Conv2d::new().padding([1, 1]);
    let halves = Pool2d::new([2, 2]);
    let first = images.conv2d(graph.constant(&of.first), None, around).relu().max_pool2d(halves);
    let second = first.conv2d(graph.constant(&of.second), None, around).relu().max_pool2d(halves);
    let flat = second.reshape((batch, 64)) * 1e-3;
    let scores = flat.matmul(graph.constant(&of.linear)) + graph.constant(&of.bias);
    graph.program((images,), scores.log_softmax(1))
}

fn one_by_one(images: &Tensor<f32>, of: &Weights) -> Result<Tensor<f32>> {
    let around = Conv2d::new().padding([1, 1]);
    let halves = Pool2d::new([2, 2]);
    let first = nn::max_pool2d(nn::relu(nn::conv2d(images, &of.first, around)?)?, halves)?;
    let second = nn::max_pool2d(nn::relu(nn::conv2d(&first, &of.second, around)?)?, halves)?;
    let flat = ops::mul(second.reshape([images.shape()[0], 64])?, 1e-3_f32)?;
    nn::log_softmax(ops::add(linalg::matmul(flat, &of.linear)?, &of.bias)?, 1)
}

#[test]
fn the_same_bits_without_any_pass() {
    let of = weights();
    let images = [1, 5].map(|n| signed(n as u64, [n, 1, 8, 8]));
    for without in PASSES.into_iter().chain([Passes::NONE, Passes::DEFAULT]) {
        let passes = Passes::DEFAULT.without(without);
        let program = Program::trace_with(passes, |graph| convolutional(graph, &of)).unwrap();
        for images in &images {
            let expected = one_by_one(images, &of);
            assert_same(&program.run((images,)), &expected, &format!("without {without:?}"));
        }
    }
}

#[test]
fn attention() {
    let [q, k, v] = [1, 2, 3].map(|seed| floats(seed, [2, 9, 8]));
    for program in traced(|graph| {
        let length = graph.extent("length", 128);
        let [q, k, v] = [0; 3].map(|_| graph.input::<f32>((2, length, 8)));
        let scores = q.matmul(k.transpose(1, 2)) / 8_f32.sqrt();
        graph.program([q, k, v], scores.softmax(-1).matmul(v))
    }) {
        let scores = linalg::matmul(&q, k.transpose(1, 2).unwrap()).unwrap();
        let scores = nn::softmax(ops::div(scores, 8_f32.sqrt()).unwrap(), -1).unwrap();
        assert_same(&program.unwrap().run([&q, &k, &v]), &linalg::matmul(scores, &v), "attention");
    }
}
