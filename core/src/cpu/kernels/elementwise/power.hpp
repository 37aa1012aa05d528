// x^y, and the distance sqrt(x^2 + y^2), within the errors that the table of operations states.
//
// The distance of f32 is computed in f64, which has enough digits that one rounding of full size
// remains. The distance of f64 is scaled, and its
// squares, their sum and the root are corrected by their rounding errors.
#pragma once

#include "cpu/kernels/elementwise/double/power.hpp"
#include "cpu/kernels/elementwise/log.hpp"
#include "cpu/kernels/elementwise/single/power.hpp"
#include "cpu/kernels/elementwise/trigonometry.hpp"
#include "cpu/kernels/rounding.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

struct Power {
  template <IsVector V>
  static V apply(V x, V y) {
    using T = Number<V>;
    if constexpr (sizeof(T) == 4) {
      return power_of_singles(x, y);
    } else {
      return power_of_doubles(x, y);
    }
  }
};

template <class V>
inline V distance_of_doubles(V x, V y) {
  constexpr double kInfinity = __builtin_inf();
  const V a = magnitude_of(x);
  const V b = magnitude_of(y);
  const V larger = a > b ? a : b;
  const auto is_large = larger > 0x1p500;
  const auto is_small = larger < 0x1p-450;
  const V scale = is_large ? V{} + 0x1p-600 : is_small ? V{} + 0x1p600 : V{} + 1.0;
  const V back = is_large ? V{} + 0x1p600 : is_small ? V{} + 0x1p-600 : V{} + 1.0;
  const Long<V> first = product_of(a * scale, a * scale);
  const Long<V> second = product_of(b * scale, b * scale);
  const Long<V> sum = sum_of_any(first.high, second.high);
  const V root = square_root(sum.high);
  const Long<V> square = product_of(root, root);
  const V rest = ((sum.high - square.high) - square.low) + (sum.low + (first.low + second.low));
  const V result = (root + rest / (root + root)) * back;
  const V finite = (a == 0) & (b == 0) ? V{} : result;
  return (a == kInfinity) | (b == kInfinity) ? V{} + kInfinity : finite;
}

struct Distance {
  template <IsVector V>
  static V apply(V x, V y) {
    if constexpr (sizeof(Number<V>) == 8) {
      return distance_of_doubles(x, y);
    } else {
      constexpr float kInfinity = __builtin_inff();
      const V finite = by_doubles([](auto a, auto b) { return square_root(a * a + b * b); }, x, y);
      const auto is_far = (magnitude_of(x) == kInfinity) | (magnitude_of(y) == kInfinity);
      return is_far ? V{} + kInfinity : finite;
    }
  }
};

struct AngleOfPoint {
  template <IsVector V>
  static V apply(V y, V x) {
    return angle_of_point(y, x);
  }
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
