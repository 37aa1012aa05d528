// The loops of means of the elements that are not NaN, in f64: `columns` counts, and as many sums.
#pragma once

#include "cpu/kernels/reduce/across.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T>
using NumberSum = WithoutNaN<WideSum<T>, double>;

template <class T>
void number_mean_along(const Reduction& reduction, const Tile& tile) {
  store(tile.accumulators, sum_along<NumberCount<T>>(reduction, tile, 0));
  store(tile.accumulators + 8, sum_along<NumberSum<T>>(reduction, tile, 0));
}

// In two sweeps over rows that the caches hold.
template <class T>
void number_mean_across(const Reduction& reduction, const Tile& tile) {
  const int64_t end = tile.columns * 8;
  const Widths widths = {.in = kStep<T>, .center = 0, .place = 0, .accumulator = 8};
  __builtin_memset(tile.accumulators, 0, static_cast<uint64_t>(2 * end));
  Reduction part = reduction;
  Sweep like = {};
  part.spread = spread_in_tree<NumberCount<T>>;
  like.accumulators = tile.accumulators;
  sweep_rows(part, tile, widths, like);
  Tile again = tile;
  again.rows_ahead = 0;
  part.spread = spread_in_tree<NumberSum<T>>;
  like.accumulators = tile.accumulators + end;
  sweep_rows(part, again, widths, like);
}

inline void merge_number_means(const Reduction&, const Merge& merge) {
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < merge.columns * 16; i += 8) {
    store(merge.into + i, load<double>(merge.into + i) + load<double>(merge.from + i));
  }
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
