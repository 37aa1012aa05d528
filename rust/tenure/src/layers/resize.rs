//! Images of other sizes.

use std::panic::Location;

use super::positions;
use crate::dtype::{Float, Real};
use crate::error::{Error, Result};
use crate::program::{Size, Traced};

/// The elements that make an element of a resized image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Interpolation {
    Nearest,
    Linear,
}

/// The coordinate in the input of element `i` of the result, where an input of `a` elements becomes
/// `b`. The distance between elements is 1, and element 0 is at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coordinates {
    /// `(i + 0.5) a / b - 0.5`: elements are squares, and the edges of both images meet. ONNX
    /// says `half_pixel`; PyTorch's `bilinear` without `align_corners`, and `nearest-exact`.
    HalfPixel,
    /// `i (a - 1) / (b - 1)`: the first and the last elements of both images meet. ONNX and PyTorch
    /// say `align_corners`.
    AlignCorners,
    /// `i a / b`. ONNX says `asymmetric`; PyTorch's `nearest`.
    Asymmetric,
}

/// Options of [`resize`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Resize {
    interpolation: Interpolation,
    coordinates: Coordinates,
}

impl Resize {
    /// The element at the coordinate, rounded down, of [asymmetric](Coordinates::Asymmetric)
    /// coordinates: PyTorch's `nearest`. Other coordinates take the nearest element, and the later
    /// one of two that are equally near.
    pub const fn nearest() -> Self {
        Resize { interpolation: Interpolation::Nearest, coordinates: Coordinates::Asymmetric }
    }

    /// Linear between the neighbours along each axis, of [half-pixel](Coordinates::HalfPixel)
    /// coordinates: bilinear for two axes, trilinear for three. Coordinates outside of the image
    /// count as those of its edge. An image that becomes smaller is not filtered before.
    #[doc(alias("bilinear", "trilinear"))]
    pub const fn linear() -> Self {
        Resize { interpolation: Interpolation::Linear, coordinates: Coordinates::HalfPixel }
    }

    /// Other coordinates.
    #[must_use]
    pub const fn coordinates(mut self, coordinates: Coordinates) -> Self {
        self.coordinates = coordinates;
        self
    }

    /// One axis at other extents. `factor` is the ratio of the extents where it is given.
    #[track_caller]
    fn along<'g, T: Float + Real>(
        self,
        x: Traced<'g, T>,
        [axis, rank]: [usize; 2],
        to: Size<'g>,
        factor: Option<f64>,
    ) -> Traced<'g, T> {
        let (graph, from) = (x.graph(), x.size(axis));
        let [last, end] = [graph.size_value(from) - 1, graph.size_value(to) - 1];
        let at = positions(graph, to).cast::<f64>();
        // The ratio as a quotient: exact coordinates stay exact.
        let scaled = |at: Traced<'g, f64>| match factor {
            Some(factor) => at / factor,
            None => at * (last + 1).cast::<f64>() / (end + 1).cast::<f64>(),
        };
        let coordinate = match self.coordinates {
            Coordinates::HalfPixel => scaled(at + 0.5) - 0.5,
            Coordinates::AlignCorners => at * last.cast::<f64>() / end.maximum(1).cast::<f64>(),
            Coordinates::Asymmetric => scaled(at),
        };
        let last = last.cast::<f64>();
        match self.interpolation {
            Interpolation::Nearest => {
                let before = match self.coordinates {
                    Coordinates::Asymmetric => coordinate.floor(),
                    _ => (coordinate + 0.5).floor(),
                };
                x.take(axis, before.clamp(0.0, last).cast::<i64>())
            }
            Interpolation::Linear => {
                let inside = coordinate.clamp(0.0, last);
                let before = inside.floor();
                let share = (inside - before).cast::<T>();
                let mut sizes = vec![1.into(); rank - axis];
                sizes[0] = to;
                let behind = (before + 1.0).minimum(last).cast::<i64>();
                let neighbours = x.take(axis, before.cast::<i64>());
                neighbours.lerp(x.take(axis, behind), share.reshape(sizes))
            }
        }
    }
}

/// The images `x`, `[.., height, width]`, at another size of their last axes: one number makes
/// sequences longer or shorter, two are of images, three of volumes. Equal neighbours give
/// themselves exactly.
///
/// The coordinates are computed in f64, and the elements in their own type. The gradient of the
/// images is the transposed interpolation.
///
/// Refuses `InvalidArgument` for more sizes than axes. A run refuses images without elements that
/// are to have some.
///
/// ```
/// use tenure::Program;
/// use tenure::layers::{Coordinates, Resize, resize};
///
/// let program = Program::trace(|graph| {
///     let (height, width) = (graph.extent("height", 512), graph.extent("width", 512));
///     let x = graph.input::<f32>((height, width));
///     let corners = Resize::linear().coordinates(Coordinates::AlignCorners);
///     let (smooth, plain) = (resize(x, [2, 3], corners), resize(x, [2, 4], Resize::nearest()));
///     graph.program((x,), (smooth, plain))
/// })?;
/// let (smooth, plain) = program.run((&[[1.0, 3.0]],))?;
/// assert_eq!(smooth, [[1.0, 2.0, 3.0]; 2]);
/// assert_eq!(plain, [[1.0, 1.0, 3.0, 3.0]; 2]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
#[doc(alias("interpolate", "upsample", "scale"))]
pub fn resize<'g, T: Float + Real, const N: usize>(
    x: Traced<'g, T>,
    sizes: [impl Into<Size<'g>>; N],
    with: Resize,
) -> Traced<'g, T> {
    if let Err(error) = require_axes(x.rank(), N) {
        x.graph().refuse_call("resize", Location::caller(), error);
        return x;
    }
    let (mut resized, rank) = (x, x.rank());
    for (nth, size) in sizes.into_iter().enumerate() {
        resized = with.along(resized, [rank - N + nth, rank], size.into(), None);
    }
    resized
}

/// [`resize`] by a factor for each of the last axes: to as many elements as the product of the
/// extent and the factor, rounded down. The factor itself gives the coordinates, like `scale_factor` of
/// PyTorch and the scales of ONNX; [`AlignCorners`](Coordinates::AlignCorners) takes the extents.
///
/// A factor of an axis of a named extent is a quotient of numbers up to 64.
///
/// Refuses `InvalidArgument` for more factors than axes, and a factor that is not above 0 and
/// finite.
///
/// ```
/// use tenure::Program;
/// use tenure::layers::{Resize, resize_by};
///
/// let program = Program::trace(|graph| {
///     let x = graph.input::<f32>([graph.extent("length", 100)]);
///     graph.program((x,), resize_by(x, [1.5], Resize::linear()))
/// })?;
/// let resized = program.run((&[0.0, 3.0],))?.to_vec();
/// assert!(resized.iter().zip([0.0, 1.5, 3.0]).all(|(a, b)| (a - b).abs() < 1e-6));
/// # Ok::<(), tenure::Error>(())
/// ```
#[track_caller]
pub fn resize_by<'g, T: Float + Real, const N: usize>(
    x: Traced<'g, T>,
    factors: [f64; N],
    with: Resize,
) -> Traced<'g, T> {
    let (mut resized, rank) = (x, x.rank());
    for (nth, factor) in factors.into_iter().enumerate() {
        let to = require_axes(rank, N).and_then(|()| {
            let axis = rank - N + nth;
            Ok((axis, multiplied(x.size(axis), factor)?))
        });
        match to {
            Ok((axis, to)) => resized = with.along(resized, [axis, rank], to, Some(factor)),
            Err(error) => {
                x.graph().refuse_call("resize_by", Location::caller(), error);
                return x;
            }
        }
    }
    resized
}

fn require_axes(rank: usize, count: usize) -> Result<()> {
    match count <= rank {
        true => Ok(()),
        false => Err(Error::invalid(format!("there are {count} sizes but x has rank {rank}"))),
    }
}

/// The product of an extent and a factor, rounded down.
fn multiplied(extent: Size<'_>, factor: f64) -> Result<Size<'_>> {
    /// Quotients of small numbers are the factors that networks have.
    const MOST: usize = 64;
    if !(factor > 0.0 && factor.is_finite()) {
        return Err(Error::invalid(format!("a factor is {factor} but must be above 0 and finite")));
    }
    if let Some(extent) = extent.known() {
        return Ok(((extent as f64 * factor) as usize).into());
    }
    for divisor in 1..=MOST {
        let product = (factor * divisor as f64).round();
        if product <= MOST as f64 && product / divisor as f64 == factor {
            return Ok((extent * product as usize).over(divisor));
        }
    }
    Err(Error::invalid(format!(
        "a factor is {factor} but must be a quotient of numbers up to {MOST} for a named extent"
    )))
}
