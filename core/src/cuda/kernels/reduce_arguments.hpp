// The argument of the kernels of reductions: a plain struct, which the host fills for each launch.
// C++17, for nvcc.
#pragma once

#include <stdint.h>

#include "cuda/kernels/arguments.hpp"

namespace tenure::cuda {

inline constexpr unsigned kMostReduceAxes = 8;

// Elements of a result that a thread adds up before it puts them to those before, in steps of as
// many as its kernel reads at once. Errors grow with this and the number of such blocks.
inline constexpr unsigned kBlockSteps = 16;

// Elements that a thread reads at once: items of a row, along memory; and rows of adjacent columns,
// across it. Rules of much code have few.
struct RuleShape {
  int items;
  int rows;
  int columns;
};
inline constexpr RuleShape kFloatSumShape = {8, 4, 4};
inline constexpr RuleShape kWideSumShape = {8, 4, 2};
inline constexpr RuleShape kPowerSumShape = {1, 1, 1};
inline constexpr RuleShape kMomentsShape = {8, 2, 2};
inline constexpr RuleShape kLogSumExpShape = {4, 4, 1};
inline constexpr RuleShape kIntegerSumShape = {16, 4, 4};
inline constexpr RuleShape kExtremeShape = {16, 4, 4};
inline constexpr RuleShape kPlaceShape = {16, 4, 2};

// The shape for elements of 8 bytes, where a rule has kernels of their own for these.
constexpr RuleShape wide(RuleShape shape) {
  return {shape.items < 4 ? shape.items : 4, shape.rows, (shape.columns + 1) / 2};
}

// Positions along an axis, and how far apart they are: bytes of the input, and of the output (axes
// that are kept) or places in logical order (those that are reduced).
struct ReduceAxis {
  Divider divider;
  uint32_t unused;
  int64_t in_step;
  int64_t other_step;
};

// Steps that floats go through before they are added, one or more; and kProduct, which multiplies
// them instead.
enum ReduceMode : uint32_t { kSkipNaN = 1, kMagnitude = 2, kSquare = 4, kProduct = 8 };
// Reductions of integers: one of these.
enum IntegerMode : uint32_t { kIntegerSum, kIntegerProduct, kNonzeroCount };

// How what met becomes a result.
enum class ReduceFinish : uint32_t {
  kAsIs,
  kAverage,       // divided by `divisor`
  kOwnAverage,    // divided by how many went in
  kOwnVariance,   // divided by as many less `ddof`; NaN where they are not above it
  kOwnDeviation,  // the root of that
  kDeviation,     // the root of the average
  kRoot,
  kPower,      // to the power `exponent`
  kIsNonzero,  // bool8
  kIsCount,    // bool8: every element is not 0
  kPartial,    // what the rule has of it (MeasuredRow), for normalizations
};

// Results that may leave the range on the way, and are computed again where they are infinite, NaN
// or below `least_exact`.
enum class ReduceExtremes : uint32_t {
  kStay,
  kSum,
  kMean,
  kVariance,
  kDeviation,
  kRoot,
  kPower,
  kRow,          // what a normalization measures: mean and squares
  kRowOfSquares  // or only squares
};

struct ReduceArgument {
  const unsigned char* in;  // of the first element
  unsigned char* out;       // of the first result
  unsigned char* partials;  // `splits` of each result, where there is more than one
  uint64_t count;           // elements of a result
  uint32_t results;         // below 2^31
  Divider splits;
  uint32_t kept_rank;     // at least 1
  uint32_t reduced_rank;  // at least 1

  // Units are items of the innermost axis that is reduced. 2^step_shift units are interleaved, so
  // that adjacent threads read adjacent elements. A position of all other axes, a row, has
  // `row_units`.
  //
  // A split of number n has the units from n * split_step on, at most split_units of them and below
  // `units`; of rows from n * split_rows on, and of each row the items from n * split_items on. Two
  // of the three are 0. Numbers of units are below 2^31.
  Divider row_units;
  uint32_t units;
  uint32_t split_units;
  uint32_t split_step;
  uint32_t split_rows;
  uint64_t split_items;
  uint64_t row_items;
  uint32_t step_shift;
  uint32_t has_vectors;  // whole units, or columns of a thread, can be read at once

  // Along: threads of a result, as a power of 2.
  uint32_t lanes_shift;
  // Across: adjacent threads, and tiles of columns. A thread has several columns: adjacent ones
  // (is_adjacent), or ones that are interleaved with the columns of adjacent threads.
  Divider column_threads;
  Divider column_tiles;
  uint32_t columns;
  uint32_t is_adjacent;

  // ---- the operation ----

  ElementType type;
  ElementType out_type;
  uint32_t width;  // bytes of an element
  uint32_t mode;
  ReduceFinish finish;
  ReduceExtremes extremes;
  uint32_t reduced_rows;  // positions of all axes but the innermost, where there are extremes
  double least_exact;
  int64_t first_place;    // of the first element that is walked
  uint32_t is_unordered;  // places do not rise from one element that a thread reads to the next
  double divisor;
  double ddof;      // of those that are divided by how many went in
  double exponent;  // of p-norms: p, and 1 / p to finish
  double inverse_exponent;
  // Added to an integer, it makes the unsigned number of the same order; and all such of a result,
  // to be taken away from their sum.
  uint64_t bias;
  uint64_t bias_sum;
  // Bits of an element that say whether it is 0.
  uint64_t nonzero_mask;
  // Masks of keys, by which extremes are found (reduce_rules.cuh).
  uint64_t key_flip;  // all bits for the largest
  uint64_t key_nan;
  uint64_t key_nothing;
  uint64_t key_infinity;  // magnitudes beyond it are NaN
  uint64_t key_sign;      // 0 of unsigned integers
  uint64_t nan;           // as an element
  uint32_t key_shift;     // which brings an element to the top of the key
  uint32_t key_is_float;

  ReduceAxis kept[kMostReduceAxes];  // innermost first
  ReduceAxis reduced[kMostReduceAxes];
};

}  // namespace tenure::cuda
