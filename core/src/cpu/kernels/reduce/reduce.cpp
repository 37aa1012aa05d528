// Reductions: the tables, and what joins the loops of sweep.hpp and extreme.hpp to them.
#include "cpu/kernels/reduce/extreme.hpp"
#include "cpu/kernels/reduce/fetch.hpp"
#include "cpu/operations.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class Op>
void start(Byte* accumulators, int64_t columns) {
  using Accumulator = typename Op::Accumulator;
  for (int64_t column = 0; column < columns; ++column) {
    store<Accumulator>(accumulators + column * kBytesOf<Accumulator>, Op::kStart);
  }
}

template <class Op>
void accumulate(const Reduction& reduction, const Tile& tile) {
  using Accumulator = typename Op::Accumulator;
  if (tile.columns != 1) return across<Op>(reduction, tile, nullptr);
  const auto before = load<Accumulator>(tile.accumulators);
  if (Op::kStops && before != 0) return;
  store(tile.accumulators, Op::merge(before, along<Op>(reduction, tile, 0)));
}

template <class Rule, class T>
void accumulate_extreme(const Reduction& reduction, const Tile& tile) {
  using Op = Extreme<Rule, T>;
  if (tile.columns != 1) return across<Op>(reduction, tile, nullptr);
  const T best = Op::merge(load<T>(tile.accumulators), extreme_along<Rule, T>(reduction, tile));
  store(tile.accumulators, best);
}

// Here and below what a struct says is read before the loop: stores of bytes might change it, for
// all that compilers know, and they would not vectorise.
template <class Op>
void merge(const Merge& merge) {
  using Accumulator = typename Op::Accumulator;
  Byte* const into = merge.into;
  const Byte* const from = merge.from;
  const int64_t end = merge.columns * kBytesOf<Accumulator>;
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < end; i += kBytesOf<Accumulator>) {
    store<Accumulator>(into + i,
                       Op::merge(load<Accumulator>(into + i), load<Accumulator>(from + i)));
  }
}

template <class Op, class Finish>
void finish(const Results& results) {
  using Accumulator = typename Op::Accumulator;
  const Results own = results;
  for (int64_t column = 0; column < own.columns; ++column) {
    const auto from = load<Accumulator>(own.accumulators + column * kBytesOf<Accumulator>);
    store(own.out + column * own.out_step, Finish::finish(from, own));
  }
}

// ---- moments, in f64: `columns` centers, as many rests, and as many sums of squares ----
//
// A mean is a center and a rest, which is what the mean is more than that number of 53 bits: two
// means far from 0 and close to one another could not be told apart by the centers. The squares are
// of the deviations from the mean.

constexpr int64_t kMomentsBytes = 24;

inline void start_moments(Byte* accumulators, int64_t columns) {
  __builtin_memset(accumulators, 0, static_cast<uint64_t>(columns * kMomentsBytes));
}

// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
// variances", 1979.
inline void merge_moments(const Merge& merge) {
  if (merge.into_count == 0) {
    __builtin_memcpy(merge.into, merge.from, static_cast<uint64_t>(merge.columns * kMomentsBytes));
    return;
  }
  const auto into_count = static_cast<double>(merge.into_count);
  const auto from_count = static_cast<double>(merge.from_count);
  const double share = from_count / (into_count + from_count);
  Byte* const centers = merge.into;
  const Byte* const from_centers = merge.from;
  const int64_t end = merge.columns * 8;
  Byte* const rests = centers + end;
  Byte* const squares = rests + end;
  const Byte* const from_rests = from_centers + end;
  const Byte* const from_squares = from_rests + end;
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < end; i += 8) {
    const auto center = load<double>(centers + i);
    const auto rest = load<double>(rests + i);
    const double apart =
        (load<double>(from_centers + i) - center) + (load<double>(from_rests + i) - rest);
    const double moved = rest + apart * share;
    const double merged = center + moved;
    store(centers + i, merged);
    store(rests + i, moved - (merged - center));
    store(squares + i, load<double>(squares + i) + load<double>(from_squares + i) +
                           apart * (apart * (into_count * share)));
  }
}

template <class Finish>
void finish_moments(const Results& results) {
  const Results own = results;
  const Byte* const squares = own.accumulators + 16 * own.columns;
  for (int64_t column = 0; column < own.columns; ++column) {
    store(own.out + column * own.out_step, Finish::finish(load<double>(squares + column * 8), own));
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
void first_row(const Reduction& reduction, const Tile& tile, Byte* pivots) {
  constexpr int64_t kFetched = 256;
  alignas(64) Byte buffer[kFetched * static_cast<int64_t>(sizeof(T))];
  for (int64_t first = 0; first < tile.columns; first += kFetched) {
    const int64_t count = lower(kFetched, tile.columns - first);
    reduction.fetch(tile.in + first * tile.column_step, tile.column_step, count, buffer);
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      const auto element = load<T>(buffer + i * static_cast<int64_t>(sizeof(T)));
      store(pivots + (first + i) * 8, pivot_of(static_cast<double>(element)));
    }
  }
}

template <class T>
void moments_across(const Reduction& reduction, const Tile& tile) {
  Byte* const centers = tile.accumulators;
  const int64_t end = tile.columns * 8;
  Byte* const rests = centers + end;
  Byte* const squares = rests + end;
  const auto rows = static_cast<double>(tile.rows);
  first_row<T>(reduction, tile, centers);
  Tile sums = tile;
  sums.accumulators = rests;
  across<Deviations<T>>(reduction, sums, centers);
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < end; i += 8) {
    const Center found(load<double>(centers + i), load<double>(rests + i) / rows);
    store(centers + i, found.center);
    store(rests + i, found.rest);
  }
  sums.accumulators = squares;
  sums.rows_ahead = 0;
  across<SquaredDeviations<T>>(reduction, sums, centers);
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < end; i += 8) {
    store(squares + i, around_mean(load<double>(squares + i), load<double>(rests + i), rows));
  }
}

// Into accumulators that are started, in two sweeps over rows that the caches hold: the means, then
// the deviations from them.
template <class T>
void accumulate_moments(const Reduction& reduction, const Tile& tile) {
  if (tile.columns != 1) return moments_across<T>(reduction, tile);
  constexpr int64_t kBlock = 16384 / static_cast<int64_t>(sizeof(T));
  Tile block = tile;
  for (int64_t first = 0; first < tile.rows; first += kBlock) {
    block.in = tile.in + first * tile.row_step;
    block.rows = lower(kBlock, tile.rows - first);
    const auto rows = static_cast<double>(block.rows);
    double pivot;
    first_row<T>(reduction, block, reinterpret_cast<Byte*>(&pivot));
    const Center found(pivot, along<Deviations<T>>(reduction, block, pivot) / rows);
    const double squares = along<SquaredDeviations<T>>(reduction, block, found.center);
    const double moments[3] = {found.center, found.rest, around_mean(squares, found.rest, rows)};
    merge_moments({.columns = 1,
                   .into = tile.accumulators,
                   .from = reinterpret_cast<const Byte*>(moments),
                   .into_count = first,
                   .from_count = block.rows});
  }
}

// ---- tables ----

constexpr Reduction kNone = {};
constexpr int64_t kNever = Limits<int64_t>::kMin;  // no element lies so far from the next

// The loops of an Op; what they read is said by in_place() or through().
template <class Op, class Finish>
constexpr Reduction kSimple = {sizeof(typename Op::Accumulator),
                               Op::kRounds ? Meet::kInTree : Meet::kAnyhow,
                               kNever,
                               nullptr,
                               start<Op>,
                               accumulate<Op>,
                               merge<Op>,
                               finish<Op, Finish>};

// Of elements that are read where they lie, when they are adjacent.
template <class T>
constexpr Reduction in_place(Reduction loops) {
  loops.step_in_place = sizeof(T);
  loops.fetch = fetch<Converted<T>, T>;
  return loops;
}
// Of elements that are changed first.
template <class Change, class T>
constexpr Reduction through(Reduction loops) {
  loops.fetch = fetch<Change, T>;
  return loops;
}
// Halves take the loops of f32.
template <class T>
constexpr Reduction computed(Reduction loops) {
  if constexpr (kSame<T, Computed<T>>) {
    return in_place<T>(loops);
  } else {
    return through<Converted<Computed<T>>, T>(loops);
  }
}

// The entry of a type in the row of an operation.
template <class T>
constexpr Reduction sum_of() {
  using Wide = AsIs<uint64_t>;
  if constexpr (kSame<T, Bool8>) {
    return kNone;
  } else if constexpr (kIsFloat<T>) {
    return computed<T>(kSimple<Sum<Computed<T>>, AsIs<T>>);
  } else if constexpr (sizeof(T) == 8) {
    return in_place<T>(kSimple<Sum<uint64_t>, Wide>);
  } else if constexpr (sizeof(T) == 4) {
    return in_place<T>(kSimple<WideIntegerSum<T>, Wide>);
  } else {
    return through<Converted<int32_t>, T>(kSimple<NarrowIntegerSum, Wide>);
  }
}
template <class T>
constexpr Reduction product_of() {
  if constexpr (kSame<T, Bool8>) {
    return kNone;
  } else if constexpr (kIsFloat<T>) {
    return computed<T>(kSimple<Product<Computed<T>>, AsIs<T>>);
  } else if constexpr (sizeof(T) == 8) {
    return in_place<T>(kSimple<Product<uint64_t>, AsIs<uint64_t>>);
  } else {
    return through<Converted<uint64_t>, T>(kSimple<Product<uint64_t>, AsIs<uint64_t>>);
  }
}

template <class T>
constexpr Reduction mean_of() {
  if constexpr (kIsFloat<T>) {
    return computed<T>(kSimple<WideSum<Computed<T>>, Average<T>>);
  } else {
    return kNone;
  }
}
template <class T, class Finish>
constexpr Reduction moments_of() {
  if constexpr (kIsFloat<T>) {
    return computed<T>({kMomentsBytes, Meet::kInTree, kNever, nullptr, start_moments,
                        accumulate_moments<Computed<T>>, merge_moments, finish_moments<Finish>});
  } else {
    return kNone;
  }
}
template <class T>
constexpr Reduction variance_of() {
  return moments_of<T, Variance<T>>();
}
template <class T>
constexpr Reduction deviation_of() {
  return moments_of<T, StandardDeviation<T>>();
}

template <class T, class Rule>
constexpr Reduction extreme_of_type() {
  if constexpr (kSame<T, Bool8>) {
    return kNone;
  } else {
    using C = Computed<T>;
    using Op = Extreme<Rule, C>;
    return computed<T>({sizeof(C), Meet::kAnyhow, kNever, nullptr, start<Op>,
                        accumulate_extreme<Rule, C>, merge<Op>, finish<Op, AsIs<T>>});
  }
}
template <class T>
constexpr Reduction minimum_of() {
  return extreme_of_type<T, Smaller>();
}
template <class T>
constexpr Reduction maximum_of() {
  return extreme_of_type<T, Larger>();
}

template <class T, class Rule>
constexpr Reduction place_of_type() {
  if constexpr (kSame<T, Bool8>) {
    return kNone;
  } else {
    using C = Computed<T>;
    return computed<T>({16, Meet::kApart, kNever, nullptr, start_places<Rule, C>,
                        accumulate_places<Rule, C>, merge_places<Rule, C>, finish_places});
  }
}
template <class T>
constexpr Reduction argmin_of() {
  return place_of_type<T, Smaller>();
}
template <class T>
constexpr Reduction argmax_of() {
  return place_of_type<T, Larger>();
}

// Whether a number is 0 depends on bits alone: those of an integer, or of a float without its sign.
template <class T>
constexpr Reduction bits_of(Reduction loops) {
  if constexpr (kIsFloat<T>) {
    return through<WithoutSign<Truth<T>>, T>(loops);
  } else {
    return in_place<Truth<T>>(loops);
  }
}
template <class T>
constexpr Reduction any_of() {
  return bits_of<T>(kSimple<Any<Truth<T>>, IsNonzero>);
}
template <class T>
constexpr Reduction all_of() {
  return bits_of<T>(kSimple<SomeZero<Truth<T>>, IsZero>);
}
template <class T>
constexpr Reduction count_of() {
  return bits_of<T>(kSimple<NegatedCount<Truth<T>>, Negated>);
}

#define TENURE_ROW(entry)                                                                       \
  {entry<double>(),   entry<float>(),    entry<F16>(),     entry<BF16>(),    entry<int8_t>(),   \
   entry<int16_t>(),  entry<int32_t>(),  entry<int64_t>(), entry<uint8_t>(), entry<uint16_t>(), \
   entry<uint32_t>(), entry<uint64_t>(), entry<Bool8>()}

}  // namespace

const Reduction kReduce[kReduceCount][kTypeCount] = {
    TENURE_ROW(sum_of),      TENURE_ROW(product_of),   TENURE_ROW(mean_of),
    TENURE_ROW(variance_of), TENURE_ROW(deviation_of), TENURE_ROW(minimum_of),
    TENURE_ROW(maximum_of),  TENURE_ROW(argmin_of),    TENURE_ROW(argmax_of),
    TENURE_ROW(any_of),      TENURE_ROW(all_of),       TENURE_ROW(count_of),
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
