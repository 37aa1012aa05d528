// The derivatives of the kinds of nodes.
//
// Each gives a part of the gradient of every operand that wants one. Conventions at points where a
// function has no derivative are those of docs/operations.md.
#pragma once

#include "program/operations.hpp"

namespace tenure {

// elementwise_derivatives.cpp
DeriveNode derive_unary, derive_binary, derive_ternary, derive_select, derive_cast;

// reduction_derivatives.cpp
DeriveNode derive_reduce, derive_normalize, derive_scan, derive_sum_to;

// movement_derivatives.cpp
DeriveNode derive_reshape, derive_permute, derive_broadcast, derive_slice, derive_concat,
    derive_pad, derive_take, derive_gather, derive_put, derive_scatter, derive_triangular,
    derive_masked_select;

// product_derivatives.cpp
DeriveNode derive_matmul, derive_einsum;

// order_derivatives.cpp
DeriveNode derive_ordered, derive_quantile, derive_bincount;

// image_derivatives.cpp
DeriveNode derive_batch_norm, derive_conv2d, derive_conv2d_transposed, derive_conv2d_filters,
    derive_pool2d, derive_pool2d_gradient;

// sparse_derivatives.cpp
DeriveNode derive_sparse_to_dense, derive_sparse_matmul, derive_sparse_sddmm, derive_sparse_scale,
    derive_sparse_softmax, derive_sparse_reduce, derive_sparse_norm, derive_sparse_diagonal,
    derive_sparse_accumulate, derive_sparse_solve;

// control_derivatives.cpp
DeriveNode derive_cond, derive_while;

// custom_derivative.cpp
DeriveNode derive_custom;

}  // namespace tenure
