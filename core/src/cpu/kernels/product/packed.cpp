// Packed matrices times a vector.
#include "cpu/packed.hpp"

#include "cpu/kernels/lanes.hpp"
#include "cpu/kernels/product/row_sum.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// ---- values ----

// Adjacent values in the type that is computed in: in place, or widened some at a time.
constexpr int64_t kWidenedValues = 512;
constexpr int64_t kWordsAtOnce = kWidenedValues / kWordBits;

template <class V>
struct Values {
  static constexpr bool kAreWidened = false;
};
template <class V>
  requires(!kSame<V, Computed<V>>)
struct Values<V> {
  static constexpr bool kAreWidened = true;

  // The next `count` values, kWidenedValues at most, as f32. Padding makes reads past them safe.
  const Byte* widen_some(const Byte* values, int64_t count) {
    for (int64_t k = 0; k < count; ++k) widened_values[k] = widened<V>(values + k * kStep<V>);
    return reinterpret_cast<const Byte*>(widened_values);
  }

  float widened_values[kWidenedValues + kPerVector<float>] = {};
};

// ---- tiles ----

// Values have been widened: one function for all types.
template <class I>
__attribute__((noinline)) float widened_row_sum(const Byte* values, const Byte* columns,
                                                const Byte* x, int64_t count, int64_t readable) {
  TrustedIndices known;
  return row_sum<float, I>(values, columns, x, count, readable, HeldBy::kSecondCache, known);
}

// Adds the products of a tile's part of a row as row_sum() does.
template <class V, class I>
inline Computed<V> part_sum(Values<V>& wide, const Byte* values, const Byte* columns, const Byte* x,
                            int64_t count, int64_t readable, HeldBy holder) {
  if constexpr (!Values<V>::kAreWidened) {
    TrustedIndices known;
    return row_sum<V, I>(values, columns, x, count, readable, holder, known);
  } else {
    float sum = 0;
    for (int64_t k = 0; k < count; k += kWidenedValues) {
      const int64_t some = count - k < kWidenedValues ? count - k : kWidenedValues;
      sum += widened_row_sum<I>(wide.widen_some(values + k * kStep<V>, some),
                                columns + k * kStep<I>, x, some, readable - k);
    }
    return sum;
  }
}

// Adds products as part_sum() does, for a spaced x; `x` points at the tile's first column.
template <class V, class I>
inline Computed<V> spaced_sum(const Byte* values, const Byte* columns, const Byte* x,
                              int64_t x_step, int64_t count) {
  using T = Computed<V>;
  constexpr int64_t kAtOnce = Values<V>::kAreWidened ? kWidenedValues : INT64_MAX;
  T sum = 0;
  while (count > 0) {
    const int64_t some = count < kAtOnce ? count : kAtOnce;
    T lanes[kSumLanes] = {};
    for (int64_t k = 0; k < some; ++k, values += kStep<V>, columns += kStep<I>) {
      lanes[k % kSumLanes] += widened<V>(values) * widened<V>(x + load<I>(columns) * x_step);
    }
    LaneSums<T> sums;
    __builtin_memcpy(&sums, lanes, sizeof sums);
    sum += sums.total();
    count -= some;
  }
  return sum;
}

template <class V, class I>
void tiles(const PackedProduct& p, const PackedTiles& a, int64_t begin, int64_t end) {
  using T = Computed<V>;
  const Scaling<V> scaling(p.alpha, p.beta);
  Values<V> wide;
  const HeldBy holder =
      a.cols <= kNearVectorBytes / kStep<T> ? HeldBy::kFirstCache : HeldBy::kSecondCache;
  for (int64_t strip = begin; strip < end; ++strip) {
    const int64_t first_row = strip * kStripRows;
    const int64_t rows = a.rows - first_row < kStripRows ? a.rows - first_row : kStripRows;
    T sums[kStripRows] = {};
    for (int64_t i = a.strips[strip]; i < a.strips[strip + 1]; ++i) {
      const PackedTile& tile = a.tiles[i];
      const Byte* const x = p.x + tile.first_column * (p.is_spaced ? p.x_step : kStep<T>);
      const Byte* const values = a.values + tile.first_entry * kStep<V>;
      const Byte* const columns = a.columns + tile.first_entry * kStep<I>;
      int64_t from = 0;
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t to = tile.ends[row];
        const Byte* const row_values = values + from * kStep<V>;
        const Byte* const row_columns = columns + from * kStep<I>;
        sums[row] += p.is_spaced ? spaced_sum<V, I>(row_values, row_columns, x, p.x_step, to - from)
                                 : part_sum<V, I>(wide, row_values, row_columns, x, to - from,
                                                  tile.ends[kStripRows - 1] - from, holder);
        from = to;
      }
    }
    for (int64_t row = 0; row < rows; ++row) {
      scaling.write(p.out + (first_row + row) * p.out_step, sums[row]);
    }
  }
}

// ---- bitmaps ----

// Adjacent values, each times the element of x whose bit is set; 0 where none is, whatever x holds
// there.
#if defined(__AVX512F__)
// The zeroing form of an expansion waits for the register's previous value (see also compress.cpp).
template <class Register>
inline Register zeros() {
  Register zero = {};
  asm("" : "+v"(zero));
  return zero;
}
// Made once: g++ 12 has one signed mask and one unsigned otherwise.
#define TENURE_KEEP_MASK(mask) asm("" : "+Yk"(mask))

inline Vector<float> products(const Byte* values, const Byte* x, unsigned bits, float) {
  __mmask16 mask = _cvtu32_mask16(bits);
  TENURE_KEEP_MASK(mask);
  return reinterpret_cast<Vector<float>>(_mm512_maskz_mul_ps(
      mask, _mm512_mask_expand_ps(zeros<__m512>(), mask, _mm512_loadu_ps(values)),
      _mm512_loadu_ps(x)));
}
inline Vector<double> products(const Byte* values, const Byte* x, unsigned bits, double) {
  __mmask8 mask = _cvtu32_mask8(bits);
  TENURE_KEEP_MASK(mask);
  return reinterpret_cast<Vector<double>>(_mm512_maskz_mul_pd(
      mask, _mm512_mask_expand_pd(zeros<__m512d>(), mask, _mm512_loadu_pd(values)),
      _mm512_loadu_pd(x)));
}
#else
// Index in its register of each part of an expansion: of kParts to a register, kLanes of them with
// a bit.
template <int kLanes, int kParts>
struct Picks {
  constexpr Picks() : parts{} {
    constexpr int kPerLane = kParts / kLanes;
    for (unsigned bits = 0; bits < 1u << kLanes; ++bits) {
      int below = 0;
      for (int i = 0; i < kParts; ++i) {
        parts[bits][i] = static_cast<uint8_t>(below * kPerLane + i % kPerLane);
        if (i % kPerLane == kPerLane - 1) below += static_cast<int>(bits >> i / kPerLane & 1);
      }
    }
  }
  uint8_t parts[1u << kLanes][kParts];
};

template <class T>
inline Vector<T> expand(const Byte* values, unsigned bits) {
  constexpr int kLanes = static_cast<int>(kPerVector<T>);
#if defined(__AVX2__)
  static constexpr Picks<kLanes, 8> kPicks;
  const __m256i parts =
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(kPicks.parts[bits])));
  return reinterpret_cast<Vector<T>>(_mm256_permutevar8x32_epi32(load<__m256i>(values), parts));
#elif defined(__SSSE3__)
  static constexpr Picks<kLanes, 16> kPicks;
  return reinterpret_cast<Vector<T>>(
      _mm_shuffle_epi8(load<__m128i>(values), load<__m128i>(kPicks.parts[bits])));
#else
  static constexpr Picks<kLanes, kLanes> kPicks;
  Vector<T> result = {};
  for (int i = 0; i < kLanes; ++i) result[i] = load<T>(values + kPicks.parts[bits][i] * kStep<T>);
  return result;
#endif
}

template <class T>
inline Vector<T> products(const Byte* values, const Byte* x, unsigned bits, T) {
  using Truths = Vector<Truth<T>>;
  Truths lane_bits = {};
  for (int i = 0; i < kPerVector<T>; ++i) lane_bits[i] = Truth<T>{1} << i;
  const Truths is_set = (broadcast(static_cast<Truth<T>>(bits)) & lane_bits) == lane_bits;
  const Vector<T> all = expand<T>(values, bits) * load<Vector<T>>(x);
  return reinterpret_cast<Vector<T>>(reinterpret_cast<Truths>(all) & is_set);
}
#endif

// Adds the products of one word's elements; returns where the values of the next begin.
template <class T>
inline const Byte* add_word(Lanes<T>& sums, uint64_t word, const Byte* values, const Byte* x) {
  constexpr int kCount = static_cast<int>(kPerVector<T>);
  for (int i = 0; i < kWordBits / kCount; ++i) {
    const uint64_t before = word & ((uint64_t{1} << (i * kCount)) - 1);
    const auto bits = static_cast<unsigned>(word >> (i * kCount) & ((1u << kCount) - 1));
    sums.parts[i % Lanes<T>::kParts] +=
        products(values + __builtin_popcountll(before) * kStep<T>, x + i * kVectorBytes, bits, T{});
  }
  return values + __builtin_popcountll(word) * kStep<T>;
}

// Values have been widened: one function for all types.
__attribute__((noinline)) void add_widened_words(Lanes<float>& all, const uint64_t* words,
                                                 int64_t count, const Byte* values, const Byte* x) {
  Lanes<float> sums = all;
  for (int64_t i = 0; i < count; ++i) {
    values = add_word(sums, words[i], values, x + i * kWordBits * kStep<float>);
  }
  all = sums;
}

// Adds the products of adjacent words.
template <class V>
inline const Byte* add_words(Lanes<Computed<V>>& sums, Values<V>& wide, const uint64_t* words,
                             int64_t count, const Byte* values, const Byte* x) {
  constexpr int64_t kWordStep = kWordBits * kStep<Computed<V>>;
  if constexpr (!Values<V>::kAreWidened) {
    for (int64_t i = 0; i < count; ++i) {
      // Two lines: half of the elements of a word, of f32.
      __builtin_prefetch(values + kFarAheadBytes, 0, 2);
      __builtin_prefetch(values + kFarAheadBytes + kLineBytes, 0, 2);
      values = add_word(sums, words[i], values, x + i * kWordStep);
    }
  } else {
    for (int64_t first = 0; first < count; first += kWordsAtOnce) {
      const int64_t end = count - first < kWordsAtOnce ? count : first + kWordsAtOnce;
      int64_t some = 0;
      for (int64_t i = first; i < end; ++i) some += __builtin_popcountll(words[i]);
      add_widened_words(sums, words + first, end - first, wide.widen_some(values, some),
                        x + first * kWordStep);
      values += some * kStep<V>;
    }
  }
  return values;
}

template <class T>
inline T total(const Lanes<T>& sums) {
  constexpr int kCount = static_cast<int>(Lanes<T>::kCount);
  T lanes[kCount];
  __builtin_memcpy(lanes, &sums, sizeof lanes);
  for (int i = 0; i < kCount / 2; ++i) lanes[i] += lanes[i + kCount / 2];
  for (int i = 0; i < kCount / 4; ++i) lanes[i] += lanes[i + kCount / 4];
  for (int i = 0; i < kCount / 8; ++i) lanes[i] += lanes[i + kCount / 8];
  T sum = 0;
  for (int i = 0; i < kCount / 8; ++i) sum += lanes[i];
  return sum;
}

// Bitmap times a strided x: some columns of x at a time are gathered for all rows.
template <class V>
void bitmap_of_spaced(const PackedProduct& p, const Bitmap& a, int64_t begin, int64_t end) {
  using T = Computed<V>;
  const Scaling<V> scaling(p.alpha, p.beta);
  Values<V> wide;
  const int64_t word_count = (a.cols + kWordBits - 1) / kWordBits;
  T x[kWordsAtOnce * kWordBits] = {};
  Lanes<T> sums[kSpacedBitmapRows] = {};
  const Byte* values[kSpacedBitmapRows];
  for (int64_t row = begin; row < end; ++row) {
    values[row - begin] = a.values + a.offsets[row] * kStep<V>;
  }
  for (int64_t word = 0; word < word_count; word += kWordsAtOnce) {
    const int64_t words = word_count - word < kWordsAtOnce ? word_count - word : kWordsAtOnce;
    const int64_t first = word * kWordBits;
    const int64_t columns = a.cols - first < words * kWordBits ? a.cols - first : words * kWordBits;
    for (int64_t i = 0; i < columns; ++i) x[i] = widened<V>(p.x + (first + i) * p.x_step);
    for (int64_t row = begin; row < end; ++row) {
      const Byte*& next = values[row - begin];
      next = add_words<V>(sums[row - begin], wide, a.words + row * word_count + word, words, next,
                          reinterpret_cast<const Byte*>(x));
    }
  }
  for (int64_t row = begin; row < end; ++row) {
    scaling.write(p.out + row * p.out_step, total(sums[row - begin]));
  }
}

template <class V>
void bitmap(const PackedProduct& p, const Bitmap& a, int64_t begin, int64_t end) {
  if (p.is_spaced) return bitmap_of_spaced<V>(p, a, begin, end);
  using T = Computed<V>;
  const Scaling<V> scaling(p.alpha, p.beta);
  Values<V> wide;
  const int64_t whole = a.cols / kWordBits;
  const int64_t rest = a.cols % kWordBits;
  const int64_t word_count = whole + (rest != 0);
  // Whole registers are read of it.
  T last[kWordBits] = {};
  if (rest != 0) {
    __builtin_memcpy(last, p.x + whole * kWordBits * kStep<T>,
                     static_cast<uint64_t>(rest) * sizeof(T));
  }
  for (int64_t row = begin; row < end; ++row) {
    const uint64_t* const words = a.words + row * word_count;
    Lanes<T> sums = {};
    const Byte* const values =
        add_words<V>(sums, wide, words, whole, a.values + a.offsets[row] * kStep<V>, p.x);
    if (rest != 0) {
      add_words<V>(sums, wide, words + whole, 1, values, reinterpret_cast<const Byte*>(last));
    }
    scaling.write(p.out + row * p.out_step, total(sums));
  }
}

template <class T>
constexpr PackedKernels kPackedOf = {{tiles<T, uint16_t>, tiles<T, int32_t>}, bitmap<T>};

}  // namespace

const PackedKernels kPacked[kPackedFloatCount] = {kPackedOf<double>, kPackedOf<float>,
                                                  kPackedOf<F16>, kPackedOf<BF16>};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
