//! Dropout.

use std::panic::Location;

use crate::dtype::Float;
use crate::error::Error;
use crate::program::{Num, Traced, TracedGenerator};

/// Sets elements to 0 with this probability, and divides the others by the probability that they
/// stay, so that the expected values do not change: inverted dropout (Srivastava et al., 2014).
/// Programs for inference leave it out.
///
/// The mask follows from the generator's seed and offset: it is the same when the value is
/// [computed again](crate::Graph::checkpoint), and different in each step where the offset is. Give
/// each layer a seed of its own, and each step an offset that is further on by at least the number
/// of elements, as the example does.
///
/// Refuses `InvalidArgument` for a probability that is not at least 0 and below 1. With 0 it gives
/// `x` itself.
///
/// ```
/// use tenure::{Program, Tensor, layers::dropout};
///
/// let program = Program::trace(|graph| {
///     let (x, step) = (graph.input::<f32>([1000]), graph.input::<u64>(()));
///     let layer = |number: u64| graph.generator_at(number, step << 32);
///     graph.program((x, step), dropout(x, 0.25, layer(0)))
/// })?;
/// let ones = [1.0; 1000];
/// let (first, second) = (program.run((&ones, &0))?, program.run((&ones, &1))?);
/// assert!(first.iter().all(|x| *x == 0.0 || *x == 1.0 / 0.75) && first != second);
/// assert!(first == program.run((&ones, &0))?);
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
pub fn dropout<'g, T: Float>(
    x: Traced<'g, T>,
    probability: f64,
    generator: TracedGenerator<'g>,
) -> Traced<'g, T> {
    if !(0.0..1.0).contains(&probability) {
        let why = format!("the probability is {probability} but must be at least 0 and below 1");
        x.graph().refuse_call("dropout", Location::caller(), Error::invalid(why));
        return x;
    }
    if probability == 0.0 {
        return x;
    }
    let stays = 1.0 - probability;
    generator.bernoulli(stays, x.sizes()).select(x * Num(1.0 / stays), Num(0.0))
}
