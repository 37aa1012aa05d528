//! Products of matrices, compared with the host's, of numbers with exact sums.

use tenure::*;

use crate::samples::Random;
use crate::stream;

fn whole<T: Element>(random: &mut Random, shape: [usize; 2], of: impl Fn(i8) -> T) -> Tensor<T> {
    let count = shape.iter().product();
    let elements = (0..count).map(|_| of(random.below(7) as i8 - 3)).collect::<Vec<_>>();
    Tensor::from_vec(elements, shape).unwrap()
}

/// Every form of a product, of transposed factors and into a transposed result.
macro_rules! products {
    ($($name:ident: $type:ty, $of:expr, $result:expr;)*) => {$(
        #[test]
        fn $name() {
            let stream = &stream!();
            let random = &mut Random::new(1);
            let a = whole::<$type>(random, [70, 33], $of);
            let b = whole::<$type>(random, [66, 33], $of);
            let bias = whole(random, [1, 66], $result);
            let bias = bias.index(0, 0).unwrap();
            let start = whole(random, [66, 70], $result);
            let on = [stream.upload(&a).unwrap(), stream.upload(&b).unwrap()];
            let bias_there = stream.upload(bias).unwrap();
            let (left, right) = (on[0].view(), on[1].t());
            let same = |got: cuda::TensorView<'_, _>, expected: &Tensor<_>, what: &str| {
                let got = stream.download(got).unwrap();
                assert!(got.shape() == expected.shape() && got.iter().eq(expected), "{what}");
            };

            let expected = linalg::matmul(&a, b.t()).unwrap();
            same(stream.matmul(left, right).unwrap().view(), &expected, "matmul");
            let mut out = stream.upload(&start).unwrap();
            stream.matmul_into(left, right, &mut out.view_mut().t()).unwrap();
            same(out.t(), &expected, "matmul_into");

            let mut expected = start.t().to_tensor().unwrap();
            let (two, three) = ($result(2_i8), $result(3_i8));
            linalg::matmul_scaled_into(two, &a, b.t(), three, &mut expected).unwrap();
            let mut out = stream.upload(&start).unwrap();
            stream.matmul_scaled_into(two, left, right, three, &mut out.view_mut().t()).unwrap();
            same(out.t(), &expected, "matmul_scaled_into");

            let with = Matmul::new().bias(&bias).activation(Activation::Relu).clamp(1.0, 9.0);
            let expected = linalg::matmul_with(&a, b.t(), with).unwrap();
            let with = cuda::Matmul::new()
                .bias(&bias_there)
                .activation(Activation::Relu)
                .clamp(1.0, 9.0);
            same(stream.matmul_with(left, right, with).unwrap().view(), &expected, "matmul_with");
            let mut out = stream.upload(&start).unwrap();
            stream.matmul_with_into(left, right, with, &mut out.view_mut().t()).unwrap();
            same(out.t(), &expected, "matmul_with_into");

            let error = stream.matmul(left, left).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        }
    )*};
}

products! {
    of_f64: f64, f64::from, f64::from;
    of_f32: f32, f32::from, f32::from;
    of_f16: f16, |x| f16::from_f32(x.into()), |x: i8| f16::from_f32(x.into());
    of_bf16: bf16, |x| bf16::from_f32(x.into()), |x: i8| bf16::from_f32(x.into());
    of_bytes: i8, |x| x, i32::from;
}

#[test]
fn unsigned_bytes_are_multiplied_by_signed_ones() {
    let stream = &stream!();
    let (a, b) = ([[200_u8, 100]], [[-100_i8, 1], [1, -1]]);
    let there = (stream.upload(&a).unwrap(), stream.upload(&b).unwrap());
    let sums = stream.matmul_u8_i8(&there.0, &there.1).unwrap();
    assert_eq!(stream.to_vec(&sums).unwrap(), [-19_900, 100]);
}

#[test]
fn what_the_host_alone_computes_is_refused() {
    let stream = &stream!();
    let complex = stream.zeros::<Complex<f32>>([2, 2]).unwrap();
    let error = stream.matmul(&complex, &complex).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().starts_with("matmul takes c64 only on the CPU"), "{error}");
    let numbers = stream.zeros::<f32>([2, 2]).unwrap();
    let with = cuda::Matmul::new().activation(Activation::Gelu);
    let error = stream.matmul_with(&numbers, &numbers, with).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().starts_with("attributes->activation is gelu"), "{error}");
}
