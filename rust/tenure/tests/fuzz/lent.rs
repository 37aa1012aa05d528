//! Views as C lends them, unchecked: operations find each fault that `tnr_sparse_check` finds, and
//! read no memory outside the arrays.

use std::ptr;

use tenure::{Element, SparseIndex};
use tenure_sys::*;

use super::constructors::arrays;
use super::operations::{self, FORMATS, blocks_for};
use super::{Random, fuzz};

/// A view of all of `data`.
pub fn view<T: Element>(data: &[T], shape: &[usize]) -> tnr_view {
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

/// Like [`view`], for writing.
pub fn view_mut<T: Element>(data: &mut [T], shape: &[usize]) -> tnr_view_mut {
    let place = data.as_mut_ptr().cast();
    tnr_view_mut { view: tnr_view { data: place, base: place, ..view(data, shape) } }
}

/// The view that all zeros are.
pub fn none() -> tnr_view {
    // SAFETY: integers and pointers, for which zeros are valid values.
    unsafe { std::mem::zeroed() }
}

/// A view of one matrix over these arrays: `majors` rows (columns in CSC) and `minors` columns
/// (rows in CSC), counted in blocks in BSR.
pub fn matrix<I: SparseIndex>(
    format: tnr_sparse_format,
    block: [usize; 2],
    [majors, minors]: [usize; 2],
    major: &[I],
    minor: &[I],
    values: &mut [f32],
) -> tnr_sparse_view {
    let (rows, cols) = match format {
        tnr_sparse_format::CSC => (minors, majors),
        _ => (majors * block[0], minors * block[1]),
    };
    let shape = [minor.len(), block[0], block[1]];
    let rank = if format == tnr_sparse_format::BSR { 3 } else { 1 };
    tnr_sparse_view {
        struct_size: size_of::<tnr_sparse_view>() as u64,
        owner: 0,
        format,
        flags: 0,
        rows: rows as i64,
        cols: cols as i64,
        block_rows: block[0] as i64,
        block_cols: block[1] as i64,
        major: view(major, &[major.len()]),
        minor: view(minor, &[minor.len()]),
        values: view_mut(values, &shape[..rank]).view,
        batch_offsets: none(),
    }
}

/// Arrays of a matrix, and the view that describes them.
pub struct Lent<I> {
    pub major: Vec<I>,
    _minor: Vec<I>, // that the view points to
    values: Vec<f32>,
    pub view: tnr_sparse_view,
}

impl<I: SparseIndex + TryFrom<i64>> Lent<I> {
    /// Valid, except for some numbers.
    pub fn draw(random: &mut Random) -> Self {
        let (_, _, offsets, minor) = arrays::<I>(random);
        let format = *random.pick(&FORMATS);
        let minors = 1 + random.below(7);
        Self::of(format, offsets, minor, minors)
    }

    /// A matrix in a compressed format and of this size: valid, or with one wrong number.
    pub fn of_size(random: &mut Random, is_csc: bool, rows: usize, cols: usize) -> Self {
        let (majors, minors) = if is_csc { (cols, rows) } else { (rows, cols) };
        let index = |number: i64| I::try_from(number).unwrap_or_default();
        let mut offsets = vec![index(0)];
        let mut count = 0;
        for _ in 0..majors {
            count += if minors == 0 { 0 } else { random.below(5) };
            offsets.push(index(count as i64));
        }
        let mut minor: Vec<I> = (0..count).map(|_| index(random.below(minors) as i64)).collect();
        if random.below(4) == 0 {
            let array = if random.below(2) == 0 { &mut offsets } else { &mut minor };
            if !array.is_empty() {
                let at = random.below(array.len());
                array[at] = index(random.number());
            }
        }
        let format = if is_csc { tnr_sparse_format::CSC } else { tnr_sparse_format::CSR };
        Self::of(format, offsets, minor, minors)
    }

    fn of(format: tnr_sparse_format, offsets: Vec<I>, mut minor: Vec<I>, minors: usize) -> Self {
        let block = if format == tnr_sparse_format::BSR { [2, 3] } else { [1, 1] };
        let mut major = offsets;
        if format == tnr_sparse_format::COO {
            major.truncate(minor.len());
            minor.truncate(major.len());
        }
        let majors = if format == tnr_sparse_format::COO { 5 } else { major.len().max(1) - 1 };
        let mut values = vec![1.0_f32; minor.len() * block[0] * block[1]];
        let view = matrix(format, block, [majors, minors], &major, &minor, &mut values);
        Self { major, _minor: minor, values, view }
    }

    /// The answer of `tnr_sparse_check`.
    pub fn fault(&self) -> Option<String> {
        // SAFETY: every part is readable over all of its array, which outlives the call.
        let status = unsafe { tnr_sparse_check(&self.view) };
        (status != tnr_status::OK).then(operations::refusal)
    }
}

fn lend<I: SparseIndex + TryFrom<i64>>(random: &mut Random) {
    let mut lent = Lent::<I>::draw(random);
    let fault = lent.fault();
    let is_right = fault.is_none();
    let a = lent.view;
    let (rows, cols) = (a.rows as usize, a.cols as usize);
    let null = ptr::null_mut();

    let mut dense = vec![7.0_f32; rows * cols];
    let out = view_mut(&mut dense, &[rows, cols]);
    // SAFETY: as above, and `out` is writable over all of `dense`.
    let status = unsafe { tnr_sparse_to_dense(null, &a, ptr::null(), &out) };
    assert_eq!(status == tnr_status::OK, is_right, "to_dense: {status:?}");

    for to in FORMATS {
        let blocks = blocks_for(to, &a);
        // SAFETY: as above.
        let converted = operations::made(unsafe { tnr_sparse_convert(null, to, &a, &blocks) });
        // Blocks may be refused for duplicates too.
        let may = is_right && (to != tnr_sparse_format::BSR || converted);
        assert_eq!(converted, may, "{:?} to {to:?}", a.format);
    }
    // A lone offset is that of no row, and what computes has no reason to look at it. A diagonal
    // ends where the shorter axis does, and with no entries there are no products at them.
    let is_seen = a.format == tnr_sparse_format::COO || lent.major.len() > 1;
    for (name, has_succeeded) in operations::compute(random, &a) {
        let may = is_right || !is_seen || ["diagonal", "sddmm"].contains(&name);
        assert!(may || !has_succeeded, "{name} of {:?}, where {fault:?}", a.format);
    }
    // Flags that may be wrong make a wrong result at worst.
    lent.view.flags = random.below(4) as u32;
    lent.values.fill(0.5);
    operations::compute(random, &lent.view);
}

#[test]
fn lent_views() {
    fuzz(1_500, |random| {
        lend::<i32>(random);
        lend::<i64>(random);
    });
}

/// A blob with a copy of the array; and the view says so.
pub fn held(part: &mut tnr_view) {
    // SAFETY: the part is readable over its bytes; its description of the blob's memory is right.
    unsafe {
        let blob = tnr_blob_copy(ptr::null_mut(), part.base, part.size_bytes as usize);
        part.owner = blob.addr() as u64;
        part.base = tnr_blob_data(blob);
        part.data = part.base;
    }
}

/// Says something of a matrix that is not so, or only of a part of it.
pub fn misdescribe(view: &mut tnr_sparse_view, random: &mut Random) {
    // Extents for which memory can be had would be waited for.
    let number = match random.number() {
        number if (64..1 << 50).contains(&number) => number % 64,
        number => number,
    };
    let part = match random.below(3) {
        0 => &mut view.major,
        1 => &mut view.minor,
        _ => &mut view.values,
    };
    match random.below(10) {
        0 => part.shape[0] = number,
        1 => part.shape[0] = part.shape[0].wrapping_sub(1),
        2 => part.data = part.data.wrapping_byte_offset(4 * (number % 32) as isize),
        3 => part.size_bytes = part.size_bytes.saturating_sub(random.below(9) as u64),
        4 => view.rows = number,
        5 => view.cols = number,
        6 => view.format = *random.pick(&FORMATS),
        7 => (view.block_rows, view.block_cols) = (number, 1 + random.below(4) as i64),
        8 => view.flags = random.below(4) as u32,
        _ => {
            // A range of the rows, more or less.
            let (first, count) = (random.below(4), random.below(4));
            let bytes = first * (view.major.dtype.0 as usize >> 8 & 0xff) / 8;
            view.major.data = view.major.data.wrapping_byte_add(bytes);
            view.major.shape[0] = count as i64 + 1;
            match view.format {
                tnr_sparse_format::CSC => view.cols = count as i64,
                _ => view.rows = (count as i64).wrapping_mul(view.block_rows),
            }
        }
    }
}

fn hold<I: SparseIndex + TryFrom<i64>>(random: &mut Random) {
    let lent = Lent::<I>::draw(random);
    let mut parts = lent.view;
    let is_right = lent.fault().is_none();
    for part in [&mut parts.major, &mut parts.minor, &mut parts.values] {
        held(part);
    }
    // SAFETY: every part is a view of a blob.
    let matrix = unsafe { tnr_sparse_create(&parts) };
    assert!(is_right || matrix.is_null());
    if !matrix.is_null() {
        let mut view = tnr_sparse_view { struct_size: parts.struct_size, ..parts };
        // SAFETY: the handle lives, and `view` has the size that it says.
        assert_eq!(unsafe { tnr_sparse_view_of(matrix, &mut view) }, tnr_status::OK);
        operations::compute(random, &view);
        for _ in 0..1 + random.below(3) {
            misdescribe(&mut view, random);
        }
        operations::compute(random, &view);
    }
    operations::made(matrix);
    for part in [&parts.major, &parts.minor, &parts.values] {
        // SAFETY: the one handle of each, not used again.
        let status = unsafe { tnr_blob_release(ptr::without_provenance_mut(part.owner as usize)) };
        assert_eq!(status, tnr_status::OK);
    }
}

/// Matrices that were checked when they were made, and views that say that they are of them.
#[test]
fn held_matrices() {
    fuzz(1_500, |random| {
        hold::<i32>(random);
        hold::<i64>(random);
    });
}
