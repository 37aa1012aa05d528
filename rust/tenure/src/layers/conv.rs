//! Convolutions of one and of three axes, by those of two.

use std::panic::Location;

use crate::dtype::Float;
use crate::error::{Error, Result};
use crate::nn::conv2d::Conv2d;
use crate::ops::pad::PadMode;
use crate::program::{Size, Traced};

/// Options of [`conv1d`] and [`conv3d`]: how filters move over `N` axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv<const N: usize> {
    strides: [usize; N],
    padding: [[usize; 2]; N],
    dilations: [usize; N],
    groups: usize,
}

impl<const N: usize> Default for Conv<N> {
    fn default() -> Self {
        Conv::new()
    }
}

impl<const N: usize> Conv<N> {
    /// Steps of one element, no padding and one group.
    pub const fn new() -> Self {
        Conv { strides: [1; N], padding: [[0; 2]; N], dilations: [1; N], groups: 1 }
    }

    /// Elements of the input from one position of the filter to the next.
    #[must_use]
    pub const fn strides(mut self, strides: [usize; N]) -> Self {
        self.strides = strides;
        self
    }

    /// Zeros before the input, and as many behind it.
    #[must_use]
    pub fn padding(self, padding: [usize; N]) -> Self {
        self.padding_around(padding.map(|count| [count; 2]))
    }

    /// Zeros before and behind the input: a causal convolution has none behind it.
    #[must_use]
    pub const fn padding_around(mut self, padding: [[usize; 2]; N]) -> Self {
        self.padding = padding;
        self
    }

    /// Elements of the input from one element of the filter to the next.
    #[must_use]
    pub const fn dilations(mut self, dilations: [usize; N]) -> Self {
        self.dilations = dilations;
        self
    }

    /// Groups into which channels and filters are cut.
    #[must_use]
    pub const fn groups(mut self, groups: usize) -> Self {
        self.groups = groups;
        self
    }

    /// The number of positions along an axis.
    #[track_caller]
    fn positions<'g>(&self, axis: usize, extent: Size<'g>, kernel: usize) -> Size<'g> {
        let [before, behind] = self.padding[axis];
        let reach = self.dilations[axis].saturating_mul(kernel - 1).saturating_add(1);
        (extent + before + behind - reach).over(self.strides[axis]) + 1
    }

    /// The kernel's extents, of filters whose shape agrees with the input's.
    fn kernel<T: Float>(&self, x: Traced<'_, T>, weight: Traced<'_, T>) -> Result<[usize; N]> {
        let [of_x, of_weight] = [x.largest_shape(), weight.largest_shape()];
        let [rank, weight_rank] = [of_x.len(), of_weight.len()];
        if rank != N + 2 || weight_rank != N + 2 {
            return Err(Error::invalid(format!(
                "x has rank {rank} and weight has rank {weight_rank} but both must have {}",
                N + 2
            )));
        }
        if self.groups == 0 || of_x[1] != of_weight[1].saturating_mul(self.groups) {
            return Err(Error::invalid(format!(
                "x has {} channels but weight has {} for each of {} groups",
                of_x[1], of_weight[1], self.groups
            )));
        }
        for axis in 0..N {
            let (extent, [before, behind]) = (of_x[axis + 2], self.padding[axis]);
            let (kernel, dilation) = (of_weight[axis + 2], self.dilations[axis]);
            if kernel == 0 || dilation == 0 || self.strides[axis] == 0 {
                return Err(Error::invalid(format!(
                    "the kernel, the stride and the dilation of axis {axis} are {kernel}, {} and \
                     {dilation} but must be at least 1",
                    self.strides[axis]
                )));
            }
            let reach = dilation.saturating_mul(kernel - 1).saturating_add(1);
            let padded = extent.saturating_add(before).saturating_add(behind);
            if reach > padded {
                return Err(Error::invalid(format!(
                    "the kernel reaches over {reach} elements of axis {axis} but the padded input \
                     has {padded}"
                )));
            }
        }
        Ok(std::array::from_fn(|axis| of_weight[axis + 2]))
    }
}

/// The cross-correlation of sequences `[n, channels, length]` and filters
/// `[filters, channels / groups, kernel]`: `[n, filters, positions]`. It is
/// [`conv2d`](Traced::conv2d) of images of one row. The bias is one number for each filter.
///
/// Refuses `InvalidArgument` for other ranks, channels that do not agree, a stride, a dilation or a
/// kernel of 0, and a kernel that reaches beyond the padded input, which is also refused in a run.
///
/// ```
/// use tenure::Program;
/// use tenure::layers::{Conv, conv1d};
///
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f32>((1, 1, graph.extent("length", 100)));
///     let differences = graph.copy_constant(&[[[-1.0, 1.0]]]);
///     graph.program((x,), conv1d(x, differences, None, Conv::new()))
/// })?;
/// assert_eq!(program.run((&[[[1.0, 4.0, 9.0]]],))?, [[[3.0, 5.0]]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
pub fn conv1d<'g, T: Float>(
    x: Traced<'g, T>,
    weight: Traced<'g, T>,
    bias: Option<Traced<'g, T>>,
    with: Conv<1>,
) -> Traced<'g, T> {
    let [kernel] = match with.kernel(x, weight) {
        Ok(kernel) => kernel,
        Err(error) => {
            x.graph().refuse_call("conv1d", Location::caller(), error);
            return x;
        }
    };
    let options = Conv2d::new()
        .strides([1, with.strides[0]])
        .padding_around([0, 0], with.padding[0])
        .dilations([1, with.dilations[0]])
        .groups(with.groups);
    let (n, filters) = (x.size(0), weight.size(0));
    let length = with.positions(0, x.size(2), kernel);
    let y = x.unsqueeze(2).conv2d(weight.unsqueeze(2), bias, options);
    // `conv2d` itself states no extent that depends on a named one.
    y.broadcast((n, filters, 1, length)).reshape((n, filters, length))
}

/// The cross-correlation of volumes `[n, channels, depth, height, width]` and filters
/// `[filters, channels / groups, depth, height, width]`:
/// `[n, filters, depths, rows, columns]`. The bias is one number for each filter.
///
/// It is [`conv2d`](Traced::conv2d) of images whose channels are those of all depths that a filter
/// meets: a copy of the input for each depth of the kernel.
///
/// Refuses `InvalidArgument` for other ranks, channels that do not agree, a stride, a dilation or a
/// kernel of 0, and a kernel that reaches beyond the padded input, which is also refused in a run.
///
/// ```
/// use tenure::Program;
/// use tenure::layers::{Conv, conv3d};
///
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f32>((1, 1, graph.extent("frames", 100), 1, 2));
///     let mean = graph.copy_constant(&[[[[[0.5]], [[0.5]]]]]);
///     graph.program((x,), conv3d(x, mean, None, Conv::new()))
/// })?;
/// let frames = [[[[[1.0, 2.0]], [[3.0, 4.0]], [[7.0, 0.0]]]]];
/// assert_eq!(program.run((&frames,))?.to_vec(), [2.0, 3.0, 5.0, 2.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
pub fn conv3d<'g, T: Float>(
    x: Traced<'g, T>,
    weight: Traced<'g, T>,
    bias: Option<Traced<'g, T>>,
    with: Conv<3>,
) -> Traced<'g, T> {
    let kernel = match with.kernel(x, weight) {
        Ok(kernel) => kernel,
        Err(error) => {
            x.graph().refuse_call("conv3d", Location::caller(), error);
            return x;
        }
    };
    let (n, filters) = (x.size(0), weight.size(0));
    let [depth, height, width] = [0, 1, 2].map(|axis| x.size(axis + 2));
    let depths = with.positions(0, depth, kernel[0]);
    let rows = with.positions(1, height, kernel[1]);
    let columns = with.positions(2, width, kernel[2]);
    let shape = x.largest_shape();
    let images = depth_windows(x, with, kernel[0], depths).reshape((
        n * depths,
        shape[1] * kernel[0],
        height,
        width,
    ));
    let filters_of_depths = weight.largest_shape()[1] * kernel[0];
    let flat = weight.reshape((filters, filters_of_depths, kernel[1], kernel[2]));
    let options = Conv2d::new()
        .strides([with.strides[1], with.strides[2]])
        .padding_around(with.padding[1], with.padding[2])
        .dilations([with.dilations[1], with.dilations[2]])
        .groups(with.groups);
    let y = images.conv2d(flat, bias, options).broadcast((n * depths, filters, rows, columns));
    y.reshape((n, depths, filters, rows, columns)).permute(&[0, 2, 1, 3, 4])
}

/// `[n, depths, channels, kernel, height, width]`: the depths that a filter meets at each position.
#[track_caller]
fn depth_windows<'g, T: Float>(
    x: Traced<'g, T>,
    with: Conv<3>,
    kernel: usize,
    depths: Size<'g>,
) -> Traced<'g, T> {
    let mut by_depth = x.permute(&[0, 2, 1, 3, 4]);
    let mut sizes = [0, 2, 1, 3, 4].map(|axis| x.size(axis));
    let [before, behind] = with.padding[0];
    if before > 0 || behind > 0 {
        sizes[1] = sizes[1] + before + behind;
        by_depth = by_depth.pad_to(sizes, [0, before, 0, 0, 0], PadMode::Constant(T::default()));
    }
    let stride = with.strides[0];
    let mut parts = Vec::with_capacity(kernel);
    for start in (0..kernel).map(|nth| nth * with.dilations[0]) {
        let stop = (depths - 1) * stride + (start + 1);
        sizes[1] = depths;
        let part = by_depth.slice_step(1, start, stop, stride);
        // A slice itself states no extent that depends on a named one.
        parts.push(part.broadcast(sizes).unsqueeze(3));
    }
    x.graph().concat(parts, 3)
}
