//! Training steps in turns with those of other libraries: `training digits|block|mlp THREADS`, then
//! lines of `bench::turns`.
#![forbid(unsafe_code)]

use std::{env, hint};

use bench::turns::{self, BLOCK, Batch, Failure, RATE, Start, Training};
use tenure::program::{MemoryPlan, Updated};
use tenure::train::{AdamW, Optimizer, mse};
use tenure::{Context, LayerNorm, Program, Result, Tensor, Traced};
use tenure_demo::learned;

fn main() -> std::result::Result<(), Failure> {
    let threads = env::args().nth(2).ok_or("how many threads?")?;
    Context::with_threads(threads.parse()?)?.install(|| {
        let mut training: Box<dyn Training> = match turns::start()? {
            Start::Digits(start) => Box::new(Digits::new(start)?),
            Start::Block(start) => Box::new(Regression::new(start, block)?),
            Start::Mlp(start) => Box::new(Regression::new(start, mlp)?),
        };
        turns::serve(&mut *training)
    })
}

/// The step of the demo's network, with dropout.
struct Digits {
    program: learned::Step,
    start: Batch<u8, i64>,
    number: u64,
    states: Vec<Tensor<f32>>,
}

/// Where images are in padded ones.
const PLACE: [i64; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

impl Digits {
    fn new(start: Batch<u8, i64>) -> Result<Self> {
        let states = AdamW::new().zeros(&start.weights)?;
        Ok(Digits { program: learned::step()?, start, number: 0, states })
    }
}

impl Training for Digits {
    fn step(&mut self) -> std::result::Result<f32, Failure> {
        self.number += 1;
        let Digits { program, start: Batch { x, y, weights }, number, states } = self;
        let inputs = (&*x, &*y, &[RATE as f32], &*number, &PLACE, &PLACE, weights, states);
        loss(&program.run(inputs)?)
    }

    fn planned(&mut self) -> std::result::Result<usize, Failure> {
        let Digits { program, start: Batch { x, y, weights }, number, states } = self;
        let inputs = (&*x, &*y, &[RATE as f32], &*number, &PLACE, &PLACE, weights, states);
        Ok(bytes(&program.memory(inputs)?))
    }
}

fn loss(of: &Tensor<f32>) -> std::result::Result<f32, Failure> {
    Ok(hint::black_box(of).item().ok_or("a loss is one number")?)
}

fn bytes(plan: &MemoryPlan) -> usize {
    plan.peak_bytes + plan.scratch_bytes
}

/// A step: inputs, targets, parameters and states of the optimiser to the loss.
type RegressionStep = Program<(f32, f32, Vec<Updated<f32>>, Vec<Updated<f32>>), f32>;

/// AdamW on the mean square of a model's result less `y`.
struct Regression {
    program: RegressionStep,
    start: Batch<f32, f32>,
    states: Vec<Tensor<f32>>,
}

impl Regression {
    fn new(
        start: Batch<f32, f32>,
        model: impl for<'g> Fn(Traced<'g, f32>, &[Traced<'g, f32>]) -> Traced<'g, f32>,
    ) -> Result<Self> {
        let states = AdamW::new().zeros(&start.weights)?;
        let program = Program::trace(|graph| {
            let shape = start.x.shape();
            let (x, y) = (graph.input::<f32>(shape), graph.input::<f32>(shape));
            let (parameters, states) = (graph.inputs(&start.weights), graph.inputs(&states));
            let loss = mse(model(x, &parameters), y);
            let gradients = graph.gradients(loss, &parameters);
            let next = AdamW::new().step(RATE, &parameters, &gradients, &states);
            graph.program((x, y, next.parameters, next.states), loss)
        })?;
        Ok(Regression { program, start, states })
    }
}

impl Training for Regression {
    fn step(&mut self) -> std::result::Result<f32, Failure> {
        let Regression { program, start: Batch { x, y, weights }, states } = self;
        loss(&program.run((&*x, &*y, weights, states))?)
    }

    fn planned(&mut self) -> std::result::Result<usize, Failure> {
        let Regression { program, start: Batch { x, y, weights }, states } = self;
        Ok(bytes(&program.memory((&*x, &*y, weights, states))?))
    }
}

fn mlp<'g>(x: Traced<'g, f32>, of: &[Traced<'g, f32>]) -> Traced<'g, f32> {
    let hidden = (x.matmul(of[0]) + of[1]).relu();
    let hidden = (hidden.matmul(of[2]) + of[3]).relu();
    hidden.matmul(of[4]) + of[5]
}

fn block<'g>(x: Traced<'g, f32>, of: &[Traced<'g, f32>]) -> Traced<'g, f32> {
    let x = x + attention(norm(x, &of[8..]), of).matmul(of[2]) + of[3];
    x + (norm(x, &of[10..]).matmul(of[4]) + of[5]).gelu().matmul(of[6]) + of[7]
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
