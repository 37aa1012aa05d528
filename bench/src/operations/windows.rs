//! Poolings of images, and convolutions of each channel by itself, as Tenure does them.

use std::cell::RefCell;

use tenure::{Conv2d, Pool2d, Result, Tensor, TensorView, TensorViewMut};

use super::convolutions::Layout;
use crate::subject::Case;

/// Images of f32 with an even number of rows, and as many columns.
#[derive(Clone, Copy)]
pub struct Shape {
    /// In the batch.
    pub images: usize,
    /// Channels of an image.
    pub channels: usize,
    /// Rows of an image, and columns.
    pub side: usize,
}

type Run = fn(TensorView<'_, f32>, &Tensor<f32>, &mut TensorViewMut<'_, f32>) -> Result<()>;

/// An operation on windows of images. The result has a `stride`th of an image's rows and columns.
#[derive(Clone, Copy)]
pub struct Operation {
    name: &'static str,
    stride: usize,
    run: Run,
}

const OVERLAPPING: Pool2d = Pool2d::new([3, 3]).strides([2, 2]).padding([1, 1]);
const TILES: Pool2d = Pool2d::new([2, 2]);

/// Windows that networks of images have. `peers.py` has them too.
pub const OPERATIONS: [Operation; 4] = [
    Operation {
        name: "maxima of 3x3, stride 2",
        stride: 2,
        run: |a, _, out| tenure::nn::max_pool2d_into(a, OVERLAPPING, out),
    },
    Operation {
        name: "maxima of 2x2, stride 2",
        stride: 2,
        run: |a, _, out| tenure::nn::max_pool2d_into(a, TILES, out),
    },
    Operation {
        name: "means of 2x2, stride 2",
        stride: 2,
        run: |a, _, out| tenure::nn::avg_pool2d_into(a, TILES, out),
    },
    Operation {
        name: "depthwise 3x3",
        stride: 1,
        run: |a, weight, out| {
            let with = Conv2d::new().padding([1, 1]).groups(weight.shape()[0]);
            tenure::nn::conv2d_into(a, weight, with, out)
        },
    },
];

impl Operation {
    /// The name in the figures.
    pub fn name(&self, layout: Layout) -> String {
        let order = if layout == Layout::Nhwc { ", NHWC" } else { "" };
        format!("{}{order}", self.name)
    }
}

/// Images, a filter of 3 by 3 for each channel, and room for a result of any of the operations.
pub struct Images {
    shape: Shape,
    layout: Layout,
    a: Tensor<f32>,
    weight: Tensor<f32>,
    out: RefCell<Tensor<f32>>,
}

impl Images {
    /// Small whole numbers.
    pub fn new(shape: Shape, layout: Layout) -> Images {
        let tensor = |extents: &[usize]| {
            let len: usize = extents.iter().product();
            let numbers: Vec<f32> = (0..len).map(|i| (i % 17) as f32).collect();
            Tensor::from_vec(numbers, extents).expect("it fits")
        };
        let Shape { images, channels, side } = shape;
        Images {
            shape,
            layout,
            a: tensor(&[images, channels, side, side]),
            weight: tensor(&[channels, 1, 3, 3]),
            out: RefCell::new(tensor(&[images * channels * side * side])),
        }
    }

    /// Bytes of the images.
    pub fn bytes(&self) -> u64 {
        (self.a.len() * size_of::<f32>()) as u64
    }

    /// Bytes of the result.
    pub fn out_bytes(&self, operation: &Operation) -> u64 {
        self.bytes() / (operation.stride * operation.stride) as u64
    }

    /// Extents of images of `side` rows in the order of memory, and the axes of images, channels,
    /// rows and columns among them.
    fn laid_out(&self, side: usize) -> ([usize; 4], [usize; 4]) {
        let Shape { images, channels, .. } = self.shape;
        match self.layout {
            Layout::Nchw => ([images, channels, side, side], [0, 1, 2, 3]),
            Layout::Nhwc => ([images, side, side, channels], [0, 3, 1, 2]),
        }
    }

    /// By Tenure, into preallocated memory.
    pub fn case(&self, operation: &Operation) -> Case<'_> {
        let run = operation.run;
        let (extents, axes) = self.laid_out(self.shape.side);
        let (out_extents, _) = self.laid_out(self.shape.side / operation.stride);
        Case::repeated("tenure", "into", move || {
            let a = self.a.view().reshape(extents).expect("as many elements");
            let a = a.permute(&axes).expect("each axis once");
            let mut out = self.out.borrow_mut();
            let out = out.as_mut_slice().expect("it is row-major");
            let out = &mut out[..out_extents.iter().product()];
            let out = TensorViewMut::from_slice(out, out_extents).expect("as many elements");
            let mut out = out.permute(&axes).expect("each axis once");
            run(a, &self.weight, &mut out).expect("the shapes fit");
        })
    }
}
