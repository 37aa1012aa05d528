// e^x in f32 and f64 within one unit in the last place, without a branch, for vectors of every
// instruction set. f32 takes 2^(k/16) from a table (finished_power), and so does f64
// (double/exp.hpp). The method below is that of functions that need more of a power than its rounded
// value.
//
// Cody and Waite's reduction ("Software Manual for the Elementary Functions", 1980, chapter 6):
//
//     x = n ln 2 + r,   n the integer nearest to x / ln 2,   so |r| <= ln 2 / 2
//     e^x = 2^n e^r
//
// ln 2 is taken in two parts. The first has so few bits that n times it is exact, and subtracting
// that from x is exact too; the rounding error of subtracting the second is kept (`lost`) and added
// below, as in Tang, "Table-driven implementation of the exponential function in IEEE
// floating-point arithmetic" (ACM TOMS 15, 1989). On the remaining interval
//
//     e^r = 1 + r + r^2 q(r)
//
// where q is the polynomial that minimises the largest relative error of e^r (Remez; Muller,
// "Elementary Functions", 3rd edition, chapter 3), its coefficients then rounded. 1 + r is summed
// with its rounding error (Dekker's Fast2Sum), so only one rounding of full size remains: the last.
//
// The error, in units in the last place, where it is largest (r near -ln 2 / 2, where e^r is just
// above 0.7 and its last place half of that of 1):
//
//     0.50  the last addition
//     0.16  r^2 q(r), which is at most 0.054: roundings of r^2, of q and of their product
//     0.09  `lost` is added as it is, not times e^r
//     0.03  adding up the terms below the first one
//     0.02  the polynomial (2^-29.8 in f32, 2^-60.1 in f64), and the second part of ln 2
//     ----
//     0.80  a subnormal result is rounded once more, in units twice as large or more: 0.90
//
// All this supposes rounding to nearest; another mode costs some places. Subnormals are as the mode
// of the processor has them.
//
// NaN stays, whatever its payload. Nothing is converted to an integer, and overflow and underflow
// happen in the last multiplication, as IEEE 754 has them; but that a subnormal result is rounded
// by an addition (subnormal_of), as processors take 20 times as long for the multiplication.
#pragma once

#include "cpu/kernels/arithmetic.hpp"
#include "cpu/kernels/dense.hpp"
#include "cpu/kernels/elementwise/table.hpp"
#include "cpu/kernels/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T>
struct ExpOf;

template <>
struct ExpOf<float> {
  static constexpr unsigned kFractionBits = 23;
  static constexpr uint32_t kBias = 127;
  // Beyond it on either side e^x is infinite or 0, and x e^x too; n still has few bits. Results
  // that are that small, below 2^-161, cost no more than others.
  static constexpr float kFarthest = 120.0f;
  static constexpr float kInverseLn2 = 0x1.715476p+0f;
  static constexpr float kLn2High = 0x1.62e4p-1f;  // 15 bits, and n has 8
  static constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  static constexpr Long<float> kLn2 = {0x1.62e43p-1f, -0x1.05c61p-29f};

  // q, in pairs of powers (Estrin), which a processor computes in parallel; it would wait at each
  // step of Horner's single chain.
  template <class V>
  static V q(V r, V square) {
    const V first = 0x1.555554p-3f * r + 0x1p-1f;
    const V second = 0x1.111272p-7f * r + 0x1.55548ep-5f;
    const V third = 0x1.9f083cp-13f * r + 0x1.6d8dacp-10f;
    return (third * square + second) * square + first;
  }
};

template <>
struct ExpOf<double> {
  static constexpr unsigned kFractionBits = 52;
  static constexpr uint64_t kBias = 1023;
  static constexpr double kFarthest = 770.0;
  static constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
  static constexpr double kLn2High = 0x1.62e42fefa38p-1;  // 42 bits, and n has 11
  static constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  static constexpr Long<double> kLn2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

  template <class V>
  static V q(V r, V square) {
    const V power4 = square * square;
    const V first = 0x1.555555555555bp-3 * r + 0x1p-1;
    const V second = 0x1.111111110ec1ep-7 * r + 0x1.5555555555502p-5;
    const V third = 0x1.a01a01b39757ap-13 * r + 0x1.6c16c16c30788p-10;
    const V fourth = 0x1.71ddefe09c135p-19 * r + 0x1.a01a0135f62a2p-16;
    const V fifth = 0x1.af6c5a1a4c1ddp-26 * r + 0x1.27e5b5076928ap-22;
    const V low = second * square + first;
    const V middle = fourth * square + third;
    const V high = 0x1.1e3cafcd45eb6p-29 * square + fifth;
    return (high * power4 + middle) * power4 + low;
  }
};

// A number, or each lane of a vector, taken apart.
template <class V>
struct SignAndMagnitude {
  As<UnsignedOf<Number<V>>, V> sign;  // its bit
  V magnitude;
};

// The magnitude is at most `farthest`. One comparison; NaN, which compares false, stays.
template <class V>
inline SignAndMagnitude<V> clamp(V x, Number<V> farthest) {
  using Word = UnsignedOf<Number<V>>;
  constexpr Word kSign = Word{1} << (8 * sizeof(Word) - 1);
  const auto bits = bit_copy<As<Word, V>>(x);
  const V magnitude = bit_copy<V>(bits & ~kSign);
  return {bits & kSign, magnitude > farthest ? V{} + farthest : magnitude};
}

// 2^n may be outside the format's range where the result is not, so it is multiplied in two steps.
// The last factor is 2^kHalf or its inverse.
template <class T>
inline constexpr UnsignedOf<T> kHalf = ExpOf<T>::kBias / 2 + 1;
template <class T>
inline constexpr T kTwoToHalf = sizeof(T) == 8 ? static_cast<T>(0x1p512) : static_cast<T>(0x1p64);

// v / 2^kHalf, where that is subnormal or 0. Elements of that size are the integers below the last
// place of the sum, which is rounded as the quotient would be.
template <class V>
inline V subnormal_of(V v) {
  using T = Number<V>;
  using Bits = As<UnsignedOf<T>, V>;
  // The smallest subnormal number is 2^-(kBias - 1 + kFractionBits).
  constexpr T kUnits = sizeof(T) == 8 ? static_cast<T>(0x1p562) : static_cast<T>(0x1p85);
  constexpr T kShift = static_cast<T>(UnsignedOf<T>{1} << ExpOf<T>::kFractionBits);
  const V sum = magnitude_of(v) * kUnits + kShift;
  return with_sign_of(bit_copy<V>(bit_copy<Bits>(sum) - bit_copy<Bits>(V{} + kShift)), v);
}

// v / 2^kHalf, rounded once.
template <class V>
inline V scaled_down(V v) {
  using T = Number<V>;
  constexpr T kInverse = 1 / kTwoToHalf<T>;
  if constexpr (IsVector<V>) {
    // The smallest normal number is 2^-(kBias - 1).
    constexpr T kNormal = sizeof(T) == 8 ? static_cast<T>(0x1p-510) : static_cast<T>(0x1p-62);
    const V magnitude = magnitude_of(v);
    if (is_any_less(magnitude, V{} + kNormal)) [[unlikely]] {
      const auto is_small = magnitude < kNormal;
      const V large = (is_small ? V{} : v) * kInverse;
      return is_small ? subnormal_of(v) : large;
    }
  }
  return v * kInverse;
}

// v * second, which is the inverse of 2^kHalf where x is below `limit`, as it is where the product
// is subnormal.
template <class V>
inline V last_step(V v, V second, V x, Number<V> limit) {
  if constexpr (IsVector<V>) {
    if (is_any_less(x, V{} + limit)) [[unlikely]] {
      const auto is_below = x < limit;
      const V large = (is_below ? V{} : v) * second;
      return is_below ? scaled_down(v) : large;
    }
  }
  return v * second;
}

// x = n ln 2 + r.
template <class V>
struct ReducedByLn2 {
  V shifted;  // has n in its lowest bits
  V r;
  V lost;
};

template <class V>
inline ReducedByLn2<V> reduce_by_ln2(V x) {
  using T = Number<V>;
  using Of = ExpOf<T>;
  // Added to a number this large, a fraction is rounded away.
  constexpr T kShift = T{3} * static_cast<T>(UnsignedOf<T>{1} << (Of::kFractionBits - 1));
  const V shifted = x * Of::kInverseLn2 + kShift;
  const V n = shifted - kShift;
  const V high = x - n * Of::kLn2High;
  const V low = n * Of::kLn2Low;
  const V r = high - low;
  return {shifted, r, (high - r) - low};
}

// e^x = (high + low) * first * second. Here low is no rounding error, but all of r^2 q(r).
template <class V>
struct PowerOfE {
  V high;
  V low;
  V first;
  V second;
};

// `sign` is the bit of x.
template <class V>
inline PowerOfE<V> power_of_e(const ReducedByLn2<V>& by,
                              typename AsWide<UnsignedOf<Number<V>>, V>::type sign) {
  using T = Number<V>;
  using Of = ExpOf<T>;
  using Word = UnsignedOf<T>;
  using Bits = As<Word, V>;
  const V square = by.r * by.r;
  const V sum = T{1} + by.r;
  const V rest = ((T{1} - sum) + by.r) + by.lost;

  // The second step is the inverse where x is negative. The first product is exact.
  constexpr Word kLarge = (Of::kBias + kHalf<T>) << Of::kFractionBits;
  const Bits second = kLarge - (sign >> 1);  // 2 kHalf is the bit below the sign
  const Bits first = (bit_copy<Bits>(by.shifted) << Of::kFractionBits) +
                     (2 * Of::kBias << Of::kFractionBits) - second;
  return {sum, square * Of::q(by.r, square) + rest, bit_copy<V>(first), bit_copy<V>(second)};
}

// e^x of f32: the range is cut 16 times finer, so that little is left to a polynomial,
//
//     x = n ln 2 + r,   n the multiple of 1/16 nearest to x / ln 2,   so |r| <= ln 2 / 32
//     e^x = 2^n e^r = t (1 + (r + r^2 (a + b r)) + l)
//
// where t is 2^n rounded and l is the rounding error, relative to t. The largest error on 44
// million f32 was 0.56 units in the last place; 0.75 where the result is subnormal and so rounded
// once more. Over all f32, a larger number never has a smaller result.
struct TableOfPowers {
  // 2^(k / 16), k < 16, rounded, and the rounding errors, relative to these.
  static constexpr Table16 kPower = {
      {0x1p+0f, 0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f, 0x1.306fep+0f, 0x1.3dea64p+0f,
       0x1.4bfdaep+0f, 0x1.5ab07ep+0f, 0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f,
       0x1.9c4918p+0f, 0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f}};
  static constexpr Table16 kLost = {
      {0, 0x1.8d96d4p-25f, -0x1.9c0c22p-27f, 0x1.964904p-25f, 0x1.125002p-25f, 0x1.370be4p-25f,
       -0x1.0a355p-25f, -0x1.00d8acp-27f, 0x1.26055cp-26f, -0x1.05cb44p-25f, 0x1.67a1cap-28f,
       0x1.a3b5e4p-28f, -0x1.f9c304p-27f, -0x1.6961b4p-28f, -0x1.a5217cp-28f, 0x1.61428ep-28f}};
  // Added to it, a number is rounded to sixteenths.
  static constexpr float kShift = 0x1.8p+19f;
  static constexpr float kLn2High = 0x1.62ep-1f;  // 12 bits, and n has 12
  static constexpr float kLn2Low = 0x1.0bfbe8p-15f;
  static constexpr float kA = 0x1.00022p-1f;
  static constexpr float kB = 0x1.55559cp-3f;
};

// e^x = power * (1 + less_one) * 2^n, where n is rounded down.
template <class V>
struct TablePower {
  As<uint32_t, V> index;  // its lowest four bits; those above are of n
  V n;
  V less_one;
};

// Takes x and its rounding error.
template <class V>
inline TablePower<V> table_power(V x, V x_low) {
  using Of = TableOfPowers;
  const V shifted = multiply_add(x, V{} + ExpOf<float>::kInverseLn2, V{} + Of::kShift);
  const V n = shifted - Of::kShift;
  const V r = less_exact_product(x, n, Of::kLn2High) + multiply_add(n, V{} - Of::kLn2Low, x_low);
  const auto index = bit_copy<As<uint32_t, V>>(shifted);
  const V rest = multiply_add(r * r, multiply_add(r, V{} + Of::kB, V{} + Of::kA), Of::kLost[index]);
  return {index, n, r + rest};
}

#if defined(__AVX512F__)
// x * 2^n, rounded once, where n is rounded down.
template <IsVector V>
inline V scaled(V x, V n) {
  return bit_copy<V>(_mm512_maskz_scalef_ps(0xffff, bit_copy<__m512>(x), bit_copy<__m512>(n)));
}
#endif

// power * 2^n * 2^kMore, as long as it is a normal number.
template <int kMore, class V>
inline V scaled_power(const TablePower<V>& by) {
  const V power = TableOfPowers::kPower[by.index];
#if defined(__AVX512F__)
  if constexpr (kMore == 0) return scaled(power, by.n);
  return scaled(power, by.n + static_cast<float>(kMore));
#else
  using Bits = As<uint32_t, V>;
  constexpr uint32_t kMoreBits = static_cast<uint32_t>(kMore) << 23;
  return bit_copy<V>(bit_copy<Bits>(power) + ((by.index >> 4 << 23) + kMoreBits));
#endif
}

// factor * e^x, of x that is not positive, rounded once more where the result is subnormal.
template <class V>
inline V weighted_power(const TablePower<V>& by, V factor) {
#if defined(__AVX512F__)
  const V power = TableOfPowers::kPower[by.index];
  const V weighted = multiply_add(power, by.less_one, power) * factor;
  // From it on a result is normal, unless the factor is below 2^-26.
  constexpr float kMostlyNormal = -100.0f;
  if (!is_any_less(by.n, V{} + kMostlyNormal)) [[likely]]
    return scaled(weighted, by.n);
  return scaled_down(scaled(weighted, by.n + 64.0f));
#else
  const V power = scaled_power<64>(by);
  return scaled_down(multiply_add(power, by.less_one, power) * factor);
#endif
}

// e^x as exponential() has it, of x that is from kLeastNormal to its negative.
inline constexpr float kLeastNormal = -87.0f;
// And 0 below it.
inline constexpr float kZeroBelow = -104.0f;
template <class V>
inline V normal_exponential(V x) {
  const TablePower<V> by = table_power(x, V{});
  const V power = scaled_power<0>(by);
  return multiply_add(power, by.less_one, power);
}

// power * (1 + less_one) * 2^n, whatever n is up to 170.
template <class V>
inline V finished_power(const TablePower<V>& by) {
#if defined(__AVX512F__)
  const V normal = V{} - 126.0f;
  const V power = TableOfPowers::kPower[by.index];
  const V sum = multiply_add(power, by.less_one, power);
  if (!is_any_less(by.n, normal)) [[likely]]
    return scaled(sum, by.n);
  const auto is_small = by.n < normal;
  const V result = scaled(sum, is_small ? by.n + 64.0f : by.n);
  return is_small ? subnormal_of(result) : result;
#else
  if (is_every_lane_within(by.n, 125)) [[likely]] {
    const V power = scaled_power<0>(by);
    return multiply_add(power, by.less_one, power);
  }
  using Bits = As<uint32_t, V>;
  constexpr uint32_t kSign = 0x80000000u;
  // 2^64 or its inverse is multiplied last, as in power_of_e().
  constexpr uint32_t kLarge = (127 + 64) << 23;
  const Bits second = kLarge - ((bit_copy<Bits>(by.n) & kSign) >> 1);
  const V first = bit_copy<V>(bit_copy<Bits>(scaled_power<127>(by)) - second);
  return last_step(multiply_add(first, by.less_one, first), bit_copy<V>(second), by.n, -125.0f);
#endif
}

// e^x of f32. double/exp.hpp has that of f64.
template <class V>
inline V exponential(V x) {
  constexpr float kFarthest = ExpOf<float>::kFarthest;
  return finished_power(table_power(at_least(at_most(x, kFarthest), -kFarthest), V{}));
}

// 2^(step + fraction), where the step is a multiple of 1/16 and the fraction is at most 1/32.
template <class V>
inline TablePower<V> table_power_of_2(V step, V fraction) {
  using Of = TableOfPowers;
  const auto index = bit_copy<As<uint32_t, V>>(step + Of::kShift);
  const V r = fraction * ExpOf<float>::kLn2.high;
  const V rest = multiply_add(r * r, multiply_add(r, V{} + Of::kB, V{} + Of::kA), Of::kLost[index]);
  return {index, step, r + rest};
}

template <class V>
inline V exponential_of_2(V x) {
  // Beyond it on either side 2^x is infinite or 0.
  constexpr float kFarthest = 170;
  const V within = at_least(at_most(x, kFarthest), -kFarthest);
  const V step = (within + TableOfPowers::kShift) - TableOfPowers::kShift;
  return finished_power(table_power_of_2(step, within - step));
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
