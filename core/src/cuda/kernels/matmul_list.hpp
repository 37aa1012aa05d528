// The kernels of products of matrices, as kernels.hpp takes them: by the type of the sums, and by
// the sums of a thread along each side of its tile.
#pragma once

// clang-format off
#define TENURE_MATMUL_KERNELS(KERNEL) \
  KERNEL(matmul_f32_8) KERNEL(matmul_f32_4) KERNEL(matmul_f64_4) KERNEL(matmul_i32_4)
// clang-format on
