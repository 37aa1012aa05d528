//! Quantized numbers in graphs, as methods of values.

use std::panic::Location;

use tenure_sys::{
    TNR_EXTENT, TNR_NODE_DEQUANTIZE, TNR_NODE_QUANTIZE, TNR_NODE_QUANTIZE_DYNAMIC,
    TNR_NODE_QUANTIZED_CONV2D, TNR_NODE_QUANTIZED_MATMUL, TNR_OPERAND_NONE, tnr_quantize_result,
};

use crate::dtype::{DType, Element, Factor, Float};
use crate::error::{Error, Result};
use crate::linalg::matmul::Matmul;
use crate::nn::conv2d::Conv2d;
use crate::program::Traced;
use crate::program::reduce::value_or_none;
use crate::program::state::Step;
use crate::quantize::Scheme;

const NAMES: &[&str] = &["a", "scales", "zeros"];
const OF_CONVOLUTION: &[&str] = &["a", "weight", "a_scale", "scales", "a_zero", "zeros", "bias"];
const OF_PRODUCT: &[&str] = &["a", "b", "a_scales", "b_scales", "a_zeros", "b_zeros", "bias"];

/// Integers in a graph, `i8` or `u8`, with the scales and zero points that make numbers of them: as
/// [`Quantized`](crate::quantize::Quantized), of values.
#[derive(Clone, Copy, Debug)]
pub struct TracedQuantized<'g, I: Element> {
    /// The integers.
    pub values: Traced<'g, I>,
    /// The scales.
    pub scales: Traced<'g, f32>,
    /// The zero points; without them all are 0.
    pub zeros: Option<Traced<'g, I>>,
}

impl<'g, T: Float> Traced<'g, T> {
    /// The function [`by_scales`](crate::quantize::by_scales), of this.
    #[track_caller]
    #[doc(alias("QuantizeLinear"))]
    pub fn quantize<I: Factor<Product = i32>>(
        self,
        scales: Traced<'g, f32>,
        zeros: Option<Traced<'g, I>>,
    ) -> Traced<'g, I> {
        let operands = [self.value(), scales.value(), value_or_none(zeros)];
        let step = Step::new("quantize", TNR_NODE_QUANTIZE, &operands).named(NAMES);
        self.graph().step(Location::caller(), &step.cast(I::DTYPE))
    }

    /// The function [`dynamic`](crate::quantize::dynamic), of this. Only the results that are used
    /// are computed.
    ///
    /// ```
    /// # use tenure::*;
    /// # use tenure::quantize::Scheme;
    /// let program = Program::trace(|graph| {
    ///     let x = graph.input::<f32>((graph.extent("rows", 8), 2));
    ///     let rows = x.quantize_dynamic::<i8>(Scheme::per_row());
    ///     graph.program((x,), (rows.values, rows.scales))
    /// })?;
    /// let (values, scales) = program.run((&[[1.0, 127.0], [0.5, -63.5]],))?;
    /// assert_eq!(values, [[1, 127], [1, -127]]);
    /// assert_eq!(scales, [[1.0], [0.5]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("DynamicQuantizeLinear"))]
    pub fn quantize_dynamic<I: Factor<Product = i32>>(
        self,
        scheme: Scheme,
    ) -> TracedQuantized<'g, I> {
        use tnr_quantize_result as R;
        let at = Location::caller();
        let numbers = self.scales_of(scheme);
        let (values, scales) = match scheme.is_affine() {
            true => (R::AFFINE_VALUES, R::AFFINE_SCALES),
            false => (R::VALUES, R::SCALES),
        };
        TracedQuantized {
            values: self.result_of(I::DTYPE, values, &numbers, at),
            scales: self.result_of(I::DTYPE, scales, &numbers, at),
            zeros: scheme
                .is_affine()
                .then(|| self.result_of(I::DTYPE, R::AFFINE_ZEROS, &numbers, at)),
        }
    }

    fn result_of<R: Element>(
        self,
        integers: DType,
        result: tnr_quantize_result,
        numbers: &Result<Vec<i64>>,
        at: &'static Location<'static>,
    ) -> Traced<'g, R> {
        let numbers = match numbers {
            Ok(numbers) => numbers,
            Err(error) => {
                let error = Error::new(error.kind(), error.message());
                return self.graph().refuse("quantize_dynamic", at, error);
            }
        };
        let operands = [self.value()];
        let code = TNR_NODE_QUANTIZE_DYNAMIC | result.0 as u32;
        let step = Step::new("quantize_dynamic", code, &operands).numbers(numbers);
        self.graph().step(at, &step.cast(integers))
    }

    /// The shape of the scales, as numbers of the graph.
    #[track_caller]
    fn scales_of(self, scheme: Scheme) -> Result<Vec<i64>> {
        let shape = self.largest_shape();
        let scales = scheme.scales_of(&shape)?;
        let sizes = self.sizes();
        let mut numbers = Vec::with_capacity(shape.len());
        for (axis, (&extent, &scales)) in shape.iter().zip(scales.as_slice()).enumerate() {
            let number = sizes[axis].number()?;
            if scales != 1 && scales != extent && number >= TNR_EXTENT {
                let message = format!("groups are of axis {axis}, whose extent has a name");
                return Err(Error::invalid(message));
            }
            numbers.push(if scales == extent { number } else { scales as i64 });
        }
        Ok(numbers)
    }

    /// The function [`linear`](crate::quantize::linear), of values: quantizes each row by its own
    /// scale, and multiplies the rows by a quantized matrix `[k, n]`. The bias is a value of the
    /// extent of the last axis; `with` lends none.
    #[track_caller]
    #[doc(alias("linear"))]
    pub fn quantized_matmul(
        self,
        b: TracedQuantized<'g, i8>,
        bias: Option<Traced<'g, f32>>,
        with: Matmul<'_, f32>,
    ) -> Traced<'g, T> {
        let rows = [self.value(), TNR_OPERAND_NONE, TNR_OPERAND_NONE];
        product(self, rows, b, bias, with, Location::caller())
    }
}

impl<'g, I: Factor<Product = i32>> TracedQuantized<'g, I> {
    /// The function [`dequantize`](crate::quantize::dequantize), of this.
    #[track_caller]
    #[doc(alias("DequantizeLinear"))]
    pub fn dequantize<T: Float>(self) -> Traced<'g, T> {
        let operands = [self.values.value(), self.scales.value(), value_or_none(self.zeros)];
        let step = Step::new("dequantize", TNR_NODE_DEQUANTIZE, &operands).named(NAMES);
        self.values.graph().step(Location::caller(), &step.cast(T::DTYPE))
    }

    /// The function [`matmul`](crate::quantize::matmul), of this and `b`. The bias is a value of the
    /// extent of the last axis; `with` lends none.
    ///
    /// ```
    /// # use tenure::*;
    /// # use tenure::quantize::Scheme;
    /// let program = Program::trace(|graph| {
    ///     let (x, w) = (graph.input::<f32>([1, 2]), graph.input::<f32>([2, 1]));
    ///     let a = x.quantize_dynamic::<u8>(Scheme::per_row().affine());
    ///     let b = w.quantize_dynamic::<i8>(Scheme::per_axis(1));
    ///     graph.program((x, w), a.matmul(b, None, Matmul::new()))
    /// })?;
    /// assert_eq!(program.run((&[[0.0, 255.0]], &[[1.0], [2.0]]))?, [[510.0]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("QLinearMatMul", "MatMulInteger"))]
    pub fn matmul<B: Factor<Product = i32>>(
        self,
        b: TracedQuantized<'g, B>,
        bias: Option<Traced<'g, f32>>,
        with: Matmul<'_, f32>,
    ) -> Traced<'g, f32> {
        let a = [self.values.value(), self.scales.value(), value_or_none(self.zeros)];
        product(self.values, a, b, bias, with, Location::caller())
    }

    /// The function [`conv2d`](crate::quantize::conv2d), of these images and `weight`. The bias is a
    /// value here, one number for each filter; `with` lends none.
    ///
    /// ```
    /// # use tenure::*;
    /// # use tenure::quantize::Scheme;
    /// let program = Program::trace(|graph| {
    ///     let images = graph.input::<f32>((graph.extent("batch", 64), 1, 1, 3));
    ///     let edges = graph.copy_constant(&[[[[127.0_f32, -127.0]]]]);
    ///     let a = images.quantize_dynamic::<u8>(Scheme::per_tensor().affine());
    ///     let filters = edges.quantize_dynamic::<i8>(Scheme::per_axis(0));
    ///     graph.program((images,), a.conv2d(filters, None, Conv2d::new()))
    /// })?;
    /// let edges = program.run((&[[[[0.0, 51.0, 255.0]]]],))?;
    /// assert_eq!(edges, [[[[-51.0 * 127.0, -204.0 * 127.0]]]]);
    /// # Ok::<(), Error>(())
    /// ```
    #[track_caller]
    #[doc(alias("QLinearConv", "ConvInteger"))]
    pub fn conv2d<B: Factor<Product = i32>>(
        self,
        weight: TracedQuantized<'g, B>,
        bias: Option<Traced<'g, f32>>,
        with: Conv2d<'_, f32>,
    ) -> Traced<'g, f32> {
        let (graph, at) = (self.values.graph(), Location::caller());
        match with.of_node() {
            Ok(attributes) => {
                let operands = [
                    self.values.value(),
                    weight.values.value(),
                    self.scales.value(),
                    weight.scales.value(),
                    value_or_none(self.zeros),
                    value_or_none(weight.zeros),
                    value_or_none(bias),
                ];
                let step = Step::new("quantized_conv2d", TNR_NODE_QUANTIZED_CONV2D, &operands);
                graph.step(at, &step.named(OF_CONVOLUTION).cast(f32::DTYPE).with(&attributes))
            }
            Err(error) => graph.refuse("quantized_conv2d", at, error),
        }
    }
}

/// `a` are the values, scales and zeros of `of`.
fn product<'g, A: Element, B: Element, T: Float>(
    of: Traced<'g, A>,
    a: [u32; 3],
    b: TracedQuantized<'g, B>,
    bias: Option<Traced<'g, f32>>,
    with: Matmul<'_, f32>,
    at: &'static Location<'static>,
) -> Traced<'g, T> {
    let (values, b_zeros) = (b.values.value(), value_or_none(b.zeros));
    match with.of_node() {
        Ok(attributes) => {
            let operands =
                [a[0], values, a[1], b.scales.value(), a[2], b_zeros, value_or_none(bias)];
            let step = Step::new("quantized_matmul", TNR_NODE_QUANTIZED_MATMUL, &operands);
            of.graph().step(at, &step.named(OF_PRODUCT).cast(T::DTYPE).with(&attributes))
        }
        Err(error) => of.graph().refuse("quantized_matmul", at, error),
    }
}
