//! Steps that leave parameters as they are where a gradient is not finite, and a factor that keeps
//! gradients of f16 from vanishing.

use std::panic::Location;

use super::optimizers::Stepped;
use crate::dense::Tensor;
use crate::dtype::{Bool8, Float};
use crate::error::{Error, Result};
use crate::program::{Num, Traced, Updating};

/// Whether all elements of all gradients are finite: a value of rank 0. `None` for no gradient.
///
/// ```
/// use tenure::{Program, train};
///
/// let program = Program::trace(|graph| {
///     let (a, b) = (graph.input::<f32>([2]), graph.input::<f32>([1]));
///     graph.program((a, b), train::all_finite(&[a, b]).unwrap())
/// })?;
/// assert_eq!(program.run((&[1.0, 2.0], &[3.0]))?.item(), Some(true.into()));
/// assert_eq!(program.run((&[1.0, f32::NAN], &[3.0]))?.item(), Some(false.into()));
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
pub fn all_finite<'g, T: Float>(gradients: &[Traced<'g, T>]) -> Option<Traced<'g, Bool8>> {
    let finite = gradients.iter().map(|gradient| gradient.is_finite().all(..));
    finite.reduce(|a, b| a.logical_and(b))
}

impl<'g, T: Float> Stepped<'g, T> {
    /// The step where `flag`, of one element, is true; elsewhere the parameters and states as they
    /// were, to the bit. One pass over each parameter reads its gradient and writes either.
    ///
    /// ```
    /// use tenure::train::{AdamW, Optimizer, all_finite};
    /// use tenure::{Program, Tensor};
    ///
    /// let optimizer = AdamW::new();
    /// let mut w = vec![Tensor::from([1.0_f32, 2.0])];
    /// let mut states = optimizer.zeros(&w)?;
    /// let step = Program::trace(|graph| {
    ///     let gradient = graph.input::<f32>([2]);
    ///     let (w, states) = (graph.inputs(&w), graph.inputs(&states));
    ///     let finite = all_finite(&[gradient]).unwrap();
    ///     let next = optimizer.step(0.1, &w, &[gradient], &states).only_if(finite);
    ///     graph.program((gradient, next.parameters, next.states), finite)
    /// })?;
    /// let finite = step.run((&[1.0, f32::INFINITY], &mut w, &mut states))?;
    /// assert_eq!(finite.item(), Some(false.into()));
    /// assert_eq!(w[0], [1.0, 2.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[track_caller]
    pub fn only_if(self, flag: Traced<'g, Bool8>) -> Stepped<'g, T> {
        let kept = |of: Vec<Updating<'g, T>>| {
            let kept = of.into_iter().map(|updating| updating.only_if(flag));
            kept.collect()
        };
        Stepped { parameters: kept(self.parameters), states: kept(self.states) }
    }
}

/// A factor of the loss that adapts itself, so that small gradients are not 0 in f16 (Micikevicius
/// et al., 2018): it grows after some steps whose gradients are finite, and shrinks after one whose
/// gradients are not. That step is [left out](Stepped::only_if). The defaults are those of PyTorch's
/// `GradScaler`: 65536 first, twice as much after 2000 steps, half as much after one.
///
/// The state is a tensor of two numbers: the factor, and the steps since it changed.
///
/// ```
/// use tenure::prelude::*;
/// use tenure::train::{LossScale, Optimizer, Sgd, all_finite, mse};
/// use tenure::f16;
///
/// let (scaling, optimizer) = (LossScale::new().interval(10), Sgd::new());
/// let mut w = vec![Tensor::<f32>::zeros([2])?];
/// let (mut states, mut scale) = (optimizer.zeros(&w)?, scaling.first_state()?);
/// let step = Program::trace(|graph| {
///     let (x, y) = (graph.input::<f32>([3, 2]), graph.input::<f32>([3]));
///     let (w, states, scale) = (graph.inputs(&w), graph.inputs(&states), graph.input([2]));
///     let loss = graph.mixed_precision::<f16, _>(mse(x.matmul(w[0]), y), &[]);
///     let gradients = graph.gradients(scaling.scaled(loss, scale), &w);
///     let gradients = scaling.unscaled(&gradients, scale);
///     let finite = all_finite(&gradients).unwrap();
///     let next = optimizer.step(0.3, &w, &gradients, &states).only_if(finite);
///     let scale = scaling.next(scale, finite);
///     graph.program((x, y, next.parameters, next.states, scale), (loss, finite))
/// })?;
/// let (x, y) = ([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [2.0, -1.0, 1.0]);
/// let mut skipped = 0;
/// for _ in 0..100 {
///     let (_, finite) = step.run((&x, &y, &mut w, &mut states, &mut scale))?;
///     skipped += u32::from(finite.item() == Some(false.into()));
/// }
/// assert!((w[0].get([0]).unwrap() - 2.0).abs() < 0.01);
/// assert!((1..10).contains(&skipped));
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossScale {
    first: f32,
    growth: f64,
    backoff: f64,
    interval: u32,
}

impl Default for LossScale {
    fn default() -> LossScale {
        LossScale { first: 65536.0, growth: 2.0, backoff: 0.5, interval: 2000 }
    }
}

impl LossScale {
    /// Begins with 65536, doubled after 2000 steps and halved after a step that is left out.
    pub fn new() -> LossScale {
        LossScale::default()
    }
    /// The factor of the first step: finite and above 0.
    #[must_use]
    pub fn first(self, factor: f32) -> LossScale {
        LossScale { first: factor, ..self }
    }
    /// The factor is multiplied by this after [`interval`](Self::interval) steps: finite and at
    /// least 1.
    #[must_use]
    pub fn growth(self, by: f64) -> LossScale {
        LossScale { growth: by, ..self }
    }
    /// The factor is multiplied by this after a step that is left out: above 0 and at most 1.
    #[must_use]
    pub fn backoff(self, by: f64) -> LossScale {
        LossScale { backoff: by, ..self }
    }
    /// The steps in a row with finite gradients after which the factor grows: 1 to 16,777,215.
    #[must_use]
    pub fn interval(self, steps: u32) -> LossScale {
        LossScale { interval: steps, ..self }
    }

    /// The state before the first step.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a number that its method does not take. `OutOfMemory`.
    pub fn first_state(&self) -> Result<Tensor<f32>> {
        self.check()?;
        Tensor::copy_from_slice(&[self.first, 0.0], 2)
    }

    /// The loss times the factor. Gradients of it are those of the loss times the factor.
    #[track_caller]
    pub fn scaled<'g>(&self, loss: Traced<'g, f32>, state: Traced<'g, f32>) -> Traced<'g, f32> {
        loss * part(state, 0)
    }

    /// The gradients of the loss, from those of the [scaled](Self::scaled) loss.
    #[track_caller]
    pub fn unscaled<'g>(
        &self,
        gradients: &[Traced<'g, f32>],
        state: Traced<'g, f32>,
    ) -> Vec<Traced<'g, f32>> {
        let inverse = part(state, 0).reciprocal();
        gradients.iter().map(|gradient| *gradient * inverse).collect()
    }

    /// The state after a step: `finite` says whether its gradients were. The factor stays between
    /// the least normal number of f32 and the greatest finite one.
    ///
    /// Refuses numbers that the methods of this type do not take.
    #[track_caller]
    pub fn next<'g>(&self, state: Traced<'g, f32>, finite: Traced<'g, Bool8>) -> Updating<'g, f32> {
        let graph = state.graph();
        if let Err(error) = self.check() {
            graph.refuse_call("next", Location::caller(), error);
        }
        let (factor, steps) = (part(state, 0), part(state, 1) + Num(1.0));
        let grows = steps.ge(Num(f64::from(self.interval)));
        let grown = (factor * Num(self.growth)).minimum(Num(f64::from(f32::MAX)));
        let shrunk = (factor * Num(self.backoff)).maximum(Num(f64::from(f32::MIN_POSITIVE)));
        let factor = finite.select(grows.select(grown, factor), shrunk);
        let steps = finite.select(grows.select(0.0, steps), 0.0);
        let next = graph.concat([factor.reshape([1]), steps.reshape([1])], 0);
        state.updated_by(next)
    }

    fn check(&self) -> Result<()> {
        let refused = |name: &str, number: &dyn std::fmt::Display, range: &str| {
            Err(Error::invalid(format!("{name} is {number} but must be {range}")))
        };
        if !(self.first > 0.0 && self.first.is_finite()) {
            return refused("first", &self.first, "finite and above 0");
        }
        if !(self.growth >= 1.0 && self.growth.is_finite()) {
            return refused("growth", &self.growth, "finite and at least 1");
        }
        if !(self.backoff > 0.0 && self.backoff <= 1.0) {
            return refused("backoff", &self.backoff, "above 0 and at most 1");
        }
        // Steps are counted in f32.
        if !(1..1 << 24).contains(&self.interval) {
            return refused("interval", &self.interval, "1 to 16777215");
        }
        Ok(())
    }
}

/// An element of the state, of rank 0.
#[track_caller]
fn part<'g>(state: Traced<'g, f32>, at: usize) -> Traced<'g, f32> {
    state.slice(0, at, at + 1).reshape(())
}
