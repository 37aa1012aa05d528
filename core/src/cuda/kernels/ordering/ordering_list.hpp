// The kernels of orders along an axis, as kernels.hpp takes them.
#pragma once

// clang-format off
#define TENURE_ORDERING_KERNELS(KERNEL) \
  KERNEL(order_keys) KERNEL(order_store)
// clang-format on
