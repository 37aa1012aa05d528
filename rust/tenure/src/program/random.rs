//! Random numbers with seeds and offsets that are values of a graph.

use std::ops::Range;
use std::panic::Location;

use tenure_sys::tnr_random_distribution as distribution;
use tenure_sys::{TNR_NODE_RANDOM, TNR_NODE_RANDOM_PERMUTATION};

use super::state::Step;
use super::{Graph, IntoSizes, IntoTraced, Size, Traced};
use crate::dtype::{Bool8, DType, Element, Float, Number};
use crate::error::Result;
use crate::random::{bernoulli, integers, normal, uniform};
use crate::raw::operations::RandomAttributes;

const NAMES: &[&str] = &["seed", "offset"];

/// A seed and an offset, each a value of a graph or a number: a
/// [`Generator`](crate::random::Generator) in a graph, with methods of the same names.
///
/// A method does not change the offset: two calls with equal arguments give equal numbers. At an
/// even offset, the numbers are those of a `Generator` with this seed and offset. An array of n
/// numbers takes the next n offsets, rounded up to an even number.
///
/// ```
/// use tenure::random::Generator;
/// use tenure::{Program, Tensor};
///
/// let program = Program::trace(|graph| {
///     let (x, step) = (graph.input::<f32>([4]), graph.input::<u64>(()));
///     let kept = graph.generator_at(42, step * 4).bernoulli(0.5, [4]);
///     graph.program((x, step), kept.select(x, 0.0))
/// })?;
/// let third = program.run((&[1.0, 2.0, 3.0, 4.0], &3))?;
/// let kept = Generator::at(42, 3 * 4).bernoulli(0.5, [4])?;
/// let expected: Tensor<f32> = tenure::ops::select(&kept, &[1.0, 2.0, 3.0, 4.0], 0.0)?;
/// assert!(third == expected);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TracedGenerator<'g> {
    graph: Graph<'g>,
    operands: [u32; 2],
}

impl<'g> Graph<'g> {
    /// Random numbers of a seed, from an offset on. Seed and offset are each a value of rank 0, or
    /// a number.
    pub fn generator_at(
        self,
        seed: impl IntoTraced<'g, u64>,
        offset: impl IntoTraced<'g, u64>,
    ) -> TracedGenerator<'g> {
        TracedGenerator { graph: self, operands: [seed.operand(self), offset.operand(self)] }
    }
}

impl<'g> TracedGenerator<'g> {
    fn drawn<T: Element>(
        self,
        (name, kind): (&'static str, distribution),
        with: Result<RandomAttributes>,
        shape: impl IntoSizes<'g>,
        at: &'static Location<'static>,
    ) -> Traced<'g, T> {
        match (with, shape.numbers()) {
            (Ok(with), Ok(numbers)) => {
                let step = Step::new(name, TNR_NODE_RANDOM | kind.0 as u32, &self.operands);
                let step = step.named(NAMES).cast(T::DTYPE).numbers(numbers.as_slice());
                self.graph.step(at, &step.with(&with))
            }
            (Err(error), _) | (_, Err(error)) => self.graph.refuse(name, at, error),
        }
    }

    /// Draws numbers like [`uniform`](crate::random::Generator::uniform).
    #[track_caller]
    #[doc(alias("rand", "random"))]
    pub fn uniform<T: Float>(self, range: Range<f64>, shape: impl IntoSizes<'g>) -> Traced<'g, T> {
        let kind = ("uniform", distribution::UNIFORM);
        self.drawn(kind, uniform(&range), shape, Location::caller())
    }

    /// Draws numbers like [`normal`](crate::random::Generator::normal).
    #[track_caller]
    #[doc(alias("randn", "gaussian"))]
    pub fn normal<T: Float>(
        self,
        mean: f64,
        deviation: f64,
        shape: impl IntoSizes<'g>,
    ) -> Traced<'g, T> {
        let kind = ("normal", distribution::NORMAL);
        self.drawn(kind, normal(mean, deviation), shape, Location::caller())
    }

    /// Draws numbers like [`integers`](crate::random::Generator::integers).
    #[track_caller]
    #[doc(alias("randint"))]
    pub fn integers<T: Number>(
        self,
        range: Range<i64>,
        shape: impl IntoSizes<'g>,
    ) -> Traced<'g, T> {
        let kind = ("integers", distribution::INTEGERS);
        self.drawn(kind, integers(&range), shape, Location::caller())
    }

    /// Draws values like [`bernoulli`](crate::random::Generator::bernoulli).
    #[track_caller]
    #[doc(alias = "dropout")]
    pub fn bernoulli(self, probability: f64, shape: impl IntoSizes<'g>) -> Traced<'g, Bool8> {
        let kind = ("bernoulli", distribution::BERNOULLI);
        self.drawn(kind, Ok(bernoulli(probability)), shape, Location::caller())
    }

    /// Draws a permutation like [`permutation`](crate::random::Generator::permutation).
    #[track_caller]
    #[doc(alias("randperm", "shuffle"))]
    pub fn permutation(self, count: impl Into<Size<'g>>) -> Traced<'g, i64> {
        let (name, at) = ("permutation", Location::caller());
        match count.into().number() {
            Ok(count) => {
                let numbers = [count];
                let step = Step::new(name, TNR_NODE_RANDOM_PERMUTATION, &self.operands);
                let step = step.named(NAMES).cast(DType::I64).numbers(&numbers);
                self.graph.step(at, &step)
            }
            Err(error) => self.graph.refuse(name, at, error),
        }
    }
}
