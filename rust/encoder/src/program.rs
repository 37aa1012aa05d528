//! BERT's encoder as a program: embeddings, layers of attention and of two products, and the mean
//! of each sequence's vectors.
//!
//! Devlin, Chang, Lee and Toutanova, "BERT: Pre-training of Deep Bidirectional Transformers for
//! Language Understanding" (2019); Reimers and Gurevych, "Sentence-BERT" (2019) for the mean.

use tenure::{
    Extent, Graph, LayerNorm, Passes, Program, Result, SharedTensor, Tensor, Traced, bf16,
};

use crate::Bert;
use crate::weights::{Affine, Instead, Layer};

/// A program from the ids of tokens and the count of tokens of each sequence to vectors.
///
/// Its inputs are `[batch, words]` and `[batch]`, of `i64`; its output is `[batch, hidden]`, each
/// row of length 1, or NaN where the count is 0. Padding behind the count of a sequence has no
/// influence, but must be ids of tokens.
pub type Embedding = Program<(i64, i64), f32>;

/// The largest batch of a program.
const BATCH: usize = 4096;
/// BERT's normalisations add this to the variance before its root.
pub(crate) const EPS: f64 = 1e-12;

impl Bert {
    /// The program of this model, which shares the weights. Under [`Passes::PACKING`] it also holds
    /// a copy of those of products, packed, which makes short batches faster.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn program(&self, passes: Passes) -> Result<Embedding> {
        Program::trace_with(passes, |graph| self.trace(graph))
    }

    /// The program of this model with the weights of products packed as these bytes are, which
    /// [`Program::packed`] gave of one that packs them. They are shared; the weights themselves are
    /// not read.
    ///
    /// # Errors
    /// The errors of [`Program::trace_packed`]: bytes of another model, or for another processor.
    pub fn program_packed(&self, packed: &SharedTensor<u8>) -> Result<Embedding> {
        Program::trace_packed(packed, |graph| self.trace(graph))
    }

    fn trace(&self, graph: Graph<'_>) -> Result<Embedding> {
        let batch = graph.extent("batch", BATCH);
        let words = graph.extent("words", self.positions());
        let tokens = graph.input::<i64>((batch, words));
        let counts = graph.input::<i64>(batch);

        let places = graph.copy_constant(&Tensor::arange(0..self.positions() as i64)?);
        let is_word = places.slice(0, 0, words).lt(counts.reshape((batch, 1)));
        let mask = is_word.select(0.0_f32, f32::NEG_INFINITY).reshape((batch, 1, 1, words));
        let trace = Trace { graph, heads: self.heads, batch, words, mask };
        let mut x = trace.embedded(self, tokens);
        for layer in &self.layers {
            x = trace.layer(layer, x);
        }
        // The mean of the words, not of the padding; then each to length 1.
        let weights = is_word.cast::<f32>().reshape((batch, 1, words));
        let sums = weights.matmul(x).reshape((batch, self.hidden()));
        let means = sums / counts.reshape((batch, 1)).cast::<f32>();
        let lengths = (means * means).sum(1).sqrt().reshape((batch, 1));
        graph.program((tokens, counts), means / lengths)
    }
}

/// The graph and the extents that the parts of the program share.
struct Trace<'g> {
    graph: Graph<'g>,
    heads: usize,
    batch: Extent<'g>,
    words: Extent<'g>,
    /// `[batch, 1, 1, words]`: minus infinity behind the words of each sequence.
    mask: Traced<'g, f32>,
}

impl<'g> Trace<'g> {
    /// `[batch, words, hidden]` of the ids of tokens.
    fn embedded(&self, bert: &Bert, tokens: Traced<'g, i64>) -> Traced<'g, f32> {
        let words = self.graph.constant(&bert.words).take(0, tokens);
        let places = self.graph.constant(&bert.places).slice(0, 0, self.words);
        // A text without a second one is of the first kind.
        let kind = self.graph.constant(&bert.kinds).slice(0, 0, 1);
        self.norm(&bert.norm, words + (places + kind))
    }

    /// `[batch, words, hidden]`, as all of these.
    fn layer(&self, layer: &Layer, x: Traced<'g, f32>) -> Traced<'g, f32> {
        let [attention @ .., wide, narrow] = &layer.products;
        let x = self.norm(&layer.norms[0], self.attention(attention, x) + x);
        let wide = self.linear(wide, x).gelu();
        self.norm(&layer.norms[1], self.linear(narrow, wide) + x)
    }

    fn attention(&self, products: &[Affine; 4], x: Traced<'g, f32>) -> Traced<'g, f32> {
        let (batch, words, heads) = (self.batch, self.words, self.heads);
        let [query, key, value, mixed] = products;
        let hidden = query.bias.shape()[0];
        let width = hidden / heads;
        let part = |weights| {
            let y = self.linear(weights, x);
            y.reshape((batch, words, heads, width)).permute(&[0, 2, 1, 3])
        };
        let query = part(query) * (1.0 / (width as f32).sqrt());
        let shares = (query.matmul(part(key).transpose(2, 3)) + self.mask).softmax(-1);
        let values = shares.matmul(part(value)).permute(&[0, 2, 1, 3]);
        self.linear(mixed, values.reshape((batch, words, hidden)))
    }

    fn linear(&self, weights: &Affine, x: Traced<'g, f32>) -> Traced<'g, f32> {
        let y = match &weights.instead {
            None => x.matmul(self.graph.constant(&weights.weight).t()),
            Some(Instead::Half(half)) => {
                x.cast::<bf16>().matmul(self.graph.constant(half).t()).cast::<f32>()
            }
            // The sparse factor is the left one: all words are one matrix on its other side.
            Some(Instead::Pruned(pruned)) => {
                let [outputs, inputs] = [0, 1].map(|axis| weights.weight.shape()[axis]);
                let x = x.reshape((self.batch * self.words, inputs)).t();
                let y = self.graph.csr_constant(&**pruned).matmul(x);
                y.t().reshape((self.batch, self.words, outputs))
            }
        };
        y + self.graph.constant(&weights.bias)
    }

    fn norm(&self, weights: &Affine, x: Traced<'g, f32>) -> Traced<'g, f32> {
        let [weight, bias] = [&weights.weight, &weights.bias].map(|w| self.graph.constant(w));
        x.layer_norm(-1, Some(weight), Some(bias), LayerNorm::new().eps(EPS))
    }
}
