// Two normal numbers of two random words: G. E. P. Box, M. E. Muller, "A note on the generation of
// random normal deviates" (Annals of Mathematical Statistics 29, 1958).
//
//     r = sqrt(-2 ln u),   u the middle of one of 2^31 (f64: 2^52) equal parts of (0, 1)
//     r cos t and r sin t, t a quarter turn from -1/8 to 1/8 of a turn, and then mirrored by the
//     upper two bits of the second word: cos t is negated, and the two change places
//
// So the farthest number is sqrt(2 ln 2^32) = 6.66, f64: sqrt(2 ln 2^53) = 8.57, and the numbers
// near it are as dense as they should be: a logarithm of numbers near 0 is fine-grained, other than
// that of numbers near 1.
//
// Cosine and sine of t are polynomials that minimise the largest relative error (Remez), their
// coefficients then rounded: 2^-33.8 and 2^-28.2 in f32, 2^-75 and 2^-68 in f64.
//
// No step is a fused multiply-add: every set gives the same bits.
#pragma once

#include "cpu/kernels/elementwise/log.hpp"
#include "cpu/kernels/random/philox.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

inline Vector<float> square_root(const Vector<float>& x) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector<float>>(_mm512_maskz_sqrt_ps(0xffff, reinterpret_cast<__m512>(x)));
#elif defined(__AVX2__)
  return reinterpret_cast<Vector<float>>(_mm256_sqrt_ps(reinterpret_cast<__m256>(x)));
#elif defined(__x86_64__)
  return reinterpret_cast<Vector<float>>(_mm_sqrt_ps(reinterpret_cast<__m128>(x)));
#else
  Vector<float> root = {};
  for (int i = 0; i < kPerVector<float>; ++i) root[i] = __builtin_sqrtf(x[i]);
  return root;
#endif
}
inline Vector<double> square_root(const Vector<double>& x) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector<double>>(_mm512_maskz_sqrt_pd(0xff, reinterpret_cast<__m512d>(x)));
#elif defined(__AVX2__)
  return reinterpret_cast<Vector<double>>(_mm256_sqrt_pd(reinterpret_cast<__m256d>(x)));
#elif defined(__x86_64__)
  return reinterpret_cast<Vector<double>>(_mm_sqrt_pd(reinterpret_cast<__m128d>(x)));
#else
  Vector<double> root = {};
  for (int i = 0; i < kPerVector<double>; ++i) root[i] = __builtin_sqrt(x[i]);
  return root;
#endif
}

// Adjacent words as a float's.
template <class T>
struct NormalOf;

template <>
struct NormalOf<float> {
  using Bits = Words;
  static constexpr unsigned kFractionBits = 23;
  static constexpr uint32_t kSqrtHalf = 0x3f3504f3u;
  static constexpr uint32_t kOne = 0x3f800000u;
  static constexpr float kUnit = 0x1p-31f;
  static constexpr Polynomial kSin = {0x1.921fb6p-1f, -0x1.4abbbap-4f, 0x1.465e92p-9f,
                                      -0x1.2d9302p-15f};
  static constexpr Polynomial kCos = {-0x1.3bd3ccp-2f, 0x1.03c1dep-6f, -0x1.55c5ep-12f,
                                      0x1.d9d57ep-19f};

  // u * 2^31, and the exponent of its unit.
  static constexpr float kUnitExponent = 31;
  static Vector<float> middle(const Bits& word) {
    return number(reinterpret_cast<Vector<int32_t>>(word >> 1)) + 0.5f;
  }
  // From -1 to 1.
  static Vector<float> angle(const Bits& word) {
    return number(reinterpret_cast<Vector<int32_t>>(word << 2)) * kUnit;
  }
  static Vector<float> number(const Vector<int32_t>& word) {
    return __builtin_convertvector(word, Vector<float>);
  }
  static Vector<float> number_of_small(const Bits& word) {
    return number(reinterpret_cast<Vector<int32_t>>(word));
  }
};

template <>
struct NormalOf<double> {
  using Bits = WideWords;
  static constexpr unsigned kFractionBits = 52;
  static constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdu;
  static constexpr uint64_t kOne = 0x3ff0000000000000u;
  static constexpr Polynomial kSin = {
      0x1.921fb54442d18p-1,  -0x1.4abbce625be53p-4,  0x1.466bc6775aad9p-9,  -0x1.32d2cce62abbdp-15,
      0x1.50783485c2d5cp-22, -0x1.e3074b42c34dep-30, 0x1.e8eec79c1c797p-38, -0x1.6c58cc2f48f24p-46};
  static constexpr Polynomial kCos = {
      -0x1.3bd3cc9be45dep-2,  0x1.03c1f081b5ac4p-6,  -0x1.55d3c7e3cbfeep-12, 0x1.e1f5068919ae4p-19,
      -0x1.a6d1f29f1dacdp-26, 0x1.f9d38545858b5p-34, -0x1.b6dd69a164867p-42, 0x1.1e293d0455535p-50};

  static constexpr double kUnitExponent = 52;
  static Vector<double> middle(const Bits& word) { return number_of_small(word >> 12) + 0.5; }
  static Vector<double> angle(const Bits& word) {
    return reinterpret_cast<Vector<double>>(((word << 2) >> 12) | kOne) * 2.0 - 3.0;
  }
  // Below 2^52: the fraction of a number whose last place is 1.
  static Vector<double> number_of_small(const Bits& word) {
    constexpr uint64_t kLarge = 0x4330000000000000u;
    return reinterpret_cast<Vector<double>>(word | kLarge) - 0x1p52;
  }
};

// ln(x * 2^-exponent of the unit), for x from 1/2 on.
template <class T>
inline Vector<T> log_of_part(const Vector<T>& x) {
  using Of = NormalOf<T>;
  using Bits = typename Of::Bits;
  // x = 2^n (1 + f), 1 + f from sqrt(1/2) to sqrt(2).
  const Bits shifted = reinterpret_cast<Bits>(x) + (Of::kOne - Of::kSqrtHalf);
  const Bits fraction = shifted & ((UnsignedOf<T>{1} << Of::kFractionBits) - 1);
  const Vector<T> f = reinterpret_cast<Vector<T>>(fraction + Of::kSqrtHalf) - T{1};
  constexpr auto kBias = static_cast<T>(ExpOf<T>::kBias);
  const Vector<T> n =
      Of::number_of_small(shifted >> Of::kFractionBits) - (kBias + Of::kUnitExponent);
  const Vector<T> square = f * f;
  const Vector<T> beyond = (square * f) * LogOf<T>::kP.without_fusing(f) - T{0.5} * square;
  return n * ExpOf<T>::kLn2.high + (f + (beyond + n * ExpOf<T>::kLn2.low));
}

// The numbers of the words of each lane.
template <class T>
inline Pair<Vector<T>> normal_pair(const typename NormalOf<T>::Bits& radius_word,
                                   const typename NormalOf<T>::Bits& angle_word) {
  using Of = NormalOf<T>;
  using Bits = typename Of::Bits;
  constexpr auto kSign = UnsignedOf<T>{1} << (8 * sizeof(T) - 1);
  const Vector<T> radius = square_root(T{-2} * log_of_part<T>(Of::middle(radius_word)));
  const Vector<T> t = Of::angle(angle_word);
  const Vector<T> square = t * t;
  const Vector<T> sine = radius * (t * Of::kSin.without_fusing(square));
  const Vector<T> upright = radius * (T{1} + square * Of::kCos.without_fusing(square));
  const auto cosine =
      reinterpret_cast<Vector<T>>(reinterpret_cast<Bits>(upright) ^ (angle_word & kSign));
  const auto changes = (angle_word & (kSign >> 1)) != 0;
  return {changes ? sine : cosine, changes ? cosine : sine};
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
