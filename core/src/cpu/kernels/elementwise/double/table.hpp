// Tables of 16 numbers of f64 for each lane to choose from, and lanes that are rarely otherwise.
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

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
