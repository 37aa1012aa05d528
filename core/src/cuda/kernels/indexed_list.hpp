// The kernels that find elements by index, as kernels.hpp takes them.
#pragma once

// clang-format off
#define TENURE_INDEXED_KERNELS(KERNEL) \
  KERNEL(index_check) KERNEL(index_keys) \
  KERNEL(sort_count) KERNEL(sort_scan) KERNEL(sort_move) \
  KERNEL(take) KERNEL(put) KERNEL(combine)
// clang-format on
