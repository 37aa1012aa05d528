// The arguments of the kernels of normalizations: plain structs, which the host fills for each
// launch. C++17, for nvcc.
#pragma once

#include <stdint.h>

#include "cuda/kernels/arguments.hpp"

namespace tenure::cuda {

inline constexpr unsigned kMostNormalizeAxes = 8;

// A block holds rows in its shared memory: for each thread at most this number of groups of 16
// bytes, in the type of the computation.
inline constexpr unsigned kHeldGroups = 8;

// In the order of tnr_normalize_op.
enum class Normalize : uint32_t { kSoftmax = 1, kLogSoftmax, kLayerNorm, kRmsNorm };

// Numbers by which the elements of a measured row are written, in the type that is computed in:
// softmax is e^(x - shift) * factor, all others ((x * inverse - shift) - rest) * factor.
template <class T>
struct alignas(16) RowNumbers {
  T shift;
  T rest;
  T factor;
  T inverse;  // of the unit of all others
};

// The results of reductions for a row (the Partial of a rule, reduce_rules.cuh), in the place where
// the row's numbers will be.
struct alignas(16) MeasuredRow {
  double first;   // the greatest, the sum of the squares, or the mean
  double second;  // the sum of the powers less 1, or what the mean is more
  double third;   // the squares of the distances from the mean
  double fourth;  // of f64, the unit of these
};

struct RowNumbersArgument {
  unsigned char* numbers;  // a MeasuredRow each
  uint64_t rows;
  double divisor;  // elements of a row
  double eps;
  Normalize op;
  ElementType type;
};

// Positions, and bytes from one to the next of the input, the output, the weight and the bias.
struct NormalizeAxes {
  uint32_t rank;
  uint32_t unused;
  NestAxis axes[kMostNormalizeAxes];  // innermost first
};

// Rows that are held: those of 2^lanes_shift threads each, of one warp, or of the block.
struct NormalizeArgument {
  // Addresses for the first element of the first row.
  const unsigned char* in;
  unsigned char* out;
  const unsigned char* weight;  // nullptr: none
  const unsigned char* bias;
  double eps;
  Normalize op;
  ElementType type;
  uint32_t count;  // elements of a row
  uint32_t rows;   // below 2^31
  uint32_t lanes_shift;
  // 1: a thread has groups of adjacent elements; 0: its elements are those between which the other
  // threads of the row have theirs.
  uint32_t is_adjacent;
  uint32_t has_vectors;  // groups can be read and written at once
  uint32_t unused;
  NormalizeAxes row_axes;
  NormalizeAxes element_axes;
};

enum NormalizeOperand : unsigned {
  kNormalizeIn,
  kNormalizeOut,
  kNormalizeWeight,
  kNormalizeBias,
  kNormalizeNumbers,
  kNormalizeOperands
};

// As NestAxis.
struct MeasuredAxis {
  Divider divider;
  uint32_t unused;
  int64_t steps[kNormalizeOperands];
};

// Elements of rows that have been measured.
struct MeasuredArgument {
  const unsigned char* in;
  unsigned char* out;
  const unsigned char* weight;
  const unsigned char* bias;
  const unsigned char* numbers;  // RowNumbers of each row, as far apart as MeasuredRow
  Normalize op;
  ElementType type;
  uint32_t units;        // below 2^31: elements, or vectors of 16 bytes as they are computed
  uint32_t has_vectors;  // the innermost axis counts vectors, whose elements are at item_steps
  uint32_t rank;         // at least 1
  uint32_t unused;
  int64_t item_steps[kNormalizeOperands];
  MeasuredAxis axes[kMostNormalizeAxes];  // innermost first
};

}  // namespace tenure::cuda
