//! Numbers as integers of 8 bits with scales: a quarter of the memory, and products of integers.
//!
//! | functions | |
//! | --- | --- |
//! | [`dynamic`] | rounds numbers by scales that are chosen from them, as a [`Scheme`] says |
//! | [`by_scales`], [`dequantize`] | round numbers by given scales, and give numbers again |
//! | [`Weights`], [`linear`] | a matrix of weights that is quantized to 8 or 4 bits and packed once, and rows of numbers times it |
//! | [`matmul`] | the product of two quantized matrices |
//! | [`conv2d`] | the convolution of quantized images by quantized filters |
//! | [`Calibration`], [`Comparison`] | ranges of values of a graph for [static quantization](crate::Graph::quantize_static), and its damage |
//!
//! A number is `(value - zero) * scale`. Scales and zero points are tensors next to the values.
//! Sums of products are exact, so that results have the same bits on every processor.
//!
//! ```
//! use tenure::Matmul;
//! use tenure::quantize::{Weights, linear};
//!
//! let weights = Weights::new(&[[0.5_f32, -1.0], [0.25, 0.125]])?;
//! let product = linear(&[[1.0_f32, 2.0]], &weights, Matmul::new())?;
//! assert!((product[[0, 0]] - 1.0).abs() < 0.01 && (product[[0, 1]] + 0.75).abs() < 0.01);
//! # Ok::<(), tenure::Error>(())
//! ```

mod calibration;
mod comparison;
mod histogram;
mod report;

pub(crate) use calibration::Node;
pub use calibration::{Calibration, Observer, ValueRange};
pub use comparison::Comparison;
pub(crate) use comparison::FIGURES;
pub use report::{Damage, NodeDamage, Report};

use crate::dense::Tensor;
use crate::dtype::{DType, Factor, Float};
use crate::error::{Error, Result};
use crate::layout::axis::Axis;
use crate::linalg::matmul::{Matmul, product_shape};
use crate::nn::conv2d::Conv2d;
use crate::operand::AsView;
use crate::ops::results::{Extents, filled, filled_in, named, order_of_images};
use crate::raw::factor::FactorHandle;
use crate::raw::quantize::{self, Right};

/// Which numbers share a scale, and whether they have a zero point.
///
/// ```
/// use tenure::quantize::{self, Scheme};
///
/// let a = [[1.0_f32, 127.0], [0.5, -63.5]];
/// let rows = quantize::dynamic::<i8, _>(&a, Scheme::per_row())?;
/// assert_eq!(rows.values().to_vec(), [1, 127, 1, -127]);
/// assert_eq!(rows.scales().to_vec(), [1.0, 0.5]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme {
    shared: Shared,
    is_affine: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shared {
    All,
    Row,
    Index(Axis),
    Group(usize),
}

impl Scheme {
    const fn of(shared: Shared) -> Scheme {
        Scheme { shared, is_affine: false }
    }

    /// One scale for all numbers.
    pub const fn per_tensor() -> Scheme {
        Scheme::of(Shared::All)
    }

    /// A scale for each row, along the last axis: of activations, one for each token.
    pub const fn per_row() -> Scheme {
        Scheme::of(Shared::Row)
    }

    /// A scale for each index of an axis: of weights `[k, n]`, `per_axis(1)` has one for each output.
    pub fn per_axis(axis: impl Into<Axis>) -> Scheme {
        Scheme::of(Shared::Index(axis.into()))
    }

    /// A scale for each group of `size` adjacent numbers along the last axis. The size divides the
    /// extent of the axis.
    pub const fn per_group(size: usize) -> Scheme {
        Scheme::of(Shared::Group(size))
    }

    /// With zero points, so that the integers are spread over a range that is not symmetric. `u8`
    /// needs them.
    pub const fn affine(mut self) -> Scheme {
        self.is_affine = true;
        self
    }

    pub(crate) const fn is_affine(self) -> bool {
        self.is_affine
    }

    pub(crate) fn scales_of(self, shape: &[usize]) -> Result<Extents> {
        let mut extents = Extents::of(shape);
        let rank = extents.rank;
        match self.shared {
            Shared::All => extents.values[..rank].fill(1),
            Shared::Row => extents.values[..rank].iter_mut().rev().take(1).for_each(|n| *n = 1),
            Shared::Index(axis) => {
                let Some(axis) = axis.of(rank) else {
                    return Err(Error::invalid(format!("no axis {axis:?} in {shape:?}")));
                };
                extents.values[..rank].fill(1);
                extents.values[axis] = shape[axis];
            }
            Shared::Group(size) => {
                let Some(&extent) = shape.last() else {
                    return Err(Error::invalid("a number has no axis of groups"));
                };
                if size == 0 || extent % size != 0 {
                    let message = format!("a group is {size} numbers but must divide {extent}");
                    return Err(Error::invalid(message));
                }
                extents.values[rank - 1] = extent / size;
            }
        }
        Ok(extents)
    }
}

/// Integers, `i8` or `u8`, with the scales and zero points that make numbers of them.
#[derive(Debug)]
pub struct Quantized<I: Factor<Product = i32>> {
    values: Tensor<I>,
    scales: Tensor<f32>,
    zeros: Option<Tensor<I>>,
}

impl<I: Factor<Product = i32>> Quantized<I> {
    /// Values that are quantized already. The shape of `scales` has extents of 1, of the values, or
    /// that divide those of the values; `zeros` have the shape of `scales`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: `zeros` of another shape than `scales`. Operations refuse scales that do
    /// not fit the values.
    pub fn from_parts(
        values: Tensor<I>,
        scales: Tensor<f32>,
        zeros: Option<Tensor<I>>,
    ) -> Result<Self> {
        if let Some(zeros) = zeros.as_ref().filter(|zeros| zeros.shape() != scales.shape()) {
            let (of_zeros, of_scales) = (zeros.shape(), scales.shape());
            let message = format!("zeros has shape {of_zeros:?} but scales has {of_scales:?}");
            return Err(Error::invalid(message));
        }
        Ok(Quantized { values, scales, zeros })
    }

    /// The integers.
    pub fn values(&self) -> &Tensor<I> {
        &self.values
    }

    /// The scales.
    pub fn scales(&self) -> &Tensor<f32> {
        &self.scales
    }

    /// The zero points; without them all are 0.
    pub fn zeros(&self) -> Option<&Tensor<I>> {
        self.zeros.as_ref()
    }
}

/// Lends the parts of one for a call.
macro_rules! lent {
    ($of:ident => $values:ident, $lent:ident) => {
        let ($values, scales) = ($of.values.as_view(), $of.scales.as_view());
        let zeros = $of.zeros.as_ref().map(Tensor::as_view);
        let $lent = quantize::Quantized {
            values: $values.lent(),
            scales: Some(scales.lent()),
            zeros: zeros.as_ref().map(|zeros| zeros.lent()),
        };
    };
}

/// Rounds numbers to integers by scales that are chosen from them.
///
/// A scale without a zero point is the greatest magnitude divided by 127. With one it is the range,
/// which includes 0, divided by 255. NaN becomes the zero point, and infinities the integers at the
/// ends.
///
/// # Errors
///
/// `InvalidArgument`: an axis that is not there, a group that does not divide the last extent, and
/// `u8` without [`affine`](Scheme::affine). `Unsupported`: `f64`. `OutOfMemory`.
#[doc(alias("quantize", "DynamicQuantizeLinear"))]
pub fn dynamic<I: Factor<Product = i32>, T: Float>(
    a: impl AsView<T>,
    scheme: Scheme,
) -> Result<Quantized<I>> {
    named("dynamic", || {
        let a = a.as_view();
        let extents = scheme.scales_of(a.shape())?;
        let (mut scales, mut zeros) = (None, None);
        let values = filled(a.shape(), |out| {
            scales = Some(filled(extents.as_slice(), |of_scales| {
                if !scheme.is_affine {
                    return quantize::quantize_dynamic(a.lent(), 8, of_scales, None, out);
                }
                zeros = Some(filled(extents.as_slice(), |of_zeros| {
                    quantize::quantize_dynamic(a.lent(), 8, of_scales, Some(of_zeros), out)
                })?);
                Ok(())
            })?);
            Ok(())
        })?;
        let scales = scales.expect("the closure has run");
        Ok(Quantized { values, scales, zeros })
    })
}

/// Rounds numbers to integers by given scales, `a / scale` to nearest, ties to even, plus the zero
/// point, between the ends of the type.
///
/// # Errors
///
/// `InvalidArgument`: scales that do not fit the shape of `a`, a scale that is not finite or not
/// above 0, and zeros of another shape than `scales`. `Unsupported`: `f64`. `OutOfMemory`.
///
/// ```
/// use tenure::{TensorView, quantize::by_scales};
///
/// let none: Option<&[i8; 1]> = None;
/// let values = by_scales(&[0.25_f32, 0.75, 100.0], &[0.5], none)?;
/// assert_eq!(values, [0, 2, 127]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("QuantizeLinear"))]
pub fn by_scales<I: Factor<Product = i32>, T: Float>(
    a: impl AsView<T>,
    scales: &(impl AsView<f32> + ?Sized),
    zeros: Option<&(impl AsView<I> + ?Sized)>,
) -> Result<Tensor<I>> {
    named("by_scales", || {
        let (a, scales) = (a.as_view(), scales.as_view());
        let zeros = zeros.map(AsView::as_view);
        let zeros = zeros.as_ref().map(|zeros| zeros.lent());
        filled(a.shape(), |out| quantize::quantize(a.lent(), scales.lent(), zeros, out))
    })
}

/// The numbers that integers are.
///
/// # Errors
///
/// `InvalidArgument`: scales that do not fit the values. `Unsupported`: `f64`. `OutOfMemory`.
///
/// ```
/// use tenure::quantize::{self, Scheme};
///
/// let a = [[0.0_f32, 51.0], [25.5, -204.0]];
/// let affine = quantize::dynamic::<u8, _>(&a, Scheme::per_tensor().affine())?;
/// assert_eq!(affine.values(), &[[204, 255], [230, 0]]);
/// assert_eq!(quantize::dequantize::<f32, _>(&affine)?, [[0.0, 51.0], [26.0, -204.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("DequantizeLinear"))]
pub fn dequantize<T: Float, I: Factor<Product = i32>>(a: &Quantized<I>) -> Result<Tensor<T>> {
    named("dequantize", || {
        lent!(a => values, of);
        let scales = a.scales.as_view();
        filled(values.shape(), |out| quantize::dequantize(&of, scales.lent(), out))
    })
}

/// A matrix `[k, n]` of weights for [`linear`], quantized by columns and packed once.
#[derive(Debug)]
pub struct Weights {
    factor: FactorHandle,
    scales: Option<Tensor<f32>>, // the factor has those of groups
}

impl Weights {
    /// Quantizes each column by its own scale.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a rank that is not 2. `Unsupported`: `f64`. `OutOfMemory`.
    pub fn new<T: Float>(weights: impl AsView<T>) -> Result<Weights> {
        Weights::of(&dynamic(weights, Scheme::per_axis(1))?)
    }

    /// Quantizes to 4 bits, by a scale for each group of `group` adjacent rows of a column: 32, 64
    /// or 128. A group and its scale have an eighth of the bytes of `f32`, and 4 bytes. [`linear`]
    /// quantizes each group of a row of numbers by its own scale, too.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a rank that is not 2, and a group that is another one or does not divide the
    /// rows. `Unsupported`: `f64`. `OutOfMemory`.
    ///
    /// ```
    /// use tenure::{Matmul, Tensor, linalg::matmul, quantize::{Weights, linear}};
    ///
    /// let x: Tensor<f32> = tenure::random::Generator::new(1).normal(0.0, 1.0, [3, 256])?;
    /// let w: Tensor<f32> = tenure::random::Generator::new(2).normal(0.0, 1.0, [256, 64])?;
    /// let weights = Weights::four_bits(&w, 32)?;
    /// assert!(weights.size_bytes() as f64 <= 0.16 * (4 * w.len()) as f64);
    /// let (fast, exact) = (linear(&x, &weights, Matmul::new())?, matmul(&x, &w)?);
    /// let norm = |x: &Tensor<f32>| x.to_vec().iter().map(|x| x * x).sum::<f32>().sqrt();
    /// assert!(norm(&tenure::ops::sub(&fast, &exact)?) < 0.15 * norm(&exact));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    #[doc(alias("int4", "MatMulNBits"))]
    pub fn four_bits<T: Float>(weights: impl AsView<T>, group: usize) -> Result<Weights> {
        named("four_bits", || {
            let weights = weights.as_view();
            let &[rows, columns] = weights.shape() else {
                let message = format!("weights have rank {} but must have 2", weights.rank());
                return Err(Error::invalid(message));
            };
            if !matches!(group, 32 | 64 | 128) || rows % group != 0 {
                let message =
                    format!("a group is {group} rows but must be 32, 64 or 128, and divide {rows}");
                return Err(Error::invalid(message));
            }
            let mut scales = None;
            let values = filled(weights.shape(), |out| {
                scales = Some(filled(&[rows / group, columns], |of_scales| {
                    quantize::quantize_dynamic(weights.lent(), 4, of_scales, None, out)
                })?);
                Ok(())
            })?;
            Weights::of_groups(&values, &scales.expect("the closure has run"))
        })
    }

    fn of_groups(values: &Tensor<i8>, scales: &Tensor<f32>) -> Result<Weights> {
        let (values, scales) = (values.as_view(), scales.as_view());
        let factor = FactorHandle::create(values.lent(), DType::I8, Some(scales.lent()))?;
        Ok(Weights { factor, scales: None })
    }

    /// Packs weights that are quantized already, with one scale for each column, and without zero
    /// points; or values from -8 to 7 with scales `[k / group, n]`, as weights of
    /// [4 bits](Self::four_bits).
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a rank that is not 2, zero points, scales that are neither, and values that
    /// do not fit 4 bits. `OutOfMemory`.
    pub fn of(weights: &Quantized<i8>) -> Result<Weights> {
        let columns = weights.values.shape().last().copied();
        if weights.zeros.is_some() {
            return Err(Error::invalid("weights have zero points, but packed ones must have none"));
        }
        if matches!(*weights.scales.shape(), [groups, cols] if groups > 1 && Some(cols) == columns)
        {
            return Weights::of_groups(&weights.values, &weights.scales);
        }
        if weights.scales.shape().last().copied() != columns
            || weights.scales.len() != columns.unwrap_or(0)
        {
            let shapes = (weights.values.shape(), weights.scales.shape());
            let message = format!(
                "weights {:?} must have a scale for each column, not {:?}",
                shapes.0, shapes.1
            );
            return Err(Error::invalid(message));
        }
        Ok(Weights {
            factor: FactorHandle::create(weights.values.as_view().lent(), DType::I8, None)?,
            scales: Some(weights.scales.as_view().flatten()?.to_tensor()?),
        })
    }

    /// Rows: the number of columns of the left factor.
    pub fn rows(&self) -> usize {
        self.factor.info().rows as usize
    }

    /// Columns.
    pub fn cols(&self) -> usize {
        self.factor.info().cols as usize
    }

    /// Bytes that a product reads of it.
    pub fn size_bytes(&self) -> usize {
        self.factor.info().size_bytes as usize + 4 * self.scales.as_ref().map_or(0, Tensor::len)
    }
}

/// Rows of numbers times quantized weights: each row is quantized by its own scale first. `a` is
/// `[..., m, k]` or `[k]`.
///
/// # Errors
///
/// `InvalidArgument`: shapes that do not agree, a bias of another length, and more than 33,025 rows
/// of weights, whose sums may not be exact. `Unsupported`: `f64`. `OutOfMemory`.
///
/// ```
/// use tenure::{Activation, Matmul, quantize::{Weights, linear}};
///
/// let weights = Weights::new(&[[1.0_f32, -1.0], [1.0, 1.0]])?;
/// let with = Matmul::new().bias(&[0.5, 0.5]).activation(Activation::Relu);
/// assert_eq!(linear(&[[127.0_f32, -127.0]], &weights, with)?, [[0.5, 0.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn linear<T: Float>(
    a: impl AsView<T>,
    weights: &Weights,
    with: Matmul<'_, f32>,
) -> Result<Tensor<T>> {
    named("linear", || {
        let (a, scales) = (a.as_view(), weights.scales.as_ref().map(Tensor::as_view));
        let scales = scales.as_ref().map(|scales| scales.lent());
        let extents = product_shape(a.shape(), &[weights.rows(), weights.cols()])?;
        let left = quantize::Quantized { values: a.lent(), scales: None, zeros: None };
        let right = Right::Packed(&weights.factor);
        filled(extents.as_slice(), |out| {
            quantize::matmul(&left, &right, [scales, None], with.lent(), out)
        })
    })
}

/// The product of two quantized matrices as numbers: `a` is `[..., m, k]` with a scale for each row,
/// or fewer, and `b` is `[k, n]` with a scale for each column, or fewer.
///
/// # Errors
///
/// `InvalidArgument`: shapes or scales that do not agree, and more than 33,025 products in a sum.
/// `OutOfMemory`.
///
/// ```
/// use tenure::{Matmul, quantize::{self, Scheme}};
///
/// let a = quantize::dynamic::<u8, _>(&[[0.0_f32, 255.0]], Scheme::per_row().affine())?;
/// let b = quantize::dynamic::<i8, _>(&[[1.0_f32], [2.0]], Scheme::per_axis(1))?;
/// assert_eq!(quantize::matmul(&a, &b, Matmul::new())?, [[510.0]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("QLinearMatMul", "MatMulInteger"))]
pub fn matmul<A: Factor<Product = i32>, B: Factor<Product = i32>>(
    a: &Quantized<A>,
    b: &Quantized<B>,
    with: Matmul<'_, f32>,
) -> Result<Tensor<f32>> {
    named("matmul", || {
        let extents = product_shape(a.values.shape(), b.values.shape())?;
        lent!(a => a_values, left);
        lent!(b => b_values, right);
        let of_b = [right.scales, right.zeros];
        let right = Right::Values(right.values);
        filled(extents.as_slice(), |out| quantize::matmul(&left, &right, of_b, with.lent(), out))
    })
}

/// The convolution of quantized images, `[images, channels, height, width]`, by quantized filters,
/// `[filters, channels / groups, height, width]`, as numbers. The images have one scale, and the
/// filters have one each, `[filters, 1, 1, 1]`, or fewer. The padding is the number 0.
///
/// Adjacent channels are fastest, of images whose view is
/// [`channels_last`](crate::TensorView::channels_last); the result has the order of the images.
///
/// # Errors
///
/// The errors of [`nn::conv2d`](crate::nn::conv2d), and `InvalidArgument` for scales that do not
/// agree, and filters of more than 33,025 elements.
///
/// ```
/// use tenure::{Conv2d, quantize::{self, Scheme}};
///
/// let image = [[[[0.0_f32, 51.0, 255.0]]]];
/// let image = quantize::dynamic::<u8, _>(&image, Scheme::per_tensor().affine())?;
/// let filter = quantize::dynamic::<i8, _>(&[[[[127.0_f32, -127.0]]]], Scheme::per_axis(0))?;
/// let edges = quantize::conv2d(&image, &filter, Conv2d::new())?;
/// assert_eq!(edges, [[[[-51.0 * 127.0, -204.0 * 127.0]]]]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("QLinearConv", "ConvInteger"))]
pub fn conv2d<A: Factor<Product = i32>, B: Factor<Product = i32>>(
    a: &Quantized<A>,
    weight: &Quantized<B>,
    with: Conv2d<'_, f32>,
) -> Result<Tensor<f32>> {
    named("conv2d", || {
        let attributes = with.plain.attributes()?;
        let shape = with.plain.result_shape(a.values.shape(), weight.values.shape());
        let order = order_of_images(&a.values.as_view());
        lent!(a => a_values, image);
        lent!(weight => weight_values, filters);
        let bias = with.bias.as_ref().map(|bias| bias.lent());
        filled_in(&shape, order, |out| quantize::conv2d(&image, &filters, bias, &attributes, out))
    })
}
