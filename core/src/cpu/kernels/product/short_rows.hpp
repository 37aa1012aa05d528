// Rows of few entries, in a product with one column: taken by their length, 64 rows at a time.
//
// Row by row the processor has to predict each row's length, and a misprediction costs as much as
// the entries of a short row. So the lengths of 64 rows become bits, a word of them for each class
// of lengths, and the rows of a class go through code without a branch on their length. Empty rows
// are filled before, by vectors. A sum is that of row_sum.hpp, to the bit.
#pragma once

#include "cpu/kernels/product/row_sum.hpp"
#include "cpu/kernels/sums.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// 64 rows of a product, whose indices have been checked. A value of its own, so that nothing the
// loops read can alias an element that is written.
template <class T, class I>
struct ShortRows {
  static constexpr int64_t kRows = 64;

  // Entries are [first, end).
  void add_up(int64_t first, int64_t end) const {
    // Rows of more than 0, 1, 2, 4, 8, 12 and 16 entries, and those that nothing may be read past.
    uint64_t more[7] = {};
    uint64_t at_end = 0;
    if (end != first) {
      const auto last_read_past = static_cast<I>(last - 2 * kSumLanes);
      for (int64_t i = 0; i < kRows; i += kPerVector<I>) {
        const auto begins = load<Vector<I>>(offsets + i * kStep<I>);
        const Vector<I> lengths = load<Vector<I>>(offsets + (i + 1) * kStep<I>) - begins;
        more[0] |= lane_bits<I>(lengths > I{0}) << i;
        more[1] |= lane_bits<I>(lengths > I{1}) << i;
        more[2] |= lane_bits<I>(lengths > I{2}) << i;
        more[3] |= lane_bits<I>(lengths > I{kSumLanes / 2}) << i;
        more[4] |= lane_bits<I>(lengths > I{kSumLanes}) << i;
        more[5] |= lane_bits<I>(lengths > I{kSumLanes + kSumLanes / 2}) << i;
        more[6] |= lane_bits<I>(lengths > I{2 * kSumLanes}) << i;
        at_end |= lane_bits<I>(begins > last_read_past) << i;
      }
    }
    fill(~more[0]);
    fetch(first, end);
    for (uint64_t rest = more[0] & ~more[1]; rest != 0; rest &= rest - 1) {
      const int64_t row = __builtin_ctzll(rest);
      scaling.write(out + row * out_step, product(index_of<I>(offsets, row)));
    }
    for (uint64_t rest = more[1] & ~more[2]; rest != 0; rest &= rest - 1) {
      const int64_t row = __builtin_ctzll(rest);
      const int64_t k = index_of<I>(offsets, row);
      scaling.write(out + row * out_step, product(k) + product(k + 1));
    }
    each<1>(more[2] & ~more[3] & ~at_end);
    each<2>(more[3] & ~more[4] & ~at_end);
    each<3>(more[4] & ~more[5] & ~at_end);
    each<4>(more[5] & ~more[6] & ~at_end);
    for (uint64_t rest = more[6] | (more[2] & at_end); rest != 0; rest &= rest - 1) {
      const int64_t row = __builtin_ctzll(rest);
      const int64_t k = index_of<I>(offsets, row);
      const int64_t count = index_of<I>(offsets, row + 1) - k;
      TrustedIndices known;
      scaling.write(out + row * out_step,
                    row_sum<T, I>(values + k * kStep<T>, indices + k * kStep<I>, x, count, last - k,
                                  holder, known));
    }
  }

  // The product of an entry as a lane of the sum has it, which begins at 0: -0 is 0.
  [[nodiscard]] T product(int64_t k) const {
    const int64_t column = index_of<I>(indices, k);
    return T{0} + load<T>(values + k * kStep<T>) * load<T>(x + column * kStep<T>);
  }

  // Prefetches the lines kAheadBytes behind the entries.
  void fetch(int64_t first, int64_t end) const {
    constexpr int64_t kLine = kLineBytes / kStep<T>;  // entries
    for (int64_t k = first; k < end; k += kLine) {
      __builtin_prefetch(values + k * kStep<T> + kAheadBytes, 0, 2);
      for (int64_t i = 0; i < kLine * kStep<I>; i += kLineBytes) {
        __builtin_prefetch(indices + k * kStep<I> + i + kAheadBytes, 0, 2);
      }
    }
  }

  // Rows that have no sum; others too, whose sums come later, where that is simpler.
  void fill(uint64_t empty) const {
    if (empty == 0) return;
    if (!scaling.reads && out_step == kStep<T>) {
      const Vector<T> nothing = broadcast(scaling.alpha * T{0});
      for (int64_t i = 0; i < kRows; i += kPerVector<T>) store(out + i * kStep<T>, nothing);
      return;
    }
    for (; empty != 0; empty &= empty - 1) {
      scaling.write(out + __builtin_ctzll(empty) * out_step, T{0});
    }
  }

  // Adds up rows of a class. From the first entry of each, 4 * kFours entries may be read.
  template <int kFours>
  __attribute__((always_inline)) void each(uint64_t rows) const {
    for (; rows != 0; rows &= rows - 1) {
      const int64_t row = __builtin_ctzll(rows);
      const int64_t k = index_of<I>(offsets, row);
      const int64_t count = index_of<I>(offsets, row + 1) - k;
      LaneSums<T> sums;
      add_fours<T, I, kFours>(sums, values + k * kStep<T>, indices + k * kStep<I>, x, count);
      scaling.write(out + row * out_step, sums.total());
    }
  }

  const Byte* values;
  const Byte* indices;
  const Byte* x;
  const Byte* offsets;  // from the first row on
  Byte* out;
  int64_t out_step;
  Scaling<T> scaling;
  int64_t last;  // where entries end that may be read
  HeldBy holder;
};

// Entries of a row, on the average of 64. Longer rows hide the cost of a misprediction, and the
// entries of 64 of them are too many to be fetched at once.
constexpr int64_t kMostShort = 16;

template <class T, class I>
__attribute__((noinline)) void add_short_rows(const Matmul& m, int64_t row, int64_t last,
                                              HeldBy holder) {
  const ShortRows<T, I> rows = {.values = m.a.values,
                                .indices = m.a.indices,
                                .x = m.b,
                                .offsets = m.a.offsets + row * kStep<I>,
                                .out = m.out + row * m.out_step,
                                .out_step = m.out_step,
                                .scaling = Scaling<T>(m.alpha, m.beta),
                                .last = last,
                                .holder = holder};
  rows.add_up(index_of<I>(m.a.offsets, row), index_of<I>(m.a.offsets, row + rows.kRows));
}

// Whether the 64 rows from `row` on were short enough on the whole to be taken; `known` records
// wrong indices among theirs, and then none is used. Entries end with `last`.
template <class T, class I, class Known>
bool take_short_rows(const Matmul& m, int64_t row, int64_t last, HeldBy holder, Known& known) {
  constexpr int64_t kRows = ShortRows<T, I>::kRows;
  const int64_t first = index_of<I>(m.a.offsets, row);
  const int64_t end = index_of<I>(m.a.offsets, row + kRows);
  if (end - first > kRows * kMostShort) return false;
  // With those behind, which the last rows read and do not use.
  const int64_t read = last - end < 2 * kSumLanes ? last : end + 2 * kSumLanes;
  if (known.are_all_right(m.a.indices + first * kStep<I>, read - first)) {
    add_short_rows<T, I>(m, row, last, holder);
  }
  return true;
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
