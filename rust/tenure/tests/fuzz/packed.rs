//! Packed matrices of unchecked views, in every layout, times operands that may not fit.

use std::ptr;

use tenure::SparseIndex;
use tenure_sys::*;

use super::lent::{Lent, view};
use super::operations::number;
use super::{Random, fuzz};

/// Floats, and what 1 is in them.
const ONES: [(tnr_dtype, u64); 4] = [
    (tnr_dtype::F64, 0x3ff0_0000_0000_0000),
    (tnr_dtype::F32, 0x3f80_0000_3f80_0000),
    (tnr_dtype::F16, 0x3c00_3c00_3c00_3c00),
    (tnr_dtype::BF16, 0x3f80_3f80_3f80_3f80),
];

/// A view of the first `count` elements in `words`, which holds them without gaps.
fn view_of(words: &[u64], dtype: tnr_dtype, count: usize) -> tnr_view {
    let mut all = view(words, &[count]);
    (all.dtype, all.size_bytes) = (dtype, count as u64 * u64::from(dtype.0 >> 8 & 0xff) / 8);
    all
}

/// The product of the packed matrix and a vector of ones, if there is one.
fn product(
    packed: *const tnr_packed,
    dtype: tnr_dtype,
    rows: usize,
    cols: usize,
) -> Option<Vec<u64>> {
    let one = ONES.iter().find(|(float, _)| *float == dtype).unwrap().1;
    let (x, mut out) = (vec![one; cols], vec![0; rows]);
    let b = view_of(&x, dtype, cols);
    let mut to = view_of(&out, dtype, rows);
    let data = out.as_mut_ptr().cast();
    (to.data, to.base) = (data, data);
    let out_view = tnr_view_mut { view: to };
    let (alpha, beta) = (number(1.0), number(0.0));
    // SAFETY: the views lie within their memory, which `out` may write; the handle is one.
    let status = unsafe {
        tnr_packed_matmul(ptr::null_mut(), &alpha, packed, &b, &beta, ptr::null(), &out_view)
    };
    (status == tnr_status::OK).then_some(out)
}

fn pack<I: SparseIndex + TryFrom<i64>>(random: &mut Random) {
    let mut lent = Lent::<I>::draw(random);
    let is_right = lent.fault().is_none();
    let (dtype, one) = *random.pick(&ONES);
    let count = lent.view.minor.shape[0] as usize;
    let values = vec![one; count];
    if lent.view.format == tnr_sparse_format::CSR {
        lent.view.values = view_of(&values, dtype, count);
    }
    let a = lent.view;
    let layout = tnr_packed_layout(random.below(7) as i32 - 1);
    let null = ptr::null_mut();
    // SAFETY: every part is readable over all of its array, which outlives the call.
    let packed = unsafe {
        tnr_packed_create(
            null,
            &a,
            &tnr_packed_attributes {
                struct_size: size_of::<tnr_packed_attributes>() as u64,
                layout,
                reserved: 0,
            },
        )
    };
    let is_csr = a.format == tnr_sparse_format::CSR;
    let has_name = (0..=4).contains(&layout.0);
    assert!(packed.is_null() || (is_right && is_csr && has_name), "{layout:?}");
    // Rows that do not rise, and entries that are in no blocks.
    let may_refuse = [tnr_packed_layout::BITMAP, tnr_packed_layout::BLOCKS].contains(&layout);
    assert!(!packed.is_null() || may_refuse || !(is_right && is_csr && has_name), "{layout:?}");
    if packed.is_null() {
        return;
    }
    let (rows, cols) = (a.rows as usize, a.cols as usize);
    let found = product(packed, dtype, rows, cols).unwrap();
    // The result of the matrix itself: integers that 16-bit floats represent exactly.
    let (x, expected) = (vec![one; cols], vec![0_u64; rows]);
    let mut out = tnr_view_mut { view: view_of(&expected, dtype, rows) };
    let mut expected = expected;
    let data = expected.as_mut_ptr().cast();
    (out.view.data, out.view.base) = (data, data);
    let (alpha, beta) = (number(1.0), number(0.0));
    let b = view_of(&x, dtype, cols);
    // SAFETY: as above; `out` is writable over its memory.
    unsafe {
        let as_is = tnr_orientation::AS_IS;
        let status = tnr_sparse_matmul(null, as_is, &alpha, &a, &b, &beta, ptr::null(), &out);
        assert_eq!(status, tnr_status::OK);
        assert_eq!(tnr_packed_retain(packed), packed);
        assert_eq!(tnr_packed_release(packed), tnr_status::OK);
    }
    assert_eq!(found, expected);
    // An output of another size is refused.
    let (more, fewer) = (random.below(3), random.below(3));
    let other = product(packed, dtype, rows + more - more.min(fewer), cols + fewer);
    assert_eq!(other.is_some(), fewer == 0 && more == 0);
    // SAFETY: the last handle, which is not one any more afterwards.
    unsafe {
        assert_eq!(tnr_packed_release(packed), tnr_status::OK);
        assert_eq!(tnr_packed_release(packed), tnr_status::STALE_HANDLE);
    }
}

#[test]
fn packed_matrices() {
    fuzz(4_000, |random| {
        pack::<i32>(random);
        pack::<i64>(random);
    });
}
