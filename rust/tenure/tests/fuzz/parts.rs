//! Selections, blocks and masked products, compared with the results of a dense matrix.

use std::ptr;

use tenure::{Element, SparseIndex};
use tenure_sys::*;

use super::lent::{Lent, view, view_mut};
use super::operations::made;
use super::{Random, fuzz};

/// Row-major.
struct Dense {
    cols: usize,
    elements: Vec<f32>,
}

impl Dense {
    /// The elements of a matrix that is right.
    fn of(a: &tnr_sparse_view) -> Dense {
        let (rows, cols) = (a.rows as usize, a.cols as usize);
        let mut elements = vec![0.0; rows * cols];
        let out = view_mut(&mut elements, &[rows, cols]);
        // SAFETY: every part of `a` is readable, and `out` writable, over all of its memory.
        let status = unsafe { tnr_sparse_to_dense(ptr::null_mut(), a, ptr::null(), &out) };
        assert_eq!(status, tnr_status::OK);
        Dense { cols, elements }
    }

    fn at(&self, row: usize, col: usize) -> f32 {
        self.elements[row * self.cols + col]
    }
}

/// The element at a row and a column.
type Model<'a> = &'a dyn Fn(usize, usize) -> f32;

/// The result of an operation is well-formed, and the model's; none where `expected` is none.
fn expect(matrix: *mut tnr_sparse, expected: Option<(usize, usize, Model<'_>)>, what: &str) {
    assert_eq!(!matrix.is_null(), expected.is_some(), "{what}");
    if let Some((rows, cols, model)) = expected {
        // SAFETY: zeros are a value, and the view has the size that it says.
        let found = unsafe {
            let mut view: tnr_sparse_view = std::mem::zeroed();
            view.struct_size = size_of::<tnr_sparse_view>() as u64;
            assert_eq!(tnr_sparse_view_of(matrix, &mut view), tnr_status::OK);
            assert_eq!((view.rows as usize, view.cols as usize), (rows, cols), "{what}");
            Dense::of(&view)
        };
        for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
            assert_eq!(found.at(row, col), model(row, col), "{what}: row {row}, column {col}");
        }
    }
    made(matrix);
}

/// A list that names rows or columns, most of them there are; and as it is lent, maybe in steps.
struct List<N> {
    numbers: Vec<N>,
    step: usize,
}

impl<N: Element + TryFrom<i64> + Into<i64>> List<N> {
    fn draw(random: &mut Random, extent: usize) -> Self {
        let (len, step) = (random.below(9), 1 + random.below(2));
        let number = |number: i64| N::try_from(number).unwrap_or_default();
        let mut numbers: Vec<N> =
            (0..len * step).map(|_| number(random.below(extent) as i64)).collect();
        if random.below(4) == 0 && !numbers.is_empty() {
            let at = random.below(numbers.len());
            numbers[at] = number(random.number());
        }
        List { numbers, step }
    }

    fn view(&self) -> tnr_view {
        let mut view = view(&self.numbers, &[self.numbers.len() / self.step]);
        view.strides[0] = self.step as i64;
        view
    }

    /// None where a number names nothing.
    fn named(&self, extent: usize) -> Option<Vec<usize>> {
        let named = |number: &N| usize::try_from((*number).into()).ok().filter(|at| *at < extent);
        self.numbers.iter().step_by(self.step).map(named).collect()
    }
}

fn select<I, N>(random: &mut Random)
where
    I: SparseIndex + TryFrom<i64>,
    N: Element + TryFrom<i64> + Into<i64>,
{
    let null = ptr::null_mut();
    let is_csc = random.below(2) == 0;
    let (rows, cols) = (random.below(8), random.below(8));
    let lent = Lent::<I>::of_size(random, is_csc, rows, cols);
    let dense = lent.fault().is_none().then(|| Dense::of(&lent.view));
    let lists =
        [rows, cols].map(|extent| (random.below(3) != 0).then(|| List::<N>::draw(random, extent)));
    let views = lists.each_ref().map(|list| list.as_ref().map(List::view));
    let given = views.each_ref().map(|list| list.as_ref().map_or(ptr::null(), ptr::from_ref));
    let named: Vec<Option<Vec<usize>>> = lists
        .iter()
        .zip([rows, cols])
        .map(|(list, extent)| match list {
            Some(list) => list.named(extent),
            None => Some((0..extent).collect()),
        })
        .collect();
    // SAFETY: every part of the matrix and of the lists is readable over all of its array.
    let made = unsafe { tnr_sparse_select(null, &lent.view, given[0], given[1], ptr::null()) };
    match (&dense, &named[0], &named[1]) {
        (Some(dense), Some(rows), Some(cols)) => {
            let model = |row: usize, col: usize| dense.at(rows[row], cols[col]);
            expect(made, Some((rows.len(), cols.len(), &model)), "select");
        }
        _ => expect(made, None, "select"),
    }

    let [first_row, row_count, first_col, col_count] = [0; 4].map(|_: i32| random.number().min(9));
    // SAFETY: as above.
    let made = unsafe {
        tnr_sparse_slice(null, &lent.view, first_row, row_count, first_col, col_count, ptr::null())
    };
    let within = |first: i64, count: i64, extent: usize| {
        first >= 0 && count >= 0 && first.checked_add(count).is_some_and(|end| end <= extent as i64)
    };
    match &dense {
        Some(dense) if within(first_row, row_count, rows) && within(first_col, col_count, cols) => {
            let model = |row: usize, col: usize| {
                dense.at(row + first_row as usize, col + first_col as usize)
            };
            expect(made, Some((row_count as usize, col_count as usize, &model)), "slice");
        }
        _ => expect(made, None, "slice"),
    }
}

#[test]
fn selections() {
    fuzz(3_000, |random| {
        select::<i32, i32>(random);
        select::<i32, i64>(random);
        select::<i64, i32>(random);
        select::<i64, i64>(random);
    });
}

fn product_masked<I: SparseIndex + TryFrom<i64>>(random: &mut Random) {
    let is_csc = random.below(2) == 0;
    let [rows, inner, cols] = [0; 3].map(|_: i32| random.below(7));
    let [a, b, mask] = [(rows, inner), (inner, cols), (rows, cols)]
        .map(|(rows, cols)| Lent::<I>::of_size(random, is_csc, rows, cols));
    let is_right = [&a, &b, &mask].iter().all(|matrix| matrix.fault().is_none());
    // SAFETY: every part of the matrices is readable over all of its array.
    let made = unsafe {
        tnr_sparse_product_masked(ptr::null_mut(), &a.view, &b.view, &mask.view, ptr::null())
    };
    if !is_right {
        return expect(made, None, "product_masked");
    }
    let [a, b, mask] = [&a, &b, &mask].map(|matrix| Dense::of(&matrix.view));
    // A mask that has a position twice gets two entries; each of its values is 1.
    let model = |row: usize, col: usize| {
        let product: f32 = (0..inner).map(|k| a.at(row, k) * b.at(k, col)).sum();
        product * mask.at(row, col)
    };
    expect(made, Some((rows, cols, &model)), "product_masked");
}

#[test]
fn masked_products() {
    fuzz(3_000, |random| {
        product_masked::<i32>(random);
        product_masked::<i64>(random);
    });
}
