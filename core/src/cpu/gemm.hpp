// Products of dense matrices as the kernels see them: packing, and tiles of the result.
//
// A factor is packed into panels, of as many rows of the left one, or columns of the right one, as
// a tile of registers has: the elements of one depth are adjacent, and the depths follow each other
// (K. Goto and R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS
// 34(3), 2008). The lanes of a last panel that is not whole repeat its last row or column.
//
// Packing brings each dtype to the lanes that its sums are made of, so that kernels are few: f16
// and bf16 are widened to f32; bytes become pairs of 16 bits, two depths to a lane, and so does
// bf16 where the processor multiplies it; a complex factor is a real one of twice the depth, whose
// columns are two each.
//
// Where the processor multiplies bytes (VNNI), four depths are a lane, unsigned on the left and
// signed on the right, as the instruction has it. Bytes of the other sign are moved by 128, a' = a
// + 128 and b' = b - 128, which flips their highest bit, and products of them differ from the
// wanted products by terms of one factor each:
//     sum of a b = sum of a' b' + 128 * sum of a' - 128 * sum of b
// where both were moved, and so with one term or none where not. These are the panels' starts. They
// wrap as the sums do, so that the result is exact. Registers that are tiles (AMX) multiply bytes
// of any two signs, and nothing is moved.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// Part of a factor: element (i, depth) is at data + i * step + depth * depth_step.
struct Factor {
  const Byte* data;
  int64_t step;  // bytes, of any sign
  int64_t depth_step;
  int64_t count;  // rows of the left factor, or columns of the right one; at least 1
  int64_t depth;
  // Whether the memory between (0, depth) and (count - 1, depth) holds elements, which may be read.
  bool may_read_between = false;
  // Bytes to the factor that is packed later. Every other row or column of it is prefetched
  // meanwhile where its depths are adjacent; 0: nothing.
  int64_t ahead = 0;
  // Whether the lines behind those of a panel, at each depth, are packed next and not yet fetched.
  bool is_followed = true;
};

// The rows of a left factor, or columns of a right one, of one panel, at any addresses: the pixels
// of an image.
struct ScatteredRows {
  const Byte* const* rows;  // nullptr: zeros
  int64_t depth_step;       // bytes, of any sign
  int64_t depth;
  const Byte* zeros;  // `depth` of them
  // Whether the memory between two rows that are two elements apart is an element, which may be
  // read.
  bool may_read_between = false;
};

// `count` runs of adjacent bytes, `bytes` each. A run begins `step` bytes, of any sign, behind the
// one before.
struct Runs {
  const Byte* data;
  int64_t bytes;
  int64_t step;
  int64_t count;
};

// out = alpha * a b + beta * out. Steps are in bytes, of any sign.
struct DenseProduct {
  const Byte* a;
  int64_t a_step;  // from row to row; not used where a is packed
  int64_t a_depth_step;
  int64_t a_panel_step;  // from a panel's rows to the next ones; used where both are packed
  // Bytes of all depths of a row, where `multiply` reads rows in place; 0: a is packed.
  int64_t a_row_bytes;
  const Byte* b;         // adjacent columns of a panel, except for multiply_along
  int64_t b_depth_step;  // not used where both are packed
  int64_t b_panel_step;  // from a panel's columns to the next ones; not used where it is streamed
  int64_t b_step;        // from column to column; used by multiply_along only
  int64_t depth;
  Byte* out;
  int64_t row_step;
  int64_t column_step;
  int64_t rows;
  int64_t columns;
  const Byte* alpha;
  const Byte* beta;  // nullptr: 0, and out is not read
  bool is_narrow;    // elements of out are bf16, to which sums are rounded; columns are adjacent
  // For multiply_scattered: addresses of the rows of a, one for each row of a panel, in each part
  // of part_depth adjacent depths, part after part. With a part_step other than 0 only the first
  // part has addresses, and each part begins part_step bytes behind the one before.
  const Byte* const* a_rows;
  int64_t part_depth;
  int64_t part_step;
  // Memory that holds the sums between depths, in rows of whole vectors; nullptr: registers hold
  // them.
  Byte* sums;
  int64_t sums_step;
  bool is_far;  // no cache holds b, whose lines are better fetched ahead
  // Lines that are packed after this product, and fetched meanwhile where both factors of it are
  // packed. Without any, the panels of b are fetched ahead.
  Runs next;
};

// out = min(max(out + bias, low), high). Steps are in bytes, of any sign.
struct Epilogue {
  Byte* out;
  int64_t row_step;
  int64_t column_step;
  int64_t rows;
  int64_t columns;
  const Byte* bias;  // of each column; nullptr: none
  int64_t bias_step;
  const Byte* low;  // a number as the sums are, integers signed; NaN stays NaN
  const Byte* high;
};

// Kernels of one type of sums. An element of out is alpha times one sum, which begins at 0 and
// takes the products one after the other, in order of depth and by FMA where the set has it; so it
// is the same by each of the kernels.
struct Gemm {
  int64_t panel_rows;
  int64_t panel_columns;
  // Multiplies factors that are both packed.
  void (*multiply)(const DenseProduct& product);
  // Whether `multiply` also reads rows with adjacent depths in place.
  bool reads_rows;
  // Whether it takes a product that is narrow.
  bool narrows;
  // Multiplies factors that need not be packed. nullptr: both must be packed.
  void (*multiply_unpacked)(const DenseProduct& product);
  // Multiplies as multiply_unpacked does, some depths of all columns at a time. `sums` has room for
  // the rows of the product, each of whole panels, aligned to a line.
  void (*multiply_streamed)(const DenseProduct& product);
  // Multiplies at most a panel's rows, which may be anywhere; b is packed. nullptr: both must be
  // packed.
  void (*multiply_scattered)(const DenseProduct& product);
  // Multiplies as multiply_unpacked does, by a right factor with adjacent depths. One read of its
  // elements serves along_rows rows.
  int64_t along_rows;
  void (*multiply_along)(const DenseProduct& product);
  void (*run_epilogue)(const Epilogue& epilogue);
};

// Types of sums: rows of the tables of Gemm. The lanes of the first table's types are factors as
// they are; whole numbers, which wrap, and bf16 have lanes of their own.
enum class SumType : uint8_t { kF64, kF32, kI32, kOfBF16 };
inline constexpr unsigned kPlainSumTypeCount = 2;

// Kernels of bytes: of a left factor of i8 and u8, by a right one of i8 and u8.
using ByteGemmTable = Gemm[2][2];

// Packing of one dtype. Counts, depths and steps are those of elements; panels have as many rows
// and columns as those of its sums.
struct FactorPacking {
  int64_t depths;  // to a lane
  // 1 where a panel begins with a lane of each row or column that is added to every sum of it, and
  // counts as a depth of the product; else 0.
  int64_t starts;
  // Bytes that may be written behind the last panel.
  int64_t slack_bytes;
  void (*rows)(const Factor& from, Byte* to);
  void (*columns)(const Factor& from, Byte* to);
  // A panel of rows, or of columns; nullptr: not of this dtype.
  void (*scattered)(const ScatteredRows& from, Byte* to);
  void (*scattered_columns)(const ScatteredRows& from, Byte* to);
};

// Dtypes of factors: rows of the table of FactorPacking, except bf16 and bytes. The packing of bf16
// and bytes depends on the products that the processor has; the packing of bytes also depends on
// the other factor's dtype.
enum class FactorType : uint8_t { kF64, kF32, kF16, kC128, kC64, kBF16, kI8, kU8 };
inline constexpr unsigned kFactorTypeCount = 8;
inline constexpr unsigned kPlainFactorTypeCount = 5;

}  // namespace tenure::kernels
