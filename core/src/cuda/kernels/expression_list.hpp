// The kernel of expressions, as kernels.hpp takes them.
#pragma once

// clang-format off
#define TENURE_EXPRESSION_KERNELS(KERNEL) \
  KERNEL(expression)
// clang-format on
