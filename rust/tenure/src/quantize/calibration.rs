//! Ranges of values of a graph, found in runs on examples.

use super::histogram::Histogram;
use crate::error::{Error, Result};
use crate::operand::AsView;
use crate::ops;

/// How the range of a value follows from its batches.
///
/// | | range | in PyTorch |
/// | --- | --- | --- |
/// | `MinMax` | from the least to the greatest element | `MinMaxObserver` |
/// | `MovingAverage` | its ends move towards those of each batch | `MovingAverageMinMaxObserver` |
/// | `Percentile` | without the farthest elements | |
/// | `Mse` | with the least squared error of rounding | `HistogramObserver` |
///
/// Elements beyond the range become its ends. `MinMax` leaves out none, and so has the largest steps.
/// `Percentile` and `Mse` keep a histogram of 2,048 bins for each value. Its bins double their width
/// as the range grows, so that it does not depend on the order of the batches.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Observer {
    /// The least and the greatest element.
    MinMax,
    /// With this momentum: an end becomes `end + momentum * (end of the batch - end)`. Above 0 and at
    /// most 1; 0.01 is usual.
    MovingAverage(f32),
    /// The share of elements within the range: as many are below it as above. Above 0 and at most 1;
    /// 0.9999 is usual.
    Percentile(f32),
    /// The least sum of squared errors when elements are rounded to `u8`. Both ends are a whole number
    /// of 256 parts of those of `MinMax`.
    Mse,
}

impl Observer {
    fn require_sound(self) -> Result<()> {
        let (name, given) = match self {
            Observer::MovingAverage(momentum) => ("momentum", momentum),
            Observer::Percentile(share) => ("share", share),
            Observer::MinMax | Observer::Mse => return Ok(()),
        };
        match given > 0.0 && given <= 1.0 {
            true => Ok(()),
            false => {
                Err(Error::invalid(format!("{name} is {given} but must be above 0 and at most 1")))
            }
        }
    }

    /// Whether the elements themselves are needed, and not only the ends of their range.
    pub(crate) fn reads_elements(self) -> bool {
        matches!(self, Observer::Percentile(_) | Observer::Mse)
    }
}

/// A node whose left operand is calibrated.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(crate) struct Node {
    /// Its number in messages and reports.
    pub(crate) number: u32,
    pub(crate) kind: String,
    /// The operation and its place in the source.
    pub(crate) name: String,
}

/// Ranges of the values that [static quantization](crate::Graph::quantize_static) rounds to
/// integers: the left operands of products and convolutions by constants.
///
/// 1. A program gives what [`Graph::observe`](crate::Graph::observe) finds in a network.
/// 2. It runs on examples, and [`add`](Self::add) takes its outputs.
/// 3. [`Graph::quantize_static`](crate::Graph::quantize_static) quantizes the same network by the
///    ranges.
///
/// With the feature `serde`, a calibration can be kept in a file.
///
/// ```
/// use tenure::quantize::{Calibration, Observer};
/// use tenure::{Program, SharedTensor, Tensor, Traced, ops, random::Generator};
///
/// fn network<'g>(x: Traced<'g, f32>, weights: &[SharedTensor<f32>; 2]) -> Traced<'g, f32> {
///     let [first, second] = weights.each_ref().map(|weight| x.graph().constant(weight));
///     x.matmul(first).relu().matmul(second)
/// }
///
/// let mut generator = Generator::new(1);
/// let mut weight = || generator.normal(0.0, 0.1, [64, 64]).map(Tensor::into_shared);
/// let weights = [weight()?, weight()?];
/// let examples: Tensor<f32> = Generator::new(2).normal(0.0, 1.0, [100, 64])?;
///
/// let mut calibration = Calibration::new(Observer::MinMax)?;
/// let observed = Program::trace(|graph| {
///     let x = graph.input::<f32>((graph.extent("rows", 100), 64));
///     graph.program((x,), graph.observe(network(x, &weights), &mut calibration))
/// })?;
/// for first in (0..100).step_by(20) {
///     calibration.add(&observed.run((examples.slice(0, first..first + 20)?,))?)?;
/// }
///
/// let [exact, fast] = [false, true].map(|is_quantized| {
///     Program::trace(|graph| {
///         let x = graph.input::<f32>((graph.extent("rows", 100), 64));
///         let y = network(x, &weights);
///         let y = if is_quantized { graph.quantize_static(y, &calibration, &[]) } else { y };
///         graph.program((x,), y)
///     })
/// });
/// let difference = ops::sub(&exact?.run((&examples,))?, &fast?.run((&examples,))?)?;
/// assert!(difference.to_vec().iter().all(|x| x.abs() < 0.1));
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[doc(alias("MinMaxObserver", "HistogramObserver", "prepare"))]
pub struct Calibration {
    observer: Observer,
    batches: u64,
    values: Vec<Observed>,
}

/// A value, as the left operand of the first node that reads it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
struct Observed {
    node: Node,
    /// The ends, once there is an element.
    range: Option<[f32; 2]>,
    histogram: Option<Histogram>,
}

/// The range of a value, of a [`Calibration`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ValueRange {
    /// The number of the first node that has the value as its left operand.
    pub node: usize,
    /// The operation of that node, and its place in the source.
    pub name: String,
    /// The number that becomes 0, or less.
    pub low: f32,
    /// The number that becomes 255, or more.
    pub high: f32,
}

impl Calibration {
    /// One without values, which [`Graph::observe`](crate::Graph::observe) adds.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a momentum or a share that is not above 0 and at most 1.
    pub fn new(observer: Observer) -> Result<Calibration> {
        observer.require_sound()?;
        Ok(Calibration { observer, batches: 0, values: Vec::new() })
    }

    /// How ranges follow from batches.
    pub fn observer(&self) -> Observer {
        self.observer
    }

    /// Batches that were added.
    pub fn batches(&self) -> u64 {
        self.batches
    }

    /// Takes the values of a graph, of another trace of the same network perhaps.
    pub(crate) fn begin(&mut self, nodes: Vec<Node>) -> Result<()> {
        if self.values.is_empty() {
            let observed = |node| Observed { node, range: None, histogram: None };
            self.values = nodes.into_iter().map(observed).collect();
            return Ok(());
        }
        self.require_same(&nodes)
    }

    fn require_same(&self, nodes: &[Node]) -> Result<()> {
        if self.values.len() != nodes.len() {
            let (known, given) = (self.values.len(), nodes.len());
            let why = format!("the calibration has {known} values but the graph has {given}");
            return Err(Error::invalid(why));
        }
        for (nth, (Observed { node: known, .. }, node)) in self.values.iter().zip(nodes).enumerate()
        {
            if (known.number, &known.kind) != (node.number, &node.kind) {
                return Err(Error::invalid(format!(
                    "value {nth} of the calibration is the left operand of node {}, {}, but that of \
                     the graph is the left operand of node {}, {}",
                    known.number, known.kind, node.number, node.name
                )));
            }
        }
        Ok(())
    }

    /// Adds a batch: the outputs of a program that [`Graph::observe`](crate::Graph::observe) gave, in
    /// their order. A batch may have any number of examples.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another number of outputs than of values, and a NaN or an infinity. The
    /// message names the value. `OutOfMemory`.
    pub fn add(&mut self, outputs: &[impl AsView<f32>]) -> Result<()> {
        if self.values.is_empty() {
            let why = "the calibration has no values: Graph::observe adds those of a network";
            return Err(Error::invalid(why));
        }
        if outputs.len() != self.values.len() {
            let (given, known) = (outputs.len(), self.values.len());
            let why =
                format!("the batch has {given} outputs but the calibration has {known} values");
            return Err(Error::invalid(why));
        }
        let ranges: Vec<_> = self
            .values
            .iter()
            .zip(outputs)
            .map(|(it, of)| it.node.range_of(of))
            .collect::<Result<_>>()?;
        for ((value, output), range) in self.values.iter_mut().zip(outputs).zip(ranges) {
            let Some(range) = range else { continue };
            let whole = value.range.map_or(range, |before| match self.observer {
                Observer::MovingAverage(momentum) => {
                    let [low, high] = [0, 1].map(|end| moved(before[end], range[end], momentum));
                    [low, high]
                }
                _ => [before[0].min(range[0]), before[1].max(range[1])],
            });
            value.range = Some(whole);
            if self.observer.reads_elements() {
                let histogram = value.histogram.get_or_insert_with(|| Histogram::new(whole));
                histogram.add(output.as_view(), whole)?;
            }
        }
        self.batches = self.batches.saturating_add(1);
        Ok(())
    }

    /// The range of each value, in the order of the graph.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no batch was added, or none with elements of a value.
    pub fn ranges(&self) -> Result<Vec<ValueRange>> {
        if self.batches == 0 {
            return Err(Error::invalid("the calibration has seen no batch"));
        }
        let range = |Observed { node, range, histogram }: &Observed| {
            let Some(range) = *range else {
                let why = format!("the calibration has seen no element of {}", node.operand());
                return Err(Error::invalid(why));
            };
            let [low, high] = match (self.observer, histogram) {
                (Observer::Percentile(share), Some(of)) => of.inner(share.into(), range),
                (Observer::Mse, Some(of)) => of.least_error(range),
                _ => range,
            };
            Ok(ValueRange { node: node.number as usize, name: node.name.clone(), low, high })
        };
        self.values.iter().map(range).collect()
    }

    /// The ranges for a graph with these nodes.
    pub(crate) fn ranges_of(&self, nodes: &[Node]) -> Result<Vec<[f32; 2]>> {
        let ranges = self.ranges()?;
        self.require_same(nodes)?;
        Ok(ranges.iter().map(|range| [range.low, range.high]).collect())
    }

    /// Checks what a file says.
    #[cfg(feature = "serde")]
    fn require_sound(&self) -> Result<()> {
        self.observer.require_sound()?;
        for Observed { node, range, histogram } in &self.values {
            let is_sound = match (range, histogram) {
                (None, None) => true,
                (Some([low, high]), histogram) => {
                    low.is_finite()
                        && high.is_finite()
                        && low <= high
                        && self.batches > 0
                        && histogram.is_some() == self.observer.reads_elements()
                        && histogram.as_ref().is_none_or(|it| it.is_of([*low, *high]))
                }
                (None, Some(_)) => false,
            };
            if !is_sound {
                let why =
                    format!("no batches give the range and the histogram of {}", node.operand());
                return Err(Error::invalid(why));
            }
        }
        Ok(())
    }
}

/// In f64: the difference of two `f32` may be none.
fn moved(end: f32, to: f32, momentum: f32) -> f32 {
    let (end, to) = (f64::from(end), f64::from(to));
    (end + f64::from(momentum) * (to - end)) as f32
}

impl Node {
    fn operand(&self) -> String {
        format!("the left operand of node {}, {}", self.number, self.name)
    }

    /// `None`: there are no elements.
    fn range_of(&self, values: &impl AsView<f32>) -> Result<Option<[f32; 2]>> {
        let view = values.as_view();
        if view.is_empty() {
            return Ok(None);
        }
        let range = [ops::min_all(view)?, ops::max_all(view)?];
        match range.iter().find(|end| !end.is_finite()) {
            Some(end) => {
                let why =
                    format!("{} has {end} but all its elements must be finite", self.operand());
                Err(Error::invalid(why))
            }
            None => Ok(Some(range)),
        }
    }
}

/// Refuses ranges and histograms that no batches have.
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Calibration {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(rename = "Calibration", deny_unknown_fields)]
        struct Fields {
            observer: Observer,
            batches: u64,
            values: Vec<Observed>,
        }

        let Fields { observer, batches, values } = Fields::deserialize(deserializer)?;
        let calibration = Calibration { observer, batches, values };
        calibration.require_sound().map_err(serde::de::Error::custom)?;
        Ok(calibration)
    }
}
