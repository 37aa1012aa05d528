// Tables of 8 and 16 numbers that a function of vectors has for each lane to choose from: in
// registers where the set permutes lanes, and element by element where it does not.
#pragma once

#include "cpu/kernels/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Each lane is the entry that the lowest four bits of its index name.
struct Table16 {
  alignas(kRegisterBytes) float entries[16];

  template <IsVector Index>
  [[nodiscard]] As<float, Index> operator[](Index index) const {
    using V = As<float, Index>;
#if defined(__AVX512F__)
    return bit_copy<V>(
        _mm512_maskz_permutexvar_ps(0xffff, bit_copy<__m512i>(index), _mm512_load_ps(entries)));
#elif defined(__AVX2__)
    const auto lanes = bit_copy<__m256i>(index);
    const __m256 low = _mm256_permutevar8x32_ps(_mm256_load_ps(entries), lanes);
    const __m256 high = _mm256_permutevar8x32_ps(_mm256_load_ps(entries + 8), lanes);
    const auto is_high = bit_copy<__m256>(index << 28);  // its sign chooses
    return bit_copy<V>(_mm256_blendv_ps(low, high, is_high));
#else
    V result;
    for (unsigned i = 0; i < sizeof(V) / sizeof(float); ++i) result[i] = entries[index[i] & 15];
    return result;
#endif
  }
};

// A table of 8 numbers, by the lowest three bits; there twice, so that the fourth does not matter.
struct Table8 {
  alignas(kRegisterBytes) float entries[16];

  constexpr Table8(float a, float b, float c, float d, float e, float f, float g, float h)
      : entries{a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h} {}

  template <IsVector Index>
  [[nodiscard]] As<float, Index> operator[](Index index) const {
    using V = As<float, Index>;
#if defined(__AVX512F__)
    return bit_copy<V>(
        _mm512_maskz_permutexvar_ps(0xffff, bit_copy<__m512i>(index), _mm512_load_ps(entries)));
#elif defined(__AVX2__)
    return bit_copy<V>(_mm256_permutevar8x32_ps(_mm256_load_ps(entries), bit_copy<__m256i>(index)));
#else
    V result;
    for (unsigned i = 0; i < sizeof(V) / sizeof(float); ++i) result[i] = entries[index[i] & 7];
    return result;
#endif
  }
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
