//! The table of the kinds of operations that the library counts: one row for each.
//!
//! `rust/headergen` generates from it: the constants of `tnr_operation` and their documentation
//! (`src/codes.rs`, `tenure.h`), and the list that the crate `tenure` makes its enumeration
//! `Operation` of.
//!
//! Codes are those of the ABI: frozen, never reused, the next one for a new row.

/// A kind of operation.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// The constant of the ABI.
    pub name: &'static str,
    /// Code in the ABI.
    pub code: u16,
    /// Doc comment in the ABI: the functions that count here.
    pub doc: &'static str,
    /// The name in the crate.
    pub rust: &'static str,
    /// Doc comment in the crate.
    pub rust_doc: &'static str,
}

/// Every kind, in the order of the codes.
pub const COUNTERS: &[Counter] = &[
    Counter {
        name: "COPY",
        code: 1,
        doc: "`tnr_copy`.",
        rust: "CopyInto",
        rust_doc: "[`copy_into`](crate::ops::copy_into), and the `to_` methods of what is not \
                   contiguous. It is not called as the trait of the prelude is, which compilers \
                   would then spell out in messages.",
    },
    Counter {
        name: "CAST",
        code: 2,
        doc: "`tnr_cast`.",
        rust: "Cast",
        rust_doc: "[`cast`](crate::ops::cast).",
    },
    Counter {
        name: "FILL",
        code: 3,
        doc: "`tnr_fill`.",
        rust: "Fill",
        rust_doc: "[`fill`](crate::ops::fill()), [`full`](crate::Tensor::full), and inside a \
                   context [`zeros`](crate::Tensor::zeros).",
    },
    Counter {
        name: "UNARY",
        code: 4,
        doc: "`tnr_unary`.",
        rust: "Unary",
        rust_doc: "Arithmetic on one input: [`exp`](crate::ops::exp) and its like; on the entries \
                   of a sparse matrix too.",
    },
    Counter {
        name: "BINARY",
        code: 5,
        doc: "`tnr_binary`, `tnr_binary_scalar`, `tnr_scalar_binary`.",
        rust: "Binary",
        rust_doc: "Arithmetic on two inputs: [`add`](crate::ops::add) and its like.",
    },
    Counter {
        name: "COMPARE",
        code: 6,
        doc: "`tnr_compare`, `tnr_compare_scalar`.",
        rust: "Compare",
        rust_doc: "Comparisons: [`lt`](crate::ops::lt) and its like.",
    },
    Counter {
        name: "SELECT",
        code: 7,
        doc: "`tnr_select`.",
        rust: "Select",
        rust_doc: "[`select`](crate::ops::select()).",
    },
    Counter {
        name: "REDUCE",
        code: 8,
        doc: "`tnr_reduce`.",
        rust: "Reduce",
        rust_doc: "Reductions: [`sum`](crate::ops::sum) and its like.",
    },
    Counter {
        name: "SPARSE_FROM_DENSE",
        code: 9,
        doc: "`tnr_sparse_from_dense`, and with top k or dropout.",
        rust: "SparseFromDense",
        rust_doc: "From dense to sparse: [`Sparsify`](crate::Sparsify), \
                   [`sparse_relu`](crate::sparse::sparse_relu), `to_csr` and their like.",
    },
    Counter {
        name: "SPARSE_TO_DENSE",
        code: 10,
        doc: "`tnr_sparse_to_dense`.",
        rust: "SparseToDense",
        rust_doc: "[`to_dense`](crate::CsrView::to_dense) of sparse matrices.",
    },
    Counter {
        name: "SPARSE_CONVERT",
        code: 11,
        doc: "`tnr_sparse_convert`, `tnr_sparse_select`, `tnr_sparse_slice`.",
        rust: "SparseConvert",
        rust_doc: "Among sparse formats, [`to_csc`](crate::CsrView::to_csc) and its like; parts \
                   of matrices, [`to_block`](crate::CsrView::to_block) and its like.",
    },
    Counter {
        name: "SPARSE_COALESCE",
        code: 12,
        doc: "`tnr_sparse_coalesce`.",
        rust: "SparseCoalesce",
        rust_doc: "[`coalesce`](crate::CsrView::coalesce).",
    },
    Counter {
        name: "SPARSE_PRUNE",
        code: 13,
        doc: "`tnr_sparse_prune`, `tnr_sparse_top_k`.",
        rust: "SparsePrune",
        rust_doc: "[`prune`](crate::CsrView::prune) and [`top_k`](crate::CsrView::top_k).",
    },
    Counter {
        name: "SPARSE_PRODUCT",
        code: 14,
        doc: "`tnr_sparse_product`, `tnr_sparse_product_masked`.",
        rust: "SparseProduct",
        rust_doc: "[`product`](crate::CsrView::product) of two sparse matrices, masked or not.",
    },
    Counter {
        name: "SPARSE_MATMUL",
        code: 15,
        doc: "`tnr_sparse_matmul`.",
        rust: "SparseMatmul",
        rust_doc: "Sparse times dense: [`matmul`](crate::CsrView::matmul) and its like.",
    },
    Counter {
        name: "SPARSE_SDDMM",
        code: 16,
        doc: "`tnr_sparse_sddmm`.",
        rust: "SparseSddmm",
        rust_doc: "[`sddmm`](crate::CsrView::sddmm).",
    },
    Counter {
        name: "SPARSE_BINARY",
        code: 17,
        doc: "`tnr_sparse_binary`.",
        rust: "SparseBinary",
        rust_doc: "Arithmetic on two sparse matrices: [`add`](crate::CsrView::add) and its like.",
    },
    Counter {
        name: "SPARSE_ACCUMULATE",
        code: 18,
        doc: "`tnr_sparse_accumulate`.",
        rust: "SparseAccumulate",
        rust_doc: "[`add_to`](crate::CsrView::add_to) dense memory.",
    },
    Counter {
        name: "SPARSE_SCALE",
        code: 19,
        doc: "`tnr_sparse_scale`.",
        rust: "SparseScale",
        rust_doc: "[`scale_rows`](crate::CsrViewMut::scale_rows), \
                   [`scale_cols`](crate::CsrViewMut::scale_cols).",
    },
    Counter {
        name: "SPARSE_SOFTMAX",
        code: 20,
        doc: "`tnr_sparse_softmax`.",
        rust: "SparseSoftmax",
        rust_doc: "[`softmax_rows`](crate::CsrViewMut::softmax_rows).",
    },
    Counter {
        name: "SPARSE_REDUCE",
        code: 21,
        doc: "`tnr_sparse_reduce`, `tnr_sparse_norm`, `tnr_sparse_diagonal`.",
        rust: "SparseReduce",
        rust_doc: "Reductions of sparse matrices, their norms and their diagonal.",
    },
    Counter {
        name: "SPARSE_SOLVE",
        code: 22,
        doc: "`tnr_sparse_solve`.",
        rust: "SparseSolve",
        rust_doc: "[`solve_triangular`](crate::CsrView::solve_triangular).",
    },
    Counter {
        name: "SPARSE_PACK",
        code: 23,
        doc: "`tnr_packed_create`.",
        rust: "SparsePack",
        rust_doc: "[`pack`](crate::CsrView::pack).",
    },
    Counter {
        name: "SPARSE_PACKED_MATMUL",
        code: 24,
        doc: "`tnr_packed_matmul`.",
        rust: "SparsePackedMatmul",
        rust_doc: "[`matmul`](crate::PackedMatrix::matmul) of packed matrices.",
    },
    Counter {
        name: "MATMUL",
        code: 25,
        doc: "`tnr_matmul`.",
        rust: "Matmul",
        rust_doc: "[`matmul`](crate::linalg::matmul) of dense matrices.",
    },
    Counter {
        name: "CONV2D",
        code: 26,
        doc: "`tnr_conv2d`.",
        rust: "Conv2d",
        rust_doc: "[`conv2d`](crate::nn::conv2d) of images.",
    },
    Counter {
        name: "EINSUM",
        code: 27,
        doc: "`tnr_einsum`. Its bytes are counted by the operations that it is made of.",
        rust: "Einsum",
        rust_doc: "[`einsum`](crate::linalg::einsum): its calls. The bytes are those of the \
                   operations that it is made of, which count their calls too.",
    },
    Counter {
        name: "CONV2D_TRANSPOSED",
        code: 28,
        doc: "`tnr_conv2d_transposed`.",
        rust: "Conv2dTransposed",
        rust_doc: "[`conv2d_transposed`](crate::nn::conv2d_transposed) of images.",
    },
    Counter {
        name: "POOL2D",
        code: 29,
        doc: "`tnr_pool2d`.",
        rust: "Pool2d",
        rust_doc: "[`max_pool2d`](crate::nn::max_pool2d), [`avg_pool2d`](crate::nn::avg_pool2d) \
                   and those of any size.",
    },
    Counter {
        name: "BATCH_NORM",
        code: 30,
        doc: "`tnr_batch_norm`.",
        rust: "BatchNorm",
        rust_doc: "[`batch_norm`](crate::nn::batch_norm).",
    },
    Counter {
        name: "FACTOR_PACK",
        code: 31,
        doc: "`tnr_factor_create`.",
        rust: "FactorPack",
        rust_doc: "[`pack`](crate::PackedFactor::pack) of a right factor.",
    },
    Counter {
        name: "FACTOR_MATMUL",
        code: 32,
        doc: "`tnr_factor_matmul`.",
        rust: "FactorMatmul",
        rust_doc: "[`matmul_packed`](crate::linalg::matmul_packed).",
    },
    Counter {
        name: "SPARSE_FROM_MATMUL",
        code: 33,
        doc: "`tnr_sparse_from_matmul`.",
        rust: "SparseFromMatmul",
        rust_doc: "[`matmul_csr`](crate::linalg::matmul_csr).",
    },
    Counter {
        name: "TERNARY",
        code: 34,
        doc: "`tnr_ternary`.",
        rust: "Ternary",
        rust_doc: "[`fma`](crate::ops::fma), [`clamp`](crate::ops::clamp) and the other operations \
                   on three inputs.",
    },
    Counter {
        name: "CONCAT",
        code: 35,
        doc: "`tnr_concat`.",
        rust: "Concat",
        rust_doc: "[`concat`](crate::ops::concat) and [`stack`](crate::ops::stack).",
    },
    Counter {
        name: "PAD",
        code: 36,
        doc: "`tnr_pad`.",
        rust: "Pad",
        rust_doc: "[`pad`](crate::ops::pad), [`tile`](crate::ops::tile) and \
                   [`roll`](crate::ops::roll).",
    },
    Counter {
        name: "TAKE",
        code: 37,
        doc: "`tnr_take`, `tnr_gather`.",
        rust: "Take",
        rust_doc: "[`take`](crate::ops::take), [`gather`](crate::ops::gather) and \
                   [`repeat`](crate::ops::repeat).",
    },
    Counter {
        name: "PUT",
        code: 38,
        doc: "`tnr_put`, `tnr_scatter`.",
        rust: "Put",
        rust_doc: "[`put`](crate::ops::put), [`scatter`](crate::ops::scatter), their like and \
                   [`one_hot`](crate::nn::one_hot).",
    },
    Counter {
        name: "NONZERO",
        code: 39,
        doc: "`tnr_nonzero`, `tnr_masked_select`.",
        rust: "Nonzero",
        rust_doc: "[`nonzero`](crate::ops::nonzero) and \
                   [`masked_select`](crate::ops::masked_select).",
    },
    Counter {
        name: "TRIANGULAR",
        code: 40,
        doc: "`tnr_triangular`.",
        rust: "Triangular",
        rust_doc: "[`tril`](crate::ops::tril) and [`triu`](crate::ops::triu).",
    },
    Counter {
        name: "NORMALIZE",
        code: 41,
        doc: "`tnr_normalize`.",
        rust: "Normalize",
        rust_doc: "[`softmax`](crate::nn::softmax), [`layer_norm`](crate::nn::layer_norm) and \
                   others over axes.",
    },
    Counter {
        name: "SCAN",
        code: 42,
        doc: "`tnr_scan`.",
        rust: "Scan",
        rust_doc: "[`cumsum`](crate::ops::cumsum) and others along an axis.",
    },
    Counter {
        name: "MOMENTS",
        code: 43,
        doc: "`tnr_moments`.",
        rust: "Moments",
        rust_doc: "[`moments`](crate::ops::moments).",
    },
    Counter {
        name: "SORT",
        code: 44,
        doc: "`tnr_sort`, `tnr_top_k`, `tnr_partition`, `tnr_quantile`.",
        rust: "Sort",
        rust_doc: "[`sort`](crate::ops::sort), [`top_k`](crate::ops::top_k), \
                   [`partition`](crate::ops::partition), [`quantile`](crate::ops::quantile) and \
                   those alike.",
    },
    Counter {
        name: "SEARCHSORTED",
        code: 45,
        doc: "`tnr_searchsorted`.",
        rust: "Searchsorted",
        rust_doc: "[`searchsorted`](crate::ops::searchsorted).",
    },
    Counter {
        name: "UNIQUE",
        code: 46,
        doc: "`tnr_unique`.",
        rust: "Unique",
        rust_doc: "[`unique`](crate::ops::unique).",
    },
    Counter {
        name: "HISTOGRAM",
        code: 47,
        doc: "`tnr_bincount`, `tnr_histogram`.",
        rust: "Histogram",
        rust_doc: "[`bincount`](crate::ops::bincount), [`histogram`](crate::ops::histogram).",
    },
    Counter {
        name: "RANDOM",
        code: 48,
        doc: "`tnr_random`, `tnr_random_permutation`.",
        rust: "Random",
        rust_doc: "Tensors of random numbers: [`uniform`](crate::random::Generator::uniform) and \
                   its like.",
    },
    Counter {
        name: "SPARSE_CONCAT",
        code: 49,
        doc: "`tnr_sparse_concat`.",
        rust: "SparseConcat",
        rust_doc: "[`vstack`](crate::sparse::vstack), [`hstack`](crate::sparse::hstack) and \
                   [`block_diag`](crate::sparse::block_diag).",
    },
    Counter {
        name: "SPARSE_KRON",
        code: 50,
        doc: "`tnr_sparse_kron`.",
        rust: "SparseKron",
        rust_doc: "[`kron`](crate::sparse::kron).",
    },
    Counter {
        name: "SPARSE_TRIANGULAR",
        code: 51,
        doc: "`tnr_sparse_triangular`.",
        rust: "SparseTriangular",
        rust_doc: "[`tril`](crate::CsrView::tril) and [`triu`](crate::CsrView::triu) of sparse \
                   matrices.",
    },
    Counter {
        name: "EVALUATE",
        code: 52,
        doc: "`tnr_evaluate`, and element-wise steps of programs.",
        rust: "Evaluate",
        rust_doc: "Expressions: [`eval`](crate::Expr::eval), \
                   [`eval_into`](crate::Expr::eval_into) and [`update`](crate::Tensor::update).",
    },
    Counter {
        name: "POOL2D_GRADIENT",
        code: 53,
        doc: "`tnr_pool2d_gradient`.",
        rust: "Pool2dGradient",
        rust_doc: "Gradients of poolings.",
    },
    Counter {
        name: "CONV2D_FILTERS",
        code: 54,
        doc: "`tnr_conv2d_filters`.",
        rust: "Conv2dFilters",
        rust_doc: "Gradients of the filters of convolutions.",
    },
    Counter {
        name: "QUANTIZE",
        code: 55,
        doc: "`tnr_quantize`, `tnr_quantize_dynamic`.",
        rust: "Quantize",
        rust_doc: "Rounding to integers with scales.",
    },
    Counter {
        name: "DEQUANTIZE",
        code: 56,
        doc: "`tnr_dequantize`.",
        rust: "Dequantize",
        rust_doc: "Numbers of integers with scales.",
    },
    Counter {
        name: "QUANTIZED_MATMUL",
        code: 57,
        doc: "`tnr_quantized_matmul`, `tnr_factor_quantized_matmul`.",
        rust: "QuantizedMatmul",
        rust_doc: "Products of quantized factors.",
    },
    Counter {
        name: "QUANTIZED_CONV2D",
        code: 58,
        doc: "`tnr_quantized_conv2d`.",
        rust: "QuantizedConv2d",
        rust_doc: "Convolutions of quantized images.",
    },
];
