// tanh x within one unit in the last place, and e^x - 1 of negative numbers, without a branch, for
// vectors of every instruction set. tanh of f32 is a table of polynomials (TanhIntervals), and
// double/hyperbolic.hpp has that of f64; the method below is that of e^x - 1, and of tanh on devices.
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
// t is kept with the rounding errors of its sums, as is t + 2, and their quotient is rounded once.
// Before that, r^2 q(r) has roundings, which is a sixth of t at most, and the polynomial an error
// of 2^-29 (f64: 2^-59) of e^r.
//
// Sets with fused multiply-adds use them. NaN stays.
#pragma once

#include "cpu/kernels/elementwise/exp.hpp"
#include "cpu/kernels/elementwise/table.hpp"
#include "cpu/kernels/vector_math.hpp"

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

// tanh of f32: a polynomial for each half of an octave from 1/4 to 12, and one below 1/4,
//
//     tanh a = b + r (c0 + r (c1 + ...)),   r = a - center,   b = tanh center
//
// with centers near the middle of the intervals for which b is an f32 to within 2^-36 (Gal and
// Bachelis, "An accurate elementary mathematical library for the IEEE floating point standard", ACM
// TOMS 17, 1991). Below 1/4 b is a, and the polynomial is tanh a - a. The sum that is added to b is
// a quarter of it at most, so one rounding of full size remains: the last. The polynomials minimise
// the largest relative error of tanh (found by weighted least squares): 2^-27.2 at most, with their
// coefficients rounded. The largest error on 44 million f32 was 0.91 units in the last place; over
// all f32, a larger number never has a smaller result.
struct TanhIntervals {
  // By an interval's number among the half octaves; number 10 begins at 1/4.
  static constexpr Table16 kCenter = {{0x1.3ff6bcp+1f, 0x1.c01338p+1f, 0x1.3ffc3cp+2f,
                                       0x1.bfe31ep+2f, 0x1.154246p+3f, 0, 0, 0, 0, 0,
                                       0x1.400624p-2f, 0x1.c0023cp-2f, 0x1.400dfap-1f,
                                       0x1.c0129cp-1f, 0x1.3fed1ep+0f, 0x1.bff09ap+0f}};
  static constexpr Table16 kValue = {{0x1.f92486p-1f, 0x1.ff1174p-1f, 0x1.fff418p-1f,
                                      0x1.ffffc8p-1f, 0x1.fffffep-1f, 0, 0, 0, 0, 0, 0x1.35ff1ep-2f,
                                      0x1.a5747ap-2f, 0x1.1bfe2cp-1f, 0x1.686fb4p-1f,
                                      0x1.b247a4p-1f, 0x1.e1f878p-1f}};
  static constexpr Table16 kC0 = {{0x1.b3ee28p-6f, 0x1.dca8dap-9f, 0x1.7cf836p-13f, 0x1.bffc1p-19f,
                                   0x1.ffffecp-24f, 0, 0, 0, 0, 0, 0x1.d113c4p-1f, 0x1.a944f6p-1f,
                                   0x1.627a08p-1f, 0x1.0242d2p-1f, 0x1.1f4904p-2f, 0x1.d2617p-4f}};
  static constexpr Table16 kC1 = {{-0x1.ae16eep-6f, -0x1.dbcba4p-9f, -0x1.7d301ap-13f,
                                   -0x1.c048ep-19f, -0x1.fffbfep-24f, 0, 0, 0, 0, -0x1.48d6a2p-25f,
                                   -0x1.19962cp-2f, -0x1.5e0ff4p-2f, -0x1.893cd8p-2f,
                                   -0x1.6b9eaap-2f, -0x1.e75a34p-3f, -0x1.b706d4p-4f}};
  static constexpr Table16 kC2 = {{0x1.170418p-6f, 0x1.3c0aa4p-9f, 0x1.fc2e3cp-14f, 0x1.2adc58p-19f,
                                   0x1.55593ep-24f, 0, 0, 0, 0, -0x1.555494p-2f, -0x1.c19cf2p-3f,
                                   -0x1.16dedcp-3f, -0x1.233028p-6f, 0x1.4f396p-4f, 0x1.bbb38cp-4f,
                                   0x1.01d128p-4f}};
  static constexpr Table16 kC3 = {{-0x1.07f138p-7f, -0x1.39922p-10f, -0x1.f5e4aep-15f,
                                   -0x1.273a78p-20f, -0x1.55d7p-25f, 0, 0, 0, 0, -0x1.29b19cp-14f,
                                   0x1.43dc28p-3f, 0x1.5c269p-3f, 0x1.1a59aep-3f, 0x1.f1b1bcp-5f,
                                   -0x1.9b6eaep-7f, -0x1.8179d4p-6f}};
  static constexpr Table16 kC4 = {{0x1.773912p-9f, 0x1.ee6c02p-12f, 0x1.91553cp-16f,
                                   0x1.d8a564p-22f, 0x1.0f1b86p-26f, 0, 0, 0, 0, 0x1.12afc4p-3f,
                                   0x1.75017ap-5f, -0x1.9111p-8f, -0x1.c3da48p-5f, -0x1.e20788p-5f,
                                   -0x1.3b24b4p-6f, 0x1.e44c6cp-9f}};
  static constexpr Table16 kC5 = {{-0x1.6e7ec8p-11f, -0x1.48ff62p-13f, -0x1.3523a8p-17f,
                                   -0x1.6d0572p-23f, -0x1.5cb03ep-28f, 0, 0, 0, 0, -0x1.15fa0cp-8f,
                                   -0x1.30e89ap-4f, -0x1.f888a2p-5f, -0x1.89b818p-6f,
                                   0x1.a95c4ap-7f, 0x1.ee65bcp-7f, 0x1.1182f6p-9f}};
  static constexpr Table16 kC6 = {{0x1.f0ac7ap-15f, 0x1.5f04c6p-15f, 0x1.5f13d8p-19f,
                                   0x1.9f02bcp-25f, 0x1.2fc3e2p-29f, 0, 0, 0, 0, -0x1.6c5d0ap-5f,
                                   -0x1.9f770ap-8f, 0x1.734474p-6f, 0x1.e37684p-6f, 0x1.6dc398p-7f,
                                   -0x1.208a3ep-8f, -0x1.025bbep-9f}};

  static constexpr float kFirst = 0.25f;
  static constexpr float kBelowFirst = 0.1875f;  // in the entry before
};

template <class V>
inline V hyperbolic_tangent_by_intervals(V a) {
  using Of = TanhIntervals;
  const auto index = bit_copy<As<uint32_t, V>>(at_least(a, Of::kBelowFirst)) >> 22;
  const V r = a - Of::kCenter[index];
  const V square = r * r;
  const V low = Of::kC1[index] * r + Of::kC0[index];
  const V middle = Of::kC3[index] * r + Of::kC2[index];
  const V high = Of::kC6[index] * square + (Of::kC5[index] * r + Of::kC4[index]);
  const V slope = (high * square + middle) * square + low;
  return (a < Of::kFirst ? a : Of::kValue[index]) + r * slope;
}

template <class V>
inline V hyperbolic_tangent(V x) {
  // Beyond it tanh rounds to 1.
  return with_sign_of(hyperbolic_tangent_by_intervals(at_most(magnitude_of(x), 9.02f)), x);
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
