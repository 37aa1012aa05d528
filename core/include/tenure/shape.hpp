// Extents and strides: arithmetic that cannot overflow unseen, and layouts made from shapes.
#pragma once

#include <cstdint>

#include "tenure/dtype.hpp"
#include "tenure/tenure.h"

namespace tenure {

// Most bytes that one object can span; no view reaches further.
inline constexpr std::int64_t kMaxSpanBytes = INT64_MAX;

// Whether an extent is 0. view.rank is at most TNR_MAX_RANK.
inline bool is_empty(const tnr_view& view) noexcept {
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    if (view.shape[axis] == 0) return true;
  }
  return false;
}

// Number of elements; 0 when an extent is 0. The view has passed check_view().
inline std::int64_t element_count(const tnr_view& view) noexcept {
  // Unsigned, because the product of the other extents of an empty shape may overflow.
  std::uint64_t count = 1;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    count *= static_cast<std::uint64_t>(view.shape[axis]);
  }
  return static_cast<std::int64_t>(count);
}

// Elements from one index of an axis to the next: 0 on an axis of one element and in an empty view,
// whose strides lead nowhere and may be any numbers.
inline std::int64_t stride_of(const tnr_view& view, std::uint32_t axis) noexcept {
  return view.shape[axis] > 1 && !is_empty(view) ? view.strides[axis] : 0;
}
// Bytes from one index of an axis to the next; 0 where stride_of() is 0.
inline std::int64_t step_of(const tnr_view& view, std::uint32_t axis) noexcept {
  return stride_of(view, axis) * static_cast<std::int64_t>(element_size(view.dtype));
}

// Number of elements of a shape that a caller gave. Throws INVALID_ARGUMENT for a rank over
// TNR_MAX_RANK, NULL with a rank over 0, a negative extent, and more than TNR_MAX_ELEMENTS
// elements (an extent of 0 makes the product 0, however large the others are).
std::int64_t checked_element_count(std::uint32_t rank, const std::int64_t* shape);

// Writes row-major strides for view.shape and view.rank; extents of 0 count as 1, so that the
// strides stay meaningful. Throws INVALID_ARGUMENT as checked_element_count(); a stride of an empty
// shape that does not fit is 0, because no index will ever use it.
void set_row_major_strides(tnr_view& view);

// Whether the elements in row-major order are adjacent in memory; axes of extent <= 1 do not count.
inline bool is_row_major(const tnr_view& view) noexcept {
  if (is_empty(view)) return true;
  std::int64_t expected_stride = 1;
  for (std::uint32_t axis = view.rank; axis-- > 0;) {
    if (view.shape[axis] == 1) continue;
    if (view.strides[axis] != expected_stride) return false;
    expected_stride *= view.shape[axis];
  }
  return true;
}

// Whether the dtypes, the shapes and the strides of extents over 1 are equal.
inline bool has_layout(const tnr_view& view, const tnr_view& layout) noexcept {
  if (view.dtype != layout.dtype || view.rank != layout.rank) return false;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    if (view.shape[axis] != layout.shape[axis]) return false;
    if (view.shape[axis] > 1 && view.strides[axis] != layout.strides[axis]) return false;
  }
  return true;
}

// "[2, 3]" into a buffer large enough for any shape of rank 8, for messages.
struct ShapeText {
  char text[192];
};
ShapeText shape_text(std::uint32_t rank, const std::int64_t* shape) noexcept;

}  // namespace tenure
