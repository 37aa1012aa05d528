// Packed matrices: entries of compressed rows in fewer bytes, to be multiplied by vectors.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// Rows of a strip, which its tiles share. Few enough for their sums to stay in the first cache, and
// for neighbours in a band to be near each other.
inline constexpr int64_t kStripRows = 64;

// Entries of one strip whose columns are near each other.
struct PackedTile {
  int64_t first_column;
  int64_t first_entry;
  uint32_t ends[kStripRows];  // of each row's entries, counted from the first
};

// Columns as numbers above those that their tiles begin with. The sum of a row is that of its
// tiles, in their order.
struct PackedTiles {
  int64_t rows;
  int64_t cols;
  const int64_t* strips;  // strip s has the tiles strips[s] to strips[s + 1]
  const PackedTile* tiles;
  const Byte* columns;
  const Byte* values;
};

// A bit for each element, columns from the lowest bit of the first word of a row on, and the values
// of those that are set.
inline constexpr int64_t kWordBits = 64;
struct Bitmap {
  int64_t rows;
  int64_t cols;
  const int64_t* offsets;  // of the values of each row
  const uint64_t* words;
  const Byte* values;  // a register's length behind the last can be read
};

// out = alpha * a x + beta * out; alpha and beta as Matmul has them.
struct PackedProduct {
  // Adjacent, of the type that is computed in: f32 for f16 and bf16. Or spaced: elements of the
  // operand's own type, x_step bytes apart. Tiles read only the spaced elements that entries name;
  // bitmaps, of at most kSpacedBitmapRows rows, read all.
  const Byte* x;
  bool is_spaced;
  int64_t x_step;  // read where it is spaced
  Byte* out;
  int64_t out_step;  // bytes
  const Byte* alpha;
  const Byte* beta;
};

// Few enough for their sums to stay in the first cache while x is fetched once for all.
inline constexpr int64_t kSpacedBitmapRows = 32;

inline constexpr unsigned kPackedFloatCount = 4;  // of Type: f64, f32, f16 and bf16
struct PackedKernels {
  // Strips [begin, end): of columns of 16 bits, and of 32. One tile's part of a row is added up as
  // a row of f32 or f64 of Matmul is; of floats of 16 bits 512 entries at a time.
  void (*tiles[2])(const PackedProduct&, const PackedTiles&, int64_t begin, int64_t end);
  // Rows [begin, end). Columns take turns in sums of 128 bytes, which are folded by halves.
  void (*bitmap)(const PackedProduct&, const Bitmap&, int64_t begin, int64_t end);
};

}  // namespace tenure::kernels
