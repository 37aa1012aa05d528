//! The network: a decoder of bytes, and the programs that train it, measure it and draw from it.

use tenure::layers::{Attention, Rotary, attention, dropout, embedding, positions, rotary};
use tenure::program::Updated;
use tenure::random::Generator;
use tenure::train::{AdamW, Optimizer, clip_by_global_norm, cross_entropy};
use tenure::tree::{InGraph, Tensors, Types, UpdatedTypes};
use tenure::{LayerNorm, Leaves, Program, Result, Tensor, Traced, Tree};

/// Every byte is a token.
const TOKENS: usize = 256;

/// The extents of a network and of a step of its training.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// The length of a vector.
    pub width: usize,
    /// The parts of attention.
    pub heads: usize,
    /// Layers.
    pub blocks: usize,
    /// Bytes that a prediction sees.
    pub window: usize,
    /// Windows in a step.
    pub batch: usize,
    /// The probability with which a step drops an element.
    pub dropout: f64,
}

impl Sizes {
    /// The length of the vectors between the last products of a layer. Two thirds of 4 widths:
    /// gates are a third product.
    fn hidden(self) -> usize {
        self.width * 8 / 3
    }

    /// The count of weights.
    pub fn weights(self) -> usize {
        let block = 2 * self.width + 4 * self.width * self.width + 3 * self.width * self.hidden();
        (TOKENS + 1) * self.width + self.blocks * block
    }
}

/// A layer. Its products have no bias.
#[derive(Debug, Tree)]
pub struct Block<L: Leaves> {
    /// `[width]`, before attention.
    pub attention_norm: L::Of<f32>,
    /// Queries, keys and values, `[width, 3 width]`.
    pub queries: L::Of<f32>,
    /// Behind attention, `[width, width]`.
    pub mixed: L::Of<f32>,
    /// `[width]`, before the products below.
    pub norm: L::Of<f32>,
    /// Gates and values, `[width, 2 hidden]`.
    pub wide: L::Of<f32>,
    /// `[hidden, width]`.
    pub narrow: L::Of<f32>,
}

/// A decoder: a transformer whose vectors see the past only.
#[derive(Debug, Tree)]
pub struct Model<L: Leaves> {
    /// The vectors of bytes, `[256, width]`, which also make the scores of the next byte.
    pub tokens: L::Of<f32>,
    /// The layers.
    pub blocks: Vec<Block<L>>,
    /// `[width]`, at the end.
    pub norm: L::Of<f32>,
}

impl Model<Tensors> {
    /// Weights before training. Products keep the size of vectors, and those that add to the sum of
    /// all layers have smaller weights the more layers there are (Radford et al., "Language Models
    /// are Unsupervised Multitask Learners", 2019).
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    pub fn new(sizes: Sizes) -> Result<Self> {
        let mut generator = Generator::new(43);
        Self::of(sizes, |shape, first| match first {
            First::Ones => Tensor::full(shape, 1.0),
            First::Normal(deviation) => generator.normal(0.0, deviation, shape),
        })
    }

    /// Zeros, for the moments before training.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    pub fn zeros(sizes: Sizes) -> Result<Self> {
        Self::of(sizes, |shape, _| Tensor::zeros(shape))
    }

    /// The tree of what `weight` makes of each shape.
    fn of(
        sizes: Sizes,
        mut weight: impl FnMut(&[usize], First) -> Result<Tensor<f32>>,
    ) -> Result<Self> {
        let (width, hidden) = (sizes.width, sizes.hidden());
        // The size of the sum of `added` products stays 1.
        let of_inputs =
            |inputs: usize, added: usize| First::Normal(1.0 / ((inputs * added) as f64).sqrt());
        let added = 2 * sizes.blocks;
        let mut block = |_| {
            Ok(Block {
                attention_norm: weight(&[width], First::Ones)?,
                queries: weight(&[width, 3 * width], of_inputs(width, 1))?,
                mixed: weight(&[width, width], of_inputs(width, added))?,
                norm: weight(&[width], First::Ones)?,
                wide: weight(&[width, 2 * hidden], of_inputs(width, 1))?,
                narrow: weight(&[hidden, width], of_inputs(hidden, added))?,
            })
        };
        let blocks = (0..sizes.blocks).map(&mut block).collect::<Result<_>>()?;
        Ok(Model {
            blocks,
            tokens: weight(&[TOKENS, width], First::Normal(0.02))?,
            norm: weight(&[width], First::Ones)?,
        })
    }
}

/// The elements of a weight before training.
enum First {
    Ones,
    /// Normal numbers of this deviation.
    Normal(f64),
}

/// Drops elements in a step of training.
#[derive(Default)]
struct Dropout<'g> {
    /// The probability, and the number of the step.
    of_step: Option<(f64, Traced<'g, u64>)>,
    layers: u64,
}

impl<'g> Dropout<'g> {
    /// The elements of the next layer.
    fn of(&mut self, x: Traced<'g, f32>) -> Traced<'g, f32> {
        let Some((probability, step)) = self.of_step else { return x };
        self.layers += 1;
        dropout(x, probability, x.graph().generator_at(self.layers, step << 32))
    }
}

impl<'g> Model<InGraph<'g>> {
    /// The scores of the byte after each one, `[batch, words, 256]`, of bytes `[batch, words]`.
    fn scores(
        &self,
        bytes: Traced<'g, u8>,
        heads: usize,
        mut drop: Dropout<'g>,
    ) -> Traced<'g, f32> {
        let mut x = drop.of(embedding(self.tokens, bytes.cast::<i64>(), None));
        for block in &self.blocks {
            let mixed = block.attention(rms_norm(x, block.attention_norm), heads);
            x = x + drop.of(mixed);
            x = x + drop.of(block.products(rms_norm(x, block.norm)));
        }
        rms_norm(x, self.norm).matmul(self.tokens.t())
    }

    /// The loss of windows `[batch, words + 1]`: the cross entropy of each byte but the first.
    fn loss(&self, windows: Traced<'g, u8>, heads: usize, drop: Dropout<'g>) -> Traced<'g, f32> {
        let words = windows.largest_shape().get(1).map_or(0, |words| words - 1);
        let scores = self.scores(windows.slice(1, 0, words), heads, drop);
        cross_entropy(scores, windows.slice(1, 1, words + 1).cast::<i64>())
    }
}

impl<'g> Block<InGraph<'g>> {
    fn attention(&self, x: Traced<'g, f32>, heads: usize) -> Traced<'g, f32> {
        let (batch, words) = (x.size(0), x.size(1));
        let width = self.norm.largest_shape().first().copied().unwrap_or(0);
        let parts = x.matmul(self.queries).reshape((batch, words, 3, heads, width / heads));
        let part = |nth: usize| {
            let part = parts.slice(2, nth, nth + 1).reshape((batch, words, heads, width / heads));
            part.permute(&[0, 2, 1, 3])
        };
        let places = positions(x.graph(), words);
        let [query, key] = [0, 1].map(|nth| rotary(part(nth), places, Rotary::new()));
        let mixed = attention(query, key, part(2), Attention::new().causal());
        mixed.permute(&[0, 2, 1, 3]).reshape((batch, words, width)).matmul(self.mixed)
    }

    /// Gated products (Shazeer, "GLU Variants Improve Transformer", 2020).
    fn products(&self, x: Traced<'g, f32>) -> Traced<'g, f32> {
        let hidden = self.narrow.largest_shape().first().copied().unwrap_or(0);
        let wide = x.matmul(self.wide);
        let (gates, values) = (wide.slice(-1, 0, hidden), wide.slice(-1, hidden, 2 * hidden));
        (gates.silu() * values).matmul(self.narrow)
    }
}

fn rms_norm<'g>(x: Traced<'g, f32>, weight: Traced<'g, f32>) -> Traced<'g, f32> {
    x.rms_norm(-1, Some(weight), LayerNorm::new().eps(1e-6))
}

/// First and second moments of gradients.
pub type Moments<L> = [Model<L>; 2];

/// A step of training: of windows `[batch, window + 1]`, the learning rate, the number of the step,
/// the model, its moments and the count of steps. It gives the loss.
pub type Step =
    Program<(u8, f32, u64, Model<UpdatedTypes>, Moments<UpdatedTypes>, Updated<f32>), f32>;

/// Traces the step, with AdamW and gradients whose norm is clipped to 1.
///
/// # Errors
///
/// Errors of the library.
pub fn step(sizes: Sizes, model: &Model<Tensors>) -> Result<Step> {
    let optimizer = AdamW::new().betas(0.9, 0.95).weight_decay(0.1);
    Program::trace(|graph| {
        let windows = graph.input::<u8>([sizes.batch, sizes.window + 1]);
        let rate = graph.input_named::<f32>("rate", [1]);
        let number = graph.input_named::<u64>("step", ());
        let (before, m, v) = (graph.inputs(model), graph.inputs(model), graph.inputs(model));
        let steps = graph.input_named::<f32>("steps", [1]);

        let drop = Dropout { of_step: Some((sizes.dropout, number)), layers: 0 };
        let loss = before.loss(windows, sizes.heads, drop);
        let gradients = graph.leaves(&graph.gradients(loss, &before));
        let (gradients, _) = clip_by_global_norm(&gradients, 1.0);
        let (next, (moments, steps)) =
            optimizer.step_tree(rate, before, &gradients, ([m, v], steps));
        let inputs = (windows, rate, number, next, moments, steps);
        graph.program(inputs, loss)
    })
}

/// The loss of windows `[batch, window + 1]`, by a model.
pub type Loss = Program<(u8, Model<Types>), f32>;

/// Traces the loss.
///
/// # Errors
///
/// Errors of the library.
pub fn loss(sizes: Sizes, model: &Model<Tensors>) -> Result<Loss> {
    Program::trace(|graph| {
        let windows = graph.input::<u8>((graph.extent("batch", 1024), sizes.window + 1));
        let model = graph.inputs(model);
        let loss = model.loss(windows, sizes.heads, Dropout::default());
        graph.program((windows, &model), loss)
    })
}

/// The next byte: of a window `[1, window]`, the index of its last byte, a temperature, the number
/// of the draw and the model.
pub type Next = Program<(u8, i64, f32, u64, Model<Types>), u8>;

/// Traces the draw of a byte among the `most` likely ones, whose scores are divided by the
/// temperature. Bytes behind the last one have no influence.
///
/// # Errors
///
/// Errors of the library.
pub fn next(sizes: Sizes, model: &Model<Tensors>, most: usize, seed: u64) -> Result<Next> {
    Program::trace(|graph| {
        let window = graph.input::<u8>([1, sizes.window]);
        let last = graph.input_named::<i64>("last", ());
        let temperature = graph.input_named::<f32>("temperature", ());
        let number = graph.input_named::<u64>("draw", ());
        let model = graph.inputs(model);
        let scores =
            model.scores(window, sizes.heads, Dropout::default()).take(1, last).reshape(TOKENS);
        let (best, bytes) = scores.top_k(most, 0);
        // The first one up to which the probabilities add up to more than a number from 0 to 1.
        let sums = (best / temperature).softmax(0).cumsum(0);
        let number_of_all = graph.generator_at(seed, number).uniform::<f32>(0.0..1.0, ());
        let chosen = sums.le(number_of_all).cast::<i64>().sum(0).minimum(most as i64 - 1);
        let byte = bytes.take(0, chosen).cast::<u8>();
        graph.program((window, last, temperature, number, &model), byte)
    })
}
