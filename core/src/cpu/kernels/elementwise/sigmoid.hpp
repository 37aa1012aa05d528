// 1 / (1 + e^-x) within one unit in the last place, and products with it, in f32 and f64, for
// vectors of every instruction set. The method below is that of gelu_tanh of f64; f32 takes powers
// from a table and divides only 1. double/hyperbolic.hpp has the functions of f64.
//
//     e = e^-|x|;   1 / (1 + e) where x is not negative, e / (1 + e) where it is
//
// Neither cancels, and e never overflows. e and 1 + e are kept with the rounding errors of their
// sums, and their quotient is rounded once; a subnormal result once more. The power of two of e in
// the dividend is multiplied last, so that the quotient is of normal numbers.
//
// Sets with fused multiply-adds use them. NaN stays.
#pragma once

#include "cpu/kernels/elementwise/exp.hpp"
#include "cpu/kernels/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// factor / (1 + e^-x), where -|x| = n ln 2 + r, for factors that are 1 or at most |x|.
template <class V>
inline V over_one_and_power(V factor, V x, const ReducedByLn2<V>& by) {
  using T = Number<V>;
  using Bits = As<UnsignedOf<T>, V>;
  constexpr auto kSign = UnsignedOf<T>{1} << (8 * sizeof(T) - 1);
  const V one = V{} + T{1};
  const PowerOfE<V> power = power_of_e(by, Bits{} + kSign);
  const Long<V> mantissa = sum_of(power.high, power.low);
  const V high = scaled_down(mantissa.high * power.first);
  const V low = scaled_down(mantissa.low * power.first);
  const Long<V> sum = sum_of(one, high);
  const auto is_negative = x < 0;
  const Long<V> dividend = {is_negative ? mantissa.high : one, is_negative ? mantissa.low : V{}};
  const V ratio = quotient(dividend, {sum.high, sum.low + low});
  const V first = factor * ratio * (is_negative ? power.first : one);
  return last_step(first, is_negative ? power.second : one, x, T{-700});
}

// factor / (1 + e^-x) of f32, where magnitude + magnitude_low is |x|.
//
//     q = 1 / (1 + e^|x|) where x is negative, 1 - q where it is not
//
// q is in two parts, so that 1 - q is rounded once too. Where no digit of 1 + e^|x| is of the 1, q
// is e^-|x|, whose power of two is multiplied last, so that a subnormal result is rounded once
// more.
template <class V>
inline V over_one_and_power(V factor, V x, V magnitude, V magnitude_low) {
  constexpr float kLarge = 50;
  const TablePower<V> by = table_power(at_most(magnitude, kLarge), magnitude_low);
  const V power = scaled_power<0>(by);
  const Long<V> mantissa = sum_of(power, power * by.less_one);
  const Long<V> sum = sum_of(mantissa.high, V{} + 1.0f);
  const Long<V> ratio = reciprocal(Long<V>{sum.high, sum.low + mantissa.low});
  const auto is_negative = x < 0;
  const V weight =
      (is_negative ? ratio.high : 1.0f - ratio.high) + (is_negative ? ratio.low : -ratio.low);
  const V result = factor * weight;
  if (!is_any_less(V{} + kLarge, magnitude)) [[likely]]
    return result;
  constexpr float kFarthest = ExpOf<float>::kFarthest;
  const TablePower<V> inverse = table_power(-at_most(magnitude, kFarthest), -magnitude_low);
  const V tail = weighted_power(inverse, factor);
  return is_negative & (magnitude > kLarge) ? tail : result;
}

template <class V>
inline V sigmoid(V x) {
  return over_one_and_power(V{} + 1.0f, x, magnitude_of(x), V{});
}

// x / (1 + e^-x). Minus infinity gives the limit, -0: beyond kFarthest every product is 0.
template <class V>
inline V silu(V x) {
  const V factor = at_least(x, -ExpOf<float>::kFarthest);
  return over_one_and_power(factor, x, magnitude_of(x), V{});
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
