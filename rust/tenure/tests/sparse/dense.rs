//! From dense to sparse and back, compared with loops over elements.

use tenure::{
    AsView, Bool8, BsrMatrix, Context, CooMatrix, CooView, CscMatrix, CsrMatrix, ErrorKind, Tensor,
    TensorView, bf16,
    sparse::{
        sparse_dropout, sparse_relu, sparse_threshold, sparse_top_k, sparse_top_k_in_magnitude,
        sparsify,
    },
};

const ROWS: usize = 37;
const COLS: usize = 211;

/// Some elements, among them -0.0 and NaN, and zeros.
fn dense() -> Tensor<f32> {
    let element = |i: usize| match i % 23 {
        0 => (i % 7) as f32 - 3.5,
        5 => -0.0,
        11 if i % 2 == 0 => f32::NAN,
        _ => 0.0,
    };
    Tensor::from_vec((0..ROWS * COLS).map(element).collect(), [ROWS, COLS]).unwrap()
}

/// Row, column and bits of each element that is chosen, row by row.
fn chosen(dense: &TensorView<'_, f32>, choose: impl Fn(f32) -> bool) -> Vec<(usize, usize, u32)> {
    let mut found = Vec::new();
    for row in 0..dense.shape()[0] {
        for col in 0..dense.shape()[1] {
            let element = dense[[row, col]];
            if choose(element) {
                found.push((row, col, element.to_bits()));
            }
        }
    }
    found
}

fn entries(matrix: CooView<'_, f32>) -> Vec<(usize, usize, u32)> {
    matrix.iter().map(|(row, col, value)| (row, col, value.to_bits())).collect()
}

#[test]
fn entries_are_those_that_a_loop_finds() {
    let dense = dense();
    let non_zero = |x: f32| x != 0.0;
    let expected = chosen(&dense.view(), non_zero);
    let coo = dense.to_coo().unwrap();
    assert_eq!(entries(coo.view()), expected);
    assert!(coo.view().is_coalesced());
    let csr = dense.to_csr().unwrap();
    assert_eq!(csr.col_indices(), coo.col_indices());
    assert_eq!(csr.row_offsets()[ROWS] as usize, expected.len());
    let transposed = dense.view().transpose(0, 1).unwrap();
    let csc = transposed.to_csc().unwrap();
    assert_eq!((csc.col_offsets(), csc.row_indices()), (csr.row_offsets(), csr.col_indices()));

    let above: CooMatrix<f32> = sparsify(&dense).above(0.5).to_coo().unwrap();
    assert_eq!(entries(above.view()), chosen(&dense.view(), |x| x > 0.5 || x.is_nan()));
    let large: CooMatrix<f32> = sparsify(&dense).above_in_magnitude(1.5).to_coo().unwrap();
    assert_eq!(entries(large.view()), chosen(&dense.view(), |x| x.abs() > 1.5 || x.is_nan()));
    let signed: CooMatrix<f32> = sparsify(&dense).keep_negative_zero().to_coo().unwrap();
    assert_eq!(entries(signed.view()), chosen(&dense.view(), |x| x.to_bits() != 0));
    let mask: Vec<_> =
        dense.to_vec().iter().map(|x| Bool8::from_byte(u8::from(x.is_nan()))).collect();
    let mask = Tensor::from_vec(mask, [ROWS, COLS]).unwrap();
    let masked: CooMatrix<f32> = sparsify(&dense).masked(&mask).to_coo().unwrap();
    assert_eq!(entries(masked.view()), chosen(&dense.view(), f32::is_nan));
    let relu = sparse_relu(&dense).unwrap();
    assert_eq!(relu.nnz(), chosen(&dense.view(), |x| x > 0.0 || x.is_nan()).len());
    assert_eq!(sparse_threshold(&dense, 0.5).unwrap().values().len(), above.nnz());
}

#[test]
fn dense_is_what_it_was() {
    let dense = dense();
    let without_nan = dense.to_vec().iter().map(|x| if x.is_nan() { 7.0 } else { *x }).collect();
    let dense = Tensor::from_vec(without_nan, [ROWS, COLS]).unwrap();
    let expected = dense.to_vec();
    let csr: CsrMatrix<f32, i64> = sparsify(&dense).to_csr().unwrap();
    let csc: CscMatrix<f32> = sparsify(&dense).to_csc().unwrap();
    let coo: CooMatrix<f32, i64> = sparsify(&dense).to_coo().unwrap();
    let bsr: BsrMatrix<f32> = sparsify(&dense).to_bsr([1, 1]).unwrap();
    for result in [csr.to_dense(), csc.to_dense(), coo.to_dense(), bsr.to_dense()] {
        assert_eq!(result.unwrap().to_vec(), expected);
    }
    let rows = csr.view().row_range(3..9).unwrap().to_dense().unwrap();
    assert_eq!(rows.to_vec(), expected[3 * COLS..9 * COLS]);
    let mut out = Tensor::<f32>::zeros([COLS, ROWS]).unwrap();
    let mut transposed = out.view_mut().transpose(0, 1).unwrap();
    csc.to_dense_into(&mut transposed).unwrap();
    assert_eq!(out.view()[[5, 2]].to_bits(), (expected[2 * COLS + 5] + 0.0).to_bits());
}

#[test]
fn sixteen_bits_and_blocks() {
    let dense: Vec<bf16> =
        (0..64).map(|i| bf16::from_f32(if i == 21 { 2.5 } else { 0.0 })).collect();
    let dense = Tensor::from_vec(dense, [8, 8]).unwrap();
    let bsr = dense.to_bsr([4, 4]).unwrap();
    assert_eq!((bsr.row_offsets(), bsr.col_indices()), (&[0, 1, 1][..], &[1][..]));
    assert_eq!(bsr.to_dense().unwrap().to_vec(), dense.to_vec());
}

#[test]
fn wrong_shapes_and_thresholds_are_refused() {
    let flat = [1.0_f32, 2.0];
    let error = flat.as_view().to_csr().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(error.message(), "dense.rank is 1 but must be 2");
    let dense = [[1.0_f32, 2.0, 3.0]];
    let error = dense.as_view().to_bsr([1, 2]).err().unwrap();
    assert!(error.message().contains("attributes->block_cols is 2"), "{error}");
    let error = dense.as_view().to_bsr([1, usize::MAX]).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.message().contains("is 18446744073709551615 but must be at most"), "{error}");
    let error = sparsify(&dense).above(f32::NAN).to_coo::<i32>().err().unwrap();
    assert!(error.message().contains("NaN"), "{error}");
    let error = sparsify(&dense).above_in_magnitude(-1.0).to_coo::<i32>().err().unwrap();
    assert!(error.message().contains("at least 0"), "{error}");
    let mask = [[Bool8::from_byte(1)]];
    let error = sparsify(&dense).masked(&mask).to_coo::<i32>().err().unwrap();
    assert!(error.message().contains("mask.shape[1] is 1"), "{error}");
    let mask = [[Bool8::from_byte(1); 3]];
    for (twice, named) in [
        (sparsify(&dense).above(0.5).masked(&mask), "attributes->threshold"),
        (sparsify(&dense).masked(&mask).above_in_magnitude(0.5), "attributes->mask"),
        (sparsify(&dense).keep_negative_zero().masked(&mask), "attributes->flags"),
        (sparsify(&dense).above(0.5).keep_negative_zero(), "attributes->flags"),
    ] {
        let error = twice.to_coo::<i32>().err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert!(error.message().contains(named), "{error}");
    }
    let matrix = dense.as_view().to_csr().unwrap();
    let error = matrix.to_dense_into(&mut [[0.0_f32; 2]]).err().unwrap();
    assert_eq!(error.message(), "out.shape[1] is 2 but a.cols is 3");
}

#[test]
fn the_largest_of_rows_are_chosen_from_dense() -> Result<(), tenure::Error> {
    let dense = dense();
    let largest: CsrMatrix<f32, i64> = sparse_top_k(&dense, 9)?;
    let by_magnitude: CsrMatrix<f32> = sparse_top_k_in_magnitude(&dense, 9)?;
    for row in 0..ROWS {
        let mut keys: Vec<f32> =
            (0..COLS).map(|col| dense.view()[[row, col]]).filter(|key| !key.is_nan()).collect();
        let mut found = largest.view().row(row).unwrap().1.to_vec();
        found.sort_by(|a, b| b.total_cmp(a));
        keys.sort_by(|a, b| b.partial_cmp(a).unwrap());
        assert_eq!(found, keys[..9]);
        keys.sort_by(|a, b| b.abs().partial_cmp(&a.abs()).unwrap());
        let least = keys[8].abs();
        assert!(by_magnitude.view().row(row).unwrap().1.iter().all(|x| x.abs() >= least));
    }
    let error = sparse_top_k::<f32, i32>(&dense, COLS + 1).err().unwrap();
    assert!(error.message().contains("k is 212"), "{}", error.message());
    Ok(())
}

#[test]
fn dropout_depends_on_seed_and_place_alone() -> Result<(), tenure::Error> {
    let dense = Tensor::from_vec(vec![1.0_f64; 300 * 500], [300, 500])?;
    let alone: CsrMatrix<f64> = sparse_dropout(&dense, 0.5, 7)?;
    let threads = Context::builder().threads(3).build()?;
    let shared: CsrMatrix<f64> = threads.install(|| sparse_dropout(&dense, 0.5, 7))?;
    assert_eq!(alone.col_indices(), shared.col_indices());
    assert_eq!(alone.row_offsets(), shared.row_offsets());
    assert!(alone.values().iter().all(|value| *value == 2.0));
    assert!(alone.nnz().abs_diff(75_000) < 1000);
    let error = sparse_dropout::<f64, i32>(&dense, 1.0, 7).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    Ok(())
}
