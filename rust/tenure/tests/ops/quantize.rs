//! Quantized numbers: refusals, and products next to those of the numbers.

use tenure::quantize::{self, Quantized, Scheme, Weights, linear};
use tenure::random::Generator;
use tenure::{Activation, Conv2d, ErrorKind, Matmul, Tensor, linalg, ops};

fn normal(seed: u64, shape: [usize; 2]) -> Tensor<f32> {
    Generator::new(seed).normal(0.0, 1.0, shape).unwrap()
}

#[test]
fn each_scheme_has_its_scales() {
    let a = normal(1, [6, 32]);
    let shapes = [
        (Scheme::per_tensor(), [1, 1]),
        (Scheme::per_row(), [6, 1]),
        (Scheme::per_axis(0), [6, 1]),
        (Scheme::per_axis(-1), [1, 32]),
        (Scheme::per_group(8), [6, 4]),
    ];
    for (scheme, shape) in shapes {
        let symmetric = quantize::dynamic::<i8, _>(&a, scheme).unwrap();
        assert_eq!(symmetric.scales().shape(), shape);
        assert!(symmetric.zeros().is_none());
        let affine = quantize::dynamic::<u8, _>(&a, scheme.affine()).unwrap();
        assert_eq!(affine.zeros().unwrap().shape(), shape);
        for back in [
            quantize::dequantize::<f32, _>(&symmetric).unwrap(),
            quantize::dequantize::<f32, _>(&affine).unwrap(),
        ] {
            let difference = ops::abs(ops::sub(&back, &a).unwrap()).unwrap();
            assert!(ops::max_all(&difference).unwrap() < 0.02);
        }
    }
}

#[test]
fn products_by_four_bits_are_near_those_of_the_numbers() {
    let (x, w) = (normal(4, [9, 256]), normal(5, [256, 50]));
    let exact = linalg::matmul(&x, &w).unwrap();
    let norm = |x: &Tensor<f32>| x.to_vec().iter().map(|x| x * x).sum::<f32>().sqrt();
    for (group, most) in [(32, 0.12), (64, 0.14), (128, 0.17)] {
        let weights = Weights::four_bits(&w, group).unwrap();
        assert_eq!((weights.rows(), weights.cols()), (256, 50));
        let fast = linear(&x, &weights, Matmul::new()).unwrap();
        let error = norm(&ops::sub(&fast, &exact).unwrap()) / norm(&exact);
        assert!(error > 0.02 && error < most, "{group}: {error}");
        // One row has the same bits.
        let row = linear(x.index(0, 8).unwrap(), &weights, Matmul::new()).unwrap();
        assert_eq!(row, fast.index(0, 8).unwrap());
    }
    // Given integers and scales.
    let values = Tensor::full([256, 3], 7_i8).unwrap();
    let scales = Tensor::full([4, 3], 0.5).unwrap();
    let own = Weights::of(&Quantized::from_parts(values, scales, None).unwrap()).unwrap();
    let ones = Tensor::full([1, 256], 1.0_f32).unwrap();
    let sum = linear(&ones, &own, Matmul::new()).unwrap();
    assert!(sum.to_vec().iter().all(|x| (x - 896.0).abs() < 0.01), "{sum:?}");

    let refused = |group, shape: [usize; 2], message: &str| {
        let error = Weights::four_bits(&normal(6, shape), group).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains(message), "{error}");
    };
    refused(16, [64, 3], "a group is 16 rows but must be 32, 64 or 128, and divide 64");
    refused(64, [96, 3], "a group is 64 rows but must be 32, 64 or 128, and divide 96");
    let error = Weights::four_bits(&[1.0_f32; 64], 32).unwrap_err();
    assert!(error.to_string().contains("weights have rank 1 but must have 2"), "{error}");
    let values = Tensor::full([64, 3], 8_i8).unwrap();
    let scales = Tensor::full([2, 3], 0.5).unwrap();
    let error = Weights::of(&Quantized::from_parts(values, scales, None).unwrap()).unwrap_err();
    assert!(error.to_string().contains("b[0, 0] is 8"), "{error}");
}

#[test]
fn products_are_near_those_of_the_numbers() {
    let (x, w) = (normal(2, [9, 64]), normal(3, [64, 20]));
    let exact = linalg::matmul(&x, &w).unwrap();
    let by_packed = linear(&x, &Weights::new(&w).unwrap(), Matmul::new()).unwrap();
    let rows = quantize::dynamic::<i8, _>(&x, Scheme::per_row()).unwrap();
    let columns = quantize::dynamic::<i8, _>(&w, Scheme::per_axis(1)).unwrap();
    let product = quantize::matmul(&rows, &columns, Matmul::new()).unwrap();
    assert_eq!(by_packed, product);
    let difference = ops::abs(ops::sub(&product, &exact).unwrap()).unwrap();
    assert!(ops::max_all(&difference).unwrap() < 0.4);

    let affine = quantize::dynamic::<u8, _>(&x, Scheme::per_row().affine()).unwrap();
    let product = quantize::matmul(&affine, &columns, Matmul::new()).unwrap();
    let difference = ops::abs(ops::sub(&product, &exact).unwrap()).unwrap();
    assert!(ops::max_all(&difference).unwrap() < 0.4);

    // A vector is one row, and narrow floats are the numbers that they are.
    let vector = x.index(0, 3).unwrap();
    let of_vector = linear(vector, &Weights::new(&w).unwrap(), Matmul::new()).unwrap();
    assert_eq!(of_vector, by_packed.index(0, 3).unwrap());
    let narrow: Tensor<tenure::bf16> = ops::cast(&x).unwrap();
    let narrow = linear(&narrow, &Weights::new(&w).unwrap(), Matmul::new()).unwrap();
    assert_eq!(narrow.shape(), [9, 20]);
}

#[test]
fn convolutions_are_near_those_of_the_numbers() {
    let image: Tensor<f32> = Generator::new(5).normal(0.5, 1.0, [2, 6, 9, 8]).unwrap();
    let options = Conv2d::new().padding([1, 1]).strides([2, 1]).activation(Activation::Relu);
    for groups in [1, 2, 6] {
        let filters: Tensor<f32> =
            Generator::new(6).normal(0.0, 0.1, [6, 6 / groups, 3, 3]).unwrap();
        let with = options.groups(groups);
        let exact = tenure::nn::conv2d(&image, &filters, with).unwrap();
        let a = quantize::dynamic::<u8, _>(&image, Scheme::per_tensor().affine()).unwrap();
        let weight = quantize::dynamic::<i8, _>(&filters, Scheme::per_axis(0)).unwrap();
        let fast = quantize::conv2d(&a, &weight, with).unwrap();
        assert_eq!(fast.shape(), exact.shape());
        // Each of up to 54 products has an error of half a step of both factors.
        for (fast, exact) in fast.to_vec().iter().zip(exact.to_vec()) {
            assert!((fast - exact).abs() < 0.1, "{fast} {exact}");
        }
    }
    let two = quantize::dynamic::<i8, _>(&image, Scheme::per_axis(0)).unwrap();
    let error = quantize::conv2d(&two, &two, Conv2d::new()).unwrap_err().to_string();
    assert!(error.contains("a_scale has shape [2, 1, 1, 1]"), "{error}");
}

#[test]
fn refusals_name_the_value() {
    let a = normal(4, [3, 6]);
    let refused = |scheme: Scheme, words: &str| {
        let error = quantize::dynamic::<i8, _>(&a, scheme).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.to_string().contains(words), "{error}");
    };
    refused(Scheme::per_axis(2), "no axis");
    refused(Scheme::per_group(4), "a group is 4 numbers but must divide 6");
    refused(Scheme::per_group(0), "a group is 0 numbers but must divide 6");
    let error = quantize::dynamic::<u8, _>(&a, Scheme::per_row()).unwrap_err();
    assert!(error.to_string().contains("zeros is NULL"), "{error}");
    let error = quantize::dynamic::<i8, _>(&[[1.0_f64]], Scheme::per_row()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);

    let values = Tensor::<i8>::zeros([4, 2]).unwrap();
    let scales = Tensor::full([1, 2], 1.0).unwrap();
    let other = Tensor::zeros([2, 1]).unwrap();
    let error = Quantized::from_parts(
        values.to_tensor().unwrap(),
        scales.to_tensor().unwrap(),
        Some(other),
    )
    .unwrap_err();
    assert!(error.to_string().contains("zeros has shape [2, 1] but scales has [1, 2]"), "{error}");

    let rows = Tensor::full([4, 1], 1.0).unwrap();
    let by_rows = Quantized::from_parts(values.to_tensor().unwrap(), rows, None).unwrap();
    assert!(Weights::of(&by_rows).unwrap_err().to_string().contains("a scale for each column"));
    let zeros = Tensor::zeros([1, 2]).unwrap();
    let affine = Quantized::from_parts(values, scales, Some(zeros)).unwrap();
    assert!(Weights::of(&affine).unwrap_err().to_string().contains("zero points"));
}
