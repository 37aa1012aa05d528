// Extents and strides: arithmetic that cannot overflow unseen, and layouts made from shapes.
#pragma once

#include <cstdint>

#include "tenure/tenure.h"

namespace tenure {

// Most bytes that one object can span; no view reaches further.
inline constexpr std::int64_t kMaxSpanBytes = INT64_MAX;

// Number of elements; 0 when an extent is 0. The extents have passed check_view().
std::int64_t element_count(const tnr_view& view) noexcept;

// Writes row-major strides for view.shape and view.rank; extents of 0 count as 1, so that the
// strides stay meaningful. Throws INVALID_ARGUMENT when they overflow.
void set_row_major_strides(tnr_view& view);

// Whether the elements in row-major order are adjacent in memory; axes of extent <= 1 do not count.
bool is_row_major(const tnr_view& view) noexcept;

// "[2, 3]" into a buffer large enough for any shape of rank 8, for messages.
struct ShapeText {
  char text[192];
};
ShapeText shape_text(std::uint32_t rank, const std::int64_t* shape) noexcept;

}  // namespace tenure
