// The kernels of sparse matrices, as kernels.hpp takes them: products by the type of the sums, and
// by the columns of a thread; from dense by the bytes of an element, up to 4 or 8.
#pragma once

// clang-format off
#define TENURE_SPARSE_KERNELS(KERNEL) \
  KERNEL(sparse_matmul_f32_1) KERNEL(sparse_matmul_f32_4) \
  KERNEL(sparse_matmul_f64_1) KERNEL(sparse_matmul_f64_4) \
  KERNEL(sparse_sample_f32) KERNEL(sparse_sample_f64) KERNEL(sparse_scatter) \
  KERNEL(dense_scan_4) KERNEL(dense_scan_8) \
  KERNEL(entry_keys) KERNEL(entry_marks) KERNEL(entry_store)
// clang-format on
