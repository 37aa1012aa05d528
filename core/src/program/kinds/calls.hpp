// The functions that the table of kinds names, by families.
#pragma once

#include "program/operations.hpp"

namespace tenure {

// reductions.cpp
InferNode infer_normalize, infer_scan, infer_sum_to;
RunNode run_reduce, run_normalize, run_scan, run_sum_to;

// products.cpp
InferNode infer_matmul, infer_einsum;
RunNode run_matmul, run_einsum;

// quantized.cpp
InferNode infer_quantize, infer_quantize_dynamic, infer_dequantize, infer_quantized_matmul;
RunNode run_quantize, run_quantize_dynamic, run_dequantize, run_quantized_matmul;
ShapeNode shape_quantized, shape_quantize_dynamic, shape_quantized_matmul;

// quantized_images.cpp
InferNode infer_quantized_conv2d;
RunNode run_quantized_conv2d;

// images.cpp. The result of a convolution, of the dtype of `a`: throws for images, filters and
// windows that do not agree.
ArrayType infer_convolved(const ArrayType& a, const ArrayType& weight,
                          const tnr_conv2d_attributes& attributes);
InferNode infer_conv2d, infer_conv2d_transposed, infer_pool2d, infer_batch_norm,
    infer_pool2d_gradient, infer_conv2d_filters;
RunNode run_conv2d, run_conv2d_transposed, run_pool2d, run_batch_norm, run_pool2d_gradient,
    run_conv2d_filters;

// order.cpp
InferNode infer_sort, infer_top_k, infer_partition, infer_quantile, infer_searchsorted,
    infer_bincount, infer_histogram;
RunNode run_sort, run_top_k, run_partition, run_quantile, run_searchsorted, run_bincount,
    run_histogram;

// random.cpp
InferNode infer_random, infer_random_permutation;
RunNode run_random, run_random_permutation;

// sparse.cpp
InferNode infer_sparse_to_dense, infer_sparse_matmul, infer_sparse_sddmm, infer_sparse_scale,
    infer_sparse_softmax, infer_sparse_reduce, infer_sparse_norm, infer_sparse_diagonal,
    infer_sparse_solve, infer_sparse_accumulate;
RunNode run_sparse_to_dense, run_sparse_matmul, run_sparse_sddmm, run_sparse_scale,
    run_sparse_softmax, run_sparse_reduce, run_sparse_norm, run_sparse_diagonal, run_sparse_solve,
    run_sparse_accumulate;

// found.cpp
InferNode infer_nonzero, infer_masked_select;
FindNode find_nonzero, find_masked_select;

// shapes.cpp
ShapeNode shape_elementwise, shape_reduce, shape_as_first, shape_as_second, shape_matmul,
    shape_reshape, shape_permute, shape_broadcast, shape_slice, shape_concat, shape_pad, shape_take,
    shape_gather, shape_put, shape_scatter, shape_shaped, shape_bincount, shape_histogram,
    shape_found, shape_top_k, shape_partition, shape_sum_to;
AdaptNode adapt_normalize, adapt_images, adapt_pool2d_gradient, adapt_conv2d_filters;

// movement.cpp
SeeNode view_reshaped, view_permuted, view_broadcast, view_slice;
InferNode infer_concat, infer_pad, infer_take, infer_gather, infer_put, infer_scatter,
    infer_triangular, infer_extent;
RunNode run_concat, run_pad, run_take, run_gather, run_put, run_scatter, run_triangular, run_extent;

}  // namespace tenure
