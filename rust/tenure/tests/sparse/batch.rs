//! Batches of sparse matrices in Rust: refusals, borrowed arrays, and conversions.

use tenure::{
    BsrBatch, BsrBatchViewMut, CooBatch, CooBatchView, CooBatchViewMut, CscBatch, CsrBatch,
    CsrBatchView, CsrBatchViewMut, CsrView, Error, ErrorKind, Tensor, sparse::sparsify,
};

// [[1 0 2], [0 3 0]], one without entries, and [[0 0 0], [4 0 5]].
static BATCH_OFFSETS: [i64; 4] = [0, 3, 3, 5];
static ROW_OFFSETS: [i32; 9] = [0, 2, 3, 0, 0, 0, 0, 0, 2];
static COLUMNS: [i32; 5] = [0, 2, 1, 0, 2];
static VALUES: [f32; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];
const DENSE: [[[f32; 3]; 2]; 3] =
    [[[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]], [[0.0; 3]; 2], [[0.0; 3], [4.0, 0.0, 5.0]]];

fn csr() -> CsrBatchView<'static, f32> {
    CsrBatchView::new(2, 3, &BATCH_OFFSETS, &ROW_OFFSETS, &COLUMNS, &VALUES).unwrap()
}

#[track_caller]
fn invalid<T>(result: Result<T, Error>, message: &str) {
    let error = result.err().expect("this is refused");
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    // The stand-in under Miri has no messages.
    if !cfg!(miri) {
        assert_eq!(error.message(), message);
    }
}

#[test]
fn matrices_are_parts_of_the_same_slices() {
    let batch = csr();
    assert_eq!((batch.len(), batch.rows(), batch.cols(), batch.nnz()), (3, 2, 3, 5));
    let last: CsrView<'static, f32> = batch.get(2).unwrap();
    assert_eq!(last.row(1), Some((&[0, 2][..], &[4.0, 5.0][..])));
    assert_eq!(last.values().as_ptr(), VALUES[3..].as_ptr());
    assert_eq!(batch.get(1).unwrap().nnz(), 0);
    assert!(batch.get(3).is_none() && batch.get(usize::MAX).is_none());
    assert_eq!(batch.iter().map(|matrix| matrix.nnz()).collect::<Vec<_>>(), [3, 0, 2]);
    let coordinates =
        CooBatchView::new(2, 3, &BATCH_OFFSETS, &[0, 0, 1, 1, 1], &COLUMNS, &VALUES).unwrap();
    assert_eq!(coordinates.get(2).unwrap().row_indices(), [1, 1]);
    assert_eq!(batch.t().get(0).unwrap().col(0), Some((&[0, 2][..], &[1.0, 2.0][..])));
}

#[test]
fn errors_name_the_array_and_the_matrix() {
    let new = |batch: &[i64], rows: &[i32], columns: &[i32], values: &[f32]| {
        CsrBatchView::new(2, 3, batch, rows, columns, values).map(drop)
    };
    invalid(
        new(&[], &ROW_OFFSETS, &COLUMNS, &VALUES),
        "batch_offsets has 0 elements but must have one more than there are matrices",
    );
    invalid(
        new(&BATCH_OFFSETS[1..], &ROW_OFFSETS, &COLUMNS, &VALUES),
        "row_offsets has 9 elements but must have 3 for each of 2 matrices",
    );
    invalid(
        new(&BATCH_OFFSETS, &ROW_OFFSETS, &COLUMNS, &VALUES[1..]),
        "values has 4 elements but must have one for each of the 5 of col_indices",
    );
    invalid(
        CooBatchView::new(2, 3, &BATCH_OFFSETS, &[0; 4], &COLUMNS, &VALUES).map(drop),
        "row_indices has 4 elements but must have 5: as many as col_indices",
    );
    invalid(
        new(&[0, 6, 6, 6], &ROW_OFFSETS, &COLUMNS, &VALUES),
        "batch_offsets[1] is 6 but must be at least 0 and at most 5, the number of entries",
    );
    invalid(
        new(&[0, 3, 2, 5], &ROW_OFFSETS, &COLUMNS, &VALUES),
        "batch_offsets[2] is 2 but the one before is 3, and offsets must not fall",
    );
    invalid(
        new(&[0, 2, 3, 5], &ROW_OFFSETS, &COLUMNS, &VALUES),
        "matrix 0: row_offsets[2] is 3 but must be at least 0 and at most 2, the number of entries",
    );
    invalid(
        new(&BATCH_OFFSETS, &ROW_OFFSETS, &[0, 2, 1, 0, 3], &VALUES),
        "matrix 2: col_indices[1] is 3 but must be at least 0 and below cols, which is 3",
    );
    assert!(csr().check_coalesced().unwrap().is_coalesced());
    let falls = CsrBatchView::new(2, 3, &BATCH_OFFSETS, &ROW_OFFSETS, &[2, 0, 1, 0, 2], &VALUES);
    invalid(
        falls.unwrap().check_coalesced(),
        "matrix 0: col_indices[1] is 0 but the one before, in the same row, is 2, and the flags \
         say that entries are sorted",
    );
}

#[test]
fn no_matrices_are_a_batch() {
    let batch = CsrBatchView::<f32>::new(2, 3, &[0], &[], &[], &[]).unwrap();
    assert!(batch.is_empty() && batch.iter().len() == 0);
    if !cfg!(miri) {
        assert_eq!(batch.to_dense().unwrap().shape(), [0, 2, 3]);
        assert_eq!(batch.matmul(&[1.0; 3]).unwrap().shape(), [0, 2]);
        assert_eq!(batch.to_coo_batch().unwrap().view().len(), 0);
        assert_eq!(
            Tensor::<f32>::zeros([0, 2, 3]).unwrap().to_csr_batch().unwrap().view().len(),
            0
        );
    }
}

#[test]
fn values_are_written_in_place() {
    let mut values = VALUES;
    let address = values.as_ptr();
    let mut batch =
        CsrBatchViewMut::new(2, 3, &BATCH_OFFSETS, &ROW_OFFSETS, &COLUMNS, &mut values).unwrap();
    // All at once: no two share a value.
    let mut matrices: Vec<_> = batch.iter_mut().collect();
    assert_eq!(matrices.iter().map(|matrix| matrix.nnz()).collect::<Vec<_>>(), [3, 0, 2]);
    for (place, matrix) in matrices.iter_mut().enumerate() {
        matrix.values_mut().iter_mut().for_each(|value| *value += 10.0 * place as f32);
    }
    assert_eq!(matrices[2].col_indices(), [0, 2]);
    batch.view_mut().get_mut(0).unwrap().values_mut()[2] = 30.0;
    assert!(batch.get_mut(3).is_none() && batch.get_mut(usize::MAX).is_none());
    batch.values_mut()[0] = -1.0;
    assert_eq!((batch.len(), batch.view().get(2).unwrap().values()), (3, &[24.0, 25.0][..]));
    let text = format!("{batch:?}");
    assert_eq!(text, "CsrBatchViewMut(3 of 2 x 3, 5 entries, dtype=f32, index=i32)");
    let view = batch.into_view();
    assert_eq!(
        (view.values(), view.values().as_ptr()),
        (&[-1.0, 2.0, 30.0, 24.0, 25.0][..], address)
    );
}

#[test]
fn a_range_of_matrices_is_written_alone() {
    // The last two of three, by coordinates, and of blocks.
    let mut values = VALUES;
    let rows = [0, 0, 1, 1, 1];
    let mut batch =
        CooBatchViewMut::new(2, 3, &BATCH_OFFSETS[1..], &rows, &COLUMNS, &mut values).unwrap();
    batch.iter_mut().for_each(|mut matrix| matrix.values_mut().fill(9.0));
    assert_eq!(values, [1.0, 2.0, 3.0, 9.0, 9.0]);
    let mut values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let mut blocks =
        BsrBatchViewMut::new(2, 2, [1, 2], &[1, 2, 4], &[0, 1, 1, 0, 1, 2], &[0; 4], &mut values)
            .unwrap();
    let each: Vec<_> = blocks.iter_mut().map(|matrix| matrix.values().to_vec()).collect();
    assert_eq!(each, [vec![3.0, 4.0], vec![5.0, 6.0, 7.0, 8.0]]);
    blocks.get_mut(1).unwrap().values_mut()[0] = 50.0;
    assert_eq!(values[4], 50.0);
}

#[test]
fn views_to_write_are_checked_alike() {
    let mut values = VALUES;
    let new = |batch: &[i64], columns: &[i32], values: &mut [f32]| {
        CsrBatchViewMut::new(2, 3, batch, &ROW_OFFSETS, columns, values).map(drop)
    };
    invalid(
        new(&[0, 3, 2, 5], &COLUMNS, &mut values),
        "batch_offsets[2] is 2 but the one before is 3, and offsets must not fall",
    );
    invalid(
        new(&BATCH_OFFSETS, &[0, 2, 1, 0, 3], &mut values),
        "matrix 2: col_indices[1] is 3 but must be at least 0 and below cols, which is 3",
    );
    invalid(
        new(&BATCH_OFFSETS, &COLUMNS, &mut values[1..]),
        "values has 4 elements but must have one for each of the 5 of col_indices",
    );
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn functions_share_all_offsets_and_indices() {
    let batch: CsrBatch<f32> = sparsify(&DENSE).to_csr_batch().unwrap();
    let negative = batch.neg().unwrap();
    let (one, other) = (batch.view(), negative.view());
    assert_eq!(one.batch_offsets().as_ptr(), other.batch_offsets().as_ptr());
    assert_eq!(one.row_offsets().as_ptr(), other.row_offsets().as_ptr());
    assert_eq!(one.col_indices().as_ptr(), other.col_indices().as_ptr());
    assert_eq!(other.values(), VALUES.map(|value| -value));
    assert!(other.is_coalesced());
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn dense_becomes_a_batch_and_comes_back() {
    let batch = sparsify(&DENSE).to_csr_batch().unwrap();
    let view: CsrBatchView<'_, f32> = batch.view();
    assert_eq!(view.batch_offsets(), BATCH_OFFSETS);
    assert_eq!((view.row_offsets(), view.col_indices()), (&ROW_OFFSETS[..], &COLUMNS[..]));
    assert_eq!(view.values(), VALUES);
    assert!(view.is_coalesced());
    let mut out = [[[9.0; 3]; 2]; 3];
    view.to_dense_into(&mut out).unwrap();
    assert_eq!(out, DENSE);
    let wide: CscBatch<f32, i64> = sparsify(&DENSE).above(2.5).to_csc_batch().unwrap();
    assert_eq!(wide.view().values(), [3.0, 4.0, 5.0]);
    let error = sparsify(&DENSE).to_csr::<i32>().err().unwrap();
    assert_eq!(error.message(), "dense.rank is 3 but must be 2");
    let error = sparsify(&DENSE[0]).to_csr_batch::<i32>().err().unwrap();
    assert_eq!(error.message(), "dense.rank is 2 but must be 3, of a batch of matrices");
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn each_format_is_made_of_each() {
    let blocks: BsrBatch<f32> = csr().to_bsr_batch([1, 3]).unwrap();
    assert_eq!(blocks.view().batch_offsets(), [0, 2, 2, 3]);
    assert_eq!(blocks.view().get(0).unwrap().values(), [1.0, 0.0, 2.0, 0.0, 3.0, 0.0]);
    let columns: CscBatch<f32> = csr().to_csc_batch().unwrap();
    let coordinates: CooBatch<f32> = columns.view().to_coo_batch().unwrap();
    assert_eq!(coordinates.view().row_indices(), [0, 1, 0, 1, 1]);
    let again: CsrBatch<f32> = coordinates.view().to_csr_batch().unwrap();
    for dense in [
        blocks.view().to_dense(),
        columns.view().to_dense(),
        coordinates.view().to_dense(),
        again.view().to_dense(),
    ] {
        assert_eq!(dense.unwrap().to_vec(), DENSE.as_flattened().as_flattened());
    }
    assert_eq!(again.view().col_indices(), COLUMNS);
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn products_are_those_of_each_matrix() {
    let batch = csr();
    let shared = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
    let products = batch.matmul(&shared).unwrap();
    assert_eq!(products.shape(), [3, 2, 2]);
    for (place, matrix) in batch.iter().enumerate() {
        assert_eq!(
            products.view().index(0, place).unwrap().to_vec(),
            matrix.matmul(&shared).unwrap().to_vec()
        );
    }
    let own = [[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [9.0]]];
    assert_eq!(batch.matmul(&own).unwrap().to_vec(), [7.0, 6.0, 0.0, 0.0, 0.0, 73.0]);
    assert_eq!(batch.matmul(&[1.0, 1.0, 1.0]).unwrap().to_vec(), [3.0, 3.0, 0.0, 0.0, 0.0, 9.0]);
    // A vector for each.
    let mut out = [[0.0; 2]; 3];
    batch.matmul_into(&[[1.0; 3], [1.0; 3], [2.0; 3]], &mut out).unwrap();
    assert_eq!(out, [[3.0, 3.0], [0.0, 0.0], [0.0, 18.0]]);
    assert_eq!(batch.t_matmul(&[1.0, 2.0]).unwrap().shape(), [3, 3]);
    let error = batch.matmul(&[[[0.0; 2]; 3]; 2]).err().unwrap();
    assert_eq!(error.message(), "b.shape[0] is 2 but must be 3, the number of matrices of a");
    let error = batch.matmul(&[[[[0.0; 2]; 3]; 2]; 2]).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}

#[test]
#[cfg_attr(miri, ignore = "calls the core")]
fn a_held_batch_has_four_owners() {
    let mut batch = sparsify(&DENSE).to_csr_batch::<i32>().unwrap();
    batch.values_mut()[4] = 50.0;
    let address = batch.view().values().as_ptr();
    let (offsets, rows, columns, values) = batch.into_parts();
    assert_eq!((offsets.to_vec(), columns.to_vec()), (BATCH_OFFSETS.to_vec(), COLUMNS.to_vec()));
    let batch = CsrBatch::from_parts(2, 3, offsets, rows, columns, values).unwrap();
    assert_eq!(batch.view().get(2).unwrap().values(), [4.0, 50.0]);
    assert_eq!(batch.view().values().as_ptr(), address);
    let (offsets, rows, columns, values) = batch.into_parts();
    let refused = CsrBatch::from_parts(2, 2, offsets, rows, columns, values).err().unwrap();
    assert!(refused.error().message().starts_with("matrix 0: col_indices[1] is 2"));
    let (_, rows, columns, values) = refused.into_data();
    let shorter = Tensor::from_vec(vec![0_i64, 3, 3, 4], 4).unwrap().into_shared();
    let rows_of_less = [&rows.to_vec()[..8], &[1]].concat();
    let rows_of_less = Tensor::from_vec(rows_of_less, 9).unwrap().into_shared();
    let refused = CsrBatch::from_parts(2, 3, shorter, rows_of_less, columns, values).err().unwrap();
    assert_eq!(
        refused.error().message(),
        "batch_offsets go from 0 to 4 but must go from 0 to 5, the number of entries"
    );
    let (_, rows, columns, values) = refused.into_data();
    let offsets = Tensor::from_vec(BATCH_OFFSETS.to_vec(), 4).unwrap().into_shared();
    let refused = CsrBatch::from_parts(2, 3, offsets, rows, columns, values).err().unwrap();
    assert!(refused.error().message().starts_with("matrix 2: row_offsets[2] is 1 but must be 2"));
}

#[test]
fn four_vecs_become_a_batch_and_come_back() {
    let vecs = || (BATCH_OFFSETS.to_vec(), ROW_OFFSETS.to_vec(), COLUMNS.to_vec(), VALUES.to_vec());
    let (begins, rows, columns, values) = vecs();
    let addresses = (begins.as_ptr(), rows.as_ptr(), columns.as_ptr(), values.as_ptr());
    let mut batch = CsrBatch::from_vecs(2, 3, begins, rows, columns, values).unwrap();
    let ones = |(columns, entries): (&[i32], &mut [f32])| {
        entries.fill(1.0);
        columns.len()
    };
    assert_eq!(batch.view_mut().get_mut(2).unwrap().row_mut(1).map(ones), Some(2));
    assert!(batch.view_mut().get_mut(2).unwrap().row_mut(2).is_none());
    let (begins, rows, columns, values) = batch.into_parts();
    let (begins, rows) = (begins.into_vec().ok().unwrap(), rows.into_vec().ok().unwrap());
    let (columns, values) = (columns.into_vec().ok().unwrap(), values.into_vec().ok().unwrap());
    assert_eq!(values, [1.0, 2.0, 3.0, 1.0, 1.0]);
    assert_eq!((begins.as_ptr(), rows.as_ptr(), columns.as_ptr(), values.as_ptr()), addresses);
    // Lent, they may leave entries out; held, they may not.
    let (mut begins, mut rows, columns, values) = vecs();
    (begins[3], rows[8]) = (4, 1);
    let address = rows.as_ptr();
    let refused = CsrBatch::from_vecs(2, 3, begins, rows, columns, values).err().unwrap();
    if !cfg!(miri) {
        assert_eq!(
            refused.error().message(),
            "batch_offsets go from 0 to 4 but must go from 0 to 5, the number of entries"
        );
    }
    assert_eq!(refused.into_data().1.as_ptr(), address);
}

#[test]
fn it_says_what_it_is() {
    assert_eq!(format!("{:?}", csr()), "CsrBatchView(3 of 2 x 3, 5 entries, dtype=f32, index=i32)");
}
