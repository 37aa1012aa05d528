// How far a float is from a number known in a wider type, in units of its last place.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenure::test {

// The unit is that of the binade that holds `exact`; below the normal numbers it is the smallest
// subnormal. An infinity counts as the first power of two that is too large, so that it is close to
// the largest finite numbers and far from all others.
template <class T, class Wide>
Wide last_places(T actual, Wide exact) {
  using Limits = std::numeric_limits<T>;
  static_assert(std::numeric_limits<Wide>::digits > Limits::digits + 8);
  if (std::isnan(exact) || std::isnan(actual)) {
    return std::isnan(exact) && std::isnan(actual) ? 0 : std::numeric_limits<Wide>::infinity();
  }
  const Wide beyond = std::ldexp(Wide{1}, Limits::max_exponent);
  const auto finite = [beyond](Wide value) {
    return std::isinf(value) ? std::copysign(beyond, value) : value;
  };
  const Wide nearby = std::clamp(finite(exact), -beyond, beyond);
  const int exponent = nearby == 0 ? Limits::min_exponent - 1
                                   : std::clamp(std::ilogb(nearby), Limits::min_exponent - 1,
                                                Limits::max_exponent - 1);
  return std::fabs(finite(static_cast<Wide>(actual)) - nearby) /
         std::ldexp(Wide{1}, exponent - Limits::digits + 1);
}

}  // namespace tenure::test
