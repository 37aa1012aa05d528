// Multiplication and addition at once.
#pragma once

#include "cpu/kernels/vectors.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// a * b + sums: rounded once where the set has FMA.
template <class T>
struct Fused {
  static constexpr bool kHasStarts = false;
  static Vector<T> add(const Vector<T>& a, const Vector<T>& b, const Vector<T>& sums) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) {
      return reinterpret_cast<Vector<T>>(_mm512_fmadd_ps(reinterpret_cast<__m512>(a),
                                                         reinterpret_cast<__m512>(b),
                                                         reinterpret_cast<__m512>(sums)));
    } else {
      return reinterpret_cast<Vector<T>>(_mm512_fmadd_pd(reinterpret_cast<__m512d>(a),
                                                         reinterpret_cast<__m512d>(b),
                                                         reinterpret_cast<__m512d>(sums)));
    }
#elif defined(__FMA__)
    if constexpr (sizeof(T) == 4) {
      return reinterpret_cast<Vector<T>>(_mm256_fmadd_ps(reinterpret_cast<__m256>(a),
                                                         reinterpret_cast<__m256>(b),
                                                         reinterpret_cast<__m256>(sums)));
    } else {
      return reinterpret_cast<Vector<T>>(_mm256_fmadd_pd(reinterpret_cast<__m256d>(a),
                                                         reinterpret_cast<__m256d>(b),
                                                         reinterpret_cast<__m256d>(sums)));
    }
#else
    return a * b + sums;
#endif
  }
};

// Lanes are pairs of signed numbers of 16 bits: sums + a[0] * b[0] + a[1] * b[1], which wraps.
struct PairsOfWhole {
  static constexpr bool kHasStarts = false;
  static Vector<uint32_t> add(const Vector<uint32_t>& a, const Vector<uint32_t>& b,
                              const Vector<uint32_t>& sums) {
#if defined(__AVX512BW__)
    return sums + reinterpret_cast<Vector<uint32_t>>(_mm512_madd_epi16(
                      reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
    return sums + reinterpret_cast<Vector<uint32_t>>(_mm256_madd_epi16(
                      reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__x86_64__)
    return sums + reinterpret_cast<Vector<uint32_t>>(
                      _mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
    const auto low = [](const Vector<uint32_t>& pairs) {
      return reinterpret_cast<Vector<uint32_t>>(reinterpret_cast<Vector<int32_t>>(pairs << 16) >>
                                                16);
    };
    const auto high = [](const Vector<uint32_t>& pairs) {
      return reinterpret_cast<Vector<uint32_t>>(reinterpret_cast<Vector<int32_t>>(pairs) >> 16);
    };
    return sums + low(a) * low(b) + high(a) * high(b);
#endif
  }
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
