//! Operations on images, as methods of values.

use std::panic::Location;

use tenure_sys::{
    TNR_NODE_BATCH_NORM, TNR_NODE_CONV2D, TNR_NODE_CONV2D_TRANSPOSED, TNR_NODE_POOL2D,
    tnr_batch_norm_attributes, tnr_pool2d_attributes, tnr_reduce_op,
};

use super::reduce::value_or_none;
use super::state::Step;
use super::{Size, Traced};
use crate::dtype::Float;
use crate::error::Result;
use crate::nn::pool2d::{ADAPTIVE_POOL, GLOBAL_POOL};
use crate::nn::{conv2d::Conv2d, pool2d::Pool2d};

/// Rows and columns, where they are given.
fn numbers_of(size: Option<[Size<'_>; 2]>) -> Result<Option<[i64; 2]>> {
    size.map(|[height, width]| Ok([height.number()?, width.number()?])).transpose()
}

impl<'g, T: Float> Traced<'g, T> {
    /// The function [`conv2d`](fn@crate::nn::conv2d), of these images and `weight`. The bias is a
    /// value here, one number for each filter; `with` has everything else, and lends none.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let images = graph.input::<f32>((graph.extent("batch", 64), 1, 1, 3));
    ///     let edges = graph.copy_constant(&[[[[1.0, -1.0]]]]);
    ///     graph.program((images,), images.conv2d(edges, None, Conv2d::new()).relu())
    /// })?;
    /// assert_eq!(program.run((&[[[[1.0, 3.0, 2.0]]]],))?, [[[[0.0, 1.0]]]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("convolution", "cross_correlation", "conv1d", "conv"))]
    pub fn conv2d(
        self,
        weight: Traced<'g, T>,
        bias: Option<Traced<'g, T>>,
        with: Conv2d<'_, T>,
    ) -> Traced<'g, T> {
        let kind = ("conv2d", TNR_NODE_CONV2D);
        self.convolved(kind, (weight, bias), with, None, Location::caller())
    }

    /// The function [`conv2d_transposed`](fn@crate::nn::conv2d_transposed), of these images and
    /// `weight`, to the fewest rows and columns: a convolution with `more` of them is
    /// [`conv2d_transposed_to`](Self::conv2d_transposed_to). The bias is a value here; `with` lends
    /// none.
    #[track_caller]
    #[doc(alias("deconvolution", "conv_transpose2d"))]
    pub fn conv2d_transposed(
        self,
        weight: Traced<'g, T>,
        bias: Option<Traced<'g, T>>,
        with: Conv2d<'_, T>,
    ) -> Traced<'g, T> {
        let kind = ("conv2d_transposed", TNR_NODE_CONV2D_TRANSPOSED);
        self.convolved(kind, (weight, bias), with, None, Location::caller())
    }

    /// Computes [`conv2d_transposed`](Self::conv2d_transposed) with results of `size` rows and
    /// columns. A convolution with the same options takes images of that size to the size of these
    /// images.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([1, 1, 1, 2]);
    ///     let weight = graph.copy_constant(&[[[[1.0, 10.0]]]]);
    ///     let apart = Conv2d::new().strides([1, 3]);
    ///     graph.program((x,), x.conv2d_transposed_to(weight, None, apart, [1, 6]))
    /// })?;
    /// assert_eq!(program.run((&[[[[1.0, 2.0]]]],))?, [[[[1.0, 10.0, 0.0, 2.0, 20.0, 0.0]]]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn conv2d_transposed_to(
        self,
        weight: Traced<'g, T>,
        bias: Option<Traced<'g, T>>,
        with: Conv2d<'_, T>,
        size: [impl Into<Size<'g>>; 2],
    ) -> Traced<'g, T> {
        let kind = ("conv2d_transposed", TNR_NODE_CONV2D_TRANSPOSED);
        let size = Some(size.map(Into::into));
        self.convolved(kind, (weight, bias), with, size, Location::caller())
    }

    fn convolved(
        self,
        (name, kind): (&'static str, u32),
        (weight, bias): (Traced<'g, T>, Option<Traced<'g, T>>),
        with: Conv2d<'_, T>,
        size: Option<[Size<'g>; 2]>,
        at: &'static Location<'static>,
    ) -> Traced<'g, T> {
        match (with.of_node(), numbers_of(size)) {
            (Ok(attributes), Ok(numbers)) => {
                let operands = [self.value(), weight.value(), value_or_none(bias)];
                let step = Step::new(name, kind, &operands).named(&["a", "weight", "bias"]);
                let numbers = numbers.as_ref().map_or(&[][..], |numbers| numbers);
                self.graph().step(at, &step.numbers(numbers).with(&attributes))
            }
            (Err(error), _) | (_, Err(error)) => self.graph().refuse(name, at, error),
        }
    }

    /// The function [`batch_norm`](fn@crate::nn::batch_norm), of these images, by values: one
    /// number for each channel.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f64>([1, 2, 1, 1]);
    ///     let mean = graph.copy_constant(&[1.0, 2.0]);
    ///     let var = graph.copy_constant(&[4.0, 1.0]);
    ///     graph.program((x,), x.batch_norm(mean, var, None, None, 0.0))
    /// })?;
    /// assert_eq!(program.run((&[[[[5.0]], [[3.0]]]],))?, [[[[2.0]], [[1.0]]]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn batch_norm(
        self,
        mean: Traced<'g, T>,
        var: Traced<'g, T>,
        weight: Option<Traced<'g, T>>,
        bias: Option<Traced<'g, T>>,
        eps: f64,
    ) -> Traced<'g, T> {
        let [weight, bias] = [weight, bias].map(value_or_none);
        let operands = [self.value(), mean.value(), var.value(), weight, bias];
        let struct_size = size_of::<tnr_batch_norm_attributes>() as u64;
        let attributes = tnr_batch_norm_attributes { struct_size, eps };
        let step = Step::new("batch_norm", TNR_NODE_BATCH_NORM, &operands);
        let step = step.named(&["a", "mean", "var", "weight", "bias"]).with(&attributes);
        self.graph().step(Location::caller(), &step)
    }

    fn pooled(
        self,
        name: &'static str,
        op: tnr_reduce_op,
        attributes: Result<tnr_pool2d_attributes>,
        size: Option<[Size<'g>; 2]>,
        at: &'static Location<'static>,
    ) -> Traced<'g, T> {
        match (attributes, numbers_of(size)) {
            (Ok(attributes), Ok(numbers)) => {
                let operands = [self.value()];
                let step = Step::new(name, TNR_NODE_POOL2D | op.0 as u32, &operands);
                let numbers = numbers.as_ref().map_or(&[][..], |numbers| numbers);
                self.graph().step(at, &step.numbers(numbers).with(&attributes))
            }
            (Err(error), _) | (_, Err(error)) => self.graph().refuse(name, at, error),
        }
    }

    /// The function [`max_pool2d`](fn@crate::nn::max_pool2d), of these images.
    ///
    /// ```
    /// # use tenure::*;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>([1, 1, 2, 4]);
    ///     graph.program((x,), x.max_pool2d(Pool2d::new([2, 2])))
    /// })?;
    /// let image = [[[[1.0, 2.0, 3.0, 4.0], [8.0, 7.0, 6.0, 5.0]]]];
    /// assert_eq!(program.run((&image,))?, [[[[8.0, 6.0]]]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    pub fn max_pool2d(self, windows: Pool2d) -> Traced<'g, T> {
        let (op, attributes) = (tnr_reduce_op::MAX, windows.attributes());
        self.pooled("max_pool2d", op, attributes, None, Location::caller())
    }

    /// The function [`avg_pool2d`](fn@crate::nn::avg_pool2d), of these images.
    #[track_caller]
    pub fn avg_pool2d(self, windows: Pool2d) -> Traced<'g, T> {
        let (op, attributes) = (tnr_reduce_op::MEAN, windows.attributes());
        self.pooled("avg_pool2d", op, attributes, None, Location::caller())
    }

    /// The function [`adaptive_max_pool2d`](fn@crate::nn::adaptive_max_pool2d), of these images.
    #[track_caller]
    pub fn adaptive_max_pool2d(self, size: [impl Into<Size<'g>>; 2]) -> Traced<'g, T> {
        let (op, size) = (tnr_reduce_op::MAX, Some(size.map(Into::into)));
        self.pooled("adaptive_max_pool2d", op, Ok(ADAPTIVE_POOL), size, Location::caller())
    }

    /// The function [`adaptive_avg_pool2d`](fn@crate::nn::adaptive_avg_pool2d), of these images.
    #[track_caller]
    pub fn adaptive_avg_pool2d(self, size: [impl Into<Size<'g>>; 2]) -> Traced<'g, T> {
        let (op, size) = (tnr_reduce_op::MEAN, Some(size.map(Into::into)));
        self.pooled("adaptive_avg_pool2d", op, Ok(ADAPTIVE_POOL), size, Location::caller())
    }

    /// The function [`global_avg_pool2d`](fn@crate::nn::global_avg_pool2d), of these images.
    #[track_caller]
    pub fn global_avg_pool2d(self) -> Traced<'g, T> {
        let op = tnr_reduce_op::MEAN;
        self.pooled("global_avg_pool2d", op, Ok(GLOBAL_POOL), None, Location::caller())
    }
}
