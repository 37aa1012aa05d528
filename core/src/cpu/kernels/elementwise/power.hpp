// x^y, and the distance sqrt(x^2 + y^2), within the errors that the table of operations states.
//
// f32 is computed in f64, which has enough digits that one rounding of full size remains: x^y as
// e^(y ln |x|). The distance of f64 is scaled, and its squares, their sum and the root are corrected
// by their rounding errors.
#pragma once

#include "cpu/kernels/elementwise/double/power.hpp"
#include "cpu/kernels/elementwise/log.hpp"
#include "cpu/kernels/elementwise/trigonometry.hpp"
#include "cpu/kernels/rounding.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// The cases of C: 1 to any power and any number to the power 0 are 1, also of NaN. The sign is that
// of an odd power, and another power of a negative number than a whole one is NaN.
template <class V>
inline V power_by_doubles(V x, V y) {
  constexpr double kInfinity = __builtin_inf();
  const V a = magnitude_of(x);
  const V result = exponential(y * logarithm(a));
  const V half = y * 0.5;
  const auto is_whole = trunc_of(y) == y;
  const auto is_odd = is_whole & (trunc_of(half) != half);
  const auto is_one = (y == 0) | (x == 1) | ((a == 1) & (magnitude_of(y) == kInfinity));
  const V with_sign = is_odd ? with_sign_of(result, x) : result;
  const auto is_undefined = (x < 0) & (x > -kInfinity) & ~is_whole & (magnitude_of(y) < kInfinity);
  const V defined = is_undefined ? V{} + __builtin_nan("") : with_sign;
  return is_one ? V{} + 1.0 : defined;
}

struct Power {
  template <IsVector V>
  static V apply(V x, V y) {
    using T = Number<V>;
    if constexpr (sizeof(T) == 4) {
      return by_doubles(x, y, [](auto a, auto b) { return power_by_doubles(a, b); });
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
      const V finite = by_doubles(x, y, [](auto a, auto b) { return square_root(a * a + b * b); });
      const auto is_far = (magnitude_of(x) == kInfinity) | (magnitude_of(y) == kInfinity);
      return is_far ? V{} + kInfinity : finite;
    }
  }
};

struct AngleOfPoint {
  template <IsVector V>
  static V apply(V y, V x) {
    if constexpr (sizeof(Number<V>) == 8) {
      return angle_of_doubles(y, x);
    } else {
      return by_doubles(y, x, [](auto a, auto b) { return angle_of_doubles(a, b); });
    }
  }
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
