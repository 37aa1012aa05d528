//! Products of matrices, as methods of values.

use std::panic::Location;

use tenure_sys::{TNR_NODE_EINSUM, TNR_NODE_MATMUL};

use super::reduce::value_or_none;
use super::state::Step;
use super::{Graph, Traced};
use crate::dtype::{Element, Factor, Float};
use crate::linalg::matmul::Matmul;
use crate::program::calls::einsum_of_node;

const NAMES: &[&str] = &["a", "b", "bias"];

/// A product without an epilogue.
fn product<'g, A: Element, B: Element, R: Element>(
    a: Traced<'g, A>,
    b: Traced<'g, B>,
    at: &'static Location<'static>,
) -> Traced<'g, R> {
    let operands = [a.value(), b.value()];
    a.graph().step(at, &Step::new("matmul", TNR_NODE_MATMUL, &operands).named(NAMES))
}

impl<'g, T: Factor> Traced<'g, T> {
    /// The function [`matmul`](fn@crate::linalg::matmul), of this and `b`.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let (a, b) = (graph.input::<f32>([2, 3]), graph.input::<f32>([3]));
    ///     graph.program((a, b), a.matmul(b))
    /// })?;
    /// assert_eq!(program.run((&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &[1.0, 0.0, 1.0]))?, [4.0, 10.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("gemm", "gemv", "dot", "mm", "bmm"))]
    pub fn matmul(self, b: Traced<'g, T>) -> Traced<'g, T::Product> {
        product(self, b, Location::caller())
    }

    /// The function [`matmul_with`](fn@crate::linalg::matmul_with), of this and `b`. The bias is a
    /// value here, of the extent of the last axis; `with` has the activation and the bounds, and
    /// lends none.
    ///
    /// Separate operations that add a bias and apply an activation become part of the product as
    /// well, if nothing else reads the values between them.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let (a, b) = (graph.input::<f32>([2, 2]), graph.input::<f32>([2, 2]));
    ///     let bias = graph.copy_constant(&[-5.0, 1.0]);
    ///     let relu = Matmul::new().activation(Activation::Relu);
    ///     graph.program((a, b), a.matmul_with(b, Some(bias), relu))
    /// })?;
    /// let unit = [[1.0, 0.0], [0.0, 1.0]];
    /// assert_eq!(program.run((&[[1.0, 2.0], [7.0, 4.0]], &unit))?, [[0.0, 3.0], [2.0, 5.0]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("linear", "addmm", "dense", "fully_connected"))]
    pub fn matmul_with(
        self,
        b: Traced<'g, T>,
        bias: Option<Traced<'g, T::Product>>,
        with: Matmul<'_, T>,
    ) -> Traced<'g, T::Product> {
        let at = Location::caller();
        match with.of_node() {
            Ok(attributes) => {
                let operands = [self.value(), b.value(), value_or_none(bias)];
                let step = Step::new("matmul", TNR_NODE_MATMUL, &operands).named(NAMES);
                self.graph().step(at, &step.with(&attributes))
            }
            Err(error) => self.graph().refuse("matmul", at, error),
        }
    }
}

impl<'g> Traced<'g, u8> {
    /// The function [`matmul_u8_i8`](fn@crate::linalg::matmul_u8_i8), of this and `b`.
    #[track_caller]
    #[doc(alias("quantized", "MatMulInteger"))]
    pub fn matmul_u8_i8(self, b: Traced<'g, i8>) -> Traced<'g, i32> {
        product(self, b, Location::caller())
    }
}

impl<'g> Graph<'g> {
    /// The function [`einsum`](fn@crate::linalg::einsum), of values.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let batch = graph.extent("batch", 64);
    ///     let (a, b) = (graph.input::<f32>((batch, 2)), graph.input::<f32>((batch, 2)));
    ///     graph.program((a, b), graph.einsum("bi,bi->b", [a, b]))
    /// })?;
    /// assert_eq!(program.run((&[[1.0, 2.0]], &[[3.0, 4.0]]))?, [11.0]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("tensordot", "contract", "trace", "outer", "diagonal"))]
    pub fn einsum<T: Float>(
        self,
        spec: &str,
        operands: impl AsRef<[Traced<'g, T>]>,
    ) -> Traced<'g, T> {
        let at = Location::caller();
        let operands: Vec<u32> = operands.as_ref().iter().map(|operand| operand.value()).collect();
        match einsum_of_node(spec.as_bytes()) {
            Ok(attributes) => {
                let step = Step::new("einsum", TNR_NODE_EINSUM, &operands);
                self.step(at, &step.named(&["an operand"]).with(&attributes))
            }
            Err(error) => self.refuse("einsum", at, error),
        }
    }
}
