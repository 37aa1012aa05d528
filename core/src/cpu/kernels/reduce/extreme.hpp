// The loops of min and max, and of the places where they are.
//
// The place of an extreme is found in two steps: the extreme of a block that the L1 cache holds,
// then, only where it beats all blocks before, its first place in the block.
#pragma once

#include "cpu/kernels/reduce/across.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T>
constexpr auto kBytesOf = static_cast<int64_t>(sizeof(T));

// A single instruction where there is one, which takes the first of equals. A NaN in `best` stays,
// one in `value` is passed over. Compilers would make a comparison and a blend of it. AVX-512 by
// its masked forms, since g++ 12 takes the results of the others for uninitialised.
#if defined(__AVX512F__)
#define TENURE_BEST_OF(which, width, kind, mask) _mm512_maskz_##which##_##width(mask, a, b)
#define TENURE_REGISTER(kind) __m512##kind
#elif defined(__AVX2__)
#define TENURE_BEST_OF(which, width, kind, mask) _mm256_##which##_##width(a, b)
#define TENURE_REGISTER(kind) __m256##kind
#elif defined(__SSE4_1__)
#define TENURE_BEST_OF(which, width, kind, mask) _mm_##which##_##width(a, b)
#define TENURE_REGISTER(kind) __m128##kind
#endif
#define TENURE_BEST(Element, width, kind, mask)                                                \
  if constexpr (kSame<T, Element>) {                                                           \
    const auto a = bit_copy<TENURE_REGISTER(kind)>(value);                                     \
    const auto b = bit_copy<TENURE_REGISTER(kind)>(best);                                      \
    return bit_copy<Vector<T>>(kSame<Rule, Smaller> ? TENURE_BEST_OF(min, width, kind, mask)   \
                                                    : TENURE_BEST_OF(max, width, kind, mask)); \
  }
template <class Rule, class T>
inline Vector<T> best_number(const Vector<T>& best, const Vector<T>& value) {
#if defined(TENURE_REGISTER)
  TENURE_BEST(double, pd, d, 0xff)
  TENURE_BEST(float, ps, , 0xffff)
  TENURE_BEST(int8_t, epi8, i, ~__mmask64{0})
  TENURE_BEST(int16_t, epi16, i, ~__mmask32{0})
  TENURE_BEST(int32_t, epi32, i, 0xffff)
  TENURE_BEST(uint8_t, epu8, i, ~__mmask64{0})
  TENURE_BEST(uint16_t, epu16, i, ~__mmask32{0})
  TENURE_BEST(uint32_t, epu32, i, 0xffff)
#endif
#if defined(__AVX512F__)
  TENURE_BEST(int64_t, epi64, i, 0xff)
  TENURE_BEST(uint64_t, epu64, i, 0xff)
#endif
  return Rule::beats(value, best) ? value : best;
}
#undef TENURE_BEST
#undef TENURE_REGISTER
#undef TENURE_BEST_OF

// Merges values that are not NaN.
template <class Rule, class T>
struct OfNumbers {
  using Lane = T;
  static Vector<T> merge(const Vector<T>& best, const Vector<T>& value) {
    return best_number<Rule, T>(best, value);
  }
  template <class X>
  static X merge(X best, X value) {
    return Rule::holds(best, value) ? best : value;
  }
};

// Whether some of the values that were added is NaN. Integers are not.
template <class T>
struct Nans {
  void add(const Vector<T>&, const Vector<T>&) {}
  [[nodiscard]] bool are_some() const { return false; }
};
#if defined(__AVX512F__)
template <>
struct Nans<double> {
  void add(const Vector<double>& a, const Vector<double>& b) {
    found |= _mm512_cmp_pd_mask(reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(b),
                                _CMP_UNORD_Q);
  }
  [[nodiscard]] bool are_some() const { return found != 0; }
  __mmask8 found = 0;
};
template <>
struct Nans<float> {
  void add(const Vector<float>& a, const Vector<float>& b) {
    found |=
        _mm512_cmp_ps_mask(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), _CMP_UNORD_Q);
  }
  [[nodiscard]] bool are_some() const { return found != 0; }
  __mmask16 found = 0;
};
#else
template <class T>
  requires kIsFloat<T>
struct Nans<T> {
  void add(const Vector<T>& a, const Vector<T>& b) {
#if defined(__AVX2__)
    if constexpr (sizeof(T) == 8) {
      found |= bit_copy<Vector<Truth<T>>>(
          _mm256_cmp_pd(bit_copy<__m256d>(a), bit_copy<__m256d>(b), _CMP_UNORD_Q));
    } else {
      found |= bit_copy<Vector<Truth<T>>>(
          _mm256_cmp_ps(bit_copy<__m256>(a), bit_copy<__m256>(b), _CMP_UNORD_Q));
    }
#elif defined(__x86_64__)
    if constexpr (sizeof(T) == 8) {
      found |=
          bit_copy<Vector<Truth<T>>>(_mm_cmpunord_pd(bit_copy<__m128d>(a), bit_copy<__m128d>(b)));
    } else {
      found |=
          bit_copy<Vector<Truth<T>>>(_mm_cmpunord_ps(bit_copy<__m128>(a), bit_copy<__m128>(b)));
    }
#else
    found |= (a != a) | (b != b);
#endif
  }
  [[nodiscard]] bool are_some() const { return is_any<Truth<T>>(found); }
  Vector<Truth<T>> found = {};
};
#endif

// Calls is_met(x) for dense elements, in vectors and then one by one, and returns the place of the
// first that it holds for. There is one.
template <class T, class IsMet>
inline int64_t first_place(const Byte* in, int64_t count, const IsMet& is_met) {
  constexpr int64_t kWidth = kPerVector<T>;
  constexpr int64_t kVectors = 8;
  int64_t first = 0;
#pragma GCC unroll 1
  for (; first + kVectors * kWidth <= count; first += kVectors * kWidth) {
    const Byte* const from = in + first * kBytesOf<T>;
    Vector<Truth<T>> found = {};
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      found |= is_met(load<Vector<T>>(from + v * kVectorBytes));
    }
    if (!is_any<Truth<T>>(found)) continue;
    if constexpr (sizeof(T) >= 4) {
      // From the last on without a branch, which would be mispredicted.
      int64_t place = 0;
#pragma GCC unroll 8
      for (int64_t v = kVectors - 1; v >= 0; --v) {
        const uint64_t bits = lane_bits<Truth<T>>(is_met(load<Vector<T>>(from + v * kVectorBytes)));
        place = bits == 0 ? place : v * kWidth + __builtin_ctzll(bits);
      }
      return first + place;
    }
    break;
  }
#pragma GCC unroll 1
  for (; first + kWidth <= count; first += kWidth) {
    const Vector<Truth<T>> found = is_met(load<Vector<T>>(in + first * kBytesOf<T>));
    if (is_any<Truth<T>>(found)) break;
  }
#pragma GCC unroll 1
  for (; first < count; ++first) {
    if (is_met(load<T>(in + first * kBytesOf<T>))) break;
  }
  return first;
}

// The place of the first of dense elements that equals `value`, or that is NaN where it is NaN.
// There is one.
template <class T>
[[gnu::noinline]] int64_t place_of(T value, const Byte* in, int64_t count) {
  if constexpr (kIsFloat<T>) {
    if (value != value) {
      return first_place<T>(in, count, [](const auto& x) { return x != x; });
    }
  }
  return first_place<T>(in, count, [&](const auto& x) { return x == value; });
}

// The extreme of dense elements; the first NaN, if there is one. NaNs are looked for separately
// from the comparisons, which then are single instructions that let NaNs pass.
//
// Lane i takes the elements i, i + kCount, ... in their order under every instruction set, so that
// the same of +0 and -0 comes out. They are one stream: processors fetch it ahead across the rows of
// a tensor, and two streams that each end within a page less.
template <class Rule, class T>
[[gnu::noinline]] T extreme_of(const Byte* in, int64_t count) {
  using L = Lanes<T>;
  using Numbers = OfNumbers<Rule, T>;
  auto best = every_lane<T>(Rule::template worst<T>());
  Nans<T> nans;
  int64_t i = 0;
#pragma GCC unroll 4
  for (; i + L::kCount <= count; i += L::kCount) {
    const Byte* const from = in + i * kBytesOf<T>;
    for (int part = 0; part < L::kParts; part += 2) {
      const auto x = load<Vector<T>>(from + part * kVectorBytes);
      const auto y = load<Vector<T>>(from + (part + 1) * kVectorBytes);
      best.parts[part] = Numbers::merge(best.parts[part], x);
      best.parts[part + 1] = Numbers::merge(best.parts[part + 1], y);
      nans.add(x, y);
    }
  }
  if (i < count) {
    // The padding beats nothing.
    Lanes<T> last = every_lane<T>(Rule::template worst<T>());
    __builtin_memcpy(&last, in + i * kBytesOf<T>, static_cast<uint64_t>(count - i) * sizeof(T));
    for (int part = 0; part < L::kParts; ++part) nans.add(last.parts[part], last.parts[part]);
    merge_lanes<Numbers>(best, last);
  }
  if (nans.are_some()) {
    const auto nan = static_cast<T>(__builtin_nan(""));
    return load<T>(in + place_of(nan, in, count) * kBytesOf<T>);
  }
  return fold_lanes<Numbers>(best);
}

template <class Rule, class T>
void fold_extreme(const Reduction&, const Byte* in, int64_t count, Byte* accumulator) {
  const T best = load<T>(accumulator);
  store(accumulator, Extreme<Rule, T>::merge(best, extreme_of<Rule, T>(in, count)));
}

// Integers as in any order. Columns of floats in which a NaN is met are begun anew, by slower
// comparisons; one that was met before stays in any case.
template <class Rule, class T, int64_t kVectors>
inline void spread_extremes_of(const Reduction& reduction, const Sweep& sweep, int64_t column) {
  Byte* const accumulators = sweep.accumulators + column * kBytesOf<T>;
  const Byte* in = sweep.in + column * kBytesOf<T>;
  const int64_t row_step = sweep.row_step;
  const bool fetches = sweep.rows_ahead != 0;
  const int64_t ahead = sweep.rows * row_step;
  if (kVectors == 1 && fetches) fetch_rows(in + ahead, row_step, sweep.rows_ahead, kVectorBytes);
  Vector<T> best[kVectors];
#pragma GCC unroll 4
  for (int64_t v = 0; v < kVectors; ++v) {
    best[v] = load<Vector<T>>(accumulators + v * kVectorBytes);
  }
  Nans<T> nans;
  for_each_of<kVectors>(sweep.rows, [&] {
    if (kVectors > 1 && fetches) fetch_row<kVectors * kVectorBytes>(in + ahead);
    constexpr int64_t kPair = kVectors == 1 ? 1 : 2;
#pragma GCC unroll 4
    for (int64_t v = 0; v < kVectors; v += kPair) {
      const auto x = load<Vector<T>>(in + v * kVectorBytes);
      const auto y = load<Vector<T>>(in + (v + kPair - 1) * kVectorBytes);
      best[v] = OfNumbers<Rule, T>::merge(best[v], x);
      if constexpr (kPair == 2) best[v + 1] = OfNumbers<Rule, T>::merge(best[v + 1], y);
      nans.add(x, y);
    }
    in += row_step;
  });
  if (nans.are_some()) [[unlikely]] {
    Sweep slow = sweep;
    slow.in = sweep.in + column * kBytesOf<T>;
    slow.columns = kVectors * kPerVector<T>;
    slow.accumulators = accumulators;
    slow.rows_ahead = 0;
    reduction.spread_accumulators(reduction, slow);
    return;
  }
#pragma GCC unroll 4
  for (int64_t v = 0; v < kVectors; ++v) store(accumulators + v * kVectorBytes, best[v]);
}

template <class Rule, class T>
void spread_extremes(const Reduction& reduction, const Sweep& sweep) {
  constexpr int64_t kTogether = kVectorsTogether * kPerVector<T>;
  int64_t column = 0;
#pragma GCC unroll 1
  for (; column + kTogether <= sweep.columns; column += kTogether) {
    spread_extremes_of<Rule, T, kVectorsTogether>(reduction, sweep, column);
  }
#pragma GCC unroll 1
  for (; column < sweep.columns; column += kPerVector<T>) {
    spread_extremes_of<Rule, T, 1>(reduction, sweep, column);
  }
}

// Takes NaNs into account.
template <class Rule, class T>
void spread_any_extremes(const Reduction&, const Sweep& sweep) {
#pragma GCC unroll 1
  for (int64_t column = 0; column < sweep.columns; column += kPerVector<T>) {
    Byte* const accumulators = sweep.accumulators + column * kBytesOf<T>;
    auto best = load<Vector<T>>(accumulators);
#pragma GCC unroll 1
    for (int64_t row = 0; row < sweep.rows; ++row) {
      const auto x = load<Vector<T>>(sweep.in + row * sweep.row_step + column * kBytesOf<T>);
      best = Extreme<Rule, T>::merge(best, x);
    }
    store(accumulators, best);
  }
}

// ---- places ----

// `columns` values of type T, then as many indices of 64 bits. Eight bytes are kept for each value,
// and where T needs fewer, the rest holds the places of one sweep.
struct Places {
  Byte* values;
  Byte* indices;

  Places(Byte* accumulators, int64_t columns)
      : values(accumulators), indices(accumulators + 8 * columns) {}
};

// The lower index wins among equals, and among NaNs.
template <class Rule, class T>
void merge_places(const Reduction&, const Merge& merge) {
  const Places into(merge.into, merge.columns);
  const Places from(const_cast<Byte*>(merge.from), merge.columns);
#pragma GCC unroll 1
  for (int64_t column = 0; column < merge.columns; ++column) {
    const auto best = load<T>(into.values + column * kBytesOf<T>);
    const auto other = load<T>(from.values + column * kBytesOf<T>);
    const auto best_index = load<int64_t>(into.indices + column * 8);
    const auto other_index = load<int64_t>(from.indices + column * 8);
    const bool best_nan = best != best;
    const bool other_nan = other != other;
    const bool tie = (best == other) | (best_nan & other_nan);
    const bool better = Rule::beats(other, best) | (other_nan & !best_nan);
    const bool takes = better | (tie & (other_index < best_index));
    store(into.values + column * kBytesOf<T>, takes ? other : best);
    store(into.indices + column * 8, takes ? other_index : best_index);
  }
}

// The tile's indices ascend.
template <class Rule, class T>
void place_along(const Reduction& reduction, const Tile& tile) {
  T best = Rule::template worst<T>();
  int64_t place = -1;
  for_each_run(reduction, tile, kFetchedBytes / kBytesOf<T>,
               [&](const Byte* in, int64_t first, int64_t count) {
                 const T value = extreme_of<Rule, T>(in, count);
                 if (place >= 0 && stays<Rule, T>(best, value)) return true;
                 best = value;
                 place = first + place_of<T>(value, in, count);
                 return best == best;
               });
  const Places places(tile.accumulators, 1);
  store(places.values, best);
  store(places.indices, tile.index + place * tile.index_step);
}

// Rows, numbered from one on, against the best of each column. Where a row wins, its number becomes
// the place. A row waits for the one before it, so that the loop is not unrolled.
template <class Rule, class T>
void spread_places(const Reduction&, const Sweep& sweep) {
  const auto first_row = broadcast(static_cast<Truth<T>>(sweep.number));
#pragma GCC unroll 1
  for (int64_t column = 0; column < sweep.columns; column += kPerVector<T>) {
    const int64_t at = column * kBytesOf<T>;
    auto best = load<Vector<T>>(sweep.accumulators + at);
    auto place = load<Vector<Truth<T>>>(sweep.terms + at);
    auto row = first_row;
    const Byte* in = sweep.in + at;
#pragma GCC unroll 1
    for (int64_t i = sweep.rows; i > 0; --i) {
      const auto x = load<Vector<T>>(in);
      const auto stay = stays<Rule, T>(best, x);
      best = stay ? best : x;
      place = stay ? place : row;
      row += broadcast(Truth<T>{1});
      in += sweep.row_step;
    }
    store(sweep.accumulators + at, best);
    store(sweep.terms + at, place);
  }
}

// Takes rows in parts that an Index can number. The tile's indices ascend. The first row is taken as
// it is; a place of -1 is one that a sweep did not change.
template <class Index>
void place_across(const Reduction& reduction, const Tile& tile) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(Index));
  constexpr int64_t kMost = Limits<Index>::kMax / kMostRowsAtOnce * kMostRowsAtOnce;
  const Places best(tile.accumulators, tile.columns);
  Byte* const places = kBytes == 8 ? best.indices : best.values + 4 * tile.columns;
  const auto bytes = static_cast<uint64_t>(tile.columns * kBytes);
  if (tile.column_step == tile.step_in_place) {
    __builtin_memcpy(best.values, tile.in, bytes);
  } else {
    constexpr int64_t kFetched = kFetchedBytes / kBytes;
    for (int64_t first = 0; first < tile.columns; first += kFetched) {
      tile.fetch->run(*tile.fetch, tile.in + first * tile.column_step, tile.column_step,
                      lower(kFetched, tile.columns - first), best.values + first * kBytes);
    }
  }
  const Widths widths = {.in = kBytes, .center = 0, .place = kBytes, .accumulator = kBytes};
  Sweep like = {};
  like.accumulators = best.values;
  like.terms = places;
  Tile part = tile;
  for (int64_t first = 0; first < tile.rows; first += kMost) {
    part.in = tile.in + first * tile.row_step;
    part.rows = lower(kMost, tile.rows - first);
    part.rows_ahead = tile.rows_ahead == 0 ? 0 : tile.rows_ahead - first;
    __builtin_memset(places, first == 0 ? 0 : -1, bytes);
    sweep_rows(reduction, part, widths, like);
#pragma GCC unroll 1
    for (int64_t column = 0; column < tile.columns; ++column) {
      const int64_t place = load<Index>(places + column * kBytes);
      const auto before = load<int64_t>(best.indices + column * 8);
      const int64_t index = tile.index + (first + place) * tile.index_step;
      store(best.indices + column * 8, place < 0 ? before : index);
    }
  }
}

inline Tile ascending(Tile tile) {
  if (tile.index_step < 0) {
    tile.in += (tile.rows - 1) * tile.row_step;
    tile.index += (tile.rows - 1) * tile.index_step;
    tile.row_step = -tile.row_step;
    tile.index_step = -tile.index_step;
    tile.rows_ahead = 0;
  }
  return tile;
}

template <class Rule, class T>
void places_along(const Reduction& reduction, const Tile& tile) {
  place_along<Rule, T>(reduction, ascending(tile));
}
template <class Index>
void places_across(const Reduction& reduction, const Tile& tile) {
  place_across<Index>(reduction, ascending(tile));
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
