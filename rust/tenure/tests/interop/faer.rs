//! Matrices of `faer`, to and fro: the same elements and indices at the same addresses.
#![cfg(feature = "faer")]

use faer::sparse::{
    SparseColMat, SparseColMatRef, SparseRowMatRef, SymbolicSparseColMatRef, Triplet,
};
use faer::{Mat, MatMut, MatRef, mat};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tenure::{
    AsView, AsViewMut, Complex, CscMatrix, CscView, CsrView, ErrorKind, Tensor, TensorView,
    TensorViewMut, bf16,
};

/// Rows of a matrix of `faer`.
fn rows<T: Copy>(matrix: MatRef<'_, T>) -> Vec<T> {
    let rows = 0..matrix.nrows();
    rows.flat_map(|row| (0..matrix.ncols()).map(move |col| *matrix.get(row, col))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(6),
        failure_persistence: None,
        ..ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 })
    })]

    #[test]
    fn views_of_any_strides_go_to_and_fro(
        shape in [0_usize..6, 0_usize..6],
        step in prop_oneof![Just(1_isize), Just(-1), Just(2), Just(-3)],
        turned in any::<bool>(),
    ) {
        let elements: Vec<f64> = (0..36).map(f64::from).collect();
        let view = TensorView::from_slice(&elements, [6, 6]).unwrap();
        let view = view.slice(0, ..shape[0]).unwrap().slice(1, ..shape[1]).unwrap();
        let view = view.slice_step(1, .., step).unwrap();
        let view = if turned { view.t() } else { view };
        let matrix = MatRef::try_from(view).unwrap();
        prop_assert_eq!([matrix.nrows(), matrix.ncols()], view.shape());
        prop_assert_eq!(rows(matrix), view.to_vec());
        let back = TensorView::try_from(matrix.reverse_rows().transpose()).unwrap();
        prop_assert_eq!(back.to_vec(), view.flip(0).unwrap().t().to_vec());
        if !view.is_empty() {
            prop_assert_eq!(matrix.as_ptr(), view.as_ptr());
        }
    }

    #[test]
    fn writes_of_one_side_are_read_by_the_other(
        shape in [0_usize..5, 0_usize..5],
        from in [0_usize..3, 0_usize..3],
    ) {
        let mut matrix = Mat::<f32>::zeros(shape[0] + from[0], shape[1] + from[1]);
        let part = matrix.as_mut().submatrix_mut(from[0], from[1], shape[0], shape[1]);
        let mut view = TensorViewMut::try_from(part.reverse_rows_mut()).unwrap();
        view.fill(1.0);
        let mut back = MatMut::try_from(view).unwrap();
        assert!(rows(back.as_ref()).iter().all(|&element| element == 1.0));
        back.fill(2.0);
        for (row, col) in (0..matrix.nrows()).flat_map(|row| (0..matrix.ncols()).map(move |col| (row, col))) {
            let is_inside = row >= from[0] && col >= from[1];
            prop_assert_eq!(matrix[(row, col)], if is_inside { 2.0 } else { 0.0 });
        }
    }

    #[test]
    fn sparse_matrices_go_to_and_fro(
        rows in 1_usize..6,
        cols in 1_usize..6,
        cells in prop::collection::btree_map((0_usize..6, 0_usize..6), any::<i16>(), 0..20),
    ) {
        let triplets: Vec<_> = cells
            .iter()
            .filter(|((row, col), _)| *row < rows && *col < cols)
            .map(|(&(row, col), &value)| Triplet::new(row, col, f64::from(value)))
            .collect();
        let owned = SparseColMat::<usize, f64>::try_new_from_triplets(rows, cols, &triplets).unwrap();
        let theirs = owned.as_ref();
        let ours = CscView::<f64, i64>::try_from(theirs).unwrap();
        prop_assert!(ours.is_coalesced());
        prop_assert_eq!(ours.values().as_ptr(), theirs.val().as_ptr());
        prop_assert_eq!(ours.row_indices().as_ptr().addr(), theirs.row_idx().as_ptr().addr());
        for (row, col, &value) in ours.iter() {
            prop_assert_eq!(theirs.get(row, col), Some(&value));
        }
        prop_assert_eq!(ours.nnz(), triplets.len());
        let back = SparseColMatRef::<usize, f64>::try_from(ours).unwrap();
        prop_assert_eq!(back.to_dense(), theirs.to_dense());
        // By rows it is the transpose.
        let turned = CsrView::<f64, i64>::try_from(theirs.transpose()).unwrap();
        let back = SparseRowMatRef::<u64, f64>::try_from(turned).unwrap();
        let dense = theirs.to_dense();
        prop_assert_eq!(back.to_dense(), dense.transpose());
    }
}

#[test]
fn elements_that_repeat_are_lent_for_reading() {
    let value = 7.0;
    let matrix = MatRef::from_repeated_ref(&value, 1000, 1000);
    let view = TensorView::try_from(matrix).unwrap();
    assert_eq!((view.len(), view.strides()), (1_000_000, &[0, 0][..]));
    assert_eq!(MatRef::try_from(view).unwrap()[(999, 999)], 7.0);
    let endless = MatRef::from_repeated_ref(&value, 1 << 40, 1 << 40);
    let error = TensorView::try_from(endless).err().unwrap();
    assert!(error.message().ends_with("spans more than 9223372036854775807 elements"), "{error}");
}

#[test]
fn other_elements_and_no_elements_are_lent() {
    let complex = [Complex::new(1.0_f32, 2.0), Complex::new(3.0, 4.0)];
    let view = TensorView::from_slice(&complex, [1, 2]).unwrap();
    assert_eq!(MatRef::try_from(view).unwrap()[(0, 1)].im, 4.0);
    let view = TensorView::from_slice(&[bf16::ONE], [1, 1]).unwrap();
    assert_eq!(MatRef::try_from(view).unwrap()[(0, 0)], bf16::ONE);

    let none = Tensor::<f64>::zeros([0, 3]).unwrap();
    let matrix = MatRef::try_from(none.view()).unwrap();
    assert_eq!((matrix.nrows(), matrix.ncols()), (0, 3));
    assert_eq!(TensorView::try_from(matrix).unwrap().shape(), [0, 3]);
    assert!(Mat::<f32>::zeros(4, 0).as_view().is_empty());
    assert!(Mat::<f32>::new().as_view_mut().is_empty());
}

#[test]
fn other_ranks_are_refused() {
    let mut elements = [1.0_f32, 2.0, 3.0];
    let view = TensorView::from_slice(&elements, 3).unwrap();
    let error = MatRef::try_from(view).err().unwrap();
    assert_eq!(error.message(), "rank is 1 but a matrix has 2 axes");
    assert_eq!(MatRef::try_from(view.unsqueeze(1).unwrap()).unwrap().nrows(), 3);
    let mut view = TensorViewMut::from_slice(&mut elements, [1, 3, 1]).unwrap();
    let error = MatMut::try_from(view.view_mut()).err().unwrap();
    assert_eq!(error.message(), "rank is 3 but a matrix has 2 axes");
    assert_eq!(view.shape(), [1, 3, 1]);
}

#[test]
fn strides_that_only_unsafe_code_gives_are_refused_for_writing() {
    let mut elements = [1, 2, 3, 4, 5, 6, 7, 8];
    // SAFETY: offsets 0, 2, 4, 3, 5, 7 of eight elements: no two indices meet, but a check of one
    // stride after the other cannot show it.
    let matrix = unsafe { MatMut::from_raw_parts_mut(elements.as_mut_ptr(), 3, 2, 2, 3) };
    assert_eq!(rows(matrix.as_ref()), [1, 4, 3, 6, 5, 8]);
    let error = TensorViewMut::try_from(matrix).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Aliased);
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn matrices_are_operands() {
    let a = mat![[1.0_f64, 2.0], [3.0, 4.0], [5.0, 6.0]];
    assert_eq!(tenure::ops::sum(&a, 0).unwrap().to_vec(), [9.0, 12.0]);
    let mut out = Mat::<f64>::zeros(3, 2);
    tenure::ops::mul_into(&a, 2.0, &mut out).unwrap();
    tenure::ops::add_assign(&mut out, [10.0, 20.0]).unwrap();
    assert_eq!(out, mat![[12.0, 24.0], [16.0, 28.0], [20.0, 32.0]]);
    let error = tenure::ops::mul_into(&a, 2.0, &mut Mat::<f64>::zeros(2, 2)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[test]
#[cfg_attr(miri, ignore = "the stand-in has no messages")]
fn sparse_matrices_in_no_order_are_refused_both_ways() {
    let (offsets, indices, values) = ([0_u32, 2], [1_u32, 0], [1.0_f32, 2.0]);
    let unsorted = SymbolicSparseColMatRef::new_unsorted_checked(2, 1, &offsets, None, &indices);
    let error = CscView::<_, i32>::try_from(SparseColMatRef::new(unsorted, &values)).err().unwrap();
    assert!(error.message().contains("row_indices[1] is 0"), "{error}");

    let ours = CscView::new(2, 1, &[0, 2], &[1, 0], &values).unwrap();
    let error = SparseColMatRef::<u32, f32>::try_from(ours).err().unwrap();
    assert!(error.message().contains("row_indices[1] is 0"), "{error}");

    let counts = [1_u32];
    let gaps = SymbolicSparseColMatRef::new_checked(2, 1, &offsets, Some(&counts), &indices);
    let error = CscView::<_, i32>::try_from(SparseColMatRef::new(gaps, &values)).err().unwrap();
    assert_eq!(
        error.message(),
        "the matrix has col_nnz, entries with gaps between, and must have none"
    );
}

#[test]
fn a_part_of_a_sparse_matrix_is_lent() {
    let matrix = CscMatrix::from_vecs(2, 3, vec![0, 1, 2, 3], vec![0, 1, 0], vec![1.0, 2.0, 3.0]);
    let matrix = matrix.unwrap();
    let part = matrix.view().col_range(1..).unwrap();
    let theirs = SparseColMatRef::<u32, f64>::try_from(part).unwrap();
    assert_eq!(theirs.to_dense(), mat![[0.0, 3.0], [2.0, 0.0]]);
    assert_eq!(theirs.val().as_ptr(), matrix.values().as_ptr());
}

#[test]
fn extents_that_indices_do_not_count_are_refused() {
    let wide = CscView::<f32, i32>::new(1 << 31, 0, &[0], &[], &[]).unwrap();
    let error = SparseColMatRef::<u32, f32>::try_from(wide).err().unwrap();
    assert_eq!(error.message(), "rows is 2147483648, more than i32 can count: use i64");
    let wide = CscView::<f32, i64>::new(1 << 31, 0, &[0], &[], &[]).unwrap();
    assert_eq!(SparseColMatRef::<usize, f32>::try_from(wide).unwrap().nrows(), 1 << 31);
}
