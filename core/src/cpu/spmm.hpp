// Operands of the sparse times dense kernels: one sparse matrix, and dense operands. The dense
// operands that are read have adjacent columns.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// alpha and beta are one element each, of the type that is computed in: f32 for f16 and bf16, else
// the elements' own. beta is nullptr for 0, and then out is not read.

// out = alpha * a b + beta * out.
struct Matmul {
  Compressed a;
  int64_t block_rows;  // 1 and 1 where there are no blocks
  int64_t block_cols;
  int64_t columns;  // of b and out; at least 1
  const Byte* b;    // one row for each column of a, block_cols for one of blocks
  int64_t b_rows;
  int64_t b_step;  // bytes from a row to the next
  Byte* out;       // one row for each row of a, block_rows for one of blocks
  int64_t out_step;
  int64_t out_column_step;
  const Byte* alpha;
  const Byte* beta;
};

// Rows of a [begin, end). An element of out is one sum, the same whatever the rows of a call are.
// Products are added in the order of the entries. The kernels of f32 and f64 without blocks add a
// single column in eight lanes, which meet in a tree; they take blocks where b_step is not an
// element.
using MatmulKernel = void (*)(const Matmul&, int64_t begin, int64_t end);

// Multiplies as MatmulKernel does, for one column and without blocks, where the indices are
// unchecked and the offsets are right. It uses no wrong index; it returns false where there was
// one, and then out is written in part.
using CheckedKernel = bool (*)(const Matmul&, int64_t begin, int64_t end);

// The kernel for one column and blocks of a shape, or nullptr. It is of f64, f32, f16 and bf16, and
// b of the type that is computed in, adjacent. Element k of a row is added to sum k % 8, as without
// blocks, and the eight are added in a tree.
using BlockColumn = MatmulKernel (*)(int64_t block_rows, int64_t block_cols);

// sums += transpose(a) b, where a is the kernel's other argument.
struct ScatterAdd {
  int64_t block_rows;  // of a, as Matmul has them
  int64_t block_cols;
  int64_t columns;  // of b and sums
  const Byte* b;    // one row for each row of a
  int64_t b_step;
  Byte* sums;  // one row for each column of a, adjacent elements of sum_bytes
  int64_t sums_step;
};

// out = alpha * (the sum of `parts` arrays of sums, in their order) + beta * out.
struct Gathering {
  int64_t columns;
  const Byte* sums;  // of the first part
  int64_t sums_step;
  int64_t parts;
  int64_t part_step;
  Byte* out;
  int64_t out_step;
  int64_t out_column_step;
  const Byte* alpha;
  const Byte* beta;
};

// Kernels of one element type.
struct ScatterAddKernels {
  int64_t sum_bytes;
  // Rows [begin, end) of a, entries in their order.
  void (*rows[kIndexTypeCount])(const ScatterAdd&, const Compressed& a, int64_t begin, int64_t end);
  void (*block_rows[kIndexTypeCount])(const ScatterAdd&, const Compressed& a, int64_t begin,
                                      int64_t end);
  // Entries [begin, end) of a.
  void (*entries[kIndexTypeCount])(const ScatterAdd&, const Coordinates& a, int64_t begin,
                                   int64_t end);
  // Rows [begin, end) of out.
  void (*gather)(const Gathering&, int64_t begin, int64_t end);
};

}  // namespace tenure::kernels
