//! Equality up to a tolerance, of tensors, views and arrays.
#![cfg(feature = "approx")]

use approx::{
    AbsDiffEq, RelativeEq, UlpsEq, assert_abs_diff_eq, assert_relative_eq, assert_ulps_eq,
};
use tenure::{Tensor, TensorView, TensorViewMut};

#[test]
fn every_kind_of_tensor_is_compared_with_every_other() {
    let near = [[1.0_f32, 2.0], [3.0, 4.0]];
    let mut data = near.map(|row| row.map(|element| element + 1e-3));
    let tensor = Tensor::from(data);
    let shared = Tensor::from(data).into_shared();
    assert_abs_diff_eq!(tensor, near, epsilon = 0.01);
    assert_abs_diff_eq!(shared, Tensor::from(near), epsilon = 0.01);
    assert_relative_eq!(tensor.view(), Tensor::from(near).into_shared(), max_relative = 0.01);
    let exclusive = TensorViewMut::from_slice(data.as_flattened_mut(), [2, 2]).unwrap();
    assert_relative_eq!(exclusive, tensor.view());
    assert_ulps_eq!(exclusive, shared, max_ulps = 0);
    assert!(!tensor.abs_diff_eq(&near, 1e-4));
    assert!(!tensor.relative_eq(&near, 0.0, 1e-5));
    assert!(!tensor.ulps_eq(&near, 0.0, 4));
}

#[test]
fn shapes_are_equal_and_layouts_need_not_be() {
    let rows = Tensor::from([[1.0, 2.0], [3.0, 4.0]]);
    let columns = Tensor::from([[1.0, 3.0], [2.0, 4.0]]);
    assert_abs_diff_eq!(rows.t(), columns.view());
    assert!(!rows.abs_diff_eq(&rows.flatten().unwrap(), 10.0));
    let one = TensorView::from_slice(&[1.0], [1, 1]).unwrap();
    assert!(!rows.abs_diff_eq(&one, 10.0)); // not broadcast
    let none = TensorView::<f64>::from_slice(&[], [0, 2]).unwrap();
    assert_abs_diff_eq!(none, none);
    assert!(!Tensor::from([f64::NAN]).abs_diff_eq(&[f64::NAN], 1.0));
    assert_abs_diff_eq!(Tensor::from([1_u8, 200]), [2_u8, 199], epsilon = 1);
}
