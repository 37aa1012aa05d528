// The kernels of normalizations, as kernels.hpp takes them.
#pragma once

// clang-format off
#define TENURE_NORMALIZE_KERNELS(KERNEL) \
  KERNEL(normalize_f64) KERNEL(normalize_f32) \
  KERNEL(row_numbers) KERNEL(measured_f64) KERNEL(measured_f32)
// clang-format on
