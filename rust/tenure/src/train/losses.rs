//! Losses: means over all rows or elements, of rank 0.

use crate::dtype::{Float, index::SparseIndex};
use crate::program::{Num, Traced};

/// The cross entropy between scores, before softmax, and labels: the mean of the negative logarithm
/// of the probability that each row of `scores` gives to its label. The classes are the last axis of
/// `scores`, and `labels` has the other axes.
///
/// A label that is no class is an error of the run, before anything is updated.
///
/// ```
/// use tenure::{Program, train};
///
/// let program = Program::trace(|graph| {
///     let scores = graph.input::<f64>((graph.extent("rows", 100), 3));
///     let labels = graph.input::<i64>([graph.extent("rows", 100)]);
///     graph.program((scores, labels), train::cross_entropy(scores, labels))
/// })?;
/// let loss = program.run((&[[0.0, 0.0, 0.0], [9.0, 0.0, 0.0]], &[1, 0]))?.item().unwrap();
/// assert!((loss - (3.0_f64.ln() + 0.000_247) / 2.0).abs() < 1e-6);
/// assert!(program.run((&[[0.0, 0.0, 0.0]], &[3])).is_err());
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
pub fn cross_entropy<'g, T: Float, I: SparseIndex>(
    scores: Traced<'g, T>,
    labels: Traced<'g, I>,
) -> Traced<'g, T> {
    let axis = labels.rank();
    -scores.log_softmax(-1).gather(-1, labels.unsqueeze(axis)).mean(..)
}

/// The mean of the squares of `a - b`, which broadcast.
///
/// ```
/// use tenure::{Program, train};
///
/// let program = Program::trace(|graph| {
///     let (a, b) = (graph.input::<f64>([2]), graph.input::<f64>([2]));
///     graph.program((a, b), train::mse(a, b))
/// })?;
/// assert_eq!(program.run((&[1.0, 2.0], &[1.0, 5.0]))?.item(), Some(4.5));
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
pub fn mse<'g, T: Float>(a: Traced<'g, T>, b: Traced<'g, T>) -> Traced<'g, T> {
    (a - b).square().mean(..)
}

/// The mean of the Huber loss: half the square of `a - b` up to `delta`, and linear beyond it.
///
/// ```
/// use tenure::{Program, train};
///
/// let program = Program::trace(|graph| {
///     let (a, b) = (graph.input::<f64>([2]), graph.input::<f64>([2]));
///     graph.program((a, b), train::huber(a, b, 1.0))
/// })?;
/// assert_eq!(program.run((&[1.0, 5.0], &[1.5, 1.0]))?.item(), Some((0.125 + 3.5) / 2.0));
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
pub fn huber<'g, T: Float>(a: Traced<'g, T>, b: Traced<'g, T>, delta: f64) -> Traced<'g, T> {
    let distance = (a - b).abs();
    let near = distance.minimum(Num(delta));
    (near.square() * Num(0.5) + (distance - near) * Num(delta)).mean(..)
}

/// The mean of the binary cross entropy between scores, before sigmoid, and targets from 0 to 1.
/// It does not overflow for any score.
///
/// ```
/// use tenure::{Program, train};
///
/// let program = Program::trace(|graph| {
///     let (scores, targets) = (graph.input::<f64>([2]), graph.input::<f64>([2]));
///     graph.program((scores, targets), train::bce_with_logits(scores, targets))
/// })?;
/// let loss = program.run((&[0.0, -800.0], &[1.0, 1.0]))?.item().unwrap();
/// assert!((loss - (2.0_f64.ln() + 800.0) / 2.0).abs() < 1e-9);
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
pub fn bce_with_logits<'g, T: Float>(
    scores: Traced<'g, T>,
    targets: Traced<'g, T>,
) -> Traced<'g, T> {
    (scores.softplus() - scores * targets).mean(..)
}
