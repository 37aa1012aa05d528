// Generated from rust/tenure-sys/src/abi.rs by headergen. Do not edit.
// Bytes that each struct with a struct_size had when it was introduced: what every client
// has of it. 0 for a type that has none.
#pragma once

#include <cstddef>

#include "tenure/tenure.h"

namespace tenure::capi {

template <class Sized>
inline constexpr std::size_t kFirstSizeBytes = 0;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_context_options> = 80;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_blob_info> = 48;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_stats> = 88;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_operation_stats> = 40;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_cuda_array> = 184;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_extension> = 8;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_reduce_attributes> = 24;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_matmul_attributes> = 40;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_conv2d_attributes> = 104;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_pool2d_attributes> = 96;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_batch_norm_attributes> = 16;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_quantize_dynamic_attributes> = 16;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_quantized_matmul_attributes> = 56;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_quantized_conv2d_attributes> = 128;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_pad_attributes> = 96;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_triangle_attributes> = 16;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_normalize_attributes> = 32;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_moments_attributes> = 16;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_sort_attributes> = 16;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_top_k_attributes> = 16;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_quantile_attributes> = 16;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_searchsorted_attributes> = 16;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_bincount_attributes> = 16;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_histogram_attributes> = 24;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_random_attributes> = 64;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_factor_attributes> = 24;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_factor_info> = 40;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_sparse_view> = 824;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_sparse_from_dense_attributes> = 72;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_sparse_convert_attributes> = 32;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_sparse_prune_attributes> = 40;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_sparse_top_k_attributes> = 16;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_sparse_dropout_attributes> = 16;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_sparse_from_matmul_attributes> = 56;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_sparse_sddmm_attributes> = 16;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_sparse_solve_attributes> = 16;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_packed_attributes> = 16;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_packed_info> = 80;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_expression> = 56;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_graph_node> = 64;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_precision_attributes> = 24;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_graph_quantize_attributes> = 40;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_einsum_node_attributes> = 128;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_custom_operation> = 80;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_plugin> = 40;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_graph_info> = 48;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_extent_info> = 64;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_custom_info> = 56;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_value_info> = 160;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_pass_info> = 88;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_program_attributes> = 32;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_program_run_attributes> = 40;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_bound_attributes> = 24;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_step_info> = 208;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_memory_plan> = 56;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_sparse_node_attributes> = 32;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_device_info> = 288;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_kernel_options> = 64;
template <>
inline constexpr std::size_t kFirstSizeBytes<tnr_kernel_grid> = 40;

}  // namespace tenure::capi
