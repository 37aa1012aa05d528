// Hyperbolic functions, their inverses and 1 / (1 + e^-x) of f64, by the tables of exp.hpp and
// log.hpp, for vectors of every instruction set.
//
// With |x| = n ln 2 + r, s = 2^n and i = 2^-n from the table, C = cosh r - 1 and S = sinh r:
//
//     sinh |x| = ((s - i) + ((s - i) C + (s + i) S)) / 2
//     cosh x = ((s + i) + ((s + i) C + (s - i) S)) / 2
//     tanh |x| = -t / (t + 2),   t = e^(-2 |x|) - 1
//     1 / (1 + e^-x) = 1 / (1 + s + s p),   e^-x = s + s p
//     asinh |x| = ln(|x| + w),   w = sqrt(x^2 + 1)
//     acosh x = ln(x + sqrt(x^2 - 1))
//     atanh |x| = ln((1 + |x|) / (1 - |x|)) / 2
//
// s - i, s + i, s - 1 and s + 1, and the arguments of logarithms, are kept with their rounding
// errors: near 0 that of 1 + x has all digits of the result.
// The largest errors that were found are 1.02 units in the last place, and 1.58 for x / (1 + e^-x)
// (README.md).
#pragma once

#include "cpu/kernels/elementwise/double/exp.hpp"
#include "cpu/kernels/elementwise/double/log.hpp"
#include "cpu/kernels/rounding.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// The parts of sinh and cosh of |x| up to kOrdinary.
template <IsDoubles V>
struct HyperbolicParts {
  V s;
  V s_lost;  // relative to s
  V i;
  V i_lost;
  V r;
  V sine;    // less r
  V cosine;  // less 1

  explicit HyperbolicParts(V magnitude) {
    const auto by = reduce_by_steps(magnitude);
    const auto opposite = As<uint64_t, V>{} - by.index;
    s = power_by_index(by.index);
    i = power_by_index(opposite);
    s_lost = PowersOfTwo::kLost[by.index];
    i_lost = PowersOfTwo::kLost[opposite];
    const V square = by.r * by.r;
    cosine = square * PowersOfTwo::kCosine(square);
    r = by.r;
    sine = (r * square) * PowersOfTwo::kSine(square);
  }
};

template <IsDoubles V>
__attribute__((noinline)) V far_hyperbolic(V x, V near) {
  const V a = magnitude_of(x);
  return a > kOrdinary ? far_power(a, V{}, V{} + 0.5) : near;
}

template <IsDoubles V>
inline V hyperbolic_sine(V x) {
  const V a = magnitude_of(x);
  const HyperbolicParts<V> of(a);
  const V difference = of.s - of.i;
  const V sum = of.s + of.i;
  const Long<V> slope = product_of(sum, of.r);
  const Long<V> first = sum_of(difference, slope.high);
  V low = ((of.s - difference) - of.i) + (first.low + slope.low);
  low = multiply_add(of.s, of.s_lost, low);
  low = multiply_add(-of.i, of.i_lost, low);
  low = multiply_add(sum, of.sine, low);
  const V near = 0.5 * (first.high + multiply_add(difference, of.cosine, low));
  if (!is_every_lane_within(x, kOrdinary)) [[unlikely]]
    return with_sign_of(far_hyperbolic(x, near), x);
  return with_sign_of(near, x);
}

template <IsDoubles V>
inline V hyperbolic_cosine(V x) {
  const V a = magnitude_of(x);
  const HyperbolicParts<V> of(a);
  const V sum = of.s + of.i;
  V low = (of.s - sum) + of.i;
  low = multiply_add(of.s, of.s_lost, low);
  low = multiply_add(of.s - of.i, of.r + of.sine, low);
  const V near = 0.5 * (sum + multiply_add(sum, of.cosine, low));
  if (!is_every_lane_within(x, kOrdinary)) [[unlikely]]
    return far_hyperbolic(x, near);
  return near;
}

// From 20 on tanh rounds to 1.
template <IsDoubles V>
inline V hyperbolic_tangent(V x) {
  const V a = at_most(magnitude_of(x), 20.0);
  const Long<V> parts = long_power_less_one(-2.0 * a);
  const Long<V> t = sum_of(parts.high, parts.low);
  const Long<V> divisor = sum_of(V{} + 2.0, t.high);
  const V ratio = quotient(t, Long<V>{divisor.high, divisor.low + t.low});
  return with_sign_of(magnitude_of(ratio), x);
}

// Up to this distance from 0 1 / (1 + e^-x) is a normal number.
inline constexpr double kOrdinarySigmoid = 700;

// 1 / (1 + e^-x), of x up to kOrdinarySigmoid from 0.
template <IsDoubles V>
inline V sigmoid_near(V x) {
  const auto by = power_by_steps(-x);
  const V s = power_by_index(by.index);
  const Long<V> sum = sum_of_any(V{} + 1.0, s);
  const Long<V> divisor = sum_of(sum.high, multiply_add(s, by.p, sum.low));
  const V inverse = 1.0 / divisor.high;
#if defined(__FMA__)
  const V rest = fused(-inverse, divisor.high, V{} + 1.0);
#else
  const Long<V> one = product_of(inverse, divisor.high);
  const V rest = (1.0 - one.high) - one.low;
#endif
  return multiply_add(inverse, multiply_add(-inverse, divisor.low, rest), inverse);
}

// factor / (1 + e^-x) of any x, and factors that are 1 or x.
template <IsDoubles V>
__attribute__((noinline)) V far_sigmoid(V x, V factor) {
  const V within = at_least(at_most(x, kOrdinarySigmoid), -kOrdinarySigmoid);
  const V near = sigmoid_near(within) * factor;
  const V far = far_power(x, V{}, at_least(factor, -kFarthestPower));
  return x < -kOrdinarySigmoid ? far : near;
}

template <IsDoubles V>
inline V sigmoid(V x) {
  const V result = sigmoid_near(x);
  if (!is_every_lane_within(x, kOrdinarySigmoid)) [[unlikely]]
    return far_sigmoid(x, V{} + 1.0);
  return result;
}

// Minus infinity gives the limit, -0.
template <IsDoubles V>
inline V silu(V x) {
  const V result = sigmoid_near(x) * x;
  if (!is_every_lane_within(x, kOrdinarySigmoid)) [[unlikely]]
    return far_sigmoid(x, x);
  return result;
}

// The root of a number, with its rounding error; the root of 0 is 0.
template <IsDoubles V>
inline Long<V> root_of(const Long<V>& x) {
  const V root = square_root(x.high);
#if defined(__FMA__)
  const V rest = fused(-root, root, x.high);
#else
  const Long<V> back = product_of(root, root);
  const V rest = (x.high - back.high) - back.low;
#endif
  return {root, (rest + x.low) * (0.5 / (root > 0 ? root : V{} + 1.0))};
}

// Up to it squares are finite and, from 1 on, their rounding errors numbers.
inline constexpr double kOrdinarySquare = 0x1p500;

// ln(2 x) of x > kOrdinarySquare, else near.
template <IsDoubles V>
__attribute__((noinline)) V far_inverse_hyperbolic(V x, V near) {
  const V halved = logarithm_of_any_doubles<NaturalOfDoubles>(x);
  return x > kOrdinarySquare ? halved + 0x1.62e42fefa39efp-1 : near;
}

template <IsDoubles V>
inline V inverse_hyperbolic_sine(V x) {
  const V a = magnitude_of(x);
  const Long<V> square = product_of(a, a);
  const Long<V> sum = sum_of_any(V{} + 1.0, square.high);
  const Long<V> root = root_of(Long<V>{sum.high, sum.low + square.low});
  const Long<V> u = sum_of(root.high, a);
  const V near = logarithm_of_long(Long<V>{u.high, u.low + root.low});
  if (!is_every_lane_within(x, kOrdinarySquare)) [[unlikely]]
    return with_sign_of(a <= kOrdinarySquare ? near : far_inverse_hyperbolic(a, a), x);
  return with_sign_of(near, x);
}

template <IsDoubles V>
inline V inverse_hyperbolic_cosine(V x) {
  const Long<V> square = product_of(x, x);
  const Long<V> sum = sum_of(square.high, V{} - 1.0);
  const Long<V> root = root_of(sum_of(sum.high, sum.low + square.low));
  const Long<V> u = sum_of(x, root.high);
  const V near = logarithm_of_long(Long<V>{u.high, u.low + root.low});
  if (!is_every_lane_from(x, 1.0, kOrdinarySquare)) [[unlikely]] {
    const V far = far_inverse_hyperbolic(x, near);
    return x < 1 ? V{} + __builtin_nan("") : x != x ? x : far;
  }
  return near;
}

template <IsDoubles V>
__attribute__((noinline)) V limit_of_inverse_tangent(V a, V near) {
  const V beyond = a > 1 ? V{} + __builtin_nan("") : a;
  return a < 1 ? near : a == 1 ? V{} + __builtin_inf() : beyond;
}

template <IsDoubles V>
inline V inverse_hyperbolic_tangent(V x) {
  const V a = magnitude_of(x);
  const Long<V> dividend = sum_of(V{} + 1.0, a);
  const Long<V> divisor = sum_of(V{} + 1.0, -a);
  const V inverse = 1.0 / divisor.high;
  const V u = dividend.high * inverse;
#if defined(__FMA__)
  const V rest = fused(-u, divisor.high, dividend.high);
#else
  const Long<V> back = product_of(u, divisor.high);
  const V rest = (dividend.high - back.high) - back.low;
#endif
  const V lost = (rest + multiply_add(-u, divisor.low, dividend.low)) * inverse;
  const V near = 0.5 * logarithm_of_long(Long<V>{u, lost});
  if (!is_every_lane_within(x, 1 - 0x1p-53)) [[unlikely]]
    return with_sign_of(limit_of_inverse_tangent(a, near), x);
  return with_sign_of(near, x);
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
