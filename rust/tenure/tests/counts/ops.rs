//! Operations: how often, how many, how large a window; and arrays of any extent without elements.

use tenure::{
    Activation, Conv2d, LayerNorm, PadMode, Pool2d, Tensor, TensorView, bf16, quantize,
    quantize::Scheme, random::Generator,
};

use super::{Row, done, each, shapes};

const DATA: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

/// Arrays of few elements and of none.
fn arrays(n: usize, call: impl Fn(TensorView<'_, f32>)) {
    call(TensorView::from_slice(&DATA, [2, 3]).unwrap());
    for shape in [[n, 0], [0, n], [0, 0]] {
        TensorView::from_slice(&[], shape).into_iter().for_each(&call);
    }
}

/// Images of few pixels and of none.
fn images(n: usize, call: impl Fn(TensorView<'_, f32>)) {
    call(TensorView::from_slice(&DATA, [1, 1, 2, 3]).unwrap());
    for shape in [[n, 0, 1, 1], [0, n, 2, 2], [0, 1, n, 2], [0, 1, n, n], [1, 1, 0, n]] {
        TensorView::from_slice(&[], shape).into_iter().for_each(&call);
    }
}

fn pooled(n: usize, windows: Pool2d) {
    images(n, |images| {
        done(tenure::nn::max_pool2d(images, windows));
        done(tenure::nn::avg_pool2d(images, windows.count_padding()));
        done(tenure::nn::max_pool2d_into(images, windows, &mut [0.0; 3][..]));
    });
}

fn convolved(n: usize, with: Conv2d<'_, f32>) {
    let one = Tensor::<f32>::ones([1, 1, 1, 1]).unwrap();
    images(n, |images| {
        done(tenure::nn::conv2d(images, &one, with));
        done(tenure::nn::conv2d_transposed(images, &one, with, [0, 0]));
        images_of_filters(n, |filters| done(tenure::nn::conv2d(images, filters, with)));
    });
}

fn images_of_filters(n: usize, call: impl Fn(TensorView<'_, f32>)) {
    for shape in [[n, 0, 1, 1], [0, 1, n, 1], [0, n, 1, 1]] {
        TensorView::from_slice(&[], shape).into_iter().for_each(&call);
    }
}

fn widths(n: usize) -> [[(usize, usize); 2]; 4] {
    [[(n, 0), (0, 0)], [(0, n), (1, 1)], [(1, 0), (n, n)], [(n, n), (n, n)]]
}

const MODES: [PadMode<f32>; 5] =
    [PadMode::Constant(0.0), PadMode::Edge, PadMode::Reflect, PadMode::Symmetric, PadMode::Wrap];

const OUT: [[f32; 3]; 2] = [[0.0; 3]; 2];

pub const ROWS: &[Row] = &[
    ("ops/pad.rs", "pad", |n| {
        arrays(n, |a| {
            for mode in MODES {
                each(widths(n), |widths| done(tenure::ops::pad(a, widths, mode)));
            }
        });
    }),
    ("ops/pad.rs", "pad_into", |n| {
        arrays(n, |a| {
            each(widths(n), |widths| {
                done(tenure::ops::pad_into(a, widths, MODES[4], &mut { OUT }))
            });
        });
    }),
    ("ops/pad.rs", "tile", |n| {
        done(tenure::ops::tile(&[1_u8, 2], [n]));
        done(tenure::ops::tile(&[1_u8, 2], [1; 9]));
        arrays(n, |a| {
            each(shapes(n), |counts| done(tenure::ops::tile(a, counts)));
            done(tenure::ops::tile(a, [n, n, n]));
        });
    }),
    ("ops/pad.rs", "tile_into", |n| {
        arrays(n, |a| done(tenure::ops::tile_into(a, [n, 1], &mut { OUT })));
    }),
    ("ops/pad.rs", "repeat", |n| {
        done(tenure::ops::repeat(&[1_u8, 2], n, 0));
        done(tenure::ops::repeat(&[1_u8; 0], n, 0));
        arrays(n, |a| {
            done(tenure::ops::repeat(a, n, 0));
            done(tenure::ops::repeat(a, n, 1));
            done(tenure::ops::repeat(a, 2, 0));
        });
    }),
    ("ops/pad.rs", "repeat_into", |n| {
        arrays(n, |a| {
            done(tenure::ops::repeat_into(a, n, 0, &mut { OUT }));
            done(tenure::ops::repeat_into(a, n, 1, &mut { OUT }));
        });
    }),
    ("ops/pad.rs", "roll", |n| {
        arrays(n, |a| {
            done(tenure::ops::roll(a, n as isize, 0));
            done(tenure::ops::roll(a, (n as isize).wrapping_neg(), 1));
        });
    }),
    ("ops/pad.rs", "roll_into", |n| {
        arrays(n, |a| done(tenure::ops::roll_into(a, n as isize, 1, &mut { OUT })));
    }),
    ("nn/one_hot.rs", "one_hot", |n| {
        done(tenure::nn::one_hot::<f32, i32>(&[0, 1], n));
        done(tenure::nn::one_hot::<u8, i64>(&[i64::MAX], n));
        let none = TensorView::<i32>::from_slice(&[], [0, n.min(1 << 62)]).unwrap();
        done(tenure::nn::one_hot::<u8, i32>(none, n));
    }),
    ("ops/order.rs", "top_k", |n| {
        arrays(n, |a| {
            done(tenure::ops::top_k(a, n, 0));
            done(tenure::ops::top_k(a, n, 1));
        });
    }),
    ("ops/order.rs", "bottom_k", |n| arrays(n, |a| done(tenure::ops::bottom_k(a, n, -1)))),
    ("ops/order.rs", "partition", |n| arrays(n, |a| done(tenure::ops::partition(a, n, 1)))),
    ("ops/order.rs", "partition_into", |n| {
        arrays(n, |a| done(tenure::ops::partition_into(a, n, 0, &mut { OUT })));
    }),
    ("ops/order.rs", "partition_assign", |n| {
        done(tenure::ops::partition_assign(&mut { OUT }, n, 1))
    }),
    ("ops/order.rs", "argpartition", |n| arrays(n, |a| done(tenure::ops::argpartition(a, n, 1)))),
    ("ops/search.rs", "bincount", |n| {
        done(tenure::ops::bincount(&[0_u8, 3], n));
        done(tenure::ops::bincount(&[u64::MAX], n));
    }),
    ("ops/search.rs", "bincount_weighted", |n| {
        done(tenure::ops::bincount_weighted(&[0, 2], &[1.0, 2.0], n));
    }),
    ("ops/search.rs", "histogram", |n| {
        done(tenure::ops::histogram(&DATA, n, 0.0..=1.0));
        done(tenure::ops::histogram(&DATA, n, -f64::MAX..=f64::MAX));
    }),
    ("ops/reduce.rs", "moments", |n| {
        arrays(n, |a| {
            done(tenure::ops::moments(a, 0, n as u32));
            done(tenure::ops::moments(a, 1, u32::MAX));
        });
    }),
    ("ops/reduce.rs", "moments_into", |n| {
        arrays(n, |a| {
            done(tenure::ops::moments_into(a, 0, n as u32, &mut [0.0; 3], &mut [0.0; 3]));
        });
    }),
    ("ops/triangle.rs", "$new", |n| {
        arrays(n, |a| {
            done(tenure::ops::tril(a, n as isize));
            done(tenure::ops::triu(a, (n as isize).wrapping_neg()));
        });
    }),
    ("ops/triangle.rs", "$into", |n| {
        arrays(n, |a| done(tenure::ops::tril_into(a, n as isize, &mut { OUT })));
    }),
    ("ops/triangle.rs", "$assign", |n| {
        done(tenure::ops::triu_assign(&mut { OUT }, n as isize));
        done(tenure::ops::tril_assign(&mut { OUT }, (n as isize).wrapping_neg()));
    }),
    ("nn/pool2d.rs", "new", |n| {
        each([[n, 1], [1, n], [n, n]], |kernel| pooled(n, Pool2d::new(kernel)));
    }),
    ("nn/pool2d.rs", "strides", |n| {
        each([[n, 1], [1, n], [n, n]], |strides| pooled(n, Pool2d::new([2, 2]).strides(strides)));
    }),
    ("nn/pool2d.rs", "padding", |n| pooled(n, Pool2d::new([2, 2]).padding([n, 1]))),
    ("nn/pool2d.rs", "padding_around", |n| {
        let windows = Pool2d::new([n, 2]);
        pooled(n, windows.padding_around([n, 0], [0, n]));
        pooled(n, windows.padding_around([n, n], [n, n]).strides([n, n]));
    }),
    ("nn/pool2d.rs", "dilations", |n| {
        each([[n, 1], [1, n], [n, n]], |by| pooled(n, Pool2d::new([2, 2]).dilations(by)));
    }),
    ("nn/pool2d.rs", "adaptive_max_pool2d", |n| {
        images(n, |images| done(tenure::nn::adaptive_max_pool2d(images, [n, 1])));
    }),
    ("nn/pool2d.rs", "adaptive_avg_pool2d", |n| {
        images(n, |images| done(tenure::nn::adaptive_avg_pool2d(images, [n, n])));
    }),
    ("nn/conv2d.rs", "strides", |n| {
        each([[n, 1], [1, n], [n, n]], |strides| convolved(n, Conv2d::new().strides(strides)));
    }),
    ("nn/conv2d.rs", "padding", |n| convolved(n, Conv2d::new().padding([n, 1]))),
    ("nn/conv2d.rs", "padding_around", |n| {
        convolved(n, Conv2d::new().padding_around([n, 0], [0, n]));
        convolved(n, Conv2d::new().padding_around([n, n], [n, n]).strides([n, n]));
    }),
    ("nn/conv2d.rs", "dilations", |n| {
        each([[n, 1], [1, n], [n, n]], |by| convolved(n, Conv2d::new().dilations(by)));
    }),
    ("nn/conv2d.rs", "groups", |n| {
        convolved(n, Conv2d::new().groups(n).activation(Activation::Relu));
    }),
    ("nn/conv2d.rs", "conv2d_transposed", |n| {
        let one = Tensor::<f32>::ones([1, 1, 1, 1]).unwrap();
        images(n, |images| {
            for more in [[n, 0], [0, n], [n, n]] {
                done(tenure::nn::conv2d_transposed(images, &one, Conv2d::new(), more));
                let with = Conv2d::new().strides([n, n]);
                done(tenure::nn::conv2d_transposed(images, &one, with, more));
            }
        });
    }),
    ("random.rs", "new", |n| {
        let mut random = Generator::new(n as u64);
        random.next_u32();
        done(random.uniform::<f32>(0.0..1.0, 3));
    }),
    ("random.rs", "at", |n| {
        let mut random = Generator::at(1, n as u64);
        random.next_u64();
        random.next_u32();
        done(random.normal::<bf16>(0.0, 1.0, 3));
        done(random.permutation(5));
        done(random.choice_distinct(100, 3));
    }),
    ("random.rs", "uniform", |n| {
        each(shapes(n), |shape| done(Generator::new(1).uniform::<f64>(0.0..1.0, shape)));
        done(Generator::new(1).uniform::<f64>(0.0..n as f64, 3));
        done(Generator::new(1).uniform::<f32>(0.0..1.0, [n; 9]));
    }),
    ("random.rs", "uniform_into", |n| {
        done(Generator::new(1).uniform_into(-(n as f64)..n as f64, &mut [0.0_f32; 3]));
    }),
    ("random.rs", "normal", |n| {
        each(shapes(n), |shape| done(Generator::new(1).normal::<f32>(0.0, 1.0, shape)));
        done(Generator::new(1).normal::<f64>(n as f64, n as f64, 3));
    }),
    ("random.rs", "integers", |n| {
        let n = n as i64;
        for range in [0..n, n..n, -3..n, i64::MIN..n, n..i64::MAX, n.wrapping_neg()..n] {
            done(Generator::new(1).integers::<i64>(range.clone(), 3));
            done(Generator::new(1).integers::<u64>(range.clone(), 3));
            done(Generator::new(1).integers::<i8>(range, 3));
        }
        each(shapes(n as usize), |shape| done(Generator::new(1).integers::<u8>(0..2, shape)));
    }),
    ("random.rs", "integers_into", |n| {
        done(Generator::new(1).integers_into(0..n as i64, &mut [0_u16; 3]));
    }),
    ("random.rs", "bernoulli", |n| {
        each(shapes(n), |shape| done(Generator::new(1).bernoulli(0.5, shape)));
    }),
    ("random.rs", "permutation", |n| done(Generator::new(1).permutation(n))),
    ("random.rs", "choice", |n| {
        done(Generator::new(1).choice(n, 3));
        done(Generator::new(1).choice(3, n));
        done(Generator::new(1).choice(n, n));
    }),
    ("random.rs", "choice_distinct", |n| {
        for (bound, count) in [(n, 3), (3, n), (n, n), (n, n / 9), (n, n / 8)] {
            done(Generator::new(1).choice_distinct(bound, count));
        }
    }),
    ("random.rs", "choice_weighted", |n| {
        done(Generator::new(1).choice_weighted(&[0.5, 1.0], n));
        let none = TensorView::<f64>::from_slice(&[], [0, n.min(1 << 62)]).unwrap();
        done(Generator::new(1).choice_weighted(none, 3));
    }),
    ("", "operations on arrays without elements", |n| {
        arrays(n, |a| {
            let empty = a.is_empty().then_some(a);
            done(tenure::ops::sum(a, 0));
            done(tenure::ops::sum(a, 1));
            done(tenure::ops::max(a, 1));
            done(tenure::ops::mean(a, 0));
            done(tenure::ops::var(a, 1, u32::MAX));
            done(tenure::ops::argmin(a, 0));
            done(tenure::ops::any(tenure::ops::gt(a, 0.0).unwrap(), 0));
            done(tenure::ops::logsumexp(a, 1));
            done(tenure::ops::median(a, 0));
            done(tenure::ops::quantiles(a, &[0.1, 0.5], 1));
            done(tenure::ops::sort(a, 0));
            done(tenure::ops::argsort(a, 1));
            done(tenure::ops::unique(a));
            done(tenure::ops::cumsum(a, 0));
            done(tenure::ops::cumprod(a, 1));
            done(tenure::ops::diff(a, 0));
            done(tenure::nn::softmax(a, 1));
            done(tenure::nn::log_softmax(a, 0));
            done(tenure::nn::layer_norm(a, 1, LayerNorm::new()));
            done(tenure::ops::add(a, 1.0));
            done(tenure::ops::exp(a));
            done(tenure::ops::cast::<u8, f32>(a));
            done(tenure::ops::nonzero(a));
            done(tenure::ops::concat([a, a], 0));
            done(tenure::ops::concat([a, a], 1));
            done(tenure::ops::stack([a, a], 0));
            done(tenure::ops::stack([a, a], 2));
            done(tenure::ops::take(a, 0, &[0_i64; 0]));
            done(tenure::linalg::matmul(a, a.t()));
            done(tenure::linalg::matmul(a.t(), a));
            done(tenure::linalg::einsum("ij,kj->ik", [a, a]));
            done(tenure::ops::tril(a, 0));
            done(tenure::ops::searchsorted(&DATA, a));
            done(a.to_tensor());
            done(((&a + 1.0) * 2.0).sum(0).eval());
            done((a * a).softmax(1).eval());
            if let Some(a) = empty {
                a.to_vec();
            }
        });
    }),
    ("quantize/mod.rs", "per_group", |n| {
        done(quantize::dynamic::<i8, f32>(&[[1.0; 4]; 2], Scheme::per_group(n)));
    }),
    ("quantize/mod.rs", "four_bits", |n| {
        done(quantize::Weights::four_bits(&[[1.0_f32; 4]; 64], n));
    }),
];
