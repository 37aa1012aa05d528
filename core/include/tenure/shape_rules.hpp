// Shape rules: the shapes that results have, or why there is none.
//
// They are noexcept and need no memory, because preallocated runs use them too. Calls throw the
// Refusal. Shapes are checked: ranks are at most TNR_MAX_RANK and extents are not negative.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tenure/status.hpp"
#include "tenure/tenure.h"

namespace tenure {

// The number of elements of a shape of any rank and extents: refuses ranks over TNR_MAX_RANK,
// negative extents, and more than TNR_MAX_ELEMENTS elements. 0 where an extent is 0.
Refusal count_elements(std::uint32_t rank, const std::int64_t* shape, std::int64_t& count) noexcept;

// Replaces an extent by that of a slice of the axis from `start` up to `stop`.
Refusal slice_extent(std::int64_t& extent, std::int64_t start, std::int64_t stop,
                     std::int64_t step) noexcept;

// Refuses a shape with another number of elements than `from` has.
Refusal reshaped(std::uint32_t from_rank, const std::int64_t* from, std::uint32_t rank,
                 const std::int64_t* shape) noexcept;

// Refuses a shape to which `from` does not broadcast.
Refusal broadcast_to(std::uint32_t from_rank, const std::int64_t* from, std::uint32_t rank,
                     const std::int64_t* shape) noexcept;

// Extends a shape to that of an element-wise result with another operand, as NumPy does: axes are
// aligned at the last one, extents of 1 repeat. False, with a shape that is changed in part, where
// two extents differ and neither is 1.
inline bool broadcast_with(std::uint32_t& rank, std::int64_t* shape, std::uint32_t other_rank,
                           const std::int64_t* other) noexcept {
  if (other_rank > rank) {
    const std::uint32_t more = other_rank - rank;
    std::copy_backward(shape, shape + rank, shape + other_rank);
    std::fill_n(shape, more, 1);
    rank = other_rank;
  }
  for (std::uint32_t axis = 0; axis < other_rank; ++axis) {
    std::int64_t& extent = shape[rank - other_rank + axis];
    if (extent == other[axis] || other[axis] == 1) continue;
    if (extent != 1) return false;
    extent = other[axis];
  }
  return true;
}

// Replaces a shape by that of a reduction over `axes`.
inline void reduce_shape(std::uint32_t& rank, std::int64_t* shape, std::uint32_t axes,
                         bool keeps_axes) noexcept {
  std::uint32_t kept = 0;
  for (std::uint32_t axis = 0; axis < rank; ++axis) {
    const bool is_reduced = (axes >> axis & 1u) != 0;
    if (is_reduced && !keeps_axes) continue;
    shape[kept++] = is_reduced ? 1 : shape[axis];
  }
  rank = kept;
}

}  // namespace tenure
