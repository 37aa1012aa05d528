// Checked nodes with all that they read: views, and results of reductions amid the expression.
#pragma once

#include <cstdint>

#include "cpu/reduce.hpp"
#include "expression/nodes.hpp"
#include "expression/tile_steps.hpp"

namespace tenure {

// A reduction, with what its node says of it.
struct CheckedReduction {
  tnr_reduce_op op;
  kernels::Reduction reduction;
  std::uint32_t ddof;
  double power;
};

// A row-major tensor; data is where it begins.
tnr_view row_major_view(const Extents& shape, tnr_dtype dtype, const void* data) noexcept;

// Elements of the shape; INT64_MAX where they are more.
std::int64_t count_of(const Extents& shape) noexcept;

// Gives a leaf the steps of `view` along the axes of a shape of this rank, to which it broadcasts.
void set_steps(Leaf& leaf, const tnr_view& view, std::uint32_t rank) noexcept;

struct PlacedNodes {
  static constexpr unsigned kMostAmid = kMaxLeaves - kMaxViews - 2;

  // Has the views as leaves; the caller adds those of reductions amid the expression.
  PlacedNodes(const Nodes& checked, const tnr_view_mut& output) noexcept;

  // Gives all leaves steps along the axes of a shape of this rank, to which they broadcast.
  void set_steps(std::uint32_t rank) noexcept;
  // Bytes of the elements of the leaves in `used` and of the output.
  [[nodiscard]] std::int64_t bytes_of(std::uint64_t used) const noexcept;
  // The results of the reduction `i` amid the expression lie there.
  void set_results(unsigned i, const kernels::Byte* place) noexcept;

  const Nodes& nodes;
  const tnr_view_mut& out;
  unsigned leaf_count = 0;
  unsigned amid_count = 0;
  // By reduction amid the expression: the node, the layout of its results, and how it is made.
  std::uint16_t amid[kMostAmid];
  tnr_view amid_results[kMostAmid];
  CheckedReduction reductions[kMostAmid];
  std::uint8_t leaf_of[kMaxNodes];  // by node: the leaf that has its results, or kNoLeaf
  Leaf leaves[kMaxLeaves];
  const tnr_view* sources[kMaxLeaves];  // dtype and shape of a leaf
};

}  // namespace tenure
