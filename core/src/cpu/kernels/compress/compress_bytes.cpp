// From bits to entries, as compress.cpp, where the processor compresses bytes (AVX512_VBMI2: Ice
// Lake, Zen 4 and later). All places of a word are found at once, so that stores have vectors full
// of entries rather than one vector for each 16 elements.
#include "cpu/compress.hpp"
#include "cpu/kernels/compress/compress_word.hpp"
#include "cpu/tables.hpp"

#if defined(__AVX512BW__)

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// The file is compiled for the instructions that every processor with AVX-512 has.
#define TENURE_BYTES __attribute__((target("avx512vbmi2")))

// 16 columns: of places, from that of the word's first element on.
template <class I>
__attribute__((always_inline)) inline void put_columns(__m128i places, I first, Byte* out) {
  if constexpr (sizeof(I) == 4) {
    const __m512i wide = _mm512_maskz_cvtepu8_epi32(0xffff, places);
    _mm512_storeu_si512(out, _mm512_add_epi32(wide, _mm512_set1_epi32(first)));
  } else {
    for (unsigned half = 0; half < 2; ++half) {
      const __m512i wide = _mm512_maskz_cvtepu8_epi64(0xff, places);
      _mm512_storeu_si512(out + half * 64, _mm512_add_epi64(wide, _mm512_set1_epi64(first)));
      places = _mm_srli_si128(places, 8);
    }
  }
}

// The 16 elements of 4 bytes that the places name, of the 64 of four vectors.
__attribute__((always_inline)) inline __m512i choose(const __m512i* elements, __m128i places) {
  const __m512i wide = _mm512_maskz_cvtepu8_epi32(0xffff, places);
  const __mmask16 is_high = _mm512_test_epi32_mask(wide, _mm512_set1_epi32(32));
  const __m512i low = _mm512_permutex2var_epi32(elements[0], wide, elements[1]);
  const __m512i high = _mm512_permutex2var_epi32(elements[2], wide, elements[3]);
  return _mm512_mask_mov_epi32(low, is_high, high);
}

template <unsigned kWidth>
TENURE_BYTES __attribute__((always_inline)) inline void put_values(const Byte* in, uint64_t word,
                                                                   Byte* out) {
  if constexpr (kWidth == 1) {
    _mm512_storeu_si512(out, _mm512_mask_compress_epi8(zeros(), word, _mm512_loadu_si512(in)));
  } else if constexpr (kWidth == 2) {
    for (unsigned part = 0; part < 2; ++part) {
      const auto mask = static_cast<__mmask32>(word >> part * 32);
      const __m512i elements = _mm512_loadu_si512(in + part * 64);
      _mm512_storeu_si512(out, _mm512_mask_compress_epi16(zeros(), mask, elements));
      out += count_ones(mask) * kWidth;
    }
  } else {
    for (unsigned part = 0; part < 8; ++part) {
      const auto mask = static_cast<__mmask8>(word >> part * 8);
      const __m512i elements = _mm512_loadu_si512(in + part * 64);
      _mm512_storeu_si512(out, _mm512_mask_compress_epi64(zeros(), mask, elements));
      out += count_ones(mask) * kWidth;
    }
  }
}

// Writes 16 entries of a word; the last of them need not exist.
template <unsigned kWidth, class I>
__attribute__((always_inline)) inline void put_some(const __m512i* elements, __m128i places,
                                                    I column, Byte* values, Byte* columns) {
  if constexpr (kWidth == 4) _mm512_storeu_si512(values, choose(elements, places));
  put_columns<I>(places, column, columns);
}

// The entries of whole words that are all in one row.
template <unsigned kWidth, class I>
TENURE_BYTES __attribute__((noinline)) void take_words(const MaskedElements& run, const Entries& to,
                                                       unsigned lines) {
  const __m512i all_places = first_places();
  const int64_t words = run.count / kWordElements;
  const uint64_t* const bits = run.bits;
  const Byte* in = run.in;
  Byte* values = to.values;
  Byte* columns = to.columns;
  auto column = static_cast<I>(run.column);
  PrefetchCursor ahead = *run.ahead;
  for (int64_t i = 0; i < words; ++i) {
    const uint64_t word = bits[i];
    const unsigned count = count_ones(word);
    ahead.fetch(lines);
    const __m512i places = _mm512_mask_compress_epi8(zeros(), word, all_places);
    __m512i elements[4] = {};
    if constexpr (kWidth == 4) {
      for (unsigned part = 0; part < 4; ++part) elements[part] = _mm512_loadu_si512(in + part * 64);
    } else {
      put_values<kWidth>(in, word, values);
    }
    // Two branches, which most matrices always take alike, rather than one for each 16 entries.
    put_some<kWidth, I>(elements, _mm512_maskz_extracti32x4_epi32(0xf, places, 0), column, values,
                        columns);
    if (count > 16) {
      put_some<kWidth, I>(elements, _mm512_maskz_extracti32x4_epi32(0xf, places, 1), column,
                          values + 16 * kWidth, columns + 16 * sizeof(I));
      put_some<kWidth, I>(elements, _mm512_maskz_extracti32x4_epi32(0xf, places, 2), column,
                          values + 32 * kWidth, columns + 32 * sizeof(I));
    }
    if (count > 48) {
      put_some<kWidth, I>(elements, _mm512_maskz_extracti32x4_epi32(0xf, places, 3), column,
                          values + 48 * kWidth, columns + 48 * sizeof(I));
    }
    values += count * kWidth;
    columns += count * sizeof(I);
    in += kWordElements * kWidth;
    column += static_cast<I>(kWordElements);
  }
  *run.ahead = ahead;
}

template <class I>
inline void fill_up(I value, int64_t count, Byte* out) {
  typedef I V __attribute__((vector_size(64)));
  const V values = V{} + value;
  for (int64_t i = 0; i < count; i += 64 / static_cast<int64_t>(sizeof(I))) {
    _mm512_storeu_si512(out + i * static_cast<int64_t>(sizeof(I)), (__m512i)values);
  }
}

// Below this, processing is faster and leaves the memory time for fewer prefetched lines.
constexpr int64_t kSomeEntries = 12;

// Words that are looked at together, and entries of one from which on it is taken this way: fewer
// are taken one by one, and so are words of several rows, by compress.cpp.
constexpr int64_t kGroupWords = 16;
constexpr int64_t kLeast = 2;

template <unsigned kWidth, class I>
int64_t compress_bytes(const MaskedElements& run, const Entries& entries) {
  constexpr unsigned kWidthIndex = kWidth == 1 ? 0 : kWidth == 2 ? 1 : kWidth == 4 ? 2 : 3;
  const Compressor plainly = kCompress[kWidthIndex][sizeof(I) / 8];
  if (run.columns < kWordElements) return plainly(run, entries);
  MaskedElements part = run;
  Entries to = entries;
  for (int64_t left = run.count; left > 0; left -= part.count) {
    int64_t group = (run.columns - part.column) / kWordElements;
    if (left / kWordElements < group) group = left / kWordElements;
    if (kGroupWords < group) group = kGroupWords;
    int64_t found = 0;
    for (int64_t i = 0; i < group; ++i) found += count_ones(part.bits[i]);
    if (found > group * kLeast) {
      part.count = group * kWordElements;
      take_words<kWidth, I>(part, to, found > group * kSomeEntries ? kWidth : (kWidth + 1) / 2);
      if (to.rows != nullptr) fill_up<I>(static_cast<I>(part.row), found, to.rows);
    } else {
      part.count = group > 0 ? group * kWordElements : left < kWordElements ? left : kWordElements;
      found = plainly(part, to);
    }
    to.values += found * kWidth;
    to.columns += found * static_cast<int64_t>(sizeof(I));
    if (to.rows != nullptr) to.rows += found * static_cast<int64_t>(sizeof(I));
    part.in += part.count * kWidth;
    part.bits += part.count / kWordElements;
    part.column += part.count;
    if (part.column >= part.columns) {
      part.row += part.column / part.columns;
      part.column %= part.columns;
    }
  }
  return (to.columns - entries.columns) / static_cast<int64_t>(sizeof(I));
}

}  // namespace

#define TENURE_COMPRESSORS(width) {compress_bytes<width, int32_t>, compress_bytes<width, int64_t>}
namespace {

constexpr Compressor kCompressBytes[4][2] = {TENURE_COMPRESSORS(1), TENURE_COMPRESSORS(2),
                                             TENURE_COMPRESSORS(4), TENURE_COMPRESSORS(8)};
#undef TENURE_COMPRESSORS

}  // namespace

constinit const Compression kCompressionByBytes = {
    kPredicateMask, kCompressBytes, kCountRows, &kBlockTaking, list_bit_indices_by_bytes,
    dropout_mask};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
#endif
