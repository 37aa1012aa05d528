//! Expressions of operands on a device, and the stream that computes them.

use std::marker::PhantomData;

use crate::cuda::{AsViewMut, LayerNorm, Stream, Tensor, TensorView, TensorViewMut};
use crate::dtype::{Element, Float};
use crate::error::Result;
use crate::expr::memory_space::sealed as spaces;
use crate::expr::update::next_call;
use crate::expr::{Expr, IntoExpr, MemorySpace, OnDevice, sealed, shape};
use crate::raw::expression::{Graph, Leaf};

impl MemorySpace for OnDevice {
    type LayerNorm<'a, T: Float> = LayerNorm<'a, T>;
}

impl spaces::MemorySpace for OnDevice {}

impl<'a, T: Float> spaces::Leaves<'a> for LayerNorm<'a, T> {
    fn leaves(self) -> (f64, [Option<Leaf<'a>>; 2]) {
        self.into_leaves()
    }
}

macro_rules! operands {
    ($($type:ty;)*) => {$(
        impl<'a, T: Element> IntoExpr<'a, T, OnDevice> for &'a $type {}
        impl<'a, T: Element> sealed::Operand<'a, T, OnDevice> for &'a $type {
            type GraphOperand = Leaf<'a>;
            #[inline]
            fn graph_operand(self) -> Leaf<'a> {
                self.leaf()
            }
        }

        impl<T: Element> $type {
            /// An [expression](Expr) that has this as its only operand, for methods: operators take
            /// references, and views by value. A [stream](Stream::eval) computes it.
            ///
            /// ```
            /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
            /// # let stream = device.stream()?;
            /// let mut tensor = stream.upload(&[1.0, 4.0])?;
            /// let roots = stream.eval(&tensor.view_mut().view().expr().sqrt())?;
            /// assert_eq!(stream.to_vec(&roots)?, [1.0, 2.0]);
            /// # Ok::<(), tenure::Error>(())
            /// ```
            #[inline]
            pub fn expr(&self) -> Expr<'_, T, OnDevice> {
                self.into_expr()
            }
        }
    )*};
}

operands! { Tensor<T>; TensorView<'_, T>; TensorViewMut<'_, T>; }

impl<'a, T: Element> IntoExpr<'a, T, OnDevice> for TensorView<'a, T> {}
impl<'a, T: Element> sealed::Operand<'a, T, OnDevice> for TensorView<'a, T> {
    type GraphOperand = Leaf<'a>;
    #[inline]
    fn graph_operand(self) -> Leaf<'a> {
        self.into_leaf()
    }
}

/// Copies the view, as for a view that a method returns.
impl<'a, T: Element> From<TensorView<'a, T>> for Expr<'a, T, OnDevice> {
    #[inline]
    fn from(view: TensorView<'a, T>) -> Self {
        view.into_expr()
    }
}

/// Expressions.
impl Stream {
    /// Computes an [expression](Expr) of tensors and views of the device, enqueued: in one launch
    /// where it is no longer than that takes. A new row-major tensor.
    ///
    /// The bits are those of this stream's methods one by one.
    ///
    /// # Errors
    ///
    /// The errors of [`Expr::eval`], and `Unsupported`: complex numbers. `OutOfMemory`: also for
    /// what passes between launches. `DeviceError`.
    ///
    /// ```
    /// # use tenure::Axes;
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let a = stream.upload(&[[1.0, 3.0], [4.0, 8.0]])?;
    /// let scale = stream.upload(&[2.0, 4.0])?;
    /// let scaled = stream.eval(&((&a - 1.0) / &scale))?; // one launch
    /// assert_eq!(stream.to_vec(&scaled)?, [0.0, 0.5, 1.5, 1.75]);
    ///
    /// let centred = stream.eval(&(&a - a.expr().mean(Axes::keep(-1))))?;
    /// assert_eq!(stream.to_vec(&centred)?, [-1.0, 1.0, -2.0, 2.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn eval<T: Element>(&self, expression: &Expr<'_, T, OnDevice>) -> Result<Tensor<T>> {
        let graph = &expression.graph;
        graph.check(0)?;
        let extents = shape::of_result(graph, &[])?;
        self.filled(extents.as_slice(), |out| graph.evaluate(0, out))
            .map_err(|error| shape::located(graph, error))
    }

    /// Computes an [expression](Expr) into memory of the device, to whose shape the result is
    /// broadcast, enqueued.
    ///
    /// # Errors
    ///
    /// The errors of [`eval`](Self::eval), and `InvalidArgument` for another shape of `out`.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let a = stream.upload(&[1.0, 4.0])?;
    /// let mut out = stream.zeros::<f64>([2, 2])?;
    /// stream.eval_into(&a.expr().sqrt(), &mut out)?;
    /// assert_eq!(stream.to_vec(&out)?, [1.0, 2.0, 1.0, 2.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn eval_into<T: Element>(
        &self,
        expression: &Expr<'_, T, OnDevice>,
        out: &mut impl AsViewMut<T>,
    ) -> Result<()> {
        self.compute(&expression.graph, 0, &mut out.as_view_mut())
    }

    /// Computes an [expression](Expr) of the elements of `out` in their place, enqueued: `f` gets
    /// an expression that represents them, as in [`tenure::Tensor::update`](crate::Tensor::update).
    ///
    /// # Errors
    ///
    /// The errors of [`eval_into`](Self::eval_into). `UnboundArgument`: the argument of another
    /// such call.
    ///
    /// ```
    /// # let Ok(device) = tenure::cuda::Device::new(0) else { return Ok(()) };
    /// # let stream = device.stream()?;
    /// let mut weights = stream.upload(&[1.0, 2.0])?;
    /// let gradient = stream.upload(&[10.0, -10.0])?;
    /// stream.update(&mut weights, |x| x - &gradient * 0.1)?;
    /// assert_eq!(stream.to_vec(&weights)?, [0.0, 3.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn update<'e, T: Element>(
        &self,
        out: &mut impl AsViewMut<T>,
        f: impl FnOnce(Expr<'e, T, OnDevice>) -> Expr<'e, T, OnDevice>,
    ) -> Result<()> {
        let mut out = out.as_view_mut();
        let call = next_call();
        let graph = Graph::output(call, out.rank());
        let updated = f(Expr { graph, _result: PhantomData });
        self.compute(&updated.graph, call, &mut out)
    }

    fn compute<T: Element>(
        &self,
        graph: &Graph<'_>,
        call: u32,
        out: &mut TensorViewMut<'_, T>,
    ) -> Result<()> {
        self.within(|| graph.evaluate(call, out.lent_mut()))
            .map_err(|error| shape::refused(graph, error, out.shape()))
    }
}
