// Elements in order, searched and counted.
#include <bit>
#include <cinttypes>
#include <cstring>

#include "base/data_findings.hpp"
#include "memory/scratch.hpp"
#include "program/kinds/calls.hpp"
#include "program/kinds/operand_types.hpp"
#include "program/unbacked.hpp"
#include "tenure/ops.hpp"
#include "tenure/ordering.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

// Whether the one flag that an operation has is set.
bool has_flag(const GraphNode& node, std::uint32_t flag) {
  const std::uint32_t flags = node.attributes.flags.flags;
  if ((flags & ~flag) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->flags is %" PRIu32 " but must be 0 or %" PRIu32,
         flags, flag);
  }
  return flags != 0;
}

void require_result(const GraphNode& node) {
  if (node.op() == TNR_ORDER_RESULT_VALUES || node.op() == TNR_ORDER_RESULT_INDICES) return;
  refuse_code("result", node.op());
}

// The output of a node that is one result of an ordering; the other one is nullptr.
struct Ordered {
  const tnr_view_mut* indices;
  const tnr_view_mut* values;

  Ordered(const GraphNode& node, const tnr_view_mut& out)
      : indices(node.op() == TNR_ORDER_RESULT_INDICES ? &out : nullptr),
        values(node.op() == TNR_ORDER_RESULT_INDICES ? nullptr : &out) {}
};

ArrayType ordered(const NodeCall& call, const OperandType* operands) {
  require_result(call.node);
  ArrayType result = array(operands[0], "a");
  (void)axis_of(call.numbers[0], result.rank);
  if (type_index(result.dtype) == kNoType) refuse_dtype(operation_name(call.node), result.dtype);
  if (call.node.op() == TNR_ORDER_RESULT_INDICES) result.dtype = TNR_DTYPE_I64;
  return result;
}

std::uint32_t first_axis(const NodeCall& call) noexcept {
  return static_cast<std::uint32_t>(call.numbers[0]);
}

}  // namespace

ArrayType infer_sort(const NodeCall& call, const OperandType* operands) {
  (void)has_flag(call.node, TNR_SORT_DESCENDING);
  return ordered(call, operands);
}

void run_sort(const Context& context, const NodeCall& call, const OperandView* operands,
              const tnr_view_mut& out) {
  const bool falls = has_flag(call.node, TNR_SORT_DESCENDING);
  const Ordered result(call.node, out);
  sort(context, *operands[0].view, first_axis(call),
       falls ? SortOrder::kFalling : SortOrder::kRising, result.indices, result.values);
}

ArrayType infer_top_k(const NodeCall& call, const OperandType* operands) {
  (void)has_flag(call.node, TNR_TOP_K_SMALLEST);
  return ordered(call, operands);
}

void run_top_k(const Context& context, const NodeCall& call, const OperandView* operands,
               const tnr_view_mut& out) {
  const bool rises = has_flag(call.node, TNR_TOP_K_SMALLEST);
  const Ordered result(call.node, out);
  top_k(context, *operands[0].view, first_axis(call),
        rises ? SortOrder::kRising : SortOrder::kFalling, result.indices, result.values);
}

ArrayType infer_partition(const NodeCall& call, const OperandType* operands) {
  return ordered(call, operands);
}

void run_partition(const Context& context, const NodeCall& call, const OperandView* operands,
                   const tnr_view_mut& out) {
  const Ordered result(call.node, out);
  partition(context, *operands[0].view, first_axis(call), call.numbers[1], result.indices,
            result.values);
}

ArrayType infer_quantile(const NodeCall& call, const OperandType* operands) {
  (void)has_flag(call.node, TNR_QUANTILE_SKIP_NAN);
  const ArrayType& a = array(operands[0], "a");
  const ArrayType& q = array(operands[1], "q");
  require_type(q, "q", TNR_DTYPE_F64);
  if (q.rank != 1 || q.shape[0] == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "q is no vector, or has no elements");
  }
  if (type_index(a.dtype) > static_cast<unsigned>(kernels::Type::kBF16)) {
    refuse_dtype("quantile", a.dtype);
  }
  const std::uint32_t axes = call.node.flags;
  if (axes >> a.rank != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "flags is 0x%" PRIx32 " but a.rank is %" PRIu32, axes,
         a.rank);
  }
  if (a.rank == TNR_MAX_RANK && axes == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the result has more axes than %d", TNR_MAX_RANK);
  }
  ArrayType result = {a.dtype, 1, {q.shape[0]}};
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    if ((axes >> axis & 1) == 0) result.shape[result.rank++] = a.shape[axis];
  }
  return result;
}

void run_quantile(const Context& context, const NodeCall& call, const OperandView* operands,
                  const tnr_view_mut& out) {
  const bool skips = has_flag(call.node, TNR_QUANTILE_SKIP_NAN);
  const tnr_view& q = *operands[1].view;
  const Scratch numbers(q.shape[0], sizeof(double));
  auto* const adjacent = reinterpret_cast<double*>(numbers.data());
  for (std::int64_t i = 0; i < q.shape[0]; ++i) {
    std::memcpy(adjacent + i, static_cast<const kernels::Byte*>(q.data) + i * step_of(q, 0),
                sizeof(double));
    // A call takes these numbers as attributes; those of a node are data.
    if (adjacent[i] >= 0 && adjacent[i] <= 1) continue;
    return refuse_data(TNR_STATUS_INVALID_ARGUMENT,
                       "q[%" PRId64 "] is %g but must be at least 0 and at most 1", i, adjacent[i]);
  }
  quantile(context, *operands[0].view, call.node.flags, adjacent,
           static_cast<std::uint32_t>(q.shape[0]), skips ? Nans::kSkipped : Nans::kGiven, out);
}

ArrayType infer_searchsorted(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType& values = array(operands[1], "values");
  ArrayType result = values;
  result.dtype = TNR_DTYPE_I64;
  const tnr_view of_a = of_nothing(a);
  const tnr_view of_values = of_nothing({values.dtype, 1, {}});
  const OperandView views[] = {{&of_a, nullptr}, {&of_values, nullptr}};
  run_searchsorted(kDefaultContext, call, views, {of_nothing({TNR_DTYPE_I64, 1, {}})});
  return result;
}

void run_searchsorted(const Context& context, const NodeCall& call, const OperandView* operands,
                      const tnr_view_mut& out) {
  const bool is_right = has_flag(call.node, TNR_SEARCHSORTED_RIGHT);
  searchsorted(context, *operands[0].view, *operands[1].view, is_right ? Side::kRight : Side::kLeft,
               out);
}

ArrayType infer_bincount(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType* const weights = optional_array(operands[1], "weights");
  ArrayType result = shaped(call, weights == nullptr ? TNR_DTYPE_I64 : weights->dtype);
  if (weights != nullptr && weights->rank != a.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "weights.rank is %" PRIu32 " but a.rank is %" PRIu32,
         weights->rank, a.rank);
  }
  const tnr_view of_a = of_nothing({a.dtype, 1, {}});
  const tnr_view of_weights = of_nothing({result.dtype, 1, {}});
  bincount(kDefaultContext, of_a, weights == nullptr ? nullptr : &of_weights,
           {of_nothing({result.dtype, 1, {}})});
  return result;
}

void run_bincount(const Context& context, const NodeCall&, const OperandView* operands,
                  const tnr_view_mut& out) {
  bincount(context, *operands[0].view, operands[1].view, out);
}

ArrayType infer_histogram(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType* const edges = optional_array(operands[1], "edges");
  const tnr_histogram_attributes& between = call.node.attributes.histogram;
  const ArrayType result = shaped(call, TNR_DTYPE_I64);
  if (edges != nullptr) {
    require_type(*edges, "edges", a.dtype);
    require_vector(*edges, "edges");
    if (between.low != 0 || between.high != 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "attributes->low is %g and attributes->high is %g but must be 0 with edges", between.low,
           between.high);
    }
  }
  // Edges are looked at in a run.
  histogram(kDefaultContext, of_nothing({a.dtype, 1, {}}), nullptr, between.low,
            edges != nullptr ? 1 : between.high, {of_nothing({TNR_DTYPE_I64, 1, {}})});
  return result;
}

void run_histogram(const Context& context, const NodeCall& call, const OperandView* operands,
                   const tnr_view_mut& out) {
  const tnr_histogram_attributes& between = call.node.attributes.histogram;
  histogram(context, *operands[0].view, operands[1].view, between.low, between.high, out);
}

}  // namespace tenure
