// e^x - 1, sinh, cosh and the inverse hyperbolic functions, within the errors that the table of
// operations states, in f32 and f64, without a branch or a table, for vectors of every instruction
// set.
//
// With t = e^|x| - 1, which keeps all digits where x is small, as tanh.hpp has it:
//
//     sinh |x| = (t + t / (t + 1)) / 2,   cosh x = e^|x| / 2 + 1 / (2 e^|x|)
//     asinh |x| = ln(1 + |x| + x^2 / (1 + sqrt(x^2 + 1)))
//     acosh x = ln(1 + t + sqrt(2 t + t^2)),   t = x - 1
//     atanh |x| = ln(1 + 2 |x| + 2 x^2 / (1 - |x|)) / 2
//
// Where the second term is below half of the last place, only the first is computed: a power whose
// half does not overflow, a logarithm of |x| and ln 2.
//
// Every set gives the same bits. NaN stays.
#pragma once

#include "cpu/kernels/elementwise/exp.hpp"
#include "cpu/kernels/elementwise/log.hpp"
#include "cpu/kernels/elementwise/tanh.hpp"
#include "cpu/kernels/rounding.hpp"
#include "cpu/kernels/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// From here on e^x - 1 and e^x - e^-x round to e^x.
template <class T>
inline constexpr T kPowerAlone = 2 * kTanhIsOne<T>;

// e^x - 1. It is -1 below -kPowerAlone.
template <class V>
inline V exponential_less_one(V x) {
  constexpr auto kFar = kPowerAlone<Number<V>>;
  const V near = x > kFar ? V{} + kFar : x < -kFar ? V{} - kFar : x;
  const V t = power_of_e_less_one(reduce_by_ln2(near)).high;
  return x > kFar ? exponential(x > kFar ? x : V{}) : with_sign_of(t, x);
}

// e^|x| / 2, which is finite where twice as much is not.
template <class V>
inline V half_of_power(V magnitude) {
  using T = Number<V>;
  const V within = magnitude > ExpOf<T>::kFarthest ? V{} + ExpOf<T>::kFarthest : magnitude;
  const PowerOfE<V> power = power_of_e(reduce_by_ln2(within), As<UnsignedOf<T>, V>{});
  return (power.high + power.low) * power.first * (power.second * T{0.5});
}

template <class V>
inline V hyperbolic_sine(V x) {
  using T = Number<V>;
  const V magnitude = magnitude_of(x);
  constexpr auto kFar = kPowerAlone<T>;
  const Long<V> t = power_of_e_less_one(reduce_by_ln2(magnitude > kFar ? V{} + kFar : magnitude));
  Long<V> one_more = sum_of_any(t.high, V{} + T{1});
  one_more.low += t.low;
  const V near = (t.high + (quotient(t, one_more) + t.low)) * T{0.5};
  return with_sign_of(magnitude > kFar ? half_of_power(magnitude) : near, x);
}

template <class V>
inline V hyperbolic_cosine(V x) {
  const V half = half_of_power(magnitude_of(x));
  return half + Number<V>{0.25} / half;
}

// From here on x^2 + 1 and x^2 - 1 round to x^2.
template <class T>
inline constexpr T kSquareAlone = sizeof(T) == 8 ? static_cast<T>(0x1p28) : static_cast<T>(0x1p13f);

// ln(2 x).
template <class V>
inline V logarithm_of_twice(V x) {
  using T = Number<V>;
  const V infinity = V{} + static_cast<T>(__builtin_inff());
  const V finite = x < infinity ? x * T{0.5} : x;  // never subnormal here
  const Binade<V> of = binade_of(finite);
  const V n = of.n + T{2};
  const Long<V> sum = sum_of(n * ExpOf<T>::kLn2High, of.f);
  const V rest = log_beyond_first_term(of.f) + n * ExpOf<T>::kLn2Low;
  return logarithm_or_limit(x, sum.high + (sum.low + rest));
}

template <class V>
inline V inverse_hyperbolic_sine(V x) {
  using T = Number<V>;
  const V a = magnitude_of(x);
  const V within = a < kSquareAlone<T> ? a : V{} + T{1};
  const V square = within * within;
  const V more = square / (T{1} + square_root(square + T{1}));
  const V near = logarithm_of_one_more(sum_of(within, more));
  return with_sign_of(a < kSquareAlone<T> ? near : logarithm_of_twice(a), x);
}

template <class V>
inline V inverse_hyperbolic_cosine(V x) {
  using T = Number<V>;
  const V within = x < kSquareAlone<T> ? x : V{} + T{2};
  const V t = within - T{1};
  const Long<V> square = product_of(t, t);
  const Long<V> sum = sum_of_any(square.high, t + t);
  const V low = sum.low + square.low;
  const V root = square_root(sum.high);
  const Long<V> back = product_of(root, root);
  const V rest = root > 0 ? (((sum.high - back.high) - back.low) + low) / (root + root) : V{};
  Long<V> more = sum_of_any(root, t);
  more.low += rest;
  const V near = logarithm_of_one_more(more);
  const V far = logarithm_of_twice(x);
  return x < kSquareAlone<T> ? (x < 1 ? V{} + static_cast<T>(__builtin_nanf("")) : near) : far;
}

template <class V>
inline V inverse_hyperbolic_tangent(V x) {
  using T = Number<V>;
  const V a = magnitude_of(x);
  const V twice = a + a;
  const V more = twice * (a / (T{1} - a));
  const Long<V> sum = sum_of_any(twice, a < 1 ? more : V{});
  const V inside = T{0.5} * logarithm_of_one_more(sum);
  const V beyond = a > 1 ? V{} + static_cast<T>(__builtin_nanf("")) : a;
  const V limit = a == 1 ? V{} + static_cast<T>(__builtin_inff()) : beyond;
  return with_sign_of(a < 1 ? inside : limit, x);
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
