//! The damage of quantization, measured in runs on examples.

use super::calibration::Node;
use super::report::{Damage, NodeDamage, Report};
use crate::error::{Error, Result};
use crate::operand::AsView;

/// Numbers that a program gives for each node: [`Figures`].
pub(crate) const FIGURES: usize = 6;

/// The damage of quantization, node by node: what each node costs in accuracy by itself.
///
/// 1. A program gives what [`Graph::compare_quantized`](crate::Graph::compare_quantized) adds to a
///    network: it computes the network in `f32`, with all nodes quantized, and with each node
///    quantized while the others are not.
/// 2. It runs on examples, and [`add`](Self::add) takes its outputs.
/// 3. [`report`](Self::report) lists the nodes, the worst first.
///    [`Graph::worst_quantized`](crate::Graph::worst_quantized) finds the values that keep them in
///    `f32`.
#[derive(Clone, Debug, Default, PartialEq)]
#[doc(alias("numeric suite", "sensitivity analysis"))]
pub struct Comparison {
    nodes: Vec<Compared>,
    /// Figures of the network's outputs, with all nodes quantized.
    output: Figures,
    batches: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct Compared {
    node: Node,
    /// Figures of its result.
    figures: Figures,
    /// The sum of squared differences of the network's outputs.
    output_noise: f64,
}

/// Sums over elements, of numbers `f` in f32 and `q` of the quantized network.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Figures {
    /// `f * f`
    signal: f64,
    /// `q * q`
    power: f64,
    /// `f * q`
    product: f64,
    /// `(q - f) * (q - f)`
    noise: f64,
    /// The largest `|q - f|`.
    largest: f64,
}

impl Figures {
    fn add(&mut self, [signal, power, product, noise, largest]: [f64; 5]) {
        self.signal += signal;
        self.power += power;
        self.product += product;
        self.noise += noise;
        self.largest = self.largest.max(largest);
    }

    fn damage(&self) -> Damage {
        let norms = (self.signal * self.power).sqrt();
        Damage {
            snr_db: match self.noise == 0.0 {
                true => f64::INFINITY,
                false => 10.0 * (self.signal / self.noise).log10(),
            },
            cosine: match norms == 0.0 {
                // Both are zeros, or one of them.
                true => f64::from(u8::from(self.noise == 0.0)),
                false => self.product / norms,
            },
            largest_error: self.largest,
        }
    }
}

impl Comparison {
    /// One without nodes, which [`Graph::compare_quantized`](crate::Graph::compare_quantized) adds.
    pub fn new() -> Comparison {
        Comparison::default()
    }

    /// Takes the nodes of a graph.
    pub(crate) fn begin(&mut self, nodes: Vec<Node>) -> Result<()> {
        let known = || self.nodes.iter().map(|it| &it.node);
        if self.nodes.is_empty() {
            let compared = |node| Compared { node, figures: Figures::default(), output_noise: 0.0 };
            self.nodes = nodes.into_iter().map(compared).collect();
        } else if !known().eq(&nodes) {
            return Err(Error::invalid("the comparison has nodes of another network"));
        }
        Ok(())
    }

    /// Adds a batch: the outputs of a program that
    /// [`Graph::compare_quantized`](crate::Graph::compare_quantized) gave, in their order. A batch
    /// may have any number of examples.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: outputs of another program, and a result of a node that has a NaN or an
    /// infinity. The message names the node.
    pub fn add(&mut self, outputs: &[impl AsView<f64>]) -> Result<()> {
        let expected = self.nodes.len() + 1;
        let figures: Vec<[f64; FIGURES]> =
            outputs.iter().filter_map(|output| output.as_view().to_vec().try_into().ok()).collect();
        if self.nodes.is_empty() || outputs.len() != expected || figures.len() != expected {
            return Err(Error::invalid(format!(
                "the batch must have {expected} outputs of {FIGURES} numbers, as a program gives of \
                 Graph::compare_quantized"
            )));
        }
        for (nth, figures) in figures.iter().enumerate() {
            if !figures.iter().all(|figure| figure.is_finite()) {
                let of = match self.nodes.get(nth) {
                    Some(Compared { node, .. }) => {
                        format!("the result of node {}, {},", node.number, node.name)
                    }
                    None => "the output of the network".to_owned(),
                };
                return Err(Error::invalid(format!("{of} has a NaN or an infinity")));
            }
        }
        for (compared, figures) in self.nodes.iter_mut().zip(&figures) {
            let [local @ .., output_noise] = *figures;
            compared.figures.add(local);
            compared.output_noise += output_noise;
        }
        let [of_all @ .., _] = figures[expected - 1];
        self.output.add(of_all);
        self.batches += 1;
        Ok(())
    }

    /// The nodes, the worst first.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: no batch was added.
    pub fn report(&self) -> Result<Report> {
        if self.batches == 0 {
            return Err(Error::invalid("the comparison has seen no batch"));
        }
        let all: f64 = self.nodes.iter().map(|it| it.output_noise).sum();
        let of_node = |it: &Compared| NodeDamage {
            node: it.node.number as usize,
            name: it.node.name.clone(),
            damage: it.figures.damage(),
            share: if all == 0.0 { 0.0 } else { it.output_noise / all },
            float_nanoseconds: None,
            integer_nanoseconds: None,
        };
        let mut nodes: Vec<NodeDamage> = self.nodes.iter().map(of_node).collect();
        nodes.sort_by(|a, b| b.share.total_cmp(&a.share));
        Ok(Report {
            nodes,
            output: self.output.damage(),
            batches: self.batches,
            float_nanoseconds: None,
            integer_nanoseconds: None,
        })
    }
}
