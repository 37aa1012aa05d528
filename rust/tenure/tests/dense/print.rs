//! Printing, held against what NumPy prints: `Display` is its `str`, `Debug` its `repr` with the
//! dtype always named.
//!
//! The expected texts are NumPy 2.4's for the same arrays, except for the dtype's name.

use tenure::*;

#[track_caller]
fn assert_prints<T: Element>(tensor: &Tensor<T>, display: &str, debug: &str) {
    assert_eq!(tensor.to_string(), display);
    assert_eq!(format!("{tensor:?}"), debug);
}

#[test]
fn one_row() {
    assert_prints(
        &Tensor::copy_from_slice(&[1.0_f64, 2.5, -3.25], 3).unwrap(),
        "[ 1.    2.5  -3.25]",
        "array([ 1.  ,  2.5 , -3.25], dtype=f64)",
    );
}

#[test]
fn a_table_of_f32() {
    assert_prints(
        &Tensor::copy_from_slice(&[1.0_f32, 0.1, 1.0 / 3.0, 100.0], [2, 2]).unwrap(),
        &["[[  1.           0.1       ]", " [  0.33333334 100.        ]]"].join("\n"),
        &[
            "array([[  1.        ,   0.1       ],",
            "       [  0.33333334, 100.        ]], dtype=f32)",
        ]
        .join("\n"),
    );
}

#[test]
fn a_large_range() {
    assert_prints(
        &Tensor::copy_from_slice(&[1e-5_f64, 0.3, 12345678.9012], 3).unwrap(),
        "[1.00000000e-05 3.00000000e-01 1.23456789e+07]",
        "array([1.00000000e-05, 3.00000000e-01, 1.23456789e+07], dtype=f64)",
    );
}

#[test]
fn f32_turns_scientific_earlier() {
    assert_prints(
        &Tensor::copy_from_slice(&[1e6_f32, 2.5], 2).unwrap(),
        "[1.0e+06 2.5e+00]",
        "array([1.0e+06, 2.5e+00], dtype=f32)",
    );
}

#[test]
fn f16_has_few_digits() {
    assert_prints(
        &Tensor::copy_from_slice(&[0.1, 1234.0].map(f16::from_f64), 2).unwrap(),
        "[9.998e-02 1.234e+03]",
        "array([9.998e-02, 1.234e+03], dtype=f16)",
    );
}

#[test]
fn a_tie_of_f16() {
    assert_prints(
        &Tensor::copy_from_slice(&[0.015625, 0.0078125].map(f16::from_f64), 2).unwrap(),
        "[0.01563  0.007812]",
        "array([0.01563 , 0.007812], dtype=f16)",
    );
}

#[test]
fn three_digit_exponents() {
    assert_prints(
        &Tensor::copy_from_slice(&[5e-324, 1.0_f64], 2).unwrap(),
        "[5.e-324 1.e+000]",
        "array([5.e-324, 1.e+000], dtype=f64)",
    );
}

#[test]
fn not_finite() {
    assert_prints(
        &Tensor::copy_from_slice(&[1.5, f64::NAN, f64::NEG_INFINITY, f64::INFINITY], 4).unwrap(),
        "[ 1.5  nan -inf  inf]",
        "array([ 1.5,  nan, -inf,  inf], dtype=f64)",
    );
}

#[test]
fn nothing_but_nan() {
    assert_prints(
        &Tensor::copy_from_slice(&[f32::NAN, f32::NAN], 2).unwrap(),
        "[nan nan]",
        "array([nan, nan], dtype=f32)",
    );
}

#[test]
fn zeros_of_either_sign() {
    assert_prints(
        &Tensor::copy_from_slice(&[0.0, -0.0], 2).unwrap(),
        "[ 0. -0.]",
        "array([ 0., -0.], dtype=f64)",
    );
}

#[test]
fn integers() {
    assert_prints(
        &Tensor::copy_from_slice(&[1, -200, 30], 3).unwrap(),
        "[   1 -200   30]",
        "array([   1, -200,   30], dtype=i32)",
    );
}

#[test]
fn the_largest_integer() {
    assert_prints(
        &Tensor::copy_from_slice(&[u64::MAX, 0], 2).unwrap(),
        "[18446744073709551615                    0]",
        "array([18446744073709551615,                    0], dtype=u64)",
    );
}

#[test]
fn truth() {
    assert_prints(
        &Tensor::copy_from_slice(&[true, false].map(Bool8::from), 2).unwrap(),
        "[ True False]",
        "array([ True, False], dtype=bool8)",
    );
}

#[test]
fn complex() {
    assert_prints(
        &Tensor::copy_from_slice(&[Complex::new(1.0_f32, 2.0), Complex::new(-0.5, -3.25)], 2)
            .unwrap(),
        "[ 1. +2.j   -0.5-3.25j]",
        "array([ 1. +2.j  , -0.5-3.25j], dtype=c64)",
    );
}

#[test]
fn complex_with_nan() {
    assert_prints(
        &Tensor::copy_from_slice(
            &[Complex::new(1.0, f64::NAN), Complex::new(f64::NEG_INFINITY, 2.5)],
            2,
        )
        .unwrap(),
        "[  1.+nanj -inf+2.5j]",
        "array([  1.+nanj, -inf+2.5j], dtype=c128)",
    );
}

#[test]
fn three_axes() {
    assert_prints(
        &Tensor::from_vec((0..8_u8).collect(), [2, 2, 2]).unwrap(),
        &["[[[0 1]", "  [2 3]]", "", " [[4 5]", "  [6 7]]]"].join("\n"),
        &[
            "array([[[0, 1],",
            "        [2, 3]],",
            "",
            "       [[4, 5],",
            "        [6, 7]]], dtype=u8)",
        ]
        .join("\n"),
    );
}

#[test]
fn a_wrapped_row() {
    assert_prints(
        &Tensor::from_vec((0..30).map(|i| f64::from(i) * 1.5).collect(), 30).unwrap(),
        &[
            "[ 0.   1.5  3.   4.5  6.   7.5  9.  10.5 12.  13.5 15.  16.5 18.  19.5",
            " 21.  22.5 24.  25.5 27.  28.5 30.  31.5 33.  34.5 36.  37.5 39.  40.5",
            " 42.  43.5]",
        ]
        .join("\n"),
        &[
            "array([ 0. ,  1.5,  3. ,  4.5,  6. ,  7.5,  9. , 10.5, 12. , 13.5, 15. ,",
            "       16.5, 18. , 19.5, 21. , 22.5, 24. , 25.5, 27. , 28.5, 30. , 31.5,",
            "       33. , 34.5, 36. , 37.5, 39. , 40.5, 42. , 43.5], dtype=f64)",
        ]
        .join("\n"),
    );
}

#[test]
fn wrapped_rows() {
    assert_prints(
        &Tensor::from_vec((0..40_i16).map(|i| i * i).collect(), [2, 20]).unwrap(),
        &[
            "[[   0    1    4    9   16   25   36   49   64   81  100  121  144  169",
            "   196  225  256  289  324  361]",
            " [ 400  441  484  529  576  625  676  729  784  841  900  961 1024 1089",
            "  1156 1225 1296 1369 1444 1521]]",
        ]
        .join("\n"),
        &[
            "array([[   0,    1,    4,    9,   16,   25,   36,   49,   64,   81,  100,",
            "         121,  144,  169,  196,  225,  256,  289,  324,  361],",
            "       [ 400,  441,  484,  529,  576,  625,  676,  729,  784,  841,  900,",
            "         961, 1024, 1089, 1156, 1225, 1296, 1369, 1444, 1521]], dtype=i16)",
        ]
        .join("\n"),
    );
}

#[test]
fn a_cut_row() {
    assert_prints(
        &Tensor::from_vec((0..1001_u16).collect(), 1001).unwrap(),
        "[   0    1    2 ...  998  999 1000]",
        "array([   0,    1,    2, ...,  998,  999, 1000], shape=[1001], dtype=u16)",
    );
}

#[test]
fn a_cut_table() {
    assert_prints(
        &Tensor::from_vec((0..2000).map(f64::from).collect(), [2, 1000]).unwrap(),
        &[
            "[[0.000e+00 1.000e+00 2.000e+00 ... 9.970e+02 9.980e+02 9.990e+02]",
            " [1.000e+03 1.001e+03 1.002e+03 ... 1.997e+03 1.998e+03 1.999e+03]]",
        ]
        .join("\n"),
        &[
            "array([[0.000e+00, 1.000e+00, 2.000e+00, ..., 9.970e+02, 9.980e+02,",
            "        9.990e+02],",
            "       [1.000e+03, 1.001e+03, 1.002e+03, ..., 1.997e+03, 1.998e+03,",
            "        1.999e+03]], shape=[2, 1000], dtype=f64)",
        ]
        .join("\n"),
    );
}

#[test]
fn both_axes_cut() {
    assert_prints(
        &Tensor::from_vec((0..4900_i32).collect(), [70, 70]).unwrap(),
        &[
            "[[   0    1    2 ...   67   68   69]",
            " [  70   71   72 ...  137  138  139]",
            " [ 140  141  142 ...  207  208  209]",
            " ...",
            " [4690 4691 4692 ... 4757 4758 4759]",
            " [4760 4761 4762 ... 4827 4828 4829]",
            " [4830 4831 4832 ... 4897 4898 4899]]",
        ]
        .join("\n"),
        &[
            "array([[   0,    1,    2, ...,   67,   68,   69],",
            "       [  70,   71,   72, ...,  137,  138,  139],",
            "       [ 140,  141,  142, ...,  207,  208,  209],",
            "       ...,",
            "       [4690, 4691, 4692, ..., 4757, 4758, 4759],",
            "       [4760, 4761, 4762, ..., 4827, 4828, 4829],",
            "       [4830, 4831, 4832, ..., 4897, 4898, 4899]],",
            "      shape=[70, 70], dtype=i32)",
        ]
        .join("\n"),
    );
}

#[test]
fn outer_axes_cut() {
    assert_prints(
        &Tensor::from_vec(vec![1.0_f32; 1100], [11, 1, 100]).unwrap(),
        &[
            "[[[1. 1. 1. ... 1. 1. 1.]]",
            "",
            " [[1. 1. 1. ... 1. 1. 1.]]",
            "",
            " [[1. 1. 1. ... 1. 1. 1.]]",
            "",
            " ...",
            "",
            " [[1. 1. 1. ... 1. 1. 1.]]",
            "",
            " [[1. 1. 1. ... 1. 1. 1.]]",
            "",
            " [[1. 1. 1. ... 1. 1. 1.]]]",
        ]
        .join("\n"),
        &[
            "array([[[1., 1., 1., ..., 1., 1., 1.]],",
            "",
            "       [[1., 1., 1., ..., 1., 1., 1.]],",
            "",
            "       [[1., 1., 1., ..., 1., 1., 1.]],",
            "",
            "       ...,",
            "",
            "       [[1., 1., 1., ..., 1., 1., 1.]],",
            "",
            "       [[1., 1., 1., ..., 1., 1., 1.]],",
            "",
            "       [[1., 1., 1., ..., 1., 1., 1.]]], shape=[11, 1, 100], dtype=f32)",
        ]
        .join("\n"),
    );
}

#[test]
fn empty() {
    assert_prints(
        &Tensor::<f32>::zeros([2, 0]).unwrap(),
        "[]",
        "array([], shape=[2, 0], dtype=f32)",
    );
    // Beside an extent of 0 another may be too long to be walked.
    let long = TensorView::<f32>::from_slice(&[], [1 << 60, 0]).unwrap();
    assert_eq!(long.to_string(), "[]");
    assert_eq!(format!("{long:?}"), "array([], shape=[1152921504606846976, 0], dtype=f32)");
}

#[test]
fn single() {
    assert_prints(
        &Tensor::copy_from_slice(&[1.0 / 3.0_f64], [0; 0]).unwrap(),
        "0.3333333333333333",
        "array(0.33333333, dtype=f64)",
    );
}

#[test]
fn single_f32() {
    assert_prints(
        &Tensor::copy_from_slice(&[1e6_f32], [0; 0]).unwrap(),
        "1e+06",
        "array(1.e+06, dtype=f32)",
    );
}

#[test]
fn single_whole() {
    assert_prints(
        &Tensor::copy_from_slice(&[3.0_f64], [0; 0]).unwrap(),
        "3.0",
        "array(3., dtype=f64)",
    );
}

#[test]
fn single_tiny() {
    assert_prints(
        &Tensor::copy_from_slice(&[1e-5_f64], [0; 0]).unwrap(),
        "1e-05",
        "array(1.e-05, dtype=f64)",
    );
}

#[test]
fn single_truth() {
    assert_prints(&Tensor::full([0; 0], Bool8::TRUE).unwrap(), "True", "array(True, dtype=bool8)");
}

#[test]
fn single_integer() {
    assert_prints(&Tensor::full([0; 0], -7_i64).unwrap(), "-7", "array(-7, dtype=i64)");
}

#[test]
fn single_complex() {
    assert_prints(
        &Tensor::full([0; 0], Complex::new(1.0_f64, -0.5)).unwrap(),
        "(1-0.5j)",
        "array(1.-0.5j, dtype=c128)",
    );
}

#[test]
fn single_imaginary() {
    assert_prints(
        &Tensor::full([0; 0], Complex::new(0.0_f64, 2.0)).unwrap(),
        "2j",
        "array(0.+2.j, dtype=c128)",
    );
}

#[test]
fn every_type_prints_alike() {
    let mut data = [1.5, 2.0];
    let (display, debug) = ("[1.5 2. ]", "array([1.5, 2. ], dtype=f64)");
    let view = TensorView::from_slice(&data, 2).unwrap();
    assert_eq!((view.to_string(), format!("{view:?}")), (display.into(), debug.into()));
    let dynamic = DynView::from(view);
    assert_eq!((dynamic.to_string(), format!("{dynamic:?}")), (display.into(), debug.into()));
    let tensor = view.to_tensor().unwrap();
    let dynamic = DynTensor::from(tensor.try_clone().unwrap());
    assert_eq!((dynamic.to_string(), format!("{dynamic:?}")), (display.into(), debug.into()));
    let shared = tensor.into_shared();
    assert_eq!((shared.to_string(), format!("{shared:?}")), (display.into(), debug.into()));
    let view = TensorViewMut::from_slice(&mut data, 2).unwrap();
    assert_eq!((view.to_string(), format!("{view:?}")), (display.into(), debug.into()));
    let dynamic = DynViewMut::from(view);
    assert_eq!((dynamic.to_string(), format!("{dynamic:?}")), (display.into(), debug.into()));
}

#[test]
fn bf16_shows_the_digits_that_it_has() {
    let data = [0.1, 1.41, -2.0].map(bf16::from_f32);
    let view = TensorView::from_slice(&data, 3).unwrap();
    assert_eq!(view.to_string(), "[ 0.1   1.41 -2.  ]");
    assert_eq!(TensorView::from_ref(&bf16::from_f32(300.0)).to_string(), "3e+02");
    // Subnormal: 2^-133.
    assert_eq!(TensorView::from_ref(&bf16::from_bits(1)).to_string(), "9e-41");
}

#[test]
fn a_thousand_elements_are_not_cut() {
    let data = [7_u8; 1001];
    let long = |len: usize| TensorView::from_slice(&data[..len], len).unwrap().to_string();
    assert_eq!(long(1000).split_whitespace().count(), 1000);
    assert_eq!(long(1001), "[7 7 7 ... 7 7 7]");
}

#[test]
fn strides_do_not_show() {
    let data = [1, 2, 3, 4, 5, 6];
    let view = TensorView::from_slice(&data, [2, 3]).unwrap();
    assert_eq!(view.t().to_string(), "[[1 4]\n [2 5]\n [3 6]]");
    assert_eq!(view.flip(1).unwrap().to_string(), "[[3 2 1]\n [6 5 4]]");
    let long = TensorView::from_ref(&7_u8).broadcast([1 << 40]).unwrap();
    assert_eq!(long.to_string(), "[7 7 7 ... 7 7 7]");
}

#[test]
fn the_precision_of_the_format_is_the_precision_of_the_array() {
    // numpy.array2string(a, precision=3), and precision=0.
    let data = [3.25159_f64, 2.0, 0.1250001];
    let view = TensorView::from_slice(&data, 3).unwrap();
    assert_eq!(format!("{view:.3}"), "[3.252 2.    0.125]");
    assert_eq!(format!("{view:.0}"), "[3. 2. 0.]");
    assert_eq!(format!("{:.2}", TensorView::from_ref(&1.71828)), "1.72");
}

#[test]
fn dtypes_that_the_library_does_not_know_print_as_such() {
    let float8 = DType::from_dlpack(10, 8, 1);
    let view = DynView::from_bytes(&[1, 2], float8, [2, 1]).unwrap();
    let dtype = "DType { code: 10, bits: 8, lanes: 1 }";
    assert_eq!(view.to_string(), format!("<{dtype} of shape [2, 1]>"));
    assert_eq!(format!("{view:?}"), format!("array(<...>, shape=[2, 1], dtype={dtype})"));
}

#[test]
fn width_and_sign_are_those_of_each_element() {
    let data = [3.25159_f64, -2.0, 0.1250001];
    let view = TensorView::from_slice(&data, 3).unwrap();
    assert_eq!(format!("{view:8.2}"), "[    3.25    -2.       0.13]");
    assert_eq!(format!("{view:+.1}"), "[+3.3 -2.  +0.1]");
    assert_eq!(format!("{view:<6.1}"), "[3.3    -2.    0.1   ]");
    assert_eq!(format!("{view:2.1}"), format!("{view:.1}"));
    let whole = TensorView::from_slice(&[1, -2, 30], 3).unwrap();
    assert_eq!(format!("{whole:+}"), "[ +1  -2 +30]");
    assert_eq!(format!("{whole:5?}"), "array([    1,    -2,    30], dtype=i32)");
    assert_eq!(
        format!("{:6.2}|{:+}", TensorView::from_ref(&1.718), TensorView::from_ref(&1)),
        "  1.72|+1"
    );
    let both = [Complex::new(1.0_f64, 2.0)];
    assert_eq!(format!("{:+.1}", TensorView::from_slice(&both, 1).unwrap()), "[+1.+2.j]");
}
