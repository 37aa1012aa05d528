// Reductions: the loops over elements, for the rules of reduction.hpp.
//
// Sums of floats are pairwise: at most kLeaf elements are added in kLanes running sums, and the
// results of leaves are added as a binary tree whose shape depends on the count alone. The error
// grows with the logarithm of the count, not with the count.
//
// The loops exist for dense elements of the types that are computed in. Elements that are not
// adjacent, or of 16-bit floats, are first gathered into a small buffer: a second copy of every
// loop would double the folder's code to spare a pass over a buffer that never leaves the L1 cache.
#include "kernels/reduction.hpp"
#include "kernels/strip.hpp"
#include "kernels/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr int64_t kLanes = 16;  // enough independent sums to hide the latency of an addition
constexpr int64_t kLeaf = 256;  // sixteen elements to a lane

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
#define TENURE_FLOATS_BY(Op, Finish)                                                         \
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

#define TENURE_SUMS(Op)                                              \
  {TENURE_FLOATS_BY(Op, AsIs), TENURE_SIGNED_TO(Op, AsIs<uint64_t>), \
   TENURE_UNSIGNED_TO(Op, AsIs<uint64_t>), kNone}
#define TENURE_MOMENTS(Op, Finish) {TENURE_FLOATS_BY(Op, Finish), TENURE_NONE_OF_INTEGERS, kNone}
#define TENURE_SELF(Op, T) reduction<Op<T>, T, AsIs<T>>
#define TENURE_EXTREMES(Op)                               \
  {TENURE_FLOATS_BY(Op, AsIs), TENURE_SELF(Op, int8_t),   \
   TENURE_SELF(Op, int16_t),   TENURE_SELF(Op, int32_t),  \
   TENURE_SELF(Op, int64_t),   TENURE_SELF(Op, uint8_t),  \
   TENURE_SELF(Op, uint16_t),  TENURE_SELF(Op, uint32_t), \
   TENURE_SELF(Op, uint64_t),  kNone}
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
