// Generated from rust/tenure-sys/src/abi.rs by headergen. Do not edit.
//! The layouts of the ABI as literals, as the Rust compiler sees them.

use core::mem::{align_of, offset_of, size_of};

use crate::abi::*;

const _: () = assert!(size_of::<usize>() == 8, "handles are 64-bit tokens");

const _: () = {
    assert!(size_of::<tnr_status>() == 4);
    assert!(size_of::<tnr_dtype>() == 4);
    assert!(size_of::<tnr_device_kind>() == 4);
    assert!(size_of::<tnr_release_fn>() == 8);
    assert!(size_of::<tnr_spawn_fn>() == 8);
    assert!(size_of::<tnr_allocate_fn>() == 8);
    assert!(size_of::<tnr_deallocate_fn>() == 8);
    assert!(size_of::<tnr_engine>() == 4);
    assert!(size_of::<tnr_tenure>() == 4);
    assert!(size_of::<tnr_operation>() == 4);
    assert!(size_of::<tnr_unary_op>() == 4);
    assert!(size_of::<tnr_binary_op>() == 4);
    assert!(size_of::<tnr_ternary_op>() == 4);
    assert!(size_of::<tnr_compare_op>() == 4);
    assert!(size_of::<tnr_reduce_op>() == 4);
    assert!(size_of::<tnr_pad_mode>() == 4);
    assert!(size_of::<tnr_triangle>() == 4);
    assert!(size_of::<tnr_normalize_op>() == 4);
    assert!(size_of::<tnr_scan_op>() == 4);
    assert!(size_of::<tnr_random_distribution>() == 4);
    assert!(size_of::<tnr_sparse_format>() == 4);
    assert!(size_of::<tnr_orientation>() == 4);
    assert!(size_of::<tnr_sparse_predicate>() == 4);
    assert!(size_of::<tnr_sparse_combine>() == 4);
    assert!(size_of::<tnr_sparse_order>() == 4);
    assert!(size_of::<tnr_sparse_join>() == 4);
    assert!(size_of::<tnr_sparse_norm_kind>() == 4);
    assert!(size_of::<tnr_packed_layout>() == 4);
    assert!(size_of::<tnr_value_source>() == 4);
    assert!(size_of::<tnr_extent_op>() == 4);
    assert!(size_of::<tnr_order_result>() == 4);
    assert!(size_of::<tnr_quantize_result>() == 4);
    assert!(size_of::<tnr_infer_fn>() == 8);
    assert!(size_of::<tnr_compute_fn>() == 8);
    assert!(size_of::<tnr_device_compute_fn>() == 8);
    assert!(size_of::<tnr_derive_fn>() == 8);
    assert!(size_of::<tnr_plugin_fn>() == 8);
    assert!(size_of::<tnr_step_kind>() == 4);
    assert!(size_of::<tnr_kernel_argument_kind>() == 4);
};

const _: () = {
    assert!(size_of::<tnr_error>() == 512);
    assert!(align_of::<tnr_error>() == 4);
    assert!(offset_of!(tnr_error, status) == 0);
    assert!(offset_of!(tnr_error, reserved) == 4);
    assert!(offset_of!(tnr_error, message) == 8);
};

const _: () = {
    assert!(size_of::<tnr_scalar>() == 24);
    assert!(align_of::<tnr_scalar>() == 4);
    assert!(offset_of!(tnr_scalar, dtype) == 0);
    assert!(offset_of!(tnr_scalar, reserved) == 4);
    assert!(offset_of!(tnr_scalar, bytes) == 8);
};

const _: () = {
    assert!(size_of::<tnr_device>() == 8);
    assert!(align_of::<tnr_device>() == 4);
    assert!(offset_of!(tnr_device, kind) == 0);
    assert!(offset_of!(tnr_device, index) == 4);
};

const _: () = {
    assert!(size_of::<tnr_context_options>() == 80);
    assert!(align_of::<tnr_context_options>() == 8);
    assert!(offset_of!(tnr_context_options, struct_size) == 0);
    assert!(offset_of!(tnr_context_options, thread_count) == 8);
    assert!(offset_of!(tnr_context_options, reserved) == 12);
    assert!(offset_of!(tnr_context_options, spawn) == 16);
    assert!(offset_of!(tnr_context_options, allocate) == 24);
    assert!(offset_of!(tnr_context_options, deallocate) == 32);
    assert!(offset_of!(tnr_context_options, user_context) == 40);
    assert!(offset_of!(tnr_context_options, release) == 48);
    assert!(offset_of!(tnr_context_options, engine) == 56);
    assert!(offset_of!(tnr_context_options, reserved_end) == 60);
    assert!(offset_of!(tnr_context_options, device) == 64);
    assert!(offset_of!(tnr_context_options, stream) == 72);
};

const _: () = {
    assert!(size_of::<tnr_blob_info>() == 48);
    assert!(align_of::<tnr_blob_info>() == 8);
    assert!(offset_of!(tnr_blob_info, struct_size) == 0);
    assert!(offset_of!(tnr_blob_info, data) == 8);
    assert!(offset_of!(tnr_blob_info, size_bytes) == 16);
    assert!(offset_of!(tnr_blob_info, device) == 24);
    assert!(offset_of!(tnr_blob_info, tenure) == 32);
    assert!(offset_of!(tnr_blob_info, holder_count) == 36);
    assert!(offset_of!(tnr_blob_info, pin_count) == 40);
    assert!(offset_of!(tnr_blob_info, reserved) == 44);
};

const _: () = {
    assert!(size_of::<tnr_stats>() == 88);
    assert!(align_of::<tnr_stats>() == 8);
    assert!(offset_of!(tnr_stats, struct_size) == 0);
    assert!(offset_of!(tnr_stats, allocated_bytes) == 8);
    assert!(offset_of!(tnr_stats, copied_bytes) == 16);
    assert!(offset_of!(tnr_stats, blobs_made) == 24);
    assert!(offset_of!(tnr_stats, blobs_finished) == 32);
    assert!(offset_of!(tnr_stats, cached_bytes) == 40);
    assert!(offset_of!(tnr_stats, calls) == 48);
    assert!(offset_of!(tnr_stats, read_bytes) == 56);
    assert!(offset_of!(tnr_stats, written_bytes) == 64);
    assert!(offset_of!(tnr_stats, device_launches) == 72);
    assert!(offset_of!(tnr_stats, device_waits) == 80);
};

const _: () = {
    assert!(size_of::<tnr_operation_stats>() == 40);
    assert!(align_of::<tnr_operation_stats>() == 8);
    assert!(offset_of!(tnr_operation_stats, struct_size) == 0);
    assert!(offset_of!(tnr_operation_stats, calls) == 8);
    assert!(offset_of!(tnr_operation_stats, read_bytes) == 16);
    assert!(offset_of!(tnr_operation_stats, written_bytes) == 24);
    assert!(offset_of!(tnr_operation_stats, nanoseconds) == 32);
};

const _: () = {
    assert!(size_of::<tnr_view>() == 192);
    assert!(align_of::<tnr_view>() == 8);
    assert!(offset_of!(tnr_view, data) == 0);
    assert!(offset_of!(tnr_view, base) == 8);
    assert!(offset_of!(tnr_view, size_bytes) == 16);
    assert!(offset_of!(tnr_view, owner) == 24);
    assert!(offset_of!(tnr_view, dtype) == 32);
    assert!(offset_of!(tnr_view, rank) == 36);
    assert!(offset_of!(tnr_view, device) == 40);
    assert!(offset_of!(tnr_view, flags) == 48);
    assert!(offset_of!(tnr_view, bit_offset) == 52);
    assert!(offset_of!(tnr_view, reserved) == 56);
    assert!(offset_of!(tnr_view, shape) == 64);
    assert!(offset_of!(tnr_view, strides) == 128);
};

const _: () = {
    assert!(size_of::<tnr_view_mut>() == 192);
    assert!(align_of::<tnr_view_mut>() == 8);
    assert!(offset_of!(tnr_view_mut, view) == 0);
};

const _: () = {
    assert!(size_of::<tnr_cuda_array>() == 184);
    assert!(align_of::<tnr_cuda_array>() == 8);
    assert!(offset_of!(tnr_cuda_array, struct_size) == 0);
    assert!(offset_of!(tnr_cuda_array, data) == 8);
    assert!(offset_of!(tnr_cuda_array, is_read_only) == 16);
    assert!(offset_of!(tnr_cuda_array, rank) == 20);
    assert!(offset_of!(tnr_cuda_array, stream) == 24);
    assert!(offset_of!(tnr_cuda_array, typestr) == 32);
    assert!(offset_of!(tnr_cuda_array, has_strides) == 48);
    assert!(offset_of!(tnr_cuda_array, reserved) == 52);
    assert!(offset_of!(tnr_cuda_array, shape) == 56);
    assert!(offset_of!(tnr_cuda_array, strides_bytes) == 120);
};

const _: () = {
    assert!(size_of::<tnr_extension>() == 8);
    assert!(align_of::<tnr_extension>() == 8);
    assert!(offset_of!(tnr_extension, struct_size) == 0);
};

const _: () = {
    assert!(size_of::<tnr_reduce_attributes>() == 24);
    assert!(align_of::<tnr_reduce_attributes>() == 8);
    assert!(offset_of!(tnr_reduce_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_reduce_attributes, ddof) == 8);
    assert!(offset_of!(tnr_reduce_attributes, reserved) == 12);
    assert!(offset_of!(tnr_reduce_attributes, power) == 16);
};

const _: () = {
    assert!(size_of::<tnr_matmul_attributes>() == 40);
    assert!(align_of::<tnr_matmul_attributes>() == 8);
    assert!(offset_of!(tnr_matmul_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_matmul_attributes, bias) == 8);
    assert!(offset_of!(tnr_matmul_attributes, activation) == 16);
    assert!(offset_of!(tnr_matmul_attributes, flags) == 20);
    assert!(offset_of!(tnr_matmul_attributes, low) == 24);
    assert!(offset_of!(tnr_matmul_attributes, high) == 32);
};

const _: () = {
    assert!(size_of::<tnr_conv2d_attributes>() == 104);
    assert!(align_of::<tnr_conv2d_attributes>() == 8);
    assert!(offset_of!(tnr_conv2d_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_conv2d_attributes, strides) == 8);
    assert!(offset_of!(tnr_conv2d_attributes, padding) == 24);
    assert!(offset_of!(tnr_conv2d_attributes, dilations) == 56);
    assert!(offset_of!(tnr_conv2d_attributes, groups) == 72);
    assert!(offset_of!(tnr_conv2d_attributes, activation) == 80);
    assert!(offset_of!(tnr_conv2d_attributes, flags) == 84);
    assert!(offset_of!(tnr_conv2d_attributes, low) == 88);
    assert!(offset_of!(tnr_conv2d_attributes, high) == 96);
};

const _: () = {
    assert!(size_of::<tnr_pool2d_attributes>() == 96);
    assert!(align_of::<tnr_pool2d_attributes>() == 8);
    assert!(offset_of!(tnr_pool2d_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_pool2d_attributes, kernel) == 8);
    assert!(offset_of!(tnr_pool2d_attributes, strides) == 24);
    assert!(offset_of!(tnr_pool2d_attributes, padding) == 40);
    assert!(offset_of!(tnr_pool2d_attributes, dilations) == 72);
    assert!(offset_of!(tnr_pool2d_attributes, flags) == 88);
    assert!(offset_of!(tnr_pool2d_attributes, reserved) == 92);
};

const _: () = {
    assert!(size_of::<tnr_batch_norm_attributes>() == 16);
    assert!(align_of::<tnr_batch_norm_attributes>() == 8);
    assert!(offset_of!(tnr_batch_norm_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_batch_norm_attributes, eps) == 8);
};

const _: () = {
    assert!(size_of::<tnr_quantize_dynamic_attributes>() == 16);
    assert!(align_of::<tnr_quantize_dynamic_attributes>() == 8);
    assert!(offset_of!(tnr_quantize_dynamic_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_quantize_dynamic_attributes, bits) == 8);
    assert!(offset_of!(tnr_quantize_dynamic_attributes, reserved) == 12);
};

const _: () = {
    assert!(size_of::<tnr_quantized_matmul_attributes>() == 56);
    assert!(align_of::<tnr_quantized_matmul_attributes>() == 8);
    assert!(offset_of!(tnr_quantized_matmul_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_quantized_matmul_attributes, bias) == 8);
    assert!(offset_of!(tnr_quantized_matmul_attributes, out_scale) == 16);
    assert!(offset_of!(tnr_quantized_matmul_attributes, out_zero) == 24);
    assert!(offset_of!(tnr_quantized_matmul_attributes, activation) == 32);
    assert!(offset_of!(tnr_quantized_matmul_attributes, flags) == 36);
    assert!(offset_of!(tnr_quantized_matmul_attributes, low) == 40);
    assert!(offset_of!(tnr_quantized_matmul_attributes, high) == 48);
};

const _: () = {
    assert!(size_of::<tnr_quantized_conv2d_attributes>() == 128);
    assert!(align_of::<tnr_quantized_conv2d_attributes>() == 8);
    assert!(offset_of!(tnr_quantized_conv2d_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_quantized_conv2d_attributes, strides) == 8);
    assert!(offset_of!(tnr_quantized_conv2d_attributes, padding) == 24);
    assert!(offset_of!(tnr_quantized_conv2d_attributes, dilations) == 56);
    assert!(offset_of!(tnr_quantized_conv2d_attributes, groups) == 72);
    assert!(offset_of!(tnr_quantized_conv2d_attributes, bias) == 80);
    assert!(offset_of!(tnr_quantized_conv2d_attributes, out_scale) == 88);
    assert!(offset_of!(tnr_quantized_conv2d_attributes, out_zero) == 96);
    assert!(offset_of!(tnr_quantized_conv2d_attributes, activation) == 104);
    assert!(offset_of!(tnr_quantized_conv2d_attributes, flags) == 108);
    assert!(offset_of!(tnr_quantized_conv2d_attributes, low) == 112);
    assert!(offset_of!(tnr_quantized_conv2d_attributes, high) == 120);
};

const _: () = {
    assert!(size_of::<tnr_pad_attributes>() == 96);
    assert!(align_of::<tnr_pad_attributes>() == 8);
    assert!(offset_of!(tnr_pad_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_pad_attributes, before) == 8);
    assert!(offset_of!(tnr_pad_attributes, value) == 72);
};

const _: () = {
    assert!(size_of::<tnr_triangle_attributes>() == 16);
    assert!(align_of::<tnr_triangle_attributes>() == 8);
    assert!(offset_of!(tnr_triangle_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_triangle_attributes, diagonal) == 8);
};

const _: () = {
    assert!(size_of::<tnr_normalize_attributes>() == 32);
    assert!(align_of::<tnr_normalize_attributes>() == 8);
    assert!(offset_of!(tnr_normalize_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_normalize_attributes, eps) == 8);
    assert!(offset_of!(tnr_normalize_attributes, weight) == 16);
    assert!(offset_of!(tnr_normalize_attributes, bias) == 24);
};

const _: () = {
    assert!(size_of::<tnr_moments_attributes>() == 16);
    assert!(align_of::<tnr_moments_attributes>() == 8);
    assert!(offset_of!(tnr_moments_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_moments_attributes, ddof) == 8);
    assert!(offset_of!(tnr_moments_attributes, reserved) == 12);
};

const _: () = {
    assert!(size_of::<tnr_sort_attributes>() == 16);
    assert!(align_of::<tnr_sort_attributes>() == 8);
    assert!(offset_of!(tnr_sort_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_sort_attributes, flags) == 8);
    assert!(offset_of!(tnr_sort_attributes, reserved) == 12);
};

const _: () = {
    assert!(size_of::<tnr_top_k_attributes>() == 16);
    assert!(align_of::<tnr_top_k_attributes>() == 8);
    assert!(offset_of!(tnr_top_k_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_top_k_attributes, flags) == 8);
    assert!(offset_of!(tnr_top_k_attributes, reserved) == 12);
};

const _: () = {
    assert!(size_of::<tnr_quantile_attributes>() == 16);
    assert!(align_of::<tnr_quantile_attributes>() == 8);
    assert!(offset_of!(tnr_quantile_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_quantile_attributes, flags) == 8);
    assert!(offset_of!(tnr_quantile_attributes, reserved) == 12);
};

const _: () = {
    assert!(size_of::<tnr_searchsorted_attributes>() == 16);
    assert!(align_of::<tnr_searchsorted_attributes>() == 8);
    assert!(offset_of!(tnr_searchsorted_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_searchsorted_attributes, flags) == 8);
    assert!(offset_of!(tnr_searchsorted_attributes, reserved) == 12);
};

const _: () = {
    assert!(size_of::<tnr_bincount_attributes>() == 16);
    assert!(align_of::<tnr_bincount_attributes>() == 8);
    assert!(offset_of!(tnr_bincount_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_bincount_attributes, weights) == 8);
};

const _: () = {
    assert!(size_of::<tnr_histogram_attributes>() == 24);
    assert!(align_of::<tnr_histogram_attributes>() == 8);
    assert!(offset_of!(tnr_histogram_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_histogram_attributes, low) == 8);
    assert!(offset_of!(tnr_histogram_attributes, high) == 16);
};

const _: () = {
    assert!(size_of::<tnr_random_attributes>() == 64);
    assert!(align_of::<tnr_random_attributes>() == 8);
    assert!(offset_of!(tnr_random_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_random_attributes, low) == 8);
    assert!(offset_of!(tnr_random_attributes, high) == 16);
    assert!(offset_of!(tnr_random_attributes, mean) == 24);
    assert!(offset_of!(tnr_random_attributes, deviation) == 32);
    assert!(offset_of!(tnr_random_attributes, probability) == 40);
    assert!(offset_of!(tnr_random_attributes, least) == 48);
    assert!(offset_of!(tnr_random_attributes, bound) == 56);
};

const _: () = {
    assert!(size_of::<tnr_factor_attributes>() == 24);
    assert!(align_of::<tnr_factor_attributes>() == 8);
    assert!(offset_of!(tnr_factor_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_factor_attributes, a_dtype) == 8);
    assert!(offset_of!(tnr_factor_attributes, reserved) == 12);
    assert!(offset_of!(tnr_factor_attributes, group_scales) == 16);
};

const _: () = {
    assert!(size_of::<tnr_factor_info>() == 40);
    assert!(align_of::<tnr_factor_info>() == 8);
    assert!(offset_of!(tnr_factor_info, struct_size) == 0);
    assert!(offset_of!(tnr_factor_info, dtype) == 8);
    assert!(offset_of!(tnr_factor_info, a_dtype) == 12);
    assert!(offset_of!(tnr_factor_info, rows) == 16);
    assert!(offset_of!(tnr_factor_info, cols) == 24);
    assert!(offset_of!(tnr_factor_info, size_bytes) == 32);
};

const _: () = {
    assert!(size_of::<tnr_sparse_view>() == 824);
    assert!(align_of::<tnr_sparse_view>() == 8);
    assert!(offset_of!(tnr_sparse_view, struct_size) == 0);
    assert!(offset_of!(tnr_sparse_view, owner) == 8);
    assert!(offset_of!(tnr_sparse_view, format) == 16);
    assert!(offset_of!(tnr_sparse_view, flags) == 20);
    assert!(offset_of!(tnr_sparse_view, rows) == 24);
    assert!(offset_of!(tnr_sparse_view, cols) == 32);
    assert!(offset_of!(tnr_sparse_view, block_rows) == 40);
    assert!(offset_of!(tnr_sparse_view, block_cols) == 48);
    assert!(offset_of!(tnr_sparse_view, major) == 56);
    assert!(offset_of!(tnr_sparse_view, minor) == 248);
    assert!(offset_of!(tnr_sparse_view, values) == 440);
    assert!(offset_of!(tnr_sparse_view, batch_offsets) == 632);
};

const _: () = {
    assert!(size_of::<tnr_sparse_view_mut>() == 824);
    assert!(align_of::<tnr_sparse_view_mut>() == 8);
    assert!(offset_of!(tnr_sparse_view_mut, view) == 0);
};

const _: () = {
    assert!(size_of::<tnr_sparse_from_dense_attributes>() == 72);
    assert!(align_of::<tnr_sparse_from_dense_attributes>() == 8);
    assert!(offset_of!(tnr_sparse_from_dense_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_sparse_from_dense_attributes, index_dtype) == 8);
    assert!(offset_of!(tnr_sparse_from_dense_attributes, predicate) == 12);
    assert!(offset_of!(tnr_sparse_from_dense_attributes, flags) == 16);
    assert!(offset_of!(tnr_sparse_from_dense_attributes, reserved) == 20);
    assert!(offset_of!(tnr_sparse_from_dense_attributes, block_rows) == 24);
    assert!(offset_of!(tnr_sparse_from_dense_attributes, block_cols) == 32);
    assert!(offset_of!(tnr_sparse_from_dense_attributes, threshold) == 40);
    assert!(offset_of!(tnr_sparse_from_dense_attributes, mask) == 64);
};

const _: () = {
    assert!(size_of::<tnr_sparse_convert_attributes>() == 32);
    assert!(align_of::<tnr_sparse_convert_attributes>() == 8);
    assert!(offset_of!(tnr_sparse_convert_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_sparse_convert_attributes, index_dtype) == 8);
    assert!(offset_of!(tnr_sparse_convert_attributes, flags) == 12);
    assert!(offset_of!(tnr_sparse_convert_attributes, block_rows) == 16);
    assert!(offset_of!(tnr_sparse_convert_attributes, block_cols) == 24);
};

const _: () = {
    assert!(size_of::<tnr_sparse_prune_attributes>() == 40);
    assert!(align_of::<tnr_sparse_prune_attributes>() == 8);
    assert!(offset_of!(tnr_sparse_prune_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_sparse_prune_attributes, predicate) == 8);
    assert!(offset_of!(tnr_sparse_prune_attributes, flags) == 12);
    assert!(offset_of!(tnr_sparse_prune_attributes, threshold) == 16);
};

const _: () = {
    assert!(size_of::<tnr_sparse_top_k_attributes>() == 16);
    assert!(align_of::<tnr_sparse_top_k_attributes>() == 8);
    assert!(offset_of!(tnr_sparse_top_k_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_sparse_top_k_attributes, index_dtype) == 8);
    assert!(offset_of!(tnr_sparse_top_k_attributes, reserved) == 12);
};

const _: () = {
    assert!(size_of::<tnr_sparse_dropout_attributes>() == 16);
    assert!(align_of::<tnr_sparse_dropout_attributes>() == 8);
    assert!(offset_of!(tnr_sparse_dropout_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_sparse_dropout_attributes, index_dtype) == 8);
    assert!(offset_of!(tnr_sparse_dropout_attributes, reserved) == 12);
};

const _: () = {
    assert!(size_of::<tnr_sparse_from_matmul_attributes>() == 56);
    assert!(align_of::<tnr_sparse_from_matmul_attributes>() == 8);
    assert!(offset_of!(tnr_sparse_from_matmul_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_sparse_from_matmul_attributes, bias) == 8);
    assert!(offset_of!(tnr_sparse_from_matmul_attributes, activation) == 16);
    assert!(offset_of!(tnr_sparse_from_matmul_attributes, index_dtype) == 20);
    assert!(offset_of!(tnr_sparse_from_matmul_attributes, predicate) == 24);
    assert!(offset_of!(tnr_sparse_from_matmul_attributes, flags) == 28);
    assert!(offset_of!(tnr_sparse_from_matmul_attributes, threshold) == 32);
};

const _: () = {
    assert!(size_of::<tnr_sparse_sddmm_attributes>() == 16);
    assert!(align_of::<tnr_sparse_sddmm_attributes>() == 8);
    assert!(offset_of!(tnr_sparse_sddmm_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_sparse_sddmm_attributes, flags) == 8);
    assert!(offset_of!(tnr_sparse_sddmm_attributes, reserved) == 12);
};

const _: () = {
    assert!(size_of::<tnr_sparse_solve_attributes>() == 16);
    assert!(align_of::<tnr_sparse_solve_attributes>() == 8);
    assert!(offset_of!(tnr_sparse_solve_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_sparse_solve_attributes, flags) == 8);
    assert!(offset_of!(tnr_sparse_solve_attributes, reserved) == 12);
};

const _: () = {
    assert!(size_of::<tnr_packed_attributes>() == 16);
    assert!(align_of::<tnr_packed_attributes>() == 8);
    assert!(offset_of!(tnr_packed_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_packed_attributes, layout) == 8);
    assert!(offset_of!(tnr_packed_attributes, reserved) == 12);
};

const _: () = {
    assert!(size_of::<tnr_packed_info>() == 80);
    assert!(align_of::<tnr_packed_info>() == 8);
    assert!(offset_of!(tnr_packed_info, struct_size) == 0);
    assert!(offset_of!(tnr_packed_info, layout) == 8);
    assert!(offset_of!(tnr_packed_info, dtype) == 12);
    assert!(offset_of!(tnr_packed_info, rows) == 16);
    assert!(offset_of!(tnr_packed_info, cols) == 24);
    assert!(offset_of!(tnr_packed_info, nnz) == 32);
    assert!(offset_of!(tnr_packed_info, size_bytes) == 40);
    assert!(offset_of!(tnr_packed_info, source_bytes) == 48);
    assert!(offset_of!(tnr_packed_info, break_even) == 56);
    assert!(offset_of!(tnr_packed_info, block_rows) == 64);
    assert!(offset_of!(tnr_packed_info, block_cols) == 72);
};

const _: () = {
    assert!(size_of::<tnr_node>() == 32);
    assert!(align_of::<tnr_node>() == 4);
    assert!(offset_of!(tnr_node, code) == 0);
    assert!(offset_of!(tnr_node, dtype) == 4);
    assert!(offset_of!(tnr_node, operands) == 8);
    assert!(offset_of!(tnr_node, attributes) == 20);
    assert!(offset_of!(tnr_node, flags) == 24);
    assert!(offset_of!(tnr_node, reserved) == 28);
};

const _: () = {
    assert!(size_of::<tnr_expression>() == 56);
    assert!(align_of::<tnr_expression>() == 8);
    assert!(offset_of!(tnr_expression, struct_size) == 0);
    assert!(offset_of!(tnr_expression, nodes) == 8);
    assert!(offset_of!(tnr_expression, views) == 16);
    assert!(offset_of!(tnr_expression, scalars) == 24);
    assert!(offset_of!(tnr_expression, attributes) == 32);
    assert!(offset_of!(tnr_expression, node_count) == 40);
    assert!(offset_of!(tnr_expression, view_count) == 44);
    assert!(offset_of!(tnr_expression, scalar_count) == 48);
    assert!(offset_of!(tnr_expression, attribute_count) == 52);
};

const _: () = {
    assert!(size_of::<tnr_graph_node>() == 64);
    assert!(align_of::<tnr_graph_node>() == 8);
    assert!(offset_of!(tnr_graph_node, struct_size) == 0);
    assert!(offset_of!(tnr_graph_node, code) == 8);
    assert!(offset_of!(tnr_graph_node, dtype) == 12);
    assert!(offset_of!(tnr_graph_node, operands) == 16);
    assert!(offset_of!(tnr_graph_node, numbers) == 24);
    assert!(offset_of!(tnr_graph_node, attributes) == 32);
    assert!(offset_of!(tnr_graph_node, operand_count) == 40);
    assert!(offset_of!(tnr_graph_node, number_count) == 44);
    assert!(offset_of!(tnr_graph_node, flags) == 48);
    assert!(offset_of!(tnr_graph_node, copy) == 52);
    assert!(offset_of!(tnr_graph_node, marks) == 56);
    assert!(offset_of!(tnr_graph_node, reserved) == 60);
};

const _: () = {
    assert!(size_of::<tnr_precision_attributes>() == 24);
    assert!(align_of::<tnr_precision_attributes>() == 8);
    assert!(offset_of!(tnr_precision_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_precision_attributes, keep) == 8);
    assert!(offset_of!(tnr_precision_attributes, keep_count) == 16);
    assert!(offset_of!(tnr_precision_attributes, reserved) == 20);
};

const _: () = {
    assert!(size_of::<tnr_value_range>() == 12);
    assert!(align_of::<tnr_value_range>() == 4);
    assert!(offset_of!(tnr_value_range, value) == 0);
    assert!(offset_of!(tnr_value_range, low) == 4);
    assert!(offset_of!(tnr_value_range, high) == 8);
};

const _: () = {
    assert!(size_of::<tnr_graph_quantize_attributes>() == 40);
    assert!(align_of::<tnr_graph_quantize_attributes>() == 8);
    assert!(offset_of!(tnr_graph_quantize_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_graph_quantize_attributes, keep) == 8);
    assert!(offset_of!(tnr_graph_quantize_attributes, keep_count) == 16);
    assert!(offset_of!(tnr_graph_quantize_attributes, range_count) == 20);
    assert!(offset_of!(tnr_graph_quantize_attributes, ranges) == 24);
    assert!(offset_of!(tnr_graph_quantize_attributes, weight_group) == 32);
    assert!(offset_of!(tnr_graph_quantize_attributes, reserved) == 36);
};

const _: () = {
    assert!(size_of::<tnr_quantizable>() == 16);
    assert!(align_of::<tnr_quantizable>() == 4);
    assert!(offset_of!(tnr_quantizable, result) == 0);
    assert!(offset_of!(tnr_quantizable, operand) == 4);
    assert!(offset_of!(tnr_quantizable, code) == 8);
    assert!(offset_of!(tnr_quantizable, reserved) == 12);
};

const _: () = {
    assert!(size_of::<tnr_einsum_node_attributes>() == 128);
    assert!(align_of::<tnr_einsum_node_attributes>() == 8);
    assert!(offset_of!(tnr_einsum_node_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_einsum_node_attributes, spec) == 8);
};

const _: () = {
    assert!(size_of::<tnr_custom_operation>() == 80);
    assert!(align_of::<tnr_custom_operation>() == 8);
    assert!(offset_of!(tnr_custom_operation, struct_size) == 0);
    assert!(offset_of!(tnr_custom_operation, name) == 8);
    assert!(offset_of!(tnr_custom_operation, infer) == 16);
    assert!(offset_of!(tnr_custom_operation, compute) == 24);
    assert!(offset_of!(tnr_custom_operation, user_context) == 32);
    assert!(offset_of!(tnr_custom_operation, release) == 40);
    assert!(offset_of!(tnr_custom_operation, operand_count) == 48);
    assert!(offset_of!(tnr_custom_operation, number_count) == 52);
    assert!(offset_of!(tnr_custom_operation, flags) == 56);
    assert!(offset_of!(tnr_custom_operation, reserved) == 60);
    assert!(offset_of!(tnr_custom_operation, compute_on_device) == 64);
    assert!(offset_of!(tnr_custom_operation, derive) == 72);
};

const _: () = {
    assert!(size_of::<tnr_plugin>() == 40);
    assert!(align_of::<tnr_plugin>() == 8);
    assert!(offset_of!(tnr_plugin, struct_size) == 0);
    assert!(offset_of!(tnr_plugin, abi_major) == 8);
    assert!(offset_of!(tnr_plugin, abi_minor) == 12);
    assert!(offset_of!(tnr_plugin, name) == 16);
    assert!(offset_of!(tnr_plugin, operations) == 24);
    assert!(offset_of!(tnr_plugin, operation_count) == 32);
    assert!(offset_of!(tnr_plugin, reserved) == 36);
};

const _: () = {
    assert!(size_of::<tnr_graph_info>() == 48);
    assert!(align_of::<tnr_graph_info>() == 8);
    assert!(offset_of!(tnr_graph_info, struct_size) == 0);
    assert!(offset_of!(tnr_graph_info, value_count) == 8);
    assert!(offset_of!(tnr_graph_info, extent_count) == 12);
    assert!(offset_of!(tnr_graph_info, input_count) == 16);
    assert!(offset_of!(tnr_graph_info, constant_count) == 20);
    assert!(offset_of!(tnr_graph_info, scalar_count) == 24);
    assert!(offset_of!(tnr_graph_info, node_count) == 28);
    assert!(offset_of!(tnr_graph_info, output_count) == 32);
    assert!(offset_of!(tnr_graph_info, custom_count) == 36);
    assert!(offset_of!(tnr_graph_info, subgraph_count) == 40);
    assert!(offset_of!(tnr_graph_info, reserved) == 44);
};

const _: () = {
    assert!(size_of::<tnr_extent_info>() == 64);
    assert!(align_of::<tnr_extent_info>() == 8);
    assert!(offset_of!(tnr_extent_info, struct_size) == 0);
    assert!(offset_of!(tnr_extent_info, op) == 8);
    assert!(offset_of!(tnr_extent_info, reserved) == 12);
    assert!(offset_of!(tnr_extent_info, a) == 16);
    assert!(offset_of!(tnr_extent_info, b) == 24);
    assert!(offset_of!(tnr_extent_info, name) == 32);
};

const _: () = {
    assert!(size_of::<tnr_custom_info>() == 56);
    assert!(align_of::<tnr_custom_info>() == 8);
    assert!(offset_of!(tnr_custom_info, struct_size) == 0);
    assert!(offset_of!(tnr_custom_info, operand_count) == 8);
    assert!(offset_of!(tnr_custom_info, number_count) == 12);
    assert!(offset_of!(tnr_custom_info, flags) == 16);
    assert!(offset_of!(tnr_custom_info, reserved) == 20);
    assert!(offset_of!(tnr_custom_info, name) == 24);
};

const _: () = {
    assert!(size_of::<tnr_value_info>() == 160);
    assert!(align_of::<tnr_value_info>() == 8);
    assert!(offset_of!(tnr_value_info, struct_size) == 0);
    assert!(offset_of!(tnr_value_info, source) == 8);
    assert!(offset_of!(tnr_value_info, dtype) == 12);
    assert!(offset_of!(tnr_value_info, rank) == 16);
    assert!(offset_of!(tnr_value_info, index) == 20);
    assert!(offset_of!(tnr_value_info, shape) == 24);
    assert!(offset_of!(tnr_value_info, numbers) == 88);
    assert!(offset_of!(tnr_value_info, result) == 152);
    assert!(offset_of!(tnr_value_info, reserved) == 156);
};

const _: () = {
    assert!(size_of::<tnr_pass_info>() == 88);
    assert!(align_of::<tnr_pass_info>() == 8);
    assert!(offset_of!(tnr_pass_info, struct_size) == 0);
    assert!(offset_of!(tnr_pass_info, pass) == 8);
    assert!(offset_of!(tnr_pass_info, is_on) == 12);
    assert!(offset_of!(tnr_pass_info, count) == 16);
    assert!(offset_of!(tnr_pass_info, name) == 24);
    assert!(offset_of!(tnr_pass_info, counted) == 56);
};

const _: () = {
    assert!(size_of::<tnr_program_attributes>() == 32);
    assert!(align_of::<tnr_program_attributes>() == 8);
    assert!(offset_of!(tnr_program_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_program_attributes, disabled_passes) == 8);
    assert!(offset_of!(tnr_program_attributes, enabled_passes) == 12);
    assert!(offset_of!(tnr_program_attributes, packed) == 16);
    assert!(offset_of!(tnr_program_attributes, budget_bytes) == 24);
};

const _: () = {
    assert!(size_of::<tnr_program_run_attributes>() == 40);
    assert!(align_of::<tnr_program_run_attributes>() == 8);
    assert!(offset_of!(tnr_program_run_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_program_run_attributes, budget_bytes) == 8);
    assert!(offset_of!(tnr_program_run_attributes, step_nanoseconds) == 16);
    assert!(offset_of!(tnr_program_run_attributes, step_count) == 24);
    assert!(offset_of!(tnr_program_run_attributes, flags) == 28);
    assert!(offset_of!(tnr_program_run_attributes, output_shapes) == 32);
};

const _: () = {
    assert!(size_of::<tnr_bound_attributes>() == 24);
    assert!(align_of::<tnr_bound_attributes>() == 8);
    assert!(offset_of!(tnr_bound_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_bound_attributes, budget_bytes) == 8);
    assert!(offset_of!(tnr_bound_attributes, flags) == 16);
    assert!(offset_of!(tnr_bound_attributes, reserved) == 20);
};

const _: () = {
    assert!(size_of::<tnr_step_info>() == 208);
    assert!(align_of::<tnr_step_info>() == 8);
    assert!(offset_of!(tnr_step_info, struct_size) == 0);
    assert!(offset_of!(tnr_step_info, kind) == 8);
    assert!(offset_of!(tnr_step_info, node) == 12);
    assert!(offset_of!(tnr_step_info, node_count) == 16);
    assert!(offset_of!(tnr_step_info, output) == 20);
    assert!(offset_of!(tnr_step_info, flops) == 24);
    assert!(offset_of!(tnr_step_info, read_bytes) == 32);
    assert!(offset_of!(tnr_step_info, written_bytes) == 40);
    assert!(offset_of!(tnr_step_info, block_offset) == 48);
    assert!(offset_of!(tnr_step_info, block_bytes) == 56);
    assert!(offset_of!(tnr_step_info, last_use) == 64);
    assert!(offset_of!(tnr_step_info, dtype) == 68);
    assert!(offset_of!(tnr_step_info, rank) == 72);
    assert!(offset_of!(tnr_step_info, reserved) == 76);
    assert!(offset_of!(tnr_step_info, shape) == 80);
    assert!(offset_of!(tnr_step_info, name) == 144);
};

const _: () = {
    assert!(size_of::<tnr_memory_plan>() == 56);
    assert!(align_of::<tnr_memory_plan>() == 8);
    assert!(offset_of!(tnr_memory_plan, struct_size) == 0);
    assert!(offset_of!(tnr_memory_plan, peak_bytes) == 8);
    assert!(offset_of!(tnr_memory_plan, live_bytes) == 16);
    assert!(offset_of!(tnr_memory_plan, total_bytes) == 24);
    assert!(offset_of!(tnr_memory_plan, scratch_bytes) == 32);
    assert!(offset_of!(tnr_memory_plan, step_count) == 40);
    assert!(offset_of!(tnr_memory_plan, reserved) == 44);
    assert!(offset_of!(tnr_memory_plan, packed_bytes) == 48);
};

const _: () = {
    assert!(size_of::<tnr_sparse_node_attributes>() == 32);
    assert!(align_of::<tnr_sparse_node_attributes>() == 8);
    assert!(offset_of!(tnr_sparse_node_attributes, struct_size) == 0);
    assert!(offset_of!(tnr_sparse_node_attributes, format) == 8);
    assert!(offset_of!(tnr_sparse_node_attributes, flags) == 12);
    assert!(offset_of!(tnr_sparse_node_attributes, orientation) == 16);
    assert!(offset_of!(tnr_sparse_node_attributes, call_flags) == 20);
    assert!(offset_of!(tnr_sparse_node_attributes, block_rows) == 24);
    assert!(offset_of!(tnr_sparse_node_attributes, block_cols) == 28);
};

const _: () = {
    assert!(size_of::<tnr_device_info>() == 288);
    assert!(align_of::<tnr_device_info>() == 8);
    assert!(offset_of!(tnr_device_info, struct_size) == 0);
    assert!(offset_of!(tnr_device_info, memory_bytes) == 8);
    assert!(offset_of!(tnr_device_info, capability_major) == 16);
    assert!(offset_of!(tnr_device_info, capability_minor) == 20);
    assert!(offset_of!(tnr_device_info, multiprocessor_count) == 24);
    assert!(offset_of!(tnr_device_info, reserved) == 28);
    assert!(offset_of!(tnr_device_info, name) == 32);
};

const _: () = {
    assert!(size_of::<tnr_kernel_parameter>() == 24);
    assert!(align_of::<tnr_kernel_parameter>() == 4);
    assert!(offset_of!(tnr_kernel_parameter, kind) == 0);
    assert!(offset_of!(tnr_kernel_parameter, dtype) == 4);
    assert!(offset_of!(tnr_kernel_parameter, least_rank) == 8);
    assert!(offset_of!(tnr_kernel_parameter, most_rank) == 12);
    assert!(offset_of!(tnr_kernel_parameter, flags) == 16);
    assert!(offset_of!(tnr_kernel_parameter, reserved) == 20);
};

const _: () = {
    assert!(size_of::<tnr_kernel_options>() == 64);
    assert!(align_of::<tnr_kernel_options>() == 8);
    assert!(offset_of!(tnr_kernel_options, struct_size) == 0);
    assert!(offset_of!(tnr_kernel_options, name) == 8);
    assert!(offset_of!(tnr_kernel_options, image) == 16);
    assert!(offset_of!(tnr_kernel_options, image_bytes) == 24);
    assert!(offset_of!(tnr_kernel_options, source) == 32);
    assert!(offset_of!(tnr_kernel_options, compiler_options) == 40);
    assert!(offset_of!(tnr_kernel_options, parameters) == 48);
    assert!(offset_of!(tnr_kernel_options, compiler_option_count) == 56);
    assert!(offset_of!(tnr_kernel_options, parameter_count) == 60);
};

const _: () = {
    assert!(size_of::<tnr_kernel_argument>() == 24);
    assert!(align_of::<tnr_kernel_argument>() == 8);
    assert!(offset_of!(tnr_kernel_argument, input) == 0);
    assert!(offset_of!(tnr_kernel_argument, output) == 8);
    assert!(offset_of!(tnr_kernel_argument, scalar) == 16);
};

const _: () = {
    assert!(size_of::<tnr_kernel_grid>() == 40);
    assert!(align_of::<tnr_kernel_grid>() == 8);
    assert!(offset_of!(tnr_kernel_grid, struct_size) == 0);
    assert!(offset_of!(tnr_kernel_grid, blocks) == 8);
    assert!(offset_of!(tnr_kernel_grid, threads) == 20);
    assert!(offset_of!(tnr_kernel_grid, shared_bytes) == 32);
    assert!(offset_of!(tnr_kernel_grid, reserved) == 36);
};
