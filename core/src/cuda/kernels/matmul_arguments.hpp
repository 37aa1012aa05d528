// The argument of the kernels of products of matrices: a plain struct, which the host fills for each
// launch. C++17, for nvcc.
#pragma once

#include <stdint.h>

#include "cuda/kernels/arguments.hpp"

namespace tenure::cuda {

// A block has 16 times 16 threads. Each thread has equally many sums along both sides of a tile.
inline constexpr unsigned kMatmulSide = 16;
static_assert(kMatmulSide * kMatmulSide == kThreads, "a thread has a square of sums");

// Lines are rows of the left factor, and columns of the right one.
struct MatmulFactor {
  const unsigned char* data;  // of the first product
  int64_t line_step;          // in bytes
  int64_t depth_step;
  int64_t lines;
  ElementType type;
  uint32_t is_along_depth;  // 1: threads read groups along the depth; 0: from line to line
  uint32_t has_vectors;     // groups can be read at once
  uint32_t unused;
};

enum MatmulOperand : unsigned { kMatmulOut, kMatmulA, kMatmulB, kMatmulOperands };

// As NestAxis.
struct MatmulAxis {
  Divider divider;
  uint32_t unused;
  int64_t steps[kMatmulOperands];
};

// Numbers are in the low bits, in the type of the sums.
struct MatmulArgument {
  MatmulFactor a;
  MatmulFactor b;
  unsigned char* out;
  const unsigned char* bias;  // nullptr: none
  int64_t out_row_step;       // in bytes
  int64_t out_column_step;
  int64_t bias_row_step;
  int64_t bias_column_step;
  int64_t depth;
  uint64_t alpha;
  uint64_t beta;
  uint64_t low;
  uint64_t high;
  uint32_t row_tiles;
  uint32_t column_tiles;
  ElementType out_type;
  uint32_t has_beta;  // 0: the output is not read
  uint32_t is_bounded;
  uint32_t has_out_vectors;  // groups of adjacent columns can be written at once
  uint32_t rank;             // of the batch
  uint32_t unused;
  MatmulAxis axes[kMostAxes];  // innermost first
};

}  // namespace tenure::cuda
