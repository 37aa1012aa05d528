// What the rows of the table of kinds call, by families.
#pragma once

#include "program/operations.hpp"

namespace tenure {

// node_reductions.cpp
InferNode infer_normalize, infer_scan;
RunNode run_reduce, run_normalize, run_scan;

// node_products.cpp
InferNode infer_matmul;
RunNode run_matmul;

// node_images.cpp
InferNode infer_conv2d, infer_pool2d, infer_batch_norm;
RunNode run_conv2d, run_pool2d, run_batch_norm;

// node_movement.cpp
SeeNode view_reshaped, view_permuted, view_broadcast, view_slice;
InferNode infer_concat, infer_pad, infer_take, infer_gather, infer_triangular;
RunNode run_concat, run_pad, run_take, run_gather, run_triangular;

}  // namespace tenure
