// Long rows that are added up together, in a product with one column.
//
// A row that has an entry for each line of x reads all of x, and its entries take the lines' places
// in the first cache before the next row needs them. Rows that are added up together share each
// line while it is there, if their columns rise; no result depends on that. An entry is added to
// the same partial sum as in row_sum.hpp, so the sums are equal to the bit.
#pragma once

#include "cpu/kernels/lanes.hpp"
#include "cpu/kernels/product/row_sum.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T, class I>
class RowsTogether {
 public:
  static constexpr int kRows = 4;  // Eight are slower: twice as many streams of memory.

  // x has `b_rows` elements; entries end with `last`.
  RowsTogether(int64_t b_rows, int64_t last) : last_(last) {
    const int64_t bytes = b_rows * kStep<T>;
    const int64_t lines = bytes / kLineBytes;
    shortest_ = bytes <= kHeldBytes ? INT64_MAX : lines > kLongRow ? lines : kLongRow;
  }

  // Whether rows of `count` entries are worth it.
  [[nodiscard]] bool takes(int64_t count) const { return count >= shortest_ && count <= kLongest; }
  // Whether all kRows rows with these offsets are taken. Reads past the last row must hit entries.
  bool take(const Byte* offsets) {
    begins_[0] = load<I>(offsets);
    for (int r = 0; r < kRows; ++r) {
      begins_[r + 1] = load<I>(offsets + (r + 1) * kStep<I>);
      if (!takes(begins_[r + 1] - begins_[r])) return false;
    }
    return last_ - begins_[kRows] >= kSumLanes;
  }

  // The sums of those rows; anything, where `known` found a wrong index.
  template <class Known>
  __attribute__((noinline)) void add_up(const Byte* values, const Byte* indices, const Byte* x,
                                        Known& known, T* out) const {
    // Variables that only unrolled loops use stay in registers.
    LaneSums<T> sums[kRows];
    int64_t at[kRows];
    int64_t common = begins_[1] - begins_[0];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      at[r] = begins_[r];
      const int64_t count = begins_[r + 1] - begins_[r];
      if (count < common) common = count;
    }
    common -= common % kSumLanes;
    // Distance to the same position in the next rows: a prefetch further on in the row would not
    // have fetched its first part.
    const int64_t ahead = begins_[kRows] - begins_[0];
    Known asked = known;
    for (int64_t k = 0; k < common; k += kSumLanes) {
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const Byte* const some_values = values + (at[r] + k) * kStep<T>;
        const Byte* const some_indices = indices + (at[r] + k) * kStep<I>;
        if (!asked.template are_right<kSumLanes>(some_indices)) [[unlikely]] {
          known = asked;
          return;
        }
        __builtin_prefetch(some_values + ahead * kStep<T>);
        __builtin_prefetch(some_indices + ahead * kStep<I>);
#pragma GCC unroll 4
        for (int p = 0; p < LaneSums<T>::kParts; ++p) {
          sums[r].parts[p] += LaneSums<T>::template products<I>(
              some_values + p * 16, x, some_indices + p * LaneSums<T>::kPerPart * kStep<I>);
        }
      }
    }
    LaneSums<T> common_sums[kRows];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) common_sums[r] = sums[r];
    for (int r = 0; r < kRows; ++r) {
      const int64_t k = begins_[r] + common;
      LaneSums<T> sum = common_sums[r];
      RowRest<T, I> row = {values + k * kStep<T>, indices + k * kStep<I>, x};
      const int64_t rest =
          row.template add_eights<kNearAheadBytes, 3>(sum, begins_[r + 1] - k, asked);
      add_rest(sum, row, rest, asked);
      out[r] = sum.total();
    }
    known = asked;
  }

 private:
  // Bytes of x that stay in a first cache of 32 KiB whatever else passes through. There one row
  // after the other is faster by a twentieth.
  static constexpr int64_t kHeldBytes = 24 << 10;
  // Entries: the prefetched lines of kRows longer rows are more than a second cache keeps.
  static constexpr int64_t kLongest = 2048;

  int64_t last_;
  int64_t shortest_;
  int64_t begins_[kRows + 1] = {};
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
