// e^x and functions that use it: the scalar form of exp.hpp, tanh.hpp, sigmoid.hpp, gelu.hpp,
// erf.hpp and a part of hyperbolic.hpp in core/src/cpu/kernels/elementwise, which give the
// algorithms and their errors.
#pragma once

#include "number.cuh"

namespace tenure::cuda {

template <class T>
struct ExpOf;

template <>
struct ExpOf<float> {
  static constexpr float kFarthest = 110.0f;
  static constexpr float kInverseLn2 = 0x1.715476p+0f;
  static constexpr float kLn2High = 0x1.62e4p-1f;
  static constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  // The nearest number to ln 2, and its error.
  static constexpr float kLn2Nearest = 0x1.62e43p-1f;
  static constexpr float kLn2Lacks = -0x1.05c61p-29f;
  static constexpr float kTanhIsOne = 10;

  static TENURE_DEVICE float q(float r, float square) {
    const float first = 0x1.555554p-3f * r + 0x1p-1f;
    const float second = 0x1.111272p-7f * r + 0x1.55548ep-5f;
    const float third = 0x1.9f083cp-13f * r + 0x1.6d8dacp-10f;
    return (third * square + second) * square + first;
  }
};

template <>
struct ExpOf<double> {
  static constexpr double kFarthest = 756.0;
  static constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
  static constexpr double kLn2High = 0x1.62e42fefa38p-1;
  static constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  static constexpr double kLn2Nearest = 0x1.62e42fefa39efp-1;
  static constexpr double kLn2Lacks = 0x1.abc9e3b39803fp-56;
  static constexpr double kTanhIsOne = 20;

  static TENURE_CALLED_MEMBER double q(double r, double square) {
    const double power4 = square * square;
    const double first = 0x1.555555555555bp-3 * r + 0x1p-1;
    const double second = 0x1.111111110ec1ep-7 * r + 0x1.5555555555502p-5;
    const double third = 0x1.a01a01b39757ap-13 * r + 0x1.6c16c16c30788p-10;
    const double fourth = 0x1.71ddefe09c135p-19 * r + 0x1.a01a0135f62a2p-16;
    const double fifth = 0x1.af6c5a1a4c1ddp-26 * r + 0x1.27e5b5076928ap-22;
    const double low = second * square + first;
    const double middle = fourth * square + third;
    const double high = 0x1.1e3cafcd45eb6p-29 * square + fifth;
    return (high * power4 + middle) * power4 + low;
  }
};

// Added to a number of moderate size, it rounds a fraction away.
template <class T>
TENURE_DEVICE constexpr T rounding_shift() {
  return T{3} * static_cast<T>(Bits<T>{1} << (BitsOf<T>::kFractionBits - 1));
}

// x = n ln 2 + r.
template <class T>
struct ReducedByLn2 {
  T shifted;  // has n in its lowest bits
  T r;
  T lost;
};

template <class T>
TENURE_DEVICE ReducedByLn2<T> reduce_by_ln2(T x) {
  using Of = ExpOf<T>;
  constexpr T kShift = rounding_shift<T>();
  const T shifted = x * Of::kInverseLn2 + kShift;
  const T n = shifted - kShift;
  const T high = x - n * Of::kLn2High;
  const T low = n * Of::kLn2Low;
  const T r = high - low;
  return {shifted, r, (high - r) - low};
}

// -x = n ln 2 + r, where x is high + low.
template <class T>
TENURE_DEVICE ReducedByLn2<T> reduce_negated(const Long<T>& x) {
  ReducedByLn2<T> by = reduce_by_ln2(-x.high);
  by.r += by.lost - x.low;
  by.lost = T{0};
  return by;
}

// e^x = (high + low) * first * second. Here low is no rounding error, but all of r^2 q(r).
template <class T>
struct PowerOfE {
  T high;
  T low;
  T first;
  T second;
};

// `sign` is the bit of x.
template <class T>
TENURE_DEVICE PowerOfE<T> power_of_e(const ReducedByLn2<T>& by, Bits<T> sign) {
  using Of = BitsOf<T>;
  using Word = Bits<T>;
  const T square = by.r * by.r;
  const T sum = T{1} + by.r;
  const T rest = ((T{1} - sum) + by.r) + by.lost;
  constexpr Word kHalf = Of::kBias / 2 + 1;
  constexpr Word kLarge = (Of::kBias + kHalf) << Of::kFractionBits;
  const Word second = kLarge - (sign >> 1);
  const Word first =
      (bits_of(by.shifted) << Of::kFractionBits) + (2 * Of::kBias << Of::kFractionBits) - second;
  return {sum, square * ExpOf<T>::q(by.r, square) + rest, bit_copy<T>(first), bit_copy<T>(second)};
}

template <class T>
TENURE_DEVICE T value_of(const PowerOfE<T>& power) {
  return (power.high + power.low) * power.first * power.second;
}

// ---- f32 by a table ----

TENURE_TABLE float kPowerTable[16] = {
    0x1p+0f,        0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f, 0x1.306fep+0f,  0x1.3dea64p+0f,
    0x1.4bfdaep+0f, 0x1.5ab07ep+0f, 0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
    0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
TENURE_TABLE float kPowerLostTable[16] = {0,
                                          0x1.8d96d4p-25f,
                                          -0x1.9c0c22p-27f,
                                          0x1.964904p-25f,
                                          0x1.125002p-25f,
                                          0x1.370be4p-25f,
                                          -0x1.0a355p-25f,
                                          -0x1.00d8acp-27f,
                                          0x1.26055cp-26f,
                                          -0x1.05cb44p-25f,
                                          0x1.67a1cap-28f,
                                          0x1.a3b5e4p-28f,
                                          -0x1.f9c304p-27f,
                                          -0x1.6961b4p-28f,
                                          -0x1.a5217cp-28f,
                                          0x1.61428ep-28f};

// e^x = power * (1 + less_one) * 2^n, where n is rounded down.
struct TablePower {
  uint32_t index;  // its lowest four bits; those above are of n
  float less_one;
};

// For x and its error.
TENURE_DEVICE TablePower table_power(float x, float x_low) {
  constexpr float kShift = 0x1.8p+19f;
  constexpr float kLn2High = 0x1.62ep-1f;
  constexpr float kLn2Low = 0x1.0bfbe8p-15f;
  const float shifted = x * ExpOf<float>::kInverseLn2 + kShift;
  const float n = shifted - kShift;
  const float r = fused(-n, kLn2High, x) - (n * kLn2Low - x_low);
  const uint32_t index = bits_of(shifted);
  const float rest = (r * r) * (r * 0x1.55559cp-3f + 0x1.00022p-1f) + kPowerLostTable[index & 15];
  return {index, r + rest};
}

// power * 2^n * 2^kMore, as long as it is a normal number.
template <int kMore>
TENURE_DEVICE float scaled_power(const TablePower& by) {
  constexpr uint32_t kMoreBits = static_cast<uint32_t>(kMore) << 23;
  return bit_copy<float>(bits_of(kPowerTable[by.index & 15]) + ((by.index >> 4 << 23) + kMoreBits));
}

// factor * e^x, of x that is not positive, rounded once more where the result is subnormal.
TENURE_DEVICE float weighted_power(const TablePower& by, float factor) {
  const float power = scaled_power<64>(by);
  return (power + power * by.less_one) * factor * 0x1p-64f;
}

// e^x, of x not beyond kFarthest.
TENURE_DEVICE float exponential_by_table(float x) {
  const TablePower by = table_power(x, 0.0f);
  constexpr uint32_t kLarge = (127 + 64) << 23;
  const uint32_t second = kLarge - ((bits_of(x) & BitsOf<float>::kSign) >> 1);
  const float first = bit_copy<float>(bits_of(scaled_power<127>(by)) - second);
  return (first + first * by.less_one) * bit_copy<float>(second);
}

// ---- e^x, 2^x, e^x - 1 ----

TENURE_DEVICE float exponential(float x) {
  constexpr float kFarthest = ExpOf<float>::kFarthest;
  return exponential_by_table(at_least(at_most(x, kFarthest), -kFarthest));
}
TENURE_CALLED double exponential(double x) {
  const uint64_t sign = bits_of(x) & BitsOf<double>::kSign;
  const double magnitude = at_most(magnitude_of(x), ExpOf<double>::kFarthest);
  const double within = bit_copy<double>(bits_of(magnitude) | sign);
  return value_of(power_of_e(reduce_by_ln2(within), sign));
}

// 2^x = e^((x - n) ln 2) 2^n.
template <class T>
TENURE_DEVICE T exponential_of_2(T x) {
  using Of = ExpOf<T>;
  constexpr T kFarthest = sizeof(T) == 8 ? 1080 : 155;
  constexpr T kShift = rounding_shift<T>();
  const Bits<T> sign = bits_of(x) & BitsOf<T>::kSign;
  const T within = bit_copy<T>(bits_of(at_most(magnitude_of(x), kFarthest)) | sign);
  const T shifted = within + kShift;
  const T fraction = within - (shifted - kShift);
  const Long<T> r = product_of(fraction, T{Of::kLn2Nearest});
  return value_of(
      power_of_e(ReducedByLn2<T>{shifted, r.high, r.low + fraction * Of::kLn2Lacks}, sign));
}

// e^x - 1 of x = n ln 2 + r, as long as 2^n is a normal number.
template <class T>
TENURE_DEVICE Long<T> power_of_e_less_one(const ReducedByLn2<T>& by) {
  using Of = BitsOf<T>;
  const T square = by.r * by.r;
  const T power = bit_copy<T>(static_cast<Bits<T>>((bits_of(by.shifted) << Of::kFractionBits) +
                                                   (Of::kBias << Of::kFractionBits)));
  const T less_one = power - T{1};
  const T lost = (power - less_one) - T{1};
  const Long<T> sum = sum_of(less_one, power * by.r);
  return sum_of(sum.high,
                (sum.low + lost) + power * (square * ExpOf<T>::q(by.r, square) + by.lost));
}

// From here on e^x - 1 and e^x - e^-x round to e^x.
template <class T>
TENURE_DEVICE constexpr T power_alone() {
  return 2 * ExpOf<T>::kTanhIsOne;
}

template <class T>
TENURE_DEVICE T exponential_less_one(T x) {
  constexpr T kFar = power_alone<T>();
  const T near = x > kFar ? kFar : x < -kFar ? -kFar : x;
  const T t = power_of_e_less_one(reduce_by_ln2(near)).high;
  return x > kFar ? exponential(x) : with_sign_of(t, x);
}

// e^x - 1 where x is negative, else x.
template <class T>
TENURE_DEVICE T elu(T x) {
  const T magnitude = at_most(magnitude_of(x), power_alone<T>());
  const T t = power_of_e_less_one(reduce_by_ln2(-magnitude)).high;
  return x > 0 ? x : with_sign_of(t, x);
}

// ---- hyperbolic functions ----

// Polynomials of tanh of f32, by the half octaves from 1/4 on, which begin at 10: centers of the
// intervals, values there, and coefficients. Side by side, so that a thread reads whole lines.
struct alignas(16) TanhInterval {
  float center, value, c0, c1, c2, c3, c4, c5, c6, unused[3];
};
TENURE_TABLE TanhInterval kTanhIntervals[16] = {
    {0x1.3ff6bcp+1f,
     0x1.f92486p-1f,
     0x1.b3ee28p-6f,
     -0x1.ae16eep-6f,
     0x1.170418p-6f,
     -0x1.07f138p-7f,
     0x1.773912p-9f,
     -0x1.6e7ec8p-11f,
     0x1.f0ac7ap-15f,
     {}},
    {0x1.c01338p+1f,
     0x1.ff1174p-1f,
     0x1.dca8dap-9f,
     -0x1.dbcba4p-9f,
     0x1.3c0aa4p-9f,
     -0x1.39922p-10f,
     0x1.ee6c02p-12f,
     -0x1.48ff62p-13f,
     0x1.5f04c6p-15f,
     {}},
    {0x1.3ffc3cp+2f,
     0x1.fff418p-1f,
     0x1.7cf836p-13f,
     -0x1.7d301ap-13f,
     0x1.fc2e3cp-14f,
     -0x1.f5e4aep-15f,
     0x1.91553cp-16f,
     -0x1.3523a8p-17f,
     0x1.5f13d8p-19f,
     {}},
    {0x1.bfe31ep+2f,
     0x1.ffffc8p-1f,
     0x1.bffc1p-19f,
     -0x1.c048ep-19f,
     0x1.2adc58p-19f,
     -0x1.273a78p-20f,
     0x1.d8a564p-22f,
     -0x1.6d0572p-23f,
     0x1.9f02bcp-25f,
     {}},
    {0x1.154246p+3f,
     0x1.fffffep-1f,
     0x1.ffffecp-24f,
     -0x1.fffbfep-24f,
     0x1.55593ep-24f,
     -0x1.55d7p-25f,
     0x1.0f1b86p-26f,
     -0x1.5cb03ep-28f,
     0x1.2fc3e2p-29f,
     {}},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, {}},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, {}},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, {}},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, {}},
    {0,
     0,
     0,
     -0x1.48d6a2p-25f,
     -0x1.555494p-2f,
     -0x1.29b19cp-14f,
     0x1.12afc4p-3f,
     -0x1.15fa0cp-8f,
     -0x1.6c5d0ap-5f,
     {}},
    {0x1.400624p-2f,
     0x1.35ff1ep-2f,
     0x1.d113c4p-1f,
     -0x1.19962cp-2f,
     -0x1.c19cf2p-3f,
     0x1.43dc28p-3f,
     0x1.75017ap-5f,
     -0x1.30e89ap-4f,
     -0x1.9f770ap-8f,
     {}},
    {0x1.c0023cp-2f,
     0x1.a5747ap-2f,
     0x1.a944f6p-1f,
     -0x1.5e0ff4p-2f,
     -0x1.16dedcp-3f,
     0x1.5c269p-3f,
     -0x1.9111p-8f,
     -0x1.f888a2p-5f,
     0x1.734474p-6f,
     {}},
    {0x1.400dfap-1f,
     0x1.1bfe2cp-1f,
     0x1.627a08p-1f,
     -0x1.893cd8p-2f,
     -0x1.233028p-6f,
     0x1.1a59aep-3f,
     -0x1.c3da48p-5f,
     -0x1.89b818p-6f,
     0x1.e37684p-6f,
     {}},
    {0x1.c0129cp-1f,
     0x1.686fb4p-1f,
     0x1.0242d2p-1f,
     -0x1.6b9eaap-2f,
     0x1.4f396p-4f,
     0x1.f1b1bcp-5f,
     -0x1.e20788p-5f,
     0x1.a95c4ap-7f,
     0x1.6dc398p-7f,
     {}},
    {0x1.3fed1ep+0f,
     0x1.b247a4p-1f,
     0x1.1f4904p-2f,
     -0x1.e75a34p-3f,
     0x1.bbb38cp-4f,
     -0x1.9b6eaep-7f,
     -0x1.3b24b4p-6f,
     0x1.ee65bcp-7f,
     -0x1.208a3ep-8f,
     {}},
    {0x1.bff09ap+0f,
     0x1.e1f878p-1f,
     0x1.d2617p-4f,
     -0x1.b706d4p-4f,
     0x1.01d128p-4f,
     -0x1.8179d4p-6f,
     0x1.e44c6cp-9f,
     0x1.1182f6p-9f,
     -0x1.025bbep-9f,
     {}},
};

TENURE_DEVICE float hyperbolic_tangent(float x) {
  const float a = at_most(magnitude_of(x), 9.02f);
  const TanhInterval& of = kTanhIntervals[(bits_of(at_least(a, 0.1875f)) >> 22) & 15];
  const float r = a - of.center;
  const float square = r * r;
  const float low = of.c1 * r + of.c0;
  const float middle = of.c3 * r + of.c2;
  const float high = of.c6 * square + (of.c5 * r + of.c4);
  const float slope = (high * square + middle) * square + low;
  return with_sign_of((a < 0.25f ? a : of.value) + r * slope, x);
}
TENURE_DEVICE double hyperbolic_tangent(double x) {
  const double magnitude = at_most(magnitude_of(x), ExpOf<double>::kTanhIsOne);
  const Long<double> t = power_of_e_less_one(reduce_by_ln2(magnitude + magnitude));
  Long<double> divisor = sum_of_any(t.high, 2.0);
  divisor.low += t.low;
  return with_sign_of(quotient(t, divisor), x);
}

// e^|x| / 2, which is finite where twice as much is not.
template <class T>
TENURE_DEVICE T half_of_power(T magnitude) {
  const T within = at_most(magnitude, ExpOf<T>::kFarthest);
  const PowerOfE<T> power = power_of_e(reduce_by_ln2(within), Bits<T>{0});
  return (power.high + power.low) * power.first * (power.second * T{0.5});
}

template <class T>
TENURE_DEVICE T hyperbolic_sine(T x) {
  const T magnitude = magnitude_of(x);
  constexpr T kFar = power_alone<T>();
  const Long<T> t = power_of_e_less_one(reduce_by_ln2(at_most(magnitude, kFar)));
  Long<T> one_more = sum_of_any(t.high, T{1});
  one_more.low += t.low;
  const T near = (t.high + (quotient(t, one_more) + t.low)) * T{0.5};
  return with_sign_of(magnitude > kFar ? half_of_power(magnitude) : near, x);
}

template <class T>
TENURE_DEVICE T hyperbolic_cosine(T x) {
  const T half = half_of_power(magnitude_of(x));
  return half + T{0.25} / half;
}

// ---- 1 / (1 + e^-x), and products with it ----

// factor / (1 + e^-x), where -|x| = n ln 2 + r, for factors that are 1 or at most |x|.
TENURE_DEVICE double over_one_and_power(double factor, double x, const ReducedByLn2<double>& by) {
  const PowerOfE<double> power = power_of_e(by, BitsOf<double>::kSign);
  const Long<double> mantissa = sum_of(power.high, power.low);
  const double high = mantissa.high * power.first * power.second;
  const double low = mantissa.low * power.first * power.second;
  const Long<double> sum = sum_of(1.0, high);
  const bool is_negative = x < 0;
  const Long<double> dividend = {is_negative ? mantissa.high : 1.0,
                                 is_negative ? mantissa.low : 0.0};
  const double ratio = quotient(dividend, Long<double>{sum.high, sum.low + low});
  return factor * ratio * (is_negative ? power.first : 1.0) * (is_negative ? power.second : 1.0);
}

// factor * e^-(x + x_low), for an x so large that no digit of 1 + e^x comes from the 1.
TENURE_CALLED float far_weighted_power(float x, float x_low, float factor) {
  constexpr float kFarthest = ExpOf<float>::kFarthest;
  return weighted_power(table_power(-at_most(x, kFarthest), -x_low), factor);
}

// factor / (1 + e^-x) of f32, where |x| is magnitude + magnitude_low.
TENURE_DEVICE float over_one_and_power(float factor, float x, float magnitude,
                                       float magnitude_low) {
  constexpr float kLarge = 50;
  const TablePower by = table_power(at_most(magnitude, kLarge), magnitude_low);
  const float power = scaled_power<0>(by);
  const Long<float> mantissa = sum_of(power, power * by.less_one);
  const Long<float> sum = sum_of(mantissa.high, 1.0f);
  const Long<float> ratio = reciprocal(Long<float>{sum.high, sum.low + mantissa.low});
  const bool is_negative = x < 0;
  const float weight =
      (is_negative ? ratio.high : 1.0f - ratio.high) + (is_negative ? ratio.low : -ratio.low);
  return is_negative && magnitude > kLarge ? far_weighted_power(magnitude, magnitude_low, factor)
                                           : factor * weight;
}

TENURE_DEVICE float sigmoid(float x) { return over_one_and_power(1.0f, x, magnitude_of(x), 0.0f); }
TENURE_DEVICE double sigmoid(double x) {
  const double magnitude = at_most(magnitude_of(x), ExpOf<double>::kFarthest);
  return over_one_and_power(1.0, x, reduce_by_ln2(-magnitude));
}

TENURE_DEVICE float silu(float x) {
  const float factor = at_least(x, -ExpOf<float>::kFarthest);
  return over_one_and_power(factor, x, magnitude_of(x), 0.0f);
}
TENURE_DEVICE double silu(double x) {
  constexpr double kFarthest = ExpOf<double>::kFarthest;
  const double magnitude = at_most(magnitude_of(x), kFarthest);
  return over_one_and_power(at_least(x, -kFarthest), x, reduce_by_ln2(-magnitude));
}

// ---- gelu, and the error function ----

template <class T>
struct GeluOf;
template <>
struct GeluOf<float> {
  static constexpr float kFarthest = 14.6f;
  static constexpr float kFarthestByTanh = 11.0f;
  static TENURE_DEVICE float m(float a) {
    return polynomial(a, 0x1.d67cf6p-1f, 0x1.d7fe92p-3f, 0x1.8d8e28p-6f, 0x1.3f845p-19f);
  }
  static TENURE_DEVICE float n(float a) {
    return polynomial(a, 0x1.d46c68p-1f, 0x1.94c75ap-2f, 0x1.752864p-4f, 0x1.3e9feap-7f);
  }
  static constexpr float kRootHigh = 0x1.40d932p+1f;
  static constexpr float kRootLow = -0x1.3b1f4ep-32f;
  static constexpr float kLinearHigh = 0x1.988454p+0f;
  static constexpr float kLinearLow = -0x1.857936p-25f;
  static constexpr float kCubicHigh = 0x1.2444f2p-4f;
  static constexpr float kCubicLow = 0x1.49b16ap-29f;
  static constexpr float kTwoRootPiHigh = 0x1.c5bf8ap+1f;
  static constexpr float kTwoRootPiLow = -0x1.c96212p-24f;
};
template <>
struct GeluOf<double> {
  static constexpr double kFarthest = 39.0;
  static constexpr double kFarthestByTanh = 21.75;
  static TENURE_CALLED_MEMBER double m(double a) {
    return polynomial(a, 0x1.3d1d425417aacp+1, 0x1.91bb54bfe6ff3p+0, 0x1.4a619b557ad51p-1,
                      0x1.7f20d92cf4f7cp-3, 0x1.42725595f72f7p-5, 0x1.88d794008f799p-8,
                      0x1.4e7312147d28ep-11, 0x1.6b15b849398efp-15, 0x1.83897edb2fb4ep-20);
  }
  static TENURE_CALLED_MEMBER double n(double a) {
    return polynomial(a, 0x1.b1b44ab4d8686p+0, 0x1.6b69b85534798p+0, 0x1.85fa69b3ca19dp-1,
                      0x1.263a376283138p-2, 0x1.44db9a47e105dp-4, 0x1.098ec6203d831p-6,
                      0x1.3df81da35d6cap-9, 0x1.0c0f583955e37p-12, 0x1.21b32578e21bdp-16,
                      0x1.3535b98af0a3ap-21);
  }
  static constexpr double kRootHigh = 0x1.40d931ff62706p+1;
  static constexpr double kRootLow = -0x1.a6a0d6f814637p-53;
  static constexpr double kLinearHigh = 0x1.9884533d43651p+0;
  static constexpr double kLinearLow = -0x1.cbc0d30ebfd15p-54;
  static constexpr double kCubicHigh = 0x1.2444f2a4d8b4bp-4;
  static constexpr double kCubicLow = -0x1.6c843a29d1c7p-61;
  static constexpr double kTwoRootPiHigh = 0x1.c5bf891b4ef6bp+1;
  static constexpr double kTwoRootPiLow = -0x1.618f13eb7ca89p-53;
};

TENURE_DEVICE float gelu(float x) {
  using Of = GeluOf<float>;
  const float a = at_most(magnitude_of(x), Of::kFarthest);
  const Long<float> exponent = product_of(0.5f * a, a);
  const TablePower by = table_power(-exponent.high, -exponent.low);
  const float dividend = a + a * (a * Of::n(a));
  const float divisor = 2.0f + (a * Of::m(a) + dividend * Of::kRootHigh);
  const float below = weighted_power(by, dividend / divisor);
  return x < 0 ? -below : x - below;
}

// dividend n / (root n + m), where dividend, root and divisor are sums of high and low.
TENURE_DEVICE Long<double> times(const Long<double>& a, double b) {
  Long<double> product = product_of(a.high, b);
  product.low += a.low * b;
  return product;
}
TENURE_DEVICE Long<float> times(const Long<float>& a, float b) {
  Long<float> product = product_of(a.high, b);
  product.low += a.low * b;
  return product;
}
template <class T>
TENURE_DEVICE Long<T> tail_divisor(T a, const Long<T>& root, T n) {
  const Long<T> m = sum_of_any(T{2}, a * GeluOf<T>::m(a));
  const Long<T> product = product_of(root.high, n);
  Long<T> divisor = sum_of_any(product.high, m.high);
  divisor.low += (product.low + root.low * n) + m.low;
  return divisor;
}

TENURE_DEVICE double gelu(double x) {
  using Of = GeluOf<double>;
  const double a = at_most(magnitude_of(x), Of::kFarthest);
  const PowerOfE<double> power =
      power_of_e(reduce_negated(product_of(0.5 * a, a)), BitsOf<double>::kSign);
  const Long<double> weighted = times(sum_of(power.high, power.low), a);
  const double n = 1.0 + a * Of::n(a);
  Long<double> root = product_of(a, double{Of::kRootHigh});
  root.low += a * Of::kRootLow;
  const double tail = quotient(times(weighted, n), tail_divisor(a, root, n));
  const double below = tail * power.first * power.second;
  return x < 0 ? -below : x - below;
}

// x / (1 + e^-v), v = sqrt(8 / pi) (x + 0.044715 x^3).
template <class T>
TENURE_DEVICE T gelu_tanh(T x) {
  using Of = GeluOf<T>;
  constexpr T kFarthest = Of::kFarthestByTanh;
  const T a = at_most(magnitude_of(x), kFarthest);
  const Long<T> square = product_of(a, a);
  const Long<T> cubic = product_of(square.high, T{Of::kCubicHigh});
  const T cubic_low = cubic.low + (square.low * Of::kCubicHigh + square.high * Of::kCubicLow);
  const Long<T> slope = sum_of_any(T{Of::kLinearHigh}, cubic.high);
  Long<T> v = product_of(a, slope.high);
  v.low += a * (slope.low + (cubic_low + Of::kLinearLow));
  const T factor = at_least(x, -kFarthest);
  if constexpr (sizeof(T) == 4) {
    return over_one_and_power(factor, x, v.high, v.low);
  } else {
    return over_one_and_power(factor, x, reduce_negated(v));
  }
}

TENURE_DEVICE float erf_p(float x) {
  return polynomial(x, 0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2cf8p-4f, -0x1.b7f90cp-6f,
                    0x1.5405bp-8f, -0x1.a3f6f8p-11f, 0x1.496a1cp-14f);
}
TENURE_DEVICE float erf_q(float x) {
  return polynomial(x, -0x1.8a55bep-13f, 0x1.212c0cp+0f, 0x1.443568p-1f, 0x1.bc150ep-4f,
                    -0x1.9d02eep-6f, 0x1.138c9cp-8f, -0x1.cec598p-12f, 0x1.6bd754p-16f);
}
TENURE_DEVICE double erf_p(double x) {
  return polynomial(x, 0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b2p-4,
                    -0x1.b82ce3128499cp-6, 0x1.565bcd0db02dp-8, -0x1.c02db3d8ecf4bp-11,
                    0x1.f9a321a119264p-14, -0x1.f4d1df38f8677p-17, 0x1.b9def199c835bp-20,
                    -0x1.5f1d369c89c81p-23, 0x1.f7a4106d0c3fp-27, -0x1.386abaae217e2p-30,
                    0x1.0579983432eedp-34);
}
TENURE_DEVICE double erf_q(double x) {
  return polynomial(
      x, 0x1.a59d2f0d97a4cp-26, 0x1.20dd713c2a3dap+0, 0x1.45f32443a2a67p-1, 0x1.a4f3251ac7c15p-4,
      -0x1.3964bee64f364p-6, -0x1.a95499ec0f5f9p-13, 0x1.b765c4bf148acp-10, -0x1.227e4c7573d48p-11,
      -0x1.5432ca56f39ecp-16, 0x1.cb20436ef1b25p-14, -0x1.0c5c7176cfa2dp-14, 0x1.914fed538949fp-16,
      -0x1.be7e0678806f8p-18, 0x1.808770faf95b4p-20, -0x1.01a52f99ec07fp-22, 0x1.08d40a73e48dap-25,
      -0x1.944f5b4855fa6p-29, 0x1.b02a61cba0eb8p-33, -0x1.20a334ef81e5dp-37, 0x1.6a764f587d69bp-43);
}

template <class T>
TENURE_DEVICE T error_function(T x) {
  constexpr T kFarthest = static_cast<T>(sizeof(T) == 8 ? 5.95 : 3.95f);
  const T magnitude = at_most(magnitude_of(x), kFarthest);
  const PowerOfE<T> power = power_of_e(reduce_by_ln2(-erf_q(magnitude)), BitsOf<T>::kSign);
  const T far = T{1} - value_of(power);
  const T near = magnitude + magnitude * erf_p(magnitude * magnitude);
  return with_sign_of(magnitude > 1 ? far : near, x);
}

template <class T>
TENURE_DEVICE T complement_of_error_function(T x) {
  using Of = GeluOf<T>;
  constexpr T kFarthest = static_cast<T>(sizeof(T) == 8 ? 27.5 : 10.3f);
  constexpr T kRootOf2 = static_cast<T>(0x1.6a09e667f3bcdp+0);
  const T magnitude = at_most(magnitude_of(x), kFarthest);
  const T a = magnitude * kRootOf2;
  const PowerOfE<T> power =
      power_of_e(reduce_negated(product_of(magnitude, magnitude)), BitsOf<T>::kSign);
  const Long<T> mantissa = sum_of(power.high, power.low);
  const T n = T{1} + a * Of::n(a);
  Long<T> root = product_of(magnitude, T{Of::kTwoRootPiHigh});
  root.low += magnitude * Of::kTwoRootPiLow;
  const Long<T> dividend = times(mantissa, n);
  const T tail = quotient(Long<T>{dividend.high + dividend.high, dividend.low + dividend.low},
                          tail_divisor(a, root, n));
  const T result = tail * power.first * power.second;
  return x < 0 ? T{2} - result : result;
}

}  // namespace tenure::cuda
