// From bits to places: the numbers of those that are 1.
#include "cpu/compress.hpp"
#include "cpu/kernels/compress/compress_word.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Writes first + i of each bit i, and up to 64 numbers in all.
#if defined(__AVX512BW__)

inline void put_half(__m256i half, __m512i base, uint16_t* places) {
  const __m512i wide = _mm512_maskz_cvtepu8_epi16(~__mmask32{0}, half);
  _mm512_storeu_si512(places, _mm512_add_epi16(wide, base));
}

inline void list_word(uint64_t word, unsigned first, uint16_t* places) {
  const __m512i range = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  for (unsigned part = 0; part < 4; ++part) {
    const auto mask = static_cast<__mmask16>(word >> part * 16);
    const __m512i base = _mm512_set1_epi32(static_cast<int>(first + part * 16));
    const __m512i found = _mm512_mask_compress_epi32(zeros(), mask, _mm512_add_epi32(range, base));
    _mm256_storeu_si256((__m256i*)places, _mm512_maskz_cvtepi32_epi16(0xffff, found));
    places += count_ones(mask);
  }
}

#elif defined(__AVX2__)

inline void list_word(uint64_t word, unsigned first, uint16_t* places) {
  for (unsigned part = 0; part < 8; ++part) {
    const unsigned mask = word >> part * 8 & 0xff;
    const __m128i base = _mm_set1_epi16(static_cast<int16_t>(first + part * 8));
    _mm_storeu_si128((__m128i*)places, _mm_add_epi16(_mm_cvtepu8_epi16(places_of(mask)), base));
    places += count_ones(mask);
  }
}

#else

inline void list_word(uint64_t word, unsigned first, uint16_t* places) {
  for (; word != 0; word &= word - 1) {
    *places++ = static_cast<uint16_t>(first + static_cast<unsigned>(__builtin_ctzll(word)));
  }
}

#endif

}  // namespace

int64_t list_bit_indices(const uint64_t* bits, int64_t words, uint16_t* places) {
  uint16_t* const begin = places;
  for (int64_t i = 0; i < words; ++i) {
    list_word(bits[i], static_cast<unsigned>(i * kWordElements), places);
    places += count_ones(bits[i]);
  }
  return places - begin;
}

#if defined(__AVX512BW__)

// Lists bit indices where the processor compresses bytes: a word at once.
__attribute__((target("avx512vbmi2"))) int64_t list_bit_indices_by_bytes(const uint64_t* bits,
                                                                         int64_t words,
                                                                         uint16_t* places) {
  const __m512i all = first_places();
  uint16_t* const begin = places;
  for (int64_t i = 0; i < words; ++i) {
    const __m512i found = _mm512_mask_compress_epi8(zeros(), bits[i], all);
    const __m512i base = _mm512_set1_epi16(static_cast<int16_t>(i * kWordElements));
    const unsigned count = count_ones(bits[i]);
    put_half(_mm512_maskz_extracti64x4_epi64(0xf, found, 0), base, places);
    if (count > 32) put_half(_mm512_maskz_extracti64x4_epi64(0xf, found, 1), base, places + 32);
    places += count;
  }
  return places - begin;
}

#endif

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
