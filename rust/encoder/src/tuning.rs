//! Training of a model on pairs of texts: one program is a step, which updates all weights.

use std::collections::HashSet;

use tenure::program::Updated;
use tenure::random::Generator;
use tenure::train::{AdamW, Optimizer, clip_by_global_norm};
use tenure::tree::{InGraph, Tensors, Types, UpdatedTypes};
use tenure::{Extent, Graph, MemoryPlan, Program, Tensor, Traced};

use crate::program::Texts;
use crate::vectors::padded;
use crate::{Batch, Bert, Result, Section, Sequences, Weights, ranking_loss};

/// Two texts that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The section that both are of.
    pub section: usize,
    /// Their indices.
    pub texts: [usize; 2],
}

/// The texts of each section in pairs of adjacent ones, each text in one pair. They are numbered
/// through all sections.
///
/// ```
/// let section = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
/// let sections = [section(&["a", "b", "c"]), section(&["d", "e"])];
/// let pairs = tenure_encoder::pairs(&sections);
/// assert_eq!(pairs.iter().map(|pair| pair.texts).collect::<Vec<_>>(), [[0, 1], [3, 4]]);
/// ```
pub fn pairs(sections: &[Section]) -> Vec<Pair> {
    let (mut pairs, mut first) = (Vec::new(), 0);
    for (section, texts) in sections.iter().enumerate() {
        let even = (first..first + texts.len() / 2 * 2).step_by(2);
        pairs.extend(even.map(|text| Pair { section, texts: [text, text + 1] }));
        first += texts.len();
    }
    pairs
}

/// Pairs in batches of at most `most`, in random order. No batch has two pairs of one section,
/// which would be negatives of each other.
///
/// # Errors
/// Memory that cannot be had.
pub fn batches(pairs: &[Pair], most: usize, generator: &mut Generator) -> Result<Vec<Vec<Pair>>> {
    let mut batches: Vec<(Vec<Pair>, HashSet<usize>)> = Vec::new();
    for number in &generator.permutation(pairs.len())? {
        let pair = pairs[*number as usize];
        let has_room = |(batch, sections): &&mut (Vec<Pair>, HashSet<usize>)| {
            batch.len() < most && !sections.contains(&pair.section)
        };
        match batches.iter_mut().find(has_room) {
            Some((batch, sections)) => {
                batch.push(pair);
                sections.insert(pair.section);
            }
            None => batches.push((vec![pair], HashSet::from([pair.section]))),
        }
    }
    Ok(batches.into_iter().map(|(batch, _)| batch).collect())
}

/// The inputs of a step for pairs, in a graph: ids of tokens, `[2, pairs, words]`, and the count of
/// tokens of each text, `[2, pairs]`.
struct Inputs<'g> {
    pairs: Extent<'g>,
    words: Extent<'g>,
    tokens: Traced<'g, i64>,
    counts: Traced<'g, i64>,
}

impl<'g> Inputs<'g> {
    fn of(graph: Graph<'g>, pairs: usize, words: usize) -> Self {
        let (pairs, words) = (graph.extent("pairs", pairs), graph.extent("words", words));
        let tokens = graph.input_named("tokens", (2, pairs, words));
        Self { pairs, words, tokens, counts: graph.input_named("counts", (2, pairs)) }
    }

    /// The loss of the vectors by these weights.
    fn loss(&self, weights: &Weights<InGraph<'g>>, heads: usize) -> Traced<'g, f32> {
        let (pairs, words, batch) = (self.pairs, self.words, self.pairs * 2);
        let (tokens, counts) = (self.tokens.reshape((batch, words)), self.counts.reshape((batch,)));
        let vectors = weights.vectors(heads, Texts { batch, words, tokens, counts });
        let both = vectors.reshape((2, pairs, vectors.size(1)));
        let side = |nth: usize| both.slice(0, nth, nth + 1).reshape((pairs, vectors.size(1)));
        let (first, second) = (side(0), side(1));
        ranking_loss(first, second)
    }
}

/// A program from ids `[2, pairs, words]` and counts `[2, pairs]` of the tokens of pairs, and from
/// weights, to the [loss](ranking_loss) and its gradients by all weights.
pub type Gradients = Program<(i64, i64, Weights<Types>), (f32, Weights<Types>)>;

impl Bert {
    /// The loss of at most `pairs` pairs of at most `words` tokens, and its gradients, for a
    /// comparison with other implementations.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn gradients(&self, pairs: usize, words: usize) -> Result<Gradients> {
        let weights = self.tensors()?;
        Ok(Program::trace(|graph| {
            let (inputs, weights) = (Inputs::of(graph, pairs, words), graph.inputs(&weights));
            let loss = inputs.loss(&weights, self.heads);
            let gradients = graph.gradients(loss, &weights);
            graph.program((inputs.tokens, inputs.counts, &weights), (loss, gradients))
        })?)
    }
}

/// The first and second moments of gradients.
type Moments<L> = [Weights<L>; 2];
/// A step: of tokens, counts, the learning rate, the weights, their moments and the count of steps.
/// It gives the loss.
type Step =
    Program<(i64, i64, f32, Weights<UpdatedTypes>, Moments<UpdatedTypes>, Updated<f32>), f32>;

/// A model that is being trained, by AdamW on gradients whose norm is clipped to 1.
pub struct Tuning {
    step: Step,
    /// The weights as they are now.
    pub weights: Weights<Tensors>,
    moments: Moments<Tensors>,
    steps: Tensor<f32>,
    /// Pairs, and words of a text.
    largest: [usize; 2],
}

impl Tuning {
    /// A model before its first step, for batches of at most `pairs` pairs of texts of at most
    /// `words` tokens. The plan of a step takes at most `budget` bytes, if there is one: the
    /// backward part computes values again for that.
    ///
    /// # Errors
    /// Memory that cannot be had; a budget that no plan is within.
    pub fn new(bert: &Bert, pairs: usize, words: usize, budget: Option<usize>) -> Result<Self> {
        let weights = bert.tensors()?;
        let zeros = || weights.try_map(|_, weight| Tensor::zeros(weight.shape()));
        let moments: Moments<Tensors> = [zeros()?, zeros()?];
        let step = Program::trace(|graph| {
            budget.into_iter().for_each(|bytes| graph.memory_budget(bytes));
            let inputs = Inputs::of(graph, pairs, words);
            let rate = graph.input_named::<f32>("rate", [1]);
            let (before, moments) = (graph.inputs(&weights), graph.inputs(&moments));
            let steps = graph.input_named::<f32>("steps", [1]);

            let loss = inputs.loss(&before, bert.heads);
            let gradients = graph.leaves(&graph.gradients(loss, &before));
            let (gradients, _) = clip_by_global_norm(&gradients, 1.0);
            let (next, (moments, steps)) =
                AdamW::new().step_tree(rate, before, &gradients, (moments, steps));
            graph.program((inputs.tokens, inputs.counts, rate, next, moments, steps), loss)
        })?;
        Ok(Self { step, weights, moments, steps: Tensor::zeros(1)?, largest: [pairs, words] })
    }

    /// Trains on a batch, and gives the loss before that.
    ///
    /// # Errors
    /// More pairs or tokens than [`new`](Self::new) was given; an id that is not of the model's
    /// vocabulary; memory that cannot be had.
    pub fn step(&mut self, rate: f32, texts: &Sequences, pairs: &[Pair]) -> Result<f32> {
        let (tokens, counts) = tokens_of(texts, pairs)?;
        let Self { step, weights, moments, steps, .. } = self;
        let loss = step.run((&tokens, &counts, &[rate], weights, moments, steps))?;
        Ok(loss.item().unwrap_or(f32::NAN))
    }

    /// The memory of a step between its inputs and outputs, for batches of as many pairs and words
    /// as there may be.
    ///
    /// # Errors
    /// Memory that cannot be had.
    pub fn memory(&mut self) -> Result<MemoryPlan> {
        let [pairs, words] = self.largest;
        let (tokens, counts) = (Tensor::zeros([2, pairs, words])?, Tensor::zeros([2, pairs])?);
        let Self { step, weights, moments, steps, .. } = self;
        Ok(step.memory((&tokens, &counts, &[0.0], weights, moments, steps))?)
    }
}

/// The inputs of a step for these pairs: ids `[2, pairs, words]` and counts `[2, pairs]`. The first
/// texts of all pairs come before the second ones.
///
/// # Errors
/// Memory that cannot be had.
///
/// # Panics
/// There is no such text.
pub fn tokens_of(texts: &Sequences, pairs: &[Pair]) -> Result<(Tensor<i64>, Tensor<i64>)> {
    let of = |side: usize| pairs.iter().map(move |pair| pair.texts[side]);
    let both: Vec<usize> = of(0).chain(of(1)).collect();
    let words = both.iter().map(|&text| texts.ids(text).len()).max().unwrap_or(0);
    let (tokens, counts) = padded(texts, &Batch { texts: both, words })?;
    let tokens = tokens.reshape([2, pairs.len(), words]).and_then(|ids| ids.to_tensor())?;
    Ok((tokens, Tensor::from_vec(counts, [2, pairs.len()]).map_err(tenure::Error::from)?))
}
