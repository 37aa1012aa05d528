// The arguments of the kernels of sparse matrices: plain structs, which the host fills for each
// launch. C++17, for nvcc.
#pragma once

#include <stdint.h>

#include "cuda/kernels/arguments.hpp"

namespace tenure::cuda {

// The rows of a matrix, or the columns of one that is compressed by columns.
struct CompressedRows {
  const unsigned char* offsets;
  const unsigned char* indices;
  const unsigned char* values;
  // Set to 1 where an offset or an index is wrong; nullptr where they are known to be right.
  uint32_t* finding;
  uint64_t entries;
  uint64_t columns;  // the bound of indices
  int64_t rows;
  uint32_t has_wide_indices;  // of 8 bytes, else 4
  uint32_t unused;
};

// Columns of a product that a thread adds up, in the kernel for many.
inline constexpr unsigned kProductColumns = 4;

// The rows of a sparse matrix times a dense one. A row has a group of threads, which is no larger
// than a warp: 2^column_shift adjacent threads have different columns, and 2^entry_shift such sets
// have a share of the entries each. A row of more entries than `long_row` has all threads of a
// block. Numbers are in the low bits, in the type of the sums.
struct SparseMatmulArgument {
  CompressedRows a;
  const unsigned char* b;
  unsigned char* out;
  int64_t columns;     // 0: only offsets and indices are looked at
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
  uint32_t column_shift;
  uint32_t entry_shift;
};

// ---- sampled products ----

// For each entry the product of a row of x with a column of y, where rows are those of the matrix.
// An entry has 2^depth_shift threads, up to a warp, and a row's 2^entry_shift such groups.
struct SparseSampleArgument {
  CompressedRows a;
  const unsigned char* x;
  const unsigned char* y;
  unsigned char* out;  // of the entries from `first` on
  uint64_t first;
  uint64_t count;
  int64_t depth;
  int64_t x_row_step;  // in bytes
  int64_t x_depth_step;
  int64_t y_column_step;
  int64_t y_depth_step;
  int64_t row_blocks;
  uint64_t alpha;
  ElementType type;
  uint32_t has_values;  // products are multiplied with those of the entries
  uint32_t depth_shift;
  uint32_t entry_shift;
};

// ---- to dense ----

// Entries to the elements that they are, which hold zeros. A row has 2^entry_shift threads, up to a
// warp.
struct SparseScatterArgument {
  CompressedRows a;
  unsigned char* out;
  int64_t row_step;  // in bytes
  int64_t column_step;
  int64_t row_blocks;
  ElementType type;        // what several entries for an element are added up in
  uint32_t is_unique;      // no element has several
  uint32_t element_shift;  // the logarithm of an element's bytes
  uint32_t has_halves;     // elements of 8 bytes lie at multiples of 4
  uint32_t entry_shift;
  uint32_t unused;
};

// ---- from dense ----

// Elements of a tile, which a block looks at together: 8 of each thread.
inline constexpr uint32_t kScanTile = 8 * kThreads;

// The entries of a dense matrix by rows. Tiles follow each other in row-major order; a tile learns
// how many entries are before it from the states of those before.
struct DenseScanArgument {
  const unsigned char* data;
  const unsigned char* mask;   // a byte for each element, which the predicate is on; or nullptr
  unsigned char* offsets;      // or nullptr
  unsigned char* row_indices;  // or nullptr
  unsigned char* indices;
  unsigned char* values;
  // Zeros at first: the tile that is next, how many entries there are, and a state of each tile.
  unsigned long long* next;
  unsigned long long* count;
  unsigned long long* states;
  int64_t rows;
  int64_t columns;
  int64_t tiles;
  int64_t row_step;  // in bytes
  int64_t column_step;
  int64_t mask_row_step;
  int64_t mask_column_step;
  uint64_t capacity;  // entries that there is room for
  // kernels::Predicate.
  uint64_t predicate_mask;
  uint64_t flip;
  uint64_t bias;
  int64_t low;
  int64_t high;
  uint32_t is_outside;        // of low and high, else bits of the mask
  uint32_t is_dense;          // elements follow each other in that order
  uint32_t has_wide_indices;  // of 8 bytes, else 4
  uint32_t has_halves;        // elements of 8 bytes lie at multiples of 4
  uint32_t as_bools;          // any byte but 0 is written as 1
  uint32_t element_shift;     // the logarithm of an element's bytes
  uint32_t unused_bits;       // of 32, or of 64, beyond an element's
  Divider columns_each;       // of fewer than a tile's elements
};

// ---- orders of entries ----

// Findings about entries that are not valid.
inline constexpr uint32_t kEntriesWrong = 1;
inline constexpr uint32_t kEntriesFall = 2;  // rows of COO, which have to rise

// Entries by rows, in an order that is theirs or sorted, and those of one position made one or kept.
// A part of it is unset where a kernel does not use it.
struct EntryOrderArgument {
  CompressedRows a;        // of COO offsets are the row of each entry; entries are below 2^31
  const uint32_t* places;  // numbers of entries in the order so far; nullptr: their own
  uint32_t* own_places;    // where these are written; nullptr where there are places
  uint32_t* keys;
  // A 0, and for each entry first whether it begins one of the result, and then how many do up to
  // it.
  uint32_t* numbers;
  // The result.
  unsigned char* major;
  unsigned char* minor;
  unsigned char* values;
  uint32_t is_coo;
  uint32_t has_offsets;    // the result, which is else COO
  uint32_t keeps_all;      // each entry is one of the result
  uint32_t must_rise;      // rows of COO that are not sorted
  uint32_t key_shift;      // bits that have been sorted
  uint32_t minor_bits;     // of a position, below those of its row; 0 where only rows are sorted
  uint32_t op;             // of tnr_binary_op; 0: the last of several stays as it is
  ElementType type;        // where there is an op, and of bool8; else any other
  uint32_t element_shift;  // the logarithm of an element's bytes
  uint32_t has_halves;     // elements of 8 bytes lie at multiples of 4
};

}  // namespace tenure::cuda
