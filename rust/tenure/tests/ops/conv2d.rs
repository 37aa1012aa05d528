//! Convolutions of images against a plain seven-fold loop in f64.

use tenure::*;

use crate::random::Random;

/// Whole numbers from -8 to 8: every sum is exact in f32 too, so that results are compared to the
/// bit.
fn numbers<T: Float>(count: usize, seed: u64, from: fn(i8) -> T) -> Vec<T> {
    let mut random = Random::new(seed);
    (0..count).map(|_| from(random.below(17) as i8 - 8)).collect()
}

fn in_f64<T: Float + Into<f64>>(view: TensorView<'_, T>) -> Vec<f64> {
    view.to_vec().into_iter().map(Into::into).collect()
}

/// The numbers of a call, as they are given to [`Conv2d`].
#[derive(Clone, Copy, Debug)]
struct Given {
    /// Channels of one group.
    channels: usize,
    /// Filters of one group.
    filters: usize,
    image: [usize; 2],
    kernel: [usize; 2],
    strides: [usize; 2],
    /// Above and below, left and right.
    padding: [[usize; 2]; 2],
    dilations: [usize; 2],
    groups: usize,
}

const IMAGES: usize = 2;

impl Given {
    const fn plain(channels: usize, filters: usize, image: usize, kernel: usize) -> Given {
        Given {
            channels,
            filters,
            image: [image, image + 1],
            kernel: [kernel, kernel],
            strides: [1, 1],
            padding: [[0, 0], [0, 0]],
            dilations: [1, 1],
            groups: 1,
        }
    }

    fn image_shape(&self) -> [usize; 4] {
        [IMAGES, self.channels * self.groups, self.image[0], self.image[1]]
    }

    fn weight_shape(&self) -> [usize; 4] {
        [self.filters * self.groups, self.channels, self.kernel[0], self.kernel[1]]
    }

    fn result_shape(&self) -> [usize; 4] {
        let places = |axis: usize| {
            let padded = self.image[axis] + self.padding[axis][0] + self.padding[axis][1];
            (padded - (self.kernel[axis] - 1) * self.dilations[axis] - 1) / self.strides[axis] + 1
        };
        [IMAGES, self.filters * self.groups, places(0), places(1)]
    }

    fn options<T: Float>(&self) -> Conv2d<'static, T> {
        let [rows, columns] = self.padding;
        let with = Conv2d::new().strides(self.strides).dilations(self.dilations);
        with.padding_around(rows, columns).groups(self.groups)
    }

    /// Row-major.
    fn naive(&self, a: &[f64], weight: &[f64]) -> Vec<f64> {
        let [images, filters, rows, columns] = self.result_shape();
        let [_, all_channels, height, width] = self.image_shape();
        let [_, channels, kernel_rows, kernel_columns] = self.weight_shape();
        let mut sums = Vec::new();
        for n in 0..images {
            for f in 0..filters {
                for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
                    let mut sum = 0.0;
                    for c in 0..channels {
                        for i in 0..kernel_rows {
                            for j in 0..kernel_columns {
                                let down = y * self.strides[0] + i * self.dilations[0];
                                let right = x * self.strides[1] + j * self.dilations[1];
                                let (down, right) = (
                                    down.wrapping_sub(self.padding[0][0]),
                                    right.wrapping_sub(self.padding[1][0]),
                                );
                                if down < height && right < width {
                                    let channel = f / self.filters * channels + c;
                                    let plane = n * all_channels + channel;
                                    let pixel = a[(plane * height + down) * width + right];
                                    let at = (f * channels + c) * kernel_rows + i;
                                    sum += pixel * weight[at * kernel_columns + j];
                                }
                            }
                        }
                    }
                    sums.push(sum);
                }
            }
        }
        sums
    }
}

/// Images or filters over `memory` in one of five layouts: row-major, channels last, with gaps, all
/// axes backwards, and one image for all.
const LAYOUTS: usize = 5;
const GAP: usize = 3;
fn laid_out<T: Element>(memory: &[T], shape: [usize; 4], layout: usize) -> TensorView<'_, T> {
    let [_, channels, height, width] = shape.map(|extent| extent as isize);
    let gap = GAP as isize;
    let plain = [channels * height * width, height * width, width, 1];
    let count: usize = shape.iter().product();
    let (offset, strides) = match layout {
        0 => (0, plain),
        1 => (0, [plain[0], 1, width * channels, channels]),
        2 => (1, plain.map(|stride| stride * gap)),
        3 => (count - 1, plain.map(|stride| -stride)),
        _ => (0, [0, plain[1], plain[2], 1]),
    };
    TensorView::from_slice_strided(memory, offset, shape, &strides).unwrap()
}

fn check_every_layout<T: Float + Into<f64>>(given: Given, from: fn(i8) -> T) {
    let room = |shape: [usize; 4]| shape.iter().product::<usize>() * GAP + 1;
    let a_memory = numbers(room(given.image_shape()), 1, from);
    let weight_memory = numbers(room(given.weight_shape()), 2, from);
    let bias = numbers(given.filters * given.groups, 3, from);
    let shape = given.result_shape();
    let bias_at = |at: usize| -> f64 { bias[at / (shape[2] * shape[3]) % shape[1]].into() };
    for (a_layout, weight_layout) in (0..LAYOUTS).flat_map(|a| (0..LAYOUTS).map(move |w| (a, w))) {
        let a = laid_out(&a_memory, given.image_shape(), a_layout);
        let weight = laid_out(&weight_memory, given.weight_shape(), weight_layout);
        let plain = given.naive(&in_f64(a), &in_f64(weight));
        let finished: Vec<f64> =
            plain.iter().enumerate().map(|(at, sum)| (sum + bias_at(at)).max(0.0)).collect();
        let how = format!("{given:?}: {a_layout} by {weight_layout}");

        let out = nn::conv2d(a, weight, given.options()).unwrap();
        assert_eq!(out.shape(), shape, "{how}");
        assert_eq!(in_f64(out.view()), plain, "{how}");
        let with = given.options().bias(&bias).activation(Activation::Relu);
        assert_eq!(in_f64(nn::conv2d(a, weight, with).unwrap().view()), finished, "{how}");

        for order in [Order::RowMajor, Order::ColumnMajor] {
            let mut out = Tensor::<T>::zeros_in(shape, order).unwrap();
            nn::conv2d_into(a, weight, with, &mut out).unwrap();
            assert_eq!(in_f64(out.view()), finished, "{how} into {order:?}");
        }
    }
}

#[test]
fn images_in_every_layout() {
    let padded = Given { padding: [[1, 1], [1, 1]], ..Given::plain(3, 5, 6, 3) };
    let uneven = Given {
        strides: [2, 3],
        padding: [[0, 3], [2, 1]],
        dilations: [1, 2],
        kernel: [2, 3],
        ..Given::plain(4, 17, 9, 1)
    };
    let grouped = Given { groups: 3, ..Given::plain(2, 4, 5, 2) };
    let each_channel = Given { groups: 7, padding: [[1, 1], [1, 1]], ..Given::plain(1, 1, 6, 3) };
    let one_dimension = Given { image: [1, 11], kernel: [1, 4], ..Given::plain(5, 3, 1, 1) };
    // More channels than one sum has.
    let deep = Given::plain(130, 33, 4, 3);
    for given in
        [Given::plain(1, 1, 1, 1), padded, uneven, grouped, each_channel, one_dimension, deep]
    {
        check_every_layout::<f32>(given, f32::from);
        check_every_layout::<f64>(given, f64::from);
    }
}

#[test]
fn results_lie_as_their_images_do() {
    let given = Given::plain(3, 5, 6, 3);
    let (a, weight) = (numbers(2 * 3 * 6 * 7, 1, f32::from), numbers(5 * 3 * 9, 2, f32::from));
    let weight = laid_out(&weight, given.weight_shape(), 0);
    let strides_of = |layout| {
        let out =
            nn::conv2d(laid_out(&a, given.image_shape(), layout), weight, Conv2d::new()).unwrap();
        assert_eq!(out.shape(), given.result_shape());
        out.strides().to_vec()
    };
    assert_eq!(strides_of(0), [5 * 4 * 5, 4 * 5, 5, 1]);
    assert_eq!(strides_of(1), [5 * 4 * 5, 1, 5 * 5, 5], "channels last");
    assert_eq!(strides_of(3), [5 * 4 * 5, 4 * 5, 5, 1]);
    // Both orders of one pixel are the same, and of one channel none is the last.
    let pixels = TensorView::from_slice(&a[..6], [2, 3, 1, 1]).unwrap();
    let one = nn::conv2d(pixels, &[[[[1.0]]; 3]; 4], Conv2d::new()).unwrap();
    assert_eq!(one.strides(), [4, 1, 1, 1]);
}

/// A tensor with its channels last is one like any other.
#[test]
fn tensors_with_channels_last_are_whole() {
    let a = numbers(2 * 3 * 4 * 4, 1, f64::from);
    let a = TensorView::from_slice(&a, [2, 4, 4, 3]).unwrap().permute(&[0, 3, 1, 2]).unwrap();
    let copied = nn::conv2d(a, &identity::<3>(), Conv2d::new()).unwrap();
    assert_eq!(copied.strides(), a.strides());
    assert_eq!(copied.to_vec(), a.to_vec());
    let twice = nn::conv2d(copied.view(), &identity::<3>(), Conv2d::new()).unwrap();
    assert_eq!(twice.strides(), a.strides());
    let shared = twice.into_shared();
    assert_eq!(shared.view().to_vec(), a.to_vec());
    assert!(copied.into_vec().is_err(), "the library allocated it");
}

fn identity<const N: usize>() -> [[[[f64; 1]; 1]; N]; N] {
    let mut weight = [[[[0.0]]; N]; N];
    (0..N).for_each(|at| weight[at][at] = [[1.0]]);
    weight
}

#[test]
fn an_activation_follows_the_bias() {
    let (image, weight, bias) = ([[[[0.5, -0.25]]]], [[[[1.0]]]; 2], [0.0, -1.0]);
    let with = Conv2d::new().bias(&bias).activation(Activation::Tanh);
    let out = nn::conv2d(&image, &weight, with).unwrap();
    assert_eq!(out.to_vec(), ops::tanh(&[0.5, -0.25, -0.5, -1.25]).unwrap().to_vec());
    let relu = nn::conv2d(&image, &weight, with.activation(Activation::Relu)).unwrap();
    assert_eq!(relu.to_vec(), [0.5, 0.0, 0.0, 0.0]);
    let clamped = nn::conv2d(&image, &weight, Conv2d::new().bias(&bias).clamp(-0.5, 0.25)).unwrap();
    assert_eq!(clamped.to_vec(), [0.25, -0.25, -0.5, -0.5]);
}

#[test]
fn halves_are_rounded_once() {
    let (image, weight, bias) = (numbers(200, 21, f32::from), numbers(60, 22, f32::from), [0.1; 3]);
    let wide = |values: &[f32], shape: [usize; 4]| {
        let values: Vec<_> = values.iter().map(|value| value / 7.0).collect();
        TensorView::from_slice(&values, shape).unwrap().cast::<bf16>().unwrap()
    };
    let (image, weight) = (wide(&image, [2, 4, 5, 5]), wide(&weight[..36], [3, 4, 1, 3]));
    let bias = TensorView::from_slice(&bias, [3]).unwrap().cast::<bf16>().unwrap();
    let out = nn::conv2d(&image, &weight, Conv2d::new().bias(&bias).padding([1, 1])).unwrap();
    let (image, weight) = (image.cast::<f32>().unwrap(), weight.cast::<f32>().unwrap());
    let bias = bias.cast::<f32>().unwrap();
    let expected = nn::conv2d(&image, &weight, Conv2d::new().bias(&bias).padding([1, 1])).unwrap();
    assert_eq!(out.to_vec(), expected.cast::<bf16>().unwrap().to_vec());
    let pooled = nn::avg_pool2d(&out, Pool2d::new([2, 2])).unwrap();
    let wide = nn::avg_pool2d(&out.cast::<f32>().unwrap(), Pool2d::new([2, 2])).unwrap();
    assert_eq!(pooled.to_vec(), wide.cast::<bf16>().unwrap().to_vec());
}

#[test]
fn of_no_channel_the_bias_is_left() {
    let a = TensorView::<f32>::from_slice(&[], [2, 0, 3, 3]).unwrap();
    let weight = TensorView::<f32>::from_slice(&[], [2, 0, 3, 3]).unwrap();
    assert_eq!(nn::conv2d(a, weight, Conv2d::new()).unwrap().to_vec(), [0.0; 4]);
    let biased = nn::conv2d(a, weight, Conv2d::new().bias(&[1.5, -2.0])).unwrap();
    assert_eq!(biased.to_vec(), [1.5, -2.0, 1.5, -2.0]);
}

#[test]
fn of_no_image_there_is_nothing() {
    let a = TensorView::<f64>::from_slice(&[], [0, 1, 3, 3]).unwrap();
    let out = nn::conv2d(a, &[[[[1.0; 2]; 2]]], Conv2d::default()).unwrap();
    assert_eq!((out.shape(), out.to_vec().len()), (&[0, 1, 2, 2][..], 0));
}

#[test]
fn threads_and_layouts_do_not_change_bits() {
    let fractions = |count, seed| -> Vec<f32> {
        let mut random = Random::new(seed);
        (0..count).map(|_| random.below(1 << 20) as f32 / 3.0).collect()
    };
    let (a, weight) = (fractions(2 * 70 * 15 * 17, 5), fractions(40 * 70 * 9, 6));
    let a = TensorView::from_slice(&a, [2, 70, 15, 17]).unwrap();
    let weight = TensorView::from_slice(&weight, [40, 70, 3, 3]).unwrap();
    let with = Conv2d::new().padding([1, 1]);
    let alone = nn::conv2d(a, weight, with).unwrap();
    let context = Context::with_threads(3).unwrap();
    let shared = context.install(|| nn::conv2d(a, weight, with)).unwrap();
    assert_eq!(alone.to_vec(), shared.to_vec());
    let last = a.permute(&[0, 2, 3, 1]).unwrap().to_vec();
    let last = TensorView::from_slice(&last, [2, 15, 17, 70]).unwrap();
    let last = context.install(|| nn::conv2d(last.permute(&[0, 3, 1, 2]).unwrap(), weight, with));
    assert_eq!(alone.to_vec(), last.unwrap().to_vec());
}

#[test]
fn calls_are_counted() {
    let before = operation_stats(Operation::Conv2d);
    nn::conv2d(&[[[[1.0_f32; 3]; 3]]], &[[[[1.0_f32; 2]; 2]]], Conv2d::new().bias(&[1.0])).unwrap();
    let after = operation_stats(Operation::Conv2d);
    assert!(after.calls > before.calls);
    assert!(after.read_bytes >= before.read_bytes + 4 * (9 + 4 + 1));
    assert!(after.written_bytes >= before.written_bytes + 4 * 4);
}
