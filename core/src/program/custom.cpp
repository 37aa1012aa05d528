#include "program/custom.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "base/callback.hpp"
#include "memory/scratch.hpp"
#include "program/side_by_side.hpp"
#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

constexpr std::uint32_t kMostOperands = 256;
constexpr std::size_t kGuardBytes = 256;

// A status of a function, as an error.
void require_ok(tnr_status status, const char* name, const char* function) {
  if (status == TNR_STATUS_OK) return;
  const bool is_known = std::strcmp(status_name(status), "UNKNOWN") != 0;
  fail(is_known ? status : TNR_STATUS_INTERNAL,
       "%s of the custom operation %s answered %s (%" PRId32 ")", function, name,
       status_name(status), status);
}

// Calls a function of others: whatever it throws is INTERNAL.
template <class Call>
void guard_call(const char* name, const char* function, const Call& call) {
  tnr_status status = TNR_STATUS_INTERNAL;
  // It may make what lives on.
  const ScratchArena::Use none(nullptr);
  try {
    status = call();
  } catch (...) {
    fail(TNR_STATUS_INTERNAL, "%s of the custom operation %s threw an exception", function, name);
  }
  require_ok(status, name, function);
}

}  // namespace

Custom::Custom(const tnr_custom_operation& operation) : given_(operation) {
  if (operation.name == nullptr) fail(TNR_STATUS_INVALID_ARGUMENT, "operation->name is NULL");
  const std::size_t length = strnlen(operation.name, sizeof name_);
  if (length == 0 || length == sizeof name_) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "operation->name has %s bytes but 1 to %zu are taken",
         length == 0 ? "no" : "more", sizeof name_ - 1);
  }
  std::memcpy(name_, operation.name, length + 1);
  if (operation.infer == nullptr || operation.compute == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "operation->%s is NULL",
         operation.infer == nullptr ? "infer" : "compute");
  }
  if (operation.operand_count > kMostOperands || operation.number_count > TNR_MAX_RANK) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "the operation takes %" PRIu32 " operands and %" PRIu32 " numbers, but at most %" PRIu32
         " and %d",
         operation.operand_count, operation.number_count, kMostOperands, TNR_MAX_RANK);
  }
  if ((operation.flags & ~TNR_CUSTOM_IN_PLACE) != 0 || operation.reserved != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "operation->%s is unknown",
         operation.reserved != 0 ? "reserved" : "flags");
  }
}

Custom::~Custom() {
  if (given_.release == nullptr) return;
  const LastErrorKept kept;
  given_.release(given_.user_context);
}

ArrayType Custom::infer(const tnr_view* operands, const std::int64_t* numbers) const {
  ArrayType type = {};
  std::int64_t shape[TNR_MAX_RANK] = {};
  guard_call(name_, "infer", [&] {
    return given_.infer(given_.user_context, operands, given_.operand_count, numbers,
                        given_.number_count, &type.dtype, &type.rank, shape);
  });
  if (type.rank > TNR_MAX_RANK) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "infer of the custom operation %s gave rank %" PRIu32, name_,
         type.rank);
  }
  std::copy_n(shape, type.rank, type.shape);
  (void)row_major_bytes(type.dtype, type.rank, type.shape);
  return type;
}

void Custom::compute(const tnr_view* operands, const std::int64_t* numbers,
                     const tnr_view_mut& out) const {
  guard_call(name_, "compute", [&] {
    return given_.compute(given_.user_context, operands, given_.operand_count, numbers,
                          given_.number_count, &out);
  });
}

void Custom::compute_checked(const tnr_view* operands, const std::int64_t* numbers,
                             const tnr_view_mut& out) const {
  const ArrayType type = type_of(out.view);
  const std::size_t size_bytes = row_major_bytes(type.dtype, type.rank, type.shape);
  const Scratch memory(2 * (size_bytes + 2 * kGuardBytes));
  tnr_view views[2];
  constexpr unsigned char kPatterns[] = {0xA5, 0x5A};
  for (unsigned i = 0; i < 2; ++i) {
    kernels::Byte* const before = memory.data() + i * (size_bytes + 2 * kGuardBytes);
    std::memset(before, kPatterns[i], size_bytes + 2 * kGuardBytes);
    views[i] =
        make_view(before + kGuardBytes, size_bytes, 0, type.dtype, type.rank, type.shape, nullptr);
    views[i].flags = TNR_VIEW_EXCLUSIVE;
    compute(operands, numbers, {views[i]});
    const auto is_whole = [&](const kernels::Byte* guard) {
      return std::all_of(guard, guard + kGuardBytes,
                         [&](kernels::Byte byte) { return byte == kPatterns[i]; });
    };
    if (!is_whole(before) || !is_whole(before + kGuardBytes + size_bytes)) {
      fail(TNR_STATUS_INTERNAL, "the custom operation %s wrote outside of its output", name_);
    }
  }
  if (size_bytes != 0 && std::memcmp(views[0].data, views[1].data, size_bytes) != 0) {
    fail(TNR_STATUS_INTERNAL,
         "the custom operation %s left an element unwritten, or gave two results", name_);
  }
  views[0].flags = 0;
  copy(kDefaultContext, views[0], out);
}

ArrayType infer_custom(const NodeCall& call, const OperandType* operands) {
  const GraphNode& node = call.node;
  SideBySide views(node.operands.size());
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (operands[i].array == nullptr) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "operands[%zu] is no array", i);
    }
    views.data()[i] = unbacked_view(*operands[i].array);
    // Nobody reads through an address that is none.
    views.data()[i].data = views.data()[i].base = nullptr;
    views.data()[i].size_bytes = 0;
  }
  return node.custom->infer(views.data(), call.numbers);
}

void run_custom(const Context&, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  const GraphNode& node = call.node;
  SideBySide views(node.operands.size());
  for (std::size_t i = 0; i < node.operands.size(); ++i) views.data()[i] = *operands[i].view;
  if (call.is_checked) {
    node.custom->compute_checked(views.data(), call.numbers, out);
  } else {
    node.custom->compute(views.data(), call.numbers, out);
  }
}

}  // namespace tenure
