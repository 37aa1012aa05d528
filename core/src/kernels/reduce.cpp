// Reductions: what each element does to an accumulator, and how accumulators meet.
//
// Sums of floats are pairwise: at most kLeaf elements are added in kLanes running sums, and the
// results of leaves are added as a binary tree whose shape depends on the count alone. The error
// grows with the logarithm of the count, not with the count.
//
// The loops exist for dense elements of the types that are computed in. Elements that are not
// adjacent, or of 16-bit floats, are first gathered into a small buffer: a second copy of every
// loop would double the folder's code to spare a pass over a buffer that never leaves the L1 cache.
#include "kernels/strip.hpp"
#include "kernels/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr int64_t kLanes = 16;  // enough independent sums to hide the latency of an addition
constexpr int64_t kLeaf = 256;  // sixteen elements to a lane

// An Op reduces elements of type In, which is computed in: Accumulator, start(), step(), merge().
// step() of an Op with kPlace != kNowhere is also told the element's index or its column's center.
enum class Place { kNowhere, kIndex, kCenter };

template <class T>
struct Sum {
  using In = T;
  using Accumulator = uint64_t;  // wraps; signed values extend
  static constexpr Place kPlace = Place::kNowhere;
  static uint64_t start() { return 0; }
  static uint64_t step(uint64_t sum, T value) { return sum + static_cast<uint64_t>(value); }
  static uint64_t merge(uint64_t a, uint64_t b) { return a + b; }
};
template <class T>
  requires kIsFloat<T>
struct Sum<T> {
  using In = T;
  using Accumulator = T;
  static constexpr Place kPlace = Place::kNowhere;
  static T start() { return 0; }
  static T step(T sum, T value) { return sum + value; }
  static T merge(T a, T b) { return a + b; }
};

template <class T>
struct Product {
  using In = T;
  using Accumulator = typename Sum<T>::Accumulator;
  static constexpr Place kPlace = Place::kNowhere;
  static Accumulator start() { return 1; }
  static Accumulator step(Accumulator product, T value) {
    return product * static_cast<Accumulator>(value);
  }
  static Accumulator merge(Accumulator a, Accumulator b) { return a * b; }
};

// In f64 for every float, so that what VAR measures from is exact enough for all of them.
template <class T>
struct WideSum {
  using In = T;
  using Accumulator = double;
  static constexpr Place kPlace = Place::kNowhere;
  static double start() { return 0; }
  static double step(double sum, T value) { return sum + static_cast<double>(value); }
  static double merge(double a, double b) { return a + b; }
};

// The second of two passes: deviations are measured from a mean that is known, so that nothing
// cancels.
template <class T>
struct Deviations {
  using In = T;
  using Accumulator = double;
  static constexpr Place kPlace = Place::kCenter;
  static double start() { return 0; }
  static double step(double sum, T value, double center) {
    const double deviation = static_cast<double>(value) - center;
    return sum + deviation * deviation;
  }
  static double merge(double a, double b) { return a + b; }
};

struct Smaller {
  template <class T>
  static T worst() {
    if constexpr (kIsFloat<T>)
      return static_cast<T>(__builtin_inf());
    else
      return Limits<T>::kMax;
  }
  template <class T>
  static bool beats(T a, T b) {
    return a < b;
  }
  template <class T>
  static bool holds(T a, T b) {
    return a <= b;
  }
};
struct Larger {
  template <class T>
  static T worst() {
    if constexpr (kIsFloat<T>)
      return -static_cast<T>(__builtin_inf());
    else
      return Limits<T>::kMin;
  }
  template <class T>
  static bool beats(T a, T b) {
    return a > b;
  }
  template <class T>
  static bool holds(T a, T b) {
    return a >= b;
  }
};

// A NaN in `best` stays by the second test; one in `value` enters because nothing holds against it.
template <class Rule, class T>
struct Extreme {
  using In = T;
  using Accumulator = T;
  static constexpr Place kPlace = Place::kNowhere;
  static T start() { return Rule::template worst<T>(); }
  static T merge(T best, T value) {
    return Rule::holds(best, value) | (best != best) ? best : value;
  }
  static T step(T best, T value) { return merge(best, value); }
};
template <class T>
using Minimum = Extreme<Smaller, T>;
template <class T>
using Maximum = Extreme<Larger, T>;

template <class T>
struct Indexed {
  T value;
  int64_t index;
};

// Elements arrive in any order: of equals, and of NaNs, the lower index wins.
template <class Rule, class T>
struct ArgExtreme {
  using In = T;
  using Accumulator = Indexed<T>;
  static constexpr Place kPlace = Place::kIndex;
  static Accumulator start() { return {Rule::template worst<T>(), Limits<int64_t>::kMax}; }
  static Accumulator merge(Accumulator best, Accumulator other) {
    const bool best_nan = best.value != best.value;
    const bool other_nan = other.value != other.value;
    const bool tie = (best.value == other.value) | (best_nan & other_nan);
    const bool better = Rule::beats(other.value, best.value) | (other_nan & !best_nan);
    return better | (tie & (other.index < best.index)) ? other : best;
  }
  static Accumulator step(Accumulator best, T value, int64_t index) {
    return merge(best, {value, index});
  }
};
template <class T>
using ArgMinimum = ArgExtreme<Smaller, T>;
template <class T>
using ArgMaximum = ArgExtreme<Larger, T>;

template <class T>
struct Any {
  using In = T;
  using Accumulator = uint8_t;
  static constexpr Place kPlace = Place::kNowhere;
  static uint8_t start() { return 0; }
  static uint8_t step(uint8_t any, T value) {
    return static_cast<uint8_t>(any | (value != 0 ? 1 : 0));
  }
  static uint8_t merge(uint8_t a, uint8_t b) { return a | b; }
};

template <class T>
struct All {
  using In = T;
  using Accumulator = uint8_t;
  static constexpr Place kPlace = Place::kNowhere;
  static uint8_t start() { return 1; }
  static uint8_t step(uint8_t all, T value) {
    return static_cast<uint8_t>(all & (value != 0 ? 1 : 0));
  }
  static uint8_t merge(uint8_t a, uint8_t b) { return a & b; }
};

template <class T>
struct Count {
  using In = T;
  using Accumulator = int64_t;
  static constexpr Place kPlace = Place::kNowhere;
  static int64_t start() { return 0; }
  static int64_t step(int64_t count, T value) { return count + (value != 0 ? 1 : 0); }
  static int64_t merge(int64_t a, int64_t b) { return a + b; }
};

// What an accumulator becomes in the output. T is the output's type.
template <class T>
struct AsIs {
  template <class Accumulator>
  static T finish(Accumulator value, const Results&) {
    if constexpr (kSame<T, Bool8>) {
      return Bool8{value};
    } else {
      return narrow<T>(value);
    }
  }
};
struct IndexOnly {
  template <class T>
  static int64_t finish(Indexed<T> best, const Results&) {
    return best.index;
  }
};
template <class T>
struct Average {
  static T finish(double sum, const Results& results) {
    const double mean = sum / static_cast<double>(results.count);
    return convert<T>(results.count == 0 ? __builtin_nan("") : mean);
  }
};
inline double variance(double sum, const Results& results) {
  if (results.count <= results.ddof) return __builtin_nan("");
  return sum / static_cast<double>(results.count - results.ddof);
}
template <class T>
struct Variance {
  static T finish(double sum, const Results& results) { return convert<T>(variance(sum, results)); }
};
template <class T>
struct StandardDeviation {
  static T finish(double sum, const Results& results) {
    return convert<T>(__builtin_sqrt(variance(sum, results)));
  }
};

// One step, with what the Op wants to know of the element's place.
template <class Op>
typename Op::Accumulator step(typename Op::Accumulator accumulator, typename Op::In value,
                              int64_t index, double center) {
  if constexpr (Op::kPlace == Place::kIndex) {
    return Op::step(accumulator, value, index);
  } else if constexpr (Op::kPlace == Place::kCenter) {
    return Op::step(accumulator, value, center);
  } else {
    return Op::step(accumulator, value);
  }
}

// Dense rows of a single column into one accumulator.
template <class Op>
[[gnu::noinline]] typename Op::Accumulator leaf(const Byte* in, int64_t rows, int64_t index,
                                                int64_t index_step, double center) {
  using In = typename Op::In;
  // An index beside each lane would cost more than independent lanes gain.
  constexpr int64_t kCount = Op::kPlace == Place::kIndex ? 1 : kLanes;
  typename Op::Accumulator lanes[kCount];
  for (int64_t lane = 0; lane < kCount; ++lane) lanes[lane] = Op::start();
  int64_t row = 0;
  for (; row + kCount <= rows; row += kCount) {
    for (int64_t lane = 0; lane < kCount; ++lane) {
      const In value = load<In>(in + (row + lane) * kStep<In>);
      lanes[lane] = step<Op>(lanes[lane], value, index + (row + lane) * index_step, center);
    }
  }
  for (int64_t lane = 0; row < rows; ++row, ++lane) {
    const In value = load<In>(in + row * kStep<In>);
    lanes[lane] = step<Op>(lanes[lane], value, index + row * index_step, center);
  }
  for (int64_t half = kCount / 2; half > 0; half /= 2) {
    for (int64_t lane = 0; lane < half; ++lane) {
      lanes[lane] = Op::merge(lanes[lane], lanes[lane + half]);
    }
  }
  return lanes[0];
}

// One dense row into as many accumulators.
template <class Op>
[[gnu::noinline]] void spread(const Byte* in, int64_t columns, int64_t index, const double* centers,
                              Byte* accumulators) {
  using In = typename Op::In;
  using Accumulator = typename Op::Accumulator;
  TENURE_INDEPENDENT
  for (int64_t column = 0; column < columns; ++column) {
    Byte* const at = accumulators + column * kStep<Accumulator>;
    const double center = Op::kPlace == Place::kCenter ? centers[column] : 0.0;
    store<Accumulator>(
        at, step<Op>(load<Accumulator>(at), load<In>(in + column * kStep<In>), index, center));
  }
}

// At most kLeaf elements of type T in the type they are computed in, adjacent: where they lie, if
// they are so, else in `buffer`.
template <class T>
const Byte* gather(const Byte* in, int64_t in_step, int64_t count, Computed<T>* buffer) {
  if (kSame<T, Computed<T>> && in_step == kStep<T>) return in;
  for (int64_t i = 0; i < count; ++i) buffer[i] = widen(load<T>(in + i * in_step));
  return reinterpret_cast<const Byte*>(buffer);
}

template <class Op, class T>
typename Op::Accumulator tree(const Tile& tile, int64_t first, int64_t rows) {
  if (rows <= kLeaf) {
    Computed<T> buffer[kLeaf];
    const Byte* const in = gather<T>(tile.in + first * tile.row_step, tile.row_step, rows, buffer);
    return leaf<Op>(in, rows, tile.index + first * tile.index_step, tile.index_step,
                    Op::kPlace == Place::kCenter ? tile.centers[0] : 0.0);
  }
  const int64_t leaves = (rows + kLeaf - 1) / kLeaf;
  const int64_t left = leaves / 2 * kLeaf;
  return Op::merge(tree<Op, T>(tile, first, left), tree<Op, T>(tile, first + left, rows - left));
}

// Every row into its columns' accumulators: memory is walked along the columns.
template <class Op, class T>
void across(const Tile& tile) {
  Computed<T> buffer[kLeaf];
  for (int64_t row = 0; row < tile.rows; ++row) {
    for (int64_t first = 0; first < tile.columns; first += kLeaf) {
      const int64_t columns = tile.columns - first < kLeaf ? tile.columns - first : kLeaf;
      const Byte* const in = gather<T>(tile.in + row * tile.row_step + first * tile.column_step,
                                       tile.column_step, columns, buffer);
      spread<Op>(in, columns, tile.index + row * tile.index_step,
                 Op::kPlace == Place::kCenter ? tile.centers + first : nullptr,
                 tile.accumulators + first * kStep<typename Op::Accumulator>);
    }
  }
}

template <class Op, class T>
void accumulate(const Tile& tile) {
  using Accumulator = typename Op::Accumulator;
  if (tile.columns != 1) return across<Op, T>(tile);
  const Accumulator result = tree<Op, T>(tile, 0, tile.rows);
  store<Accumulator>(tile.accumulators, Op::merge(load<Accumulator>(tile.accumulators), result));
}

template <class Op>
void start(Byte* accumulators, int64_t columns) {
  using Accumulator = typename Op::Accumulator;
  for (int64_t column = 0; column < columns; ++column) {
    store<Accumulator>(accumulators + column * kStep<Accumulator>, Op::start());
  }
}

template <class Op>
void merge(Byte* into, const Byte* from, int64_t columns) {
  using Accumulator = typename Op::Accumulator;
  for (int64_t i = 0; i < columns * kStep<Accumulator>; i += kStep<Accumulator>) {
    store<Accumulator>(into + i,
                       Op::merge(load<Accumulator>(into + i), load<Accumulator>(from + i)));
  }
}

template <class Op, class Finish>
void finish(const Results& results) {
  using Accumulator = typename Op::Accumulator;
  for (int64_t column = 0; column < results.columns; ++column) {
    const auto from = load<Accumulator>(results.accumulators + column * kStep<Accumulator>);
    store(results.out + column * results.out_step, Finish::finish(from, results));
  }
}

template <class Op, class T, class Finish>
constexpr Reduction reduction = {sizeof(typename Op::Accumulator), start<Op>, accumulate<Op, T>,
                                 merge<Op>, finish<Op, Finish>};
constexpr Reduction kNone = {};

}  // namespace

// Rows of the table. Op is a template over the computed type, Finish one over the output's.
#define TENURE_FLOATS(Op, Finish)                                                            \
  reduction<Op<double>, double, Finish<double>>, reduction<Op<float>, float, Finish<float>>, \
      reduction<Op<float>, F16, Finish<F16>>, reduction<Op<float>, BF16, Finish<BF16>>
#define TENURE_TO(Op, T, Finish) reduction<Op<Computed<T>>, T, Finish>
#define TENURE_FLOATS_TO(Op, Finish)                                                       \
  TENURE_TO(Op, double, Finish), TENURE_TO(Op, float, Finish), TENURE_TO(Op, F16, Finish), \
      TENURE_TO(Op, BF16, Finish)
#define TENURE_SIGNED_TO(Op, Finish)                                                             \
  TENURE_TO(Op, int8_t, Finish), TENURE_TO(Op, int16_t, Finish), TENURE_TO(Op, int32_t, Finish), \
      TENURE_TO(Op, int64_t, Finish)
#define TENURE_UNSIGNED_TO(Op, Finish)                             \
  TENURE_TO(Op, uint8_t, Finish), TENURE_TO(Op, uint16_t, Finish), \
      TENURE_TO(Op, uint32_t, Finish), TENURE_TO(Op, uint64_t, Finish)
#define TENURE_NONE_OF_INTEGERS kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone

#define TENURE_SUMS(Op)                                           \
  {TENURE_FLOATS(Op, AsIs), TENURE_SIGNED_TO(Op, AsIs<uint64_t>), \
   TENURE_UNSIGNED_TO(Op, AsIs<uint64_t>), kNone}
#define TENURE_MOMENTS(Op, Finish) {TENURE_FLOATS(Op, Finish), TENURE_NONE_OF_INTEGERS, kNone}
#define TENURE_SELF(Op, T) reduction<Op<T>, T, AsIs<T>>
#define TENURE_EXTREMES(Op)                              \
  {TENURE_FLOATS(Op, AsIs),   TENURE_SELF(Op, int8_t),   \
   TENURE_SELF(Op, int16_t),  TENURE_SELF(Op, int32_t),  \
   TENURE_SELF(Op, int64_t),  TENURE_SELF(Op, uint8_t),  \
   TENURE_SELF(Op, uint16_t), TENURE_SELF(Op, uint32_t), \
   TENURE_SELF(Op, uint64_t), kNone}
#define TENURE_INDICES(Op)                                           \
  {TENURE_FLOATS_TO(Op, IndexOnly), TENURE_SIGNED_TO(Op, IndexOnly), \
   TENURE_UNSIGNED_TO(Op, IndexOnly), kNone}
// Whether an integer is zero does not depend on its sign, and bool8 is read as a byte.
#define TENURE_TRUTHS(Op, Out)                                         \
  {TENURE_FLOATS_TO(Op, AsIs<Out>), TENURE_UNSIGNED_TO(Op, AsIs<Out>), \
   TENURE_UNSIGNED_TO(Op, AsIs<Out>), TENURE_TO(Op, uint8_t, AsIs<Out>)}

const Reduction kReduce[kReduceCount][kTypeCount] = {
    TENURE_SUMS(Sum),
    TENURE_SUMS(Product),
    TENURE_MOMENTS(WideSum, Average),
    TENURE_MOMENTS(Deviations, Variance),
    TENURE_MOMENTS(Deviations, StandardDeviation),
    TENURE_EXTREMES(Minimum),
    TENURE_EXTREMES(Maximum),
    TENURE_INDICES(ArgMinimum),
    TENURE_INDICES(ArgMaximum),
    TENURE_TRUTHS(Any, Bool8),
    TENURE_TRUTHS(All, Bool8),
    TENURE_TRUTHS(Count, int64_t),
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
