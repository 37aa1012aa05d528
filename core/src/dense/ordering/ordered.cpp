#include "dense/ordering/ordered.hpp"

#include <cinttypes>
#include <utility>

#include "dense/ordering/records.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

void check_ordered_output(const Ordered& call, const tnr_view_mut& out, const char* name,
                          tnr_dtype dtype, OrderExtent extent, const tnr_device& device) {
  check_operand_mut(out, name, device);
  require_rank(out.view, name, call.a.rank);
  for (std::uint32_t axis = 0; axis < call.a.rank; ++axis) {
    const bool is_free = axis == call.axis && extent == OrderExtent::kFirst;
    const std::int64_t expected = is_free ? call.kept() : call.a.shape[axis];
    if (out.view.shape[axis] != expected) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "%s.shape[%" PRIu32 "] is %" PRId64 " but must be %" PRId64,
           name, axis, out.view.shape[axis], expected);
    }
  }
  if (out.view.dtype != dtype) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.dtype is %s but must be %s", name,
         dtype_name(out.view.dtype), dtype_name(dtype));
  }
}

}  // namespace

unsigned check_ordered(const char* operation, const Ordered& call, OrderExtent extent,
                       const tnr_device& device) {
  check_operand(call.a, "a", device);
  if (call.indices == nullptr && call.out == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "indices and out are NULL but one of them is needed");
  }
  if (call.axis >= call.a.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "axis is %" PRIu32 " but a.rank is %" PRIu32, call.axis,
         call.a.rank);
  }
  const unsigned type = type_index(call.a.dtype);
  if (type == kNoType) refuse_dtype(operation, call.a.dtype);
  const bool keeps_extent = extent != OrderExtent::kFirst;
  if (call.out != nullptr) {
    check_ordered_output(call, *call.out, "out", call.a.dtype, extent, device);
  }
  if (call.indices != nullptr) {
    check_ordered_output(call, *call.indices, "indices", TNR_DTYPE_I64, extent, device);
    if (alias_of(call.indices->view, call.a) != Alias::kNone) {
      fail(TNR_STATUS_ALIASED, "indices shares bytes with a");
    }
  }
  if (call.out != nullptr) {
    require_alias(call.out->view, call.a, "a",
                  keeps_extent ? SameView::kAllowed : SameView::kRefused);
    if (call.indices != nullptr) {
      require_alias(call.out->view, call.indices->view, "indices", SameView::kRefused);
    }
  }
  if (call.kept() > call.extent()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "k is %" PRId64 " but a.shape[%" PRIu32 "] is %" PRId64,
         call.kept(), call.axis, call.extent());
  }
  return type;
}

std::uint64_t pin_ordered(const Ordered& call, Pins& pins) {
  std::uint64_t written = 0;
  for (const auto& [view, name] :
       {std::pair{call.out, "out"}, std::pair{call.indices, "indices"}}) {
    if (view == nullptr) continue;
    pins.add_mut(*view, name);
    written += element_bytes(view->view);
  }
  pins.add(call.a, "a");
  return written;
}

}  // namespace tenure
