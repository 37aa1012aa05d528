// Views of arrays that have no memory yet, for checks and to find the offsets of their parts.
#pragma once

#include "base/array_type.hpp"
#include "tenure/tenure.h"

namespace tenure {

// Passes check_view(), and is never read. In row-major order where `strides` is nullptr. Throws
// UNSUPPORTED and INVALID_ARGUMENT as row_major_bytes(), and for strides that reach beyond memory.
// Views of different places do not begin at the same address.
tnr_view unbacked_view(const ArrayType& type, const std::int64_t* strides = nullptr,
                       unsigned place = 0);

// A view of this dtype and rank whose extents are 0; a rank of 0 has one element. An operation on
// views without elements makes the checks that do not depend on shapes, and computes nothing.
tnr_view of_nothing(const ArrayType& type);

// A view of images with adjacent channels.
tnr_view channels_last(const ArrayType& type);
bool is_channels_last(const tnr_view& view) noexcept;

// Whether the elements are adjacent, in any order of the axes.
bool has_no_gap(const tnr_view& view) noexcept;

ArrayType type_of(const tnr_view& view) noexcept;

// The distance from the first element of `whole` to that of `part`, a view of the same memory.
inline std::int64_t bytes_between(const tnr_view& whole, const tnr_view& part) noexcept {
  return static_cast<const char*>(part.data) - static_cast<const char*>(whole.data);
}

}  // namespace tenure
