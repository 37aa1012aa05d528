//! A span of the crate `tracing` for each operation, named as the function that the user calls.
//!
//! The level is read first, inline: where no subscriber listens, that one load is all.

use std::fmt::Debug;

use tenure_sys::{
    for_each_binary, for_each_compare, for_each_normalize, for_each_reduce, for_each_scan,
    for_each_ternary, for_each_unary,
};
use tenure_sys::{
    tnr_binary_op, tnr_compare_op, tnr_normalize_op, tnr_orientation, tnr_packed_info,
    tnr_random_distribution, tnr_reduce_op, tnr_scan_op, tnr_sparse_format, tnr_sparse_join,
    tnr_sparse_norm_kind, tnr_sparse_order, tnr_sparse_view, tnr_ternary_op, tnr_triangle,
    tnr_unary_op, tnr_view,
};
use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing::span::EnteredSpan;

use crate::dtype::DType;
use crate::layout;

/// Held while the operation runs.
pub(crate) type Traced = Option<EnteredSpan>;

/// The operand that sizes the work: the output, or the input of a reduction; a sparse operand,
/// where there is one.
trait Work {
    fn dtype(&self) -> DType;
    fn shape(&self) -> impl Debug;
    fn bytes(&self) -> usize;
}

impl Work for tnr_view {
    fn dtype(&self) -> DType {
        DType::from_raw(self.dtype)
    }
    fn shape(&self) -> impl Debug {
        &self.shape[..self.rank as usize]
    }
    fn bytes(&self) -> usize {
        self.dtype().size_bytes() * layout::count(self)
    }
}

impl Work for tnr_sparse_view {
    fn dtype(&self) -> DType {
        self.values.dtype()
    }
    fn shape(&self) -> impl Debug {
        [self.rows, self.cols]
    }
    fn bytes(&self) -> usize {
        self.major.bytes() + self.minor.bytes() + self.values.bytes()
    }
}

impl Work for tnr_packed_info {
    fn dtype(&self) -> DType {
        DType::from_raw(self.dtype)
    }
    fn shape(&self) -> impl Debug {
        [self.rows, self.cols]
    }
    fn bytes(&self) -> usize {
        self.size_bytes as usize
    }
}

/// An entered span.
macro_rules! span {
    ($name:literal, $work:expr) => {
        tracing::span!(
            target: "tenure",
            Level::TRACE,
            $name,
            dtype = $work.dtype().name(),
            shape = ?$work.shape(),
            bytes = $work.bytes(),
        )
        .entered()
    };
}

/// A function that enters a span if anybody listens, for each family of operations on this work:
/// one that has codes, or the only one of its kind.
macro_rules! families {
    ($work:ident; $($family:ident $(($codes:ident))?: $($($code:ident)? $name:literal)*;)*) => {$(
        #[inline]
        pub(crate) fn $family($(op: $codes,)? view: &$work) -> Traced {
            #[cold]
            #[inline(never)]
            fn enter($(op: $codes,)? view: &$work) -> Traced {
                families!(@enter view $($codes op)?; $($($code)? $name)*)
            }
            if Level::TRACE <= LevelFilter::current() {
                enter($(families!(@first op $codes),)? view)
            } else {
                None
            }
        }
    )*};
    (@first $op:ident $codes:ident) => { $op };
    (@enter $view:ident; $name:literal) => { Some(span!($name, $view)) };
    (@enter $view:ident $codes:ident $op:ident; $($code:ident $name:literal)*) => {
        match $op {
            $($codes::$code => Some(span!($name, $view)),)*
            _ => None,
        }
    };
}

families! {
    tnr_view;
    copy: "copy";
    cast: "cast";
    fill: "fill";
    evaluate: "evaluate";
    program: "program";
    select: "select";
    dense_matmul: "matmul";
    packed_factor_matmul: "matmul_packed";
    pack_factor: "pack_factor";
    from_matmul: "matmul_csr";
    conv2d: "conv2d";
    einsum: "einsum";
    conv2d_transposed: "conv2d_transposed";
    pool2d(tnr_reduce_op): MAX "max_pool2d" MEAN "avg_pool2d";
    batch_norm: "batch_norm";
    quantize: "quantize";
    dequantize: "dequantize";
    quantized_matmul: "quantized_matmul";
    quantized_conv2d: "quantized_conv2d";
    concat: "concat";
    pad: "pad";
    take: "take";
    put: "put";
    nonzero: "nonzero";
    masked_select: "masked_select";
    triangular: "triangular";
    random(tnr_random_distribution):
        UNIFORM "uniform" NORMAL "normal" INTEGERS "integers" BERNOULLI "bernoulli";
    random_permutation: "permutation";
    sort: "sort";
    dense_top_k: "top_k";
    partition: "partition";
    quantile: "quantile";
    searchsorted: "searchsorted";
    unique: "unique";
    bincount: "bincount";
    histogram: "histogram";
    moments: "moments";
    from_dense(tnr_sparse_format): COO "to_coo" CSR "to_csr" CSC "to_csc" BSR "to_bsr";
    from_dense_top_k(tnr_sparse_order):
        VALUE "sparse_top_k" MAGNITUDE "sparse_top_k_in_magnitude";
    dropout: "sparse_dropout";
}

/// The families of the table of operations.
macro_rules! unary {
    ($($op:ident $name:literal $module:ident: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident; $what:literal, errors $also:literal,
        example $($a:literal),+ => $result:literal;)*) => {
        families! { tnr_view; unary(tnr_unary_op): $($op $name)*; }
    };
}
macro_rules! binary {
    ($($op:ident $name:literal: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident; $what:literal, errors $also:literal,
        example $($a:literal),+ => $result:literal;)*) => {
        families! { tnr_view; binary(tnr_binary_op): $($op $name)*; }
    };
}
macro_rules! ternary {
    ($($op:ident $name:literal: $new:ident, $into:ident, $assign:ident,
        [$($generic:tt)*] $in:ident -> $out:ident; $what:literal, errors $also:literal,
        example $($a:literal),+ => $result:literal;)*) => {
        families! { tnr_view; ternary(tnr_ternary_op): $($op $name)*; }
    };
}
macro_rules! compare {
    ($($op:ident $name:literal: $new:ident, $into:ident, $bound:ident;
        $what:literal => $result:literal;)*) => {
        families! { tnr_view; compare(tnr_compare_op): $($op $name)*; }
    };
}
macro_rules! reduce {
    ($($op:ident $name:literal: $new:ident, $into:ident, [$($generic:tt)*] => $result_type:ty
        $(, [$field:ident: $field_type:ty])?; $what:literal, errors $also:literal,
        example $a:literal, $arguments:literal => $result:literal;)*) => {
        families! { tnr_view; reduce(tnr_reduce_op): $($op $name)*; }
    };
}
macro_rules! normalize {
    ($($op:ident $name:literal: $new:ident;)*) => {
        families! { tnr_view; normalize(tnr_normalize_op): $($op $name)*; }
    };
}
macro_rules! scan {
    ($($op:ident $name:literal: $new:ident;)*) => {
        families! { tnr_view; scan(tnr_scan_op): $($op $name)*; }
    };
}
for_each_unary!(unary);
for_each_binary!(binary);
for_each_ternary!(ternary);
for_each_compare!(compare);
for_each_reduce!(reduce);
for_each_normalize!(normalize);
for_each_scan!(scan);

families! {
    tnr_sparse_view;
    to_dense: "to_dense";
    convert(tnr_sparse_format): COO "to_coo" CSR "to_csr" CSC "to_csc" BSR "to_bsr";
    coalesce: "coalesce";
    prune: "prune";
    top_k(tnr_sparse_order): VALUE "top_k" MAGNITUDE "top_k_in_magnitude";
    product: "product";
    product_masked: "product_masked";
    sparse_select: "select";
    slice: "slice";
    sparse_concat(tnr_sparse_join): ROWS "vstack" COLS "hstack" DIAGONAL "block_diag";
    kron: "kron";
    sparse_triangular(tnr_triangle): LOWER "tril" UPPER "triu";
    matmul(tnr_orientation): AS_IS "matmul" TRANSPOSED "t_matmul";
    sddmm: "sddmm";
    sparse_binary(tnr_binary_op):
        ADD "add" SUB "sub" MUL "mul" MIN "minimum" MAX "maximum";
    accumulate: "add_to";
    scale: "scale";
    softmax: "softmax_rows";
    sparse_reduce(tnr_reduce_op): SUM "sum" MIN "min" MAX "max" COUNT "count_nonzero";
    norm(tnr_sparse_norm_kind): ONE "norm_1" INFINITY "norm_inf" FROBENIUS "norm_frobenius";
    diagonal: "diagonal";
    solve: "solve_triangular";
    pack: "pack";
}

families! {
    tnr_packed_info;
    packed_matmul: "packed_matmul";
}
