//! Gradients compared with central differences.

mod differences;
mod report;

pub use report::{Compared, GradientReport, InputGradient, Verdict, WrongNode};

use differences::{Direction, Function, Outcome};

use std::collections::HashMap;

use crate::dense::DynTensor;
use crate::dtype::{DType, Float};
use crate::error::{Error, ErrorKind, Result};
use crate::program::probe::{Alone, Probe};
use crate::program::tree::{InputTypes, Like, RunInputs, Tree};
use crate::program::{Graph, Traced};
use crate::split_mix::Random;

/// Compares the gradients of a traced function with central differences, at these inputs:
/// [`GradientCheck`] with its defaults.
///
/// `inputs` is a [tree](crate::tree) of tensors or views. `f` is given inputs like them in a graph
/// and gives a value of any shape: of several elements, the sum of their products with random
/// numbers is compared. Floats among the inputs are differentiated. It takes two runs for each
/// element of these, and six for an element that does not agree at once.
///
/// Both the gradients and the differences are computed in the element types of the function, and
/// rounding of its result hides errors that are as small. Check a function on `f64`, where gradients
/// agree in five digits or more: in `f32` two or three do, and one in `f16` and `bf16`.
///
/// Where a gradient differs, the report names the first operation whose own derivative is wrong,
/// which each operation between the inputs and the result is computed by itself for. Points without
/// a derivative, such as that of `relu` at 0, are counted and are no error: the gradient is then one
/// of the slopes on both sides or a number between them.
///
/// # Errors
///
/// The errors of tracing and of runs. `InvalidArgument`: no float among the inputs, a result that
/// is not finite there. `Unsupported`: complex numbers among the inputs.
///
/// ```
/// use tenure::{CustomOperation, Tensor, train};
///
/// let square = CustomOperation::new::<(f64,), f64>(
///     "square",
///     |[x]| Ok(x.to_vec()),
///     |(x,), mut out| Ok(out.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = x * x)),
/// )?;
/// let right = square.clone().derive::<(f64,), f64>(|_, (x,), _, g| Ok((Some(x * 2.0 * g),)));
/// let wrong = square.derive::<(f64,), f64>(|_, (x,), _, g| Ok((Some(x * g),)));
///
/// let x = Tensor::from([0.5, -1.5, 2.0]);
/// let report = train::check_gradients(&x, |graph, x| graph.custom::<f64>(&right, x.sin()))?;
/// assert!(report.agrees(), "{report}");
///
/// let report = train::check_gradients(&x, |graph, x| graph.custom::<f64>(&wrong, x.sin()))?;
/// let node = report.wrong_node.as_ref().unwrap();
/// assert!(node.name.starts_with("the custom operation square, custom at "), "{report}");
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("gradcheck", "finite_differences", "numerical_gradient"))]
pub fn check_gradients<L, I, T>(
    inputs: &L,
    f: impl for<'g> Fn(Graph<'g>, <L as Like<'g>>::Values) -> Traced<'g, T>,
) -> Result<GradientReport>
where
    I: InputTypes,
    L: for<'g> Like<'g, Values: Tree<'g, Types = I>>,
    for<'a> &'a L: RunInputs<I>,
    T: Float,
{
    GradientCheck::new().run(inputs, f)
}

/// Options of a comparison of gradients with central differences, which [`run`](Self::run) makes.
///
/// ```
/// use tenure::{Tensor, train::GradientCheck};
///
/// let weights = Tensor::<f64>::full([200, 300], 0.01)?;
/// let check = GradientCheck::new().directions(4).tolerance(1e-4);
/// let report = check.run(&weights, |_, w| w.tanh().square().mean(..))?;
/// assert!(report.agrees(), "{report}");
/// assert_eq!(report.inputs[0].compared, 4);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct GradientCheck {
    directions: Option<usize>,
    tolerance: Option<f64>,
    seed: u64,
}

/// Random directions in which the operations of a path are compared.
const DIRECTIONS_OF_NODES: usize = 4;

impl GradientCheck {
    /// A comparison element by element.
    #[must_use]
    pub fn new() -> Self {
        GradientCheck::default()
    }

    /// Compares the derivative along `count` random directions of each input, which takes two runs
    /// for each direction, in place of every element. An error in a few elements shows in all
    /// directions, in proportion to them.
    #[must_use]
    pub fn directions(self, count: usize) -> Self {
        GradientCheck { directions: Some(count), ..self }
    }

    /// The relative error that is still right, in place of the cube root of the distance from 1 to
    /// the next number of the element type: 6e-6 in `f64`, 5e-3 in `f32`.
    #[must_use]
    pub fn tolerance(self, tolerance: f64) -> Self {
        GradientCheck { tolerance: Some(tolerance), ..self }
    }

    /// The seed of random directions, and of the products with a result of several elements.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        GradientCheck { seed, ..self }
    }

    /// Compares like [`check_gradients`]. `f` is called four times at most and has to add the same
    /// operations each time.
    ///
    /// # Errors
    ///
    /// The errors of [`check_gradients`]. `InvalidArgument` also for no direction, and a tolerance
    /// that is negative or not finite.
    pub fn run<L, I, T>(
        &self,
        inputs: &L,
        f: impl for<'g> Fn(Graph<'g>, <L as Like<'g>>::Values) -> Traced<'g, T>,
    ) -> Result<GradientReport>
    where
        I: InputTypes,
        L: for<'g> Like<'g, Values: Tree<'g, Types = I>>,
        for<'a> &'a L: RunInputs<I>,
        T: Float,
    {
        self.require_sound()?;
        let mut copying = Probe::trace(inputs, &f, None)?;
        let copies = copying.compute_inputs()?.run_tree::<I>(&mut { inputs })?;
        for (name, copy) in copying.names().iter().zip(&copies) {
            if matches!(copy.dtype(), DType::C64 | DType::C128) {
                let why = format!("input {name} is complex, whose gradients are not compared");
                return Err(Error::new(ErrorKind::Unsupported, why));
            }
        }
        let mut random = Random::new(self.seed);
        let forward = Probe::trace(inputs, &f, None)?.compute_result()?;
        let function = Function::new(forward, copies.iter().collect(), &mut random)?;
        function.require_finite()?;
        if function.floats().is_empty() {
            return Err(Error::invalid("no input is a float: there is no gradient to compare"));
        }
        let seed = function.seed()?.downcast::<T>()?;
        let backward = Probe::trace(inputs, &f, Some(&seed))?.compute_gradients()?;
        let gradients = backward.run(&copies.iter().collect::<Vec<_>>())?;
        let mut report = GradientReport::default();
        for (nth, gradient) in function.floats().into_iter().zip(&gradients) {
            let name = copying.names()[nth].clone();
            report.inputs.push(self.input(name, &function, nth, gradient, &mut random)?);
        }
        if !report.agrees() {
            let path = Probe::trace(inputs, &f, None)?;
            report.wrong_node = self.wrong_node(path, &copies, &mut random)?;
        }
        Ok(report)
    }

    fn require_sound(&self) -> Result<()> {
        if self.directions == Some(0) {
            return Err(Error::invalid("directions is 0 but must be at least 1"));
        }
        match self.tolerance {
            Some(tolerance) if !(tolerance >= 0.0 && tolerance.is_finite()) => {
                let why = format!("tolerance is {tolerance} but must be finite and not negative");
                Err(Error::invalid(why))
            }
            _ => Ok(()),
        }
    }

    fn tolerance_of(&self, function: &Function<'_>) -> f64 {
        self.tolerance.unwrap_or_else(|| function.epsilon().cbrt())
    }

    fn input(
        &self,
        name: String,
        function: &Function<'_>,
        nth: usize,
        gradient: &DynTensor,
        random: &mut Random,
    ) -> Result<InputGradient> {
        let (tolerance, input) = (self.tolerance_of(function), function.input(nth));
        let gradient = gradient.cast_to::<f64>()?.to_vec();
        let mut of = InputGradient::new(name, input.dtype(), input.shape().to_vec());
        let count = self.directions.unwrap_or(gradient.len());
        for at in 0..if gradient.is_empty() { 0 } else { count } {
            let direction = match self.directions {
                None => Direction::Element(at),
                Some(_) => Direction::random(gradient.len(), random),
            };
            let (outcome, estimate) = function.compare(nth, &direction, &gradient, tolerance)?;
            of.note(direction.element(), outcome, estimate.gradient, estimate.difference);
        }
        Ok(of)
    }

    /// The first node on the path whose own derivative is wrong.
    fn wrong_node(
        &self,
        mut probe: Probe,
        inputs: &[DynTensor],
        random: &mut Random,
    ) -> Result<Option<WrongNode>> {
        let (path, read) = probe.path()?;
        let values = probe.compute(&read)?.run(&inputs.iter().collect::<Vec<_>>())?;
        let values: HashMap<u32, &DynTensor> = read.into_iter().zip(&values).collect();
        for node in path {
            for alone in probe.alone(node, &values)? {
                if let Some(wrong) = self.wrong_operand(alone, random)? {
                    return Ok(Some(wrong));
                }
            }
        }
        Ok(None)
    }

    /// The first operand by which the derivative of a node is wrong.
    fn wrong_operand(&self, alone: Alone<'_>, random: &mut Random) -> Result<Option<WrongNode>> {
        let function = Function::new(alone.forward, alone.operands.clone(), random)?;
        let seed = function.seed()?;
        let operands: Vec<&DynTensor> = alone.operands.into_iter().chain([&seed]).collect();
        let gradients = alone.backward.run(&operands)?;
        let floats = function.floats();
        // The result is an output of the program too: gradients are the last ones.
        let gradients = &gradients[gradients.len() - floats.len()..];
        let tolerance = self.tolerance_of(&function);
        for (nth, gradient) in floats.into_iter().zip(gradients) {
            let gradient = gradient.cast_to::<f64>()?.to_vec();
            for _ in 0..if gradient.is_empty() { 0 } else { DIRECTIONS_OF_NODES } {
                let direction = Direction::random(gradient.len(), random);
                let (outcome, estimate) =
                    function.compare(nth, &direction, &gradient, tolerance)?;
                if outcome != Outcome::Differs {
                    continue;
                }
                return Ok(Some(WrongNode {
                    name: alone.name,
                    operand: alone.places[nth],
                    gradient: estimate.gradient,
                    difference: estimate.difference,
                }));
            }
        }
        Ok(None)
    }
}
