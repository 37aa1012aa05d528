//! How well vectors of texts find the text that belongs to them.

use tenure::train::cross_entropy;
use tenure::{Program, Tensor, Traced};

use crate::Result;

/// Cosines are multiplied by this before softmax, as the package `sentence-transformers` does.
const SCALE: f32 = 20.0;

/// The loss of vectors of length 1 by which the text in each row of `first` is to find the one in
/// the same row of `second`, among all rows: the cross entropy of 20 times their cosines. The rows
/// of other pairs are the negatives. (Henderson et al., "Efficient Natural Language Response
/// Suggestion for Smart Reply", 2017, section 4.4; `MultipleNegativesRankingLoss` in
/// `sentence-transformers`.)
///
/// Both are `[pairs, hidden]`.
pub fn ranking_loss<'g>(first: Traced<'g, f32>, second: Traced<'g, f32>) -> Traced<'g, f32> {
    cross_entropy(first.matmul(second.t()) * SCALE, rows(first))
}

/// The number of each row.
fn rows<'g>(of: Traced<'g, f32>) -> Traced<'g, i64> {
    let most = of.largest_shape().first().map_or(0, |&rows| rows as i64);
    let numbers: Vec<i64> = (0..most).collect();
    of.graph().copy_constant(&numbers).slice(0, 0, of.size(0))
}

/// The quality of vectors of pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranking {
    /// The [loss](ranking_loss).
    pub loss: f32,
    /// The share of first texts whose nearest second text, among all, is their own.
    pub accuracy: f32,
}

/// The quality of vectors of length 1, `[pairs, hidden]`. It is NaN of no pairs.
///
/// ```
/// use tenure::Tensor;
/// use tenure_encoder::ranking;
///
/// let first = Tensor::from([[1.0_f32, 0.0], [0.0, 1.0], [0.6, 0.8]]);
/// let second = Tensor::from([[0.8_f32, 0.6], [0.6, 0.8], [0.0, 1.0]]);
/// assert_eq!(ranking(&first, &second)?.accuracy, 1.0 / 3.0);
/// assert!(ranking(&first, &first)?.loss < 0.02);
/// # Ok::<(), tenure_encoder::Error>(())
/// ```
///
/// # Errors
/// Shapes that differ; memory that cannot be had.
pub fn ranking(first: &Tensor<f32>, second: &Tensor<f32>) -> Result<Ranking> {
    let program = Program::trace(|graph| {
        let (a, b) = (graph.inputs(first), graph.inputs(second));
        let is_own = a.matmul(b.t()).argmax(1).eq(rows(a));
        graph.program((a, b), (ranking_loss(a, b), is_own.cast::<f32>().mean(..)))
    })?;
    let (loss, accuracy) = program.run((first, second))?;
    let of = |number: Tensor<f32>| number.item().unwrap_or(f32::NAN);
    Ok(Ranking { loss: of(loss), accuracy: of(accuracy) })
}
