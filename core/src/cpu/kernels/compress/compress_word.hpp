// The elements of a word, and their places, moved at once.
//
// vpcompress is used only from register to register, and merges into a register of zeros: to memory
// it is microcode on Zen 4, and the zeroing form waits for the previous value of its target.
#pragma once

#include "cpu/kernel.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

inline unsigned count_ones(uint64_t word) {
  return static_cast<unsigned>(__builtin_popcountll(word));
}

// Where there are vectors for it, and TENURE_COMPACTS_WORDS says so:
// compress_word<width>(in, word, out): the elements that the word names;
// compress_range<I>(first, word, out): first + i of each bit i.
#if defined(__AVX512BW__)
#define TENURE_COMPACTS_WORDS

inline __m512i zeros() {
  __m512i zero = _mm512_setzero_si512();
  __asm__("" : "+v"(zero));  // hidden: the compiler would choose the form that zeroes
  return zero;
}

// The places of the elements of a word, of a byte each.
inline __m512i first_places() {
  typedef unsigned char V __attribute__((vector_size(64)));
  V places;
  for (unsigned i = 0; i < 64; ++i) places[i] = static_cast<unsigned char>(i);
  return (__m512i)places;
}

template <unsigned kWidth>
__attribute__((always_inline)) inline void compress_word(const Byte* in, uint64_t word, Byte* out) {
  if constexpr (kWidth == 8) {
    for (unsigned part = 0; part < 8; ++part) {
      const auto mask = static_cast<__mmask8>(word >> part * 8);
      const __m512i from = _mm512_loadu_si512(in + part * 64);
      _mm512_storeu_si512(out, _mm512_mask_compress_epi64(zeros(), mask, from));
      out += count_ones(mask) * kWidth;
    }
    return;
  }
  for (unsigned part = 0; part < 4; ++part) {
    const auto mask = static_cast<__mmask16>(word >> part * 16);
    const Byte* const from = in + part * 16 * kWidth;
    if constexpr (kWidth == 4) {
      const __m512i elements = _mm512_loadu_si512(from);
      _mm512_storeu_si512(out, _mm512_mask_compress_epi32(zeros(), mask, elements));
    } else if constexpr (kWidth == 2) {
      const __m512i elements =
          _mm512_maskz_cvtepu16_epi32(0xffff, _mm256_loadu_si256((const __m256i*)from));
      const __m512i dense = _mm512_mask_compress_epi32(zeros(), mask, elements);
      _mm256_storeu_si256((__m256i*)out, _mm512_maskz_cvtepi32_epi16(0xffff, dense));
    } else {
      const __m512i elements =
          _mm512_maskz_cvtepu8_epi32(0xffff, _mm_loadu_si128((const __m128i*)from));
      const __m512i dense = _mm512_mask_compress_epi32(zeros(), mask, elements);
      _mm_storeu_si128((__m128i*)out, _mm512_maskz_cvtepi32_epi8(0xffff, dense));
    }
    out += count_ones(mask) * kWidth;
  }
}

template <class I>
__attribute__((always_inline)) inline void compress_range(I first, uint64_t word, Byte* out) {
  constexpr unsigned kLanes = 64 / sizeof(I);
  typedef I V __attribute__((vector_size(64)));
  V range;
  if constexpr (sizeof(I) == 4) {
    range = V{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} + first;
  } else {
    range = V{0, 1, 2, 3, 4, 5, 6, 7} + first;
  }
  for (unsigned part = 0; part < 64 / kLanes; ++part) {
    if constexpr (sizeof(I) == 4) {
      const auto mask = static_cast<__mmask16>(word >> part * 16);
      _mm512_storeu_si512(out, _mm512_mask_compress_epi32(zeros(), mask, (__m512i)range));
      out += count_ones(mask) * sizeof(I);
    } else {
      const auto mask = static_cast<__mmask8>(word >> part * 8);
      _mm512_storeu_si512(out, _mm512_mask_compress_epi64(zeros(), mask, (__m512i)range));
      out += count_ones(mask) * sizeof(I);
    }
    range += static_cast<I>(kLanes);
  }
}

#elif defined(__AVX2__)
#define TENURE_COMPACTS_WORDS

// The bit indices of each mask of 8 bits, in rising order.
struct PlacesOfOnes {
  uint64_t bytes[256];

  constexpr PlacesOfOnes() : bytes{} {
    for (unsigned mask = 0; mask < 256; ++mask) {
      unsigned count = 0;
      for (unsigned place = 0; place < 8; ++place) {
        if ((mask >> place & 1) != 0) bytes[mask] |= uint64_t{place} << 8 * count++;
      }
    }
  }
};
constexpr PlacesOfOnes kPlacesOfOnes;

inline __m128i places_of(unsigned mask) {
  return _mm_loadl_epi64((const __m128i*)&kPlacesOfOnes.bytes[mask]);
}

template <unsigned kWidth>
__attribute__((always_inline)) inline void compress_word(const Byte* in, uint64_t word, Byte* out) {
  constexpr unsigned kLanes = kWidth == 8 ? 4 : 8;
  for (unsigned part = 0; part < 64 / kLanes; ++part) {
    const unsigned mask = word >> part * kLanes & ((1u << kLanes) - 1);
    const Byte* const from = in + part * kLanes * kWidth;
    const __m128i places = places_of(mask);
    if constexpr (kWidth == 8) {
      // Each element is two lanes of 4 bytes.
      const __m256i first = _mm256_slli_epi64(_mm256_cvtepu8_epi64(places), 1);
      const __m256i lanes = _mm256_or_si256(
          first, _mm256_slli_epi64(_mm256_add_epi64(first, _mm256_set1_epi64x(1)), 32));
      _mm256_storeu_si256((__m256i*)out, _mm256_permutevar8x32_epi32(
                                             _mm256_loadu_si256((const __m256i*)from), lanes));
    } else if constexpr (kWidth == 4) {
      _mm256_storeu_si256((__m256i*)out,
                          _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i*)from),
                                                      _mm256_cvtepu8_epi32(places)));
    } else if constexpr (kWidth == 2) {
      const __m128i first = _mm_add_epi8(places, places);
      const __m128i bytes = _mm_unpacklo_epi8(first, _mm_add_epi8(first, _mm_set1_epi8(1)));
      _mm_storeu_si128((__m128i*)out,
                       _mm_shuffle_epi8(_mm_loadu_si128((const __m128i*)from), bytes));
    } else {
      _mm_storel_epi64((__m128i*)out,
                       _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i*)from), places));
    }
    out += count_ones(mask) * kWidth;
  }
}

template <class I>
__attribute__((always_inline)) inline void compress_range(I first, uint64_t word, Byte* out) {
  constexpr unsigned kLanes = 32 / sizeof(I);
  for (unsigned part = 0; part < 64 / kLanes; ++part) {
    const unsigned mask = word >> part * kLanes & ((1u << kLanes) - 1);
    const I base = static_cast<I>(first + static_cast<I>(part * kLanes));
    __m256i range;
    if constexpr (sizeof(I) == 4) {
      range = _mm256_add_epi32(_mm256_cvtepu8_epi32(places_of(mask)), _mm256_set1_epi32(base));
    } else {
      range = _mm256_add_epi64(_mm256_cvtepu8_epi64(places_of(mask)), _mm256_set1_epi64x(base));
    }
    _mm256_storeu_si256((__m256i*)out, range);
    out += count_ones(mask) * sizeof(I);
  }
}

#endif

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
