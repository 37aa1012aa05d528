#include "program/custom.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <deque>

#include "base/callback.hpp"
#include "memory/scratch.hpp"
#include "program/checked.hpp"
#include "program/side_by_side.hpp"
#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"
#include "tenure/ops.hpp"
#include "tenure/program.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

constexpr std::uint32_t kMostOperands = 256;

// Calls a user function. An exception that it throws becomes INTERNAL. If the function answers with
// the status of the last error that this thread recorded during the call, the message of that error
// becomes the reason. The thread's last error from before the call is restored.
template <class Call>
void guard_call(const char* name, const char* function, const Call& call) {
  // The function may allocate what outlives the run: it has no arena.
  const ScratchArena::Use none(nullptr);
  const LastErrorKept kept;
  tnr_error& told = last_error();
  told.status = TNR_STATUS_OK;
  tnr_status status = TNR_STATUS_INTERNAL;
  try {
    status = call();
  } catch (...) {
    fail(TNR_STATUS_INTERNAL, "%s of the custom operation %s threw an exception", function, name);
  }
  if (status == TNR_STATUS_OK) return;
  if (std::strcmp(status_name(status), "UNKNOWN") == 0) {
    fail(TNR_STATUS_INTERNAL,
         "%s of the custom operation %s answered %" PRId32 ", which is no status", function, name,
         status);
  }
  if (status == told.status) {
    fail(status, "%s of the custom operation %s: %s", function, name, told.message);
  }
  fail(status, "%s of the custom operation %s answered %s", function, name, status_name(status));
}

}  // namespace

void check_custom(const tnr_custom_operation& operation) {
  if (operation.name == nullptr) fail(TNR_STATUS_INVALID_ARGUMENT, "operation->name is NULL");
  const std::size_t length = strnlen(operation.name, kCustomNameBytes);
  if (length == 0 || length == kCustomNameBytes) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "operation->name has %s bytes but 1 to %zu are taken",
         length == 0 ? "no" : "more", kCustomNameBytes - 1);
  }
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
  constexpr std::uint32_t kFlags = TNR_CUSTOM_IN_PLACE | TNR_CUSTOM_INITIALIZED | TNR_CUSTOM_PURE;
  if ((operation.flags & ~kFlags) != 0 || operation.reserved != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "operation->%s is unknown",
         operation.reserved != 0 ? "reserved" : "flags");
  }
  if ((operation.flags & TNR_CUSTOM_IN_PLACE) != 0 && operation.operand_count == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the operation is in place but takes no operand");
  }
}

void check_plugin_abi(const tnr_plugin& plugin) {
  if (plugin.abi_major == TNR_ABI_MAJOR && plugin.abi_minor <= TNR_ABI_MINOR) return;
  fail(TNR_STATUS_UNSUPPORTED,
       "the plug-in is of ABI %" PRIu32 ".%" PRIu32 " but this library of %d.%d, which takes %s",
       plugin.abi_major, plugin.abi_minor, TNR_ABI_MAJOR, TNR_ABI_MINOR,
       plugin.abi_major == TNR_ABI_MAJOR ? "no newer ones" : "no other major version");
}

Custom::Custom(const tnr_custom_operation& operation) : given_(operation) {
  check_custom(operation);
  std::snprintf(name_, sizeof name_, "%s", operation.name);
}

Custom::~Custom() {
  if (given_.release == nullptr) return;
  const LastErrorKept kept;
  given_.release(given_.user_context);
}

tnr_custom_info Custom::describe() const noexcept {
  tnr_custom_info info = {};
  info.struct_size = sizeof info;
  info.operand_count = given_.operand_count;
  info.number_count = given_.number_count;
  info.flags = given_.flags;
  std::memcpy(info.name, name_, sizeof info.name);
  return info;
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

void Custom::call(const tnr_view* operands, const std::int64_t* numbers,
                  const tnr_view_mut& out) const {
  guard_call(name_, "compute", [&] {
    return given_.compute(given_.user_context, operands, given_.operand_count, numbers,
                          given_.number_count, &out);
  });
}

bool Custom::must_initialize(const tnr_view* operands, const tnr_view_mut& out) const noexcept {
  const bool replaces = in_place() && operands[0].data == out.view.data;
  return (given_.flags & TNR_CUSTOM_INITIALIZED) != 0 && !replaces && !is_empty(out.view);
}

void Custom::compute(const Context& context, const tnr_view* operands, const std::int64_t* numbers,
                     const tnr_view_mut& out) const {
  if (must_initialize(operands, out)) {
    constexpr char kZeros[sizeof(tnr_scalar::bytes)] = {};
    tnr_view zeros = make_view(kZeros, sizeof kZeros, 0, out.view.dtype, 0, nullptr, nullptr);
    zeros.rank = out.view.rank;
    std::copy_n(out.view.shape, zeros.rank, zeros.shape);
    std::fill_n(zeros.strides, zeros.rank, 0);
    copy(context, zeros, out);
  }
  call(operands, numbers, out);
}

void Custom::compute_on_device(const Context& context, const tnr_view* operands,
                               const std::int64_t* numbers, const tnr_view_mut& out) const {
  if (must_initialize(operands, out)) {
    tnr_scalar zero = {};
    zero.dtype = out.view.dtype;
    fill(context, zero, out);
  }
  auto* const handle = reinterpret_cast<tnr_context*>(context.token());
  // By their owners what the function enqueues on other queues is in order, too.
  call_with_owners(
      operands, out.view, [&](Lending& lending, tnr_view& of) { lending.lend_on(context, of); },
      [&](Lending& lending, tnr_view& of) { lending.lend_mut_on(context, of); },
      [&](const tnr_view* lent, const tnr_view_mut& target) {
        guard_call(name_, "compute_on_device", [&] {
          return given_.compute_on_device(given_.user_context, handle, lent, given_.operand_count,
                                          numbers, given_.number_count, &target);
        });
      });
}

// With owners that end behind the call, which `lend` and `lend_mut` give to a view each.
template <class Lend, class LendMut, class Call>
void Custom::call_with_owners(const tnr_view* operands, const tnr_view& out, const Lend& lend,
                              const LendMut& lend_mut, const Call& call) const {
  const std::size_t count = given_.operand_count;
  Lending lending(count + 1);
  SideBySide lent(count);
  tnr_view_mut target = {out};
  lend_mut(lending, target.view);
  for (std::size_t i = 0; i < count; ++i) {
    lent.data()[i] = operands[i];
    // An operand in place has the output's owner. An empty output shares no memory with the value
    // that begins at its address.
    if (operands[i].data == out.data && !is_empty(out)) {
      lent.data()[i].owner = target.view.owner;
    } else {
      lend(lending, lent.data()[i]);
    }
  }
  call(lent.data(), target);
  if (!lending.end()) {
    fail(TNR_STATUS_INTERNAL,
         "the custom operation %s holds memory that it was lent for a call, or gave it up", name_);
  }
}

void Custom::call_lent(const tnr_view* operands, const std::int64_t* numbers,
                       const tnr_view& out) const {
  tnr_view exclusive = out;
  exclusive.flags = TNR_VIEW_EXCLUSIVE;
  call_with_owners(
      operands, exclusive, [](Lending& lending, tnr_view& of) { lending.lend(of); },
      [](Lending& lending, tnr_view& of) { lending.lend_mut(of); },
      [&](const tnr_view* lent, const tnr_view_mut& target) { this->call(lent, numbers, target); });
}

bool Custom::may_replace(const tnr_view* operands, const ArrayType& type) const noexcept {
  return in_place() && type_of(operands[0]) == type;
}

void Custom::compute_checked(const Context& context, const tnr_view* operands,
                             const std::int64_t* numbers, const tnr_view_mut& out) const {
  const ArrayType type = type_of(out.view);
  const auto copied = [&](const tnr_view& from, const Guarded& to) {
    copy(context, from, {to.view()});
  };
  std::deque<Guarded> before;
  for (std::size_t i = 0; i < given_.operand_count; ++i) {
    copied(operands[i], before.emplace_back(type_of(operands[i]), 0));
  }
  Guarded results[] = {{type, 0xA5}, {type, 0x5A}};
  for (const Guarded& result : results) call_lent(operands, numbers, result.view());
  for (std::size_t i = 0; i < given_.operand_count; ++i) {
    Guarded now(type_of(operands[i]), 0);
    copied(operands[i], now);
    if (!now.is_same(before[i])) {
      fail(TNR_STATUS_INTERNAL, "the custom operation %s wrote to operand %zu", name_, i);
    }
  }
  if (!results[0].is_same(results[1])) {
    fail(TNR_STATUS_INTERNAL,
         "the custom operation %s left an element unwritten, or gave two results", name_);
  }
  if (may_replace(operands, type)) {
    // The second is no longer needed.
    copied(operands[0], results[1]);
    SideBySide views(given_.operand_count);
    std::copy_n(operands, given_.operand_count, views.data());
    views.data()[0] = results[1].view();
    call_lent(views.data(), numbers, results[1].view());
    if (!results[0].is_same(results[1])) {
      fail(TNR_STATUS_INTERNAL, "the custom operation %s gave another result in place", name_);
    }
  }
  if (!results[0].is_whole() || !results[1].is_whole()) {
    fail(TNR_STATUS_INTERNAL, "the custom operation %s wrote outside of its output", name_);
  }
  copy(context, results[0].view(), out);
}

void Custom::derive(GraphToken graph, const GraphNode& node, const std::int64_t* numbers,
                    std::uint32_t gradient, std::uint32_t* gradients) const {
  std::fill_n(gradients, given_.operand_count, kNoValue);
  guard_call(name_, "derive", [&] {
    return given_.derive(given_.user_context, reinterpret_cast<tnr_graph*>(graph),
                         node.operands.data(), given_.operand_count, numbers, given_.number_count,
                         node.result, gradient, gradients);
  });
}

ArrayType infer_custom(const NodeCall& call, const OperandType* operands) {
  const GraphNode& node = call.node;
  SideBySide views(node.operands.size());
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (operands[i].array == nullptr) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "operands[%zu] is no array", i);
    }
    views.data()[i] = unbacked_view(*operands[i].array);
    // infer() has no address to read elements from.
    views.data()[i].data = views.data()[i].base = nullptr;
    views.data()[i].size_bytes = 0;
  }
  return node.custom->infer(views.data(), call.numbers);
}

void run_custom(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  const Custom& custom = *call.node.custom;
  const SideBySide views(call.node, operands);
  if (call.is_checked) {
    custom.compute_checked(context, views.data(), call.numbers, out);
  } else {
    custom.compute(context, views.data(), call.numbers, out);
  }
}

}  // namespace tenure
