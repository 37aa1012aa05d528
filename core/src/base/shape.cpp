#include "tenure/shape.hpp"

#include <cinttypes>
#include <cstdio>

#include "tenure/status.hpp"

namespace tenure {

std::int64_t checked_element_count(std::uint32_t rank, const std::int64_t* shape) {
  if (rank > TNR_MAX_RANK) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "rank is %" PRIu32 " but must be at most %d", rank,
         TNR_MAX_RANK);
  }
  if (rank != 0 && shape == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "shape is NULL but rank is %" PRIu32, rank);
  }
  std::int64_t count = 1;
  bool empty = false;
  bool overflow = false;
  for (std::uint32_t axis = 0; axis < rank; ++axis) {
    if (shape[axis] < 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "shape[%" PRIu32 "] is %" PRId64 " but must not be negative", axis, shape[axis]);
    }
    empty |= shape[axis] == 0;
    overflow |= __builtin_mul_overflow(count, shape[axis], &count);
  }
  if (empty) return 0;
  if (overflow || count > TNR_MAX_ELEMENTS) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "shape %s has more than %" PRId64 " elements",
         shape_text(rank, shape).text, std::int64_t{TNR_MAX_ELEMENTS});
  }
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
