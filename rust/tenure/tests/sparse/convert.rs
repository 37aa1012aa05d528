//! Conversions among the sparse formats, and to fewer entries, on one thread and on several.

#[allow(dead_code, reason = "tests take what they need")]
#[path = "../../src/split_mix.rs"]
mod random;

use random::Random;
use tenure::{
    BsrView, Combine, Complex, Context, CooView, CscView, CsrView, ErrorKind, SparseIndex,
};

/// Entries in an order of their own, some of one position.
fn scattered(rows: usize, cols: usize, count: usize) -> Vec<(usize, usize, f64)> {
    let mut random = Random::new(1);
    (0..count).map(|k| (random.below(rows), random.below(cols), k as f64 + 0.25)).collect()
}

struct Coo<I> {
    rows: Vec<I>,
    cols: Vec<I>,
    values: Vec<f64>,
}

fn coo<I: SparseIndex + TryFrom<usize>>(entries: &[(usize, usize, f64)]) -> Coo<I> {
    let index = |number| I::try_from(number).ok().unwrap();
    Coo {
        rows: entries.iter().map(|entry| index(entry.0)).collect(),
        cols: entries.iter().map(|entry| index(entry.1)).collect(),
        values: entries.iter().map(|entry| entry.2).collect(),
    }
}

fn sorted(
    entries: &[(usize, usize, f64)],
    key: impl Fn(&(usize, usize, f64)) -> (usize, usize),
) -> Vec<(usize, usize, f64)> {
    let mut entries = entries.to_vec();
    entries.sort_by_key(key);
    entries
}

fn listed<'a>(entries: impl Iterator<Item = (usize, usize, &'a f64)>) -> Vec<(usize, usize, f64)> {
    entries.map(|(row, col, value)| (row, col, *value)).collect()
}

fn all_formats<I: SparseIndex + TryFrom<usize>>(rows: usize, cols: usize, count: usize) {
    let entries = scattered(rows, cols, count);
    let arrays = coo::<I>(&entries);
    let view = CooView::new(rows, cols, &arrays.rows, &arrays.cols, &arrays.values).unwrap();
    let by_rows = sorted(&entries, |entry| (entry.0, entry.1));
    let by_cols = sorted(&entries, |entry| (entry.1, entry.0));

    let csr = view.to_csr().unwrap();
    assert_eq!(listed(csr.view().iter()), sorted(&entries, |entry| (entry.0, 0)));
    let csc = view.to_csc().unwrap();
    assert_eq!(listed(csc.view().iter()), sorted(&entries, |entry| (entry.1, 0)));
    assert_eq!(listed(view.to_sorted().unwrap().view().iter()), by_rows);
    assert_eq!(listed(csr.view().to_sorted().unwrap().view().iter()), by_rows);
    assert_eq!(listed(csc.view().to_sorted().unwrap().view().iter()), by_cols);
    // Transposed for nothing, and in earnest.
    let exchanged = csr.view().to_csc().unwrap();
    assert!(exchanged.view().is_sorted());
    let turned = exchanged.view().t().to_csc().unwrap();
    assert_eq!(turned.view().t().nnz(), count);
    let back = listed(turned.view().t().iter());
    assert_eq!(sorted(&back, |entry| (entry.0, entry.1)), by_rows);
    let coo = csr.view().to_coo().unwrap();
    assert_eq!(listed(coo.view().iter()), sorted(&entries, |entry| (entry.0, 0)));

    let sums = view.coalesce(Combine::Sum).unwrap();
    let mut expected: Vec<(usize, usize, f64)> = Vec::new();
    for &(row, col, value) in &by_rows {
        match expected.last_mut() {
            Some(last) if (last.0, last.1) == (row, col) => last.2 += value,
            _ => expected.push((row, col, value)),
        }
    }
    assert_eq!(listed(sums.view().iter()), expected);
    assert!(sums.view().is_coalesced());
    let csr_sums = csr.view().coalesce(Combine::Sum).unwrap();
    assert_eq!(listed(csr_sums.view().iter()), expected);
}

#[test]
fn formats_hold_the_same_entries() {
    all_formats::<i32>(17, 23, 300);
    all_formats::<i64>(1, 40, 100);
    all_formats::<i32>(40, 1, 100);
    // Parted into buckets, and shared by threads.
    all_formats::<i32>(300, 500, 60_000);
    let context = Context::with_threads(3).unwrap();
    context.install(|| all_formats::<i64>(211, 307, 70_000));
}

#[test]
fn blocks_hold_zeros_too() {
    let view = CsrView::new(4, 4, &[0, 1, 1, 3, 4], &[1, 0, 3, 2], &[1, 2, 3, 4]).unwrap();
    let blocks = view.to_bsr([2, 2]).unwrap();
    assert_eq!(blocks.row_offsets(), [0, 1, 3]);
    assert_eq!(blocks.col_indices(), [0, 0, 1]);
    assert_eq!(blocks.values(), [0, 1, 0, 0, 2, 0, 0, 0, 0, 3, 4, 0]);
    let elements = blocks.view().to_csr().unwrap();
    assert_eq!(elements.row_offsets(), [0, 2, 4, 8, 12]);
    assert_eq!(elements.view().prune(0).unwrap().values(), [1, 2, 3, 4]);
    let wide = blocks.view().to_index::<i64>().unwrap();
    assert_eq!(wide.col_indices(), [0_i64, 0, 1]);
    let error = view.to_bsr([3, 2]).err().unwrap();
    assert_eq!(error.message(), "attributes->block_rows is 3 but must divide rows, which is 4");
    assert_eq!(view.to_bsr([2, 17]).err().unwrap().kind(), ErrorKind::Unsupported);
}

#[test]
fn a_range_of_rows_is_converted_alone() {
    let view = CsrView::new(3, 3, &[0, 1, 3, 4], &[2, 0, 1, 2], &[1.0, 2.0, 3.0, 4.0]).unwrap();
    let part = view.row_range(1..).unwrap();
    assert_eq!(part.to_coo().unwrap().row_indices(), [0, 0, 1]);
    assert_eq!(part.to_csc().unwrap().values(), [2.0, 3.0, 4.0]);
    assert_eq!(part.to_index::<i64>().unwrap().row_offsets(), [0_i64, 2, 3]);
    assert_eq!(part.top_k(1).unwrap().values(), [3.0, 4.0]);
}

#[test]
fn indices_that_are_too_narrow_are_refused() {
    let cols = (1_usize << 31) + 1;
    let view = CsrView::new(1, cols, &[0_i64, 1], &[1_i64 << 31], &[1.0_f32]).unwrap();
    let error = view.to_index::<i32>().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert_eq!(
        error.message(),
        "cols of the result reach 2147483648 but i32 ends at 2147483647: use i64 indices"
    );
}

#[test]
fn every_way_to_combine() {
    let view = CscView::new(2, 1, &[0, 3], &[1, 1, 1], &[3_i8, -5, 1]).unwrap();
    for (combine, expected) in
        [(Combine::Sum, -1), (Combine::Min, -5), (Combine::Max, 3), (Combine::Last, 1)]
    {
        assert_eq!(view.coalesce(combine).unwrap().values(), [expected], "{combine:?}");
    }
    // Complex duplicates combine only by `Last`.
    let values = [Complex::new(1.0_f32, 2.0), Complex::new(3.0, 4.0)];
    let complex = CooView::new(1, 1, &[0, 0], &[0, 0], &values).unwrap();
    assert_eq!(complex.coalesce(Combine::Last).unwrap().values(), [values[1]]);
    let error = complex.coalesce(Combine::Sum).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.message(), "coalesce does not take values of c64 but to keep the last");
}

#[test]
fn impossible_conversions_are_refused() {
    let view = CsrView::new(1, 2, &[0, 2], &[1, 1], &[1.0_f32, f32::NAN]).unwrap();
    assert_eq!(
        view.top_k(3).err().unwrap().message(),
        "k is 3 but must be at least 0 and at most a.cols, which is 2"
    );
    assert!(view.top_k(usize::MAX).is_err());
    assert_eq!(view.top_k_in_magnitude(1).unwrap().values(), [1.0]);
    assert!(view.prune(f32::NAN).is_err());
    assert!(view.prune(-1.0).is_err());
    assert_eq!(
        view.to_bsr([1, 1]).err().unwrap().message(),
        "row 0 has two entries in column 1, and a block has room for one: coalesce first"
    );
    let wide = CsrView::new(1, 1, &[0, 1], &[0], &[1_i64]).unwrap();
    assert_eq!(wide.top_k(1).err().unwrap().kind(), ErrorKind::Unsupported);
    let empty = BsrView::new(0, 0, [4, 4], &[0], &[], &[0.0; 0]).unwrap();
    assert_eq!(empty.to_coo().unwrap().nnz(), 0);
}
