//! Central differences of a function of tensors, in steps that suit its element type.
//!
//! The step balances the error of truncation, of the order of its square, and that of rounding,
//! which is inverse to it: the cube root of the distance between 1 and the next number (Press,
//! Teukolsky, Vetterling and Flannery, "Numerical Recipes", 3rd edition, 5.7). Inputs are rounded to
//! their element type, and gradients are compared along the way between the rounded inputs.

use half::{bf16, f16};

use crate::dense::DynTensor;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::program::probe::{Computation, is_float, rounded};
use crate::split_mix::Random;

/// A function of tensors, at one place: the sum of its results times random numbers.
pub(super) struct Function<'a> {
    forward: Computation,
    inputs: Vec<&'a DynTensor>,
    result: Vec<f64>,
    dtype: DType,
    shape: Vec<usize>,
    /// By element of the result.
    seed: Vec<f64>,
    epsilon: f64,
}

/// A direction in the space of one input.
pub(super) enum Direction {
    /// Along one element.
    Element(usize),
    /// Plus or minus 1 for each element.
    Signs(Vec<f64>),
}

/// The verdict on one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Agrees,
    Differs,
    /// The slopes on both sides differ, and the gradient is one of them or between them.
    Kink,
}

/// The derivative along a direction, by the gradient and by differences with one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    pub(super) gradient: f64,
    pub(super) difference: f64,
    /// Error of the difference by rounding of results.
    noise: f64,
    /// Slopes on both sides.
    before: f64,
    after: f64,
}

/// The function on one side of the place.
struct Side {
    result: Vec<f64>,
    /// The gradient times the way there.
    gained: f64,
    /// The length of the way along the direction.
    way: f64,
}

/// An input that is moved.
struct Moving {
    nth: usize,
    numbers: Vec<f64>,
    tensor: DynTensor,
}

/// Steps are no smaller, relative to the one that suits numbers of about 1.
const LEAST_SCALE: f64 = 0.1;
/// Ratio of the steps of an element that does not agree at once.
const RATIO: f64 = 8.0;
/// Rounding errors of a result that are still noise.
const ROUNDINGS: f64 = 4.0;

fn epsilon_of(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::EPSILON,
        DType::F32 => f32::EPSILON.into(),
        DType::F16 => f16::EPSILON.into(),
        DType::BF16 => bf16::EPSILON.into(),
        _ => 0.0,
    }
}

impl Direction {
    pub(super) fn random(count: usize, random: &mut Random) -> Direction {
        Direction::Signs(
            (0..count).map(|_| if random.below(2) == 0 { -1.0 } else { 1.0 }).collect(),
        )
    }

    /// The element that it is along.
    pub(super) fn element(&self) -> Option<usize> {
        match self {
            Direction::Element(at) => Some(*at),
            Direction::Signs(_) => None,
        }
    }

    /// Elements that move, with their part of the direction.
    fn parts(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (one, all) = match self {
            Direction::Element(at) => (Some((*at, 1.0)), &[][..]),
            Direction::Signs(signs) => (None, &signs[..]),
        };
        one.into_iter().chain(all.iter().copied().enumerate())
    }

    /// The step at these numbers, for results that are rounded to this distance.
    fn step(&self, numbers: &[f64], epsilon: f64) -> f64 {
        let squares: f64 = numbers.iter().map(|x| x * x).sum();
        let mean = (squares / numbers.len() as f64).sqrt();
        let (scale, count) = match self {
            Direction::Element(at) => (mean.max(numbers[*at].abs()), 1.0),
            Direction::Signs(signs) => (mean, signs.len() as f64),
        };
        // Along n elements a result changes by about the square root of n.
        epsilon.cbrt() * scale.max(LEAST_SCALE) / count.powf(0.25)
    }
}

impl Estimate {
    fn bound(&self, tolerance: f64) -> f64 {
        let scale = self.gradient.abs().max(self.difference.abs());
        tolerance * scale + ROUNDINGS * self.noise
    }

    fn error(&self) -> f64 {
        (self.gradient - self.difference).abs()
    }

    fn agrees(&self, tolerance: f64) -> bool {
        self.error() <= self.bound(tolerance)
    }

    /// Whether the slopes differ by more than curvature explains, which a smaller step shows: by a
    /// `finer` one, where the gradient is between them. At the end of the domain one is not finite.
    fn is_kink(&self, finer: &Estimate, tolerance: f64) -> bool {
        if finer.gradient.is_nan() {
            return false;
        }
        if !finer.before.is_finite() || !finer.after.is_finite() {
            return true;
        }
        let slack = tolerance * finer.before.abs().max(finer.after.abs()) + ROUNDINGS * finer.noise;
        let jump = (finer.after - finer.before).abs();
        let (least, most) = (finer.before.min(finer.after), finer.before.max(finer.after));
        jump > (self.after - self.before).abs() / 2.0
            && jump > 2.0 * slack
            && (least - slack..=most + slack).contains(&finer.gradient)
    }
}

impl<'a> Function<'a> {
    /// The function at these inputs, with random numbers for its results unless it has one.
    pub(super) fn new(
        forward: Computation,
        inputs: Vec<&'a DynTensor>,
        random: &mut Random,
    ) -> Result<Function<'a>> {
        let made = forward.run(&inputs)?;
        let Some(result) = made.last() else { return Err(Error::invalid("there is no result")) };
        let (dtype, shape) = (result.dtype(), result.shape().to_vec());
        let result = result.cast_to::<f64>()?.to_vec();
        // Exact in each element type, and away from 0.
        let mut number = || {
            let magnitude = (8 + random.below(8)) as f64 / 16.0;
            if random.below(2) == 0 { -magnitude } else { magnitude }
        };
        let seed = match result.len() {
            1 => vec![1.0],
            count => (0..count).map(|_| number()).collect(),
        };
        let dtypes = inputs.iter().map(|it| it.dtype()).chain([dtype]);
        let epsilon = dtypes.map(epsilon_of).fold(0.0, f64::max);
        Ok(Function { forward, inputs, result, dtype, shape, seed, epsilon })
    }

    /// The distance from 1 to the next number of its narrowest float.
    pub(super) fn epsilon(&self) -> f64 {
        self.epsilon
    }

    pub(super) fn input(&self, nth: usize) -> &'a DynTensor {
        self.inputs[nth]
    }

    /// Inputs that have gradients.
    pub(super) fn floats(&self) -> Vec<usize> {
        (0..self.inputs.len()).filter(|nth| is_float(self.inputs[*nth].dtype())).collect()
    }

    /// The random numbers as a tensor like the result.
    pub(super) fn seed(&self) -> Result<DynTensor> {
        rounded(self.seed.clone(), self.dtype, &self.shape)
    }

    /// Refuses a result that is not finite.
    pub(super) fn require_finite(&self) -> Result<()> {
        let Some(at) = self.result.iter().position(|x| !x.is_finite()) else { return Ok(()) };
        let index = super::report::index_of(at, &self.shape);
        Err(Error::invalid(format!(
            "the result is {} at {index:?}: there is no difference to compare with",
            self.result[at]
        )))
    }

    /// Compares the derivative by the input `nth` along a direction.
    pub(super) fn compare(
        &self,
        nth: usize,
        direction: &Direction,
        gradient: &[f64],
        tolerance: f64,
    ) -> Result<(Outcome, Estimate)> {
        let input = self.inputs[nth];
        let numbers = input.cast_to::<f64>()?.to_vec();
        let tensor = rounded(numbers.clone(), input.dtype(), input.shape())?;
        let mut moving = Moving { nth, numbers, tensor };
        let step = direction.step(&moving.numbers, self.epsilon);
        let first = self.estimate(&mut moving, direction, gradient, step)?;
        if first.agrees(tolerance) {
            return Ok((Outcome::Agrees, first));
        }
        let finer = self.estimate(&mut moving, direction, gradient, step / RATIO)?;
        let coarser = self.estimate(&mut moving, direction, gradient, step * RATIO)?;
        let estimates = [finer, coarser, first];
        if let Some(right) = estimates.iter().find(|it| it.agrees(tolerance)) {
            return Ok((Outcome::Agrees, *right));
        }
        let outcome = match first.is_kink(&finer, tolerance) {
            true => Outcome::Kink,
            false => Outcome::Differs,
        };
        let nearest = estimates.into_iter().min_by(|a, b| a.error().total_cmp(&b.error()));
        Ok((outcome, nearest.unwrap_or(first)))
    }

    fn estimate(
        &self,
        moving: &mut Moving,
        direction: &Direction,
        gradient: &[f64],
        step: f64,
    ) -> Result<Estimate> {
        let after = self.side(moving, direction, gradient, step)?;
        let before = self.side(moving, direction, gradient, -step)?;
        let way = after.way - before.way;
        let changed = |a: &[f64], b: &[f64]| -> (f64, f64) {
            let pairs = self.seed.iter().zip(a.iter().zip(b)).filter(|(_, (a, b))| a != b);
            pairs.fold((0.0, 0.0), |(sum, size), (seed, (a, b))| {
                (sum + seed * (a - b), size + seed.abs() * (a.abs() + b.abs()))
            })
        };
        let (difference, size) = changed(&after.result, &before.result);
        Ok(Estimate {
            gradient: (after.gained - before.gained) / way,
            difference: difference / way,
            noise: self.epsilon * size / way,
            before: changed(&self.result, &before.result).0 / -before.way,
            after: changed(&after.result, &self.result).0 / after.way,
        })
    }

    fn side(
        &self,
        moving: &mut Moving,
        direction: &Direction,
        gradient: &[f64],
        step: f64,
    ) -> Result<Side> {
        let (mut gained, mut along, mut squares) = (0.0, 0.0, 0.0);
        for (at, part) in direction.parts() {
            let from = moving.numbers[at];
            let way = set(&mut moving.tensor, at, from + step * part)? - from;
            gained += gradient[at] * way;
            along += part * way;
            squares += part * part;
        }
        let mut inputs = self.inputs.clone();
        inputs[moving.nth] = &moving.tensor;
        let made = self.forward.run(&inputs)?;
        for (at, _) in direction.parts() {
            set(&mut moving.tensor, at, moving.numbers[at])?;
        }
        let Some(result) = made.last() else { return Err(Error::invalid("there is no result")) };
        Ok(Side { result: result.cast_to::<f64>()?.to_vec(), gained, way: along / squares })
    }
}

/// Sets an element of a row-major tensor to the nearest number, and returns that.
fn set(tensor: &mut DynTensor, at: usize, number: f64) -> Result<f64> {
    let dtype = tensor.dtype();
    let view = tensor.view_mut();
    macro_rules! set {
        ($type:ty, $rounded:expr) => {{
            let rounded: $type = $rounded;
            if let Some(elements) = view.downcast::<$type>()?.as_mut_slice() {
                elements[at] = rounded;
            }
            Ok(rounded.into())
        }};
    }
    match dtype {
        DType::F64 => set!(f64, number),
        DType::F32 => set!(f32, number as f32),
        DType::F16 => set!(f16, f16::from_f64(number)),
        DType::BF16 => set!(bf16, bf16::from_f64(number)),
        other => Err(Error::invalid(format!("{other} is no float"))),
    }
}
