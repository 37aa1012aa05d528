// Products by weights of 4 bits, whose columns have a scale for each group of depths.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// Depths of a block. A group has 1, 2 or 4 blocks.
inline constexpr int64_t kNibbleBlock = 32;

// A panel of columns is its groups, one after the other: the blocks of a group, and then the scales
// of its columns in f32. A block has 4 rows of 8 depths; a row has 4 bytes for each column, with the
// values of depths 0 to 3 in their lower halves and of 4 to 7 in the upper ones, each plus 8.
constexpr int64_t nibble_group_bytes(int64_t columns, int64_t group) {
  return columns * (group / 2 + 4);
}

// Rows of integers by a panel. Columns beyond those of the matrix have a scale of 0.
struct NibbleProduct {
  const Byte* a;  // i8
  int64_t a_step;
  // A number for each group, `groups` to a row, from the first row on. A term is -8 times the sum of
  // the group's values.
  const float* a_scales;
  const int32_t* a_terms;
  const Byte* b;
  int64_t rows;
  int64_t groups;
  int64_t blocks;  // of a group
  Byte* out;       // f32, all columns of the panel
  int64_t row_step;
};

struct NibbleKernels {
  int64_t panel_columns;
  // An element is the sum of
  //     sum of products * (a_scale * b_scale)
  // over the groups in their order, each operation rounded by itself.
  void (*multiply)(const NibbleProduct& product);
};

}  // namespace tenure::kernels
