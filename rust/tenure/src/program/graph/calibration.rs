//! Static quantization: the values to calibrate, the quantized network, and its damage.

use std::panic::Location;

use tenure_sys::{tnr_quantizable, tnr_value_range};

use super::Graph;
use super::gradients::Like;
use super::quantization::{kind_of, numbers};
use crate::error::{Error, Result};
use crate::program::Traced;
use crate::program::state::{CallSite, Value};
use crate::program::tree::{Outputs, TreeOf, walked};
use crate::quantize::{Calibration, Comparison, FIGURES, Node, Report};

/// Calibration, and the damage of quantization.
impl<'g> Graph<'g> {
    /// The values that a calibration of the [tree](crate::tree) `of` observes, in the order of the
    /// graph. Make them the outputs of a program, and give those to [`Calibration::add`]. For `Mse`
    /// and `Percentile` they are left operands; for other observers the least and the greatest
    /// element of each.
    ///
    /// Refusals: `InvalidArgument` where there is nothing to quantize, and for a calibration of
    /// another network.
    #[track_caller]
    #[doc(alias("prepare", "observer"))]
    pub fn observe<V: Outputs<'g>>(
        self,
        of: V,
        calibration: &mut Calibration,
    ) -> Vec<Traced<'g, f32>> {
        let begun = self.quantizable_values(&walked(&of).numbers()).and_then(|values| {
            calibration.begin(values.iter().map(|(node, _)| node.clone()).collect())?;
            Ok(values)
        });
        let values = match begun {
            Ok(values) => values,
            Err(error) => {
                self.refuse_call("observe", Location::caller(), error);
                return Vec::new();
            }
        };
        let mut observed = Vec::new();
        for (_, value) in values {
            let value = Traced::<f32>::of(self, value);
            observed.push(match calibration.observer().reads_elements() {
                true => value,
                false => self.concat([value.min(..).reshape([1]), value.max(..).reshape([1])], 0),
            });
        }
        observed
    }

    /// The values of the [tree](crate::tree) `of` with products and convolutions of integers like
    /// [`quantize`](Self::quantize), but with left operands that are rounded by the ranges of a
    /// calibration: no run computes a range. The values must be those of the graph that was
    /// [observed](Self::observe). See [`Calibration`] for an example.
    ///
    /// Refusals: those of [`quantize`](Self::quantize); `InvalidArgument` for a calibration without
    /// batches, and for one of another network.
    #[track_caller]
    #[doc(alias("convert", "static quantization", "int8"))]
    pub fn quantize_static<V: Outputs<'g>>(
        self,
        of: V,
        calibration: &Calibration,
        keep: &[Traced<'g, f32>],
    ) -> Like<'g, V> {
        self.rewritten("quantize_static", Location::caller(), &of, |handle, of| {
            let ranges = self.ranges_of(of, calibration)?;
            handle.add_quantized(of, &ranges, 0, &numbers(keep))
        })
    }

    /// Figures of the damage that quantization does to the [tree](crate::tree) `of`. Make them the
    /// outputs of a program, and give those to [`Comparison::add`]. `None` quantizes as
    /// [`quantize`](Self::quantize) does, a calibration as
    /// [`quantize_static`](Self::quantize_static) does. Nodes that give a value of `keep` stay in
    /// `f32`.
    ///
    /// The program computes the network once in `f32`, once with all nodes quantized, and for each
    /// node once more from there on: its time grows with the square of the number of nodes.
    ///
    /// Refusals: those of [`quantize`](Self::quantize) and
    /// [`quantize_static`](Self::quantize_static); `InvalidArgument` for a comparison of another
    /// network.
    #[track_caller]
    pub fn compare_quantized(
        self,
        of: impl TreeOf<'g, f32>,
        calibration: Option<&Calibration>,
        comparison: &mut Comparison,
        keep: &[Traced<'g, f32>],
    ) -> Vec<Traced<'g, f64>> {
        let site = CallSite { name: "compare_quantized", at: Location::caller() };
        let leaves = self.leaves(&of);
        match self.variants(&leaves, calibration, comparison, &numbers(keep)) {
            Ok(variants) => {
                self.state.note_added_nodes(site);
                variants.into_iter().map(|variant| variant.figures(self)).collect()
            }
            Err(error) => {
                self.refuse_call(site.name, site.at, error);
                Vec::new()
            }
        }
    }

    /// The results of the `count` nodes that do most of the damage, for `keep`: of the graph of `of`,
    /// which was compared.
    ///
    /// ```
    /// use tenure::quantize::Comparison;
    /// use tenure::{Program, SharedTensor, Tensor, Traced, random::Generator};
    ///
    /// fn network<'g>(x: Traced<'g, f32>, weights: &[SharedTensor<f32>; 2]) -> Traced<'g, f32> {
    ///     let [first, second] = weights.each_ref().map(|weight| x.graph().constant(weight));
    ///     x.matmul(first).relu().matmul(second)
    /// }
    ///
    /// let mut generator = Generator::new(1);
    /// let mut weight = || generator.normal(0.0, 0.1, [64, 64]).map(Tensor::into_shared);
    /// let weights = [weight()?, weight()?];
    /// let x: Tensor<f32> = Generator::new(2).normal(0.0, 1.0, [10, 64])?;
    ///
    /// let mut comparison = Comparison::new();
    /// let compared = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([10, 64]);
    ///     let y = network(x, &weights);
    ///     graph.program((x,), graph.compare_quantized(y, None, &mut comparison, &[]))
    /// })?;
    /// comparison.add(&compared.run((&x,))?)?;
    /// let report = comparison.report()?;
    /// println!("{report}");
    ///
    /// let repaired = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([10, 64]);
    ///     let y = network(x, &weights);
    ///     graph.program((x,), graph.quantize(y, &graph.worst_quantized(y, &report, 1)))
    /// })?;
    /// # repaired.run((&x,))?;
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[track_caller]
    pub fn worst_quantized<V: Outputs<'g>>(
        self,
        of: V,
        report: &Report,
        count: usize,
    ) -> Vec<Traced<'g, f32>> {
        let of = walked(&of).numbers();
        let worst = self.quantizable_nodes(&of, &[]).and_then(|known| {
            let result = |node: usize| {
                let found = known.iter().find(|(it, _)| it.number as usize == node);
                let why = || Error::invalid(format!("the network has no quantizable node {node}"));
                Ok(Traced::of(self, found.ok_or_else(why)?.1.result))
            };
            report.nodes.iter().take(count).map(|it| result(it.node)).collect::<Result<_>>()
        });
        worst.unwrap_or_else(|error| {
            self.refuse_call("worst_quantized", Location::caller(), error);
            Vec::new()
        })
    }

    /// The nodes that quantization replaces.
    fn quantizable_nodes(self, of: &[u32], keep: &[u32]) -> Result<Vec<(Node, tnr_quantizable)>> {
        self.state.require_sound()?;
        let found = self.state.handle.quantizable(of, keep)?;
        if found.is_empty() {
            return Err(Error::invalid("there is no node to quantize"));
        }
        found.into_iter().map(|found| Ok((self.node_of(&found)?, found))).collect()
    }

    /// The left operands of these nodes, each once, with the first node that reads it.
    fn quantizable_values(self, of: &[u32]) -> Result<Vec<(Node, u32)>> {
        let mut values: Vec<(Node, u32)> = Vec::new();
        for (node, found) in self.quantizable_nodes(of, &[])? {
            if values.iter().all(|(_, value)| *value != found.operand) {
                values.push((node, found.operand));
            }
        }
        Ok(values)
    }

    fn node_of(self, found: &tnr_quantizable) -> Result<Node> {
        let number = self.state.handle.describe_value(found.result)?.index;
        let kind = kind_of(found);
        let name = match self.state.values.borrow().get(found.result as usize) {
            Some(Value::Node(site)) => site.to_string(),
            _ => kind.to_owned(),
        };
        Ok(Node { number, kind: kind.to_owned(), name })
    }

    /// The ranges of left operands.
    fn ranges_of(self, of: &[u32], calibration: &Calibration) -> Result<Vec<tnr_value_range>> {
        let values = self.quantizable_values(of)?;
        let nodes: Vec<Node> = values.iter().map(|(node, _)| node.clone()).collect();
        let ranges = calibration.ranges_of(&nodes)?;
        let range = |((_, value), [low, high]): (_, [f32; 2])| tnr_value_range { value, low, high };
        Ok(values.into_iter().zip(ranges).map(range).collect())
    }

    /// The network with each node quantized by itself, and then with all of them.
    fn variants(
        self,
        leaves: &[Traced<'g, f32>],
        calibration: Option<&Calibration>,
        comparison: &mut Comparison,
        keep: &[u32],
    ) -> Result<Vec<Variant<'g>>> {
        let of = numbers(leaves);
        let nodes = self.quantizable_nodes(&of, keep)?;
        comparison.begin(nodes.iter().map(|(node, _)| node.clone()).collect())?;
        let ranges = match calibration {
            Some(calibration) => self.ranges_of(&of, calibration)?,
            None => Vec::new(),
        };
        let traced = |values: Vec<u32>| values.into_iter().map(|value| Traced::of(self, value));
        let handle = &self.state.handle;
        let mut variants = Vec::new();
        for (_, found) in &nodes {
            let range: Vec<_> =
                ranges.iter().filter(|it| it.value == found.operand).copied().collect();
            let others = |of: &[u32]| -> Result<Vec<u32>> {
                let all = handle.quantizable(of, &[])?.into_iter().map(|it| it.result);
                Ok(all.filter(|result| *result != found.result).collect())
            };
            let result = [found.result];
            let local = handle.add_quantized(&result, &range, 0, &others(&result)?)?;
            let output = handle.add_quantized(&of, &range, 0, &others(&of)?)?;
            variants.push(Variant {
                exact: vec![Traced::of(self, found.result)],
                quantized: traced(local).collect(),
                outputs: leaves.iter().copied().zip(traced(output)).collect(),
            });
        }
        let all = handle.add_quantized(&of, &ranges, 0, keep)?;
        variants.push(Variant {
            exact: leaves.to_vec(),
            quantized: traced(all).collect(),
            outputs: Vec::new(),
        });
        Ok(variants)
    }
}

/// Values in f32 and quantized.
struct Variant<'g> {
    exact: Vec<Traced<'g, f32>>,
    quantized: Vec<Traced<'g, f32>>,
    /// The outputs of the network, in f32 and with the one node quantized.
    outputs: Vec<(Traced<'g, f32>, Traced<'g, f32>)>,
}

impl<'g> Variant<'g> {
    /// The figures that a [`Comparison`] takes.
    fn figures(&self, graph: Graph<'g>) -> Traced<'g, f64> {
        let zero = || graph.copy_constant(&[0.0_f64]);
        let sum = |x: Traced<'g, f64>| x.sum(..).reshape([1]);
        let noise = |f: Traced<'g, f32>, q: Traced<'g, f32>| q.cast::<f64>() - f.cast::<f64>();
        let mut figures = [0; FIGURES].map(|_| zero());
        for (&f, &q) in self.exact.iter().zip(&self.quantized) {
            let (f64_of_f, f64_of_q) = (f.cast::<f64>(), q.cast::<f64>());
            let difference = noise(f, q);
            let sums =
                [f64_of_f.square(), f64_of_q.square(), f64_of_f * f64_of_q, difference.square()];
            for (figure, more) in figures.iter_mut().zip(sums) {
                *figure = *figure + sum(more);
            }
            figures[4] = figures[4].maximum(difference.abs().max(..).reshape([1]));
        }
        for &(f, q) in &self.outputs {
            figures[5] = figures[5] + sum(noise(f, q).square());
        }
        graph.concat(figures, 0)
    }
}
