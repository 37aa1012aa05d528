//! Products and convolutions of integers instead of f32.

use std::ops::Range;
use std::panic::Location;

use tenure_sys::{TNR_NODE_CONV2D, tnr_quantizable, tnr_value_range};

use super::Graph;
use super::gradients::Like;
use crate::program::Traced;
use crate::program::state::CallSite;
use crate::program::tree::{Outputs, walked};

/// A node of a graph that quantization replaces with one of integers: what
/// [`Graph::quantizable`] lists.
#[derive(Clone, Copy, Debug)]
pub struct Quantizable<'g> {
    /// The value that the node gives.
    pub result: Traced<'g, f32>,
    /// The left operand of the node: the value that calibration finds the range of.
    pub operand: Traced<'g, f32>,
    /// The name of the node's kind: `matmul` or `conv2d`.
    pub kind: &'static str,
}

/// Quantization.
impl<'g> Graph<'g> {
    /// The values of the [tree](crate::tree) `of` with products and convolutions of integers of 8
    /// bits, in the same form and with the same element types. Other libraries name this dynamic
    /// quantization.
    ///
    /// A [`matmul`](Traced::matmul) of f32 by a constant matrix, which may be transposed, becomes a
    /// product of integers: the constant has a scale for each column, and is quantized when the
    /// program is made; each row of the other factor is quantized to `u8` in a run, by a scale and a
    /// zero point of its own. A bias,
    /// an activation and bounds stay part of the product. Everything else computes in f32. Sums are
    /// exact, so that results have the same bits on every processor. A constant that only such
    /// products read is not kept in f32: the program has a quarter of its bytes.
    ///
    /// A [`conv2d`](Traced::conv2d) of f32 by constant filters becomes one of integers, too: each
    /// filter has a scale, and all its images are quantized by one scale and one zero point.
    ///
    /// Nodes that stay in f32: one that gives a value of `keep`, a product by a constant with
    /// fewer than 64 rows or columns, and a convolution by filters of fewer than 128 elements, of
    /// one channel, or with fewer than 32 in a group, where integers save no time, those with more
    /// than 33,025 rows or elements, whose sums may not be exact, and those in the graphs of
    /// [`cond`](Self::cond) and [`while_loop`](Self::while_loop).
    ///
    /// Refusals: `InvalidArgument` where there is nothing to quantize, and for a value of `keep` that
    /// `of` does not depend on.
    ///
    /// ```
    /// # use tenure::*;
    /// let weights = random::Generator::new(1).normal(0.0, 0.1, [64, 96])?.into_shared();
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>((graph.extent("rows", 100), 64));
    ///     let y = x.matmul(graph.constant(&weights)).relu();
    ///     graph.program((x,), (y, graph.quantize(y, &[])))
    /// })?;
    /// let x: Tensor<f32> = random::Generator::new(2).normal(0.0, 1.0, [5, 64])?;
    /// let (exact, fast) = program.run((&x,))?;
    /// let difference = ops::sub(&exact, &fast)?;
    /// assert!(difference.to_vec().iter().all(|x| x.abs() < 0.05));
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("quantize_dynamic", "int8", "dynamic quantization"))]
    pub fn quantize<V: Outputs<'g>>(self, of: V, keep: &[Traced<'g, f32>]) -> Like<'g, V> {
        self.with_integers("quantize", Location::caller(), of, 0, keep)
    }

    /// Quantizes as [`quantize`](Self::quantize) does, to weights of 4 bits: a constant has a scale for each group of
    /// `group` adjacent rows of a column, 32, 64 or 128, and each group of a row of the other factor is
    /// quantized to `i8` in a run. Such a constant has an eighth of the bytes of f32, and 4 for each
    /// group; its error is about sixteen times that of 8 bits. Other libraries name this weight-only
    /// quantization, or int4.
    ///
    /// Products by a constant whose rows the group does not divide stay in f32, too.
    ///
    /// Refusals: those of [`quantize`](Self::quantize), and `InvalidArgument` for another group.
    ///
    /// ```
    /// # use tenure::*;
    /// let weights = random::Generator::new(1).normal(0.0, 0.1, [64, 96])?.into_shared();
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>((graph.extent("rows", 100), 64));
    ///     let y = x.matmul(graph.constant(&weights)).relu();
    ///     graph.program((x,), (y, graph.quantize_four_bits(y, 32, &[])))
    /// })?;
    /// let x: Tensor<f32> = random::Generator::new(2).normal(0.0, 1.0, [5, 64])?;
    /// let (exact, fast) = program.run((&x,))?;
    /// let difference = ops::sub(&exact, &fast)?;
    /// assert!(difference.to_vec().iter().all(|x| x.abs() < 0.4));
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("int4", "weight-only quantization"))]
    pub fn quantize_four_bits<V: Outputs<'g>>(
        self,
        of: V,
        group: usize,
        keep: &[Traced<'g, f32>],
    ) -> Like<'g, V> {
        // No group, which the library refuses by its number; and 0 is none.
        let group = u32::try_from(group).ok().filter(|&group| group != 0).unwrap_or(u32::MAX);
        self.with_integers("quantize_four_bits", Location::caller(), of, group, keep)
    }

    fn with_integers<V: Outputs<'g>>(
        self,
        name: &'static str,
        at: &'static Location<'static>,
        of: V,
        weight_group: u32,
        keep: &[Traced<'g, f32>],
    ) -> Like<'g, V> {
        self.rewritten(name, at, &of, |handle, of| {
            handle.add_quantized(of, &[], weight_group, &numbers(keep))
        })
    }

    /// The values of the [tree](crate::tree) `of` as [`quantize`](Self::quantize) makes them, where
    /// the left operands of products and convolutions have known ranges: static quantization. Such
    /// an operand is quantized to `u8` by one scale and one zero point, which follow from its range,
    /// and numbers outside of it become its ends. Operands without a range are quantized as by
    /// `quantize`. [`quantize_static`](Self::quantize_static) takes the ranges of a calibration.
    ///
    /// Refusals: those of `quantize`, and `InvalidArgument` for a range with a NaN or an infinity,
    /// or that begins behind its end, and for one of a value that is no
    /// [`operand`](Quantizable::operand) of a node of [`quantizable`](Self::quantizable), or that
    /// has another range.
    ///
    /// ```
    /// # use tenure::*;
    /// let weights = random::Generator::new(1).normal(0.0, 0.1, [64, 96])?.into_shared();
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>((graph.extent("rows", 100), 64));
    ///     let y = x.matmul(graph.constant(&weights)).relu();
    ///     graph.program((x,), (y, graph.quantize_by_ranges(y, &[(x, -4.0..4.0)], &[])))
    /// })?;
    /// let x: Tensor<f32> = random::Generator::new(2).normal(0.0, 1.0, [5, 64])?;
    /// let (exact, fast) = program.run((&x,))?;
    /// let difference = ops::sub(&exact, &fast)?;
    /// assert!(difference.to_vec().iter().all(|x| x.abs() < 0.05));
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("static quantization"))]
    pub fn quantize_by_ranges<V: Outputs<'g>>(
        self,
        of: V,
        ranges: &[(Traced<'g, f32>, Range<f32>)],
        keep: &[Traced<'g, f32>],
    ) -> Like<'g, V> {
        self.rewritten("quantize_by_ranges", Location::caller(), &of, |handle, of| {
            let given = |(value, range): &(Traced<'g, f32>, Range<f32>)| tnr_value_range {
                value: value.value(),
                low: range.start,
                high: range.end,
            };
            let ranges: Vec<_> = ranges.iter().map(given).collect();
            handle.add_quantized(of, &ranges, 0, &numbers(keep))
        })
    }

    /// The nodes that [`quantize`](Self::quantize) replaces, in the order of the graph. There may be
    /// none.
    ///
    /// Refusals: `InvalidArgument` for a value of `keep` that `of` does not depend on.
    ///
    /// ```
    /// # use tenure::*;
    /// let weights = random::Generator::new(1).normal(0.0, 0.1, [64, 64])?.into_shared();
    /// Program::trace(|graph| {
    ///     let x = graph.input::<f32>([4, 64]);
    ///     let y = x.tanh().matmul(graph.constant(&weights));
    ///     let found = graph.quantizable(y.relu(), &[]);
    ///     assert_eq!((found.len(), found[0].kind), (1, "matmul"));
    ///     // How large the left operand is, as one more result.
    ///     graph.program((x,), (y, found[0].operand.abs().max(..)))
    /// })?;
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn quantizable<V: Outputs<'g>>(
        self,
        of: V,
        keep: &[Traced<'g, f32>],
    ) -> Vec<Quantizable<'g>> {
        let site = CallSite { name: "quantizable", at: Location::caller() };
        if self.state.has_failed() {
            return Vec::new();
        }
        match self.state.handle.quantizable(&walked(&of).numbers(), &numbers(keep)) {
            Ok(found) => found
                .into_iter()
                .map(|node| Quantizable {
                    result: Traced::of(self, node.result),
                    operand: Traced::of(self, node.operand),
                    kind: kind_of(&node),
                })
                .collect(),
            Err(error) => {
                self.fail(self.state.refused_at(site, error));
                Vec::new()
            }
        }
    }
}

/// The name of the kind of a node.
pub(super) fn kind_of(node: &tnr_quantizable) -> &'static str {
    if node.code == TNR_NODE_CONV2D { "conv2d" } else { "matmul" }
}

pub(super) fn numbers(of: &[Traced<'_, f32>]) -> Vec<u32> {
    of.iter().map(|value| value.value()).collect()
}
