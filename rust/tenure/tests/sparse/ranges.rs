//! A range of a matrix consists of its own entries: for a row range, and for offsets that leave
//! entries out, every accessor and every operation uses the entries between the first offset and
//! the last.

use tenure::{
    BsrView, BsrViewMut, Combine, CscBatchView, CscView, CscViewMut, CsrBatchView, CsrMatrix,
    CsrView, CsrViewMut, Error,
};

const ROWS: usize = 60;
const COLS: usize = 40;

/// Offsets, columns and values of a matrix with entries in front of the first row, and behind the
/// last.
struct Parts {
    offsets: Vec<i32>,
    columns: Vec<i32>,
    values: Vec<f64>,
}

fn parts(rows: usize, cols: usize, block_len: usize) -> Parts {
    let (front, back) = (7, 5);
    let mut columns: Vec<i32> = (0..front).collect();
    let mut offsets = vec![front];
    for row in 0..rows {
        // Rising columns, of some rows none.
        columns.extend(
            (0..cols).filter(|col| (row * 7 + col * 5) % (row % 5 + 2) == 1).map(|c| c as i32),
        );
        offsets.push(columns.len() as i32);
    }
    columns.extend(0..back);
    let values = (0..columns.len() * block_len).map(|k| (k % 13) as f64 - 6.0).collect();
    Parts { offsets, columns, values }
}

/// The entries of a view as a matrix that holds them and nothing else.
fn copy(view: &CsrView<'_, f64>) -> CsrMatrix<f64> {
    let mut offsets = vec![0];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for row in 0..view.rows() {
        let (indices, row_values) = view.row(row).unwrap();
        columns.extend_from_slice(indices);
        values.extend_from_slice(row_values);
        offsets.push(columns.len() as i32);
    }
    CsrMatrix::from_vecs(view.rows(), view.cols(), offsets, columns, values).unwrap()
}

fn dense(rows: usize, cols: usize, salt: usize) -> Vec<f64> {
    (0..rows * cols).map(|k| ((k * 7 + salt) % 11) as f64 - 5.0).collect()
}

/// The ranges under test: some rows, all of them, none, and ranges of a range.
fn ranges<'a>(whole: CsrView<'a, f64>) -> Vec<CsrView<'a, f64>> {
    let middle = whole.row_range(10..50).unwrap();
    vec![
        whole,
        middle,
        middle.row_range(3..4).unwrap(),
        whole.row_range(20..).unwrap(),
        whole.row_range(..20).unwrap(),
        whole.row_range(30..30).unwrap(),
        middle.check_coalesced().unwrap(),
    ]
}

#[test]
fn accessors_of_a_range_speak_of_the_range() -> Result<(), Error> {
    let p = parts(ROWS, COLS, 1);
    let whole = CsrView::new(ROWS, COLS, &p.offsets, &p.columns, &p.values)?;
    for range in ranges(whole) {
        let copy = copy(&range);
        assert_eq!(range.nnz(), copy.nnz());
        assert_eq!(range.values(), copy.values());
        assert_eq!(range.col_indices(), copy.col_indices());
        assert_eq!(range.row_offsets().len(), range.rows() + 1);
        assert_eq!(range.iter().len(), copy.nnz());
        assert!(range.iter().eq(copy.view().iter()));
        assert_eq!(format!("{range}"), format!("{}", copy.view()).replace("CsrMatrix", "CsrView"));
        assert_eq!((range.t().nnz(), range.t().values()), (copy.nnz(), copy.values()));
    }
    // Nothing is copied.
    let first = p.offsets[10] as usize;
    assert_eq!(whole.row_range(10..)?.values().as_ptr(), p.values[first..].as_ptr());
    Ok(())
}

#[test]
fn a_range_is_written_as_its_entries_alone() -> Result<(), Error> {
    let mut p = parts(ROWS, COLS, 1);
    let before = p.values.clone();
    let (first, last) = (p.offsets[0] as usize, p.offsets[ROWS] as usize);
    let mut view = CsrViewMut::new(ROWS, COLS, &p.offsets, &p.columns, &mut p.values)?;
    assert_eq!(view.values().len(), view.nnz());
    assert_eq!(view.col_indices().len(), view.nnz());
    view.values_mut().fill(9.0);
    view.view_mut().scale_rows(&vec![2.0; ROWS])?;
    assert_eq!(p.values[..first], before[..first]);
    assert_eq!(p.values[last..], before[last..]);
    assert!(p.values[first..last].iter().all(|value| *value == 18.0));
    Ok(())
}

#[test]
fn sampled_products_of_a_range_are_those_of_its_entries() -> Result<(), Error> {
    let p = parts(ROWS, COLS, 1);
    let whole = CsrView::new(ROWS, COLS, &p.offsets, &p.columns, &p.values)?;
    for range in ranges(whole) {
        let copy = copy(&range);
        let (x, y) = (dense(range.rows(), 3, 1), dense(3, COLS, 2));
        let x = tenure::TensorView::from_slice(&x, [range.rows(), 3])?;
        let y = tenure::TensorView::from_slice(&y, [3, COLS])?;
        let samples = range.sddmm(&x, &y)?;
        assert_eq!(samples.shape(), [range.nnz()]);
        assert_eq!(samples.to_vec(), copy.view().sddmm(&x, &y)?.to_vec());
        let times = range.sddmm_times_values(&x, &y)?.to_vec();
        assert_eq!(times, copy.view().sddmm_times_values(&x, &y)?.to_vec());
        let columns = range.t();
        let (xt, yt) = (y.t(), x.t());
        assert_eq!(columns.sddmm(&xt, &yt)?.to_vec(), samples.to_vec());
        // Sampled products become the values of a matrix with the same pattern.
        let samples = samples.to_vec();
        let with_samples = range.with_values(&samples)?;
        assert_eq!(with_samples.values(), samples);
        let expected = copy.view().with_values(&samples)?.to_dense()?.to_vec();
        assert_eq!(with_samples.to_dense()?.to_vec(), expected);
        assert_eq!(with_samples.matmul(&dense(COLS, 1, 5))?.to_vec(), {
            copy.view().with_values(&samples)?.matmul(&dense(COLS, 1, 5))?.to_vec()
        });
        let part = with_samples.row_range(range.rows() / 3..)?;
        let copied = copy.view().row_range(range.rows() / 3..)?;
        assert_eq!(part.values(), &samples[samples.len() - part.nnz()..]);
        assert_eq!(part.col_indices(), copied.col_indices());
        assert_eq!(part.to_dense()?.to_vec(), expected[range.rows() / 3 * COLS..]);
        if let Some(row) = part.rows().checked_sub(1) {
            assert_eq!(part.row(row).unwrap().0, copied.row(row).unwrap().0);
        }
    }
    Ok(())
}

#[test]
fn blocks_of_a_range_are_sampled_alone() -> Result<(), Error> {
    let p = parts(12, 10, 6);
    let whole = BsrView::new(24, 30, [2, 3], &p.offsets, &p.columns, &p.values)?;
    let (x, y) = (dense(24, 3, 1), dense(3, 30, 2));
    let y = tenure::TensorView::from_slice(&y, [3, 30])?;
    let x = tenure::TensorView::from_slice(&x, [24, 3])?;
    let all = whole.sddmm_times_values(&x, &y)?;
    assert_eq!(all.shape(), [whole.nnz() / 6, 2, 3]);
    for rows in [0..12, 3..9, 5..5, 11..12] {
        let range = whole.block_row_range(rows.clone())?;
        let first = (p.offsets[rows.start] - p.offsets[0]) as usize * 6;
        let last = (p.offsets[rows.end] - p.offsets[0]) as usize * 6;
        assert_eq!(range.nnz(), last - first);
        assert_eq!(range.values().len(), range.nnz());
        assert_eq!(range.col_indices().len() * 6, range.nnz());
        let part = x.slice(0, rows.start * 2..rows.end * 2)?;
        let samples = range.sddmm_times_values(&part, &y)?;
        assert_eq!(samples.to_vec(), all.to_vec()[first..last]);
    }
    Ok(())
}

/// Every operation that makes a matrix or a tensor, of a range and of a copy.
#[test]
fn operations_of_a_range_are_those_of_a_copy() -> Result<(), Error> {
    let p = parts(ROWS, COLS, 1);
    let whole = CsrView::new(ROWS, COLS, &p.offsets, &p.columns, &p.values)?.check_coalesced()?;
    for range in ranges(whole) {
        let range = range.check_coalesced()?;
        let copy = copy(&range);
        let copy = copy.view().check_coalesced()?;
        macro_rules! same {
            ($of:ident => $($made:expr),* $(,)?) => {$({
                let of_range = { let $of = &range; format!("{:?}", $made) };
                let of_copy = { let $of = &copy; format!("{:?}", $made) };
                assert_eq!(of_range, of_copy, stringify!($made));
            })*};
        }
        let entries = |m: CsrView<'_, f64>| {
            (m.row_offsets().to_vec(), m.col_indices().to_vec(), m.values().to_vec())
        };
        let b = dense(COLS, 2, 3);
        let b = tenure::TensorView::from_slice(&b, [COLS, 2])?;
        let c = dense(range.rows(), 2, 4);
        let c = tenure::TensorView::from_slice(&c, [range.rows(), 2])?;
        same!(a => a.to_dense()?.to_vec(), a.matmul(&b)?.to_vec(), a.t_matmul(&c)?.to_vec(),
            entries(a.to_csr()?.view()), a.to_csc()?.values(), a.to_csc()?.row_indices(),
            a.to_coo()?.row_indices(), a.to_coo()?.values(), a.to_coo()?.col_indices(),
            entries(a.to_sorted()?.view()), entries(a.prune(2.0)?.view()), entries(a.top_k(2)?.view()),
            entries(a.coalesce(Combine::Sum)?.view()), a.to_index::<i64>()?.col_indices(),
            entries(a.select_cols(&[3, 1, 3])?.view()),
            entries(a.to_block(..a.rows() / 2, 5..20)?.view()),
            entries(a.add(*a)?.view()), entries(a.mul(*a)?.view()), a.sum()?, a.row_sums()?.to_vec(),
            a.col_sums()?.to_vec(), a.norm_frobenius()?, a.diagonal()?.to_vec(),
            a.pack()?.matmul(&b)?.to_vec(), a.to_bsr([1, 2])?.values(),
        );
    }
    Ok(())
}

#[test]
fn a_batch_of_some_matrices_has_their_entries_alone() -> Result<(), Error> {
    let batch_offsets = [2, 4, 5];
    let (offsets, columns) = ([0, 1, 2, 0, 0, 1], [9, 9, 0, 2, 1, 9]);
    let values = [-1.0, -1.0, 1.5, 2.5, 3.5, -1.0];
    // Indices of other entries may be anything.
    let batch = CsrBatchView::new(2, 3, &batch_offsets, &offsets, &columns, &values)?;
    assert_eq!((batch.nnz(), batch.values()), (3, &[1.5, 2.5, 3.5][..]));
    assert_eq!((batch.col_indices(), batch.row_offsets().len()), (&[0, 2, 1][..], 6));
    assert_eq!(batch.to_dense()?.to_vec(), [1.5, 0., 0., 0., 0., 2.5, 0., 0., 0., 0., 3.5, 0.]);
    let batch = CscBatchView::new(3, 2, &batch_offsets, &offsets, &columns, &values)?;
    assert_eq!((batch.values(), batch.row_indices()), (&[1.5, 2.5, 3.5][..], &[0, 2, 1][..]));
    let coo = batch.to_coo_batch()?;
    assert_eq!((coo.view().nnz(), coo.view().values()), (3, &[1.5, 2.5, 3.5][..]));
    Ok(())
}

#[test]
fn a_view_of_one_column_range_says_no_to_values_of_the_whole() -> Result<(), Error> {
    let p = parts(ROWS, COLS, 1);
    let range = CscView::new(COLS, ROWS, &p.offsets, &p.columns, &p.values)?.col_range(4..9)?;
    let error = range.with_values(&p.values).err().unwrap();
    let wanted = format!("one for each of the {} of row_indices", range.nnz());
    assert!(error.message().contains(&wanted), "{}", error.message());
    Ok(())
}

#[test]
fn values_are_split_for_two_threads() {
    let (offsets, columns) = (vec![0, 2, 2, 5, 6], vec![0, 3, 0, 1, 2, 3]);
    for row in 0..=4 {
        let mut values = [1, 2, 3, 4, 5, 6];
        let whole = CsrViewMut::new(4, 4, &offsets, &columns, &mut values).unwrap();
        let (mut upper, mut lower) = whole.split_at_row(row).unwrap();
        assert_eq!((upper.rows(), lower.rows(), lower.cols()), (row, 4 - row, 4));
        let first = offsets[row] as usize;
        assert_eq!((upper.values().len(), lower.values().len()), (first, 6 - first));
        assert_eq!(lower.col_indices(), &columns[first..]);
        std::thread::scope(|scope| {
            scope.spawn(|| upper.values_mut().iter_mut().for_each(|value| *value *= 10));
            scope.spawn(|| {
                for row in 0..lower.rows() {
                    lower.row_mut(row).unwrap().1.iter_mut().for_each(|value| *value += 100);
                }
            });
        });
        // The remaining part reads, splits again and converts like any matrix.
        let entries: Vec<_> = lower.view().iter().map(|(_, _, &value)| value).collect();
        assert_eq!(entries, (first..6).map(|at| at as i32 + 101).collect::<Vec<_>>());
        let count = lower.rows();
        let (nothing, again) = lower.split_at_row(0).unwrap();
        assert_eq!((nothing.rows(), again.into_view().to_coo().unwrap().rows()), (0, count));
        let expected: Vec<_> = (0..6)
            .map(|at| if at < first { (at as i32 + 1) * 10 } else { at as i32 + 101 })
            .collect();
        assert_eq!(values.to_vec(), expected);
    }
}

#[test]
fn operations_write_what_was_split_off() {
    let (offsets, rows) = (vec![0, 2, 3, 5], vec![0, 1, 1, 0, 1]);
    let mut values = [1.0_f64; 5];
    let whole = CscViewMut::new(2, 3, &offsets, &rows, &mut values).unwrap();
    let (_, mut right) = whole.split_at_col(1).unwrap();
    right.scale_rows(&[4.0, 5.0]).unwrap();
    assert_eq!(values, [1.0, 1.0, 5.0, 4.0, 5.0]);

    let mut values = [1.0_f64; 8];
    let blocks = BsrViewMut::new(4, 4, [2, 2], &[0, 1, 2], &[1, 0], &mut values).unwrap();
    let refused = blocks.split_at_block_row(3).err().unwrap();
    assert_eq!(refused.message(), "range is 0..3 but must lie in 0..2");
    let blocks = BsrViewMut::new(4, 4, [2, 2], &[0, 1, 2], &[1, 0], &mut values).unwrap();
    let (mut upper, mut lower) = blocks.split_at_block_row(1).unwrap();
    upper.block_row_mut(0).unwrap().1.fill(2.0);
    lower.block_row_mut(0).unwrap().1.fill(3.0);
    assert_eq!((upper.rows(), lower.rows()), (2, 2));
    assert_eq!(values, [2.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0]);
}
