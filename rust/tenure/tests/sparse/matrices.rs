//! Sparse matrices in Rust: refusals, borrowed arrays, and that nothing is copied.

use std::collections::BTreeMap;
use std::fmt::Debug;

use proptest::prelude::*;
use tenure::{
    BsrMatrix, BsrView, BsrViewMut, CooMatrix, CooView, CooViewMut, CscMatrix, CscView, CscViewMut,
    CsrMatrix, CsrView, CsrViewMut, Error, ErrorKind, SharedTensor, Tensor,
};

// 3 rows and 4 columns: [[1 0 2 0], [0 0 0 0], [3 4 0 5]].
static OFFSETS: [i32; 4] = [0, 2, 2, 5];
static COLUMNS: [i32; 5] = [0, 2, 0, 1, 3];
static VALUES: [f32; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];

fn csr() -> CsrView<'static, f32> {
    CsrView::new(3, 4, &OFFSETS, &COLUMNS, &VALUES).unwrap()
}

#[track_caller]
fn refused<T>(result: Result<T, Error>, kind: ErrorKind, message: &str) {
    let error = result.err().expect("this is refused");
    assert_eq!(error.kind(), kind);
    // The stand-in under Miri has no messages.
    if !cfg!(miri) {
        assert_eq!(error.message(), message);
    }
}

#[track_caller]
fn invalid<T>(result: Result<T, Error>, message: &str) {
    refused(result, ErrorKind::InvalidArgument, message);
}

// ---- refusals ----

#[test]
fn lengths_are_counted() {
    let new = |offsets: &[i32], columns: &[i32], values: &[f32]| {
        CsrView::new(3, 4, offsets, columns, values).map(drop)
    };
    invalid(
        new(&OFFSETS[1..], &COLUMNS, &VALUES),
        "row_offsets has 3 elements but must have 4: rows + 1",
    );
    invalid(
        new(&OFFSETS, &COLUMNS[1..], &VALUES),
        "values has 5 elements but must have one for each of the 4 of col_indices",
    );
    invalid(
        CscView::new(3, 4, &OFFSETS, &COLUMNS, &VALUES),
        "col_offsets has 4 elements but must have 5: cols + 1",
    );
    invalid(
        CooView::new(3, 4, &[0, 0], &[1, 2, 3], &[1, 2, 3]),
        "row_indices has 2 elements but must have 3: as many as col_indices",
    );
    invalid(
        CsrView::new(usize::MAX, 4, &OFFSETS, &COLUMNS, &VALUES),
        "rows is 18446744073709551615 but must be at most 9223372036854775806",
    );
}

#[test]
fn blocks_divide_the_matrix() {
    let new = |block, offsets: &[i32], values: &[u8]| {
        BsrView::new(4, 6, block, offsets, &[1], values).map(drop)
    };
    new([2, 3], &[0, 0, 1], &[0; 6]).unwrap();
    invalid(new([0, 3], &[0, 1], &[]), "rows of a block: 0, but must be 1 to 16");
    invalid(
        new([2, 4], &[0, 0, 1], &[0; 8]),
        "columns of a block: 4, but must divide the 6 of the matrix",
    );
    refused(
        BsrView::new(34, 34, [17, 17], &[0, 0, 1], &[1], &[0; 289]),
        ErrorKind::Unsupported,
        "rows of a block: 17, but must be 1 to 16",
    );
    invalid(
        new([2, 3], &[0, 0, 1], &[0; 5]),
        "values has 5 elements but must have a block for each of the 1 of col_indices",
    );
    invalid(
        new([2, 3], &[0, 1], &[0; 6]),
        "row_offsets has 2 elements but must have 3: a row of blocks each, and one more",
    );
    invalid(
        BsrView::new(4, 6, [2, 3], &[0, 0, 1], &[2], &[0; 6]),
        "col_indices[0] is 2 but must be at least 0 and below cols / block_cols, which is 2",
    );
}

#[test]
fn offsets_and_indices_are_checked() {
    let offsets = |offsets: &[i32]| CsrView::new(3, 4, offsets, &COLUMNS, &VALUES).map(drop);
    invalid(
        offsets(&[0, 3, 2, 5]),
        "row_offsets[2] is 2 but the one before is 3, and offsets must not fall",
    );
    invalid(
        offsets(&[0, 2, 2, 6]),
        "row_offsets[3] is 6 but must be at least 0 and at most 5, the number of entries",
    );
    invalid(
        offsets(&[-1, 2, 2, 5]),
        "row_offsets[0] is -1 but must be at least 0 and at most 5, the number of entries",
    );
    invalid(
        CsrView::new(3, 3, &OFFSETS, &COLUMNS, &VALUES),
        "col_indices[4] is 3 but must be at least 0 and below cols, which is 3",
    );
    invalid(
        CooView::new(2, 2, &[0, 2], &[0, 1], &[1, 2]),
        "row_indices[1] is 2 but must be at least 0 and below rows, which is 2",
    );
    // A part of the entries is a view, but no matrix.
    offsets(&[1, 2, 2, 4]).unwrap();
    let held = |offsets: [i32; 4]| {
        CsrMatrix::from_vecs(3, 4, offsets.to_vec(), COLUMNS.to_vec(), VALUES.to_vec())
            .map(drop)
            .map_err(Error::from)
    };
    invalid(held([1, 2, 2, 5]), "row_offsets[0] is 1 but must be 0");
    invalid(
        held([0, 2, 2, 4]),
        "row_offsets[3] is 4 but must be 5, the number of entries, because it is the last",
    );
}

#[test]
fn order_is_known_once_it_was_looked_for() {
    assert!(!csr().is_sorted());
    let known = csr().check_coalesced().unwrap();
    assert!(known.is_sorted() && known.is_coalesced());
    assert!(known.row_range(1..).unwrap().is_coalesced());
    let twice = CsrView::new(1, 4, &[0, 2], &[3, 3], &[1, 2]).unwrap();
    invalid(
        twice.check_coalesced(),
        "col_indices[0] and [1] are both 3, in row 0, and the flags say that no position has two \
         entries",
    );
    let falls = CooView::new(2, 2, &[1, 0], &[0, 0], &[1, 2]).unwrap();
    invalid(
        falls.check_coalesced(),
        "row_indices[1] is 0 but the one before is 1, and the flags say that entries are sorted",
    );
    assert!(falls.assume_coalesced().is_coalesced());
    let matrix = CooMatrix::from_vecs(2, 2, vec![1, 0], vec![0, 0], vec![1, 2]).unwrap();
    let rejected = matrix.check_coalesced().unwrap_err();
    assert_eq!(rejected.into_data().values(), [1, 2]);
}

// ---- borrowed arrays ----

fn triples<T: Copy>(entries: impl Iterator<Item = (usize, usize, T)>) -> Vec<(usize, usize, T)> {
    entries.collect()
}

#[test]
fn entries_of_each_format() {
    let expected = [(0, 0, &1.0), (0, 2, &2.0), (2, 0, &3.0), (2, 1, &4.0), (2, 3, &5.0)];
    assert_eq!(triples(csr().iter()), expected);
    let coo = CooView::new(3, 4, &[0, 0, 2, 2, 2], &COLUMNS, &VALUES).unwrap();
    assert_eq!(triples(coo.into_iter()), expected);
    let csc = CscView::new(3, 4, &[0, 2, 3, 4, 5], &[0, 2, 2, 0, 2], &[1, 3, 4, 2, 5]).unwrap();
    assert_eq!(triples(csc.iter()), [(0, 0, &1), (2, 0, &3), (2, 1, &4), (0, 2, &2), (2, 3, &5)]);
    let bsr = BsrView::new(4, 2, [2, 1], &[0, 1, 3], &[1, 0, 1], &[1, 2, 3, 4, 5, 6]).unwrap();
    assert_eq!(triples(bsr.iter()), [(0, 1, &[1, 2][..]), (1, 0, &[3, 4]), (1, 1, &[5, 6])]);
    assert_eq!((bsr.nnz(), bsr.iter().len()), (6, 3));
    assert_eq!(csr().iter().len(), 5);
}

#[test]
fn rows_and_their_ranges_are_parts_of_the_arrays() {
    let matrix = csr();
    assert_eq!(matrix.row(0), Some((&[0, 2][..], &[1.0, 2.0][..])));
    assert_eq!(matrix.row(1), Some((&[][..], &[][..])));
    assert_eq!(matrix.row(3), None);
    assert_eq!(matrix.row(usize::MAX), None);
    let part = matrix.row_range(1..3).unwrap();
    assert_eq!((part.rows(), part.cols(), part.nnz()), (2, 4, 3));
    assert_eq!(part.row_offsets(), [2, 2, 5]);
    assert_eq!(part.values().as_ptr(), VALUES[2..].as_ptr());
    assert_eq!((part.values(), part.col_indices()), (&VALUES[2..], &COLUMNS[2..]));
    assert_eq!(triples(part.iter()), [(1, 0, &3.0), (1, 1, &4.0), (1, 3, &5.0)]);
    assert_eq!(part.row_range(1..=1).unwrap().nnz(), 3);
    assert_eq!(part.row_range(..0).unwrap().rows(), 0);
    invalid(part.row_range(1..3), "range is 1..3 but must lie in 0..2");
    let (start, end) = (2, 1);
    invalid(part.row_range(start..end), "range is 2..1 but must lie in 0..2");
    invalid(
        part.row_range(..=usize::MAX),
        &format!("range is 0..{} but must lie in 0..2", usize::MAX),
    );
    let columns = matrix.t().col_range(2..).unwrap();
    assert_eq!((columns.rows(), columns.cols(), columns.nnz()), (4, 1, 3));
    let blocks = BsrView::new(4, 2, [2, 1], &[0, 1, 3], &[1, 0, 1], &[1, 2, 3, 4, 5, 6]).unwrap();
    let blocks = blocks.block_row_range(1..).unwrap();
    assert_eq!((blocks.rows(), blocks.nnz()), (2, 4));
    assert_eq!(blocks.block_row(0), Some((&[0, 1][..], &[3, 4, 5, 6][..])));
}

#[test]
fn the_transpose_is_the_same_arrays() {
    let transpose = csr().t();
    assert_eq!((transpose.rows(), transpose.cols()), (4, 3));
    assert_eq!(transpose.row_indices().as_ptr(), COLUMNS.as_ptr());
    assert_eq!(transpose.col(2), Some((&[0, 1, 3][..], &[3.0, 4.0, 5.0][..])));
    assert_eq!(triples(transpose.t().iter()), triples(csr().iter()));
}

#[test]
fn values_are_written_and_indices_are_not() {
    let mut values = VALUES;
    let mut matrix = CsrViewMut::new(3, 4, &OFFSETS, &COLUMNS, &mut values).unwrap();
    matrix.values_mut()[4] = 50.0;
    matrix.view_mut().values_mut()[0] = 10.0;
    assert_eq!(matrix.view().row(2), Some((&[0, 1, 3][..], &[3.0, 4.0, 50.0][..])));
    assert_eq!(matrix.into_view().nnz(), 5);
    assert_eq!(values, [10.0, 2.0, 3.0, 4.0, 50.0]);
    invalid(
        CsrViewMut::new(3, 3, &OFFSETS, &COLUMNS, &mut values),
        "col_indices[4] is 3 but must be at least 0 and below cols, which is 3",
    );
}

#[test]
fn other_values_share_the_pattern() {
    let signs = csr().with_values(&[-1_i8; 5]).unwrap();
    assert_eq!(signs.col_indices().as_ptr(), COLUMNS.as_ptr());
    assert_eq!(signs.values(), [-1; 5]);
    invalid(
        csr().with_values(&[0_u8; 4]),
        "values has 4 elements but must have one for each of the 5 of col_indices",
    );
}

#[test]
fn the_unchecked_constructor_is_the_checked_one_without_the_look() {
    // SAFETY: these are right.
    let matrix = unsafe { CsrView::new_unchecked(3, 4, &OFFSETS, &COLUMNS, &VALUES) };
    assert_eq!(triples(matrix.iter()), triples(csr().iter()));
}

// ---- owned arrays ----

#[test]
fn vecs_are_adopted_and_come_back() {
    let vecs = (OFFSETS.to_vec(), COLUMNS.to_vec(), VALUES.to_vec());
    let addresses = (vecs.0.as_ptr(), vecs.1.as_ptr(), vecs.2.as_ptr());
    let mut matrix = CsrMatrix::from_vecs(3, 4, vecs.0, vecs.1, vecs.2).unwrap();
    assert_eq!(matrix.view().values().as_ptr(), addresses.2);
    matrix.view_mut().values_mut()[0] = 7.0;
    let (offsets, columns, values) = matrix.into_parts();
    let vecs =
        (offsets.into_vec().unwrap(), columns.into_vec().unwrap(), values.into_vec().unwrap());
    assert_eq!((vecs.0.as_ptr(), vecs.1.as_ptr(), vecs.2.as_ptr()), addresses);
    assert_eq!(vecs.2[0], 7.0);
}

#[test]
fn refused_arrays_come_back() {
    let vecs = (OFFSETS.to_vec(), COLUMNS.to_vec(), VALUES.to_vec());
    let addresses = (vecs.0.as_ptr(), vecs.1.as_ptr(), vecs.2.as_ptr());
    let vecs = CsrMatrix::from_vecs(3, 3, vecs.0, vecs.1, vecs.2).unwrap_err().into_data();
    assert_eq!((vecs.0.as_ptr(), vecs.1.as_ptr(), vecs.2.as_ptr()), addresses);
    let shared = |vec: Vec<i32>| SharedTensor::from_owner(vec, 5).unwrap();
    let parts = CooMatrix::from_parts(
        3,
        4,
        shared(vec![0, 0, 2, 2, 3]),
        shared(COLUMNS.to_vec()),
        Tensor::from_vec(vecs.2, 5).unwrap(),
    );
    let rejected = parts.unwrap_err();
    assert_eq!(rejected.error().kind(), ErrorKind::InvalidArgument);
    assert_eq!(rejected.into_data().2.as_ptr(), addresses.2);
}

#[test]
fn parts_may_be_shared_with_others() {
    let columns = SharedTensor::from_owner(COLUMNS.to_vec(), 5).unwrap();
    let offsets = SharedTensor::from_owner(OFFSETS.to_vec(), 4).unwrap();
    let values = Tensor::from_vec(VALUES.to_vec(), 5).unwrap();
    let first = CsrMatrix::from_parts(3, 4, offsets.clone(), columns.clone(), values).unwrap();
    let mut second = first.try_clone().unwrap();
    second.values_mut().fill(0.0);
    assert_eq!(first.values(), VALUES);
    assert_eq!(second.col_indices().as_ptr(), columns.as_ptr());
    drop((first, offsets));
    assert_eq!(second.row_offsets(), OFFSETS);
}

#[test]
fn parts_are_row_major() {
    let values = Tensor::from_vec_in(vec![1, 2, 3, 4], [2, 2], tenure::Order::ColumnMajor).unwrap();
    let empty = SharedTensor::from_owner(vec![0; 4], 4).unwrap();
    let refusal = CooMatrix::from_parts(2, 2, empty.clone(), empty, values).unwrap_err();
    assert_eq!(refusal.error().message(), "values are not row-major but must be");
}

#[test]
fn every_format_is_held() {
    let coo = CooMatrix::from_vecs(2, 2, vec![0, 1], vec![1, 0], vec![1, 2]).unwrap();
    let csc = CscMatrix::from_vecs(2, 2, vec![0, 1, 2], vec![1, 0], vec![2, 1]).unwrap();
    let bsr =
        BsrMatrix::from_vecs(2, 2, [1, 2], vec![0, 1, 2], vec![0, 0], vec![0, 1, 2, 0]).unwrap();
    assert_eq!(triples(coo.view().iter()), [(0, 1, &1), (1, 0, &2)]);
    assert_eq!(triples(csc.view().iter()), [(1, 0, &2), (0, 1, &1)]);
    assert_eq!(triples(bsr.view().iter()), [(0, 0, &[0, 1][..]), (1, 0, &[2, 0])]);
    assert_eq!(bsr.view().block(), [1, 2]);
    let empty = CsrMatrix::<f64, i64>::from_vecs(0, 5, vec![0], vec![], vec![]).unwrap();
    assert_eq!((empty.rows(), empty.cols(), empty.nnz()), (0, 5, 0));
    assert_eq!(empty.view().iter().next(), None);
}

#[test]
fn values_of_the_other_formats_are_written_too() {
    let mut values = [1.0, 2.0];
    CooViewMut::new(1, 2, &[0, 0], &[0, 1], &mut values).unwrap().values_mut()[0] = 3.0;
    CscViewMut::new(1, 2, &[0, 1, 2], &[0, 0], &mut values).unwrap().values_mut()[1] = 4.0;
    assert_eq!(values, [3.0, 4.0]);
    let mut bsr = BsrViewMut::new(1, 2, [1, 2], &[0, 1], &[0], &mut values).unwrap();
    bsr.values_mut().reverse();
    assert_eq!(bsr.view().block_row(0), Some((&[0][..], &[4.0, 3.0][..])));
}

#[test]
fn matrices_go_to_threads() {
    fn assert_send_sync<T: Send + Sync + Debug>() {}
    assert_send_sync::<CsrView<'_, f32>>();
    assert_send_sync::<BsrViewMut<'_, f64, i64>>();
    assert_send_sync::<CscMatrix<u8>>();
    let matrix = CsrMatrix::from_vecs(1, 2, vec![0, 2], vec![0, 1], vec![3, 4]).unwrap();
    let total: i32 =
        std::thread::spawn(move || matrix.view().iter().map(|(_, _, value)| value).sum())
            .join()
            .unwrap();
    assert_eq!(total, 7);
}

// ---- printing ----

#[test]
fn printing_is_short() {
    assert_eq!(format!("{:?}", csr()), "CsrView(3 x 4, 5 entries, dtype=f32, index=i32)");
    assert_eq!(
        format!("{:.1}", csr()),
        "CsrView(3 x 4, 5 entries, dtype=f32, index=i32)\n  (0, 0)  1.0\n  (0, 2)  2.0\n  \
         (2, 0)  3.0\n  (2, 1)  4.0\n  (2, 3)  5.0"
    );
    let bsr =
        BsrMatrix::from_vecs(2, 2, [1, 2], vec![0_i64, 1, 1], vec![0], vec![7_u8, 8]).unwrap();
    assert_eq!(
        bsr.to_string(),
        "BsrMatrix(2 x 2, 1 blocks of 1 x 2, dtype=u8, index=i64)\n  (0, 0)  [7, 8]"
    );
    let indices: Vec<i32> = (0..1000).collect();
    let long = CooView::new(1000, 1000, &indices, &indices, &indices).unwrap().to_string();
    assert_eq!(long.lines().count(), 18);
    assert!(long.contains("\n  (7, 7)  7\n  ...\n  (992, 992)  992\n"), "{long}");
    assert!(long.ends_with("(999, 999)  999"), "{long}");
}

// ---- any matrix ----

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 4 } else { 200 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn entries_are_those_that_were_put_in(
        rows in 1_usize..9,
        cols in 1_usize..9,
        cells in prop::collection::vec((0_usize..9, 0_usize..9, any::<i16>()), 0..40),
    ) {
        let cells: BTreeMap<_, _> =
            cells.into_iter().map(|(row, col, value)| ((row % rows, col % cols), value)).collect();
        let mut offsets = vec![0_i64];
        for row in 0..rows {
            let count = cells.range((row, 0)..(row + 1, 0)).count();
            offsets.push(offsets[row] + count as i64);
        }
        let columns: Vec<_> = cells.keys().map(|&(_, col)| col as i64).collect();
        let values: Vec<_> = cells.values().copied().collect();
        let matrix = CsrView::new(rows, cols, &offsets, &columns, &values)?.check_coalesced()?;
        let expected = triples(cells.iter().map(|(&(row, col), value)| (row, col, value)));
        prop_assert_eq!(triples(matrix.iter()), expected.clone());
        let swapped: Vec<_> = expected.iter().map(|&(row, col, value)| (col, row, value)).collect();
        prop_assert_eq!(triples(matrix.t().iter()), swapped);
        for row in 0..rows {
            let part = matrix.row_range(row..)?;
            let rest: Vec<_> = expected
                .iter()
                .filter(|entry| entry.0 >= row)
                .map(|&(at, col, value)| (at - row, col, value))
                .collect();
            prop_assert_eq!(triples(part.iter()), rest);
            prop_assert_eq!(part.row(0), matrix.row(row));
        }
    }
}
