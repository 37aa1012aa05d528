//! Batches: arrays of several matrices, some with a wrong number, lent and held.

use std::ptr;

use tenure::SparseIndex;
use tenure_sys::operations::Kind;
use tenure_sys::*;

use super::lent::{held, matrix, misdescribe, none, view, view_mut};
use super::operations::{self, FORMATS, blocks_for, made, number, refusal};
use super::{Random, fuzz};

/// Arrays of a batch, and the view that describes them.
struct Batch<I> {
    _indices: [Vec<I>; 2], // what the view points to
    _values: Vec<f32>,
    _begins: (Vec<i64>, Vec<i32>),
    view: tnr_sparse_view,
}

impl<I: SparseIndex + TryFrom<i64>> Batch<I> {
    /// Valid, except for some numbers.
    fn draw(random: &mut Random) -> Self {
        let index = |number: i64| I::try_from(number).unwrap_or_default();
        let format = *random.pick(&FORMATS);
        let block = if format == tnr_sparse_format::BSR { [2, 3] } else { [1, 1] };
        let (count, majors, minors) = (random.below(5), random.below(4), 1 + random.below(5));
        let (mut major, mut minor, mut begins) = (Vec::new(), Vec::new(), vec![0_i64]);
        for _ in 0..count {
            let mut entries = 0;
            let mut offsets = vec![index(0)];
            for row in 0..majors {
                let of_row = random.below(4);
                if format == tnr_sparse_format::COO {
                    major.extend(vec![index(row as i64); of_row]);
                }
                entries += of_row;
                offsets.push(index(entries as i64));
            }
            if format != tnr_sparse_format::COO {
                major.extend(offsets);
            }
            minor.extend((0..entries).map(|_| index(random.below(minors) as i64)));
            begins.push(minor.len() as i64);
        }
        for _ in 0..random.below(3) {
            let (array, wrong) = (random.below(3), random.number());
            if array == 2 {
                let at = random.below(begins.len());
                begins[at] = wrong;
            } else {
                let array = if array == 0 { &mut major } else { &mut minor };
                if !array.is_empty() {
                    let at = random.below(array.len());
                    array[at] = index(wrong);
                }
            }
        }
        let mut values = vec![1.0_f32; minor.len() * block[0] * block[1]];
        let narrow: Vec<i32> = begins.iter().map(|begin| *begin as i32).collect();
        let is_narrow = random.below(3) == 0;
        let one = matrix(format, block, [majors, minors], &major, &minor, &mut values);
        let batch_offsets =
            if is_narrow { view(&narrow, &[narrow.len()]) } else { view(&begins, &[begins.len()]) };
        let view = tnr_sparse_view { batch_offsets, ..one };
        Batch { _indices: [major, minor], _values: values, _begins: (begins, narrow), view }
    }
}

/// Calls every operation that takes batches; its name, and whether it has succeeded.
fn compute(random: &mut Random, a: &tnr_sparse_view) -> Vec<(&'static str, bool)> {
    let null = ptr::null_mut();
    let extent = |number: i64| usize::try_from(number).ok().filter(|extent| *extent < 64);
    let (rows, cols) = extent(a.rows).zip(extent(a.cols)).unwrap_or((3, 2));
    let count = extent(a.batch_offsets.shape[0]).unwrap_or(1).max(1) - 1;
    let mut dense = vec![7.0_f32; count * rows * cols];
    let (of_rows, of_cols) = (vec![1.0_f32; count * rows], vec![1.0_f32; count.max(1) * cols * 3]);
    let mut products = vec![0.0_f32; count * rows * 3];
    let mut transposed = vec![0.0_f32; count * cols];
    let (one, zero) = (number(1.0), number(0.0));
    let to = *random.pick(&FORMATS);
    let blocks = blocks_for(to, a);
    let of_one = tnr_unary_op(operations::code(random, Kind::Unary));
    let is_shared = random.below(2) == 0;
    let (front, shape) = (usize::from(is_shared), [count, cols, 3]);
    let (as_is, turned) = (tnr_orientation::AS_IS, tnr_orientation::TRANSPOSED);
    // SAFETY: every part of `a` is readable where it says that it is, or belongs to a blob; outputs
    // are writable over all of their memory.
    unsafe {
        let out = view_mut(&mut dense, &[count, rows, cols]);
        let by = view(&of_cols, &shape[front..]);
        let sums = view_mut(&mut products, &[count, rows, 3]);
        let by_rows = view(&of_rows, &[count, rows]);
        let of_turned = view_mut(&mut transposed, &[count, cols]);
        let is_ok = |status| status == tnr_status::OK;
        vec![
            ("to_dense", is_ok(tnr_sparse_to_dense(null, a, ptr::null(), &out))),
            ("convert", made_batch(tnr_sparse_convert(null, to, a, &blocks))),
            ("unary", made_batch(tnr_sparse_unary(null, of_one, a, ptr::null()))),
            (
                "matmul",
                is_ok(tnr_sparse_matmul(null, as_is, &one, a, &by, &zero, ptr::null(), &sums)),
            ),
            (
                "t",
                is_ok(tnr_sparse_matmul(
                    null,
                    turned,
                    &one,
                    a,
                    &by_rows,
                    &zero,
                    ptr::null(),
                    &of_turned,
                )),
            ),
        ]
    }
}

/// Like `made`, for a batch: each of its matrices is well-formed too.
fn made_batch(batch: *mut tnr_sparse) -> bool {
    if !batch.is_null() {
        let mut all = tnr_sparse_view { batch_offsets: none(), ..empty() };
        // SAFETY: the handle is alive, and the views have the size that they say.
        unsafe {
            assert_eq!(tnr_sparse_view_of(batch, &mut all), tnr_status::OK);
            for i in 0..all.batch_offsets.shape[0] - 1 {
                let mut one = empty();
                assert_eq!(tnr_sparse_batch_at(&all, i, &mut one), tnr_status::OK);
                // Flags may be those of the operand, which need not be so.
                (one.owner, one.flags) = (0, 0);
                assert_eq!(tnr_sparse_check(&one), tnr_status::OK, "{}", refusal());
            }
        }
    }
    made(batch)
}

fn empty() -> tnr_sparse_view {
    tnr_sparse_view {
        struct_size: size_of::<tnr_sparse_view>() as u64,
        owner: 0,
        format: tnr_sparse_format::CSR,
        flags: 0,
        rows: 0,
        cols: 0,
        block_rows: 0,
        block_cols: 0,
        major: none(),
        minor: none(),
        values: none(),
        batch_offsets: none(),
    }
}

/// Calls every operation on one matrix of a batch, if the batch has it.
fn take_one(random: &mut Random, a: &tnr_sparse_view) {
    let mut one = empty();
    let at = random.number().min(9);
    // SAFETY: as in `compute`; `one` has the size that it says.
    if unsafe { tnr_sparse_batch_at(a, at, &mut one) } == tnr_status::OK {
        assert!(at >= 0 && at < a.batch_offsets.shape[0] - 1);
        operations::compute(random, &one);
    }
}

fn lend<I: SparseIndex + TryFrom<i64>>(random: &mut Random) {
    let batch = Batch::<I>::draw(random);
    let a = &batch.view;
    // SAFETY: every part is readable over all of its array.
    let is_right = unsafe { tnr_sparse_check(a) } == tnr_status::OK;
    let is_bsr = a.format == tnr_sparse_format::BSR;
    for (name, has_succeeded) in compute(random, a) {
        // Kernels do not look at a lone offset, which is that of no row.
        assert!(is_right || !has_succeeded || a.major.shape[0] <= 4, "{name} of {:?}", a.format);
        let may_refuse = ["convert", "unary"].contains(&name) || is_bsr;
        assert!(!is_right || has_succeeded || may_refuse, "{name}: {}", refusal());
    }
    take_one(random, a);
    // Operations on one matrix refuse a batch.
    for (name, has_succeeded) in operations::compute(random, a) {
        // A matrix may be taken for a vector of each.
        let takes_batches = ["convert", "unary", "matmul", "transposed"].contains(&name);
        assert!(!has_succeeded || takes_batches, "{name}");
    }
}

#[test]
fn lent_batches() {
    fuzz(1_500, |random| {
        lend::<i32>(random);
        lend::<i64>(random);
    });
}

fn hold<I: SparseIndex + TryFrom<i64>>(random: &mut Random) {
    let batch = Batch::<I>::draw(random);
    let mut parts = batch.view;
    // SAFETY: every part is readable over all of its array.
    let is_right = unsafe { tnr_sparse_check(&parts) } == tnr_status::OK;
    for part in [&mut parts.major, &mut parts.minor, &mut parts.values, &mut parts.batch_offsets] {
        held(part);
    }
    // SAFETY: every part is a view of a blob.
    let matrix = unsafe { tnr_sparse_create(&parts) };
    assert!(is_right || matrix.is_null());
    if !matrix.is_null() {
        let mut view = empty();
        // SAFETY: the handle lives, and `view` has the size that it says.
        assert_eq!(unsafe { tnr_sparse_view_of(matrix, &mut view) }, tnr_status::OK);
        compute(random, &view);
        take_one(random, &view);
        for _ in 0..1 + random.below(3) {
            if random.below(3) == 0 {
                let begins = &mut view.batch_offsets;
                match random.below(3) {
                    0 => begins.shape[0] = random.number().min(64),
                    1 => begins.data = begins.data.wrapping_byte_add(8 * random.below(3)),
                    _ => begins.strides[0] = random.number(),
                }
            } else {
                misdescribe(&mut view, random);
            }
        }
        compute(random, &view);
        take_one(random, &view);
    }
    made_batch(matrix);
    for part in [&parts.major, &parts.minor, &parts.values, &parts.batch_offsets] {
        // SAFETY: the one handle of each, not used again.
        let status = unsafe { tnr_blob_release(ptr::without_provenance_mut(part.owner as usize)) };
        assert_eq!(status, tnr_status::OK);
    }
}

#[test]
fn held_batches() {
    fuzz(1_500, |random| {
        hold::<i32>(random);
        hold::<i64>(random);
    });
}
