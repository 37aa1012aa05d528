//! Distances.

use std::panic::Location;

use crate::dtype::Float;
use crate::error::Error;
use crate::program::Traced;

/// The Euclidean distances of all rows of `x`, `[.., rows, width]`, to all rows of `y`,
/// `[.., others, width]`: `[.., rows, others]`. The axes in front broadcast.
///
/// Each distance is the [norm](Traced::norm) of the differences, whose squares are added in f64 for
/// f32: near rows have an accurate distance, and equal rows have 0. The formula by a product,
/// `|x|^2 - 2 x y + |y|^2`, which is faster for many rows, loses the digits of small distances
/// and is not used. The gradient at a distance of 0 is 0.
///
/// The differences are not stored: the norm is computed in one pass over them. The gradients take
/// memory of `rows * others * width` elements.
///
/// Refuses `InvalidArgument` for a rank below 2.
///
/// ```
/// use tenure::{Program, layers::cdist};
///
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f32>((graph.extent("points", 100), 2));
///     let y = graph.input::<f32>([1, 2]);
///     graph.program((x, y), cdist(x, y))
/// })?;
/// assert_eq!(program.run((&[[0.0, 0.0], [3.0, 4.0]], &[[0.0, 0.0]]))?, [[0.0], [5.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
#[doc(alias("pairwise_distance", "euclidean"))]
pub fn cdist<'g, T: Float>(x: Traced<'g, T>, y: Traced<'g, T>) -> Traced<'g, T> {
    let ranks = [x.rank(), y.rank()];
    if ranks.iter().any(|rank| *rank < 2) {
        let [a, b] = ranks;
        let why = format!("x has rank {a} and y has rank {b} but both must have at least 2");
        x.graph().refuse_call("cdist", Location::caller(), Error::invalid(why));
        return x;
    }
    (x.unsqueeze(ranks[0] - 1) - y.unsqueeze(ranks[1] - 2)).norm(-1, 2.0)
}
