//! Expressions that are checked once, and computed on other memory again and again.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use tenure_sys::tnr_view;

use super::update::next_call;
use super::{Expr, Host, Place, shape};
use crate::ops::{Extents, filled};
use crate::raw::LentMut;
use crate::raw::expression::{Code, Graph, Inputs, LendView, PlanHandle};
use crate::raw::program::PlaceMemory;
use crate::{AsViewMut, Element, Error, Real, Result, Tensor, layout};

/// An [expression](Expr) of inputs that are yet to come, checked for their shapes and strides: for
/// many calls on few elements.
///
/// `I` are the inputs' element types: a tuple of up to eight, or an array of up to 32. What the
/// expression reads besides, weights for example, stays borrowed for `'a`: with the inputs up to 32
/// views. Any number of threads may run one plan.
///
/// ```
/// use tenure::{Plan, Tensor};
///
/// let weights = Tensor::from([10.0, 20.0]);
/// let (a, b) = (Tensor::from([1.0, 2.0]), Tensor::from([3.0, 4.0]));
/// let plan = Plan::new((&a, &b), |(a, b)| a * &weights + b)?;
/// assert_eq!(plan.run((&a, &b))?, [13.0, 44.0]);
///
/// let mut out = [0.0; 2];
/// for step in 0..3 {
///     plan.run_into((&[f64::from(step), 1.0], &b), &mut out)?; // other memory of the same layouts
/// }
/// assert_eq!(out, [23.0, 24.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
///
/// `P` is where its inputs are: here, or on a device, where a [stream](crate::cuda::Stream::plan)
/// makes it and runs it.
pub struct Plan<'a, I, T, P = Host> {
    handle: PlanHandle,
    shape: Extents,
    _kept: PhantomData<&'a ()>,
    _types: PhantomData<fn(I) -> (T, P)>,
}

/// The element types of a plan's inputs: a tuple of up to eight, or an array of up to 32 of one type.
/// Sealed.
pub trait PlanInputs<P: Place = Host>: sealed::Sealed {
    /// An expression of each, in the place `P`.
    type Exprs<'e>;

    #[doc(hidden)]
    fn exprs<'e>(next: &mut dyn FnMut() -> Graph<'e>) -> Self::Exprs<'e>;
}

mod sealed {
    pub trait Sealed {}
}

/// Inputs that a [`Plan`] is made for, or run on, in the place `P`: a tuple of up to eight
/// operands, or an array of operands of one type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be lent as inputs of the types `{I}`",
    label = "not a tuple or array of tensors, views or arrays of these element types",
    note = "one input alone is written as `(&a,)` or `[&a]`"
)]
pub trait LendInputs<I: PlanInputs<P>, P: Place = Host> {
    #[doc(hidden)]
    fn lend<'s>(&'s self, inputs: &mut Inputs<'_, 's>);
}

impl<T: Element, const N: usize> sealed::Sealed for [T; N] {}
impl<T: Element, P: Place, const N: usize> PlanInputs<P> for [T; N] {
    type Exprs<'e> = [Expr<'e, T, P>; N];

    fn exprs<'e>(next: &mut dyn FnMut() -> Graph<'e>) -> [Expr<'e, T, P>; N] {
        std::array::from_fn(|_| Expr { graph: next(), _result: PhantomData })
    }
}

impl<T: Element, P: Place, A: LendView<T, P>, const N: usize> LendInputs<[T; N], P> for [A; N] {
    #[inline(always)]
    fn lend<'s>(&'s self, inputs: &mut Inputs<'_, 's>) {
        for input in self {
            inputs.push(input.lent_leaf());
        }
    }
}

macro_rules! tuples {
    ($($($element:ident $input:ident)+;)*) => {$(
        impl<$($element: Element),+> sealed::Sealed for ($($element,)+) {}
        impl<P: Place, $($element: Element),+> PlanInputs<P> for ($($element,)+) {
            type Exprs<'e> = ($(Expr<'e, $element, P>,)+);

            fn exprs<'e>(next: &mut dyn FnMut() -> Graph<'e>) -> Self::Exprs<'e> {
                ($(Expr::<$element, P> { graph: next(), _result: PhantomData },)+)
            }
        }

        impl<P: Place, $($element: Element, $input: LendView<$element, P>),+>
            LendInputs<($($element,)+), P> for ($($input,)+)
        {
            #[allow(non_snake_case, reason = "a variable for each type")]
            #[inline(always)]
            fn lend<'s>(&'s self, inputs: &mut Inputs<'_, 's>) {
                let ($($input,)+) = self;
                $(inputs.push($input.lent_leaf());)+
            }
        }
    )*};
}

tuples! {
    T1 A1;
    T1 A1 T2 A2;
    T1 A1 T2 A2 T3 A3;
    T1 A1 T2 A2 T3 A3 T4 A4;
    T1 A1 T2 A2 T3 A3 T4 A4 T5 A5;
    T1 A1 T2 A2 T3 A3 T4 A4 T5 A5 T6 A6;
    T1 A1 T2 A2 T3 A3 T4 A4 T5 A5 T6 A6 T7 A7;
    T1 A1 T2 A2 T3 A3 T4 A4 T5 A5 T6 A6 T7 A7 T8 A8;
}

impl<'a, I: PlanInputs, T: Real> Plan<'a, I, T> {
    /// Checks the expression that `f` makes of its arguments, for inputs of the layouts of these and
    /// a row-major output of its shape. No element is read.
    ///
    /// # Errors
    ///
    /// As [`Expr::eval`]; an input is called by its number, from 0. `InvalidArgument`: more than 32
    /// views, inputs among them. `UnboundArgument`: `f` returns an expression of the argument of
    /// another call. `Unsupported`: a normalization with a weight or a bias, which can be operands of
    /// their own.
    #[track_caller]
    pub fn new<L, F>(inputs: L, f: F) -> Result<Self>
    where
        L: LendInputs<I>,
        F: FnOnce(I::Exprs<'a>) -> Expr<'a, T>,
    {
        let at = Location::caller();
        Self::made((), &inputs, None, f, at)
    }

    /// As [`new`](Self::new), for an output of the layout of this one, to whose shape the result is
    /// broadcast. Nothing is written there.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and as [`Expr::eval_into`] of the output's shape.
    ///
    /// ```
    /// use tenure::{Plan, Tensor, TensorViewMut};
    ///
    /// let a = Tensor::from([1, 2]);
    /// let mut every_other = [0; 4];
    /// let mut out = TensorViewMut::from_slice(&mut every_other, 4)?;
    /// let mut out = out.slice_step(0, .., 2)?;
    /// let plan = Plan::with_output((&a,), &mut out, |(a,)| a + 1)?;
    /// plan.run_into((&a,), &mut out)?;
    /// assert_eq!(every_other, [2, 0, 3, 0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[track_caller]
    pub fn with_output<L, F>(
        inputs: L,
        out: &mut (impl AsViewMut<T> + ?Sized),
        f: F,
    ) -> Result<Self>
    where
        L: LendInputs<I>,
        F: FnOnce(I::Exprs<'a>) -> Expr<'a, T>,
    {
        let at = Location::caller();
        out.with_view_mut(|out| Self::made((), &inputs, Some(out.raw()), f, at))
    }
}

impl<'a, I: PlanInputs<P>, T: Real, P: Place + PlaceMemory> Plan<'a, I, T, P> {
    pub(super) fn made(
        place: P::At<'_>,
        inputs: &impl LendInputs<I, P>,
        out: Option<&tnr_view>,
        f: impl FnOnce(I::Exprs<'a>) -> Expr<'a, T, P>,
        at: &'static Location<'static>,
    ) -> Result<Self> {
        Inputs::with(|mut lent| {
            inputs.lend(&mut lent);
            let (call, shapes) = (next_call(), lent.shapes()?);
            let mut numbers = 0..shapes.len();
            let mut graph = f(I::exprs(&mut || {
                // An implementation of `LendInputs` elsewhere may lend fewer than there are types.
                let number = numbers.next().expect("an input for each type");
                Graph::input(call, number, shapes[number].as_slice().len())
            }))
            .graph;
            graph.check(call)?;
            if graph.nodes().is_empty() {
                graph.unary(Code::cast::<T>(), at);
            }
            let bound = shape::Bound { output: &[], inputs: &shapes };
            let result = shape::of_result(&graph, bound)?;
            let (layout, shape) = match out {
                Some(out) => (*out, Extents::of(layout::extents(out))),
                None => {
                    let plain = row_major::<T>(result.as_slice())?;
                    (tnr_view { device: P::device(place), ..plain }, result)
                }
            };
            let handle = P::within(place, || graph.plan(call, &lent, &layout))
                .map_err(|error| shape::located(&graph, error))?;
            Ok(Plan { handle, shape, _kept: PhantomData, _types: PhantomData })
        })
    }
}

impl<I: PlanInputs, T: Element> Plan<'_, I, T> {
    /// The result on these inputs, as a new row-major tensor.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: another shape or other strides of an input than the plan was made for, an
    /// output that is not row-major, an integer divided by zero or to a negative power.
    /// `OutOfMemory`.
    pub fn run(&self, inputs: impl LendInputs<I>) -> Result<Tensor<T>> {
        filled(self.shape.as_slice(), |out| self.compute(&inputs, out))
    }

    /// The result on these inputs, into memory of the caller's, of the layout that the plan was made
    /// for.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run). `OutOfMemory` only of a reduction amid others that has many results.
    #[inline]
    pub fn run_into(
        &self,
        inputs: impl LendInputs<I>,
        out: &mut (impl AsViewMut<T> + ?Sized),
    ) -> Result<()> {
        out.with_view_mut(|out| self.compute(&inputs, out.lent_mut()))
    }
}

impl<I: PlanInputs<P>, T: Element, P: Place> Plan<'_, I, T, P> {
    /// In the context of the call.
    #[inline(always)]
    pub(super) fn compute(&self, inputs: &impl LendInputs<I, P>, out: LentMut<'_>) -> Result<()> {
        Inputs::with(|mut lent| {
            inputs.lend(&mut lent);
            self.handle.run(lent, out)
        })
    }

    /// The shape of the output.
    pub fn shape(&self) -> &[usize] {
        self.shape.as_slice()
    }
}

impl<I, T: Element, P> fmt::Debug for Plan<'_, I, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan<{}>({:?})", T::DTYPE, self.shape.as_slice())
    }
}

/// A layout without memory: no element is there.
fn row_major<T: Element>(extents: &[usize]) -> Result<tnr_view> {
    let count = match extents.contains(&0) {
        true => Some(0),
        false => extents.iter().try_fold(1_usize, |count, &extent| count.checked_mul(extent)),
    };
    let bytes = count.and_then(|count| isize::try_from(count.checked_mul(size_of::<T>())?).ok());
    match (count, bytes) {
        (Some(count), Some(_)) => {
            // Aligned for every element, and not null.
            Ok(layout::exact(std::ptr::without_provenance(64), count, T::DTYPE, extents))
        }
        _ => Err(Error::invalid(format!("a result of shape {extents:?} fits no memory"))),
    }
}
