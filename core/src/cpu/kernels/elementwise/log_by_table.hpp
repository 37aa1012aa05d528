// Logarithms of f32, and ln(1 + x), by a table: shorter polynomials than those of log.hpp, for
// vectors of every instruction set.
//
//     x = 2^n m,   m from 0.708 to 1.417,   1 + r = m / c,   log x = n log 2 + log c + log(1 + r)
//
// c is one of 8 numbers, so that |r| <= 0.058; 1 / c has 6 bits, and around 1 it is 1, so that a
// small logarithm keeps all digits; r is exact where the logarithm is small. n log 2 and log c are
// in two parts; the sum of the first parts is exact. log(1 + r) is r times the slope of the
// logarithm at 1, with its rounding error, and r^2 p(r), p the polynomial that minimises the
// largest relative error (Remez): 2^-27.1.
//
// Sets with fused multiply-adds use them. NaN stays.
#pragma once

#include "cpu/kernels/elementwise/exp.hpp"
#include "cpu/kernels/elementwise/table.hpp"
#include "cpu/kernels/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

struct ReciprocalTable {
  static constexpr Table8 kInverse = {0x1.58p+0f, 0x1.4p+0f, 0x1.28p+0f, 0x1.1p+0f,
                                      1,          0x1.dp-1f, 0x1.ap-1f,  0x1.78p-1f};
};
struct NaturalLogarithm : ReciprocalTable {
  static constexpr Long<float> kTwo = {0x1.62e4p-1f, 0x1.7f7d1cp-20f};
  static constexpr Long<float> kSlope = {1, 0};
  static constexpr Table8 kHigh = {-0x1.2e9p-2f, -0x1.c9p-3f, -0x1.2958p-3f, -0x1.f0ap-5f, 0,
                                   0x1.933p-4f,  0x1.a94p-3f, 0x1.3c24p-2f};
  static constexpr Table8 kLow = {
      0x1.d451eep-18f, 0x1.070cacp-20f,  0x1.683fp-18f,  -0x1.86008cp-20f, 0,
      0x1.797566p-18f, -0x1.2c3752p-19f, 0x1.277334p-18f};
  [[maybe_unused]] static constexpr Polynomial kP = {-0x1.ffffdap-2f, 0x1.55551ap-2f,
                                                     -0x1.00b486p-2f, 0x1.9b1bf6p-3f};
};
struct BinaryLogarithm : ReciprocalTable {
  static constexpr Long<float> kTwo = {1, 0};
  static constexpr Long<float> kSlope = {0x1.715476p+0f, 0x1.4ae0cp-26f};
  static constexpr Table8 kHigh = {-0x1.b48p-2f, -0x1.49a8p-2f, -0x1.acfp-3f, -0x1.664p-4f, 0,
                                   0x1.22ep-3f,  0x1.32cp-2f,   0x1.c818p-2f};
  static constexpr Table8 kLow = {
      0x1.408c78p-18f,  0x1.ed0cbap-20f,  -0x1.78b6d4p-17f, 0x1.20a6dep-21f, 0,
      -0x1.48f554p-17f, -0x1.1c8f12p-22f, 0x1.dc2d46p-18f};
  [[maybe_unused]] static constexpr Polynomial kP = {-0x1.71545cp-1f, 0x1.ec703cp-2f,
                                                     -0x1.7255e8p-2f, 0x1.289d48p-2f};
};
struct DecimalLogarithm : ReciprocalTable {
  static constexpr Long<float> kTwo = {0x1.344p-2f, 0x1.3509f8p-18f};
  static constexpr Long<float> kSlope = {0x1.bcb7b2p-2f, -0x1.5b235ep-27f};
  static constexpr Table8 kHigh = {-0x1.06ccp-3f, -0x1.8cfp-4f, -0x1.024p-4f, -0x1.af6p-6f, 0,
                                   0x1.5e4p-5f,   0x1.716p-4f,  0x1.1298p-3f};
  static constexpr Table8 kLow = {
      0x1.4c2c9ep-22f,  -0x1.838864p-20f, -0x1.460f84p-19f, 0x1.b53fc6p-24f, 0,
      -0x1.a65206p-19f, -0x1.798e4cp-19f, 0x1.a4fb3ep-19f};
  [[maybe_unused]] static constexpr Polynomial kP = {-0x1.bcb79p-3f, 0x1.287a4ep-3f,
                                                     -0x1.bdf1dap-4f, 0x1.64fcc8p-4f};
};

// Whether every lane is positive, normal and finite.
template <IsVector V>
inline bool is_every_lane_plain(V x) {
#if defined(__AVX512F__)
  return _mm512_fpclass_ps_mask(bit_copy<__m512>(x), 0xff) == 0;  // of no other class
#else
  // Signed, as most sets compare.
  const auto from_least = bit_copy<As<int32_t, V>>(bit_copy<As<uint32_t, V>>(x) + 0x7f800000u);
  const auto is_plain = from_least < -0x01000000;
#if defined(__AVX2__)
  return _mm256_movemask_ps(bit_copy<__m256>(is_plain)) == 0xff;
#else
  return is_every_lane(is_plain);
#endif
#endif
}

// A positive normal number u = 2^n m.
template <class V>
struct Mantissa {
  As<int32_t, V> n;
  V m;
  As<uint32_t, V> index;  // of c

  explicit Mantissa(V u) {
    constexpr uint32_t kLeast = 0x3f355555u;  // 0.708
    index = bit_copy<As<uint32_t, V>>(u) - kLeast;
    n = bit_copy<As<int32_t, V>>(index) >> 23;
    m = bit_copy<V>((index & 0x7fffffu) + kLeast);
    index >>= 20;
  }
};

// x / 2^n. It is 0 where 2^-n is no normal number.
template <IsVector V>
inline V without_power(V x, As<int32_t, V> n) {
#if defined(__AVX512F__)
  return scaled(x, -__builtin_convertvector(n, V));
#else
  const auto biased = 127 - n;
  return x * bit_copy<V>((biased > 0 ? biased : As<int32_t, V>{}) << 23);
#endif
}

// The logarithm of u + lost; `more` is added to n.
template <class Of, bool kLost, class V>
inline V logarithm_of_plain(V u, V lost, V more) {
  constexpr bool kIsNatural = kSame<Of, NaturalLogarithm>;
  const Mantissa<V> by(u);
  const V inverse = Of::kInverse[by.index];
  const V r = product_less_one(by.m, inverse);
  const V whole = __builtin_convertvector(by.n, V);
  const V n = kLost ? whole : whole + more;
  const Long<V> first = kIsNatural ? Long<V>{r, V{}} : product_of(r, V{} + Of::kSlope.high);
  const Long<V> sum = sum_of(multiply_add(n, V{} + Of::kTwo.high, Of::kHigh[by.index]), first.high);
  V low = Of::kLow[by.index];
  if constexpr (!kSame<Of, BinaryLogarithm>) low = multiply_add(n, V{} + Of::kTwo.low, low);
  if constexpr (!kIsNatural) low += multiply_add(r, V{} + Of::kSlope.low, first.low);
  if constexpr (kLost) {
    // Divided by u, which is 2^n (1 + r) / inverse.
    const V quotient = without_power(lost * inverse, by.n);
    low += multiply_add(-quotient, r, quotient);
  }
  return sum.high + (sum.low + multiply_add(r * r, Of::kP(r), low));
}

// The limit for 0, negative numbers and infinity.
template <class V>
inline V logarithm_or_limit(V x, V logarithm) {
  using T = Number<V>;
  constexpr T kInfinity = static_cast<T>(__builtin_inff());
  constexpr T kNan = static_cast<T>(__builtin_nanf(""));
  const V limit = x < 0 ? V{} + kNan : x == 0 ? V{} - kInfinity : x;
  return (x > 0) & (x < kInfinity) ? logarithm : limit;
}

template <class Of, class V>
inline V logarithm_by_table(V x) {
  V u = x;
  V more = {};
  int is_plain = is_every_lane_plain(x);
  if (is_plain == 0) [[unlikely]] {
    const auto is_subnormal = x < 0x1p-126f;
    u = is_subnormal ? x * 0x1p25f : x;
    more = is_subnormal ? V{} - 25.0f : V{};
  }
  const V result = logarithm_of_plain<Of, false>(u, V{}, more);
  __asm__("" : "+r"(is_plain));  // or compilers make a copy of the rule for each
  if (is_plain == 0) [[unlikely]]
    return logarithm_or_limit(x, result);
  return result;
}

// ln(1 + x) = ln u + (1 + x - u) / u, where u is 1 + x, rounded. Its sign is that of x, of zeros
// too.
template <class V>
inline V logarithm_of_one_more_by_table(V x) {
  const Long<V> u = sum_of_any(V{} + 1.0f, x);
  const V result = with_sign_of(logarithm_of_plain<NaturalLogarithm, true>(u.high, u.low, V{}), x);
  if (is_every_lane_plain(u.high)) [[likely]]
    return result;
  return logarithm_or_limit(u.high, result);
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
