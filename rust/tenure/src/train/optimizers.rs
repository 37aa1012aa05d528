//! Optimisers: the next parameters and states, from parameters, gradients and states.

use std::panic::Location;

use crate::dense::Tensor;
use crate::dtype::Float;
use crate::error::{Error, Result};
use crate::operand::AsView;
use crate::program::tree::{TreeOf, leaves, updated};
use crate::program::{Graph, Num, Traced, Updating};

/// The learning rate of a step: a finite number, or a value of rank 0 that each run is given.
#[derive(Clone, Copy, Debug)]
pub enum Rate<'g, T: Float> {
    /// A number for all runs.
    Number(f64),
    /// A value for each run, such as an input that a [schedule](crate::train::schedules) computes.
    Value(Traced<'g, T>),
}

impl<T: Float> From<f64> for Rate<'_, T> {
    fn from(number: f64) -> Self {
        Rate::Number(number)
    }
}
impl<'g, T: Float> From<Traced<'g, T>> for Rate<'g, T> {
    fn from(value: Traced<'g, T>) -> Self {
        Rate::Value(value)
    }
}

impl<'g, T: Float> Rate<'g, T> {
    fn times(self, value: Traced<'g, T>) -> Traced<'g, T> {
        match self {
            Rate::Number(number) => value * Num(number),
            Rate::Value(rate) => value * rate,
        }
    }
}

/// Parameters and states after a step, as updates of the inputs that they were before it.
#[derive(Clone, Debug)]
#[must_use = "they are to stand among the inputs of the program"]
pub struct Stepped<'g, T: Float> {
    /// The parameters, in their order.
    pub parameters: Vec<Updating<'g, T>>,
    /// The states, in their order.
    pub states: Vec<Updating<'g, T>>,
}

/// A rule that makes the next parameters. An implementation has a function for one parameter; the
/// methods that this trait provides apply it to all.
pub trait Optimizer {
    /// The arrays of a parameter's shape that a step keeps for each parameter.
    const STATES: usize;
    /// Whether a step needs the number of steps so far, from 1.
    const COUNTS: bool;

    /// The next parameter and its next states, of `STATES` states. `count` is the number of this
    /// step, where the rule counts.
    fn next<'g, T: Float>(
        &self,
        rate: Rate<'g, T>,
        parameter: Traced<'g, T>,
        gradient: Traced<'g, T>,
        states: &[Traced<'g, T>],
        count: Option<Traced<'g, T>>,
    ) -> (Traced<'g, T>, Vec<Traced<'g, T>>);

    /// The numbers that the rule refuses: `InvalidArgument`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a number that is not finite, or out of the range that the rule states.
    fn check(&self) -> Result<()>;

    /// Adds inputs for the states of parameters: `STATES` for each, and the count of steps, a
    /// tensor of one element. Their shapes are those of the parameters where all extents are at
    /// their maxima.
    #[track_caller]
    fn states<'g, T: Float>(
        &self,
        graph: Graph<'g>,
        parameters: &[Traced<'g, T>],
    ) -> Vec<Traced<'g, T>> {
        let mut states = Vec::new();
        for parameter in parameters {
            for _ in 0..Self::STATES {
                states.push(graph.input(parameter.largest_shape()));
            }
        }
        if Self::COUNTS {
            states.push(graph.input([1]));
        }
        states
    }

    /// The states before the first step, of parameters that are tensors, views or slices, such as
    /// the values of a sparse matrix: zeros.
    ///
    /// # Errors
    ///
    /// `OutOfMemory`.
    fn zeros<'t, T: Float, A: AsView<T> + ?Sized + 't>(
        &self,
        parameters: impl IntoIterator<Item = &'t A>,
    ) -> Result<Vec<Tensor<T>>> {
        let mut states = Vec::new();
        for parameter in parameters {
            for _ in 0..Self::STATES {
                states.push(Tensor::zeros(parameter.as_view().shape())?);
            }
        }
        if Self::COUNTS {
            states.push(Tensor::zeros(1)?);
        }
        Ok(states)
    }

    /// The parameters and states after a step. There are as many gradients as parameters, and as
    /// many states as [`states`](Self::states) adds.
    ///
    /// Refuses a rate that is not finite, and other numbers of gradients or states.
    #[track_caller]
    fn step<'g, T: Float>(
        &self,
        rate: impl Into<Rate<'g, T>>,
        parameters: &[Traced<'g, T>],
        gradients: &[Traced<'g, T>],
        states: &[Traced<'g, T>],
    ) -> Stepped<'g, T> {
        let (rate, at) = (rate.into(), Location::caller());
        let mut stepped = Stepped { parameters: Vec::new(), states: Vec::new() };
        let expected = parameters.len() * Self::STATES + usize::from(Self::COUNTS);
        let Some(graph) = parameters.first().map(|parameter| parameter.graph()) else {
            return stepped;
        };
        let checked = self.check().and_then(|()| match rate {
            Rate::Number(rate) if !rate.is_finite() => {
                Err(Error::invalid(format!("the rate is {rate} but must be finite")))
            }
            _ if gradients.len() != parameters.len() => Err(Error::invalid(format!(
                "there are {} gradients but {} parameters",
                gradients.len(),
                parameters.len()
            ))),
            _ if states.len() != expected => Err(Error::invalid(format!(
                "there are {} states but the rule has {expected} for {} parameters",
                states.len(),
                parameters.len()
            ))),
            _ => Ok(()),
        });
        if let Err(error) = checked {
            graph.refuse_call("step", at, error);
            return stepped;
        }
        let count = Self::COUNTS.then(|| states[expected - 1] + Num(1.0));
        for (i, (parameter, gradient)) in parameters.iter().zip(gradients).enumerate() {
            let own = &states[i * Self::STATES..][..Self::STATES];
            let (next, next_states) = self.next(rate, *parameter, *gradient, own, count);
            stepped.parameters.push(parameter.updated_by(next));
            for (state, next) in own.iter().zip(next_states) {
                stepped.states.push(state.updated_by(next));
            }
        }
        if let Some(count) = count {
            stepped.states.push(states[expected - 1].updated_by(count));
        }
        stepped
    }

    /// A [`step`](Self::step) of parameters that are a [tree](crate::tree), such as a struct. The
    /// gradients are those of its [leaves](Graph::leaves). The states are a tree too: the first
    /// states of all parameters, then the second ones and so on, then the count.
    ///
    /// ```
    /// use tenure::prelude::*;
    /// use tenure::train::{AdamW, Optimizer, clip_by_global_norm};
    ///
    /// let step = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([8, 2]);
    ///     let layer = || (graph.input::<f32>([2, 2]), graph.input::<f32>([2]));
    ///     let (before, moments, count) = (layer(), [layer(), layer()], graph.input([1]));
    ///     let loss = (x.matmul(before.0) + before.1).square().mean(..);
    ///     let gradients = graph.leaves(&graph.gradients(loss, &before));
    ///     let (gradients, _) = clip_by_global_norm(&gradients, 1.0);
    ///     let states = (moments, count);
    ///     let (next, states) = AdamW::new().step_tree(1e-2, before, &gradients, states);
    ///     graph.program((x, next, states), loss)
    /// })?;
    /// assert_eq!(step.input_names().len(), 8);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[track_caller]
    fn step_tree<'g, T: Float, P: TreeOf<'g, T>, S: TreeOf<'g, T>>(
        &self,
        rate: impl Into<Rate<'g, T>>,
        parameters: P,
        gradients: &[Traced<'g, T>],
        states: S,
    ) -> (P::Updating, S::Updating) {
        let (before, before_states) = (leaves(&parameters), leaves(&states));
        let (count, most) = (before.len(), before.len() * Self::STATES);
        // Where `step` has the nth state of the tree: those of a parameter are adjacent there.
        let place = |nth: usize| match nth < most {
            true => nth % count * Self::STATES + nth / count,
            false => nth,
        };
        let mut given = before_states.clone();
        if given.len() == most + usize::from(Self::COUNTS) {
            before_states.iter().enumerate().for_each(|(nth, state)| given[place(nth)] = *state);
        }
        let next = self.step(rate, &before, gradients, &given);
        let next_states = (0..next.states.len()).map(|nth| next.states[place(nth)].value().value());
        let next_parameters = next.parameters.iter().map(|next| next.value().value());
        (updated(&parameters, next_parameters), updated(&states, next_states))
    }
}

/// Refuses a number outside of a range that has its lower end.
fn require(name: &str, number: f64, below: f64) -> Result<()> {
    if (0.0..below).contains(&number) {
        return Ok(());
    }
    let range = match below.is_finite() {
        true => format!("at least 0 and below {below}"),
        false => "finite and at least 0".to_owned(),
    };
    Err(Error::invalid(format!("{name} is {number} but must be {range}")))
}

/// `a` times `share`, plus `b` times the rest.
fn mixed<'g, T: Float>(share: f64, a: Traced<'g, T>, b: Traced<'g, T>) -> Traced<'g, T> {
    a * Num(share) + b * Num(1.0 - share)
}

/// Stochastic gradient descent, with momentum as PyTorch has it: `v = momentum v + g`, then
/// `w -= rate v`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sgd {
    momentum: f64,
    weight_decay: f64,
}

impl Sgd {
    /// Without momentum and decay.
    pub fn new() -> Sgd {
        Sgd::default()
    }
    /// From 0 to below 1.
    #[must_use]
    pub fn momentum(self, momentum: f64) -> Sgd {
        Sgd { momentum, ..self }
    }
    /// Adds this times the parameter to its gradient.
    #[must_use]
    pub fn weight_decay(self, weight_decay: f64) -> Sgd {
        Sgd { weight_decay, ..self }
    }
}

impl Optimizer for Sgd {
    const STATES: usize = 1;
    const COUNTS: bool = false;

    fn check(&self) -> Result<()> {
        require("momentum", self.momentum, 1.0)?;
        require("weight_decay", self.weight_decay, f64::INFINITY)
    }

    fn next<'g, T: Float>(
        &self,
        rate: Rate<'g, T>,
        parameter: Traced<'g, T>,
        gradient: Traced<'g, T>,
        states: &[Traced<'g, T>],
        _: Option<Traced<'g, T>>,
    ) -> (Traced<'g, T>, Vec<Traced<'g, T>>) {
        let gradient = decayed(gradient, parameter, self.weight_decay);
        let velocity = states[0] * Num(self.momentum) + gradient;
        (parameter - rate.times(velocity), vec![velocity])
    }
}

/// The gradient of a loss with half of `decay` times the squares of the parameter.
fn decayed<'g, T: Float>(
    gradient: Traced<'g, T>,
    parameter: Traced<'g, T>,
    decay: f64,
) -> Traced<'g, T> {
    if decay == 0.0 { gradient } else { gradient + parameter * Num(decay) }
}

/// Adam (Kingma and Ba, 2015): the decay is part of the gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    beta1: f64,
    beta2: f64,
    eps: f64,
    weight_decay: f64,
}

/// AdamW (Loshchilov and Hutter, 2019): the decay shrinks the parameter, apart from its gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamW(Adam);

impl Default for Adam {
    fn default() -> Adam {
        Adam { beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.0 }
    }
}
impl Default for AdamW {
    fn default() -> AdamW {
        AdamW(Adam { weight_decay: 0.01, ..Adam::default() })
    }
}

impl Adam {
    /// Betas of 0.9 and 0.999, an eps of 1e-8, no decay.
    pub fn new() -> Adam {
        Adam::default()
    }
    /// The shares that the moments keep in a step, from 0 to below 1: of the gradients, and of their
    /// squares.
    #[must_use]
    pub fn betas(self, beta1: f64, beta2: f64) -> Adam {
        Adam { beta1, beta2, ..self }
    }
    /// Added to the root of the second moment.
    #[must_use]
    pub fn eps(self, eps: f64) -> Adam {
        Adam { eps, ..self }
    }
    /// Adds this times the parameter to its gradient.
    #[must_use]
    pub fn weight_decay(self, weight_decay: f64) -> Adam {
        Adam { weight_decay, ..self }
    }

    /// The direction of a step, and the next moments.
    fn direction<'g, T: Float>(
        &self,
        gradient: Traced<'g, T>,
        states: &[Traced<'g, T>],
        count: Option<Traced<'g, T>>,
    ) -> (Traced<'g, T>, Vec<Traced<'g, T>>) {
        let first = mixed(self.beta1, states[0], gradient);
        let second = mixed(self.beta2, states[1], gradient.square());
        // By 1 - beta^count, without the loss of digits near 1.
        let corrected = |moment: Traced<'g, T>, beta: f64| {
            count.map_or(moment, |count| moment / -(count * Num(beta.ln())).expm1())
        };
        let root = corrected(second, self.beta2).sqrt() + Num(self.eps);
        (corrected(first, self.beta1) / root, vec![first, second])
    }
}

impl AdamW {
    /// Betas of 0.9 and 0.999, an eps of 1e-8, a decay of 0.01.
    pub fn new() -> AdamW {
        AdamW::default()
    }
    /// The shares of the moments: see [`Adam::betas`].
    #[must_use]
    pub fn betas(self, beta1: f64, beta2: f64) -> AdamW {
        AdamW(self.0.betas(beta1, beta2))
    }
    /// Added to the root of the second moment.
    #[must_use]
    pub fn eps(self, eps: f64) -> AdamW {
        AdamW(self.0.eps(eps))
    }
    /// Each step takes the rate times this of the parameter.
    #[must_use]
    pub fn weight_decay(self, weight_decay: f64) -> AdamW {
        AdamW(self.0.weight_decay(weight_decay))
    }
}

impl Optimizer for Adam {
    const STATES: usize = 2;
    const COUNTS: bool = true;

    fn check(&self) -> Result<()> {
        require("beta1", self.beta1, 1.0)?;
        require("beta2", self.beta2, 1.0)?;
        require("eps", self.eps, f64::INFINITY)?;
        require("weight_decay", self.weight_decay, f64::INFINITY)
    }

    fn next<'g, T: Float>(
        &self,
        rate: Rate<'g, T>,
        parameter: Traced<'g, T>,
        gradient: Traced<'g, T>,
        states: &[Traced<'g, T>],
        count: Option<Traced<'g, T>>,
    ) -> (Traced<'g, T>, Vec<Traced<'g, T>>) {
        let gradient = decayed(gradient, parameter, self.weight_decay);
        let (direction, states) = self.direction(gradient, states, count);
        (parameter - rate.times(direction), states)
    }
}

impl Optimizer for AdamW {
    const STATES: usize = 2;
    const COUNTS: bool = true;

    fn check(&self) -> Result<()> {
        self.0.check()
    }

    fn next<'g, T: Float>(
        &self,
        rate: Rate<'g, T>,
        parameter: Traced<'g, T>,
        gradient: Traced<'g, T>,
        states: &[Traced<'g, T>],
        count: Option<Traced<'g, T>>,
    ) -> (Traced<'g, T>, Vec<Traced<'g, T>>) {
        let (direction, states) = self.0.direction(gradient, states, count);
        let direction = decayed(direction, parameter, self.0.weight_decay);
        (parameter - rate.times(direction), states)
    }
}

/// Lion (Chen et al., 2023): steps of the sign of a mean of gradients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lion {
    beta1: f64,
    beta2: f64,
    weight_decay: f64,
}

impl Default for Lion {
    fn default() -> Lion {
        Lion { beta1: 0.9, beta2: 0.99, weight_decay: 0.0 }
    }
}

impl Lion {
    /// Betas of 0.9 and 0.99, no decay.
    pub fn new() -> Lion {
        Lion::default()
    }
    /// The shares of the moment in a step and in the next moment, from 0 to below 1.
    #[must_use]
    pub fn betas(self, beta1: f64, beta2: f64) -> Lion {
        Lion { beta1, beta2, ..self }
    }
    /// Each step takes the rate times this of the parameter.
    #[must_use]
    pub fn weight_decay(self, weight_decay: f64) -> Lion {
        Lion { weight_decay, ..self }
    }
}

impl Optimizer for Lion {
    const STATES: usize = 1;
    const COUNTS: bool = false;

    fn check(&self) -> Result<()> {
        require("beta1", self.beta1, 1.0)?;
        require("beta2", self.beta2, 1.0)?;
        require("weight_decay", self.weight_decay, f64::INFINITY)
    }

    fn next<'g, T: Float>(
        &self,
        rate: Rate<'g, T>,
        parameter: Traced<'g, T>,
        gradient: Traced<'g, T>,
        states: &[Traced<'g, T>],
        _: Option<Traced<'g, T>>,
    ) -> (Traced<'g, T>, Vec<Traced<'g, T>>) {
        let direction = mixed(self.beta1, states[0], gradient).sign();
        let direction = decayed(direction, parameter, self.weight_decay);
        let moment = mixed(self.beta2, states[0], gradient);
        (parameter - rate.times(direction), vec![moment])
    }
}

/// The root of the sum of the squares of all elements of all gradients; `None` for none.
#[track_caller]
pub fn global_norm<'g, T: Float>(gradients: &[Traced<'g, T>]) -> Option<Traced<'g, T>> {
    let squares = gradients.iter().map(|gradient| gradient.square().sum(..));
    squares.reduce(|a, b| a + b).map(|sum| sum.sqrt())
}

/// The gradients, scaled down together so that their [norm](global_norm) is at most `most`, and
/// that norm before.
#[track_caller]
pub fn clip_by_global_norm<'g, T: Float>(
    gradients: &[Traced<'g, T>],
    most: f64,
) -> (Vec<Traced<'g, T>>, Option<Traced<'g, T>>) {
    let Some(norm) = global_norm(gradients) else { return (Vec::new(), None) };
    // As PyTorch: gradients of 0 stay so.
    let scale = (norm + Num(1e-6)).reciprocal() * Num(most);
    let scale = scale.minimum(Num(1.0));
    (gradients.iter().map(|gradient| *gradient * scale).collect(), Some(norm))
}
