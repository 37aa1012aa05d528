#include "program/unbacked.hpp"

#include <algorithm>

#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/status.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

// Whole lines, so that alignment is no question.
constexpr std::uintptr_t kPlaceBytes = 64;

}  // namespace

tnr_view unbacked_view(const ArrayType& type, const std::int64_t* strides, unsigned place) {
  const auto element_bytes = static_cast<std::int64_t>(element_size(type.dtype));
  std::size_t size_bytes = row_major_bytes(type.dtype, type.rank, type.shape);
  std::int64_t lowest = 0;
  if (strides != nullptr && size_bytes != 0) {
    std::int64_t highest = 0;
    bool overflows = false;
    for (std::uint32_t axis = 0; axis < type.rank; ++axis) {
      if (type.shape[axis] == 1) continue;
      std::int64_t reach;
      overflows |= __builtin_mul_overflow(type.shape[axis] - 1, strides[axis], &reach);
      std::int64_t& end = reach < 0 ? lowest : highest;
      overflows |= __builtin_add_overflow(end, reach, &end);
    }
    std::int64_t span;
    overflows |= __builtin_sub_overflow(highest, lowest, &span);
    overflows |= __builtin_add_overflow(span, 1, &span);
    overflows |= __builtin_mul_overflow(span, element_bytes, &span);
    if (overflows) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "strides %s of shape %s reach beyond all memory",
           shape_text(type.rank, strides).text, shape_text(type.rank, type.shape).text);
    }
    size_bytes = static_cast<std::size_t>(span);
  }
  // make_view() would check the shape again, for several views of each node.
  tnr_view view{};
  view.base = reinterpret_cast<const void*>((1 + place) * kPlaceBytes);
  view.data = static_cast<const char*>(view.base) - lowest * element_bytes;
  view.size_bytes = size_bytes;
  view.dtype = type.dtype;
  view.rank = type.rank;
  view.device = kCpu;
  std::copy_n(type.shape, type.rank, view.shape);
  if (strides == nullptr) {
    set_row_major_strides(view);
  } else {
    std::copy_n(strides, type.rank, view.strides);
  }
  return view;
}

tnr_view of_nothing(const ArrayType& type) { return unbacked_view({type.dtype, type.rank, {}}); }

bool has_no_gap(const tnr_view& view) noexcept {
  if (is_empty(view)) return false;
  const std::int64_t count = element_count(view);
  // The axis on which the elements so far repeat, and so on outwards.
  for (std::int64_t adjacent = 1; adjacent != count;) {
    std::uint32_t axis = 0;
    while (axis < view.rank && (view.shape[axis] <= 1 || view.strides[axis] != adjacent)) ++axis;
    if (axis == view.rank) return false;
    adjacent *= view.shape[axis];
  }
  return true;
}

bool is_channels_last(const tnr_view& view) noexcept {
  const std::int64_t channels = view.shape[1];
  return channels > 1 && view.strides[1] == 1 && view.strides[3] >= channels;
}

tnr_view channels_last(const ArrayType& type) {
  const std::int64_t channels = std::max<std::int64_t>(type.shape[1], 1);
  const std::int64_t row = channels * std::max<std::int64_t>(type.shape[3], 1);
  const std::int64_t image = row * std::max<std::int64_t>(type.shape[2], 1);
  const std::int64_t strides[] = {image, 1, row, channels};
  return unbacked_view(type, strides);
}

ArrayType type_of(const tnr_view& view) noexcept {
  ArrayType type = {view.dtype, view.rank, {}};
  std::copy_n(view.shape, view.rank, type.shape);
  return type;
}

}  // namespace tenure
