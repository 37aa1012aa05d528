// The loops of a reduction over rows, for adjacent results.
//
// Sixteen rows of floats, or four, are added as a tree before they meet their accumulators, and the
// error grows with the logarithm of the count. The loops take columns that fill vectors; the others
// are padded here, and elements that are not adjacent are fetched, for all operations alike.
#pragma once

#include "cpu/kernels/reduce/along.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr int64_t kRowsAtOnce = 4;
// The more rows at once, the less often accumulators are read and written.
constexpr int64_t kMostRowsAtOnce = 16;
// Rows that are read together: more places of memory, in addition to those that are prefetched,
// would compete for a few sets of L2 where rows are a power of two apart.
constexpr int64_t kHalf = kMostRowsAtOnce / 2;
constexpr int64_t kShortRowBytes = 1024;
constexpr int64_t kShortRowsAtOnce = 64;
constexpr int64_t kTermsBytes = 16384;  // of the results of one half of the rows
// Vectors of a row, and rows where columns fill only one vector.
constexpr int64_t kVectorsTogether = 4;

// Lines of a row to come, into L2.
template <int64_t kBytes>
inline void fetch_row(const Byte* in) {
#pragma GCC unroll 4
  for (int64_t at = 0; at < kBytes; at += 64) __builtin_prefetch(in + at, 0, 2);
}

// Prefetches narrow rows, before others are read. Wide rows are fetched between the loads of
// others: memory takes them in fewer at a time.
[[gnu::noinline]] void fetch_rows(const Byte* in, int64_t row_step, int64_t rows, int64_t bytes) {
#pragma GCC unroll 1
  for (int64_t row = 0; row < rows; ++row) {
#pragma GCC unroll 1
    for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(in + row * row_step + at, 0, 2);
  }
}

// ---- results that do not depend on the order of rows ----

// Calls visit() `rows` times.
template <int64_t kVectors, class Visit>
inline void for_each_of(int64_t rows, const Visit& visit) {
  if constexpr (kVectors == 1) {
#pragma GCC unroll 1
    for (; rows >= kVectorsTogether; rows -= kVectorsTogether) {
      for (int64_t i = 0; i < kVectorsTogether; ++i) visit();
    }
  }
#pragma GCC unroll 1
  for (; rows > 0; --rows) visit();
}

template <class Op, int64_t kVectors>
inline void spread_vectors(const Sweep& sweep, int64_t column,
                           Vector<typename Op::Lane> parameter) {
  using Lane = typename Op::Lane;
  constexpr int64_t kInBytes = kPerVector<Lane> * static_cast<int64_t>(sizeof(typename Op::In));
  Byte* const accumulators = sweep.accumulators + column * static_cast<int64_t>(sizeof(Lane));
  const Byte* in = sweep.in + column * static_cast<int64_t>(sizeof(typename Op::In));
  const int64_t row_step = sweep.row_step;
  const bool fetches = sweep.rows_ahead != 0;
  const int64_t ahead = sweep.rows * row_step;
  if (kVectors == 1 && fetches) fetch_rows(in + ahead, row_step, sweep.rows_ahead, kInBytes);
  Vector<Lane> met[kVectors];
#pragma GCC unroll 4
  for (int64_t v = 0; v < kVectors; ++v) {
    met[v] = load<Vector<Lane>>(accumulators + v * kVectorBytes);
  }
  const auto meet_row = [&] {
    if (kVectors > 1 && fetches) fetch_row<kVectors * kInBytes>(in + ahead);
#pragma GCC unroll 4
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto x = Loading<Lane, typename Op::In>::load(in + v * kInBytes);
      met[v] = Op::merge(met[v], Op::term(x, parameter));
    }
    in += row_step;
  };
  for_each_of<kVectors>(sweep.rows, meet_row);
#pragma GCC unroll 4
  for (int64_t v = 0; v < kVectors; ++v) {
    store(accumulators + v * kVectorBytes, Op::settle(met[v], parameter));
  }
}

template <class Op>
void spread_in_any_order(const Reduction& reduction, const Sweep& sweep) {
  using Lane = typename Op::Lane;
  constexpr int64_t kTogether = kVectorsTogether * kPerVector<Lane>;
  const auto parameter = broadcast(static_cast<Lane>(reduction.mask));
  int64_t column = 0;
#pragma GCC unroll 1
  for (; column + kTogether <= sweep.columns; column += kTogether) {
    spread_vectors<Op, kVectorsTogether>(sweep, column, parameter);
  }
#pragma GCC unroll 1
  for (; column < sweep.columns; column += kPerVector<Lane>) {
    spread_vectors<Op, 1>(sweep, column, parameter);
  }
}

// ---- sums of floats ----

// A tree of kRows elements of each of a vector's columns.
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

enum class Into { kAccumulators, kTerms, kBoth };

template <class Op, int64_t kRows, Into kInto>
inline void spread_rows(const Sweep& sweep) {
  using Lane = typename Op::Lane;
  constexpr int64_t kAtOnce = kPerVector<Lane>;
  constexpr auto kLaneBytes = static_cast<int64_t>(sizeof(Lane));
  constexpr auto kInBytes = static_cast<int64_t>(sizeof(typename Op::In));
  const int64_t columns = sweep.columns;
  const int64_t row_step = sweep.row_step;
  const Byte* const in = sweep.in;
  const Byte* const own_centers = sweep.centers;
  Byte* const terms = sweep.terms;
  Byte* const accumulators = sweep.accumulators;
  const bool fetches = kInto != Into::kAccumulators && sweep.rows_ahead != 0;
#pragma GCC unroll 1
  for (int64_t column = 0; column < columns; column += kAtOnce) {
    const Byte* const from = in + column * kInBytes;
    if (fetches && column * kInBytes % 64 == 0) {
      for (int64_t row = kHalf; row < 2 * kHalf; ++row) {
        __builtin_prefetch(from + row * row_step, 0, 2);
      }
    }
    Vector<Lane> centers = {};
    if constexpr (Op::kCentered) centers = load<Vector<Lane>>(own_centers + column * kLaneBytes);
    auto met = rows_of<Op, kRows>(from, row_step, centers);
    const int64_t at = column * kLaneBytes;
    if constexpr (kInto == Into::kTerms) {
      store(terms + at, met);
    } else {
      if constexpr (kInto == Into::kBoth) met = Op::merge(load<Vector<Lane>>(terms + at), met);
      store(accumulators + at, Op::merge(load<Vector<Lane>>(accumulators + at), met));
    }
  }
}

// One row, kRowsAtOnce, or a half of kMostRowsAtOnce.
template <class Op>
void spread_in_tree(const Reduction&, const Sweep& sweep) {
  if (sweep.terms != nullptr && sweep.accumulators == nullptr) {
    spread_rows<Op, kHalf, Into::kTerms>(sweep);
  } else if (sweep.terms != nullptr) {
    spread_rows<Op, kHalf, Into::kBoth>(sweep);
  } else if (sweep.rows == 1) {
    spread_rows<Op, 1, Into::kAccumulators>(sweep);
  } else {
    spread_rows<Op, kRowsAtOnce, Into::kAccumulators>(sweep);
  }
}

// ---- any columns, with elements at any addresses ----

// The arrays that a sweep reads and writes, by the bytes of each column in them.
struct Widths {
  int64_t in;
  int64_t center;  // 0: there are none
  int64_t place;   // 0: terms are no places
  int64_t accumulator;
};

using Spread = void (*)(const Reduction&, const Sweep&);

// kMostRowsAtOnce rows in two halves. Here and below the sweep is changed instead of copied: wide
// loads of data that narrow stores have just written would wait for them.
inline void spread_halves(const Reduction& reduction, Spread spread, const Widths& widths,
                          Sweep& sweep) {
  alignas(64) Byte terms[kTermsBytes];
  const int64_t most = kTermsBytes / widths.accumulator;
  const int64_t columns = sweep.columns;
  const int64_t rows_ahead = sweep.rows_ahead;
  Byte* const accumulators = sweep.accumulators;
  const Byte* in = sweep.in;
  sweep.rows = kHalf;
  sweep.terms = terms;
  for (int64_t first = 0; first < columns; first += most) {
    sweep.in = in + first * widths.in;
    sweep.columns = lower(most, columns - first);
    sweep.accumulators = nullptr;
    sweep.rows_ahead = rows_ahead >= 2 * kHalf ? kHalf : 0;
    spread(reduction, sweep);
    sweep.in += kHalf * sweep.row_step;
    sweep.accumulators = accumulators + first * widths.accumulator;
    sweep.rows_ahead = rows_ahead >= 3 * kHalf ? kHalf : 0;
    spread(reduction, sweep);
    sweep.centers += lower(most, columns - first) * widths.center;
  }
  sweep.terms = nullptr;
}

// Columns from `whole` on, which do not fill a vector, in copies that do.
[[gnu::noinline]] void spread_last_columns(const Reduction& reduction, Spread spread,
                                           const Widths& widths, const Sweep& sweep,
                                           int64_t whole) {
  const int64_t lane = widths.accumulator;
  const int64_t at_once = kVectorBytes / lane;
  const auto rest = static_cast<uint64_t>(sweep.columns - whole);
  alignas(64) Byte rows[kMostRowsAtOnce * kVectorBytes] = {};
  alignas(64) Byte centers[kVectorBytes] = {};
  alignas(64) Byte places[kVectorBytes] = {};
  alignas(64) Byte accumulators[kVectorBytes] = {};
  const auto center_bytes = rest * static_cast<uint64_t>(widths.center);
  if (center_bytes != 0) {
    __builtin_memcpy(centers, sweep.centers + whole * widths.center, center_bytes);
  }
  const auto place_bytes = rest * static_cast<uint64_t>(widths.place);
  Byte* const own_places = sweep.terms + whole * widths.place;
  if (place_bytes != 0) __builtin_memcpy(places, own_places, place_bytes);
  const auto bytes = rest * static_cast<uint64_t>(lane);
  Byte* const own = sweep.accumulators + whole * lane;
  __builtin_memcpy(accumulators, own, bytes);
  for (int64_t first = 0; first < sweep.rows; first += kMostRowsAtOnce) {
    Sweep last = sweep;
    last.rows = lower(kMostRowsAtOnce, sweep.rows - first);
    last.row_step = at_once * widths.in;
    for (int64_t row = 0; row < last.rows; ++row) {
      __builtin_memcpy(rows + row * last.row_step,
                       sweep.in + (first + row) * sweep.row_step + whole * widths.in,
                       rest * static_cast<uint64_t>(widths.in));
    }
    last.in = rows;
    last.columns = at_once;
    last.centers = centers;
    last.terms = widths.place != 0 ? places : nullptr;
    last.accumulators = accumulators;
    last.number = sweep.number + first;
    last.rows_ahead = 0;
    if (reduction.meet == Meet::kInTree && last.rows == kMostRowsAtOnce) {
      spread_halves(reduction, spread, widths, last);
    } else {
      spread(reduction, last);
    }
  }
  if (place_bytes != 0) __builtin_memcpy(own_places, places, place_bytes);
  __builtin_memcpy(own, accumulators, bytes);
}

// Dense rows, as rows_together() has them. Their `rows_ahead` are those from the first one on.
inline void spread_columns(const Reduction& reduction, Spread spread, const Widths& widths,
                           Sweep& sweep) {
  const int64_t at_once = kVectorBytes / widths.accumulator;
  const int64_t columns = sweep.columns;
  const int64_t rows = sweep.rows;
  const int64_t whole = columns - columns % at_once;
  if (whole != columns) spread_last_columns(reduction, spread, widths, sweep, whole);
  if (whole == 0) return;
  sweep.columns = whole;
  if (reduction.meet == Meet::kInTree && rows == kMostRowsAtOnce) {
    spread_halves(reduction, spread, widths, sweep);
    sweep.rows = rows;
  } else {
    sweep.rows_ahead = sweep.rows_ahead >= 2 * rows ? rows : 0;
    spread(reduction, sweep);
  }
}

// Rows that are read together: those of a tree are 16, 4 or 1.
inline int64_t rows_together(const Reduction& reduction, const Tile& tile, bool in_place,
                             int64_t left) {
  if (reduction.meet == Meet::kInTree) {
    const int64_t few = left >= kRowsAtOnce ? kRowsAtOnce : 1;
    // Elements of 16 bits as from a panel, which sets without their conversions have.
    const bool are_many = in_place && reduction.in_bytes > 2 && left >= kMostRowsAtOnce;
    return are_many ? kMostRowsAtOnce : few;
  }
  if (!in_place) return lower(kRowsAtOnce, left);
  // Short rows are near one another, so that more are read together.
  const bool are_short =
      reduction.meet == Meet::kAnyhow && tile.columns * reduction.in_bytes <= kShortRowBytes;
  const int64_t few = reduction.meet == Meet::kAnyhow ? kHalf : kMostRowsAtOnce;
  return lower(are_short ? kShortRowsAtOnce : few, left);
}

// Every row of a tile, by its reduction's spread(). Memory is walked along the columns. `like` says
// where centers, places and accumulators are.
[[gnu::noinline]] void sweep_rows(const Reduction& reduction, const Tile& tile,
                                  const Widths& widths, const Sweep& like) {
  alignas(64) Byte panel[kFetchedBytes];
  const bool in_place = tile.column_step == tile.step_in_place;
  const int64_t pitch = kFetchedBytes / kRowsAtOnce;
  const int64_t most = in_place ? tile.columns : pitch / widths.in;
  // Rows without gaps between them are fetched as one.
  const bool are_joined =
      !in_place && tile.columns <= most && tile.row_step == tile.columns * tile.column_step;
  Sweep sweep = like;
  sweep.row_step = in_place ? tile.row_step : are_joined ? tile.columns * widths.in : pitch;
  for (int64_t row = 0; row < tile.rows; row += sweep.rows) {
    sweep.rows = rows_together(reduction, tile, in_place, tile.rows - row);
    sweep.number = row;
    for (int64_t first = 0; first < tile.columns; first += most) {
      sweep.rows_ahead = in_place ? tile.rows_ahead - row : 0;
      sweep.in = tile.in + row * tile.row_step + first * tile.column_step;
      sweep.columns = lower(most, tile.columns - first);
      if (!in_place) {
        const int64_t fetches = are_joined ? 1 : sweep.rows;
        const int64_t count = are_joined ? sweep.rows * sweep.columns : sweep.columns;
        for (int64_t i = 0; i < fetches; ++i) {
          tile.fetch->run(*tile.fetch, sweep.in + i * tile.row_step, tile.column_step, count,
                          panel + i * pitch);
        }
        sweep.in = panel;
      }
      sweep.centers = like.centers + first * widths.center;
      sweep.terms = like.terms + first * widths.place;
      sweep.accumulators = like.accumulators + first * widths.accumulator;
      spread_columns(reduction, reduction.spread, widths, sweep);
    }
  }
}

// Accumulators are as wide as lanes.
inline void across(const Reduction& reduction, const Tile& tile) {
  const Widths widths = {.in = reduction.in_bytes,
                         .center = 0,
                         .place = 0,
                         .accumulator = reduction.accumulator_bytes};
  Sweep sweep = {};
  sweep.accumulators = tile.accumulators;
  sweep_rows(reduction, tile, widths, sweep);
}

// Lanes are narrower: they are added to the accumulators before they are full.
template <class Op>
void across_narrow_lanes(const Reduction& reduction, const Tile& tile) {
  using Lane = typename Op::Lane;
  constexpr auto kLaneBytes = static_cast<int64_t>(sizeof(Lane));
  constexpr int64_t kColumns = kTermsBytes / kLaneBytes;
  constexpr int64_t kMostRows = lower(Op::kMostTerms, int64_t{1} << 15) / kHalf * kHalf;
  alignas(64) Byte lanes[kTermsBytes];
  const Widths widths = {
      .in = reduction.in_bytes, .center = 0, .place = 0, .accumulator = kLaneBytes};
  Sweep sweep = {};
  sweep.accumulators = lanes;
  Tile part = tile;
  for (int64_t first = 0; first < tile.columns; first += kColumns) {
    part.columns = lower(kColumns, tile.columns - first);
    for (int64_t row = 0; row < tile.rows; row += kMostRows) {
      part.in = tile.in + row * tile.row_step + first * tile.column_step;
      part.rows = lower(kMostRows, tile.rows - row);
      part.rows_ahead = tile.rows_ahead == 0 ? 0 : tile.rows_ahead - row;
      __builtin_memset(lanes, 0, static_cast<uint64_t>(part.columns * kLaneBytes));
      sweep_rows(reduction, part, widths, sweep);
      Byte* const accumulators = tile.accumulators + first * 8;
      const int64_t columns = part.columns;
      TENURE_INDEPENDENT
      for (int64_t i = 0; i < columns; ++i) {
        store(accumulators + i * 8, load<uint64_t>(accumulators + i * 8) +
                                        static_cast<uint64_t>(load<Lane>(lanes + i * kLaneBytes)));
      }
    }
  }
}

// Accumulators are merged as one row of elements is.
inline void merge_as_rows(const Reduction& reduction, const Merge& merge) {
  const Widths widths = {.in = reduction.accumulator_bytes,
                         .center = 0,
                         .place = 0,
                         .accumulator = reduction.accumulator_bytes};
  Sweep sweep = {};
  sweep.in = merge.from;
  sweep.rows = 1;
  sweep.columns = merge.columns;
  sweep.accumulators = merge.into;
  spread_columns(reduction, reduction.spread_accumulators, widths, sweep);
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
