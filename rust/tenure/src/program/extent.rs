//! Extents of a graph: numbers that are known when it is traced, and symbolic values that each run
//! finds in its inputs.

use std::fmt;
use std::ops::{Add, Div, Mul, Sub};
use std::panic::Location;

use tenure_sys::{TNR_EXTENT, TNR_MAX_RANK, TNR_NODE_EXTENT, tnr_extent_op};

use super::state::Step;
use super::{Graph, Traced};
use crate::dtype::DType;
use crate::error::{Error, Result};

/// An extent that each run has: that of an axis of an input ([`Graph::extent`]), the number of
/// elements that it finds ([`nonzero`](crate::Traced::nonzero)), or one that is made of others by
/// `+ - * /` (which rounds down) and the methods below.
///
/// An extent is no negative number: a difference below 0 is refused, where all extents are at their
/// maxima when it is made, and in each run for those that it has.
///
/// ```
/// use tenure::Program;
///
/// let program = Program::trace(|graph| {
///     let n = graph.extent("n", 100);
///     let x = graph.input::<i32>((n, 4));
///     graph.program((x,), x.reshape((n * 2, 2)).slice(0, 0, n * 2 - 1))
/// })?;
/// assert_eq!(program.run((&[[1, 2, 3, 4]],))?, [[1, 2]]);
/// assert_eq!(program.run((&[[0; 4]; 50],))?.shape(), [99, 2]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Extent<'g> {
    graph: Graph<'g>,
    /// The extent in the library's encoding.
    number: i64,
}

/// An extent, or a number that is one: of the types `usize`, `isize` and `i32`.
///
/// Sizes are added, subtracted and multiplied as [extents](Extent) are.
///
/// ```
/// use tenure::Program;
///
/// let program = Program::trace(|graph| {
///     let x = graph.input::<i32>((graph.extent("n", 100), 4));
///     let (rows, width) = (x.size(0), x.size(1));
///     graph.program((x,), x.reshape(rows * width).slice(0, 0, rows * width - 1))
/// })?;
/// assert_eq!(program.run((&[[1, 2, 3, 4]],))?, [1, 2, 3]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Size<'g>(Given<'g>);

#[derive(Clone, Copy)]
enum Given<'g> {
    Number(i64),
    /// No extent is this number.
    Outside(i128),
    Extent(Extent<'g>),
}

impl<'g> Extent<'g> {
    pub(super) fn of(graph: Graph<'g>, number: i64) -> Self {
        Extent { graph, number }
    }

    fn combined(
        self,
        op: tnr_extent_op,
        [a, b]: [Size<'g>; 2],
        at: &'static Location<'static>,
    ) -> Self {
        let number = self.graph.number(at, "an extent", |state| {
            state.handle.combine_extents(op, a.number()?, b.number()?)
        });
        Extent { number, ..self }
    }

    /// The quotient, rounded up.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let n = graph.extent("n", 100);
    ///     let x = graph.input::<i32>([n]);
    ///     graph.program((x,), x.slice(0, 0, n.div_up(2)))
    /// })?;
    /// assert_eq!(program.run((&[1, 2, 3],))?, [1, 2]);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    #[track_caller]
    #[doc(alias = "div_ceil")]
    pub fn div_up(self, divisor: impl Into<Size<'g>>) -> Self {
        let of = [self.into(), divisor.into()];
        self.combined(tnr_extent_op::DIV_UP, of, Location::caller())
    }

    /// The smaller one.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let n = graph.extent("n", 100);
    ///     let x = graph.input::<i32>([n]);
    ///     graph.program((x,), x.slice(0, 0, n.min(2)))
    /// })?;
    /// assert_eq!(program.run((&[1, 2, 3],))?, [1, 2]);
    /// assert_eq!(program.run((&[1],))?, [1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn min(self, other: impl Into<Size<'g>>) -> Self {
        let of = [self.into(), other.into()];
        self.combined(tnr_extent_op::MIN, of, Location::caller())
    }

    /// The greater one.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let n = graph.extent("n", 100);
    ///     let x = graph.input::<i32>([n]);
    ///     graph.program((x,), x.slice(0, n.max(2) - 2, n))
    /// })?;
    /// assert_eq!(program.run((&[1, 2, 3],))?, [2, 3]);
    /// assert_eq!(program.run((&[1],))?, [1]);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn max(self, other: impl Into<Size<'g>>) -> Self {
        let of = [self.into(), other.into()];
        self.combined(tnr_extent_op::MAX, of, Location::caller())
    }
}

impl<'g> Size<'g> {
    /// A number in the library's encoding.
    pub(super) fn of(graph: Graph<'g>, number: i64) -> Self {
        Size(match number {
            TNR_EXTENT.. => Given::Extent(Extent::of(graph, number)),
            _ => Given::Number(number),
        })
    }
}

impl<'g> Graph<'g> {
    /// A size, as a value of rank 0.
    #[track_caller]
    pub(crate) fn size_value(self, size: Size<'g>) -> Traced<'g, i64> {
        let (name, at) = ("size", Location::caller());
        match size.number() {
            Ok(number) => {
                let numbers = [number];
                let step = Step::new(name, TNR_NODE_EXTENT, &[]).cast(DType::I64);
                self.step(at, &step.numbers(&numbers))
            }
            Err(error) => self.refuse(name, at, error),
        }
    }
}

impl Size<'_> {
    fn counted(number: i128) -> Self {
        Size(match i64::try_from(number) {
            Ok(number @ 0..TNR_EXTENT) => Given::Number(number),
            _ => Given::Outside(number),
        })
    }

    /// The quotient, rounded down, by at least 1.
    #[track_caller]
    pub(crate) fn over(self, divisor: usize) -> Self {
        let divisor = divisor.max(1);
        match self.0 {
            Given::Number(number) => Size::counted(i128::from(number) / divisor as i128),
            Given::Extent(extent) => {
                let of = [self, divisor.into()];
                extent.combined(tnr_extent_op::DIV, of, Location::caller()).into()
            }
            outside @ Given::Outside(_) => Size(outside),
        }
    }

    /// The number, where it is one before a run.
    pub(crate) fn known(self) -> Option<usize> {
        match self.0 {
            Given::Number(number) => usize::try_from(number).ok(),
            _ => None,
        }
    }

    /// The next number: the number of offsets for this number of rows.
    pub(super) fn next(self, at: &'static Location<'static>) -> Self {
        match self.0 {
            // Less than 2^62, so that there is a next one.
            Given::Number(number) => Size(Given::Number(number + 1)),
            Given::Extent(extent) => {
                extent.combined(tnr_extent_op::ADD, [self, 1.into()], at).into()
            }
            outside @ Given::Outside(_) => Size(outside),
        }
    }

    /// The extent in the library's encoding, or `most` for a number that is greater.
    pub(super) fn number_up_to(self, most: i64) -> Result<i64> {
        match self.0 {
            Given::Outside(0..) => Ok(most),
            _ => self.number(),
        }
    }

    /// The extent in the library's encoding.
    pub(super) fn number(self) -> Result<i64> {
        match self.0 {
            Given::Number(number) => Ok(number),
            Given::Extent(extent) => Ok(extent.number),
            Given::Outside(number) => {
                Err(Error::invalid(format!("an extent is {number} but must be 0 to 2^62 - 1")))
            }
        }
    }
}

impl<'g> From<Extent<'g>> for Size<'g> {
    fn from(extent: Extent<'g>) -> Self {
        Size(Given::Extent(extent))
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        impl<'g, S: Into<Size<'g>>> $trait<S> for Extent<'g> {
            type Output = Extent<'g>;
            #[track_caller]
            fn $method(self, other: S) -> Extent<'g> {
                let of = [self.into(), other.into()];
                self.combined(tnr_extent_op::$op, of, Location::caller())
            }
        }
        operators! { @$trait $method $op; usize isize i32 }
    )*};
    (@$trait:ident $method:ident $op:ident; $($number:ty)*) => {$(
        impl<'g> $trait<Extent<'g>> for $number {
            type Output = Extent<'g>;
            #[track_caller]
            fn $method(self, extent: Extent<'g>) -> Extent<'g> {
                let of = [self.into(), extent.into()];
                extent.combined(tnr_extent_op::$op, of, Location::caller())
            }
        }
    )*};
}
operators! { Add add ADD; Sub sub SUB; Mul mul MUL; Div div DIV; }

/// Operators of two sizes: of an extent where one of them is an extent.
macro_rules! size_operators {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        impl<'g, S: Into<Size<'g>>> $trait<S> for Size<'g> {
            type Output = Size<'g>;
            #[track_caller]
            fn $method(self, other: S) -> Size<'g> {
                let of = [self, other.into()];
                match of.map(|size| size.0) {
                    [Given::Extent(extent), _] | [_, Given::Extent(extent)] => {
                        extent.combined(tnr_extent_op::$op, of, Location::caller()).into()
                    }
                    [Given::Number(a), Given::Number(b)] => {
                        Size::counted(i128::from(a).$method(i128::from(b)))
                    }
                    [outside @ Given::Outside(_), _] | [_, outside] => Size(outside),
                }
            }
        }
    )*};
}
size_operators! { Add add ADD; Sub sub SUB; Mul mul MUL; }

macro_rules! sizes {
    ($($number:ty)*) => {$(
        impl From<$number> for Size<'_> {
            fn from(number: $number) -> Self {
                Size::counted(number as i128)
            }
        }
    )*};
}
sizes! { usize isize i32 }

/// A shape whose extents may be found in a run: an array, slice, `Vec` or tuple of [sizes](Size),
/// of different types in a tuple; or a single size. Sealed.
///
/// ```
/// use tenure::Program;
///
/// let program = Program::trace(|graph| {
///     let (n, m) = (graph.extent("n", 8), graph.extent("m", 8));
///     let (a, b) = (graph.input::<f32>([n, m]), graph.input(m));
///     let inputs = (a, b, graph.input::<f64>((3, n + 1)));
///     graph.program(inputs, (inputs.0 + inputs.1, inputs.2))
/// })?;
/// let (sum, _) = program.run((&[[1.0, 2.0]], &[10.0, 20.0], &[[0.0; 2]; 3]))?;
/// assert_eq!(sum, [[11.0, 22.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape of a graph",
    label = "not a shape",
    note = "write it as `[2, 3]`, `(batch, 3)` with an extent of the graph, `6`, a slice or a `Vec`"
)]
pub trait IntoSizes<'g>: sealed::Sizes<'g> {}

mod sealed {
    pub trait Sizes<'g> {
        fn numbers(&self) -> crate::error::Result<super::Numbers>;
    }
}

/// Extents in the library's encoding.
#[derive(Clone, Copy)]
pub struct Numbers {
    values: [i64; TNR_MAX_RANK],
    rank: usize,
}

impl Numbers {
    fn of<'g>(sizes: impl ExactSizeIterator<Item = Size<'g>>) -> Result<Numbers> {
        let rank = sizes.len();
        if rank > TNR_MAX_RANK {
            let message = format!("the shape has rank {rank} but the most is {TNR_MAX_RANK}");
            return Err(Error::invalid(message));
        }
        let mut numbers = Numbers { values: [0; TNR_MAX_RANK], rank };
        for (number, size) in numbers.values.iter_mut().zip(sizes) {
            *number = size.number()?;
        }
        Ok(numbers)
    }

    pub(super) fn as_slice(&self) -> &[i64] {
        &self.values[..self.rank]
    }
}

impl AsRef<[i64]> for Numbers {
    fn as_ref(&self) -> &[i64] {
        self.as_slice()
    }
}

macro_rules! shapes {
    ($([$($generics:tt)*] $type:ty, $self:ident => $sizes:expr;)*) => {$(
        impl<'g, $($generics)*> IntoSizes<'g> for $type {}
        impl<'g, $($generics)*> sealed::Sizes<'g> for $type {
            fn numbers(&$self) -> Result<Numbers> {
                Numbers::of($sizes)
            }
        }
    )*};
}
shapes! {
    [S: Into<Size<'g>> + Copy] [S], self => self.iter().map(|size| (*size).into());
    [S: Into<Size<'g>> + Copy, const N: usize] [S; N], self =>
        self.iter().map(|size| (*size).into());
    [S: Into<Size<'g>> + Copy] Vec<S>, self => self.iter().map(|size| (*size).into());
    [] Extent<'g>, self => [(*self).into()].into_iter();
    [] Size<'g>, self => [*self].into_iter();
    [] usize, self => [(*self).into()].into_iter();
    [] isize, self => [(*self).into()].into_iter();
    [] i32, self => [(*self).into()].into_iter();
    [] (), self => [].into_iter();
}

impl<'g, S: IntoSizes<'g> + ?Sized> IntoSizes<'g> for &S {}
impl<'g, S: sealed::Sizes<'g> + ?Sized> sealed::Sizes<'g> for &S {
    fn numbers(&self) -> Result<Numbers> {
        (**self).numbers()
    }
}

macro_rules! tuples {
    ($($($name:ident)+;)*) => {$(
        impl<'g, $($name: Into<Size<'g>> + Copy),+> IntoSizes<'g> for ($($name,)+) {}
        impl<'g, $($name: Into<Size<'g>> + Copy),+> sealed::Sizes<'g> for ($($name,)+) {
            #[allow(non_snake_case, reason = "a variable for each type")]
            fn numbers(&self) -> Result<Numbers> {
                let ($($name,)+) = *self;
                Numbers::of([$($name.into()),+].into_iter())
            }
        }
    )*};
}
crate::dtype::tuples::up_to_eight!(tuples);

impl fmt::Debug for Extent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extent({})", self.number - TNR_EXTENT)
    }
}

impl fmt::Debug for Size<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Given::Number(number) => number.fmt(f),
            Given::Outside(number) => number.fmt(f),
            Given::Extent(extent) => extent.fmt(f),
        }
    }
}
