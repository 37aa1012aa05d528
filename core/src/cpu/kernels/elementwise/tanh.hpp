// tanh x within one unit in the last place, and e^x - 1 of negative numbers, in f32 and f64,
// without a branch or a table, for vectors of every instruction set.
//
//     tanh |x| = t / (t + 2),   t = e^(2 |x|) - 1,   and the sign is that of x
//
// With 2 |x| = n ln 2 + r, as exp.hpp has it, and its polynomial q,
//
//     t = 2^n p + (2^n - 1),   p = e^r - 1 = r + r^2 q(r)
//
// Where x is small, n is 0 and t is p, which is as exact as r: so the relative error stays small
// down to the subnormal numbers, and tanh of 0 is 0.
//
// t is kept with what its sums lose, as is t + 2, and their quotient is rounded once. Before that,
// r^2 q(r) has roundings, which is a sixth of t at most, and the polynomial an error of 2^-29 (f64:
// 2^-59) of e^r.
//
// Every set gives the same bits. NaN stays.
#pragma once

#include "cpu/kernels/elementwise/exp.hpp"
#include "cpu/kernels/elementwise/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// From here on tanh rounds to 1.
template <class T>
inline constexpr T kTanhIsOne = sizeof(T) == 8 ? 20 : 10;

// e^x - 1 of x = n ln 2 + r, as long as 2^n is a normal number.
template <class V>
inline Long<V> power_of_e_less_one(const ReducedByLn2<V>& by) {
  using T = Number<V>;
  using Of = ExpOf<T>;
  using Bits = As<UnsignedOf<T>, V>;
  const V square = by.r * by.r;
  const V power = bit_copy<V>((bit_copy<Bits>(by.shifted) << Of::kFractionBits) +
                              (Of::kBias << Of::kFractionBits));
  const V less_one = power - T{1};
  const V lost = (power - less_one) - T{1};
  const Long<V> sum = sum_of(less_one, power * by.r);
  return sum_of(sum.high, (sum.low + lost) + power * (square * Of::q(by.r, square) + by.lost));
}

template <class V>
inline V hyperbolic_tangent(V x) {
  using T = Number<V>;
  using Bits = As<UnsignedOf<T>, V>;
  const auto [sign, magnitude] = clamp(x, kTanhIsOne<T>);
  const Long<V> t = power_of_e_less_one(reduce_by_ln2(magnitude + magnitude));
  Long<V> divisor = sum_of_any(t.high, V{} + T{2});
  divisor.low += t.low;
  return bit_copy<V>(bit_copy<Bits>(quotient(t, divisor)) | sign);
}

// e^x - 1 where x is negative, else x. It is -1 from -20 on (f64: -40), and the power normal.
template <class V>
inline V elu(V x) {
  using T = Number<V>;
  using Bits = As<UnsignedOf<T>, V>;
  const auto [sign, magnitude] = clamp(x, 2 * kTanhIsOne<T>);
  const V t = power_of_e_less_one(reduce_by_ln2(-magnitude)).high;
  return x > 0 ? x : bit_copy<V>(bit_copy<Bits>(t) | sign);
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
