// x times the normal distribution's integral up to x, and its approximation by tanh, in f32 and
// f64, for vectors of every instruction set.
//
// With a = |x|, the integral up to -a is
//
//     e^(-a^2 / 2) / (sqrt(2 pi) a + m(a) / n(a))
//
// The divisor rises from 2 to little more than its first term, so m / n matters less where a is
// large, and where a is small only their first terms matter, which are exact. The polynomials
// minimise the largest relative error of the divisor as far as the result is not 0 (as Cody has it,
// "Rational Chebyshev approximations for the error function", Mathematics of Computation 23, 1969;
// found by weighted least squares): 2^-25.9 in f32, 2^-57.8 in f64. All coefficients are positive,
// so nothing cancels. An error of n cancels for the most part: it is in the dividend too. a^2 / 2
// is kept with its rounding error, or the power would lose as many bits as it has before its point;
// so are the rounding errors of sums and products before a division.
//
// Sets with fused multiply-adds use them. NaN stays; minus infinity gives the limit, -0.
#pragma once

#include "cpu/kernels/elementwise/exp.hpp"
#include "cpu/kernels/elementwise/sigmoid.hpp"
#include "cpu/kernels/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T>
struct GeluOf;

template <>
struct GeluOf<float> {
  // Beyond them on the negative side the two functions are 0.
  static constexpr float kFarthest = 15.5f;
  static constexpr float kFarthestByTanh = 11.5f;
  // m and n without their first terms, 2 and 1.
  static constexpr Polynomial kM = {0x1.d67cf6p-1f, 0x1.d7fe92p-3f, 0x1.8d8e28p-6f, 0x1.3f845p-19f};
  static constexpr Polynomial kN = {0x1.d46c68p-1f, 0x1.94c75ap-2f, 0x1.752864p-4f, 0x1.3e9feap-7f};
  // sqrt(2 pi).
  static constexpr Long<float> kRoot = {0x1.40d932p+1f, -0x1.3b1f4ep-32f};
  // sqrt(8 / pi), and 0.044715 times as much.
  static constexpr Long<float> kLinear = {0x1.988454p+0f, -0x1.857936p-25f};
  static constexpr Long<float> kCubic = {0x1.2444f2p-4f, 0x1.49b16ap-29f};
};

template <>
struct GeluOf<double> {
  static constexpr double kFarthest = 39.0;
  static constexpr double kFarthestByTanh = 21.75;
  static constexpr Polynomial kM = {
      0x1.3d1d425417aacp+1,  0x1.91bb54bfe6ff3p+0,  0x1.4a619b557ad51p-1,
      0x1.7f20d92cf4f7cp-3,  0x1.42725595f72f7p-5,  0x1.88d794008f799p-8,
      0x1.4e7312147d28ep-11, 0x1.6b15b849398efp-15, 0x1.83897edb2fb4ep-20};
  static constexpr Polynomial kN = {
      0x1.b1b44ab4d8686p+0,  0x1.6b69b85534798p+0, 0x1.85fa69b3ca19dp-1, 0x1.263a376283138p-2,
      0x1.44db9a47e105dp-4,  0x1.098ec6203d831p-6, 0x1.3df81da35d6cap-9, 0x1.0c0f583955e37p-12,
      0x1.21b32578e21bdp-16, 0x1.3535b98af0a3ap-21};
  static constexpr Long<double> kRoot = {0x1.40d931ff62706p+1, -0x1.a6a0d6f814637p-53};
  static constexpr Long<double> kLinear = {0x1.9884533d43651p+0, -0x1.cbc0d30ebfd15p-54};
  static constexpr Long<double> kCubic = {0x1.2444f2a4d8b4bp-4, -0x1.6c843a29d1c7p-61};
};

// -x = n ln 2 + r, of x with its rounding error.
template <class V>
inline ReducedByLn2<V> reduce_negated(const Long<V>& x) {
  ReducedByLn2<V> by = reduce_by_ln2(-x.high);
  by.r += by.lost - x.low;
  by.lost = V{};
  return by;
}

// gelu of f32, which may err by four units in the last place: only a^2 / 2 is kept with its
// rounding error. The largest error on 10 million f32 was 3.5.
template <class V>
inline V gelu_by_table(V x) {
  using Of = GeluOf<float>;
  const V a = at_most(magnitude_of(x), Of::kFarthest);
  const Long<V> exponent = product_of(0.5f * a, a);
  const TablePower<V> by = table_power(-exponent.high, -exponent.low);
  const V dividend = a + a * (a * Of::kN(a));
  const V divisor = 2.0f + (a * Of::kM(a) + dividend * Of::kRoot.high);
  const V below = weighted_power(by, dividend / divisor);
  return x < 0 ? -below : x - below;
}

template <class V>
inline V gelu(V x) {
  using T = Number<V>;
  if constexpr (kSame<T, float>) {
    return gelu_by_table(x);
  } else {
    using Of = GeluOf<T>;
    using Bits = As<UnsignedOf<T>, V>;
    constexpr auto kSign = UnsignedOf<T>{1} << (8 * sizeof(T) - 1);
    const V a = clamp(x, Of::kFarthest).magnitude;
    const PowerOfE<V> power = power_of_e(reduce_negated(product_of(T{0.5} * a, a)), Bits{} + kSign);
    const Long<V> mantissa = sum_of(power.high, power.low);
    Long<V> weighted = product_of(mantissa.high, a);
    weighted.low += mantissa.low * a;
    const V n = T{1} + a * Of::kN(a);
    const Long<V> m = sum_of_any(V{} + T{2}, a * Of::kM(a));
    Long<V> root = product_of(a, V{} + Of::kRoot.high);
    root.low += a * Of::kRoot.low;
    const Long<V> product = product_of(root.high, n);
    Long<V> divisor = sum_of_any(product.high, m.high);
    divisor.low += (product.low + root.low * n) + m.low;
    Long<V> dividend = product_of(weighted.high, n);
    dividend.low += weighted.low * n;
    const V tail = quotient(dividend, divisor);
    const V below = scaled_down(tail * power.first);
    return x < 0 ? -below : x - below;
  }
}

// x / (1 + e^-v), v = sqrt(8 / pi) (x + 0.044715 x^3).
template <class V>
inline V gelu_tanh(V x) {
  using T = Number<V>;
  using Of = GeluOf<T>;
  constexpr T kFarthest = Of::kFarthestByTanh;
  const V a = at_most(magnitude_of(x), kFarthest);
  const Long<V> square = product_of(a, a);
  const Long<V> cubic = product_of(square.high, V{} + Of::kCubic.high);
  const V cubic_low = cubic.low + (square.low * Of::kCubic.high + square.high * Of::kCubic.low);
  const Long<V> slope = sum_of_any(V{} + Of::kLinear.high, cubic.high);
  Long<V> v = product_of(a, slope.high);
  v.low += a * (slope.low + (cubic_low + Of::kLinear.low));
  const V factor = at_least(x, -kFarthest);
  if constexpr (kSame<T, float>) {
    return over_one_and_power(factor, x, v.high, v.low);
  } else {
    return over_one_and_power(factor, x, reduce_negated(v));
  }
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
