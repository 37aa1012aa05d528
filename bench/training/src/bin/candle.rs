//! Training steps of candle: `candle digits|block|mlp`, then lines of `bench::turns`.
#![forbid(unsafe_code)]

use std::result;

use bench::turns::{self, BLOCK, Batch, Failure, RATE, Start, Training};
use candle_core::{D, DType, Device, Result, Tensor, Var, WithDType};
use candle_nn::{AdamW, Conv2d, Conv2dConfig, Linear, Module, Optimizer, ParamsAdamW, loss, ops};

fn main() -> result::Result<(), Failure> {
    let mut training = match turns::start()? {
        Start::Digits(start) => digits(&start)?,
        Start::Block(start) => block(&start)?,
        Start::Mlp(start) => mlp(&start)?,
    };
    turns::serve(&mut training)
}

/// AdamW on a loss of the weights.
struct Step {
    loss: Box<dyn Fn() -> Result<Tensor>>,
    optimizer: AdamW,
}

impl Step {
    fn new(weights: Vec<Var>, loss: impl Fn() -> Result<Tensor> + 'static) -> Result<Self> {
        let optimizer = AdamW::new(weights, ParamsAdamW { lr: RATE, ..ParamsAdamW::default() })?;
        Ok(Step { loss: Box::new(loss), optimizer })
    }
}

impl Training for Step {
    fn step(&mut self) -> result::Result<f32, Failure> {
        let loss = (self.loss)()?;
        self.optimizer.backward_step(&loss)?;
        Ok(loss.to_scalar()?)
    }
}

fn tensor<T: WithDType + tenure::Element>(of: &tenure::Tensor<T>) -> Result<Tensor> {
    Tensor::from_vec(of.to_vec(), of.shape(), &Device::Cpu)
}

/// The weights, those of linear layers `[outputs, inputs]` as candle has them.
fn variables(of: &[tenure::Tensor<f32>]) -> Result<Vec<Var>> {
    let variable = |of: &tenure::Tensor<f32>| {
        let of = tensor(of)?;
        let of = if of.rank() == 2 { of.t()?.contiguous()? } else { of };
        Var::from_tensor(&of)
    };
    of.iter().map(variable).collect()
}

/// The layer of the weights at `i`, and of its bias behind them.
fn linear(weights: &[Var], i: usize) -> Linear {
    Linear::new(weights[i].as_tensor().clone(), Some(weights[i + 1].as_tensor().clone()))
}

fn digits(start: &Batch<u8, i64>) -> Result<Step> {
    let (x, y, weights) = (tensor(&start.x)?, tensor(&start.y)?, variables(&start.weights)?);
    let convolution = |i: usize| {
        let (kernel, bias) = (weights[i].as_tensor(), weights[i + 1].as_tensor());
        let config = Conv2dConfig { padding: 1, ..Conv2dConfig::default() };
        Conv2d::new(kernel.clone(), Some(bias.clone()), config)
    };
    let (first, second, scores) = (convolution(0), convolution(2), linear(&weights, 4));
    Step::new(weights, move || {
        let images = (x.to_dtype(DType::F32)? * 0.0625)?.reshape(((), 1, 8, 8))?;
        let moved = images.pad_with_zeros(2, 1, 1)?.pad_with_zeros(3, 1, 1)?;
        let moved = moved.narrow(2, 0, 8)?.narrow(3, 0, 8)?;
        let shapes = second.forward(&first.forward(&moved)?.relu()?)?.relu()?;
        let features = shapes.max_pool2d(2)?.flatten_from(1)?;
        loss::cross_entropy(&scores.forward(&ops::dropout(&features, 0.5)?)?, &y)
    })
}

fn mlp(start: &Batch<f32, f32>) -> Result<Step> {
    let (x, y, weights) = (tensor(&start.x)?, tensor(&start.y)?, variables(&start.weights)?);
    let [first, second, third] = [0, 2, 4].map(|i| linear(&weights, i));
    Step::new(weights, move || {
        let hidden = second.forward(&first.forward(&x)?.relu()?)?.relu()?;
        loss::mse(&third.forward(&hidden)?, &y)
    })
}

fn block(start: &Batch<f32, f32>) -> Result<Step> {
    let (x, y, weights) = (tensor(&start.x)?, tensor(&start.y)?, variables(&start.weights)?);
    let [parts, result, wide, narrow] = [0, 2, 4, 6].map(|i| linear(&weights, i));
    // `candle_nn::LayerNorm` and `ops::softmax_last_dim` have no gradients.
    let norm = |i: usize| {
        let [scale, shift] = [i, i + 1].map(|i| weights[i].as_tensor().clone());
        move |x: &Tensor| ops::layer_norm_slow(x, &scale, &shift, 1e-5)
    };
    let (before_attention, before_layers) = (norm(8), norm(10));
    Step::new(weights, move || {
        let x = (&x + result.forward(&attention(&parts.forward(&before_attention(&x)?)?)?)?)?;
        let hidden = wide.forward(&before_layers(&x)?)?.gelu_erf()?;
        loss::mse(&(&x + narrow.forward(&hidden)?)?, &y)
    })
}

fn attention(parts: &Tensor) -> Result<Tensor> {
    let [batch, tokens, heads, width] = BLOCK;
    let parts = parts.reshape((batch, tokens, 3, heads, width / heads))?;
    let parts = parts.permute((2, 0, 3, 1, 4))?.contiguous()?;
    let (query, key, value) = (parts.get(0)?, parts.get(1)?, parts.get(2)?);
    let scores = (query.matmul(&key.t()?)? * (1.0 / ((width / heads) as f64).sqrt()))?;
    let mixed = ops::softmax(&scores, D::Minus1)?.matmul(&value)?;
    mixed.transpose(1, 2)?.reshape((batch, tokens, width))
}
