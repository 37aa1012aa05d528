//! Training steps of burn on its backend `flex`: `burn digits|block|mlp`, then lines of
//! `bench::turns`.
#![forbid(unsafe_code)]

use std::result::Result;

use bench::turns::{self, BLOCK, Batch, Failure, RATE, Start, Training};
use burn::module::{Module, Param};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::{CrossEntropyLossConfig, MseLoss, Reduction};
use burn::nn::pool::MaxPool2dConfig;
use burn::nn::{Dropout, DropoutConfig, LayerNorm, LayerNormConfig, Linear, PaddingConfig2d};
use burn::optim::{AdamWConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::activation::{gelu, relu};
use burn::tensor::kind::Basic;
use burn::tensor::module::attention;
use burn::tensor::ops::PadMode;
use burn::tensor::{Device, Element, Int, Tensor, TensorData, s};

fn main() -> Result<(), Failure> {
    let device = Device::flex().autodiff();
    let mut training: Box<dyn Training> = match turns::start()? {
        Start::Digits(start) => Box::new(digits(&start, &device)),
        Start::Block(start) => Box::new(regression(&start, Block::new(&start, &device), &device)),
        Start::Mlp(start) => Box::new(regression(&start, Mlp::new(&start, &device), &device)),
    };
    turns::serve(&mut *training)
}

/// AdamW on a loss of a model.
struct Step<M> {
    /// `None` while the optimizer has it: a second owner would keep it from updates in place.
    model: Option<M>,
    optimizer: ModuleOptimizer,
    loss: Box<dyn Fn(&M) -> Tensor<1>>,
}

impl<M: Module> Step<M> {
    fn new(model: M, loss: impl Fn(&M) -> Tensor<1> + 'static) -> Self {
        // The defaults of the other libraries.
        let optimizer = AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(0.01).init();
        Step { model: Some(model), optimizer, loss: Box::new(loss) }
    }
}

impl<M: Module> Training for Step<M> {
    fn step(&mut self) -> Result<f32, Failure> {
        let model = self.model.take().ok_or("a step failed")?;
        let loss = (self.loss)(&model);
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        self.model = Some(self.optimizer.step(RATE, model, gradients));
        Ok(loss.try_into_scalar()?)
    }
}

fn data<T: Element + tenure::Element>(of: &tenure::Tensor<T>) -> TensorData {
    TensorData::new(of.to_vec(), of.shape().to_vec())
}

fn tensor<T: Element + tenure::Element, const D: usize, K: Basic>(
    of: &tenure::Tensor<T>,
    device: &Device,
) -> Tensor<D, K> {
    Tensor::from_data(data(of), device)
}

fn parameter<const D: usize>(of: &tenure::Tensor<f32>, device: &Device) -> Param<Tensor<D>> {
    Param::from_data(data(of), device)
}

/// The layer of the weights at `i`, and of its bias behind them.
fn linear(weights: &[tenure::Tensor<f32>], i: usize, device: &Device) -> Linear {
    let weight = parameter(&weights[i], device);
    Linear { weight, bias: Some(parameter(&weights[i + 1], device)) }
}

/// A model from inputs to what the targets are compared with.
trait Model<const D: usize>: Module {
    fn forward(&self, x: Tensor<D>) -> Tensor<D>;
}

fn regression<const D: usize, M: Model<D>>(
    start: &Batch<f32, f32>,
    model: M,
    device: &Device,
) -> Step<M> {
    let (x, y) = (tensor::<_, D, _>(&start.x, device), tensor(&start.y, device));
    Step::new(model, move |model| {
        MseLoss::new().forward(model.forward(x.clone()), y.clone(), Reduction::Mean)
    })
}

#[derive(Module, Debug)]
struct Digits {
    first: Conv2d,
    second: Conv2d,
    dropout: Dropout,
    scores: Linear,
}

impl Digits {
    fn new(start: &Batch<u8, i64>, device: &Device) -> Self {
        let convolution = |i: usize| {
            let weight = parameter::<4>(&start.weights[i], device);
            let [outputs, inputs, rows, columns] = weight.dims();
            let config = Conv2dConfig::new([inputs, outputs], [rows, columns])
                .with_padding(PaddingConfig2d::Explicit(1, 1, 1, 1));
            let bias = Some(parameter(&start.weights[i + 1], device));
            Conv2d { weight, bias, ..config.init(device) }
        };
        Digits {
            first: convolution(0),
            second: convolution(2),
            dropout: DropoutConfig::new(0.5).init(),
            scores: linear(&start.weights, 4, device),
        }
    }

    fn forward(&self, pixels: Tensor<2, Int>) -> Tensor<2> {
        let images: Tensor<4> = (pixels.float() * 0.0625).reshape([-1, 1, 8, 8]);
        let moved = images.pad((1, 1, 1, 1), PadMode::Constant(0.0)).slice(s![.., .., 0..8, 0..8]);
        let shapes = relu(self.second.forward(relu(self.first.forward(moved))));
        let features = MaxPool2dConfig::new([2, 2]).init().forward(shapes).flatten(1, 3);
        self.scores.forward(self.dropout.forward(features))
    }
}

fn digits(start: &Batch<u8, i64>, device: &Device) -> Step<Digits> {
    let (x, y) = (tensor(&start.x, device), tensor(&start.y, device));
    let loss = CrossEntropyLossConfig::new().init(device);
    Step::new(Digits::new(start, device), move |model| {
        loss.forward(model.forward(x.clone()), y.clone())
    })
}

#[derive(Module, Debug)]
struct Mlp {
    layers: [Linear; 3],
}

impl Mlp {
    fn new(start: &Batch<f32, f32>, device: &Device) -> Self {
        Mlp { layers: [0, 2, 4].map(|i| linear(&start.weights, i, device)) }
    }
}

impl Model<2> for Mlp {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let [first, second, third] = &self.layers;
        third.forward(relu(second.forward(relu(first.forward(x)))))
    }
}

#[derive(Module, Debug)]
struct Block {
    norms: [LayerNorm; 2],
    parts: Linear,
    result: Linear,
    layers: [Linear; 2],
}

impl Block {
    fn new(start: &Batch<f32, f32>, device: &Device) -> Self {
        let linear = |i| linear(&start.weights, i, device);
        let norm = |i: usize| {
            let mut norm = LayerNormConfig::new(BLOCK[3]).init(device);
            norm.gamma = parameter(&start.weights[i], device);
            norm.beta = Some(parameter(&start.weights[i + 1], device));
            norm
        };
        Block {
            norms: [8, 10].map(norm),
            parts: linear(0),
            result: linear(2),
            layers: [4, 6].map(linear),
        }
    }

    fn mixed(&self, x: Tensor<3>) -> Tensor<3> {
        let [batch, tokens, heads, width] = BLOCK;
        let parts = self.parts.forward(x).reshape([batch, tokens, 3, heads, width / heads]);
        let parts = parts.permute([2, 0, 3, 1, 4]);
        let [query, key, value] =
            [0, 1, 2].map(|i| parts.clone().slice(s![i..i + 1]).squeeze_dim::<4>(0));
        let mixed = attention(query, key, value, None, None, Default::default());
        self.result.forward(mixed.swap_dims(1, 2).reshape([batch, tokens, width]))
    }
}

impl Model<3> for Block {
    fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let x = self.mixed(self.norms[0].forward(x.clone())) + x;
        let hidden = gelu(self.layers[0].forward(self.norms[1].forward(x.clone())));
        self.layers[1].forward(hidden) + x
    }
}
