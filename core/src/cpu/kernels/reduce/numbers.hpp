// The loops of means and variances of the elements that are not NaN, in f64: `columns` counts, and
// as many sums, or the moments of as many.
#pragma once

#include "cpu/kernels/reduce/moments.hpp"

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

constexpr int64_t kNumberMomentsBytes = 8 + kMomentsBytes;

template <class T>
using NumberDeviations = WithoutNaN<Deviations<T>, double>;
template <class T>
using SquaredNumberDeviations = WithoutNaN<SquaredDeviations<T>, double>;

// 0 of none.
inline double per_number(double sum, double count) { return count == 0 ? 0 : sum / count; }

// The first number of each of a tile's columns, in f64; 0 where all are NaN. Most columns have one
// in the first row.
template <class T>
[[gnu::noinline]] void first_numbers(const Tile& tile, Byte* pivots) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  constexpr int64_t kFetched = kFetchedBytes / kBytes;
  alignas(64) Byte panel[kFetchedBytes];
  const bool in_place = tile.column_step == tile.step_in_place;
  for (int64_t first = 0; first < tile.columns; first += kFetched) {
    const int64_t count = lower(kFetched, tile.columns - first);
    Byte* const out = pivots + first * 8;
    for (int64_t i = 0; i < count; ++i) store(out + i * 8, __builtin_nan(""));
    uint64_t missing = 1;
    for (int64_t row = 0; row < tile.rows && missing != 0; ++row) {
      const Byte* in = tile.in + row * tile.row_step + first * tile.column_step;
      if (!in_place) {
        tile.fetch->run(*tile.fetch, in, tile.column_step, count, panel);
        in = panel;
      }
      missing = 0;
      TENURE_INDEPENDENT
      for (int64_t i = 0; i < count; ++i) {
        const auto x = static_cast<double>(load<T>(in + i * kBytes));
        const auto before = load<double>(out + i * 8);
        const double pivot = before == before ? before : x;
        store(out + i * 8, pivot);
        missing |= pivot == pivot ? uint64_t{0} : uint64_t{1};
      }
    }
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) store(out + i * 8, pivot_of(load<double>(out + i * 8)));
  }
}

// The first number of a tile of one column that is not NaN, as a pivot; 0 where all are NaN.
template <class T>
double first_number(const Reduction& reduction, const Tile& tile) {
  constexpr int64_t kLookedAt = 16;
  double pivot = 0;
  for_each_run(reduction, tile, kLookedAt, [&](const Byte* in, int64_t, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const auto x = static_cast<double>(load<T>(in + i * static_cast<int64_t>(sizeof(T))));
      if (x != x) continue;
      pivot = pivot_of(x);
      return false;
    }
    return true;
  });
  return pivot;
}

// In sweeps over rows that the caches hold: the counts, the means, then the deviations from them.
template <class T>
void number_moments_across(const Reduction& reduction, const Tile& tile) {
  const int64_t end = tile.columns * 8;
  Byte* const counts = tile.accumulators;
  Byte* const centers = counts + end;
  Byte* const rests = centers + end;
  Byte* const squares = rests + end;
  const Widths widths = {
      .in = static_cast<int64_t>(sizeof(T)), .center = 8, .place = 0, .accumulator = 8};
  Reduction sums = reduction;
  Sweep like = {};
  like.centers = centers;
  Tile part = tile;
  first_numbers<T>(tile, centers);
  __builtin_memset(counts, 0, static_cast<uint64_t>(end));
  __builtin_memset(rests, 0, static_cast<uint64_t>(2 * end));
  const auto sweep = [&](Spread spread, Byte* accumulators) {
    sums.spread = spread;
    like.accumulators = accumulators;
    sweep_rows(sums, part, widths, like);
    part.rows_ahead = 0;
  };
  sweep(spread_in_tree<NumberCount<T>>, counts);
  sweep(spread_in_tree<NumberDeviations<T>>, rests);
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < end; i += 8) {
    const double mean = per_number(load<double>(rests + i), load<double>(counts + i));
    const Center found(load<double>(centers + i), mean);
    store(centers + i, found.center);
    store(rests + i, found.rest);
  }
  sweep(spread_in_tree<SquaredNumberDeviations<T>>, squares);
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < end; i += 8) {
    store(squares + i, around_mean(load<double>(squares + i), load<double>(rests + i),
                                   load<double>(counts + i)));
  }
}

// Merges columns that each have a count. Where one of the two has no number, the other stays as it
// is.
inline void merge_number_moments(const Reduction&, const Merge& merge) {
  const int64_t end = merge.columns * 8;
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < end; i += 8) {
    const auto into_count = load<double>(merge.into + i);
    const auto from_count = load<double>(merge.from + i);
    const double count = into_count + from_count;
    const ColumnMoments into = load_moments(merge.into + end + i, end);
    const ColumnMoments from = load_moments(merge.from + end + i, end);
    const ColumnMoments met = met_moments(into, from, into_count, per_number(from_count, count));
    const auto chosen = [&](double stays, double replaces, double merged) {
      return from_count == 0 ? stays : into_count == 0 ? replaces : merged;
    };
    store(merge.into + i, count);
    store_moments(
        merge.into + end + i, end,
        {chosen(into.center, from.center, met.center), chosen(into.rest, from.rest, met.rest),
         chosen(into.squares, from.squares, met.squares)});
  }
}

template <class T>
void number_moments_along(const Reduction& reduction, const Tile& tile) {
  constexpr int64_t kBlock = 16384 / static_cast<int64_t>(sizeof(T));
  Tile block = tile;
  for (int64_t first = 0; first < tile.rows; first += kBlock) {
    block.in = tile.in + first * tile.row_step;
    block.rows = lower(kBlock, tile.rows - first);
    const double count = sum_along<NumberCount<T>>(reduction, block, 0);
    const double pivot = first_number<T>(reduction, block);
    const double sum = sum_along<NumberDeviations<T>>(reduction, block, pivot);
    const Center found(pivot, per_number(sum, count));
    const double squares = sum_along<SquaredNumberDeviations<T>>(reduction, block, found.center);
    const double moments[4] = {count, found.center, found.rest,
                               around_mean(squares, found.rest, count)};
    if (first == 0) {
      __builtin_memcpy(tile.accumulators, moments, sizeof moments);
      continue;
    }
    merge_number_moments(reduction, {.columns = 1,
                                     .into = tile.accumulators,
                                     .from = reinterpret_cast<const Byte*>(moments),
                                     .into_count = first,
                                     .from_count = block.rows});
  }
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
