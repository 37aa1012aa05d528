//! Convolutions of images.

use std::mem::size_of;

use tenure_sys::tnr_conv2d_attributes;

use super::activation::Activation;
use crate::dense::{Tensor, TensorView};
use crate::dtype::Float;
use crate::error::Result;
use crate::operand::{AsView, AsViewMut};
use crate::ops::results::{at_least_1, filled_in, no_view, of_both, of_sides, order_of_images};
use crate::raw::operations;

/// The movement of filters, and the activation of their sums: a [`Conv2d`] without its bias, which
/// is a view of the host or of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filtering {
    pub(crate) strides: [usize; 2],
    pub(crate) padding: [[usize; 2]; 2],
    pub(crate) dilations: [usize; 2],
    pub(crate) groups: usize,
    pub(crate) activation: Option<Activation>,
    pub(crate) clamp: Option<[f64; 2]>,
}

impl Filtering {
    pub(crate) const PLAIN: Filtering = Filtering {
        strides: [1, 1],
        padding: [[0, 0], [0, 0]],
        dilations: [1, 1],
        groups: 1,
        activation: None,
        clamp: None,
    };

    /// For the library, to which a 0 says nothing.
    pub(crate) fn attributes(&self) -> Result<tnr_conv2d_attributes> {
        let (flags, [low, high]) = operations::clamp_attributes(self.clamp);
        Ok(tnr_conv2d_attributes {
            struct_size: size_of::<tnr_conv2d_attributes>() as u64,
            strides: of_both("strides", self.strides)?,
            padding: of_sides("padding", self.padding)?,
            dilations: of_both("dilations", self.dilations)?,
            groups: at_least_1(&"groups", self.groups)?,
            activation: Activation::code(self.activation),
            flags,
            low,
            high,
        })
    }

    /// The shape of the transposed convolution's result, or nothing at all where the library
    /// refuses the others.
    pub(crate) fn transposed_shape(
        &self,
        a: &[usize],
        weight: &[usize],
        more: [usize; 2],
    ) -> [usize; 4] {
        let (&[images, _, height, width], &[_, filters, rows, columns]) = (a, weight) else {
            return [0; 4];
        };
        let extent = |axis: usize, places: usize, kernel: usize| {
            let [before, after] = self.padding[axis];
            let moved = places.checked_sub(1)?.checked_mul(self.strides[axis])?;
            let reach = kernel.checked_sub(1)?.checked_mul(self.dilations[axis])?;
            let all = moved.checked_add(reach)?.checked_add(1)?.checked_add(more[axis])?;
            all.checked_sub(before)?.checked_sub(after)
        };
        match (extent(0, height, rows), extent(1, width, columns)) {
            (Some(height), Some(width)) => {
                [images, filters.saturating_mul(self.groups), height, width]
            }
            _ => [0; 4],
        }
    }

    /// The shape of the result, or nothing at all where the library refuses the others.
    pub(crate) fn result_shape(&self, a: &[usize], weight: &[usize]) -> [usize; 4] {
        let (&[images, _, height, width], &[filters, _, rows, columns]) = (a, weight) else {
            return [0; 4];
        };
        let places = |axis: usize, extent: usize, kernel: usize| {
            let [before, after] = self.padding[axis];
            let padded = extent.checked_add(before)?.checked_add(after)?;
            let padded = isize::try_from(padded).ok()? as usize;
            let reach = kernel.checked_sub(1)?.checked_mul(self.dilations[axis])?;
            Some(padded.checked_sub(reach)?.checked_sub(1)? / self.strides[axis] + 1)
        };
        match (places(0, height, rows), places(1, width, columns)) {
            (Some(height), Some(width)) => [images, filters, height, width],
            _ => [0; 4],
        }
    }
}

/// The options of convolutions, for a bias of this kind of view.
macro_rules! conv2d_options {
    ($(#[$about:meta])* $View:ident) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct Conv2d<'a, T: Float> {
            pub(crate) plain: Filtering,
            pub(crate) bias: Option<$View<'a, T>>,
        }

        impl<T: Float> Default for Conv2d<'_, T> {
            fn default() -> Self {
                Conv2d::new()
            }
        }

        impl<'a, T: Float> Conv2d<'a, T> {
            /// Steps of one element, no padding, one group, no bias, no activation and no bounds.
            pub const fn new() -> Self {
                Conv2d { plain: Filtering::PLAIN, bias: None }
            }

            /// Elements of the image from one place of the filter to the next.
            pub const fn strides(mut self, strides: [usize; 2]) -> Self {
                self.plain.strides = strides;
                self
            }

            /// Zeros on both sides of each image: rows above it and as many below, and columns.
            pub const fn padding(self, [rows, columns]: [usize; 2]) -> Self {
                self.padding_around([rows, rows], [columns, columns])
            }

            /// Zeros around each image: rows above and below it, columns left and right.
            pub const fn padding_around(mut self, rows: [usize; 2], columns: [usize; 2]) -> Self {
                self.plain.padding = [rows, columns];
                self
            }

            /// Elements of the image from one element of the filter to the next.
            pub const fn dilations(mut self, dilations: [usize; 2]) -> Self {
                self.plain.dilations = dilations;
                self
            }

            /// Groups into which channels and filters are cut: filters see only the channels of
            /// their group.
            pub const fn groups(mut self, groups: usize) -> Self {
                self.plain.groups = groups;
                self
            }

            /// Added to each element: one number for each filter.
            pub fn bias(mut self, bias: &'a (impl AsView<T> + ?Sized)) -> Self {
                self.bias = Some(bias.as_view());
                self
            }

            /// Applied after that.
            pub const fn activation(mut self, activation: Activation) -> Self {
                self.plain.activation = Some(activation);
                self
            }

            /// Bounds of each element, applied last: `clamp(0.0, 6.0)` is ReLU6. NaN stays NaN.
            ///
            /// Calls refuse a `low` above `high`, and NaN, with `InvalidArgument`.
            #[doc(alias("relu6", "clip", "hardtanh"))]
            pub const fn clamp(mut self, low: f64, high: f64) -> Self {
                self.plain.clamp = Some([low, high]);
                self
            }
        }
    };
}
pub(crate) use conv2d_options;

conv2d_options! {
    /// Options of [`conv2d`]: how it moves its filters over images, and the bias and the activation
    /// of their sums. The first of two numbers is down, the second one right.
    ///
    /// ```
    /// use tenure::{Activation, Conv2d, nn::conv2d};
    ///
    /// let image = [[[[1.0, -2.0, 3.0], [-4.0, 5.0, -6.0]]]];
    /// let (weight, bias) = ([[[[1.0, 1.0]]]], [0.5]);
    /// let with = Conv2d::new().padding([0, 1]).strides([1, 2]).bias(&bias);
    /// let out = conv2d(&image, &weight, with.activation(Activation::Relu))?;
    /// assert_eq!(out.shape(), [1, 1, 2, 2]);
    /// assert_eq!(out.to_vec(), [1.5, 1.5, 0.0, 0.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    ///
    /// A [`padding_around`](Conv2d::padding_around) that differs on both sides, and a
    /// [`clamp`](Conv2d::clamp):
    ///
    /// ```
    /// use tenure::{Conv2d, nn::conv2d};
    ///
    /// let shifted = Conv2d::new().padding_around([0, 0], [1, 0]);
    /// assert_eq!(conv2d(&[[[[1.0, 2.0]]]], &[[[[1.0, 10.0]]]], shifted)?.to_vec(), [10.0, 21.0]);
    ///
    /// let out = conv2d(&[[[[-1.0, 2.0, 9.0]]]], &[[[[1.0]]]], Conv2d::new().clamp(0.0, 6.0))?;
    /// assert_eq!(out.to_vec(), [0.0, 2.0, 6.0]);
    /// # Ok::<(), tenure::Error>(())
    /// ```
    TensorView
}

impl<T: Float> Conv2d<'_, T> {
    /// For a node of a graph, whose bias is an operand.
    pub(crate) fn of_node(&self) -> Result<tnr_conv2d_attributes> {
        no_view("conv2d", "bias", self.bias.is_some())?;
        self.plain.attributes()
    }
}

/// The cross-correlation of images, `[images, channels, height, width]`, and filters,
/// `[filters, channels / groups, height, width]`, as neural networks have it:
/// `[images, filters, height, width]`, as a new tensor. It is row-major (NCHW), or has its channels
/// last (NHWC) where those of `a` are adjacent and `a` is not row-major.
///
/// Any strides will do; [`channels_last`](crate::TensorView::channels_last) gives a view of NHWC
/// memory that order of axes. One dimension is a height of 1. Where the filter reaches into the
/// padding it meets zeros.
///
/// Each element is a sum in the order of the filter's rows, columns and channels, by blocks of
/// channels, by fused multiplication and addition where the processor has it. Its bits depend
/// neither on the number of threads, nor on strides, nor on the other elements of the result. `f16`
/// and `bf16` are computed in `f32` and rounded once.
///
/// # Errors
///
/// `InvalidArgument`: shapes and options that do not agree, a filter that exceeds the padded image,
/// a stride, a dilation or groups of 0. `OutOfMemory`.
///
/// ```
/// use tenure::{Conv2d, TensorView, nn::conv2d};
///
/// let image = [[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]];
/// let edges = [[[[1.0, -1.0]]]];
/// assert_eq!(conv2d(&image, &edges, Conv2d::new())?.to_vec(), [-1.0; 6]);
///
/// // Two pixels of three channels each, in NHWC.
/// let pixels = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let pixels = TensorView::from_slice(&pixels, [1, 1, 2, 3])?.channels_last()?;
/// let grey = conv2d(pixels, &[[[[1.0]], [[1.0]], [[1.0]]]], Conv2d::new())?;
/// assert_eq!(grey.to_vec(), [6.0, 15.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("convolution", "cross_correlation", "conv1d", "conv"))]
pub fn conv2d<T: Float>(
    a: impl AsView<T>,
    weight: impl AsView<T>,
    with: Conv2d<'_, T>,
) -> Result<Tensor<T>> {
    let (a, weight) = (a.as_view(), weight.as_view());
    let attributes = with.plain.attributes()?;
    let shape = with.plain.result_shape(a.shape(), weight.shape());
    let order = order_of_images(&a);
    let lent = (a.lent(), weight.lent(), with.bias.as_ref().map(TensorView::lent));
    filled_in(&shape, order, |out| operations::conv2d(lent.0, lent.1, lent.2, &attributes, out))
}

/// Does the same as [`conv2d`], into the caller's memory.
///
/// # Errors
///
/// The errors of [`conv2d`], and another shape of `out`.
///
/// ```
/// use tenure::{Conv2d, nn::conv2d_into};
///
/// let mut out = [[[[f64::NAN; 2]]]];
/// conv2d_into(&[[[[1.0, 2.0, 4.0]]]], &[[[[1.0, -1.0]]]], Conv2d::new(), &mut out)?;
/// assert_eq!(out, [[[[-1.0, -2.0]]]]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn conv2d_into<T: Float>(
    a: impl AsView<T>,
    weight: impl AsView<T>,
    with: Conv2d<'_, T>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    let (a, weight) = (a.as_view(), weight.as_view());
    let attributes = with.plain.attributes()?;
    let bias = with.bias.as_ref().map(TensorView::lent);
    let mut out = out.as_view_mut();
    operations::conv2d(a.lent(), weight.lent(), bias, &attributes, out.lent_mut())
}

/// The transpose of [`conv2d`], which is its derivative by the images: each element of `a`,
/// `[images, channels, height, width]`, times a filter of `weight`,
/// `[channels, filters / groups, height, width]`, is added to the window of the result,
/// `[images, filters, height, width]`, that a convolution with the same options would read there.
///
/// The result has `more` rows and columns than the smallest one, up to the stride or the dilation,
/// whichever is greater, less one.
///
/// Layouts and bits are as of [`conv2d`].
///
/// # Errors
///
/// The errors of [`conv2d`], and for `more` rows or columns than that.
///
/// ```
/// use tenure::{Conv2d, nn::conv2d_transposed};
///
/// let image = [[[[1.0, 2.0]]]];
/// let filter = [[[[1.0, 10.0]]]];
/// let out = conv2d_transposed(&image, &filter, Conv2d::new(), [0, 0])?;
/// assert_eq!(out.to_vec(), [1.0, 12.0, 20.0]);
///
/// let apart = Conv2d::new().strides([1, 3]);
/// let out = conv2d_transposed(&image, &filter, apart, [0, 1])?;
/// assert_eq!(out.to_vec(), [1.0, 10.0, 0.0, 2.0, 20.0, 0.0]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("deconvolution", "conv_transpose2d"))]
pub fn conv2d_transposed<T: Float>(
    a: impl AsView<T>,
    weight: impl AsView<T>,
    with: Conv2d<'_, T>,
    more: [usize; 2],
) -> Result<Tensor<T>> {
    let (a, weight) = (a.as_view(), weight.as_view());
    let attributes = with.plain.attributes()?;
    let shape = with.plain.transposed_shape(a.shape(), weight.shape(), more);
    let order = order_of_images(&a);
    let lent = (a.lent(), weight.lent(), with.bias.as_ref().map(TensorView::lent));
    filled_in(&shape, order, |out| {
        operations::conv2d_transposed(lent.0, lent.1, lent.2, &attributes, out)
    })
}

/// Does the same as [`conv2d_transposed`], into the caller's memory. The shape of `out` gives the
/// numbers of rows and columns.
///
/// # Errors
///
/// The errors of [`conv2d_transposed`], and another shape of `out`.
///
/// ```
/// use tenure::{Conv2d, nn::conv2d_transposed_into};
///
/// let mut out = [[[[f64::NAN; 3]]]];
/// conv2d_transposed_into(&[[[[1.0, 2.0]]]], &[[[[1.0, 10.0]]]], Conv2d::new(), &mut out)?;
/// assert_eq!(out, [[[[1.0, 12.0, 20.0]]]]);
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn conv2d_transposed_into<T: Float>(
    a: impl AsView<T>,
    weight: impl AsView<T>,
    with: Conv2d<'_, T>,
    out: &mut (impl AsViewMut<T> + ?Sized),
) -> Result<()> {
    let (a, weight) = (a.as_view(), weight.as_view());
    let attributes = with.plain.attributes()?;
    let bias = with.bias.as_ref().map(TensorView::lent);
    let mut out = out.as_view_mut();
    operations::conv2d_transposed(a.lent(), weight.lent(), bias, &attributes, out.lent_mut())
}
