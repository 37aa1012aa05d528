// 1 / (1 + e^-x) within one unit in the last place, and products with it, in f32 and f64, without a
// branch or a table, for vectors of every instruction set.
//
//     e = e^-|x|;   1 / (1 + e) where x is not negative, e / (1 + e) where it is
//
// Neither cancels, and e never overflows. e and 1 + e are kept with what their sums lose, and their
// quotient is rounded once; a subnormal result once more. The power of two of e in the dividend is
// multiplied last, so that the quotient is of normal numbers.
//
// Every set gives the same bits. NaN stays.
#pragma once

#include "cpu/kernels/elementwise/exp.hpp"
#include "cpu/kernels/elementwise/vector_math.hpp"

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
  const V high = mantissa.high * power.first * power.second;
  const V low = mantissa.low * power.first * power.second;
  const Long<V> sum = sum_of(one, high);
  const auto is_negative = x < 0;
  const Long<V> dividend = {is_negative ? mantissa.high : one, is_negative ? mantissa.low : V{}};
  const V ratio = quotient(dividend, {sum.high, sum.low + low});
  return factor * ratio * (is_negative ? power.first : one) * (is_negative ? power.second : one);
}

template <class V>
inline V sigmoid(V x) {
  const V magnitude = clamp(x, ExpOf<Number<V>>::kFarthest).magnitude;
  return over_one_and_power(V{} + Number<V>{1}, x, reduce_by_ln2(-magnitude));
}

// x / (1 + e^-x). Minus infinity gives the limit, -0: beyond kFarthest every product is 0.
template <class V>
inline V silu(V x) {
  constexpr auto kFarthest = ExpOf<Number<V>>::kFarthest;
  const V magnitude = clamp(x, kFarthest).magnitude;
  const V factor = x < -kFarthest ? V{} - kFarthest : x;
  return over_one_and_power(factor, x, reduce_by_ln2(-magnitude));
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
