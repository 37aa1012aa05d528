// The kernels of reductions, as kernels.hpp takes them: by the shape, which is along memory, across
// it, or of parts; and by the rule.
#pragma once

// clang-format off
#define TENURE_REDUCE_KERNELS(KERNEL) \
  KERNEL(along_float_sum) KERNEL(along_wide_sum) KERNEL(along_power_sum) \
  KERNEL(along_moments) KERNEL(along_logsumexp) KERNEL(along_logsumexp_f64) \
  KERNEL(along_integer_sum) KERNEL(along_integer_sum_64) KERNEL(along_extreme) \
  KERNEL(along_extreme_64) KERNEL(along_place) KERNEL(along_place_64) \
  KERNEL(across_float_sum) KERNEL(across_wide_sum) KERNEL(across_power_sum) \
  KERNEL(across_moments) KERNEL(across_logsumexp) KERNEL(across_logsumexp_f64) \
  KERNEL(across_integer_sum) KERNEL(across_integer_sum_64) KERNEL(across_extreme) \
  KERNEL(across_extreme_64) KERNEL(across_place) KERNEL(across_place_64) \
  KERNEL(parts_float_sum) KERNEL(parts_wide_sum) KERNEL(parts_power_sum) \
  KERNEL(parts_moments) KERNEL(parts_logsumexp) KERNEL(parts_integer_sum) \
  KERNEL(parts_extreme) KERNEL(parts_extreme_64) KERNEL(parts_place) \
  KERNEL(parts_place_64) KERNEL(settle_results)
// clang-format on
