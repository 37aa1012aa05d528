// The loops of a reduction over dense elements, for one result and for results side by side.
//
// Sums of floats are pairwise: a leaf adds kLeafTerms elements in each of its lanes, and the lanes
// of all leaves are added as a binary tree whose shape depends on the count alone. Side by side,
// sixteen rows or four are added as a tree before they meet their accumulators. The error grows with
// the logarithm of the count, not with the count.
#pragma once

#include "cpu/kernels/reduce/reduction.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr int64_t kLeafTerms = 16;
constexpr int64_t kBufferBytes = 4096;  // of elements fetched at once: much less than an L1 cache
constexpr int64_t kRowsAtOnce = 4;
// The more rows at once, the less often accumulators are read and written.
constexpr int64_t kMostRowsAtOnce = 16;
// Of which so many are read together: more places of memory, and those fetched besides, would
// compete for a few sets of L2 where rows lie a power of two apart.
constexpr int64_t kHalf = kMostRowsAtOnce / 2;
constexpr int64_t kTermsBytes = 16384;  // of what one half of the rows gives
constexpr int64_t kTermsToAStop = 64;  // 8 KiB of elements: a look at them costs little beside that

inline int64_t lower(int64_t a, int64_t b) { return a < b ? a : b; }

// `count` elements from `in` on, dense: where they lie, or in `buffer`.
inline const Byte* dense(const Reduction& reduction, const Byte* in, int64_t step, int64_t count,
                         Byte* buffer) {
  if (step == reduction.step_in_place) return in;
  reduction.fetch(in, step, count, buffer);
  return buffer;
}

template <class T>
inline Lanes<T> every_lane(T value) {
  Lanes<T> lanes;
  for (Vector<T>& part : lanes.parts) part = broadcast(value);
  return lanes;
}

// One element to each lane.
template <class Op>
inline void add_terms(Lanes<typename Op::Lane>& lanes, const Byte* in, double center) {
  using Lane = typename Op::Lane;
  constexpr int64_t kPartBytes = kPerVector<Lane> * static_cast<int64_t>(sizeof(typename Op::In));
  for (int part = 0; part < Lanes<Lane>::kParts; ++part) {
    const auto x = Loading<Lane, typename Op::In>::load(in + part * kPartBytes);
    lanes.parts[part] = Op::merge(
        lanes.parts[part], Op::term(x, broadcast(static_cast<Lane>(Op::kCentered ? center : 0))));
  }
}

// One element to each of the first `count` lanes.
template <class Op>
inline void add_last_terms(Lanes<typename Op::Lane>& lanes, const Byte* in, int64_t count,
                           double center) {
  using Lane = typename Op::Lane;
  constexpr auto kInBytes = static_cast<int64_t>(sizeof(typename Op::In));
  alignas(64) Byte padded[Lanes<Lane>::kCount * kInBytes] = {};
  __builtin_memcpy(padded, in, static_cast<uint64_t>(count * kInBytes));
  Lanes<Lane> all = lanes;
  add_terms<Op>(all, padded, center);
  for (int part = 0; part < Lanes<Lane>::kParts; ++part) {
    const auto used = lane_numbers<Lane>(part) < broadcast(static_cast<Truth<Lane>>(count));
    lanes.parts[part] = used ? all.parts[part] : lanes.parts[part];
  }
}

template <class Op>
inline Lanes<typename Op::Lane> leaf(const Byte* in, int64_t count, double center) {
  using Lane = typename Op::Lane;
  constexpr int64_t kCount = Lanes<Lane>::kCount;
  constexpr auto kInBytes = static_cast<int64_t>(sizeof(typename Op::In));
  auto lanes = every_lane<Lane>(Op::kLaneStart);
  int64_t i = 0;
  for (; i + kCount <= count; i += kCount) add_terms<Op>(lanes, in + i * kInBytes, center);
  if (i < count) add_last_terms<Op>(lanes, in + i * kInBytes, count - i, center);
  return lanes;
}

template <class Op>
inline void merge_lanes(Lanes<typename Op::Lane>& into, const Lanes<typename Op::Lane>& from) {
  for (int part = 0; part < Lanes<typename Op::Lane>::kParts; ++part) {
    into.parts[part] = Op::merge(into.parts[part], from.parts[part]);
  }
}

// Element i with element i + kCount / 2, until one is left.
template <class Op, int64_t kCount, class T>
inline T fold_halves(const T* values) {
  if constexpr (kCount == 1) {
    return values[0];
  } else if constexpr (kCount == 2) {
    return Op::merge(values[0], values[1]);
  } else {
    typedef T Half __attribute__((vector_size(kCount / 2 * sizeof(T))));
    Half low;
    Half high;
    __builtin_memcpy(&low, values, sizeof low);
    __builtin_memcpy(&high, values + kCount / 2, sizeof high);
    low = Op::merge(low, high);
    T merged[kCount / 2];
    __builtin_memcpy(merged, &low, sizeof merged);
    return fold_halves<Op, kCount / 2>(merged);
  }
}

template <class Op>
inline typename Op::Accumulator fold(Lanes<typename Op::Lane> lanes) {
  using Lane = typename Op::Lane;
  using Accumulator = typename Op::Accumulator;
  if constexpr (kSame<Lane, Accumulator>) {
    for (int half = Lanes<Lane>::kParts / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) {
        lanes.parts[i] = Op::merge(lanes.parts[i], lanes.parts[i + half]);
      }
    }
    Lane values[kPerVector<Lane>];
    __builtin_memcpy(values, &lanes.parts[0], sizeof values);
    return fold_halves<Op, kPerVector<Lane>>(values);
  } else {
    Lane values[Lanes<Lane>::kCount];
    __builtin_memcpy(values, &lanes, sizeof values);
    Accumulator total = Op::kStart;
    for (const Lane value : values) total = Op::merge(total, static_cast<Accumulator>(value));
    return total;
  }
}

// The lanes of leaves, as a tree that carries like a binary counter.
template <class Op>
class Tree {
 public:
  void push(Lanes<typename Op::Lane> lanes) {
    ++pushed_;
    for (int64_t rest = pushed_; rest % 2 == 0; rest /= 2) {
      merge_lanes<Op>(held_[--top_], lanes);
      lanes = held_[top_];
    }
    held_[top_++] = lanes;
  }
  typename Op::Accumulator total() {
    for (; top_ > 1; --top_) merge_lanes<Op>(held_[top_ - 2], held_[top_ - 1]);
    return fold<Op>(held_[0]);
  }

 private:
  int64_t pushed_ = 0;
  int top_ = 0;
  Lanes<typename Op::Lane> held_[64];
};

// All rows of a tile of one column, into `total`.
template <class Op>
[[gnu::noinline]] typename Op::Accumulator along(const Reduction& reduction, const Tile& tile,
                                                 double center) {
  using Lane = typename Op::Lane;
  constexpr auto kInBytes = static_cast<int64_t>(sizeof(typename Op::In));
  constexpr int64_t kMostTerms = Op::kRounds ? kLeafTerms : Op::kMostTerms;
  int64_t most = (Op::kStops ? kTermsToAStop : kMostTerms) * Lanes<Lane>::kCount;
  if (tile.row_step != reduction.step_in_place) most = lower(most, kBufferBytes / kInBytes);
  alignas(64) Byte buffer[kBufferBytes];
  Tree<Op> tree;
  typename Op::Accumulator total = Op::kStart;
  for (int64_t first = 0; first < tile.rows; first += most) {
    const int64_t count = lower(most, tile.rows - first);
    const Byte* const in =
        dense(reduction, tile.in + first * tile.row_step, tile.row_step, count, buffer);
    const auto lanes = leaf<Op>(in, count, center);
    if constexpr (Op::kRounds) {
      tree.push(lanes);
    } else {
      total = Op::merge(total, fold<Op>(lanes));
      if (Op::kStops && total != 0) break;
    }
  }
  if constexpr (Op::kRounds) total = tree.total();
  return total;
}

// What kRows elements of each of a vector's columns give: a tree of them.
template <class Op, int64_t kRows>
inline Vector<typename Op::Lane> rows_of(const Byte* in, int64_t row_step,
                                         Vector<typename Op::Lane> centers) {
  if constexpr (kRows == 1) {
    return Op::term(Loading<typename Op::Lane, typename Op::In>::load(in), centers);
  } else {
    return Op::merge(rows_of<Op, kRows / 2>(in, row_step, centers),
                     rows_of<Op, kRows / 2>(in + kRows / 2 * row_step, row_step, centers));
  }
}

// What elements of a vector's columns gave, into their accumulators.
template <class Op>
inline void meet(Vector<typename Op::Lane> terms, Byte* accumulators) {
  using Lane = typename Op::Lane;
  using Accumulator = typename Op::Accumulator;
  if constexpr (kSame<Lane, Accumulator>) {
    store(accumulators, Op::merge(load<Vector<Lane>>(accumulators), terms));
  } else {
    Lane values[kPerVector<Lane>];
    store(reinterpret_cast<Byte*>(values), terms);
    for (int64_t i = 0; i < kPerVector<Lane>; ++i) {
      Byte* const at = accumulators + i * static_cast<int64_t>(sizeof(Accumulator));
      store(at, Op::merge(load<Accumulator>(at), static_cast<Accumulator>(values[i])));
    }
  }
}

// kRows elements of each of a vector's columns, which may have a center each.
template <class Op, int64_t kRows>
inline Vector<typename Op::Lane> terms_of(const Byte* in, int64_t row_step, const Byte* centers) {
  using Lane = typename Op::Lane;
  if constexpr (Op::kMindsNans) {
    // Of a NaN, or of two infinities, the sum is NaN.
    const auto sum = rows_of<Sum<Lane>, kRows>(in, row_step, Vector<Lane>{});
    if (!is_any<Truth<Lane>>(sum != sum)) [[likely]] {
      return rows_of<typename Op::Passing, kRows>(in, row_step, Vector<Lane>{});
    }
  }
  return rows_of<Op, kRows>(in, row_step,
                            Op::kCentered ? load<Vector<Lane>>(centers) : Vector<Lane>{});
}

// The first half of kMostRowsAtOnce rows of `columns`, a multiple of a vector's, to `terms`; or the
// last, with those, to the accumulators. Fetches the half that follows, into L2.
template <class Op, bool kLast>
[[gnu::noinline]] void spread_half(const Byte* in, int64_t row_step, int64_t columns, bool fetches,
                                   const Byte* centers, Byte* terms, Byte* accumulators) {
  using Lane = typename Op::Lane;
  constexpr int64_t kAtOnce = kPerVector<Lane>;
  constexpr auto kLaneSize = static_cast<int64_t>(sizeof(Lane));
  constexpr auto kInBytes = static_cast<int64_t>(sizeof(typename Op::In));
  constexpr auto kAccumulatorBytes = static_cast<int64_t>(sizeof(typename Op::Accumulator));
  for (int64_t column = 0; column < columns; column += kAtOnce) {
    const Byte* const from = in + column * kInBytes;
    if (fetches && column * kInBytes % 64 == 0) {
      for (int64_t row = kHalf; row < 2 * kHalf; ++row) {
        __builtin_prefetch(from + row * row_step, 0, 2);
      }
    }
    const auto half = terms_of<Op, kHalf>(from, row_step, centers + column * kLaneSize);
    Byte* const own = terms + column * kLaneSize;
    if constexpr (kLast) {
      meet<Op>(Op::merge(load<Vector<Lane>>(own), half), accumulators + column * kAccumulatorBytes);
    } else {
      store(own, half);
    }
  }
}

// kMostRowsAtOnce dense rows into accumulators, as a tree; `columns` is a multiple of a vector's.
template <class Op>
inline void spread_halves(const Byte* in, int64_t row_step, int64_t columns, int64_t rows_ahead,
                          const Byte* centers, Byte* accumulators) {
  using Lane = typename Op::Lane;
  constexpr int64_t kColumns = kTermsBytes / static_cast<int64_t>(sizeof(Lane));
  alignas(64) Byte terms[kTermsBytes];
  for (int64_t first = 0; first < columns; first += kColumns) {
    const int64_t count = lower(kColumns, columns - first);
    const Byte* const from = in + first * static_cast<int64_t>(sizeof(typename Op::In));
    const Byte* const own = centers + first * static_cast<int64_t>(sizeof(Lane));
    spread_half<Op, false>(from, row_step, count, rows_ahead >= 2 * kHalf, own, terms, nullptr);
    spread_half<Op, true>(
        from + kHalf * row_step, row_step, count, rows_ahead >= 3 * kHalf, own, terms,
        accumulators + first * static_cast<int64_t>(sizeof(typename Op::Accumulator)));
  }
}

// kRows dense rows into the accumulators of their columns.
template <class Op, int64_t kRows>
[[gnu::noinline]] void spread(const Byte* in, int64_t row_step, int64_t columns, int64_t rows_ahead,
                              const Byte* centers, Byte* accumulators) {
  using Lane = typename Op::Lane;
  constexpr int64_t kAtOnce = kPerVector<Lane>;
  constexpr auto kInBytes = static_cast<int64_t>(sizeof(typename Op::In));
  constexpr auto kAccumulatorBytes = static_cast<int64_t>(sizeof(typename Op::Accumulator));
  int64_t column = 0;
  if constexpr (kRows == kMostRowsAtOnce) {
    column = columns / kAtOnce * kAtOnce;
    spread_halves<Op>(in, row_step, column, rows_ahead, centers, accumulators);
  } else {
    for (; column + kAtOnce <= columns; column += kAtOnce) {
      meet<Op>(terms_of<Op, kRows>(in + column * kInBytes, row_step,
                                   centers + column * static_cast<int64_t>(sizeof(Lane))),
               accumulators + column * kAccumulatorBytes);
    }
  }
  if (column == columns) return;
  const auto rest = static_cast<uint64_t>(columns - column);
  alignas(64) Byte rows[kRows][kAtOnce * kInBytes] = {};
  alignas(64) Byte rest_of_centers[kVectorBytes] = {};
  alignas(64) Byte results[kAtOnce * kAccumulatorBytes] = {};
  for (int64_t row = 0; row < kRows; ++row) {
    __builtin_memcpy(rows[row], in + row * row_step + column * kInBytes, rest * kInBytes);
  }
  if constexpr (Op::kCentered) {
    __builtin_memcpy(rest_of_centers, centers + column * static_cast<int64_t>(sizeof(Lane)),
                     rest * sizeof(Lane));
  }
  Byte* const at = accumulators + column * kAccumulatorBytes;
  __builtin_memcpy(results, at, rest * kAccumulatorBytes);
  // Itself, for a second copy of the loop's body would cost as much code as the first.
  spread<Op, kRows>(rows[0], kAtOnce * kInBytes, kAtOnce, 0, rest_of_centers, results);
  __builtin_memcpy(at, results, rest * kAccumulatorBytes);
}

// Calls visit(in, row_step, row, row_count, first_column, column_count) for parts of a tile whose
// rows are dense: kMostRowsAtOnce where they are read in place, else kRowsAtOnce, and one by one
// those that are left over. Memory is walked along the columns.
template <class In, class Visit>
inline void for_each_dense_part(const Reduction& reduction, const Tile& tile, const Visit& visit) {
  constexpr auto kInBytes = static_cast<int64_t>(sizeof(In));
  constexpr int64_t kFetched = kBufferBytes / kRowsAtOnce / kInBytes;
  const bool in_place = tile.column_step == reduction.step_in_place;
  const int64_t most = in_place ? tile.columns : kFetched;
  alignas(64) Byte buffer[kRowsAtOnce][kFetched * kInBytes];
  for (int64_t row = 0; row < tile.rows;) {
    const int64_t left = tile.rows - row;
    const int64_t few = left >= kRowsAtOnce ? kRowsAtOnce : 1;
    const int64_t rows = in_place && left >= kMostRowsAtOnce ? kMostRowsAtOnce : few;
    for (int64_t first = 0; first < tile.columns; first += most) {
      const int64_t columns = lower(most, tile.columns - first);
      const Byte* const in = tile.in + row * tile.row_step + first * tile.column_step;
      if (in_place) {
        visit(in, tile.row_step, row, rows, first, columns);
      } else {
        for (int64_t i = 0; i < rows; ++i) {
          reduction.fetch(in + i * tile.row_step, tile.column_step, columns, buffer[i]);
        }
        visit(buffer[0], kFetched * kInBytes, row, rows, first, columns);
      }
    }
    row += rows;
  }
}

// Every row of a tile into its columns' accumulators. One center per column.
template <class Op>
void across(const Reduction& reduction, const Tile& tile, const Byte* centers) {
  using In = typename Op::In;
  for_each_dense_part<In>(
      reduction, tile,
      [&](const Byte* in, int64_t row_step, int64_t row, int64_t rows, int64_t first,
          int64_t columns) {
        Byte* const accumulators =
            tile.accumulators + first * static_cast<int64_t>(sizeof(typename Op::Accumulator));
        const Byte* const own =
            Op::kCentered ? centers + first * static_cast<int64_t>(sizeof(double)) : in;
        const int64_t ahead = tile.rows_ahead - row;
        if (rows == 1) {
          spread<Op, 1>(in, row_step, columns, 0, own, accumulators);
        } else if (rows == kRowsAtOnce) {
          spread<Op, kRowsAtOnce>(in, row_step, columns, 0, own, accumulators);
        } else {
          spread<Op, kMostRowsAtOnce>(in, row_step, columns, ahead, own, accumulators);
        }
      });
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
