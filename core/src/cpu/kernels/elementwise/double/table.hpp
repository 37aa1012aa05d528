// Tables of 16 numbers of f64 for each lane to choose from, and whether all lanes are ordinary.
#pragma once

#include "cpu/kernels/elementwise/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// A vector of f64. Its functions are chosen before those for any type.
template <class V>
concept IsDoubles = IsVector<V> && sizeof(Number<V>) == 8;

// Each lane is the entry that the lowest four bits of its index name.
struct Doubles16 {
  alignas(kRegisterBytes) double entries[16];

  template <IsVector Index>
  [[nodiscard]] As<double, Index> operator[](Index index) const {
    using V = As<double, Index>;
#if defined(__AVX512F__)
    return bit_copy<V>(_mm512_permutex2var_pd(_mm512_load_pd(entries), bit_copy<__m512i>(index),
                                              _mm512_load_pd(entries + 8)));
#else
    const Index within = index & 15;
    V result;
    for (unsigned i = 0; i < sizeof(V) / sizeof(double); ++i) result[i] = entries[within[i]];
    return result;
#endif
  }
};

// The same by the bits of the entries.
struct Words16 {
  alignas(kRegisterBytes) uint64_t entries[16];

  template <IsVector Index>
  [[nodiscard]] Index operator[](Index index) const {
#if defined(__AVX512F__)
    return bit_copy<Index>(_mm512_permutex2var_epi64(
        _mm512_load_si512(entries), bit_copy<__m512i>(index), _mm512_load_si512(entries + 8)));
#else
    const Index within = index & 15;
    Index result;
    for (unsigned i = 0; i < sizeof(Index) / sizeof(uint64_t); ++i) result[i] = entries[within[i]];
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
