// The kernels that find elements by index, as kernels.hpp takes them.
#pragma once

// clang-format off
#define TENURE_INDEXED_KERNELS(KERNEL) \
  KERNEL(index_check) KERNEL(index_keys) \
  KERNEL(sort_count) KERNEL(sort_scan) KERNEL(sort_move) \
  KERNEL(take_1) KERNEL(take_2) KERNEL(take_4) KERNEL(take_8) KERNEL(take_16) \
  KERNEL(put_1) KERNEL(put_2) KERNEL(put_4) KERNEL(put_8) KERNEL(put_16) \
  KERNEL(combine_f64) KERNEL(combine_f32) KERNEL(combine_f16) \
  KERNEL(combine_8) KERNEL(combine_16) KERNEL(combine_32) KERNEL(combine_64)
// clang-format on
