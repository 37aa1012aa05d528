//! Normalizations and scans: axes, layouts, forms, and refusals.

use tenure::{
    ErrorKind, LayerNorm, Result, Tensor, f16,
    nn::{
        layer_norm, layer_norm_assign, log_softmax, rms_norm, softmax, softmax_assign, softmax_into,
    },
    ops::{
        cummax, cumprod, cumsum, cumsum_assign, cumsum_into, diff, logsumexp, moments,
        moments_into, nan_max, nan_mean, nan_min, nan_sum, norm, norm_all, sub, sum,
    },
};

#[test]
fn softmax_over_any_axes_of_any_layout_adds_up_to_one() -> Result<()> {
    let a = Tensor::from_fn([3, 4, 5], |[i, j, k]| (i * 7 + j * 3 + k) as f32 / 4.0)?;
    for axes in [&[0_isize][..], &[-1], &[0, 2], &[0, 1, 2]] {
        let shares = softmax(a.view().permute(&[2, 0, 1])?, axes)?;
        for total in sum(&shares, axes)?.to_vec() {
            assert!((total - 1.0).abs() < 1e-5, "{axes:?}: {total}");
        }
        let logs = log_softmax(a.view().permute(&[2, 0, 1])?, axes)?;
        for (share, log) in shares.to_vec().into_iter().zip(logs.to_vec()) {
            assert!((share.ln() - log).abs() < 1e-4);
        }
    }
    Ok(())
}

#[test]
fn forms_agree() -> Result<()> {
    let a = [[1.0_f32, -2.0, 0.5], [3.0, 3.0, 9.0]];
    let fresh = softmax(&a, 1)?;
    let mut into = [[0.0; 3]; 2];
    softmax_into(&a, -1, &mut into)?;
    let mut assigned = a;
    softmax_assign(&mut assigned, 1)?;
    assert_eq!(fresh.to_vec(), into.concat());
    assert_eq!(into, assigned);
    let mut sums = [[0.0; 3]; 2];
    cumsum_into(&a, 1, &mut sums)?;
    let mut summed = a;
    cumsum_assign(&mut summed, 1)?;
    assert_eq!(sums, summed);
    assert_eq!(sums, [[1.0, -1.0, -0.5], [3.0, 6.0, 15.0]]);
    Ok(())
}

#[test]
fn layer_norm_has_weights_of_the_axes() -> Result<()> {
    let a = [[1.0_f64, 3.0], [5.0, 7.0]];
    let (weight, bias) = ([[1.0, 2.0], [1.0, 2.0]], [[0.0, 0.0], [1.0, 1.0]]);
    let with = LayerNorm::new().weight(&weight).bias(&bias).eps(0.0);
    let whole = layer_norm(&a, .., with)?;
    let scale = 1.0 / 5.0_f64.sqrt();
    let expected = [-3.0 * scale, -2.0 * scale, scale + 1.0, 6.0 * scale + 1.0];
    for (found, expected) in whole.to_vec().into_iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    let mut halves = [f16::from_f32(2.0), f16::from_f32(-2.0)];
    layer_norm_assign(&mut halves, 0, LayerNorm::new().eps(0.0))?;
    assert_eq!(halves, [f16::from_f32(1.0), f16::from_f32(-1.0)]);
    Ok(())
}

#[test]
fn normalizations_say_what_is_wrong() {
    let a = [[1.0_f32, 2.0]];
    let says = |result: Result<Tensor<f32>>, text: &str| {
        let error = result.expect_err(text);
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.message().contains(text), "{error}");
    };
    says(softmax(&a, 2), "softmax: axis is 2 but a has rank 2");
    says(cumsum(&a, -3), "cumsum: axis is -3 but a has rank 2");
    let into = tenure::ops::cummax_into(&a, 2, &mut [[0.0; 2]]).expect_err("there is no axis 2");
    assert_eq!(into.message(), "cummax_into: axis is 2 but a has rank 2");
    let assign = tenure::ops::cumprod_assign(&mut [1.0], 1).expect_err("there is no axis 1");
    assert_eq!(assign.message(), "cumprod_assign: axis is 1 but a has rank 1");
    says(diff(&a, 2), "diff: axis is 2 but a has rank 2");
    let bias = [1.0, 1.0];
    says(rms_norm(&a, 1, LayerNorm::new().bias(&bias)), "rms_norm takes none");
    says(layer_norm(&a, 0, LayerNorm::new().weight(&bias)), "weight.shape[0] is 2");
    says(layer_norm(&a, 1, LayerNorm::new().eps(f64::NAN)), "eps is");
    says(norm(&a, 1, 0.0), "power is 0");
    says(diff(&[[0.0_f32; 0]; 1], 1), "axis 1 is 0");
}

#[test]
fn scans_go_along_any_axis_and_widen_integers() -> Result<()> {
    let a = [[1_u8, 200], [3, 100]];
    assert_eq!(cumsum(&a, 0)?.to_vec(), [1_u64, 200, 4, 300]);
    assert_eq!(cumprod(&a, -1)?.to_vec(), [1_u64, 200, 3, 300]);
    assert_eq!(cummax(&a, 0)?.to_vec(), [1_u8, 200, 3, 200]);
    assert_eq!(diff(&a, 0)?.to_vec(), [2_u8, 156]);
    assert_eq!(diff(&a, 0)?.shape(), [1, 2]);
    Ok(())
}

#[test]
fn moments_are_mean_and_var() -> Result<()> {
    let a = Tensor::from_fn([40, 70], |[i, j]| ((i * 70 + j) % 13) as f32)?;
    for axis in [0, 1] {
        let (mean, var) = moments(&a, axis, 1)?;
        assert_eq!(mean.to_vec(), tenure::ops::mean(&a, axis)?.to_vec());
        assert_eq!(var.to_vec(), tenure::ops::var(&a, axis, 1)?.to_vec());
    }
    let (mut mean, mut var) = ([0.0_f32; 3], [0.0_f32; 2]);
    let refused = moments_into(&a, .., 0, &mut mean, &mut var).expect_err("shapes differ");
    assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn reductions_leave_out_nan() -> Result<()> {
    let nan = f64::NAN;
    let a = [[1.0, nan, 4.0], [nan, nan, nan]];
    assert_eq!(nan_sum(&a, 1)?.to_vec(), [5.0, 0.0]);
    assert_eq!(nan_mean(&a, 1)?.to_vec()[0], 2.5);
    assert_eq!((nan_min(&a, 1)?.to_vec()[0], nan_max(&a, 1)?.to_vec()[0]), (1.0, 4.0));
    for all in [nan_mean(&a, 1)?, nan_min(&a, 1)?, nan_max(&a, 1)?] {
        assert!(all.to_vec()[1].is_nan());
    }
    assert_eq!(norm_all(&[3.0_f32, -4.0], 2.0)?, 5.0);
    assert_eq!(norm(&[[3.0_f32, -4.0]], 1, f64::INFINITY)?.to_vec(), [4.0]);
    // The first is rounded at 1000, the other at its own size.
    let a = [[-1000.0_f32, -1000.5]];
    let shares = sub(&a, logsumexp(&a, tenure::Axes::keep(1))?)?;
    let apart = sub(&shares, log_softmax(&a, 1)?)?;
    assert!(apart.iter().all(|x| x.abs() <= 1000.0 * f32::EPSILON), "{apart}");
    Ok(())
}
