// Reductions, normalizations and scans.
#include <cinttypes>
#include <optional>

#include "dense/checks.hpp"
#include "dense/normalize/checked.hpp"
#include "program/kinds/calls.hpp"
#include "program/kinds/operand_types.hpp"
#include "program/unbacked.hpp"
#include "tenure/normalize.hpp"
#include "tenure/ops.hpp"

namespace tenure {
namespace {

constexpr std::uint32_t kAllAxes = (1u << TNR_MAX_RANK) - 1;

// With the views that the operands are.
tnr_normalize_attributes normalization(const GraphNode& node, const tnr_view* weight,
                                       const tnr_view* bias) {
  tnr_normalize_attributes attributes = node.attributes.normalize;
  attributes.weight = weight;
  attributes.bias = bias;
  return attributes;
}

}  // namespace

void run_reduce(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  const GraphNode& node = call.node;
  reduce(context, node.op(), *operands[0].view, node.flags & kAllAxes, node.attributes.reduce.ddof,
         out, node.attributes.reduce.power);
}

ArrayType infer_normalize(const NodeCall& call, const OperandType* operands) {
  const GraphNode& node = call.node;
  const ArrayType& a = array(operands[0], "a");
  const tnr_view view = unbacked_view(a);
  // Exclusive, so that the check ignores the addresses of the other arrays.
  tnr_view out = view;
  out.flags = TNR_VIEW_EXCLUSIVE;
  tnr_view given[2];
  const tnr_view* views[2] = {};
  static constexpr const char* kNames[] = {"weight", "bias"};
  for (unsigned i = 0; i < 2; ++i) {
    const ArrayType* const operand = optional_array(operands[1 + i], kNames[i]);
    if (operand == nullptr) continue;
    given[i] = unbacked_view(*operand, nullptr, 1);
    views[i] = &given[i];
  }
  if ((node.flags & ~kAllAxes) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "flags are 0x%" PRIx32 ", of which bits are unknown",
         node.flags);
  }
  check_normalization(node.op(), view, node.flags, normalization(node, views[0], views[1]), out);
  return a;
}

void run_normalize(const Context& context, const NodeCall& call, const OperandView* operands,
                   const tnr_view_mut& out) {
  normalize(context, call.node.op(), *operands[0].view, call.node.flags,
            normalization(call.node, operands[1].view, operands[2].view), out);
}

ArrayType infer_sum_to(const NodeCall&, const OperandType* operands) {
  const kernels::OperationRow& sum = kernels::kReduceRows[TNR_REDUCE_OP_SUM - 1];
  const tnr_dtype dtype = array(operands[0], "a").dtype;
  if (!takes(sum, dtype)) refuse_dtype("sum_to", dtype);
  ArrayType result = array(operands[1], "like");
  result.dtype = result_dtype(sum.gives, dtype);
  return result;
}

// The output with the axes of `a`: those that it lacks have an extent of 1.
void run_sum_to(const Context& context, const NodeCall&, const OperandView* operands,
                const tnr_view_mut& out) {
  const tnr_view& a = *operands[0].view;
  const std::uint32_t missing = a.rank - out.view.rank;
  tnr_view_mut kept = out;
  kept.view.rank = a.rank;
  std::uint32_t axes = 0;
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    kept.view.shape[axis] = axis < missing ? 1 : out.view.shape[axis - missing];
    kept.view.strides[axis] = axis < missing ? 0 : out.view.strides[axis - missing];
    if (kept.view.shape[axis] != a.shape[axis]) axes |= 1u << axis;
  }
  if (axes != 0) return reduce(context, TNR_REDUCE_OP_SUM, a, axes, 0, kept);
  if (a.dtype == out.view.dtype) return copy(context, a, kept);
  cast(context, a, kept);
}

ArrayType infer_scan(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  (void)axis_of(call.numbers[0], a.rank);
  ArrayType result = a;
  result.dtype = check_scan(call.node.op(), a.dtype);
  return result;
}

void run_scan(const Context& context, const NodeCall& call, const OperandView* operands,
              const tnr_view_mut& out) {
  scan(context, call.node.op(), *operands[0].view, static_cast<std::uint32_t>(call.numbers[0]),
       out);
}

}  // namespace tenure
