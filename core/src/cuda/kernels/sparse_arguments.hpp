// The arguments of the kernels of sparse matrices: plain structs, which the host fills for each
// launch. C++17, for nvcc.
#pragma once

#include <stdint.h>

#include "cuda/kernels/arguments.hpp"

namespace tenure::cuda {

// Columns of a product that a thread adds up, in the kernel for many.
inline constexpr unsigned kProductColumns = 4;

// The rows of a sparse matrix times a dense one. A row has a group of threads, which is no larger
// than a warp: 2^column_shift beside each other have columns, and 2^entry_shift of those have a
// share of the entries each. A row of more entries than `long_row` has all threads of a block.
// Numbers are in the low bits, in the type of the sums.
struct SparseMatmulArgument {
  const unsigned char* offsets;
  const unsigned char* indices;
  const unsigned char* values;
  const unsigned char* b;
  unsigned char* out;
  // Set to 1 where an offset or an index is wrong; nullptr where they are known to be right.
  uint32_t* finding;
  uint64_t entries;
  uint64_t b_rows;
  int64_t rows;
  int64_t columns;     // 0: offsets and indices are looked at alone
  int64_t b_row_step;  // in bytes
  int64_t b_column_step;
  int64_t out_row_step;
  int64_t out_column_step;
  int64_t row_blocks;  // blocks that have all rows
  int64_t work;        // those for all columns, tile after tile
  uint64_t long_row;
  uint64_t alpha;
  uint64_t beta;
  uint32_t has_beta;  // 0: the output is not read
  ElementType type;
  uint32_t has_wide_indices;  // of 8 bytes, else 4
  uint32_t column_shift;
  uint32_t entry_shift;
  uint32_t unused;
};

}  // namespace tenure::cuda
