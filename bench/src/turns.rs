//! Training steps that answer lines of the input, for `training_peers.py`, which has libraries in
//! processes of their own take turns. [`Start`] has what all of them begin with.

use std::error::Error;
use std::io::{self, BufRead};
use std::str::FromStr;
use std::time::Instant;
use std::{env, result};

use tenure::random::Generator;
use tenure::{Element, Result, Tensor};
use tenure_demo::learned;

use crate::memory::peak_of;

/// The block's batch, tokens, heads and width.
pub const BLOCK: [usize; 4] = [16, 128, 6, 384];
/// Rows of the perceptron's input, and the extent of its three layers.
pub const MLP: [usize; 2] = [64, 1024];
/// The learning rate of AdamW.
pub const RATE: f64 = 1e-4;

/// An error of any library.
pub type Failure = Box<dyn Error>;

/// A model that trains on inputs of its own.
pub trait Training {
    /// Trains by a step, and gives its loss.
    fn step(&mut self) -> result::Result<f32, Failure>;

    /// Bytes that a plan has for a step; 0 where there is no plan.
    fn planned(&mut self) -> result::Result<usize, Failure> {
        Ok(0)
    }
}

/// Inputs, targets and first weights of a model. Weights of layers are `[inputs, outputs]`, each
/// before its bias.
pub enum Start {
    /// The demo's network on handwritten digits: pixels, and labels.
    Digits(Batch<u8, i64>),
    /// A block of a transformer, which normalises before attention and before the two layers:
    /// weights of query, key and value in one, of the result, and of the two layers, then scales
    /// and shifts of both norms.
    Block(Batch<f32, f32>),
    /// A multilayer perceptron with three square layers.
    Mlp(Batch<f32, f32>),
}

/// The tensors of a step.
pub struct Batch<X: Element, Y: Element> {
    /// The inputs.
    pub x: Tensor<X>,
    /// The targets.
    pub y: Tensor<Y>,
    /// The weights.
    pub weights: Vec<Tensor<f32>>,
}

impl FromStr for Start {
    type Err = Failure;

    fn from_str(name: &str) -> result::Result<Self, Failure> {
        Ok(match name {
            "digits" => Start::Digits(digits()?),
            "block" => Start::Block(block()?),
            "mlp" => Start::Mlp(mlp()?),
            _ => return Err(format!("which model is {name:?}?").into()),
        })
    }
}

fn digits() -> Result<Batch<u8, i64>> {
    Ok(Batch {
        x: Tensor::from_fn([learned::BATCH, 64], |[i, j]| ((i * 7 + j * 3) % 17) as u8)?,
        y: Tensor::from_fn([learned::BATCH], |[i]| (i % 10) as i64)?,
        weights: learned::initial()?,
    })
}

fn block() -> Result<Batch<f32, f32>> {
    let [batch, tokens, _, width] = BLOCK;
    let layers = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)];
    let mut block = regression(&[batch, tokens, width], &layers, 0.02)?;
    for _ in 0..2 {
        block.weights.push(Tensor::full([width], 1.0)?);
        block.weights.push(Tensor::zeros(width)?);
    }
    Ok(block)
}

fn mlp() -> Result<Batch<f32, f32>> {
    let [batch, width] = MLP;
    regression(&[batch, width], &[(width, width); 3], 0.04)
}

fn regression(
    shape: &[usize],
    layers: &[(usize, usize)],
    deviation: f64,
) -> Result<Batch<f32, f32>> {
    let mut generator = Generator::new(1);
    let mut weights = Vec::new();
    for &(inputs, outputs) in layers {
        weights.push(generator.normal(0.0, deviation, [inputs, outputs])?);
        weights.push(Tensor::zeros(outputs)?);
    }
    let (x, y) = (generator.normal(0.0, 1.0, shape)?, generator.normal(0.0, 1.0, shape)?);
    Ok(Batch { x, y, weights })
}

/// The model that the first argument names.
///
/// # Errors
///
/// There is no such model; errors of the library.
pub fn start() -> result::Result<Start, Failure> {
    env::args().nth(1).ok_or("which model?")?.parse()
}

/// Answers the lines
///
/// - `run STEPS` by milliseconds of one of them, and the loss of the last one
/// - `memory` by the bytes that a plan has, and those that the process grew by in a step
///
/// # Errors
///
/// Errors of steps; other lines.
pub fn serve(training: &mut dyn Training) -> result::Result<(), Failure> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["run", steps] => run(training, steps.parse()?)?,
            ["memory"] => {
                let (loss, grown) = peak_of(|| training.step())
                    .ok_or("the system does not tell the memory of a process")?;
                loss?;
                println!("{} {grown}", training.planned()?);
            }
            _ => return Err(format!("what is {line:?}?").into()),
        }
    }
    Ok(())
}

fn run(training: &mut dyn Training, steps: u32) -> result::Result<(), Failure> {
    let (start, mut loss) = (Instant::now(), f32::NAN);
    for _ in 0..steps {
        loss = training.step()?;
    }
    println!("{:.6} {loss:.6}", start.elapsed().as_secs_f64() * 1e3 / f64::from(steps));
    Ok(())
}
