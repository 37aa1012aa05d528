// Rows that are alike: each has the same number of entries, and every column is one further than in
// the row above, as in stencils on grids and dense bands.
//
// The elements of x for the same entry of such rows are adjacent, so they are loaded and not
// fetched one by one, and the sums of many rows are added up in parallel. Only the values, which
// are stored row by row, have to be transposed. Whether rows are alike is derived from their
// offsets and indices each time: comparing adjacent indices costs less than the loads that it
// saves.
//
// Sums are those of row_sum.hpp, to the bit.
#pragma once

#include "cpu/kernels/move/tile.hpp"
#include "cpu/kernels/product/row_sum.hpp"
#include "cpu/kernels/sums.hpp"
#include "cpu/kernels/vectors.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Rows that are looked at together.
constexpr int64_t kAlikeRows = 16;
// Longer rows would be more streams of memory than a processor follows.
constexpr int64_t kLongestAlike = 64;

template <class T, class I, class Known>
class AlikeRows {
  static_assert(sizeof(Vector<T>) == sizeof(Widest::Vector));

 public:
  // Rows and entries from `end` on are not looked at. `known` checks an index before it is used.
  AlikeRows(const Compressed& a, const Byte* x, int64_t end, const Known& known)
      : offsets_(a.offsets),
        values_(a.values),
        indices_(a.indices),
        x_(x),
        known_(known),
        end_(end),
        last_(index_of<I>(a.offsets, end)) {}

  // Whether kAlikeRows rows from `row` on are alike, and their indices right.
  bool begin_at(int64_t row) {
    const int64_t k = index_of<I>(offsets_, row);
    const int64_t count = index_of<I>(offsets_, row + 1) - k;
    int64_t as_long = 1;  // rows
    // A tile is read beyond the entries of its row.
    if (row + kAlikeRows <= end_ && count >= 2 && count <= kLongestAlike &&
        kAlikeRows * count + kSumLanes <= last_ - k) {
      as_long = rows_of_length(row, count);
      if (as_long == kAlikeRows && are_moved(indices_ + k * kStep<I>, count) &&
          known_.are_right_moved(indices_ + k * kStep<I>, count, kAlikeRows - 1)) {
        misses_ = 0;
        return true;
      }
    }
    // Where rows are of no order, few are looked at. Else the next ones that are alike may begin
    // with the first row of another length, as behind the edge of a grid.
    int64_t skipped = misses_ < kFreeMisses ? 1 : kSkippedRows << (misses_ - kFreeMisses);
    if (as_long < kAlikeRows && as_long > skipped) skipped = as_long;
    next_try_ = row + skipped < end_ ? row + skipped : end_;
    if (misses_ < kMostMisses) ++misses_;
    return false;
  }
  // After begin_at() returned false: the row to try next.
  [[nodiscard]] int64_t next_try() const { return next_try_; }

  // Calls put(first row, sums of kPerVector<T> rows) for all of them.
  template <class Put>
  void add_up(int64_t row, const Put& put) {
    const int64_t k = index_of<I>(offsets_, row);
    const int64_t count = index_of<I>(offsets_, row + 1) - k;
    const Byte* const indices = indices_ + k * kStep<I>;
    for (int64_t i = 0; i < kAlikeRows; i += kRows) {
      fetch(k + i * count, kRows * count);
      put(row + i,
          sums_of(values_ + (k + i * count) * kStep<T>, indices, x_ + i * kStep<T>, count));
    }
  }

 private:
  static constexpr int64_t kRows = kPerVector<T>;
  static constexpr int kFreeMisses = 8;
  static constexpr int kMostMisses = kFreeMisses + 2;
  static constexpr int64_t kSkippedRows = 64;  // after those, and up to four times as many
  static constexpr int kColumns = 16 / static_cast<int>(sizeof(T));  // of a tile

  // The number of leading rows, kAlikeRows at most, that have `count` entries.
  int64_t rows_of_length(int64_t row, int64_t count) const {
    const Byte* const from = offsets_ + row * kStep<I>;
    uint64_t differ = uint64_t{1} << kAlikeRows;
    for (int64_t i = 0; i < kAlikeRows; i += kPerVector<I>) {
      const Byte* const here = from + i * kStep<I>;
      const Vector<I> lengths = load<Vector<I>>(here + kStep<I>) - load<Vector<I>>(here);
      differ |= lane_bits<I>(lengths != static_cast<I>(count)) << i;
    }
    return __builtin_ctzll(differ);
  }

  // Whether each index is one less than that `count` further.
  static bool are_moved(const Byte* indices, int64_t count) {
    constexpr int64_t kCount = kPerVector<I>;
    const Byte* const next = indices + count * kStep<I>;
    const auto differ = [&](int64_t i) {
      return load<Vector<I>>(next + i * kStep<I>) - load<Vector<I>>(indices + i * kStep<I>) != I{1};
    };
    if (is_any<I>(differ(0))) return false;
    // The last ones may be compared twice.
    const int64_t last = (kAlikeRows - 1) * count - kCount;
    Vector<I> found = differ(last);
    for (int64_t i = kCount; i < last; i += kCount) found |= differ(i);
    return !is_any<I>(found);
  }

  // Prefetches the lines for `count` entries from `k` on that no row before has requested.
  void fetch(int64_t k, int64_t count) {
    const int64_t end = k + count + kFarAheadBytes / kStep<T>;
    const int64_t begin = k + kFarAheadBytes / kStep<T>;
    int64_t at = fetched_ > k && fetched_ < begin ? fetched_ : begin;
    constexpr int64_t kLine = kLineBytes / kStep<T>;  // entries
    for (; at < end; at += kLine) {
      __builtin_prefetch(values_ + at * kStep<T>, 0, 2);
      for (int64_t i = 0; i < kLine * kStep<I>; i += kLineBytes) {
        __builtin_prefetch(indices_ + at * kStep<I> + i, 0, 2);
      }
    }
    fetched_ = at;
  }

  // Adds the products of the first `count` columns of a tile to `sums`.
  __attribute__((always_inline)) static void add_tile(Vector<T>* sums, const Byte* values,
                                                      int64_t row_bytes, const Byte* indices,
                                                      const Byte* x, int64_t count) {
    transpose_tile<Widest, sizeof(T), 1>(
        [&](int64_t r) { return values + r * row_bytes; },
        [&](int64_t c, Widest::Vector column) {
          if (c >= count) return;
          const Byte* const factors = x + index_of<I>(indices, c) * kStep<T>;
          sums[c] += reinterpret_cast<Vector<T>>(column) * load<Vector<T>>(factors);
        });
  }

  static Vector<T> sums_of(const Byte* values, const Byte* indices, const Byte* x, int64_t count) {
    const int64_t row_bytes = count * kStep<T>;
    Vector<T> sums[kSumLanes];
#pragma GCC unroll 8
    for (int i = 0; i < kSumLanes; ++i) sums[i] = Vector<T>{};
    const auto next = [&](int lane, int64_t columns) __attribute__((always_inline)) {
      add_tile(sums + lane, values, row_bytes, indices, x, columns);
      values += kColumns * kStep<T>;
      indices += kColumns * kStep<I>;
    };
    for (; count >= kSumLanes; count -= kSumLanes) {
#pragma GCC unroll 4
      for (int lane = 0; lane < kSumLanes; lane += kColumns) next(lane, kColumns);
    }
#pragma GCC unroll 4
    for (int lane = 0; lane < kSumLanes; lane += kColumns) {
      if (count > lane) next(lane, count - lane);
    }
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
           ((sums[1] + sums[5]) + (sums[3] + sums[7]));
  }

  const Byte* offsets_;
  const Byte* values_;
  const Byte* indices_;
  const Byte* x_;
  const Known& known_;
  int64_t end_;
  int64_t last_;
  int64_t next_try_ = 0;
  int misses_ = 0;       // since rows were alike
  int64_t fetched_ = 0;  // the entry up to which lines were prefetched
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
