//! Training steps as lines of the input request, for `bench/training_peers.py`, which has other
//! libraries take turns in processes of their own.
//!
//! `training digits|block|mlp THREADS`, then
//!
//! - `run STEPS`: that many steps; answered by milliseconds of one
//! - `memory`: a step; answered by the bytes that the plan has, with scratch memory, and the bytes
//!   that the process grew by
#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{self, BufRead};
use std::time::Instant;
use std::{env, hint};

use bench::memory::peak_of;
use tenure::program::{MemoryPlan, Updated};
use tenure::random::Generator;
use tenure::train::{AdamW, Optimizer, mse};
use tenure::{Context, LayerNorm, Program, Result, Tensor, Traced};
use tenure_demo::learned;

/// Rows of the perceptron's input, and the extent of its three layers.
const MLP: [usize; 2] = [64, 1024];
/// The block's batch, tokens, heads and width.
const BLOCK: [usize; 4] = [16, 128, 6, 384];
const RATE: f64 = 1e-4;

/// A step on inputs of its own.
trait Training {
    fn step(&mut self) -> Result<()>;
    fn plan(&mut self) -> Result<MemoryPlan>;
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().collect();
    let [_, model, threads] = &arguments[..] else { return Err("which model?".into()) };
    Context::with_threads(threads.parse()?)?.install(|| {
        let mut training: Box<dyn Training> = match model.as_str() {
            "digits" => Box::new(Digits::new()?),
            "block" => Box::new(block()?),
            "mlp" => Box::new(mlp()?),
            _ => return Err(format!("which model is {model}?").into()),
        };
        for line in io::stdin().lock().lines() {
            let line = line?;
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["run", steps] => println!("{:.6}", run(&mut *training, steps.parse()?)?),
                ["memory"] => memory(&mut *training)?,
                _ => return Err(format!("what is {line:?}?").into()),
            }
        }
        Ok(())
    })
}

fn run(training: &mut dyn Training, steps: u32) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..steps {
        training.step()?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e3 / f64::from(steps))
}

fn memory(training: &mut dyn Training) -> Result<()> {
    let grown = peak_of(|| training.step()).map_or(0, |(_, bytes)| bytes);
    let plan = training.plan()?;
    println!("{} {grown}", plan.peak_bytes + plan.scratch_bytes);
    Ok(())
}

/// The step of the demo's network, with dropout.
struct Digits {
    program: learned::Step,
    x: Tensor<u8>,
    y: Tensor<i64>,
    number: u64,
    weights: Vec<Tensor<f32>>,
    states: Vec<Tensor<f32>>,
}

/// Where images are in padded ones.
const PLACE: [i64; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

impl Digits {
    fn new() -> Result<Self> {
        let weights = learned::initial()?;
        Ok(Digits {
            program: learned::step()?,
            x: Tensor::from_fn([learned::BATCH, 64], |[i, j]| ((i * 7 + j * 3) % 17) as u8)?,
            y: Tensor::from_fn([learned::BATCH], |[i]| (i % 10) as i64)?,
            number: 0,
            states: AdamW::new().zeros(&weights)?,
            weights,
        })
    }
}

impl Training for Digits {
    fn step(&mut self) -> Result<()> {
        self.number += 1;
        let Digits { program, x, y, number, weights, states } = self;
        let inputs = (&*x, &*y, &[RATE as f32], &*number, &PLACE, &PLACE, weights, states);
        hint::black_box(program.run(inputs)?);
        Ok(())
    }

    fn plan(&mut self) -> Result<MemoryPlan> {
        let Digits { program, x, y, number, weights, states } = self;
        program.memory((&*x, &*y, &[RATE as f32], &*number, &PLACE, &PLACE, weights, states))
    }
}

/// A step: inputs, targets, parameters and states of the optimiser to the loss.
type RegressionStep = Program<(f32, f32, Vec<Updated<f32>>, Vec<Updated<f32>>), f32>;

/// AdamW on the mean square of a model's result less `y`.
struct Regression {
    program: RegressionStep,
    x: Tensor<f32>,
    y: Tensor<f32>,
    weights: Vec<Tensor<f32>>,
    states: Vec<Tensor<f32>>,
}

impl Regression {
    fn new(
        shape: &[usize],
        weights: Vec<Tensor<f32>>,
        model: impl for<'g> Fn(Traced<'g, f32>, &[Traced<'g, f32>]) -> Traced<'g, f32>,
    ) -> Result<Self> {
        let states = AdamW::new().zeros(&weights)?;
        let program = Program::trace(|graph| {
            let (x, y) = (graph.input::<f32>(shape), graph.input::<f32>(shape));
            let (parameters, states) = (graph.inputs(&weights), graph.inputs(&states));
            let loss = mse(model(x, &parameters), y);
            let gradients = graph.gradients(loss, &parameters);
            let next = AdamW::new().step(RATE, &parameters, &gradients, &states);
            graph.program((x, y, next.parameters, next.states), loss)
        })?;
        let mut generator = Generator::new(2);
        let (x, y) = (generator.normal(0.0, 1.0, shape)?, generator.normal(0.0, 1.0, shape)?);
        Ok(Regression { program, x, y, weights, states })
    }
}

impl Training for Regression {
    fn step(&mut self) -> Result<()> {
        let Regression { program, x, y, weights, states } = self;
        hint::black_box(program.run((&*x, &*y, weights, states))?);
        Ok(())
    }

    fn plan(&mut self) -> Result<MemoryPlan> {
        let Regression { program, x, y, weights, states } = self;
        program.memory((&*x, &*y, weights, states))
    }
}

/// A multilayer perceptron with three square layers.
fn mlp() -> Result<Regression> {
    let [batch, width] = MLP;
    let mut generator = Generator::new(1);
    let mut weights = Vec::new();
    for _ in 0..3 {
        weights.push(generator.normal(0.0, 0.04, [width, width])?);
        weights.push(Tensor::zeros(width)?);
    }
    Regression::new(&[batch, width], weights, |x, of| {
        let hidden = (x.matmul(of[0]) + of[1]).relu();
        let hidden = (hidden.matmul(of[2]) + of[3]).relu();
        hidden.matmul(of[4]) + of[5]
    })
}

/// A block of a transformer, which normalises before attention and before the two layers.
fn block() -> Result<Regression> {
    let [batch, tokens, _, width] = BLOCK;
    let mut generator = Generator::new(1);
    let mut weights = Vec::new();
    for (inputs, outputs) in
        [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]
    {
        weights.push(generator.normal(0.0, 0.02, [inputs, outputs])?);
        weights.push(Tensor::zeros(outputs)?);
    }
    for _ in 0..2 {
        weights.push(Tensor::full([width], 1.0)?);
        weights.push(Tensor::zeros(width)?);
    }
    Regression::new(&[batch, tokens, width], weights, |x, of| {
        let x = x + attention(norm(x, &of[8..]), of).matmul(of[2]) + of[3];
        x + (norm(x, &of[10..]).matmul(of[4]) + of[5]).gelu().matmul(of[6]) + of[7]
    })
}

fn norm<'g>(x: Traced<'g, f32>, of: &[Traced<'g, f32>]) -> Traced<'g, f32> {
    x.layer_norm(-1, Some(of[0]), Some(of[1]), LayerNorm::new())
}

fn attention<'g>(x: Traced<'g, f32>, of: &[Traced<'g, f32>]) -> Traced<'g, f32> {
    let [batch, tokens, heads, width] = BLOCK;
    // [3, batch, heads, tokens, width of a head]
    let parts = (x.matmul(of[0]) + of[1])
        .reshape([batch, tokens, 3, heads, width / heads])
        .permute(&[2, 0, 3, 1, 4]);
    let part = |i: usize| parts.slice(0, i, i + 1).reshape([batch, heads, tokens, width / heads]);
    let scores = part(0).matmul(part(1).transpose(2, 3)) * (1.0 / ((width / heads) as f32).sqrt());
    let mixed = scores.softmax(-1).matmul(part(2));
    mixed.permute(&[0, 2, 1, 3]).reshape([batch, tokens, width])
}
