//! The result of a comparison of gradients.

use std::fmt;

use super::differences::Outcome;
use crate::dtype::DType;

/// Gradients of a function compared with central differences. `Display` writes a table.
///
/// ```
/// use tenure::{Tensor, train};
///
/// let (x, w) = (Tensor::from([[1.0, -2.0]]), Tensor::from([[0.5], [0.25]]));
/// let report = train::check_gradients(&(x, w), |_, (x, w)| x.matmul(w).relu().sum(..))?;
/// assert_eq!(report.inputs.len(), 2);
/// assert_eq!(report.inputs[1].name, "1");
/// println!("{report}");
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GradientReport {
    /// The floats among the inputs, in their order.
    pub inputs: Vec<InputGradient>,
    /// The first operation whose own derivative is wrong; `None`: there is none, or all gradients
    /// agree.
    pub wrong_node: Option<WrongNode>,
}

/// The gradient by one input.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InputGradient {
    /// The name of the input: see [`Program::input_names`](crate::Program::input_names).
    pub name: String,
    /// Element type of the input.
    pub dtype: DType,
    /// Shape of the input.
    pub shape: Vec<usize>,
    /// The verdict on all that was compared.
    pub verdict: Verdict,
    /// Elements or directions that were compared.
    pub compared: usize,
    /// Elements or directions without a derivative, which the figures below leave out.
    pub kinks: usize,
    /// The largest difference between the gradient and the central difference.
    pub absolute_error: f64,
    /// The largest quotient of that and the larger one of both.
    pub relative_error: f64,
    /// The element or direction of the largest difference, among those that differ if some do.
    pub worst: Option<Compared>,
}

/// One element of a gradient, or its product with a random direction.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Compared {
    /// Index of the element; `None`: a direction.
    pub index: Option<Vec<usize>>,
    /// The gradient.
    pub gradient: f64,
    /// The central difference.
    pub difference: f64,
}

/// The verdict on the gradient by an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// The gradient and central differences agree.
    Agrees,
    /// They agree except at points without a derivative.
    AgreesExceptKinks,
    /// They differ.
    Differs,
}

/// An operation whose own derivative differs from central differences.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WrongNode {
    /// The operation and its place in the source.
    pub name: String,
    /// The operand by which the derivative is wrong, counted from 0.
    pub operand: usize,
    /// The derivative along a random direction, for random numbers as gradient of the result.
    pub gradient: f64,
    /// The central difference along it.
    pub difference: f64,
}

impl GradientReport {
    /// Whether all gradients agree, except at points without a derivative.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.inputs.iter().all(|input| input.verdict != Verdict::Differs)
    }
}

impl InputGradient {
    pub(super) fn new(name: String, dtype: DType, shape: Vec<usize>) -> Self {
        InputGradient {
            name,
            dtype,
            shape,
            verdict: Verdict::Agrees,
            compared: 0,
            kinks: 0,
            absolute_error: 0.0,
            relative_error: 0.0,
            worst: None,
        }
    }

    /// Adds a comparison.
    pub(super) fn note(
        &mut self,
        element: Option<usize>,
        outcome: Outcome,
        gradient: f64,
        difference: f64,
    ) {
        self.compared += 1;
        if outcome == Outcome::Kink {
            self.kinks += 1;
            if self.verdict == Verdict::Agrees {
                self.verdict = Verdict::AgreesExceptKinks;
            }
            return;
        }
        let error = (gradient - difference).abs();
        let scale = gradient.abs().max(difference.abs());
        let is_first_wrong = outcome == Outcome::Differs && self.verdict != Verdict::Differs;
        let may_be_worst = outcome == Outcome::Differs || self.verdict != Verdict::Differs;
        // A NaN is larger than any error.
        let is_larger = error.total_cmp(&self.absolute_error).is_gt();
        if is_first_wrong || (may_be_worst && (is_larger || self.worst.is_none())) {
            let index = element.map(|at| index_of(at, &self.shape));
            self.worst = Some(Compared { index, gradient, difference });
        }
        if is_larger {
            self.absolute_error = error;
        }
        let relative = if scale == 0.0 { 0.0 } else { error / scale };
        if relative.total_cmp(&self.relative_error).is_gt() {
            self.relative_error = relative;
        }
        if outcome == Outcome::Differs {
            self.verdict = Verdict::Differs;
        }
    }
}

/// The index of an element, by its number in row-major order.
pub(super) fn index_of(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|extent| {
            let along = at % extent;
            at /= extent;
            along
        })
        .collect();
    index.reverse();
    index
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Agrees => "agrees",
            Verdict::AgreesExceptKinks => "agrees except kinks",
            Verdict::Differs => "differs",
        })
    }
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.index {
            Some(index) => write!(f, "{index:?}")?,
            None => f.write_str("a direction")?,
        }
        write!(f, ": {:.9e}, by differences {:.9e}", self.gradient, self.difference)
    }
}

impl fmt::Display for WrongNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WrongNode { name, operand, gradient, difference } = self;
        write!(
            f,
            "{name}: the derivative by operand {operand} is {gradient:.9e} along a direction"
        )?;
        write!(f, ", by differences {difference:.9e}")
    }
}

impl fmt::Display for GradientReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let type_of = |it: &InputGradient| format!("{}{:?}", it.dtype, it.shape);
        let name_width = self.inputs.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
        let type_width = self.inputs.iter().map(|it| type_of(it).len()).max().unwrap_or(0);
        let (name_width, type_width) = (name_width.max(5), type_width.max(4));
        write!(f, "{:name_width$}  {:type_width$}  {:19}", "input", "type", "verdict")?;
        writeln!(f, "  compared  kinks  abs error  rel error  worst")?;
        for it in &self.inputs {
            write!(f, "{:name_width$}  {:type_width$}  {:19}", it.name, type_of(it), it.verdict)?;
            write!(f, "  {:8}  {:5}", it.compared, it.kinks)?;
            write!(f, "  {:9.2e}  {:9.2e}", it.absolute_error, it.relative_error)?;
            match &it.worst {
                Some(worst) => writeln!(f, "  {worst}")?,
                None => writeln!(f)?,
            }
        }
        match &self.wrong_node {
            Some(node) => writeln!(f, "{node}"),
            None if self.agrees() => Ok(()),
            None => writeln!(f, "each operation's own derivative agrees"),
        }
    }
}
