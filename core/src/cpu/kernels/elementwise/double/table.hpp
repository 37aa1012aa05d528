// Tables of numbers of f64 for each lane to choose from, and whether all lanes are ordinary.
#pragma once

#include "cpu/kernels/vector_math.hpp"

// Lanes of AVX2 choose from 4 numbers in registers. A choice from 16 takes a load for each lane, which
// costs more than the terms that the table saves; fewer lanes, or larger registers, gain by it.
#if defined(__AVX2__) && !defined(__AVX512F__)
#define TENURE_HAS_SHORT_TABLES
#endif

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// A vector of f64. Its functions are chosen before those for any type.
template <class V>
concept IsDoubles = IsVector<V> && sizeof(Number<V>) == 8;

// Each lane is the entry that the lowest four bits of its index name. T is double or uint64_t.
template <class T>
struct Table16Of {
  alignas(kRegisterBytes) T entries[16];

  template <IsVector Index>
  [[nodiscard]] As<T, Index> operator[](Index index) const {
    using V = As<T, Index>;
#if defined(__AVX512F__)
    return bit_copy<V>(_mm512_permutex2var_epi64(
        _mm512_load_si512(entries), bit_copy<__m512i>(index), _mm512_load_si512(entries + 8)));
#else
    const Index within = index & 15;
    V result;
    for (unsigned i = 0; i < sizeof(V) / sizeof(T); ++i) result[i] = entries[within[i]];
    return result;
#endif
  }
};

// The entry that the lowest two bits name: without loads where lanes choose between two.
template <class T>
struct Table4Of {
  alignas(kRegisterBytes) T entries[4];

  template <IsVector Index>
  [[nodiscard]] As<T, Index> operator[](Index index) const {
    using V = As<T, Index>;
#if defined(TENURE_HAS_SHORT_TABLES)
    // The second bit of each control chooses, and the sign bit between two.
    const auto pairs = reinterpret_cast<const __m128d*>(entries);
    const auto within = bit_copy<__m256i>(index << 1);
    const __m256d low = _mm256_permutevar_pd(_mm256_broadcast_pd(pairs), within);
    const __m256d high = _mm256_permutevar_pd(_mm256_broadcast_pd(pairs + 1), within);
    return bit_copy<V>(_mm256_blendv_pd(low, high, bit_copy<__m256d>(index << 62)));
#else
    const Index within = index & 3;
    V result;
    for (unsigned i = 0; i < sizeof(V) / sizeof(T); ++i) result[i] = entries[within[i]];
    return result;
#endif
  }
};

// Whether every lane's bits are `count` words from those of `least` on.
template <IsDoubles V>
inline bool is_every_lane_from(V x, double least, double end) {
  const auto first = bit_copy<uint64_t>(least);
  const uint64_t count = bit_copy<uint64_t>(end) - first;
#if defined(__AVX512F__)
  const __m512i from_first =
      _mm512_sub_epi64(bit_copy<__m512i>(x), _mm512_set1_epi64(static_cast<int64_t>(first)));
  return _mm512_cmpge_epu64_mask(from_first, _mm512_set1_epi64(static_cast<int64_t>(count))) == 0;
#else
  // Signed, as most sets compare.
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const auto from_first =
      bit_copy<As<int64_t, V> >(bit_copy<As<uint64_t, V> >(x) - (first ^ kSign));
  const auto is_within = from_first < static_cast<int64_t>(count ^ kSign);
#if defined(__AVX2__)
  return _mm256_movemask_pd(bit_copy<__m256d>(is_within)) == 0xf;
#else
  return is_every_lane(is_within);
#endif
#endif
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
