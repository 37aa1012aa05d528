//! Normalizations by statistics that a layer takes of its input.

use std::panic::Location;

use crate::dtype::{Float, Real};
use crate::error::{Error, Result};
use crate::nn::normalize::LayerNorm;
use crate::program::{Num, Traced};

/// One number for each channel, for axis 1 of values of this rank.
#[track_caller]
fn of_channels<T: Float>(numbers: Traced<'_, T>, rank: usize) -> Traced<'_, T> {
    let mut sizes = vec![1.into(); rank - 1];
    sizes[0] = numbers.size(0);
    numbers.reshape(sizes)
}

/// Group normalization (Wu and He, 2018) of `[n, channels, ..]`: the channels are cut into groups,
/// the elements of each group of each of the `n` are normalized to a mean of 0 and a variance of 1,
/// and each channel is multiplied by its weight, and its bias is added. One group is a layer norm of
/// all axes but the first; as many groups as channels are an instance norm.
///
/// The channels are a number, and no named extent. `eps` is added to the variances. `f16` and `bf16`
/// are normalized in f32.
///
/// Refuses `InvalidArgument` for a rank below 2 or above 7, and a number of groups that does not
/// divide the channels.
///
/// ```
/// use tenure::{Program, layers::group_norm};
///
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f64>((graph.extent("batch", 8), 4, 1));
///     graph.program((x,), group_norm(x, 2, None, None, 0.0))
/// })?;
/// let normalized = program.run((&[[[1.0], [3.0], [5.0], [-5.0]]],))?;
/// assert_eq!(normalized.to_vec(), [-1.0, 1.0, 1.0, -1.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
#[doc(alias("instance_norm"))]
pub fn group_norm<'g, T: Float>(
    x: Traced<'g, T>,
    groups: usize,
    weight: Option<Traced<'g, T>>,
    bias: Option<Traced<'g, T>>,
    eps: f64,
) -> Traced<'g, T> {
    let rank = x.rank();
    let channels = match channels_of(x, groups) {
        Ok(channels) => channels,
        Err(error) => {
            x.graph().refuse_call("group_norm", Location::caller(), error);
            return x;
        }
    };
    let sizes = x.sizes();
    let mut grouped = sizes.clone();
    grouped.splice(1..2, [groups.into(), (channels / groups).into()]);
    let within: Vec<usize> = (2..rank + 1).collect();
    let norm = LayerNorm::new().eps(eps);
    let normalized = x.reshape(grouped).layer_norm(&within[..], None, None, norm).reshape(sizes);
    scaled(normalized, rank, weight, bias)
}

/// Multiplies each channel by its weight, and adds its bias.
#[track_caller]
fn scaled<'g, T: Float>(
    x: Traced<'g, T>,
    rank: usize,
    weight: Option<Traced<'g, T>>,
    bias: Option<Traced<'g, T>>,
) -> Traced<'g, T> {
    let weighted = match weight {
        Some(weight) => x * of_channels(weight, rank),
        None => x,
    };
    match bias {
        Some(bias) => weighted + of_channels(bias, rank),
        None => weighted,
    }
}

/// The number of channels, which the groups divide.
fn channels_of<T: Float>(x: Traced<'_, T>, groups: usize) -> Result<usize> {
    let shape = x.largest_shape();
    let &[_, channels, ..] = &shape[..] else {
        return Err(Error::invalid(format!("x has rank {} but must have at least 2", shape.len())));
    };
    if groups == 0 || channels % groups != 0 {
        return Err(Error::invalid(format!("{groups} groups do not divide {channels} channels")));
    }
    Ok(channels)
}

/// Batch normalization (Ioffe and Szegedy, 2015) in training: `[n, channels, ..]` by the mean and
/// the variance of each channel over all other axes, times a weight, plus a bias. Also the running
/// statistics after the step, of those before it: `running` is the mean and the variance of each
/// channel, which [`Traced::batch_norm`] takes for inference.
///
/// `running + momentum * (now - running)` as PyTorch has it: a momentum of 0.1 is the usual one. The
/// running variance is that of a sample, divided by the count less 1; of a single element for each
/// channel it is 0. No gradient leads to the loss from the running statistics, so that a step
/// [updates](crate::Traced::updated_by) them as they are. `eps` is added to the variances.
///
/// Refuses `InvalidArgument` for a rank below 2.
///
/// ```
/// use tenure::{Program, Tensor, layers::batch_norm, prelude::Tree};
///
/// let step = Program::trace(|graph| {
///     let x = graph.input::<f64>((graph.extent("batch", 64), 1));
///     let running = (graph.input::<f64>([1]), graph.input::<f64>([1]));
///     let (normalized, next) = batch_norm(x, running, None, None, 0.1, 0.0);
///     graph.program((x, running.updated_by(next)), normalized)
/// })?;
/// let mut running = (Tensor::from([0.0]), Tensor::from([1.0]));
/// let normalized = step.run((&[[1.0], [3.0]], (&mut running.0, &mut running.1)))?;
/// assert_eq!(normalized, [[-1.0], [1.0]]);
/// assert_eq!(running, (Tensor::from([0.2]), Tensor::from([0.9 + 0.1 * 2.0])));
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
pub fn batch_norm<'g, T: Float + Real>(
    x: Traced<'g, T>,
    running: (Traced<'g, T>, Traced<'g, T>),
    weight: Option<Traced<'g, T>>,
    bias: Option<Traced<'g, T>>,
    momentum: f64,
    eps: f64,
) -> (Traced<'g, T>, (Traced<'g, T>, Traced<'g, T>)) {
    let (rank, graph) = (x.rank(), x.graph());
    if rank < 2 {
        let why = format!("x has rank {rank} but must have at least 2");
        graph.refuse_call("batch_norm", Location::caller(), Error::invalid(why));
        return (x, running);
    }
    let over: Vec<usize> = (0..rank).filter(|axis| *axis != 1).collect();
    let (mean, var) = (x.mean(&over[..]), x.var(&over[..], 0));
    let root = of_channels((var + Num(eps)).rsqrt(), rank);
    let value = scaled((x - of_channels(mean, rank)) * root, rank, weight, bias);
    let mut count = graph.copy_constant(&[1_i64]).sum(0);
    for axis in over {
        count = count * graph.size_value(x.size(axis));
    }
    // In f64: the count may be more than an f16 has.
    let sample = count.cast::<f64>() / (count - 1).maximum(1).cast::<f64>();
    let var = var * sample.cast::<T>();
    let next = (running.0.lerp(mean, Num(momentum)), running.1.lerp(var, Num(momentum)));
    (value, next)
}
