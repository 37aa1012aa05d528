// The loops of var and std, in f64: `columns` centers, as many rests, and as many sums of squares.
//
// A mean is a center, a number of 53 bits, and a rest, the mean less its center: centers could not
// distinguish two means that are far from 0 and close to each other. The squares are of the
// deviations from the mean.
#pragma once

#include "cpu/kernels/reduce/across.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr int64_t kMomentsBytes = 24;

// The moments of one column.
struct ColumnMoments {
  double center;
  double rest;
  double squares;
};
inline ColumnMoments load_moments(const Byte* centers, int64_t end) {
  return {load<double>(centers), load<double>(centers + end), load<double>(centers + 2 * end)};
}
inline void store_moments(Byte* centers, int64_t end, const ColumnMoments& moments) {
  store(centers, moments.center);
  store(centers + end, moments.rest);
  store(centers + 2 * end, moments.squares);
}

// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
// variances", 1979. `share` is the part of all elements that `from` has.
inline ColumnMoments met_moments(const ColumnMoments& into, const ColumnMoments& from,
                                 double into_count, double share) {
  const double apart = (from.center - into.center) + (from.rest - into.rest);
  const double moved = into.rest + apart * share;
  const double merged = into.center + moved;
  return {merged, moved - (merged - into.center),
          into.squares + from.squares + apart * (apart * (into_count * share))};
}

inline void merge_moments(const Reduction&, const Merge& merge) {
  const auto into_count = static_cast<double>(merge.into_count);
  const auto from_count = static_cast<double>(merge.from_count);
  const double share = from_count / (into_count + from_count);
  const int64_t end = merge.columns * 8;
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < end; i += 8) {
    const ColumnMoments into = load_moments(merge.into + i, end);
    const ColumnMoments from = load_moments(merge.from + i, end);
    store_moments(merge.into + i, end, met_moments(into, from, into_count, share));
  }
}

// A number from which a deviation neither overflows nor is infinite unless the variance is.
inline double pivot_of(double first) { return __builtin_fabs(first) < 1e300 ? first : 0; }

// Moves the mean of deviations from a pivot into both: the center, and the rest.
struct Center {
  double center;
  double rest;

  Center(double pivot, double mean) : center(pivot + mean), rest(mean - (center - pivot)) {}
};

// The squares of deviations from the mean, by those from the center.
inline double around_mean(double squares, double rest, double rows) {
  const double around = squares - rest * (rest * rows);
  return around < 0 ? 0 : around;
}

// The first of each of a tile's columns, in f64.
template <class T>
[[gnu::noinline]] void first_row(const Tile& tile, Byte* pivots) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  constexpr int64_t kFetched = kFetchedBytes / kBytes;
  alignas(64) Byte panel[kFetchedBytes];
  const bool in_place = tile.column_step == tile.step_in_place;
  for (int64_t first = 0; first < tile.columns; first += kFetched) {
    const int64_t count = lower(kFetched, tile.columns - first);
    const Byte* in = tile.in + first * tile.column_step;
    if (!in_place) {
      tile.fetch->run(*tile.fetch, in, tile.column_step, count, panel);
      in = panel;
    }
    Byte* const out = pivots + first * 8;
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      store(out + i * 8, pivot_of(static_cast<double>(load<T>(in + i * kBytes))));
    }
  }
}

// In two sweeps over rows that the caches hold: the means, then the deviations from them.
template <class T>
void moments_across(const Reduction& reduction, const Tile& tile) {
  Byte* const centers = tile.accumulators;
  const int64_t end = tile.columns * 8;
  Byte* const rests = centers + end;
  Byte* const squares = rests + end;
  const auto rows = static_cast<double>(tile.rows);
  const Widths widths = {
      .in = static_cast<int64_t>(sizeof(T)), .center = 8, .place = 0, .accumulator = 8};
  Reduction sums = reduction;
  Sweep like = {};
  like.centers = centers;
  Tile part = tile;
  first_row<T>(tile, centers);
  __builtin_memset(rests, 0, static_cast<uint64_t>(2 * end));
  sums.spread = spread_in_tree<Deviations<T>>;
  like.accumulators = rests;
  sweep_rows(sums, part, widths, like);
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < end; i += 8) {
    const Center found(load<double>(centers + i), load<double>(rests + i) / rows);
    store(centers + i, found.center);
    store(rests + i, found.rest);
  }
  sums.spread = spread_in_tree<SquaredDeviations<T>>;
  like.accumulators = squares;
  part.rows_ahead = 0;
  sweep_rows(sums, part, widths, like);
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < end; i += 8) {
    store(squares + i, around_mean(load<double>(squares + i), load<double>(rests + i), rows));
  }
}

template <class T>
void moments_along(const Reduction& reduction, const Tile& tile) {
  constexpr int64_t kBlock = 16384 / static_cast<int64_t>(sizeof(T));
  Tile block = tile;
  for (int64_t first = 0; first < tile.rows; first += kBlock) {
    block.in = tile.in + first * tile.row_step;
    block.rows = lower(kBlock, tile.rows - first);
    const auto rows = static_cast<double>(block.rows);
    double pivot;
    first_row<T>(block, reinterpret_cast<Byte*>(&pivot));
    const Center found(pivot, sum_along<Deviations<T>>(reduction, block, pivot) / rows);
    const double squares = sum_along<SquaredDeviations<T>>(reduction, block, found.center);
    const double moments[3] = {found.center, found.rest, around_mean(squares, found.rest, rows)};
    if (first == 0) {
      __builtin_memcpy(tile.accumulators, moments, sizeof moments);
      continue;
    }
    merge_moments(reduction, {.columns = 1,
                              .into = tile.accumulators,
                              .from = reinterpret_cast<const Byte*>(moments),
                              .into_count = first,
                              .from_count = block.rows});
  }
}

// Deviations from 0 are the elements.
template <class T>
void add_squares(const Reduction& reduction, const Tile& tile) {
  const auto before = load<double>(tile.accumulators);
  store(tile.accumulators, before + sum_along<SquaredDeviations<T>>(reduction, tile, 0));
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
