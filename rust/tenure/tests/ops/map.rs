//! Closures over elements, and equality up to rounding, against loops of Rust's.

use tenure::*;

#[test]
fn closures_see_every_element_in_any_layout() {
    let data: Vec<i32> = (0..24).collect();
    let dense = TensorView::from_slice(&data, [2, 3, 4]).unwrap();
    for a in [dense, dense.t(), dense.flip(1).unwrap(), dense.slice(2, 1..3).unwrap()] {
        let expected: Vec<i64> = a.iter().map(|&x| i64::from(x) * 2 + 1).collect();
        let mapped = ops::map(a, |x| i64::from(x) * 2 + 1).unwrap();
        assert_eq!((mapped.shape(), mapped.to_vec()), (a.shape(), expected.clone()));
        let mut out = Tensor::<i64>::zeros_in(a.shape(), Order::ColumnMajor).unwrap();
        ops::map_into(a, |x| i64::from(x) * 2 + 1, &mut out).unwrap();
        assert_eq!(out, mapped);
        let mut own = a.to_tensor().unwrap();
        ops::map_assign(&mut own.view_mut().t(), |x| x * 2 + 1);
        assert_eq!(own.cast::<i64>().unwrap(), mapped);

        let sums = ops::zip_with(a, mapped.view(), |x, y| y - i64::from(x)).unwrap();
        assert_eq!(sums, ops::map(a, |x| i64::from(x) + 1).unwrap());
        ops::zip_with_into(a, &mapped, |x, y| y - i64::from(x), &mut out).unwrap();
        assert_eq!(out, sums);
        ops::zip_with_assign(&mut out, a, |x, y| x - i64::from(y)).unwrap();
        assert!(out.iter().all(|&x| x == 1));
    }
}

#[test]
fn closures_of_two_broadcast() {
    let table = ops::zip_with(&[[1], [2]], &[10, 20, 30], |a, b| a * b).unwrap();
    assert_eq!(table, [[10, 20, 30], [20, 40, 60]]);
    assert!(ops::zip_with(&[1, 2], &[1, 2, 3], |a, b| a + b).is_err());
    let mut out = [[0; 3]; 2];
    ops::map_into(&[1, 2, 3], |x| x + 1, &mut out).unwrap();
    assert_eq!(out, [[2, 3, 4]; 2]);
    assert!(ops::map_into(&[1, 2], |x: i32| x, &mut out).is_err());
    assert!(ops::zip_with_assign(&mut out, &[1, 2], |x, _| x).is_err());
    ops::zip_with_assign(&mut out, 5, |x, y: i32| x * y).unwrap();
    assert_eq!(out, [[10, 15, 20]; 2]);
    assert_eq!(
        ops::map(TensorView::<f32>::from_slice(&[], [0, 2]).unwrap(), f32::sqrt).unwrap().len(),
        0
    );
}

#[test]
fn closeness_is_that_of_numpy() {
    let default = Tolerance::default();
    let close = |a: f64, b: f64| ops::all_close(a, b, default).unwrap();
    assert!(close(1e10, 1.00001e10) && !close(1e10, 1.0001e10));
    assert!(close(1e-8, 1e-9) && !close(1e-7, 1e-8));
    assert!(close(f64::INFINITY, f64::INFINITY) && !close(f64::INFINITY, -f64::INFINITY));
    assert!(!close(1.0, f64::INFINITY) && !close(f64::INFINITY, 1.0) && !close(f64::NAN, f64::NAN));
    assert!(!ops::all_close(1.0, f64::NAN, default.nan_equals_nan()).unwrap());
    assert!(ops::all_close(1.0, 1.5, default.absolute(0.5)).unwrap());
    assert!(ops::all_close(&[[1, 2], [1, 2]], &[1, 2], default).unwrap());
    assert!(ops::all_close(&[0.0_f32; 0], 1.0, default).unwrap());
    assert!(ops::all_close(&[1.0, 2.0], &[1.0, 2.0, 3.0], default).is_err());
    assert!(ops::all_close(f16::ONE, f16::from_f32(1.0), default.relative(0.0)).unwrap());
}

#[test]
fn reductions_of_all_elements_are_those_over_every_axis() {
    let data: Vec<f64> = (0..24).map(|x| f64::from(x * x % 7)).collect();
    let view = TensorView::from_slice(&data, [2, 3, 4]).unwrap().t();
    assert_eq!(Some(ops::sum_all(view).unwrap()), ops::sum(view, ..).unwrap().item());
    assert_eq!(Some(ops::prod_all(view).unwrap()), ops::prod(view, ..).unwrap().item());
    assert_eq!(Some(ops::mean_all(view).unwrap()), ops::mean(view, ..).unwrap().item());
    assert_eq!(Some(ops::var_all(view, 1).unwrap()), ops::var(view, .., 1).unwrap().item());
    assert_eq!(Some(ops::std_all(view, 0).unwrap()), ops::std(view, .., 0).unwrap().item());
    assert_eq!(Some(ops::min_all(view).unwrap()), ops::min(view, ..).unwrap().item());
    assert_eq!(Some(ops::max_all(view).unwrap()), ops::max(view, ..).unwrap().item());
    assert_eq!(Some(ops::count_all(view).unwrap()), ops::count(view, ..).unwrap().item());
    assert_eq!(ops::sum_all(&[1_u8; 300]).unwrap(), 300_u64);
    let none: [f32; 0] = [];
    assert_eq!((ops::sum_all(&none).unwrap(), ops::prod_all(&none).unwrap()), (0.0, 1.0));
    assert!(ops::mean_all(&none).unwrap().is_nan() && ops::min_all(&none).is_err());
}
