#include "tenure/shape_rules.hpp"

#include <cinttypes>

#include "tenure/shape.hpp"

namespace tenure {

Refusal count_elements(std::uint32_t rank, const std::int64_t* shape,
                       std::int64_t& count) noexcept {
  if (rank > TNR_MAX_RANK) [[unlikely]] {
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "rank is %" PRIu32 " but must be at most %d", rank,
                    TNR_MAX_RANK);
  }
  if (rank != 0 && shape == nullptr) [[unlikely]]
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "shape is NULL but rank is %" PRIu32, rank);
  count = 1;
  bool empty = false;
  bool overflow = false;
  for (std::uint32_t axis = 0; axis < rank; ++axis) {
    if (shape[axis] < 0) [[unlikely]] {
      return error_of(TNR_STATUS_INVALID_ARGUMENT,
                      "shape[%" PRIu32 "] is %" PRId64 " but must not be negative", axis,
                      shape[axis]);
    }
    empty |= shape[axis] == 0;
    overflow |= __builtin_mul_overflow(count, shape[axis], &count);
  }
  if (empty) {
    count = 0;
  } else if (overflow || count > TNR_MAX_ELEMENTS) [[unlikely]] {
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "shape %s has more than %" PRId64 " elements",
                    shape_text(rank, shape).text, std::int64_t{TNR_MAX_ELEMENTS});
  }
  return std::nullopt;
}

Refusal slice_extent(std::int64_t& extent, std::int64_t start, std::int64_t stop,
                     std::int64_t step) noexcept {
  if (step == 0) [[unlikely]]
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "step is 0 but must not be");
  const std::int64_t before_first = step > 0 ? 0 : -1;
  const std::int64_t last = extent + before_first;
  const auto bound = [&](std::int64_t value, const char* name) -> Refusal {
    if (value >= before_first && value <= last) [[likely]]
      return std::nullopt;
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "%s is %" PRId64 " but must lie in %" PRId64 " to %" PRId64, name, value,
                    before_first, last);
  };
  if (Refusal refusal = bound(start, "start")) [[unlikely]]
    return refusal;
  if (Refusal refusal = bound(stop, "stop")) [[unlikely]]
    return refusal;
  const std::int64_t distance = step > 0 ? stop - start : start - stop;
  const auto bits = static_cast<std::uint64_t>(step);
  const std::uint64_t stride = step > 0 ? bits : 0 - bits;
  extent = distance <= 0
               ? 0
               : static_cast<std::int64_t>(static_cast<std::uint64_t>(distance - 1) / stride) + 1;
  return std::nullopt;
}

Refusal reshaped(std::uint32_t from_rank, const std::int64_t* from, std::uint32_t rank,
                 const std::int64_t* shape) noexcept {
  std::int64_t count;
  std::int64_t from_count;
  if (Refusal refusal = count_elements(rank, shape, count)) return refusal;
  if (Refusal refusal = count_elements(from_rank, from, from_count)) return refusal;
  if (count == from_count) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "shape is %s, %" PRId64 " elements, but the view's is %s, %" PRId64,
                  shape_text(rank, shape).text, count, shape_text(from_rank, from).text,
                  from_count);
}

Refusal broadcast_to(std::uint32_t from_rank, const std::int64_t* from, std::uint32_t rank,
                     const std::int64_t* shape) noexcept {
  std::int64_t count;
  if (Refusal refusal = count_elements(rank, shape, count)) return refusal;
  if (rank < from_rank) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "rank is %" PRIu32 " but must be at least the view's, %" PRIu32, rank,
                    from_rank);
  }
  const std::uint32_t added = rank - from_rank;
  for (std::uint32_t axis = 0; axis < from_rank; ++axis) {
    const std::int64_t extent = from[axis];
    if (extent == 1 || extent == shape[added + axis]) continue;
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "shape[%" PRIu32 "] is %" PRId64 " but the view's extent there is %" PRId64
                    ", and only 1 broadcasts",
                    added + axis, shape[added + axis], extent);
  }
  return std::nullopt;
}

}  // namespace tenure
