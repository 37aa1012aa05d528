//! Poolings, batch normalization and transposed convolutions of images in any layout.

use tenure::*;

/// Whole numbers, of two images of three channels, 4 by 5, in NHWC.
fn pixels() -> Vec<f64> {
    (0..120).map(|i| f64::from(i * 37 % 23)).collect()
}
fn image(pixels: &[f64]) -> TensorView<'_, f64> {
    TensorView::from_slice(pixels, [2, 4, 5, 3]).unwrap().permute(&[0, 3, 1, 2]).unwrap()
}

#[test]
fn a_new_result_has_its_channels_where_the_image_has_them() {
    let pixels = pixels();
    let a = image(&pixels);
    let row_major = a.to_tensor().unwrap();
    let windows = Pool2d::new([2, 2]).strides([1, 2]).padding_around([0, 1], [1, 0]);
    for pool in [nn::max_pool2d, nn::avg_pool2d] {
        let last = pool(a, windows).unwrap();
        let first = pool(row_major.view(), windows).unwrap();
        assert_eq!(last.shape(), [2, 3, 4, 3]);
        assert_eq!((last.strides()[1], first.strides()[3]), (1, 1));
        assert_eq!(last.to_vec(), first.to_vec());
    }
}

#[test]
fn sizes_and_the_whole_image_are_windows() {
    let pixels = pixels();
    let a = image(&pixels);
    let whole = ops::mean(a, [2, 3]).unwrap().to_vec();
    assert_eq!(nn::global_avg_pool2d(a).unwrap().to_vec(), whole);
    assert_eq!(nn::adaptive_avg_pool2d(a, [1, 1]).unwrap().to_vec(), whole);
    assert_eq!(nn::adaptive_max_pool2d(a, [4, 5]).unwrap().to_vec(), a.to_vec());
    let mut out = Tensor::zeros([2, 3, 2, 5]).unwrap();
    nn::adaptive_max_pool2d_into(a, &mut out).unwrap();
    assert_eq!(out.to_vec(), nn::max_pool2d(a, Pool2d::new([2, 1])).unwrap().to_vec());
}

#[test]
fn a_folded_normalization_is_the_one_after_the_convolution() {
    let pixels = pixels();
    let a = image(&pixels);
    let weight = Tensor::from_vec((0..54).map(|i| f64::from(i % 7)).collect(), [2, 3, 3, 3]);
    let weight = weight.unwrap();
    let (mean, var, bias) = ([3.0, -1.0], [4.0, 16.0], [1.0, 2.0]);
    let norm = BatchNorm::new(&mean, &var).weight(&bias).bias(&mean).eps(0.0);
    let convolved = nn::conv2d(a, &weight, Conv2d::new().bias(&bias)).unwrap();
    let (folded, shifted) = nn::fold_batch_norm(&weight, Some(&bias), norm).unwrap();
    let at_once = nn::conv2d(a, &folded, Conv2d::new().bias(&shifted)).unwrap();
    assert_eq!(at_once.to_vec(), nn::batch_norm(&convolved, norm).unwrap().to_vec());
}

#[test]
fn more_rows_than_a_stride_less_one_are_refused() {
    let (a, weight) = ([[[[1.0; 3]; 3]]], [[[[1.0; 2]; 2]]]);
    let with = Conv2d::new().strides([2, 2]);
    let shape = nn::conv2d_transposed(&a, &weight, with, [1, 0]).unwrap();
    assert_eq!(shape.shape(), [1, 1, 7, 6]);
    let error = nn::conv2d_transposed(&a, &weight, with, [2, 0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(
        nn::max_pool2d(&a, Pool2d::new([0, 1])).unwrap_err().message(),
        "kernel[0] is 0 but must be 1 at least"
    );
    // A dilation too leaves rows that no window of a convolution reads.
    let with = Conv2d::new().dilations([1, 2]);
    let shape = nn::conv2d_transposed(&a, &weight, with, [0, 1]).unwrap();
    assert_eq!(shape.shape(), [1, 1, 4, 6]);
    for more in [[1, 0], [0, 2]] {
        let error = nn::conv2d_transposed(&a, &weight, with, more).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    }
}

#[test]
fn extents_are_rounded_up_where_a_window_begins_before_their_end() {
    let a = [[[[1.0, 2.0, 3.0, 4.0, 6.0]]]];
    let windows = Pool2d::new([1, 2]).strides([1, 2]);
    assert_eq!(nn::avg_pool2d(&a, windows).unwrap().to_vec(), [1.5, 3.5]);
    assert_eq!(nn::avg_pool2d(&a, windows.ceil_mode()).unwrap().to_vec(), [1.5, 3.5, 6.0]);
    assert_eq!(nn::max_pool2d(&a, windows.ceil_mode()).unwrap().to_vec(), [2.0, 4.0, 6.0]);
    // Padding is counted within the padded image, and no window begins in the padding behind it.
    let padded = windows.padding_around([0, 0], [1, 1]).count_padding();
    assert_eq!(nn::avg_pool2d(&a, padded).unwrap().to_vec(), [0.5, 2.5, 5.0]);
    assert_eq!(nn::avg_pool2d(&a, padded.ceil_mode()).unwrap().to_vec(), [0.5, 2.5, 5.0]);
    let wide = Pool2d::new([1, 3]).strides([1, 3]).padding_around([0, 0], [1, 1]).count_padding();
    assert_eq!(nn::avg_pool2d(&a, wide.ceil_mode()).unwrap().to_vec(), [1.0, 13.0 / 3.0]);
    // The first window too may end beyond the image, by less than a stride.
    let large = Pool2d::new([1, 7]).strides([1, 3]);
    assert_eq!(nn::avg_pool2d(&a, large.ceil_mode()).unwrap().to_vec(), [3.2]);
    for refused in [large, large.strides([1, 2]).ceil_mode()] {
        let error = nn::avg_pool2d(&a, refused).unwrap_err();
        assert!(error.message().contains("exceeds the 5 of a with its padding"), "{error}");
    }
    let error = nn::max_pool2d(&a, padded).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains("TNR_POOL2D_COUNT_PADDING"), "{error}");
}
