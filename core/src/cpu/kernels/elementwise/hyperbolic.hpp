// e^x - 1, sinh, cosh and the inverse hyperbolic functions of f32, for vectors of every instruction
// set, within the errors that the table of operations states. double/hyperbolic.hpp has those of
// f64.
//
// With x = n ln 2 + r as exp.hpp has it, s and t the powers 2^n and 2^-n from its table:
//
//     e^x - 1 = s - 1 + s (e^r - 1)
//     sinh |x| = (s - t + (s - t) (cosh r - 1) + (s + t) sinh r) / 2, and cosh x with s + t first
//     asinh |x| = ln(1 + |x| + x^2 / (1 + sqrt(x^2 + 1)))
//     acosh x = ln(1 + w + sqrt(2 w + w^2)),   w = x - 1
//     atanh |x| = ln(1 + 2 |x| + 2 x^2 / (1 - |x|)) / 2
//
// The table's rounding errors are added to the small terms. The polynomials minimise the largest
// relative errors: 2^-31.5 of e^r - 1 and sinh r, 2^-29 of cosh r. Lanes far from 0 have another
// way, behind one branch for the vector: a power whose half does not overflow, a logarithm of twice
// |x|.
#pragma once

#include "cpu/kernels/elementwise/exp.hpp"
#include "cpu/kernels/elementwise/log.hpp"
#include "cpu/kernels/elementwise/log_by_table.hpp"
#include "cpu/kernels/rounding.hpp"
#include "cpu/kernels/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Up to it powers and their inverses are normal numbers.
inline constexpr float kMostNormal = 87;

// x = n ln 2 + r.
template <class V>
struct SixteenthOfLn2 {
  V n;
  V r;
};
template <class V>
inline SixteenthOfLn2<V> reduce_by_sixteenths(V x) {
  using Of = TableOfPowers;
  const V shifted = multiply_add(x, V{} + ExpOf<float>::kInverseLn2, V{} + Of::kShift);
  const V n = shifted - Of::kShift;
  return {n, multiply_add(n, V{} - Of::kLn2Low, less_exact_product(x, n, Of::kLn2High))};
}

// 2^n of multiples of 1/16, and its rounding error.
template <class V>
inline Long<V> power_with_loss(V n) {
  const auto index = bit_copy<As<uint32_t, V>>(n + TableOfPowers::kShift);
  const V power = scaled_power<0>(TablePower<V>{index, n, V{}});
  return {power, power * TableOfPowers::kLost[index]};
}

template <class V>
__attribute__((noinline)) V any_exponential_less_one(V x, V result) {
  const V far = x < 0 ? V{} - 1.0f : exponential(x);
  return magnitude_of(x) > kMostNormal ? far : result;
}

template <class V>
inline V exponential_less_one(V x) {
  const SixteenthOfLn2<V> by = reduce_by_sixteenths(x);
  const Long<V> s = power_with_loss(by.n);
  const V rest = (by.r * by.r) * Polynomial{0x1p-1f, 0x1.55570ap-3f, 0x1.5554dcp-5f}(by.r);
  const V small = multiply_add(s.high, by.r + rest, s.low);
  const V result = with_sign_of((s.high - 1.0f) + small, x);
  if (!is_every_lane_within(x, kMostNormal)) [[unlikely]]
    return any_exponential_less_one(x, result);
  return result;
}

// e^|x| / 2, which is finite where twice as much is not.
template <class V>
inline V half_of_power(V magnitude) {
  const V within = magnitude > ExpOf<float>::kFarthest ? V{} + ExpOf<float>::kFarthest : magnitude;
  const PowerOfE<V> power = power_of_e(reduce_by_ln2(within), As<uint32_t, V>{});
  return (power.high + power.low) * power.first * (power.second * 0.5f);
}
template <class V>
__attribute__((noinline)) V half_of_any_power(V magnitude, V result) {
  return magnitude > kMostNormal ? half_of_power(magnitude) : result;
}

// (e^a + e^-a) / 2 or (e^a - e^-a) / 2, for kSign 1 or -1, of a that is not negative.
template <int kSign, class V>
inline V half_of_both_powers(V a) {
  const SixteenthOfLn2<V> by = reduce_by_sixteenths(a);
  const Long<V> s = power_with_loss(by.n);
  const Long<V> t = power_with_loss(-by.n);
  const V square = by.r * by.r;
  const V sinh = multiply_add(by.r * square, V{} + 0x1.55570ap-3f, by.r);
  const V cosh_less_one = square * 0x1.000222p-1f;
  const V sum = s.high + t.high;
  const V difference = s.high - t.high;
  const V first = kSign > 0 ? sum : difference;
  const V low = kSign > 0 ? s.low + t.low : s.low - t.low;
  const V second = kSign > 0 ? difference : sum;
  const V small = multiply_add(second, sinh, multiply_add(first, cosh_less_one, low));
  return (first + small) * 0.5f;
}

template <class V>
inline V hyperbolic_sine(V x) {
  const V a = magnitude_of(x);
  const V result = half_of_both_powers<-1>(a);
  if (!is_every_lane_within(x, kMostNormal)) [[unlikely]]
    return with_sign_of(half_of_any_power(a, result), x);
  return with_sign_of(result, x);
}

template <class V>
inline V hyperbolic_cosine(V x) {
  const V a = magnitude_of(x);
  const V result = half_of_both_powers<1>(a);
  if (!is_every_lane_within(x, kMostNormal)) [[unlikely]]
    return half_of_any_power(a, result);
  return result;
}

// From here on x^2 + 1 and x^2 - 1 round to x^2.
inline constexpr float kSquareAlone = 0x1p13f;

// ln(1 + x) of x with its rounding error, of finite numbers above -1 that are not subnormal then.
template <class V>
inline V logarithm_of_one_more_than(const Long<V>& x) {
  const Long<V> u = sum_of_any(V{} + 1.0f, x.high);
  return logarithm_of_plain<NaturalLogarithm, true>(u.high, u.low + x.low, V{});
}

// ln(2 x) where x is not below kSquareAlone.
template <class V>
__attribute__((noinline)) V logarithm_of_any_twice(V x, V result) {
  const V finite = x < __builtin_inff() ? x : V{} + 1.0f;
  const V far = logarithm_of_plain<NaturalLogarithm, false>(finite, V{}, V{} + 1.0f);
  return x < kSquareAlone ? result : x < __builtin_inff() ? far : x;
}

template <class V>
inline V inverse_hyperbolic_sine(V x) {
  const V a = magnitude_of(x);
  const V within = at_most(a, kSquareAlone);
  const V square = within * within;
  const V more = square / (1.0f + square_root(square + 1.0f));
  const V result = logarithm_of_one_more_than(sum_of(within, more));
  if (!is_every_lane_within(x, kSquareAlone)) [[unlikely]]
    return with_sign_of(logarithm_of_any_twice(a, result), x);
  return with_sign_of(result, x);
}

template <class V>
inline V inverse_hyperbolic_cosine(V x) {
  const V within = at_least(at_most(x, kSquareAlone), 1.0f);
  const V t = within - 1.0f;
  const Long<V> square = product_of(t, t);
  const Long<V> sum = sum_of_any(square.high, t + t);
  const V low = sum.low + square.low;
  const V root = square_root(sum.high);
#if defined(__FMA__)
  const V left = fused(-root, root, sum.high) + low;
#else
  const Long<V> back = product_of(root, root);
  const V left = ((sum.high - back.high) - back.low) + low;
#endif
  const V rest = left / at_least(root + root, 0x1p-100f);
  Long<V> more = sum_of_any(root, t);
  more.low += rest;
  const V result = logarithm_of_one_more_than(more);
  const V defined = x < 1 ? V{} + __builtin_nanf("") : result;
  if (!is_every_lane_within(x, kSquareAlone)) [[unlikely]]
    return logarithm_of_any_twice(x, defined);
  return defined;
}

template <class V>
inline V inverse_hyperbolic_tangent(V x) {
  const V a = magnitude_of(x);
  const V within = a < 1 ? a : V{};
  const V twice = within + within;
  const V more = twice * (within / (1.0f - within));
  const V inside = 0.5f * logarithm_of_one_more_than(sum_of_any(twice, more));
  const V beyond = a > 1 ? V{} + __builtin_nanf("") : a;
  const V limit = a == 1 ? V{} + __builtin_inff() : beyond;
  return with_sign_of(a < 1 ? inside : limit, x);
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
