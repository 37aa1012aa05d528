//! From dense to sparse: elements that are no numbers, layouts of every kind, wrong attributes.

use std::ptr;

use tenure::{Element, bf16, f16};
use tenure_sys::*;

use super::lent::view;
use super::operations::{FORMATS, made, refusal};
use super::{Random, fuzz};

/// A view of some of `data`, which has 8 by 8 elements: maybe with gaps, from its end on, or with
/// rows that are all the same.
fn draw<T: Element>(random: &mut Random, data: &[T]) -> tnr_view {
    let shape = [0; 2].map(|_: i32| random.below(5));
    let mut dense = view(data, &shape);
    dense.size_bytes = size_of_val(data) as u64;
    let (steps, first) = match random.below(5) {
        0 => ([8, 2], 0),
        1 => ([1, 8], 0),
        2 => ([-8, -1], 63),
        3 => ([0, 1], 5),
        _ => return dense,
    };
    dense.strides[..2].copy_from_slice(&steps);
    if shape.iter().all(|extent| *extent > 0) {
        dense.data = data[first..].as_ptr().cast();
    }
    dense
}

/// Says something of the memory that is not so.
fn misdescribe(dense: &mut tnr_view, random: &mut Random) {
    let axis = random.below(2);
    match random.below(6) {
        // One element may be lent as very many, which would be waited for.
        0 => dense.shape[axis] = random.number().min(64),
        1 => dense.strides[axis] = random.number(),
        2 => dense.size_bytes = random.below(40) as u64,
        3 => dense.rank = random.below(4) as u32,
        4 => dense.data = dense.data.wrapping_byte_offset(8 * (random.number() % 40) as isize),
        _ => dense.dtype = tnr_dtype(random.next() as u32 & 0x0003_7f0f),
    }
}

fn from_dense<T: Element>(random: &mut Random, numbers: &[T], is_float: bool) {
    let null = ptr::null_mut();
    let data: Vec<T> = (0..64).map(|_| *random.pick(numbers)).collect();
    let mut dense = draw(random, &data);
    let is_right = random.below(3) != 0;
    if !is_right {
        misdescribe(&mut dense, random);
    }
    let (rows, cols) = (dense.shape[0], dense.shape[1]);
    let index = *random.pick(&[tnr_dtype(0), tnr_dtype::I32, tnr_dtype::I64, tnr_dtype::U8]);
    let has_index = index != tnr_dtype::U8;

    let (k, order) = (random.number(), tnr_sparse_order(random.below(4) as i32));
    // SAFETY: the view is within `data`, or does not fit its own description of the memory.
    let top = unsafe {
        tnr_sparse_from_dense_top_k(
            null,
            order,
            &dense,
            k,
            &tnr_sparse_top_k_attributes {
                struct_size: size_of::<tnr_sparse_top_k_attributes>() as u64,
                index_dtype: index,
                reserved: 0,
            },
        )
    };
    if is_right {
        let may = (0..=cols).contains(&k) && (1..=2).contains(&order.0) && has_index;
        assert_eq!(!top.is_null(), may, "the {k} largest of {cols}: {}", refusal());
        assert!(top.is_null() || entries(top) == rows * k);
    }
    made(top);

    let probability =
        *random.pick(&[0.0, 0.5, 0.999, 1.0 - 1e-16, 1e-300, 1.0, -0.1, 2.0, f64::NAN, -0.0]);
    let seed = random.next();
    // SAFETY: as above.
    let [left, again] = [0; 2].map(|_| unsafe {
        tnr_sparse_from_dense_dropout(
            null,
            &dense,
            probability,
            seed,
            &tnr_sparse_dropout_attributes {
                struct_size: size_of::<tnr_sparse_dropout_attributes>() as u64,
                index_dtype: index,
                reserved: 0,
            },
        )
    });
    assert_eq!(left.is_null(), again.is_null());
    if is_right {
        let may = (0.0..1.0).contains(&probability) && is_float && has_index;
        assert!(may || left.is_null(), "dropout by {probability}");
        // A factor that the dtype does not have.
        let is_refused = left.is_null() && may && probability < 0.9;
        assert!(!is_refused, "dropout by {probability}: {}", refusal());
        assert!(left.is_null() || entries(left) <= rows * cols);
    }
    assert!(left.is_null() || entries(left) == entries(again));
    made(left);
    made(again);

    let format = *random.pick(&FORMATS);
    // SAFETY: numbers and pointers, for which zeros are valid values.
    let mut to: tnr_sparse_from_dense_attributes = unsafe { std::mem::zeroed() };
    to.struct_size = size_of::<tnr_sparse_from_dense_attributes>() as u64;
    to.index_dtype = index;
    to.predicate = tnr_sparse_predicate(random.below(6) as i32 - 1);
    to.flags = random.below(3) as u32;
    (to.block_rows, to.block_cols) = (random.below(4) as i64, random.below(18) as i64);
    to.threshold.dtype = dense.dtype;
    random.pick(&[[0_u8; 16], [0xff; 16], [0x7f; 16]]).clone_into(&mut to.threshold.bytes);
    let marks = [1_u8, 0, 2, 0, 0, 255, 0, 1].repeat(8);
    let mask = draw(random, &marks);
    to.mask = if random.below(2) == 0 { ptr::null() } else { &raw const mask };
    // SAFETY: as above; so is the mask, within `marks`.
    made(unsafe { tnr_sparse_from_dense(null, format, &dense, &to) });
}

fn entries(matrix: *const tnr_sparse) -> i64 {
    // SAFETY: zeros are a value, and the view has the size that it says.
    unsafe {
        let mut view: tnr_sparse_view = std::mem::zeroed();
        view.struct_size = size_of::<tnr_sparse_view>() as u64;
        assert_eq!(tnr_sparse_view_of(matrix, &mut view), tnr_status::OK);
        view.minor.shape[0]
    }
}

#[test]
fn dense_matrices() {
    let numbers = [0.0_f32, -0.0, 1.0, -2.5, 1e-40, f32::INFINITY, -f32::NAN, f32::MAX];
    let doubles = numbers.map(f64::from);
    let halves = numbers.map(f16::from_f32);
    let brains = numbers.map(bf16::from_f32);
    fuzz(3_000, |random| {
        from_dense(random, &numbers, true);
        from_dense(random, &doubles, true);
        from_dense(random, &halves, true);
        from_dense(random, &brains, true);
        from_dense(random, &[0_i8, 1, -1, i8::MIN, i8::MAX], false);
        from_dense(random, &[0_u32, 1, u32::MAX, 1 << 31], false);
    });
}
