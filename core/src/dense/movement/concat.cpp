// Arrays one behind the other along an axis.
#include <algorithm>
#include <cinttypes>

#include "dense/movement.hpp"
#include "dense/movement/pieces.hpp"
#include "memory/scratch.hpp"
#include "tenure/counters.hpp"
#include "tenure/movement.hpp"
#include "tenure/part_name.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

// A part of the result, which is pinned during the call.
struct PinnedPart {
  Pins pins;
  std::int64_t begin;  // on the axis of the output
};

void require_part_shape(const tnr_view& part, const char* name, std::uint32_t axis,
                        const tnr_view& out) {
  require_rank(part, name, out.rank);
  for (std::uint32_t i = 0; i < out.rank; ++i) {
    if (i == axis || part.shape[i] == out.shape[i]) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s.shape[%" PRIu32 "] is %" PRId64 " but out.shape[%" PRIu32 "] is %" PRId64, name, i,
         part.shape[i], i, out.shape[i]);
  }
}

// Checks a part, and pins it; returns where the next one begins.
std::int64_t add_part(const tnr_view& view, std::uint32_t index, std::uint32_t axis,
                      const tnr_view& out, std::int64_t begin, PinnedPart& part) {
  const PartName name(index);
  check_view(view, name);
  require_dtype(view, name, out.dtype, "out.dtype is");
  require_part_shape(view, name, axis, out);
  part.pins.add(view, name);
  require_alias(out, view, name, SameView::kRefused);
  part.begin = begin;
  std::int64_t end;
  if (__builtin_add_overflow(begin, view.shape[axis], &end)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "extents of the parts add up to more than INT64_MAX");
  }
  return end;
}

}  // namespace

void concat(const Context& context, const tnr_view* parts, std::uint32_t part_count,
            std::uint32_t axis, const tnr_view_mut& out) {
  check_view_mut(out, "out");
  Pins out_pins;
  out_pins.add_mut(out, "out");
  if (part_count == 0) fail(TNR_STATUS_INVALID_ARGUMENT, "part_count is 0");
  if (parts == nullptr) fail(TNR_STATUS_INVALID_ARGUMENT, "parts is NULL");
  const tnr_view& whole = out.view;
  require_axis(axis, whole, "out");
  FewOnStack<PinnedPart, 4> memory(part_count);
  PinnedPart* const joined = memory.data();
  std::int64_t end = 0;
  for (std::uint32_t i = 0; i < part_count; ++i) {
    end = add_part(parts[i], i, axis, whole, end, joined[i]);
  }
  if (end != whole.shape[axis]) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "out.shape[%" PRIu32 "] is %" PRId64 " but the extents of the parts add up to %" PRId64,
         axis, whole.shape[axis], end);
  }
  if (is_empty(whole)) return count_call(TNR_OPERATION_CONCAT, 0, 0);

  const std::int64_t call_bytes = 2 * moved_bytes(whole);
  const PartCopier copier(whole, call_bytes);
  copier.touch_output(context);
  Pieces(whole, call_bytes).for_each(context, [&](const Box& box) noexcept {
    const PinnedPart* const after = std::upper_bound(
        joined, joined + part_count, box.first[axis],
        [](std::int64_t index, const PinnedPart& part) { return index < part.begin; });
    for (auto i = static_cast<std::size_t>(after - joined) - 1; i < part_count; ++i) {
      const std::int64_t begin = joined[i].begin;
      Box from = box;
      from.first[axis] = std::max<std::int64_t>(box.first[axis] - begin, 0);
      from.end[axis] = std::min(box.end[axis] - begin, parts[i].shape[axis]);
      if (begin >= box.end[axis]) break;
      if (from.first[axis] >= from.end[axis]) continue;  // an empty part
      Box to = box;
      to.first[axis] = begin + from.first[axis];
      to.end[axis] = begin + from.end[axis];
      copier.copy(part_of(parts[i], from), part_of(whole, to));
    }
  });
  std::uint64_t read_bytes = 0;
  for (std::uint32_t i = 0; i < part_count; ++i) {
    if (!is_empty(parts[i])) read_bytes += element_bytes(parts[i]);
  }
  count_call(TNR_OPERATION_CONCAT, read_bytes, element_bytes(whole));
}

}  // namespace tenure
