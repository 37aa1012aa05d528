// Elements in other places, on a device.
#include <algorithm>

#include "program/device/calls.hpp"
#include "tenure/device.hpp"
#include "tenure/movement.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

// The part of an axis of the output that shows the input.
struct Shown {
  std::int64_t begin;
  std::int64_t end;
};
Shown shown(std::int64_t before, std::int64_t extent, std::int64_t out_extent) noexcept {
  const std::int64_t begin = std::clamp<std::int64_t>(before, 0, out_extent);
  // `before` plus an extent may be no number.
  const bool is_cut = before > out_extent || out_extent - before < extent;
  return {begin, is_cut ? out_extent : std::max(before + extent, begin)};
}

}  // namespace

void run_device_concat(const Context& context, const NodeCall& call, const OperandView* operands,
                       const tnr_view_mut& out) {
  const auto axis = static_cast<std::uint32_t>(call.numbers[0]);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < call.node.operands.size(); ++i) {
    const tnr_view& part = *operands[i].view;
    tnr_view to = slice(out.view, axis, begin, begin + part.shape[axis], 1);
    to.flags = TNR_VIEW_EXCLUSIVE;
    copy(context, part, {to});
    begin += part.shape[axis];
  }
}

void run_device_pad(const Context& context, const NodeCall& call, const OperandView* operands,
                    const tnr_view_mut& out) {
  const tnr_pad_attributes& attributes = call.node.attributes.pad;
  tnr_view from = *operands[0].view;
  tnr_view to = out.view;
  bool is_whole = true;
  for (std::uint32_t axis = 0; axis < to.rank; ++axis) {
    const std::int64_t before = attributes.before[axis];
    const auto [begin, end] = shown(before, from.shape[axis], to.shape[axis]);
    is_whole = is_whole && end - begin == to.shape[axis];
    from = slice(from, axis, begin == end ? 0 : begin - before, begin == end ? 0 : end - before, 1);
    to = slice(to, axis, begin, end, 1);
  }
  if (!is_whole) {
    tnr_scalar value = attributes.value;
    if (value.dtype == 0) value.dtype = out.view.dtype;
    fill(context, value, out);
  }
  to.flags = TNR_VIEW_EXCLUSIVE;
  copy(context, from, {to});
}

}  // namespace tenure
