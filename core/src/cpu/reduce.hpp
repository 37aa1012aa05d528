// Reductions over dense elements: the arguments that the driver of dense/reduce passes to their
// loops, and the loops.
//
// Loops read adjacent elements of the types that are computed in. All others come to them through
// the driver, some at a time, into a panel that stays in the L1 cache.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// Bytes of a panel of fetched elements: much less than an L1 cache. Tiles are cut at borders of
// their own, so that no bit of a result depends on it.
inline constexpr int64_t kFetchedBytes = 4096;

// How `count` elements, `step` bytes apart, become adjacent ones of the type that is computed in.
struct ElementFetch {
  void (*run)(const ElementFetch&, const Byte* in, int64_t step, int64_t count, Byte* panel);
  int64_t width_bytes;  // of an element
  int64_t read_bytes;   // of one in the panel
  StripKernel copy;     // makes elements adjacent
  StripKernel load;     // converts adjacent elements; nullptr: they are computed in their own type
};

// One step of a reduction: `rows` elements into each of `columns` accumulators.
struct Tile {
  int64_t rows;     // at least 1
  int64_t columns;  // at least 1
  const Byte* in;
  int64_t row_step;  // bytes
  int64_t column_step;
  int64_t step_in_place;      // elements this many bytes apart are read in place
  const ElementFetch* fetch;  // for all others
  // From the first on, which are to be fetched while others are read; 0 where a cache holds them.
  int64_t rows_ahead;
  int64_t index;  // of row 0, for argmin and argmax
  int64_t index_step;
  Byte* accumulators;  // as the reduction's Meet says
};

// Two sets of accumulators and how many elements, at least one, went into each one of them.
struct Merge {
  int64_t columns;
  Byte* into;
  const Byte* from;
  int64_t into_count;
  int64_t from_count;
};

// How the accumulators of several tiles meet.
enum class Meet : uint8_t {
  kAnyhow,  // in any order, and a tile goes on with accumulators that hold something
  kApart,   // in any order, but each tile has accumulators of its own
  kInTree,  // apart, and the order shows in the last places: in a tree, so that it shows little
};

// How an accumulator becomes an element of the output.
enum class Finish : uint8_t {
  kAsIs,          // converted to its type
  kAverage,       // divided by the count
  kVariance,      // divided by the count less ddof
  kDeviation,     // the root of that
  kOwnAverage,    // divided by a count of its own, which is the first part of the accumulators
  kOwnVariance,   // divided by that count less ddof; NaN where it is not above ddof
  kOwnDeviation,  // the root of that
  kScaled,  // times two to the power of an exponent, which is their first part; over nothing 1
  kRoot,
  kPower,  // to the power 1 / p, of p-norms: elements are read as |x|^p, by a fetch of their own
  kIsNonzero,  // bool8
  kIsZero,     // bool8
};

// Results of finite elements that may leave the range of the accumulators on the way. The driver
// computes a result again in another unit of the elements if it is not finite, or if it is tiny and
// made of squares or powers.
enum class Extremes : uint8_t {
  kStay,
  kSum,
  kNumberSum,  // of the elements that are not NaN
  kMean,
  kVariance,  // in units squared
  kRoot,      // of squares
  kPower,     // of p-norms
};

// Rows of elements that are reduced into adjacent accumulators; the columns fill whole vectors.
struct Sweep {
  const Byte* in;
  int64_t row_step;
  int64_t rows;
  int64_t columns;
  const Byte* centers;  // one for each column, for terms that are measured from centers
  Byte* terms;          // the result of the first half of some rows; or the extremes' places
  Byte* accumulators;   // nullptr: these rows are a first half
  int64_t number;       // of the first row, for places
  int64_t rows_ahead;   // this many rows behind these are to be fetched
};

// An operation on one dtype.
struct Reduction {
  int64_t accumulator_bytes;  // of each column; 0: there is no such reduction
  int64_t in_bytes;           // of an element as the loops read it
  Meet meet;
  Finish finish;
  Extremes extremes;
  Type finished;           // of the values that are finished: accumulators, or their last part
  int64_t finished_place;  // bytes of each column before that part; parts lie one after the other
  // Converts elements to the type that the loops read; nullptr: they read elements as they are.
  const Elementwise* load;
  uint64_t start;  // bits of an accumulator that nothing has met, of sums and extremes
  uint64_t mask;   // the bits of an element that any, all and count look at

  void (*along)(const Reduction&, const Tile&);   // a tile of one column
  void (*across)(const Reduction&, const Tile&);  // of several
  void (*merge)(const Reduction&, const Merge&);

  // Reduces adjacent elements into one accumulator; their order does not show in the result.
  void (*fold)(const Reduction&, const Byte* in, int64_t count, Byte* accumulator);
  // Nullptr: across() reads rows more than once, and a tile is to be added whole.
  void (*spread)(const Reduction&, const Sweep&);
  void (*spread_accumulators)(const Reduction&, const Sweep&);  // one row of them
};

struct Reductions {
  Reduction by_type[kTypeCount];
};

// The norms that have loops of their own, by their power: 1, 2, and infinity; and all others.
enum class Norm : uint8_t { kOne, kTwo, kInfinity, kOther };
inline constexpr unsigned kNormCount = 4;

// Adds the squares of f64 or f32 elements to an accumulator of f64, with the arguments of
// Reduction::along.
using SquareSum = void (*)(const Reduction&, const Tile&);

}  // namespace tenure::kernels
