// x^y, and the distance sqrt(x^2 + y^2), within the errors that the table of operations states.
//
// x^y of f32 is 2^(y log2 x), where log2 x and the product with y are computed in f64, to 2^-32 and
// more, and the power of the fraction in f32 (exp.hpp).
//
//     x = 2^n m,   1 + r = m / c,   log2 x = n + log2 c + r p(r)
//
// with the tables of log_by_table.hpp, whose two parts of log2 c have 37 bits, and a polynomial that
// minimises the largest relative error of log2(1 + r): 2^-37.6. Other lanes than positive normal
// numbers with finite powers have another way, behind one branch for the vector.
//
// The distance of f32 is computed in f64, which has enough digits that one rounding of full size
// remains. The distance of f64 is scaled, and its
// squares, their sum and the root are corrected by their rounding errors.
#pragma once

#include "cpu/kernels/elementwise/double/power.hpp"
#include "cpu/kernels/elementwise/exp.hpp"
#include "cpu/kernels/elementwise/log_by_table.hpp"
#include "cpu/kernels/elementwise/single/doubles.hpp"
#include "cpu/kernels/elementwise/trigonometry.hpp"
#include "cpu/kernels/rounding.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

inline constexpr float kMostPower = 0x1.fffffep+127f;  // finite

// `power` has the powers of the magnitudes that are normal. A power of a negative number is NaN
// unless y is whole, and negative where y is odd.
template <IsSingles V>
__attribute__((noinline)) V power_of_any_singles(V x, V y, V power) {
  const V a = magnitude_of(x);
  const V half = y * 0.5f;
  const auto is_whole = trunc_of(y) == y;
  const auto is_odd = is_whole & (trunc_of(half) != half);
  const V with_sign = is_odd ? with_sign_of(power, x) : power;
  const V signed_power = (x < 0) & ~is_whole ? V{} + __builtin_nanf("") : with_sign;
  if (is_every_lane_plain(a) && is_every_lane_within(y, kMostPower)) return signed_power;
  const V other =
      by_doubles([](auto left, auto right) { return power_of_any_doubles(left, right); }, x, y);
  return lanes_from(a, kLeastNormalNumber, __builtin_inff()) & (magnitude_of(y) <= kMostPower)
             ? signed_power
             : other;
}

template <IsSingles V>
inline V power_of_singles(V x, V y) {
  using Half = typename SizedVector<float, sizeof(V) / 2>::type;
  using Doubles = typename SizedVector<double, sizeof(V)>::type;
  struct Halves {
    Half of[2];
  };
  const V a = magnitude_of(x);
  const Mantissa<V> by(a);
  const V center = __builtin_convertvector(by.n, V) + BinaryLogarithm::kHigh[by.index];  // exact
  const auto mantissas = bit_copy<Halves>(by.m);
  const auto inverses = bit_copy<Halves>(BinaryLogarithm::kInverse[by.index]);
  const auto centers = bit_copy<Halves>(center);
  const auto lows = bit_copy<Halves>(BinaryLogarithm::kLow[by.index]);
  const auto powers = bit_copy<Halves>(y);
  Half steps[2];
  Half fractions[2];
  for (int i = 0; i < 2; ++i) {
    const Doubles r = multiply_add(widened<Doubles>(mantissas.of[i]),
                                   widened<Doubles>(inverses.of[i]), Doubles{} - 1.0);  // exact
    const Doubles rest =
        multiply_add(r,
                     Polynomial{0x1.71547652b806p+0, -0x1.715476598bb84p-1, 0x1.ec709ddd6d057p-2,
                                -0x1.7153f9b901ef5p-2, 0x1.27762cb057034p-2, -0x1.eea8da3907937p-3,
                                0x1.a84fdb1d3af71p-3}(r),
                     widened<Doubles>(lows.of[i]));
    const Doubles product =
        (widened<Doubles>(centers.of[i]) + rest) * widened<Doubles>(powers.of[i]);
    // Beyond it 2^product is infinite or 0.
    constexpr double kFarthest = 160;
    const Doubles exponent = at_least(at_most(product, kFarthest), -kFarthest);
    // Added to it, a number is rounded to sixteenths.
    constexpr double kShift = 0x1.8p+48;
    const Doubles step = (exponent + kShift) - kShift;
    steps[i] = narrowed<Half>(step);
    fractions[i] = narrowed<Half>(exponent - step);
  }
  const V power = finished_power(
      table_power_of_2(joined<V>(steps[0], steps[1]), joined<V>(fractions[0], fractions[1])));
  const bool is_plain = is_every_lane_plain(x) && is_every_lane_within(y, kMostPower);
  if (!is_plain) [[unlikely]]
    return power_of_any_singles(x, y, power);
  return power;
}

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
