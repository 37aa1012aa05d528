// The loops of min and max, and of the places where they are.
//
// The place of an extreme is found in two steps: the extreme of a block that the L1 cache holds,
// then, only where it beats all blocks before, its first place in the block.
#pragma once

#include "cpu/kernels/reduce/sweep.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T>
constexpr auto kBytesOf = static_cast<int64_t>(sizeof(T));

// The place of the first of dense elements that equals `value`, or that is NaN where it is NaN.
// There is one.
template <class T>
[[gnu::noinline]] int64_t place_of(T value, const Byte* in, int64_t count) {
  constexpr int64_t kAtOnce = 8 * kPerVector<T>;
  const bool is_nan = value != value;
  int64_t first = 0;
  for (; first + kAtOnce <= count; first += kAtOnce) {
    Vector<Truth<T>> found = {};
    for (int64_t i = 0; i < kAtOnce; i += kPerVector<T>) {
      const auto x = load<Vector<T>>(in + (first + i) * kBytesOf<T>);
      found |= is_nan ? (x != x) : (x == broadcast(value));
    }
    if (is_any<Truth<T>>(found)) break;
  }
  for (;; ++first) {
    const T x = load<T>(in + first * kBytesOf<T>);
    if (is_nan ? x != x : x == value) return first;
  }
}

// The extreme of dense elements; the first NaN, if there is one. NaNs are looked for beside the
// comparisons, which then are single instructions that let them pass.
template <class Rule, class T>
[[gnu::noinline]] T extreme_of(const Byte* in, int64_t count) {
  using L = Lanes<T>;
  auto best = every_lane<T>(Rule::template worst<T>());
  Lanes<Truth<T>> nans = {};
  const auto meet = [&](int part, const Byte* from, Vector<Truth<T>> used) {
    const auto x = load<Vector<T>>(from + part * kVectorBytes);
    best.parts[part] = (Rule::beats(x, best.parts[part]) & used) ? x : best.parts[part];
    if constexpr (kIsFloat<T>) nans.parts[part] |= x != x;
  };
  int64_t i = 0;
  for (; i + L::kCount <= count; i += L::kCount) {
    for (int part = 0; part < L::kParts; ++part) {
      const auto x = load<Vector<T>>(in + i * kBytesOf<T> + part * kVectorBytes);
      best.parts[part] = Rule::beats(x, best.parts[part]) ? x : best.parts[part];
      if constexpr (kIsFloat<T>) nans.parts[part] |= x != x;
    }
  }
  if (i < count) {
    alignas(64) Byte padded[kLanesBytes] = {};
    __builtin_memcpy(padded, in + i * kBytesOf<T>, static_cast<uint64_t>((count - i)) * sizeof(T));
    for (int part = 0; part < L::kParts; ++part) {
      meet(part, padded, lane_numbers<T>(part) < broadcast(static_cast<Truth<T>>(count - i)));
    }
  }
  if constexpr (kIsFloat<T>) {
    Vector<Truth<T>> any = nans.parts[0];
    for (int part = 1; part < L::kParts; ++part) any |= nans.parts[part];
    if (is_any<Truth<T>>(any)) {
      const auto nan = static_cast<T>(__builtin_nan(""));
      return load<T>(in + place_of(nan, in, count) * kBytesOf<T>);
    }
  }
  return fold<Extreme<Rule, T>>(best);
}

template <class Rule, class T>
T extreme_along(const Reduction& reduction, const Tile& tile) {
  using Op = Extreme<Rule, T>;
  const bool in_place = tile.row_step == reduction.step_in_place;
  const int64_t most = in_place ? tile.rows : kBufferBytes / kBytesOf<T>;
  alignas(64) Byte buffer[kBufferBytes];
  T best = Op::kStart;
  for (int64_t first = 0; first < tile.rows; first += most) {
    const int64_t count = lower(most, tile.rows - first);
    best = Op::merge(best, extreme_of<Rule, T>(dense(reduction, tile.in + first * tile.row_step,
                                                     tile.row_step, count, buffer),
                                               count));
  }
  return best;
}

// ---- places ----

// `columns` values of type T, then as many indices of 64 bits. Eight bytes are kept for each value,
// and where T needs less, what is left holds the places of one sweep.
struct Places {
  Byte* values;
  Byte* indices;

  Places(Byte* accumulators, int64_t columns)
      : values(accumulators), indices(accumulators + 8 * columns) {}
};

template <class Rule, class T>
void start_places(Byte* accumulators, int64_t columns) {
  const Places places(accumulators, columns);
  for (int64_t column = 0; column < columns; ++column) {
    store(places.values + column * kBytesOf<T>, Rule::template worst<T>());
    store(places.indices + column * 8, Limits<int64_t>::kMax);
  }
}

// Of equals, and of NaNs, the lower index wins.
template <class Rule, class T>
void merge_places(const Merge& merge) {
  const Places into(merge.into, merge.columns);
  const Places from(const_cast<Byte*>(merge.from), merge.columns);
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

inline void finish_places(const Results& results) {
  const Byte* const indices = results.accumulators + 8 * results.columns;
  for (int64_t column = 0; column < results.columns; ++column) {
    store(results.out + column * results.out_step, load<int64_t>(indices + column * 8));
  }
}

// Into accumulators that are started. The tile's indices ascend.
template <class Rule, class T>
void place_along(const Reduction& reduction, const Tile& tile) {
  constexpr int64_t kBlock = kBufferBytes / kBytesOf<T>;
  alignas(64) Byte buffer[kBufferBytes];
  T best = Rule::template worst<T>();
  int64_t place = -1;
  for (int64_t first = 0; first < tile.rows && best == best; first += kBlock) {
    const int64_t count = lower(kBlock, tile.rows - first);
    const Byte* const in =
        dense(reduction, tile.in + first * tile.row_step, tile.row_step, count, buffer);
    const T value = extreme_of<Rule, T>(in, count);
    if (place >= 0 && stays<Rule, T>(best, value)) continue;
    best = value;
    place = first + place_of(value, in, count);
  }
  const Places places(tile.accumulators, 1);
  store(places.values, best);
  store(places.indices, tile.index + place * tile.index_step);
}

// `rows` of them, numbered from `row` on, against the best of each column. Of `places`, those that
// the rows win become the number of the row. The count is no constant: one loop serves all, and a
// row waits for the one before it anyway.
template <class Rule, class T>
inline void meet_rows(const Byte* in, int64_t row_step, int64_t rows, Vector<Truth<T>> row,
                      Byte* values, Byte* places) {
  auto best = load<Vector<T>>(values);
  auto place = load<Vector<Truth<T>>>(places);
  for (int64_t i = 0; i < rows; ++i) {
    const auto x = load<Vector<T>>(in + i * row_step);
    const auto stay = stays<Rule, T>(best, x);
    best = stay ? best : x;
    place = stay ? place : row;
    row += broadcast(Truth<T>{1});
  }
  store(values, best);
  store(places, place);
}

template <class Rule, class T>
[[gnu::noinline]] void spread_places(const Byte* in, int64_t row_step, int64_t rows,
                                     int64_t columns, int64_t row, Byte* values, Byte* places) {
  constexpr int64_t kAtOnce = kPerVector<T>;
  const auto first_row = broadcast(static_cast<Truth<T>>(row));
  int64_t column = 0;
  for (; column + kAtOnce <= columns; column += kAtOnce) {
    const int64_t at = column * kBytesOf<T>;
    meet_rows<Rule, T>(in + at, row_step, rows, first_row, values + at, places + at);
  }
  if (column == columns) return;
  const int64_t at = column * kBytesOf<T>;
  const auto rest = static_cast<uint64_t>(columns - column) * sizeof(T);
  alignas(64) Byte padded[kMostRowsAtOnce + 2][kVectorBytes] = {};
  for (int64_t i = 0; i < rows; ++i) __builtin_memcpy(padded[i + 2], in + i * row_step + at, rest);
  __builtin_memcpy(padded[0], values + at, rest);
  __builtin_memcpy(padded[1], places + at, rest);
  spread_places<Rule, T>(padded[2], kVectorBytes, rows, kAtOnce, row, padded[0], padded[1]);
  __builtin_memcpy(values + at, padded[0], rest);
  __builtin_memcpy(places + at, padded[1], rest);
}

// As many rows as can be numbered in the type of the places.
template <class Rule, class T>
void sweep_places(const Reduction& reduction, const Tile& tile, Byte* values, Byte* places) {
  for_each_dense_part<T>(reduction, tile,
                         [&](const Byte* in, int64_t row_step, int64_t row, int64_t rows,
                             int64_t first, int64_t columns) {
                           const int64_t at = first * kBytesOf<T>;
                           spread_places<Rule, T>(in, row_step, rows, columns, row, values + at,
                                                  places + at);
                         });
}

// Into accumulators that are started. The tile's indices ascend. The first row is taken as it is;
// a place of -1 is one that a sweep did not change.
template <class Rule, class T>
void place_across(const Reduction& reduction, const Tile& tile) {
  constexpr int64_t kMost = Limits<Truth<T>>::kMax / kMostRowsAtOnce * kMostRowsAtOnce;
  const Places best(tile.accumulators, tile.columns);
  Byte* const places = sizeof(T) == 8 ? best.indices : best.values + 4 * tile.columns;
  reduction.fetch(tile.in, tile.column_step, tile.columns, best.values);
  Tile sweep = tile;
  for (int64_t first = 0; first < tile.rows; first += kMost) {
    sweep.in = tile.in + first * tile.row_step;
    sweep.rows = lower(kMost, tile.rows - first);
    const int unchanged = first == 0 ? 0 : -1;
    __builtin_memset(places, unchanged, static_cast<uint64_t>(tile.columns) * sizeof(T));
    sweep_places<Rule, T>(reduction, sweep, best.values, places);
    for (int64_t column = 0; column < tile.columns; ++column) {
      const int64_t place = load<Truth<T>>(places + column * kBytesOf<T>);
      const auto before = load<int64_t>(best.indices + column * 8);
      const int64_t index = tile.index + (first + place) * tile.index_step;
      store(best.indices + column * 8, place < 0 ? before : index);
    }
  }
}

template <class Rule, class T>
void accumulate_places(const Reduction& reduction, const Tile& tile) {
  Tile ascending = tile;
  if (tile.index_step < 0) {
    ascending.in += (tile.rows - 1) * tile.row_step;
    ascending.index += (tile.rows - 1) * tile.index_step;
    ascending.row_step = -tile.row_step;
    ascending.index_step = -tile.index_step;
  }
  if (tile.columns == 1) {
    place_along<Rule, T>(reduction, ascending);
  } else {
    place_across<Rule, T>(reduction, ascending);
  }
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
