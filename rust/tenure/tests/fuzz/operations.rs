//! Every C function that computes with a sparse matrix, on one.

use std::{ffi::CStr, ptr};

use tenure_sys::operations::{Kind, OPERATIONS};
use tenure_sys::*;

use super::Random;
use super::lent::{view, view_mut};

pub const FORMATS: [tnr_sparse_format; 4] = [
    tnr_sparse_format::COO,
    tnr_sparse_format::CSR,
    tnr_sparse_format::CSC,
    tnr_sparse_format::BSR,
];

/// The code of any operation of a kind.
pub fn code(random: &mut Random, kind: Kind) -> i32 {
    let rows = OPERATIONS.iter().filter(|row| row.kind == kind);
    *random.pick(&rows.map(|row| row.code).collect::<Vec<_>>())
}

/// Gives up what an operation made; whether it made something, which has to be well-formed.
pub fn made(matrix: *mut tnr_sparse) -> bool {
    // SAFETY: NULL, or the only handle, not used again; `view` is of the size that it says.
    unsafe {
        if !matrix.is_null() {
            let mut view: tnr_sparse_view = std::mem::zeroed();
            view.struct_size = size_of::<tnr_sparse_view>() as u64;
            assert_eq!(tnr_sparse_view_of(matrix, &mut view), tnr_status::OK);
            // Without an owner all arrays are looked at again; flags may be those of the operand.
            (view.owner, view.flags) = (0, 0);
            assert_eq!(tnr_sparse_check(&view), tnr_status::OK);
        }
        assert_eq!(tnr_sparse_release(matrix), tnr_status::OK);
    }
    !matrix.is_null()
}

/// The message of this thread's last refusal.
pub fn refusal() -> String {
    // SAFETY: the error is the thread's own until its next call.
    let message = unsafe { CStr::from_ptr((*tnr_last_error()).message.as_ptr()) };
    message.to_string_lossy().into_owned()
}

/// Attributes of a conversion to a format: with the blocks of `a` where the format has any.
pub fn blocks_for(to: tnr_sparse_format, a: &tnr_sparse_view) -> tnr_sparse_convert_attributes {
    let has_blocks = to == tnr_sparse_format::BSR;
    tnr_sparse_convert_attributes {
        struct_size: size_of::<tnr_sparse_convert_attributes>() as u64,
        index_dtype: tnr_dtype(0),
        flags: 0,
        block_rows: if has_blocks { a.block_rows } else { 0 },
        block_cols: if has_blocks { a.block_cols } else { 0 },
    }
}

pub fn number(number: f32) -> tnr_scalar {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&number.to_ne_bytes());
    tnr_scalar { dtype: tnr_dtype::F32, reserved: 0, bytes }
}

/// Extents of dense operands: those that the matrix says it has, if there can be such.
fn extents(a: &tnr_sparse_view) -> (usize, usize) {
    let extent = |number: i64| usize::try_from(number).ok().filter(|extent| *extent < 4096);
    extent(a.rows).zip(extent(a.cols)).unwrap_or((3, 2))
}

/// Calls each operation; its name, and whether it has succeeded. `a` is a view whose values, of
/// f32, may be written; the rest of it is not written, and may be wrong.
pub fn compute(random: &mut Random, a: &tnr_sparse_view) -> Vec<(&'static str, bool)> {
    let mut done = makes(random, a);
    done.extend(writes(random, a));
    done.extend(multiplies(random, a));
    done
}

/// Operations that make a matrix.
fn makes(random: &mut Random, a: &tnr_sparse_view) -> Vec<(&'static str, bool)> {
    let null = ptr::null_mut();
    let combine = tnr_sparse_combine(1 + random.below(4) as i32);
    let order = tnr_sparse_order(1 + random.below(2) as i32);
    let pruned = tnr_sparse_prune_attributes {
        struct_size: size_of::<tnr_sparse_prune_attributes>() as u64,
        predicate: tnr_sparse_predicate(random.below(3) as i32),
        flags: 0,
        threshold: number(0.5),
    };
    let k = random.below(4) as i64;
    let of_two = tnr_binary_op(code(random, Kind::Binary));
    let of_one = tnr_unary_op(code(random, Kind::Unary));
    let coalesced = tnr_sparse_view { flags: 3, ..*a };
    let listed: Vec<i64> = (0..random.below(9)).map(|_| random.below(5) as i64 - 1).collect();
    let [first, count] = [0; 2].map(|_: i32| random.below(5) as i64);
    let to = *random.pick(&FORMATS);
    let join = tnr_sparse_join(1 + random.below(3) as i32);
    let triangle = tnr_triangle(1 + random.below(2) as i32);
    let pair = [ptr::from_ref(a); 2];
    // SAFETY: every part of `a` is readable where it says that it is, or belongs to a blob; all of
    // it outlives the calls.
    unsafe {
        let list = view(&listed, &[listed.len()]);
        vec![
            ("convert", made(tnr_sparse_convert(null, to, a, ptr::null()))),
            ("coalesce", made(tnr_sparse_coalesce(null, combine, a, ptr::null()))),
            ("prune", made(tnr_sparse_prune(null, a, &pruned))),
            ("top_k", made(tnr_sparse_top_k(null, order, a, k, ptr::null()))),
            ("product", made(tnr_sparse_product(null, a, a, ptr::null()))),
            ("masked", made(tnr_sparse_product_masked(null, a, a, a, ptr::null()))),
            ("rows", made(tnr_sparse_select(null, a, &list, ptr::null(), ptr::null()))),
            ("columns", made(tnr_sparse_select(null, a, ptr::null(), &list, ptr::null()))),
            ("slice", made(tnr_sparse_slice(null, a, first, count, count, first, ptr::null()))),
            ("concat", made(tnr_sparse_concat(null, join, pair.as_ptr(), 2, ptr::null()))),
            ("kron", made(tnr_sparse_kron(null, a, a, ptr::null()))),
            ("triangular", made(tnr_sparse_triangular(null, triangle, a, ptr::null()))),
            ("binary", made(tnr_sparse_binary(null, of_two, &coalesced, &coalesced, ptr::null()))),
            ("unary", made(tnr_sparse_unary(null, of_one, a, ptr::null()))),
        ]
    }
}

/// Operations that write a dense result, and those that write the values of the matrix.
fn writes(random: &mut Random, a: &tnr_sparse_view) -> Vec<(&'static str, bool)> {
    let null = ptr::null_mut();
    let (rows, cols) = extents(a);
    let mut dense = vec![1.0_f32; rows * cols];
    let mut line = vec![1.0_f32; rows.max(cols)];
    let factors = line.clone();
    let values = tnr_sparse_view_mut { view: *a };
    let axis = random.below(2);
    let across = [rows, cols][axis];
    let reduction = *random.pick(&[
        tnr_reduce_op::SUM,
        tnr_reduce_op::MIN,
        tnr_reduce_op::MAX,
        tnr_reduce_op::COUNT,
    ]);
    let mut counts = vec![0_i64; rows.max(cols)];
    let is_count = reduction == tnr_reduce_op::COUNT;
    let kept = [cols, rows][axis];
    let reduced =
        if is_count { view_mut(&mut counts, &[kept]) } else { view_mut(&mut line, &[kept]) };
    let kind = tnr_sparse_norm_kind(1 + random.below(3) as i32);
    let mut norm = 0.0;
    let unique = tnr_sparse_view { flags: a.flags | 2, ..*a };
    let shape = [rows, cols];
    // SAFETY: as in `makes`; outputs are writable over all of their memory.
    let mut done = unsafe {
        let out = view_mut(&mut dense, &shape);
        let factors = view(&factors, &[across]);
        vec![
            ("to_dense", tnr_sparse_to_dense(null, a, ptr::null(), &out)),
            ("accumulate", tnr_sparse_accumulate(null, a, ptr::null(), &out)),
            (
                "reduce",
                tnr_sparse_reduce(null, reduction, &unique, 1 << axis, ptr::null(), &reduced),
            ),
            ("norm", tnr_sparse_norm(null, kind, &unique, ptr::null(), &mut norm)),
            ("scale", tnr_sparse_scale(null, &factors, axis as u32, ptr::null(), &values)),
            ("softmax", tnr_sparse_softmax(null, ptr::null(), &values)),
        ]
    };
    let diagonal = view_mut(&mut line, &[rows.min(cols)]);
    // SAFETY: as above.
    done.push(("diagonal", unsafe { tnr_sparse_diagonal(null, a, ptr::null(), &diagonal) }));
    done.into_iter().map(|(name, status)| (name, status == tnr_status::OK)).collect()
}

/// Products with dense matrices, and systems of equations.
fn multiplies(random: &mut Random, a: &tnr_sparse_view) -> Vec<(&'static str, bool)> {
    let null = ptr::null_mut();
    let (rows, cols) = extents(a);
    let width = *random.pick(&[1, 3, 16, 33]);
    let (x, y) = (vec![1.0_f32; rows * width], vec![1.0_f32; width * cols]);
    let (mut of_rows, mut of_cols) = (x.clone(), y.clone());
    let mut solved = x.clone();
    let mut entries = vec![0.0_f32; (a.values.size_bytes / 4) as usize];
    let shape: Vec<usize> =
        a.values.shape[..a.values.rank as usize].iter().map(|extent| *extent as usize).collect();
    let (one, zero) = (number(1.0), number(0.0));
    let (as_is, transposed) = (tnr_orientation::AS_IS, tnr_orientation::TRANSPOSED);
    let side = random.below(4) as u32;
    let mut done = Vec::new();
    // SAFETY: as in `writes`. The shape of `entries` is checked against its bytes.
    unsafe {
        let left = view(&x, &[rows, width]);
        let right = view(&y, &[cols, width]);
        let out = view_mut(&mut of_rows, &[rows, width]);
        done.push((
            "matmul",
            tnr_sparse_matmul(null, as_is, &one, a, &right, &zero, ptr::null(), &out),
        ));
        let out = view_mut(&mut of_cols, &[cols, width]);
        done.push((
            "transposed",
            tnr_sparse_matmul(null, transposed, &one, a, &left, &zero, ptr::null(), &out),
        ));
        let mut out = view_mut(&mut entries, &[]);
        out.view.rank = shape.len() as u32;
        let mut stride = 1_i64;
        for axis in (0..shape.len()).rev() {
            out.view.shape[axis] = shape[axis] as i64;
            out.view.strides[axis] = stride;
            stride = stride.wrapping_mul(shape[axis] as i64);
        }
        let right = view(&y, &[width, cols]);
        done.push((
            "sddmm",
            tnr_sparse_sddmm(
                null,
                &one,
                a,
                &left,
                &right,
                &tnr_sparse_sddmm_attributes {
                    struct_size: size_of::<tnr_sparse_sddmm_attributes>() as u64,
                    flags: side & 1,
                    reserved: 0,
                },
                &out,
            ),
        ));
        let out = view_mut(&mut solved, &[rows, width]);
        done.push((
            "solve",
            tnr_sparse_solve(
                null,
                a,
                &left,
                &tnr_sparse_solve_attributes {
                    struct_size: size_of::<tnr_sparse_solve_attributes>() as u64,
                    flags: side,
                    reserved: 0,
                },
                &out,
            ),
        ));
    }
    done.into_iter().map(|(name, status)| (name, status == tnr_status::OK)).collect()
}
