//! Convolutions and poolings, compared with the host's, of numbers with exact sums.

use tenure::*;

use crate::samples::Random;
use crate::stream;

fn whole<T: Element>(random: &mut Random, shape: [usize; 4], of: impl Fn(i8) -> T) -> Tensor<T> {
    let count = shape.iter().product();
    let elements = (0..count).map(|_| of(random.below(7) as i8 - 3)).collect::<Vec<_>>();
    Tensor::from_vec(elements, shape).unwrap()
}

fn same<T: Element + PartialEq>(
    stream: &cuda::Stream,
    got: cuda::TensorView<'_, T>,
    expected: &Tensor<T>,
    what: &str,
) {
    // A download is row-major, whatever the tensor is on the device.
    let got = stream.download(got).unwrap();
    assert_eq!(got.shape(), expected.shape(), "{what}");
    assert!(got.to_vec() == expected.to_vec(), "{what}");
}

/// Every form of a convolution and of a pooling, in both orders of images.
macro_rules! images {
    ($($name:ident: $type:ty, $of:expr;)*) => {$(
        #[test]
        fn $name() {
            let stream = &stream!();
            let random = &mut Random::new(1);
            let bias = whole::<$type>(random, [1, 1, 1, 20], $of);
            let bias = bias.index(0, 0).unwrap().index(0, 0).unwrap().index(0, 0).unwrap();
            let bias_there = stream.upload(bias).unwrap();
            let pixels = whole::<$type>(random, [2, 9, 7, 6], $of);
            let pixels_there = stream.upload(&pixels).unwrap();
            for is_channels_last in [false, true] {
                let (a, a_there) = match is_channels_last {
                    true => {
                        (pixels.channels_last().unwrap(), pixels_there.channels_last().unwrap())
                    }
                    false => (pixels.view(), pixels_there.view()),
                };
                let channels = a.shape()[1];

                let weight = whole::<$type>(random, [20, channels, 3, 2], $of);
                let weight_there = stream.upload(&weight).unwrap();
                let with = Conv2d::new().strides([2, 1]).padding([1, 1]);
                let with = with.bias(&bias).activation(Activation::Relu).clamp(1.0, 9.0);
                let on = cuda::Conv2d::new().strides([2, 1]).padding([1, 1]);
                let on = on.bias(&bias_there).activation(Activation::Relu).clamp(1.0, 9.0);
                let expected = nn::conv2d(a, &weight, with).unwrap();
                let mut out = stream.conv2d(a_there, &weight_there, on).unwrap();
                same(stream, out.view(), &expected, "conv2d");
                assert_eq!(out.strides(), expected.strides());
                stream.fill(&mut out, $of(1_i8)).unwrap();
                stream.conv2d_into(a_there, &weight_there, on, &mut out).unwrap();
                same(stream, out.view(), &expected, "conv2d_into");

                let weight = whole::<$type>(random, [channels, 4, 2, 3], $of);
                let weight_there = stream.upload(&weight).unwrap();
                let with = Conv2d::new().strides([3, 2]).dilations([2, 1]);
                let with = with.padding_around([1, 0], [0, 2]);
                let on = cuda::Conv2d::new().strides([3, 2]).dilations([2, 1]);
                let on = on.padding_around([1, 0], [0, 2]);
                let expected = nn::conv2d_transposed(a, &weight, with, [1, 0]).unwrap();
                let mut out = stream.conv2d_transposed(a_there, &weight_there, on, [1, 0]).unwrap();
                same(stream, out.view(), &expected, "conv2d_transposed");
                assert_eq!(out.strides(), expected.strides());
                stream.fill(&mut out, $of(1_i8)).unwrap();
                stream.conv2d_transposed_into(a_there, &weight_there, on, &mut out).unwrap();
                same(stream, out.view(), &expected, "conv2d_transposed_into");

                let weight = whole::<$type>(random, [channels, 1, 3, 3], $of);
                let weight_there = stream.upload(&weight).unwrap();
                let expected = nn::conv2d(a, &weight, Conv2d::new().groups(channels)).unwrap();
                let on = cuda::Conv2d::new().groups(channels);
                let out = stream.conv2d(a_there, &weight_there, on).unwrap();
                same(stream, out.view(), &expected, "groups");

                let windows = Pool2d::new([3, 2]).strides([1, 2]).padding([1, 1]);
                let expected = nn::max_pool2d(a, windows).unwrap();
                let mut out = stream.max_pool2d(a_there, windows).unwrap();
                same(stream, out.view(), &expected, "max_pool2d");
                assert_eq!(out.strides(), expected.strides());
                stream.fill(&mut out, $of(1_i8)).unwrap();
                stream.max_pool2d_into(a_there, windows, &mut out).unwrap();
                same(stream, out.view(), &expected, "max_pool2d_into");

                for windows in [windows, windows.count_padding()] {
                    let expected = nn::avg_pool2d(a, windows).unwrap();
                    let averages = stream.avg_pool2d(a_there, windows).unwrap();
                    same(stream, averages.view(), &expected, "avg_pool2d");
                    stream.fill(&mut out, $of(1_i8)).unwrap();
                    stream.avg_pool2d_into(a_there, windows, &mut out).unwrap();
                    same(stream, out.view(), &expected, "avg_pool2d_into");
                }

                let expected = nn::adaptive_max_pool2d(a, [4, 5]).unwrap();
                let mut out = stream.adaptive_max_pool2d(a_there, [4, 5]).unwrap();
                same(stream, out.view(), &expected, "adaptive_max_pool2d");
                stream.fill(&mut out, $of(1_i8)).unwrap();
                stream.adaptive_max_pool2d_into(a_there, &mut out).unwrap();
                same(stream, out.view(), &expected, "adaptive_max_pool2d_into");
                let expected = nn::adaptive_avg_pool2d(a, [4, 5]).unwrap();
                let averages = stream.adaptive_avg_pool2d(a_there, [4, 5]).unwrap();
                same(stream, averages.view(), &expected, "adaptive_avg_pool2d");
                stream.adaptive_avg_pool2d_into(a_there, &mut out).unwrap();
                same(stream, out.view(), &expected, "adaptive_avg_pool2d_into");

                // A reduction, whose sums are divided once.
                let expected = stream.download(stream.mean(a_there, [2, 3]).unwrap()).unwrap();
                let means = stream.global_avg_pool2d(a_there).unwrap();
                assert_eq!(means.shape(), [2, channels, 1, 1]);
                assert!(stream.to_vec(&means).unwrap() == expected.to_vec(), "global_avg_pool2d");
                let mut out = stream.zeros([2, channels, 1, 1]).unwrap();
                stream.global_avg_pool2d_into(a_there, &mut out).unwrap();
                let means = stream.to_vec(&out).unwrap();
                assert!(means == expected.to_vec(), "global_avg_pool2d_into");
            }
        }
    )*};
}

images! {
    of_f64: f64, f64::from;
    of_f32: f32, f32::from;
    of_f16: f16, |x: i8| f16::from_f32(x.into());
    of_bf16: bf16, |x: i8| bf16::from_f32(x.into());
}

#[test]
fn what_does_not_agree_is_refused_as_on_the_host() {
    let stream = &stream!();
    let (a, weight) = ([[[[1.0_f32; 4]; 3]; 2]], [[[[1.0_f32; 2]; 2]; 2]; 5]);
    let there = (stream.upload(&a).unwrap(), stream.upload(&weight).unwrap());
    let refused = |got: Result<cuda::Tensor<f32>>, host: Result<Tensor<f32>>| {
        let (got, host) = (got.unwrap_err(), host.unwrap_err());
        assert_eq!((got.kind(), got.message()), (host.kind(), host.message()));
    };
    let (on, with) = (cuda::Conv2d::new(), Conv2d::new());
    let (x, w) = (&there.0, &there.1);
    refused(stream.conv2d(w, x, on), nn::conv2d(&weight, &a, with));
    refused(stream.conv2d(x, w, on.groups(0)), nn::conv2d(&a, &weight, with.groups(0)));
    refused(stream.conv2d(x, w, on.strides([0, 1])), nn::conv2d(&a, &weight, with.strides([0, 1])));
    refused(
        stream.conv2d(x, w, on.dilations([3, 1])),
        nn::conv2d(&a, &weight, with.dilations([3, 1])),
    );
    refused(stream.conv2d(x, w, on.clamp(1.0, 0.0)), nn::conv2d(&a, &weight, with.clamp(1.0, 0.0)));
    refused(
        stream.conv2d_transposed(x, w, on, [0, 0]),
        nn::conv2d_transposed(&a, &weight, with, [0, 0]),
    );
    let windows = Pool2d::new([2, 2]).padding([2, 0]);
    refused(stream.max_pool2d(x, windows), nn::max_pool2d(&a, windows));
    let row = stream.upload(&[1.0_f32; 3]).unwrap();
    refused(
        stream.adaptive_avg_pool2d(&row, [1, 2]),
        nn::adaptive_avg_pool2d(&[1.0_f32; 3], [1, 2]),
    );

    let error = stream.conv2d(x, w, on.activation(Activation::Gelu)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.message().contains("gelu"), "{error}");
}

/// Every form of batch normalization, in both orders of images.
#[test]
fn batch_norm_has_the_bits_of_the_host() {
    let stream = &stream!();
    let random = &mut Random::new(2);
    let pixels = whole::<f32>(random, [2, 5, 3, 4], f32::from);
    let pixels_there = stream.upload(&pixels).unwrap();
    let (mean, var) = ([0.5_f32, -1.0, 2.0, 0.1, 7.0], [0.3_f32, 1.0, 4.0, 1e-3, 9.5]);
    let (weight, bias) = ([1.5_f32, -0.1, 3.0, 0.7, 1.0], [0.2_f32, 0.4, -0.6, 0.8, 1e3]);
    let [mean_there, var_there, weight_there, bias_there] =
        [&mean, &var, &weight, &bias].map(|vector| stream.upload(vector).unwrap());
    let norm = BatchNorm::new(&mean, &var).weight(&weight).bias(&bias).eps(0.01);
    let on = cuda::BatchNorm::new(&mean_there, &var_there).weight(&weight_there);
    let on = on.bias(&bias_there).eps(0.01);
    let last = whole::<f32>(random, [2, 3, 4, 5], f32::from);
    let last_there = stream.upload(&last).unwrap();
    for is_channels_last in [false, true] {
        let (a, a_there) = match is_channels_last {
            true => (last.channels_last().unwrap(), last_there.channels_last().unwrap()),
            false => (pixels.view(), pixels_there.view()),
        };
        let expected = nn::batch_norm(a, norm).unwrap();
        let mut out = stream.batch_norm(a_there, on).unwrap();
        same(stream, out.view(), &expected, "batch_norm");
        assert_eq!(out.strides(), expected.strides());
        stream.fill(&mut out, 1.0).unwrap();
        stream.batch_norm_into(a_there, on, &mut out).unwrap();
        same(stream, out.view(), &expected, "batch_norm_into");
        stream.copy_into(a_there, &mut out).unwrap();
        stream.batch_norm_assign(&mut out, on).unwrap();
        same(stream, out.view(), &expected, "batch_norm_assign");
    }
    let short = stream.upload(&[1.0_f32]).unwrap();
    let wrong = cuda::BatchNorm::new(&short, &var_there);
    assert_eq!(
        stream.batch_norm(&pixels_there, wrong).unwrap_err().kind(),
        ErrorKind::InvalidArgument
    );
}
