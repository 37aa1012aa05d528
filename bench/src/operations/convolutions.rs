//! Convolutions of images as Tenure does them.

use std::cell::RefCell;

use tenure::{Conv2d, Tensor, TensorView};

use crate::subject::Case;

/// Square images and filters; the padding keeps an image's extents where the stride is 1.
#[derive(Clone, Copy)]
pub struct Shape {
    /// In the batch.
    pub images: usize,
    /// Channels of an image.
    pub channels: usize,
    /// Rows of an image, and columns.
    pub side: usize,
    /// Channels of the result.
    pub filters: usize,
    /// Rows of a filter, and columns.
    pub kernel: usize,
    /// Rows, and columns, from one place of the filter to the next.
    pub stride: usize,
}

const fn shape([images, channels, side, filters, kernel, stride]: [usize; 6]) -> Shape {
    Shape { images, channels, side, filters, kernel, stride }
}

/// A batch of images, and then the layers of ResNet-50. `peers.py` has them too.
pub const SHAPES: [Shape; 11] = [
    shape([8, 64, 56, 64, 3, 1]),
    shape([1, 64, 56, 64, 3, 1]),
    shape([1, 3, 224, 64, 7, 2]),
    shape([1, 64, 56, 256, 1, 1]),
    shape([1, 256, 56, 64, 1, 1]),
    shape([1, 128, 28, 128, 3, 1]),
    shape([1, 256, 56, 128, 1, 2]),
    shape([1, 256, 14, 256, 3, 1]),
    shape([1, 512, 7, 512, 3, 1]),
    shape([1, 512, 7, 2048, 1, 1]),
    shape([8, 512, 7, 512, 3, 1]),
];

/// The order of an array's axes in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Each channel is a separate plane.
    Nchw,
    /// The channels of a pixel are adjacent.
    Nhwc,
}

impl Shape {
    /// The name in the figures.
    pub fn name(&self, layout: Layout) -> String {
        let Shape { images, channels, side, filters, kernel, stride } = self;
        let step = if *stride == 1 { String::new() } else { format!(", stride {stride}") };
        let order = if layout == Layout::Nhwc { ", NHWC" } else { "" };
        let images = format!("{images}x{channels}x{side}x{side}");
        format!("conv2d {images} by {filters} of {kernel}x{kernel}{step}{order}")
    }

    fn out_side(&self) -> usize {
        (self.side + self.kernel / 2 * 2 - self.kernel) / self.stride + 1
    }

    fn pixels(&self) -> usize {
        self.images * self.out_side() * self.out_side()
    }

    /// Additions and multiplications.
    pub fn operations(&self) -> u64 {
        (2 * self.pixels() * self.filters * self.channels * self.kernel * self.kernel) as u64
    }

    /// Bytes of the images, the filters and the result.
    pub fn bytes(&self) -> u64 {
        let images = self.images * self.channels * self.side * self.side;
        let weight = self.filters * self.channels * self.kernel * self.kernel;
        4 * (images + weight + self.pixels() * self.filters) as u64
    }
}

/// Images, filters, and room for the result.
pub struct Convolution {
    shape: Shape,
    layout: Layout,
    a: Tensor<f32>,
    weight: Tensor<f32>,
    out: RefCell<Tensor<f32>>,
}

impl Convolution {
    /// Small whole numbers.
    pub fn new(shape: Shape, layout: Layout) -> Convolution {
        let tensor = |count: usize, channels: usize, side: usize| {
            let extents = match layout {
                Layout::Nchw => [count, channels, side, side],
                Layout::Nhwc => [count, side, side, channels],
            };
            let len: usize = extents.iter().product();
            let numbers: Vec<f32> = (0..len).map(|i| (i % 17) as f32).collect();
            Tensor::copy_from_slice(&numbers, extents).expect("it fits")
        };
        Convolution {
            shape,
            layout,
            a: tensor(shape.images, shape.channels, shape.side),
            weight: tensor(shape.filters, shape.channels, shape.kernel),
            out: RefCell::new(tensor(shape.images, shape.filters, shape.out_side())),
        }
    }

    /// Images, channels, rows and columns in the memory of a tensor.
    fn axes(&self) -> [usize; 4] {
        if self.layout == Layout::Nhwc { [0, 3, 1, 2] } else { [0, 1, 2, 3] }
    }

    fn in_order<'a>(&self, tensor: &'a Tensor<f32>) -> TensorView<'a, f32> {
        tensor.view().permute(&self.axes()).expect("each axis once")
    }

    /// By Tenure, into preallocated memory.
    pub fn case(&self) -> Case<'_> {
        let (padding, stride) = (self.shape.kernel / 2, self.shape.stride);
        let with = Conv2d::new().padding([padding; 2]).strides([stride; 2]);
        Case::repeated("tenure", "into", move || {
            let (a, weight) = (self.in_order(&self.a), self.in_order(&self.weight));
            let mut out = self.out.borrow_mut();
            let mut out = out.view_mut().permute(&self.axes()).expect("each axis once");
            tenure::nn::conv2d_into(a, weight, with, &mut out).expect("the shapes fit");
        })
    }

    /// By other libraries on two threads, the number that they use; only for NCHW, the one order
    /// that they have.
    #[cfg(feature = "peers")]
    pub fn peers(&self) -> Vec<Case<'_>> {
        use candle_core::{Device, Tensor};

        if self.layout == Layout::Nhwc {
            return Vec::new();
        }
        let tensor = |from: &tenure::Tensor<f32>| {
            Tensor::from_slice(
                from.as_slice().expect("it is row-major"),
                from.shape(),
                &Device::Cpu,
            )
            .expect("it fits")
        };
        let (a, weight) = (tensor(&self.a), tensor(&self.weight));
        let (padding, stride) = (self.shape.kernel / 2, self.shape.stride);
        vec![Case::repeated("candle", "allocates", move || {
            std::hint::black_box(a.conv2d(&weight, padding, stride, 1, 1).expect("the shapes fit"));
        })]
    }

    /// None: they come with the feature `peers`.
    #[cfg(not(feature = "peers"))]
    pub fn peers(&self) -> Vec<Case<'_>> {
        Vec::new()
    }
}
