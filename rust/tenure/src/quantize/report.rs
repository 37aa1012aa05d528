//! The damage of quantization as a list. The module of programs has its table and its picture.

/// The damage of quantization, of a [`Comparison`](super::Comparison). `Display` writes a table; with
/// the feature `serde` it can be written as JSON.
///
/// ```
/// use tenure::quantize::Comparison;
/// use tenure::{Program, Tensor, random::Generator};
///
/// let weights = Generator::new(1).normal(0.0, 0.1, [64, 96])?.into_shared();
/// let x: Tensor<f32> = Generator::new(2).normal(0.0, 1.0, [50, 64])?;
/// let layer = |graph: tenure::Graph<'_>, is_quantized: bool| {
///     let x = graph.input::<f32>([50, 64]);
///     let y = x.matmul(graph.constant(&weights)).relu();
///     graph.program((x,), if is_quantized { graph.quantize(y, &[]) } else { y })
/// };
///
/// let mut comparison = Comparison::new();
/// let compared = Program::trace(|graph| {
///     let x = graph.input::<f32>([50, 64]);
///     let y = x.matmul(graph.constant(&weights)).relu();
///     graph.program((x,), graph.compare_quantized(y, None, &mut comparison, &[]))
/// })?;
/// comparison.add(&compared.run((&x,))?)?;
///
/// let float = Program::<(f32,), f32>::trace(|graph| layer(graph, false))?.measure((&x,), 5)?;
/// let integers = Program::<(f32,), f32>::trace(|graph| layer(graph, true))?.measure((&x,), 5)?;
/// let report = comparison.report()?.with_times(&float, &integers);
/// assert!(report.nodes[0].damage.snr_db > 30.0 && report.nodes[0].damage.cosine > 0.999);
/// assert!(report.nodes[0].float_nanoseconds.is_some());
/// println!("{report}");
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Report {
    /// The nodes that are quantized, the largest share of the damage first.
    pub nodes: Vec<NodeDamage>,
    /// The damage to the outputs of the network, with all nodes quantized.
    pub output: Damage,
    /// Batches that were compared.
    pub batches: u64,
    /// The time of a run in `f32`, where it was [given](Self::with_times).
    pub float_nanoseconds: Option<u64>,
    /// The time of a run of the quantized program, where it was [given](Self::with_times).
    pub integer_nanoseconds: Option<u64>,
}

/// Differences between numbers in `f32` and those of the quantized network.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Damage {
    /// Ten times the logarithm to base 10 of the sum of squares divided by the sum of squared
    /// errors: the signal-to-noise ratio in dB. Infinite without an error, which JSON has as `null`.
    #[doc(alias = "SQNR")]
    pub snr_db: f64,
    /// The cosine of the angle between both, as one vector each over all batches.
    pub cosine: f64,
    /// The largest magnitude of a difference.
    pub largest_error: f64,
}

/// The damage that a node does when it is the only quantized one.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NodeDamage {
    /// The number of the node, as in a [step](crate::program::report::Step::node) of a run.
    pub node: usize,
    /// The operation and its place in the source.
    pub name: String,
    /// The damage to its result, of the operands that it has in `f32`.
    pub damage: Damage,
    /// The sum of squared errors of the network's outputs when only this node is quantized, divided
    /// by the sum of that of all nodes. Errors of nodes that cancel or amplify each other are not in
    /// it.
    pub share: f64,
    /// The time of its steps in `f32`.
    pub float_nanoseconds: Option<u64>,
    /// The time of its steps in the quantized program, with the quantization of its operand.
    pub integer_nanoseconds: Option<u64>,
}
