//! Products of integers in the place of those of f32.

use std::panic::Location;

use super::Graph;
use super::gradients::Like;
use crate::program::Traced;
use crate::program::tree::Outputs;

/// Quantization.
impl<'g> Graph<'g> {
    /// The values of the [tree](crate::tree) `of` with products of integers of 8 bits, in the same
    /// form and with the same element types. Other libraries name this dynamic quantization.
    ///
    /// A [`matmul`](Traced::matmul) of f32 by a constant matrix, which may be transposed, becomes a
    /// product of integers: the constant has a scale for each column, and is quantized when the
    /// program is made; each row of the other factor is quantized to `u8` in a run, by a scale and a
    /// zero point of its own. A bias,
    /// an activation and bounds stay part of the product. Everything else computes in f32. Sums are
    /// exact, so that results have the same bits on every processor. A constant that only such
    /// products read is not kept in f32: the program has a quarter of its bytes.
    ///
    /// Products that stay in f32: one that gives a value of `keep`, one by a constant with fewer than
    /// 64 rows or columns, where integers save no time, or with more than 33,025 rows, whose sums may
    /// not be exact, and those in the graphs of [`cond`](Self::cond) and
    /// [`while_loop`](Self::while_loop).
    ///
    /// Refusals: `InvalidArgument` where there is no product to quantize, and for a value of `keep`
    /// that `of` does not depend on.
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
            let keep: Vec<u32> = keep.iter().map(|value| value.value()).collect();
            handle.add_quantized(of, &keep, weight_group)
        })
    }
}
