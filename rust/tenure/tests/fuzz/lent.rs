//! Views as C lends them, which nobody has checked: operations find what `tnr_sparse_check` finds,
//! and read nothing that is not there.

use std::ptr;

use tenure::{Element, SparseIndex};
use tenure_sys::*;

use super::{Random, arrays, fuzz};

/// A view of all of `data`.
fn view<T: Element>(data: &[T], shape: &[usize]) -> tnr_view {
    let mut shape_of = [0; TNR_MAX_RANK];
    let mut strides = [0; TNR_MAX_RANK];
    let mut stride = 1;
    for axis in (0..shape.len()).rev() {
        (shape_of[axis], strides[axis]) = (shape[axis] as i64, stride);
        stride *= shape[axis] as i64;
    }
    let (code, bits, lanes) = T::DTYPE.to_dlpack();
    tnr_view {
        data: data.as_ptr().cast(),
        base: data.as_ptr().cast(),
        size_bytes: size_of_val(data) as u64,
        owner: 0,
        dtype: tnr_dtype(u32::from(code) | u32::from(bits) << 8 | u32::from(lanes) << 16),
        rank: shape.len() as u32,
        device: tnr_device { kind: tnr_device_kind::CPU, index: 0 },
        flags: 0,
        bit_offset: 0,
        reserved: 0,
        shape: shape_of,
        strides,
    }
}

/// The view that all zeros are.
fn none() -> tnr_view {
    // SAFETY: integers and pointers, of which zeros are values.
    unsafe { std::mem::zeroed() }
}

/// Gives up what an operation made; whether it made something.
fn made(matrix: *mut tnr_sparse) -> bool {
    // SAFETY: NULL, or the only handle, not used again.
    let status = unsafe { tnr_sparse_release(matrix) };
    assert_eq!(status, tnr_status::OK);
    !matrix.is_null()
}

fn lend<I: SparseIndex + TryFrom<i64>>(random: &mut Random) {
    let (_, _, offsets, mut indices) = arrays::<I>(random);
    let formats = [
        tnr_sparse_format::COO,
        tnr_sparse_format::CSR,
        tnr_sparse_format::CSC,
        tnr_sparse_format::BSR,
    ];
    let format = *random.pick(&formats);
    let block = if format == tnr_sparse_format::BSR { [2, 3] } else { [1, 1] };
    let mut major = offsets;
    if format == tnr_sparse_format::COO {
        major.truncate(indices.len());
        indices.truncate(major.len());
    }
    let majors = if format == tnr_sparse_format::COO { 5 } else { major.len().max(1) - 1 };
    let minors = 1 + random.below(7);
    let (rows, cols) = match format {
        tnr_sparse_format::CSC => (minors, majors),
        _ => (majors * block[0], minors * block[1]),
    };
    let count = indices.len();
    let values = vec![1.0_f32; count * block[0] * block[1]];
    let shape = [count, block[0], block[1]];
    let rank = if format == tnr_sparse_format::BSR { 3 } else { 1 };
    let a = tnr_sparse_view {
        struct_size: size_of::<tnr_sparse_view>() as u64,
        owner: 0,
        format,
        flags: 0,
        rows: rows as i64,
        cols: cols as i64,
        block_rows: block[0] as i64,
        block_cols: block[1] as i64,
        major: view(&major, &[major.len()]),
        minor: view(&indices, &[count]),
        values: view(&values, &shape[..rank]),
        batch_offsets: none(),
    };
    // SAFETY: every part is readable over all of its slice, which outlives the calls.
    let is_right = unsafe { tnr_sparse_check(&a) } == tnr_status::OK;
    let null = ptr::null_mut();

    let mut dense = vec![7.0_f32; rows * cols];
    let mut out = tnr_view_mut { view: view(&dense, &[rows, cols]) };
    out.view.data = dense.as_mut_ptr().cast();
    out.view.base = out.view.data;
    // SAFETY: as above, and `out` is writable over all of `dense`.
    let status = unsafe { tnr_sparse_to_dense(null, &a, &out) };
    assert_eq!(status == tnr_status::OK, is_right, "to_dense: {status:?}");

    for to in formats {
        // SAFETY: numbers, of which zeros are values.
        let mut options: tnr_sparse_options = unsafe { std::mem::zeroed() };
        options.struct_size = size_of::<tnr_sparse_options>() as u64;
        options.format = to;
        if to == tnr_sparse_format::BSR {
            (options.block_rows, options.block_cols) = (block[0] as i64, block[1] as i64);
        }
        // SAFETY: as above.
        let converted = made(unsafe { tnr_sparse_convert(null, &a, &options) });
        // Blocks may be refused for duplicates too.
        let may = is_right && (to != tnr_sparse_format::BSR || converted);
        assert_eq!(converted, may, "{format:?} to {to:?}");
    }
    let b = vec![1.0_f32; cols];
    let mut sums = vec![7.0_f32; rows];
    let mut out = tnr_view_mut { view: view(&sums, &[rows]) };
    out.view.data = sums.as_mut_ptr().cast();
    out.view.base = out.view.data;
    let number = |number: f32| {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&number.to_ne_bytes());
        tnr_scalar { dtype: tnr_dtype::F32, reserved: 0, bytes }
    };
    let (one, zero, as_is) = (number(1.0), number(0.0), tnr_orientation::AS_IS);
    let b = view(&b, &[cols]);
    // SAFETY: as above.
    let status = unsafe { tnr_sparse_matmul(null, &one, &a, as_is, &b, &zero, &out) };
    // A lone offset is that of no row, and a product has no reason to look at it.
    let is_seen = format == tnr_sparse_format::COO || major.len() > 1;
    if is_right || is_seen {
        assert_eq!(status == tnr_status::OK, is_right, "matmul: {status:?}");
    }
    // SAFETY: as above; that the extents seldom agree is looked at after the parts, or before.
    let multiplied = made(unsafe { tnr_sparse_product(null, &a, &a) });
    assert!(is_right || !multiplied);
}

#[test]
fn lent_views() {
    fuzz(3_000, |random| {
        lend::<i32>(random);
        lend::<i64>(random);
    });
}
