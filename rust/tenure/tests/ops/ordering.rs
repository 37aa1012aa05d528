//! Sorting, searching and counting, as their callers see them.

use tenure::{
    Axes, Bool8, Context, ErrorKind, Tensor, TensorView, f16,
    ops::{
        argsort, bincount, bincount_into, bincount_weighted, bottom_k, histogram, histogram_edges,
        median, nan_median, nan_median_all, nan_quantiles, partition, partition_into, quantile,
        quantile_into, quantiles, searchsorted, searchsorted_into, sort, sort_assign,
        sort_descending, sort_descending_with_indices, sort_into, sort_with_indices, top_k, unique,
        unique_counts, unique_inverse,
    },
};

#[test]
fn sorts_go_along_any_axis_of_any_layout() {
    let table = [[3, 1, 2], [6, 5, 4]];
    assert_eq!(sort(&table, 0).unwrap(), Tensor::from(table));
    assert_eq!(sort(&table, -1).unwrap(), Tensor::from([[1, 2, 3], [4, 5, 6]]));
    let turned = TensorView::from_slice(table.as_flattened(), [2, 3]).unwrap();
    let sorted = sort_descending(turned.t(), 0).unwrap();
    assert_eq!(sorted.to_vec(), [3, 6, 2, 5, 1, 4]);
    let mut columns = Tensor::from([[9, 2], [1, 7]]);
    sort_assign(&mut columns, 0).unwrap();
    assert_eq!(columns.to_vec(), [1, 2, 9, 7]);
    let mut out = [[0; 3]; 2];
    sort_into(&table, 1, &mut out).unwrap();
    assert_eq!(out, [[1, 2, 3], [4, 5, 6]]);
}

#[test]
fn equal_elements_keep_their_order_and_nan_is_last() {
    let a = [f64::NAN, 0.0, -0.0, -1.0, 0.0];
    let sorted = sort_with_indices(&a, 0).unwrap();
    assert_eq!(sorted.indices.to_vec(), [3, 1, 2, 4, 0]);
    let signs: Vec<bool> = sorted.values.iter().map(|x| x.is_sign_negative()).collect();
    assert_eq!(signs[..4], [true, false, true, false]);
    let fallen = sort_descending_with_indices(&a, 0).unwrap();
    assert_eq!(fallen.indices.to_vec(), [1, 2, 4, 3, 0]);
    assert!(fallen.values[[4]].is_nan());
    assert_eq!(argsort(&[Bool8::TRUE, Bool8::FALSE], 0).unwrap().to_vec(), [1, 0]);
    let halves = [f16::ONE, f16::NEG_ONE];
    assert_eq!(sort(&halves, 0).unwrap().to_vec(), [f16::NEG_ONE, f16::ONE]);
}

#[test]
fn selections_take_what_sorting_would_put_there() {
    let table = [[5.0, 1.0, 4.0], [2.0, f64::NAN, 3.0]];
    let best = top_k(&table, 2, -1).unwrap();
    assert_eq!(best.values.to_vec(), [5.0, 4.0, 3.0, 2.0]);
    assert_eq!(best.indices.to_vec(), [0, 2, 2, 0]);
    let all = bottom_k(&table, 3, 1).unwrap();
    assert_eq!(all.indices.to_vec(), [1, 2, 0, 0, 2, 1]);
    assert_eq!(top_k(&table, 0, 1).unwrap().values.shape(), [2, 0]);
    let error = top_k(&table, 4, 1).unwrap_err();
    assert_eq!(error.message(), "top_k: k is 4 but axis 1 has 3");
    assert_eq!(partition(&[9, 7, 8], 1, 0).unwrap().to_vec(), [7, 8, 9]);
    let mut out = [0; 3];
    let error = partition_into(&[9, 7, 8], 3, 0, &mut out).unwrap_err();
    assert!(error.message().contains("kth is 3"), "{error}");
    assert_eq!(out, [0; 3]);
    assert_eq!(sort(&table, 2).unwrap_err().message(), "sort: axis is 2 but a has rank 2");
}

#[test]
fn quantiles_have_the_axes_that_are_left() {
    let table = [[1.0, 3.0, 2.0], [6.0, 4.0, 8.0]];
    assert_eq!(median(&table, 0).unwrap().to_vec(), [3.5, 3.5, 5.0]);
    assert_eq!(median(&table, Axes::keep(1)).unwrap().shape(), [2, 1]);
    assert_eq!(median(&table, ..).unwrap().item(), Some(3.5));
    assert_eq!(quantiles(&table, &[0.0, 0.5], ..).unwrap().to_vec(), [1.0, 3.5]);
    let kept = quantiles(&table, &[0.5], Axes::keep(0)).unwrap();
    assert_eq!((kept.shape(), kept.to_vec()), (&[1, 1, 3][..], vec![3.5, 3.5, 5.0]));
    let mut out = [[0.0], [0.0]];
    quantile_into(&table, 1.0, 1, &mut out).unwrap();
    assert_eq!(out, [[3.0], [8.0]]);
    let mut wrong = [0.0; 3];
    let error = quantile_into(&table, 1.0, 1, &mut wrong).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let deep = Tensor::<f64>::ones([1; 8]).unwrap();
    assert_eq!(quantile(&deep, 0.5, 7).unwrap().shape(), [1; 7]);
    for axes in [Axes::keep(0), Axes::from([0usize; 0])] {
        assert_eq!(quantiles(&deep, &[0.5], axes).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}

#[test]
fn nan_is_a_result_or_is_left_out() {
    let a = [[f32::NAN, 1.0], [2.0, 4.0]];
    assert!(median(&a, 0).unwrap()[[0]].is_nan());
    assert_eq!(nan_median(&a, 0).unwrap().to_vec(), [2.0, 2.5]);
    assert_eq!(nan_median_all(&a).unwrap(), 2.0);
    assert_eq!(nan_quantiles(&a, &[0.0, 1.0], 1).unwrap().to_vec(), [1.0, 2.0, 1.0, 4.0]);
    assert!(nan_median_all(&[f32::NAN]).unwrap().is_nan());
    for q in [-0.5, 1.5, f64::NAN] {
        assert_eq!(quantile(&a, q, 0).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}

#[test]
fn searches_and_counts_name_what_they_refuse() {
    let mut places = [0_i64; 2];
    searchsorted_into(&[1.0, 2.0], &[2.0, f64::NAN], &mut places).unwrap();
    assert_eq!(places, [1, 2]);
    assert!(searchsorted(&[[1, 2]], &[1]).is_err());
    let mut counts = [7_i64; 2];
    let error = bincount_into(&[0, 1, 2], &mut counts).unwrap_err();
    assert!(error.message().contains("element 2 of a is 2"), "{error}");
    assert_eq!(counts, [7, 7]);
    assert_eq!(bincount(&[0.5], 1).unwrap_err().kind(), ErrorKind::Unsupported);
    assert!(bincount_weighted(&[0], &[1], 1).is_err());
    assert!(histogram(&[1.0], 3, 2.0..=1.0).is_err());
    assert!(histogram_edges(&[1], &[0; 0]).is_err());
    assert_eq!(histogram_edges(&[1], &[1]).unwrap().shape(), [0]);
    assert_eq!(histogram_edges(&[1, 2, 2], &[1, 2, 2]).unwrap().to_vec(), [1, 2]);
}

#[test]
fn different_elements_are_sorted() {
    let a = [[2.5, -0.0], [0.0, f64::NAN]];
    let found = unique_counts(&a).unwrap();
    assert_eq!(found.counts.to_vec(), [2, 1, 1]);
    assert!(found.values[[0]].is_sign_negative() && found.values[[2]].is_nan());
    let found = unique_inverse(&a).unwrap();
    assert_eq!(found.inverse, Tensor::from([[1_i64, 0], [0, 2]]));
    assert_eq!(unique(&[0_u8; 0]).unwrap().shape(), [0]);
    assert_eq!(unique_counts(&[0_u8; 0]).unwrap().counts.shape(), [0]);
}

#[test]
fn threads_change_nothing() {
    let many: Vec<u32> = (0..300_000_u32).map(|i| i.wrapping_mul(2_654_435_761) >> 7).collect();
    let alone = sort_with_indices(&many, 0).unwrap();
    let context = Context::with_threads(2).unwrap();
    let shared = context.install(|| sort_with_indices(&many, 0)).unwrap();
    assert_eq!(alone.indices.to_vec(), shared.indices.to_vec());
    assert!(alone.values.to_vec().is_sorted());
}
