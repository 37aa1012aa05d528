//! BERT's encoder as a program: embeddings, layers of attention and of two products, and the mean
//! of each sequence's vectors.
//!
//! Devlin, Chang, Lee and Toutanova, "BERT: Pre-training of Deep Bidirectional Transformers for
//! Language Understanding" (2019); Reimers and Gurevych, "Sentence-BERT" (2019) for the mean.

use std::convert::Infallible;

use tenure::tree::InGraph;
use tenure::{Extent, Graph, LayerNorm, Passes, Program, Result, SharedTensor, Traced, bf16};

use crate::Bert;
use crate::tree::{Affine, Layer, Weights};
use crate::weights::{Value, Values};

/// A program from the ids of tokens and the count of tokens of each sequence to vectors.
///
/// Its inputs are `[batch, words]` and `[batch]`, of `i64`; its output is `[batch, hidden]`, each
/// row of length 1, or NaN where the count is 0. Padding behind the count of a sequence has no
/// influence, but must be ids of tokens.
pub type Embedding = Program<(i64, i64), f32>;

/// The largest batch of a program.
const BATCH: usize = 4096;
/// Weights of 4 bits that share a scale.
const GROUP: usize = 32;
/// BERT's normalisations add this to the variance before its root.
pub(crate) const EPS: f64 = 1e-12;

impl Bert {
    /// The program of this model, which shares the weights. Under [`Passes::PACKING`] it also holds
    /// a copy of those of products, packed, which makes short batches faster.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn program(&self, passes: Passes) -> Result<Embedding> {
        Program::trace_with(passes, |graph| self.trace(graph, Products::TheirType))
    }

    /// The program of this model that multiplies by weights in integers of 8 bits.
    ///
    /// # Errors
    /// Memory that cannot be had; weights with fewer than 64 rows or columns, or that are pruned or
    /// halved.
    pub fn quantized_program(&self, passes: Passes) -> Result<Embedding> {
        Program::trace_with(passes, |graph| self.trace(graph, Products::Integers))
    }

    /// The program of this model that multiplies by weights of 4 bits, in groups of 32.
    ///
    /// # Errors
    /// The errors of [`quantized_program`](Self::quantized_program).
    pub fn four_bit_program(&self, passes: Passes) -> Result<Embedding> {
        Program::trace_with(passes, |graph| self.trace(graph, Products::FourBits))
    }

    /// The program of this model with the weights of products packed as these bytes are, which
    /// [`Program::packed`] gave of one that packs them. They are shared; the weights themselves are
    /// not read.
    ///
    /// # Errors
    /// The errors of [`Program::trace_packed`]: bytes of another model, or for another processor.
    pub fn program_packed(&self, packed: &SharedTensor<u8>) -> Result<Embedding> {
        Program::trace_packed(packed, |graph| self.trace(graph, Products::TheirType))
    }

    /// The quantized program with the packed weights that another
    /// [quantized program](Self::quantized_program) gave.
    ///
    /// # Errors
    /// The errors of both.
    pub fn quantized_program_packed(&self, packed: &SharedTensor<u8>) -> Result<Embedding> {
        Program::trace_packed(packed, |graph| self.trace(graph, Products::Integers))
    }

    /// The program of [4 bits](Self::four_bit_program) with the packed weights that another one gave.
    ///
    /// # Errors
    /// The errors of both.
    pub fn four_bit_program_packed(&self, packed: &SharedTensor<u8>) -> Result<Embedding> {
        Program::trace_packed(packed, |graph| self.trace(graph, Products::FourBits))
    }

    fn trace(&self, graph: Graph<'_>, products: Products) -> Result<Embedding> {
        let batch = graph.extent("batch", BATCH);
        let words = graph.extent("words", self.positions());
        let (tokens, counts) = (graph.input::<i64>((batch, words)), graph.input::<i64>(batch));
        let texts = Texts { batch, words, tokens, counts };
        let vectors = self.constants(graph).vectors_of(self.heads, texts);
        let vectors = match products {
            Products::TheirType => vectors,
            Products::Integers => graph.quantize(vectors, &[]),
            Products::FourBits => graph.quantize_four_bits(vectors, GROUP, &[]),
        };
        graph.program((tokens, counts), vectors)
    }
}

/// The numbers that products by weights multiply.
#[derive(Clone, Copy)]
enum Products {
    TheirType,
    Integers,
    FourBits,
}

/// Sequences of tokens in a graph, as [`Embedding`] takes them.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'g> {
    /// The count of sequences.
    pub batch: Extent<'g>,
    /// The tokens of the longest.
    pub words: Extent<'g>,
    /// Ids of tokens, `[batch, words]`.
    pub tokens: Traced<'g, i64>,
    /// The count of tokens of each sequence, `[batch]`.
    pub counts: Traced<'g, i64>,
}

impl<'g> Weights<InGraph<'g>> {
    /// The vectors of sequences, `[batch, hidden]`, by a model whose weights are values of a graph,
    /// such as inputs that a step of training updates. Attention splits vectors into `heads` parts.
    pub fn vectors(&self, heads: usize, texts: Texts<'g>) -> Traced<'g, f32> {
        let Ok(values) = self.try_map(|_, value| Ok::<_, Infallible>(Value::Whole(*value)));
        values.vectors_of(heads, texts)
    }
}

impl<'g> Weights<Values<'g>> {
    fn vectors_of(&self, heads: usize, texts: Texts<'g>) -> Traced<'g, f32> {
        let (Texts { batch, words, tokens, counts }, graph) = (texts, texts.tokens.graph());
        let of = |table: &Value<'g, f32>, axis: usize| {
            table.whole().largest_shape().get(axis).copied().unwrap_or(0)
        };
        let (positions, hidden) = (of(&self.places, 0), of(&self.words, 1));
        let places: Vec<i64> = (0..positions as i64).collect();
        let is_word =
            graph.copy_constant(&places).slice(0, 0, words).lt(counts.reshape((batch, 1)));
        let mask = is_word.select(0.0_f32, f32::NEG_INFINITY).reshape((batch, 1, 1, words));
        let trace = Trace { heads, hidden, batch, words, mask };
        let mut x = trace.embedded(self, tokens);
        for layer in &self.layers {
            x = trace.layer(layer, x);
        }
        // The mean of the words, not of the padding; then each to length 1.
        let weights = is_word.cast::<f32>().reshape((batch, 1, words));
        let sums = weights.matmul(x).reshape((batch, hidden));
        let means = sums / counts.reshape((batch, 1)).cast::<f32>();
        let lengths = (means * means).sum(1).sqrt().reshape((batch, 1));
        means / lengths
    }
}

/// The extents that the parts of the program share.
struct Trace<'g> {
    heads: usize,
    hidden: usize,
    batch: Extent<'g>,
    words: Extent<'g>,
    /// `[batch, 1, 1, words]`: minus infinity behind the words of each sequence.
    mask: Traced<'g, f32>,
}

impl<'g> Trace<'g> {
    /// `[batch, words, hidden]` of the ids of tokens.
    fn embedded(&self, weights: &Weights<Values<'g>>, tokens: Traced<'g, i64>) -> Traced<'g, f32> {
        let words = weights.words.whole().take(0, tokens);
        let places = weights.places.whole().slice(0, 0, self.words);
        // A text without a second one is of the first kind.
        let kind = weights.kinds.whole().slice(0, 0, 1);
        norm(&weights.norm, words + (places + kind))
    }

    /// `[batch, words, hidden]`, as all of these.
    fn layer(&self, layer: &Layer<Values<'g>>, x: Traced<'g, f32>) -> Traced<'g, f32> {
        let x = norm(&layer.mixed_norm, self.attention(layer, x) + x);
        let wide = self.linear(&layer.wide, x).gelu();
        norm(&layer.norm, self.linear(&layer.narrow, wide) + x)
    }

    fn attention(&self, layer: &Layer<Values<'g>>, x: Traced<'g, f32>) -> Traced<'g, f32> {
        let Trace { heads, hidden, batch, words, .. } = *self;
        let width = hidden / heads;
        let part = |weights| {
            let y = self.linear(weights, x);
            y.reshape((batch, words, heads, width)).permute(&[0, 2, 1, 3])
        };
        let query = part(&layer.query) * (1.0 / (width as f32).sqrt());
        let shares = (query.matmul(part(&layer.key).transpose(2, 3)) + self.mask).softmax(-1);
        let values = shares.matmul(part(&layer.value)).permute(&[0, 2, 1, 3]);
        self.linear(&layer.mixed, values.reshape((batch, words, hidden)))
    }

    fn linear(&self, weights: &Affine<Values<'g>>, x: Traced<'g, f32>) -> Traced<'g, f32> {
        let bias = weights.bias.whole();
        let y = match &weights.weight {
            Value::Whole(weight) => x.matmul(weight.t()),
            Value::Half(weight) => x.cast::<bf16>().matmul(weight.t()).cast::<f32>(),
            // The sparse factor is the left one: all words are one matrix on its other side.
            Value::Pruned(weight) => {
                let x = x.reshape((self.batch * self.words, x.size(2))).t();
                weight.matmul(x).t().reshape((self.batch, self.words, bias.size(0)))
            }
        };
        y + bias
    }
}

fn norm<'g>(weights: &Affine<Values<'g>>, x: Traced<'g, f32>) -> Traced<'g, f32> {
    let [weight, bias] = [&weights.weight, &weights.bias].map(Value::whole);
    x.layer_norm(-1, Some(weight), Some(bias), LayerNorm::new().eps(EPS))
}

impl<'g> Value<'g, f32> {
    fn whole(&self) -> Traced<'g, f32> {
        match self {
            Value::Whole(value) => *value,
            Value::Half(value) => value.cast(),
            Value::Pruned(value) => value.to_dense(),
        }
    }
}
