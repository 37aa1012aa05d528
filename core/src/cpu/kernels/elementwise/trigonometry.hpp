// sin, cos and tan within the errors that the table of operations states, for vectors of every
// instruction set.
//
// Cody and Waite's reduction ("Software Manual for the Elementary Functions", 1980, chapter 8):
//
//     x = n pi / 2 + r,   n the integer nearest to x 2 / pi,   so |r| <= pi / 4
//
// pi / 2 is taken in three parts, so that r is known with its rounding error. f64: the first two
// have 33 bits, so that n times each is exact, for |x| up to 2^20. The third part has an error of n
// 2^-122, and r may be as small as 2^-53: |x| is at most 2^16, where that is a tenth of a unit in
// the last place of r. The polynomials of sin r and cos r are those of fdlibm (Sun Microsystems,
// 1993). f32: the parts have 23 and 24 bits, and n times each is exact in two numbers, for |x| up
// to 2^17; the polynomials are those that minimise the largest relative errors (Remez), 2^-27.9 and
// 2^-33. n says which of the two it is, and its sign. tan has a polynomial of its own, and is the
// quotient of -1 and it where n is odd.
//
// f32 beyond 2^17 is computed in f64. f64 beyond 2^16 is reduced by as many digits of 2 / pi as it
// takes (Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18,
// 1983). The C library's functions do not serve: those of mingw-w64 are wrong there, and those of
// glibc are off by up to 14 places near multiples of pi / 2.
//
// Sets with fused multiply-adds use them.
#pragma once

#include "cpu/kernels/elementwise/double/roots.hpp"
#include "cpu/kernels/elementwise/single/arcs.hpp"
#include "cpu/kernels/elementwise/single/doubles.hpp"
#include "cpu/kernels/elementwise/single/roots.hpp"
#include "cpu/kernels/rounding.hpp"
#include "cpu/kernels/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T>
inline constexpr T kFarthestAngle =
    sizeof(T) == 8 ? static_cast<T>(0x1p16) : static_cast<T>(0x1p17);

enum class Angle { kSine, kCosine, kTangent };

// x = n pi / 2 + r.
template <class V>
struct Reduced {
  As<UnsignedOf<Number<V>>, V> quadrant;  // its lowest two bits
  V r;
  V less;  // the amount by which r is too large
};

// An f64, where `less` may be some places of r. Added to `shift`, a fraction is rounded away.
template <class V>
inline Reduced<V> nearly_reduced(V x, double shift) {
  const V shifted = multiply_add(x, V{} + 0x1.45f306dc9c883p-1, V{} + shift);
  const V n = shifted - shift;
  // The products are exact, and so is the first difference. So is that of it and r: either is r so
  // large that the two are near each other, or so small that it is exact too.
  const V high = less_exact_product(x, n, 0x1.921fb544p+0);
  const V r = less_exact_product(high, n, 0x1.0b4611a6p-34);
  const V lost = less_exact_product(high - r, n, 0x1.0b4611a6p-34);
  return {bit_copy<As<uint64_t, V>>(shifted), r,
          multiply_add(n, V{} + 0x1.3198a2e037073p-69, -lost)};
}

// |x| <= kFarthestAngle, and `more` to n.
template <class V>
__attribute__((always_inline)) inline Reduced<V> reduce_by_right_angles(V x, int more) {
  using T = Number<V>;
  using Bits = As<UnsignedOf<T>, V>;
  if constexpr (sizeof(T) == 8) {
    const Reduced<V> nearly = nearly_reduced(x, 0x1.8p52 + more);
    const V r = nearly.r - nearly.less;
    return {nearly.quadrant, r, nearly.less - (nearly.r - r)};
  } else {
    // Added to a number this large, a fraction is rounded away.
    const T shift = static_cast<T>(0x1.8p23f) + static_cast<T>(more);
    const V shifted = x * static_cast<T>(0x1.45f306dc9c883p-1) + shift;
    const V n = shifted - shift;
    // Exact, also where a product is rounded and subtracted in two parts; so is the rounding error
    // of r.
#if defined(__FMA__)
    const V high = fused(-n, V{} + 0x1.921fb4p+0f, x);
#else
    const Long<V> nearly = product_of(n, V{} + 0x1.921fb4p+0f);
    const V high = (x - nearly.high) - nearly.low;
#endif
    const Long<V> middle = product_of(n, V{} + 0x1.4442d2p-24f);
    const V r = high - middle.high;
    return {bit_copy<Bits>(shifted), r,
            (middle.low - ((high - r) - middle.high)) + n * -0x1.ee59dap-50f};
  }
}

// The digits of 2 / pi, after 64 zeros.
inline constexpr uint64_t kTwoOverPi[20] = {
    0x0000000000000000u, 0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u,
    0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u, 0x06492eea09d1921cu, 0xfe1deb1cb129a73eu,
    0xe88235f52ebb4484u, 0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu,
    0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du,
    0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu};

// x 2 / pi = n + (high + low) scale; `quadrant` has the lowest two bits of n.
struct FarAngle {
  uint64_t quadrant;
  double high;
  double low;
  double scale;  // a power of 2, with the sign
};

// Takes finite |x| >= 2^-10, which is m 2^e with whole m, and the 192 bits of 2 / pi that start
// where m 2^e times a bit is at most 2. Earlier bits give multiples of 4, later ones less than
// 2^-136. No double is nearer to a multiple of pi / 2 than 2^-61.
inline FarAngle reduce_far_angle(double x) {
  __extension__ typedef unsigned __int128 Product;
  const auto upper_product = [](uint64_t a, uint64_t b) {
    return static_cast<uint64_t>((static_cast<Product>(a) * b) >> 64);
  };
  const auto bits = bit_copy<uint64_t>(x);
  const uint64_t m = (bits & 0xfffffffffffffu) | uint64_t{1} << 52;
  const int e = static_cast<int>((bits >> 52) & 0x7ff) - 1075;
  const auto first = static_cast<unsigned>(e + 62);
  const unsigned word = first >> 6;
  const unsigned shift = first & 63;
  uint64_t digits[3];
  for (unsigned i = 0; i < 3; ++i) {
    const uint64_t next = kTwoOverPi[word + i + 1] >> 1 >> (63 - shift);
    digits[i] = kTwoOverPi[word + i] << shift | next;
  }
  const uint64_t low = m * digits[2];
  const uint64_t middle = m * digits[1];
  const uint64_t sum = middle + upper_product(m, digits[2]);
  const uint64_t high = m * digits[0] + upper_product(m, digits[1]) + (sum < middle ? 1 : 0);
  // Two bits of a whole number; the rest is a fraction, from -1/2 to 1/2 after this.
  uint64_t quadrant = high >> 62;
  uint64_t upper = high << 2 | sum >> 62;
  uint64_t lower = sum << 2 | low >> 62;
  bool is_negative = upper >> 63 != 0;
  if (is_negative) {
    ++quadrant;
    lower = ~lower + 1;
    upper = ~upper + (lower == 0 ? 1 : 0);
  }
  if (x < 0) {
    quadrant = 0 - quadrant;
    is_negative = !is_negative;
  }
  const unsigned zeros = upper == 0 ? 63 : static_cast<unsigned>(__builtin_clzll(upper));
  upper = upper << zeros | lower >> 1 >> (63 - zeros);
  lower <<= zeros;
  // 2^-zeros, at most 2^-1, as a number.
  const auto scale = bit_copy<double>((uint64_t{1023} - zeros) << 52);
  return {quadrant, static_cast<double>(static_cast<int64_t>(upper >> 11)) * 0x1p-53,
          static_cast<double>(static_cast<int64_t>((upper & 0x7ff) << 42 | lower >> 22)) * 0x1p-106,
          is_negative ? -scale : scale};
}

template <class V>
struct SineAndCosine {
  Long<V> sine;
  Long<V> cosine;
};

// Takes r less `less`. Sums of both parts; `low` is no rounding error, and such that a sine of -0
// is -0.
template <class V>
inline SineAndCosine<V> sine_and_cosine(V r, V less) {
  using T = Number<V>;
  const V square = r * r;
  const V half = T{0.5} * square;
  if constexpr (sizeof(T) == 8) {
    const V sine_rest =
        Polynomial{0x1.111111110f8a6p-7, -0x1.a01a019c161d5p-13, 0x1.71de357b1fe7dp-19,
                   -0x1.ae5e68a2b9cebp-26, 0x1.5d93a5acfd57cp-33}(square);
    const V cube = square * r;
    const V sine_low =
        -((less - square * (0.5 * less + cube * sine_rest)) + cube * 0x1.5555555555549p-3);
    const V cosine_rest =
        square *
        Polynomial{0x1.555555555554cp-5,   -0x1.6c16c16c15177p-10, 0x1.a01a019cb159p-16,
                   -0x1.27e4f809c52adp-22, 0x1.1ee9ebdb4b1c4p-29,  -0x1.8fae9be8838d4p-37}(square);
    const V high = 1.0 - half;
    return {{r, sine_low}, {high, ((1.0 - high) - half) + (square * cosine_rest + r * less)}};
  } else {
    const V third = Polynomial{0x1.555546p-3f, -0x1.110776p-7f, 0x1.9953p-13f}(square);
    const V fourth = Polynomial{0x1.55554ap-5f, -0x1.6c0c2ap-10f, 0x1.99e904p-16f}(square);
    const V high = 1.0f - half;
    return {{r, -(less + (r * square) * third)},
            {high, ((1.0f - high) - half) + ((square * square) * fourth + r * less)}};
  }
}

template <class Bits, class V>
inline V choose_by_lowest_bit(Bits bits, V odd, V even) {
#if defined(__AVX512F__)
  if constexpr (kSame<Number<V>, float>) {
    const __mmask16 is_odd = _mm512_test_epi32_mask(bit_copy<__m512i>(bits), _mm512_set1_epi32(1));
    return bit_copy<V>(_mm512_mask_blend_ps(is_odd, bit_copy<__m512>(even), bit_copy<__m512>(odd)));
  } else {
    const __mmask8 is_odd = _mm512_test_epi64_mask(bit_copy<__m512i>(bits), _mm512_set1_epi64(1));
    return bit_copy<V>(
        _mm512_mask_blend_pd(is_odd, bit_copy<__m512d>(even), bit_copy<__m512d>(odd)));
  }
#endif
  return (bits & 1) != 0 ? odd : even;
}

// tan (r - less) of f64, or -1 over it where the number of right angles is odd, by t = 2 tan (r / 2):
//
//     tan r = t / (1 - t^2 / 4)
//
// where the polynomial minimises the largest relative error of t: 2^-58.7. t is in two parts. Signs
// are such that the tangent of -0 is -0.
template <class V, class Bits>
inline V tangent_by_half(Bits quadrant, V r, V less) {
  const V square = r * r;
  const V rest =
      Polynomial{0x1.5555555555575p-4,  0x1.111111110d1b1p-7,  0x1.ba1ba1bf9c43ep-11,
                 0x1.664f46a39b893p-14, 0x1.226e9163556bap-17, 0x1.d6be8a1aeb918p-21,
                 0x1.7f250b523686ep-24, 0x1.2515ac6f5d56dp-27, 0x1.58dc71557b3b2p-30}(square);
  const Long<V> t = sum_of(r, multiply_add(square * r, rest, -less));
  const V one_less = multiply_add(-0.25 * t.high, t.high, V{} + 1.0);
  const V dividend = choose_by_lowest_bit(quadrant, -one_less, t.high);
  const V divisor = choose_by_lowest_bit(quadrant, t.high, one_less);
  const V inverse = 1.0 / divisor;
#if defined(__FMA__)
  const V first = dividend * inverse;
  const V beyond = fused(first, divisor, -dividend);
#else
  const V first = upper_half(dividend * inverse);
  const V upper = upper_half(divisor);
  const V beyond = (first * upper - dividend) + first * (divisor - upper);
#endif
  const V weight = choose_by_lowest_bit(quadrant, -first, V{} + 1.0);
  return multiply_add(multiply_add(weight, t.low, -beyond), inverse, first);
}

// tan (r - less) of f32, or -1 over it where the number of right angles is odd. The tangent is in
// two parts, so that the quotient has one rounding of full size. The polynomial minimises the
// largest relative error of the tangent (Remez): 2^-29.5.
template <class V, class Bits>
inline V tangent_of_singles(Bits quadrant, V r, V less) {
  const V square = r * r;
  const V rest = Polynomial{0x1.55556p-2f,  0x1.110d9ep-3f,  0x1.bad9bep-5f, 0x1.5cc134p-6f,
                            0x1.62c81ap-7f, 0x1.9eb54ap-14f, 0x1.1e8b3cp-8f}(square);
  const Long<V> t = sum_of(r, multiply_add(r * square, rest, -less));
  return choose_by_lowest_bit(quadrant, quotient({V{} - 1.0f, V{}}, t), t.high);
}

// Takes an angle that is reduced, with a right angle more for the cosine. Inlined, where `angle` is
// known.
template <class V>
__attribute__((always_inline)) inline V of_reduced_angle(Angle angle, const Reduced<V>& by) {
  using T = Number<V>;
  using Bits = As<UnsignedOf<T>, V>;
  const auto quadrant = by.quadrant;
  if (angle == Angle::kTangent) {
    if constexpr (sizeof(T) == 8) {
      return tangent_by_half(quadrant, by.r, by.less);
    } else {
      return tangent_of_singles(quadrant, by.r, by.less);
    }
  }
  const auto [sine, cosine] = sine_and_cosine(by.r, by.less);
  constexpr unsigned kToSign = 8 * sizeof(T) - 2;
  constexpr auto kSign = UnsignedOf<T>{2} << kToSign;
  const V result = choose_by_lowest_bit(quadrant, cosine.high + cosine.low, sine.high + sine.low);
  return bit_copy<V>(bit_copy<Bits>(result) ^ ((quadrant << kToSign) & kSign));
}

constexpr int more_of(Angle angle) { return angle == Angle::kCosine ? 1 : 0; }

// Takes |x| <= kFarthestAngle.
template <class V>
__attribute__((always_inline)) inline V of_near_angle(Angle angle, V x) {
  if constexpr (sizeof(Number<V>) == 8) {
    if (angle == Angle::kTangent) {
      const Reduced<V> nearly = nearly_reduced(x, 0x1.8p52);
      return tangent_by_half(nearly.quadrant, nearly.r, nearly.less);
    }
  }
  return of_reduced_angle(angle, reduce_by_right_angles(x, more_of(angle)));
}

// Takes any f64. Lanes that are near are left out.
template <class V>
__attribute__((noinline)) V of_any_f64_angle(Angle angle, V x) {
  const int more = more_of(angle);
  const V distance = magnitude_of(x);
  Reduced<V> by = {};
  V high = {};
  V low = {};
  V scale = {};
  constexpr int kLanes = sizeof(V) / sizeof(double);
#pragma GCC unroll 1
  for (int i = 0; i < kLanes; ++i) {
    if (distance[i] <= kFarthestAngle<double>) continue;
    if (!(distance[i] < __builtin_inf())) {
      high[i] = scale[i] = __builtin_nan("");
      continue;
    }
    const FarAngle far = reduce_far_angle(x[i]);
    by.quadrant[i] = far.quadrant + static_cast<uint64_t>(more);
    high[i] = far.high;
    low[i] = far.low;
    scale[i] = far.scale;
  }
  const Long<V> product = product_of(high, V{} + 0x1.921fb54442d18p+0);
  const V rest = product.low + (high * 0x1.1a62633145c07p-54 + low * 0x1.921fb54442d18p+0);
  const Long<V> total = sum_of(product.high, rest);
  by.r = total.high * scale;
  by.less = total.low * -scale;
  return of_reduced_angle(angle, by);
}

// Takes any angles; `result` has those of lanes that are near.
template <class V>
__attribute__((noinline)) V of_any_angle(Angle angle, V x, V result) {
  V far;
  if constexpr (sizeof(Number<V>) == 8) {
    far = of_any_f64_angle(angle, x);
  } else {
    far = by_doubles([angle](auto half) { return of_any_f64_angle(angle, half); }, x);
  }
  return magnitude_of(x) <= kFarthestAngle<Number<V>> ? result : far;
}

template <class V>
__attribute__((always_inline)) inline V of_angle(Angle angle, V x) {
  const V result = of_near_angle(angle, x);
  if (is_every_lane_within(x, kFarthestAngle<Number<V>>)) [[likely]]
    return result;
  return of_any_angle(angle, x, result);
}

template <class V>
inline V sine(V x) {
  return of_angle(Angle::kSine, x);
}
template <class V>
inline V cosine(V x) {
  return of_angle(Angle::kCosine, x);
}
template <class V>
inline V tangent(V x) {
  return of_angle(Angle::kTangent, x);
}

// ---- inverse functions ----
//
// atan of y / x: t is y / x, (y - x) / (y + x) or -x / y, and one of these is at most tan(pi / 8)
// in magnitude. The result is atan t, or pi / 4 or pi / 2 more. asin and acos of |x| <= 1/2 use x +
// x^3 p / q, and beyond 1/2 the same function of sqrt((1 - |x|) / 2), a root that is known with its
// rounding error. The polynomials are those of fdlibm.

// pi, with the part that a double lacks.
inline constexpr Long<double> kPi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};

// atan(y / x) of numbers that are not negative.
template <class V>
inline V atan_of_quotient(V y, V x) {
  const auto is_low = y <= 0.5 * x;
  const auto is_middle = y <= 2.0 * x;
  const V dividend = is_low ? y : is_middle ? y - x : -x;  // exact
  const V divisor = is_low ? x : is_middle ? y + x : y;
  const V more = is_low ? V{} : is_middle ? V{} + 0.25 : V{} + 0.5;
  const V t = dividend / divisor;
  const V square = t * t;
  const V rest = square * Polynomial{0x1.5555555555518p-2, -0x1.99999999914acp-3,
                                     0x1.249249216f172p-3, -0x1.c71c7096501c9p-4,
                                     0x1.745cf54971343p-4, -0x1.3b1144ff3f5d6p-4,
                                     0x1.10f364cc51c3ap-4, -0x1.dfecf3814ccffp-5,
                                     0x1.a3a7156ce3db6p-5, -0x1.571cf9946c654p-5,
                                     0x1.c1f7e96a7210dp-6, -0x1.4c24deb69047p-7}(square);
  const Long<V> sum = sum_of(more * kPi.high, t);
  return sum.high + multiply_add(-t, rest, multiply_add(more, V{} + kPi.low, sum.low));
}

template <class V>
inline V inverse_tangent_of_double(V x) {
  const V magnitude = magnitude_of(x);
  return with_sign_of(atan_of_quotient(magnitude, V{} + 1.0), x);
}

// asin x less x, over x: the polynomial minimises its largest error, 2^-55.9 of asin x.
template <class V>
inline V arc_beyond_first_term(V square) {
  return square *
         Polynomial{0x1.5555555555386p-3, 0x1.333333336f7abp-4,  0x1.6db6db41ea429p-5,
                    0x1.f1c72c63dc0b1p-6, 0x1.6e89f076fba2dp-6,  0x1.1c6c1830cb702p-6,
                    0x1.c6f9b26024378p-7, 0x1.8edce265bf7a8p-7,  0x1.aaf48246e183cp-8,
                    0x1.408798006633ap-6, -0x1.0ab63626167bcp-6, 0x1.05ba46d23eae8p-5}(square);
}

// 2 sqrt((1 - a) / 2), with its rounding error.
template <class V>
inline Long<V> twice_root_of(V half) {
  const V root = square_root(half);
#if defined(__FMA__)
  const V rest = fused(-root, root, half);
#else
  const Long<V> back = product_of(root, root);
  const V rest = (half - back.high) - back.low;
#endif
  return {root + root, rest / at_least(root, 0x1p-500)};
}

template <class V>
inline V inverse_sine_of_double(V x) {
  const V a = magnitude_of(x);
  const auto is_near = a < 0.5;
  const V half = multiply_add(a, V{} - 0.5, V{} + 0.5);
  const Long<V> root = twice_root_of(half);
  const V arc = arc_beyond_first_term(is_near ? a * a : half);
  const V near = multiply_add(a, arc, a);
  const Long<V> sum = sum_of(V{} + 0.5 * kPi.high, -root.high);
  const V far = sum.high + (sum.low + multiply_add(-root.high, arc, 0.5 * kPi.low - root.low));
  return with_sign_of(is_near ? near : far, x);
}

template <class V>
inline V inverse_cosine_of_double(V x) {
  const V a = magnitude_of(x);
  const auto is_near = a < 0.5;
  const V half = multiply_add(a, V{} - 0.5, V{} + 0.5);
  const Long<V> root = twice_root_of(half);
  const V arc = arc_beyond_first_term(is_near ? a * a : half);
  // Near: pi / 2 - (x + x arc). Far: pi - (2 root + low) where x is negative, and 2 root + low.
  const auto is_negative = x < 0;
  const V part = is_near ? x : is_negative ? root.high : -root.high;
  const V low = multiply_add(part, -arc, is_near ? V{} : is_negative ? -root.low : root.low);
  const V whole_quarters = is_near ? V{} + 0.5 : is_negative ? V{} + 1.0 : V{};
  const Long<V> sum = sum_of(whole_quarters * kPi.high, -part);
  return sum.high + (sum.low + multiply_add(whole_quarters, V{} + kPi.low, low));
}

// The angle of (x, y), of numbers whose sums are finite and quotients normal.
template <class V>
inline V angle_of_plain_doubles(V y, V x, V up, V along) {
  const V first = atan_of_quotient(up, along);
  const auto is_left = bit_copy<As<int64_t, V>>(x) < 0;
  const Long<V> rest = sum_of(V{} + kPi.high, -first);
  return with_sign_of(is_left ? rest.high + (rest.low + kPi.low) : first, y);
}

// Infinities are as far as each other, and zeros have the angle of x's sign.
template <class V>
__attribute__((noinline)) V angle_of_any_doubles(V y, V x) {
  constexpr double kInfinity = __builtin_inf();
  const V a = magnitude_of(y);
  const V b = magnitude_of(x);
  const V larger = a > b ? a : b;
  const V scale = larger > 0x1p1000   ? V{} + 0x1p-100
                  : larger < 0x1p-900 ? V{} + 0x1p100
                                      : V{} + 1.0;
  const auto are_far = (a == kInfinity) & (b == kInfinity);
  const V one = V{} + 1.0;
  const V up = are_far ? one : a * scale;
  const V along = are_far | (larger == 0) ? one : b * scale;
  return angle_of_plain_doubles(y, x, up, along);
}

template <class V>
inline V angle_of_doubles(V y, V x) {
  const V a = magnitude_of(y);
  const V b = magnitude_of(x);
  const V result = angle_of_plain_doubles(y, x, a, b);
  if (!is_every_lane_from(a > b ? a : b, 0x1p-900, 0x1p1000)) [[unlikely]]
    return angle_of_any_doubles(y, x);
  return result;
}

template <IsDoubles V>
inline V inverse_tangent(V x) {
  return inverse_tangent_of_double(x);
}
template <IsDoubles V>
inline V inverse_sine(V x) {
  return inverse_sine_of_double(x);
}
template <IsDoubles V>
inline V inverse_cosine(V x) {
  return inverse_cosine_of_double(x);
}

// `result` has the angles of points whose coordinates' sum is finite and normal.
template <IsSingles V>
__attribute__((noinline)) V angle_of_any_singles(V y, V x, V result) {
  const V other = by_doubles([](auto a, auto b) { return angle_of_doubles(a, b); }, y, x);
  const V sum = magnitude_of(x) + magnitude_of(y);
  return lanes_from(sum, kLeastNormalNumber, __builtin_inff()) ? result : other;
}

template <IsSingles V>
inline V angle_of_point(V y, V x) {
  const V up = magnitude_of(y);
  const V along = magnitude_of(x);
  const V result = angle_of_plain_singles(y, x, up, along);
  if (!is_every_lane_from(up + along, kLeastNormalNumber, __builtin_inff())) [[unlikely]]
    return angle_of_any_singles(y, x, result);
  return result;
}
template <IsDoubles V>
inline V angle_of_point(V y, V x) {
  return angle_of_doubles(y, x);
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
