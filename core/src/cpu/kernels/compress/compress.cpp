// From bits to entries: the values that the bits name, made adjacent, and the coordinates of each.
#include "cpu/compress.hpp"

#include "cpu/kernels/compress/compress_word.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Coordinates of the 64 elements of a word in their matrix.
template <class I>
struct Places {
  I columns[64];
  I rows[64];
};

// Coordinates of a word that crosses the end of a row.
template <class I>
__attribute__((noinline)) void find_places(Places<I>& places, int64_t row, int64_t column,
                                           int64_t columns) {
  if (columns >= 64) {
    for (int64_t i = 0; i < 64; ++i) {
      const bool is_next = column + i >= columns;
      places.columns[i] = static_cast<I>(column + i - (is_next ? columns : 0));
      places.rows[i] = static_cast<I>(row + (is_next ? 1 : 0));
    }
    return;
  }
  // x / columns as x * inverse >> 16: too much by x * (columns - 1) / 65536 at most, which for x
  // below 128 is less than what an exact quotient of such a divisor lacks to the next.
  const auto inverse = static_cast<uint32_t>(65536 / columns + (65536 % columns != 0 ? 1 : 0));
  const auto width = static_cast<uint32_t>(columns);
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t x = static_cast<uint32_t>(column) + i;
    const uint32_t next = x * inverse >> 16;
    places.columns[i] = static_cast<I>(x - next * width);
    places.rows[i] = static_cast<I>(row) + static_cast<I>(next);
  }
}

template <class T>
inline void store(Byte* out, T value) {
  __builtin_memcpy(out, &value, sizeof value);
}

#if defined(TENURE_COMPACTS_WORDS)

// `count` times the value, and up to a vector more.
template <class I>
__attribute__((always_inline)) inline void fill_up(I value, unsigned count, Byte* out) {
  typedef I V __attribute__((vector_size(32)));
  const V values = V{} + value;
  for (unsigned i = 0; i < count; i += 32 / sizeof(I)) store(out + i * sizeof(I), values);
}

#endif

// ---- a run ----

// Position of a word in its matrix, and of its entries in the output.
template <unsigned kWidth, class I>
struct Cursor {
  const Byte* in;
  int64_t row;
  int64_t column;
  int64_t columns;  // of the matrix
  PrefetchCursor* ahead;
  Byte* values;
  Byte* out_columns;
  Byte* out_rows;  // nullptr: not written

  // Whether the next `count` elements are all of one row.
  [[nodiscard]] bool has_row_of(int64_t count) const { return column + count <= columns; }

  void skip(int64_t count) {
    in += count * static_cast<int64_t>(kWidth);
    column += count;
    if (column < columns) return;
    row += column / columns;
    column %= columns;
  }
  void advance(unsigned count) {
    values += count * kWidth;
    out_columns += count * sizeof(I);
    if (out_rows != nullptr) out_rows += count * sizeof(I);
  }
};

// Words between two decisions on how their entries are taken.
constexpr int64_t kGroupWords = 16;
// Entries of a word that are taken without a test whether they exist, since the branch would be
// mispredicted. A surplus one is overwritten by the next.
constexpr unsigned kFew = 3;
// Entries of a word that are no more than half a vector of 16, mostly.
constexpr unsigned kSomeEntries = 12;
enum class Fill { kSome, kMany };
// Whether they are taken in another way than many.
#if defined(__AVX512BW__)
template <unsigned kWidth, class I>
constexpr bool kHasSome = kWidth == 4 && sizeof(I) == 4;
#else
template <unsigned kWidth, class I>
constexpr bool kHasSome = false;
#endif

// Few entries, all in one row.
template <unsigned kWidth, class I>
__attribute__((noinline)) void take_few(Cursor<kWidth, I>& cursor, const uint64_t* bits,
                                        int64_t words) {
  const Byte* in = cursor.in;
  auto column = static_cast<I>(cursor.column);
  Byte* values = cursor.values;
  Byte* columns = cursor.out_columns;
  PrefetchCursor ahead = *cursor.ahead;
  const auto put = [&](int64_t place) {
    __builtin_memcpy(values, in + place * static_cast<int64_t>(kWidth), kWidth);
    store(columns, static_cast<I>(column + static_cast<I>(place)));
  };
  for (int64_t i = 0; i < words; ++i) {
    uint64_t word = bits[i];
    ahead.fetch((kWidth + 1) / 2);
    for (unsigned taken = 0; taken < kFew; ++taken) {
      put(__builtin_ctzll(word | uint64_t{1} << 63));  // of an empty word the last, which is there
      const unsigned is_there = word != 0 ? 1 : 0;
      values += is_there * kWidth;
      columns += is_there * sizeof(I);
      word &= word - 1;
    }
    for (; word != 0; word &= word - 1) {
      put(__builtin_ctzll(word));
      values += kWidth;
      columns += sizeof(I);
    }
    in += kWordElements * kWidth;
    column += static_cast<I>(kWordElements);
  }
  const auto count = static_cast<unsigned>((values - cursor.values) / kWidth);
#if defined(TENURE_COMPACTS_WORDS)
  if (cursor.out_rows != nullptr) fill_up<I>(static_cast<I>(cursor.row), count, cursor.out_rows);
#else
  for (unsigned i = 0; cursor.out_rows != nullptr && i < count; ++i) {
    store(cursor.out_rows + i * sizeof(I), static_cast<I>(cursor.row));
  }
#endif
  *cursor.ahead = ahead;
  cursor.advance(count);
  cursor.skip(words * kWordElements);
}

// Takes the entries of a word of any kind one by one; the word has `count` elements.
template <unsigned kWidth, class I>
__attribute__((noinline)) void take_slowly(Cursor<kWidth, I>& cursor, uint64_t word,
                                           int64_t count) {
  for (; word != 0; word &= word - 1) {
    const int64_t place = __builtin_ctzll(word);
    const int64_t column = cursor.column + place;
    __builtin_memcpy(cursor.values, cursor.in + place * static_cast<int64_t>(kWidth), kWidth);
    store(cursor.out_columns, static_cast<I>(column % cursor.columns));
    if (cursor.out_rows != nullptr) {
      store(cursor.out_rows, static_cast<I>(cursor.row + column / cursor.columns));
    }
    cursor.advance(1);
  }
  cursor.skip(count);
}

#if defined(TENURE_COMPACTS_WORDS)

// Values and their columns, of one row.
template <unsigned kWidth, class I, Fill kFill>
__attribute__((always_inline)) inline void compress_both(const Byte* in, I column, uint64_t word,
                                                         Byte* values, Byte* columns) {
#if defined(__AVX512BW__)
  if constexpr (kWidth == 4 && sizeof(I) == 4) {
    // The places that are compacted then choose the values: a permutation takes half as long.
    const __m512i range = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (unsigned part = 0; part < 4; ++part) {
      const auto mask = static_cast<__mmask16>(word >> part * 16);
      const unsigned count = count_ones(mask);
      const __m512i places = _mm512_mask_compress_epi32(zeros(), mask, range);
      const __m512i found =
          _mm512_maskz_permutexvar_epi32(0xffff, places, _mm512_loadu_si512(in + part * 64));
      const __m512i where =
          _mm512_add_epi32(places, _mm512_set1_epi32(column + static_cast<I>(part * 16)));
      // This waits for its stores of 64 bytes, because most of them cross the end of a line.
      if (kFill == Fill::kSome && __builtin_expect(count <= 8, 1)) {
        __builtin_memcpy(values, &found, 32);
        __builtin_memcpy(columns, &where, 32);
      } else {
        _mm512_storeu_si512(values, found);
        _mm512_storeu_si512(columns, where);
      }
      values += count * kWidth;
      columns += count * sizeof(I);
    }
    return;
  }
#endif
  compress_word<kWidth>(in, word, values);
  compress_range<I>(column, word, columns);
}

template <unsigned kWidth, class I, Fill kFill>
__attribute__((noinline)) void take_many(Cursor<kWidth, I>& cursor, const uint64_t* bits,
                                         int64_t words) {
  // Slower processing leaves the memory time for more lines.
  constexpr unsigned kLines = kFill == Fill::kSome ? (kWidth * 3 + 3) / 4 : kWidth;
  const Byte* in = cursor.in;
  auto column = static_cast<I>(cursor.column);
  Byte* values = cursor.values;
  Byte* columns = cursor.out_columns;
  PrefetchCursor ahead = *cursor.ahead;
  for (int64_t i = 0; i < words; ++i) {
    const uint64_t word = bits[i];
    ahead.fetch(kLines);
    compress_both<kWidth, I, kFill>(in, column, word, values, columns);
    values += count_ones(word) * kWidth;
    columns += count_ones(word) * sizeof(I);
    in += kWordElements * kWidth;
    column += static_cast<I>(kWordElements);
  }
  *cursor.ahead = ahead;
  const auto count = static_cast<unsigned>((values - cursor.values) / kWidth);
  if (cursor.out_rows != nullptr) fill_up<I>(static_cast<I>(cursor.row), count, cursor.out_rows);
  cursor.advance(count);
  cursor.skip(words * kWordElements);
}

// A word of several rows.
template <unsigned kWidth, class I>
__attribute__((noinline)) void take_across(Cursor<kWidth, I>& cursor, uint64_t word) {
  Places<I> places;
  find_places(places, cursor.row, cursor.column, cursor.columns);
  compress_word<kWidth>(cursor.in, word, cursor.values);
  compress_word<sizeof(I)>((const Byte*)places.columns, word, cursor.out_columns);
  if (cursor.out_rows != nullptr) {
    compress_word<sizeof(I)>((const Byte*)places.rows, word, cursor.out_rows);
  }
  cursor.advance(count_ones(word));
  cursor.skip(kWordElements);
}

#else

template <unsigned kWidth, class I, Fill kFill>
void take_many(Cursor<kWidth, I>& cursor, const uint64_t* bits, int64_t words) {
  take_few(cursor, bits, words);
}
template <unsigned kWidth, class I>
void take_across(Cursor<kWidth, I>& cursor, uint64_t word) {
  take_slowly(cursor, word, kWordElements);
}

#endif

template <unsigned kWidth, class I>
int64_t compress(const MaskedElements& run, const Entries& entries) {
  Cursor<kWidth, I> cursor = {run.in,    run.row,        run.column,      run.columns,
                              run.ahead, entries.values, entries.columns, entries.rows};
  const int64_t words = run.count / kWordElements;
  for (int64_t i = 0; i < words;) {
    const int64_t in_row = (cursor.columns - cursor.column) / kWordElements;
    if (in_row == 0) {
      take_across(cursor, run.bits[i++]);
      continue;
    }
    int64_t group = kGroupWords < words - i ? kGroupWords : words - i;
    if (in_row < group) group = in_row;
    unsigned count = 0;
    for (int64_t j = 0; j < group; ++j) count += count_ones(run.bits[i + j]);
    const auto size = static_cast<unsigned>(group);
    if (count <= size * kFew / 2) {
      take_few(cursor, run.bits + i, group);
    } else if (kHasSome<kWidth, I> && count <= size * kSomeEntries) {
      take_many<kWidth, I, kHasSome<kWidth, I> ? Fill::kSome : Fill::kMany>(cursor, run.bits + i,
                                                                            group);
    } else {
      take_many<kWidth, I, Fill::kMany>(cursor, run.bits + i, group);
    }
    i += group;
  }
  if (const int64_t rest = run.count % kWordElements; rest != 0) {
    take_slowly(cursor, run.bits[words], rest);
  }
  return static_cast<int64_t>((cursor.values - entries.values) / kWidth);
}

// ---- the offsets of rows ----

template <class I>
void count_rows(const MaskedElements& run, int64_t before, Byte* offsets) {
  const uint64_t* const bits = run.bits;
  Byte* out = offsets + (run.row + 1) * static_cast<int64_t>(sizeof(I));
  int64_t word = 0;  // those before it are counted
  for (int64_t end = run.columns - run.column; end <= run.count; end += run.columns) {
    for (; word < end / kWordElements; ++word) before += count_ones(bits[word]);
    const uint64_t below = (uint64_t{1} << end % kWordElements) - 1;
    const int64_t ones = below == 0 ? 0 : count_ones(bits[word] & below);
    store(out, static_cast<I>(before + ones));
    out += sizeof(I);
  }
}

}  // namespace

#define TENURE_COMPRESSORS(width) {compress<width, int32_t>, compress<width, int64_t>}
const Compressor kCompress[4][2] = {TENURE_COMPRESSORS(1), TENURE_COMPRESSORS(2),
                                    TENURE_COMPRESSORS(4), TENURE_COMPRESSORS(8)};
#undef TENURE_COMPRESSORS
const RowCounter kCountRows[2] = {count_rows<int32_t>, count_rows<int64_t>};

// Nothing runs before main.
constinit const Compression kCompression = {kPredicateMask, kCompress,        kCountRows,
                                            &kBlockTaking,  list_bit_indices, dropout_mask};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
