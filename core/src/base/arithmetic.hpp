// Arithmetic on extents, which may be huge.
#pragma once

#include <cstdint>

namespace tenure {

// Takes numbers that are not negative; gives the greatest number where the product overflows.
constexpr std::int64_t product_or_most(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

}  // namespace tenure
