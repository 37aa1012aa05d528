// Quotients of complex numbers: (a0 + a1 i) / (b0 + b1 i) is the pair of a0 b0 + a1 b1 and
// a1 b0 - a0 b1, over b0^2 + b1^2. Each part is within one unit in its last place, also where the
// two products cancel.
//
// c64 is computed in f64, where the products are exact and no exponent is too large. For c128 both
// numbers are scaled by powers of two first, after Smith's advice to look at the exponents
// ("Algorithm 116: Complex division", Communications of the ACM 5, 1962) and in the way of C's
// annex G; his quotient of the divisor's parts rounds more often, and loses small ones (Baudin and
// Smith, "A robust complex division in Scilab", arXiv:1210.4539, 2012). Products and their sums are
// then carried with their rounding errors, so that one rounding of full size remains.
#pragma once

#include "cpu/kernels/elementwise/pairs.hpp"
#include "cpu/kernels/elementwise/trigonometry.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

inline constexpr double kInfinite = __builtin_inf();

// A number with an infinite part as its direction, after C's annex G: 1 where a part is infinite, 0
// where it is not or is NaN, of the same signs. Another one is as it is. `is_infinite` is the same
// in both lanes.
template <class V>
struct Directed {
  V parts;
  As<int64_t, V> is_infinite;
};
template <class V>
inline Directed<V> directed(V a) {
  const V ones = magnitude_of(a) == kInfinite ? V{} + 1.0 : V{};
  const auto is_infinite = ones + exchanged(ones) > 0;
  return {is_infinite ? with_sign_of(ones, a) : a, is_infinite};
}

// a times the conjugate of b.
template <class V>
inline V numerator(V a, V b) {
  return a * pairwise<0, 0>(b) + with_negative<1>(exchanged(a) * pairwise<1, 1>(b));
}

// Returns `quotient` where neither number is infinite and the divisor is not 0, and limits
// elsewhere: a divisor of 0 gives each part of the dividend over 0, and infinities over infinities
// are NaN.
template <class V>
inline V with_limits(V quotient, V direction, V dividend, Directed<V> a, Directed<V> b) {
  const V size = magnitude_of(b.parts);
  const V of_infinite = a.is_infinite ? direction * kInfinite : quotient;
  const V result = size + exchanged(size) == 0 ? dividend * kInfinite : of_infinite;
  return b.is_infinite ? result * 0.0 : result;
}

// The quotient of numbers that were converted from f32.
template <class V>
inline V quotient_of_narrow(V dividend, V divisor) {
  const Directed<V> a = directed(dividend);
  const Directed<V> b = directed(divisor);
  const V squares = b.parts * b.parts;
  const V quotient = numerator(a.parts, b.parts) / (squares + exchanged(squares));
  return with_limits(quotient, quotient, dividend, a, b);
}

template <class V>
inline V larger_part(V a) {
  const V one = magnitude_of(a);
  const V other = exchanged(one);
  return one > other ? one : other;
}

template <class V>
inline Long<V> sum_of_products(Long<V> a, Long<V> b) {
  const Long<V> high = sum_of_any(a.high, b.high);
  const Long<V> low = sum_of_any(a.low, b.low);
  const Long<V> sum = sum_of_any(high.high, low.high);
  return {sum.high, sum.low + (high.low + low.low)};
}

// The quotient of parts for which products, squares and their rounding errors are normal numbers or
// 0.
template <class V>
inline V quotient_in_range(V x, V y) {
  const Long<V> first = product_of(x, pairwise<0, 0>(y));
  const Long<V> crossed = product_of(exchanged(x), pairwise<1, 1>(y));
  const Long<V> second = {with_negative<1>(crossed.high), with_negative<1>(crossed.low)};
  const Long<V> squares = product_of(y, y);
  const Long<V> norm = sum_of_any(squares.high, exchanged(squares.high));
  const V lost = norm.low + (squares.low + exchanged(squares.low));
  return quotient(sum_of_products(first, second), Long<V>{norm.high, lost});
}

// Whether all parts are in the middle of the range, but those of the dividend may be 0.
template <class V>
inline bool are_plain(V a, V b) {
  const V x = magnitude_of(a);
  const V y = magnitude_of(b);
  constexpr double kLeast = 0x1p-200;
  constexpr double kMost = 0x1p200;
  return is_every_lane(((x == 0) | (x >= kLeast)) & (x <= kMost) & (y >= kLeast) & (y <= kMost));
}

// 2 to the power `exponent` less 1023, as a number has it.
template <class Bits>
inline auto power_of_two(Bits exponent) {
  return bit_copy<As<double, Bits>>(exponent << 52);
}

// The larger part's exponent plus 1023; at least 1, so that those of subnormal numbers are above 0.
template <class V>
inline As<uint64_t, V> exponent_of(V larger) {
  const auto exponent = bit_copy<As<uint64_t, V>>(larger) >> 52;
  return exponent == 0 ? exponent + 1 : exponent;
}

// The dividend is brought to 2^700 and the divisor to 2^310: squares and products do not overflow,
// and a part that is 2^1200 times smaller than the other keeps its digits on the whole way. Powers
// of two are multiplied by in parts, since their exponents are up to four times those that numbers
// have. Where nothing needs to be brought anywhere the bits are the same without.
template <class V>
inline V quotient_of_wide(V dividend, V divisor) {
  if (are_plain(dividend, divisor)) [[likely]]
    return quotient_in_range(dividend, divisor);
  using Bits = As<uint64_t, V>;
  const Directed<V> a = directed(dividend);
  const Directed<V> b = directed(divisor);
  const Bits a_exponent = exponent_of(larger_part(a.parts));
  const Bits b_exponent = exponent_of(larger_part(b.parts));
  const Bits a_less = 2046 - a_exponent;  // 1023 less the exponent
  const Bits b_less = 2046 - b_exponent;
  const Bits a_half = a_less >> 1;
  const Bits b_half = b_less >> 1;
  const V x = a.parts * power_of_two(a_less - a_half + 1023) * power_of_two(a_half + 700);
  const V y = b.parts * power_of_two(b_less - b_half + 666) * power_of_two(b_half + 667);

  const V scaled = quotient_in_range(x, y);
  // The exponents' difference less 390, in four parts that are nearly equal.
  const Bits back = a_exponent - b_exponent + (4 * 609 - 390);
  const V fourth = power_of_two((back >> 2) + (1023 - 609));
  const V rest = power_of_two((back >> 2) + (back & 3) + (1023 - 609));
  const V result = scaled * rest * fourth * fourth * fourth;
  // A real divisor divides both parts separately, however far apart they are; NaN stays in both.
  const auto is_alone = (pairwise<1, 1>(b.parts) == 0) & (result == result);
  const V both = is_alone ? a.parts / pairwise<0, 0>(b.parts) : result;
  return with_limits(both, numerator(a.parts, b.parts), dividend, a, b);
}

template <class V>
inline V complex_quotient(V a, V b) {
  if constexpr (sizeof(Number<V>) == 8) {
    return quotient_of_wide(a, b);
  } else {
    return by_doubles([](auto x, auto y) { return quotient_of_narrow(x, y); }, a, b);
  }
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
