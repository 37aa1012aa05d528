#include "tenure/shape.hpp"

#include <cinttypes>
#include <cstdio>

#include "tenure/shape_rules.hpp"

namespace tenure {

std::int64_t checked_element_count(std::uint32_t rank, const std::int64_t* shape) {
  std::int64_t count;
  require_none(count_elements(rank, shape, count));
  return count;
}

void set_row_major_strides(tnr_view& view) {
  checked_element_count(view.rank, view.shape);
  std::int64_t stride = 1;
  for (std::uint32_t axis = view.rank; axis-- > 0;) {
    view.strides[axis] = stride;
    const std::int64_t extent = view.shape[axis] == 0 ? 1 : view.shape[axis];
    if (__builtin_mul_overflow(stride, extent, &stride)) stride = 0;
  }
}

ShapeText shape_text(std::uint32_t rank, const std::int64_t* shape) noexcept {
  // 8 numbers of at most 20 characters, 7 separators of 2, the brackets and the NUL.
  static_assert(sizeof(ShapeText::text) >= TNR_MAX_RANK * 20 + (TNR_MAX_RANK - 1) * 2 + 3);
  ShapeText result;
  char* end = result.text;
  *end++ = '[';
  for (std::uint32_t axis = 0; axis < rank && axis < TNR_MAX_RANK; ++axis) {
    end += std::sprintf(end, axis == 0 ? "%" PRId64 : ", %" PRId64, shape[axis]);
  }
  *end++ = ']';
  *end = '\0';
  return result;
}

}  // namespace tenure
