// Elements in other places, and operands seen otherwise.
#include <algorithm>
#include <cinttypes>

#include "dense/checks.hpp"
#include "dense/movement.hpp"
#include "program/kinds/calls.hpp"
#include "program/kinds/operand_types.hpp"
#include "program/side_by_side.hpp"
#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"
#include "tenure/movement.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"

namespace tenure {

tnr_view view_reshaped(const NodeCall& call, const tnr_view& operand) {
  return reshape(operand, rank_of(call), call.numbers);
}

tnr_view view_permuted(const NodeCall& call, const tnr_view& operand) {
  std::uint32_t axes[TNR_MAX_RANK];
  const std::uint32_t rank = rank_of(call);
  for (std::uint32_t i = 0; i < rank; ++i) axes[i] = axis_of(call.numbers[i], rank);
  return permute(operand, rank, axes);
}

tnr_view view_broadcast(const NodeCall& call, const tnr_view& operand) {
  return broadcast(operand, rank_of(call), call.numbers);
}

tnr_view view_slice(const NodeCall& call, const tnr_view& operand) {
  const std::int64_t* const numbers = call.numbers;
  return slice(operand, axis_of(numbers[0], operand.rank), numbers[1], numbers[2], numbers[3]);
}

ArrayType infer_concat(const NodeCall& call, const OperandType* operands) {
  const ArrayType& first = array(operands[0], "operands[0]");
  (void)axis_of(call.numbers[0], first.rank);
  for (std::size_t i = 1; i < call.node.operands.size(); ++i) {
    require_type(array(operands[i], "an operand"), "an operand", first.dtype);
  }
  return first;
}

void run_concat(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  const SideBySide parts(call.node, operands);
  concat(context, parts.data(), static_cast<std::uint32_t>(call.node.operands.size()),
         static_cast<std::uint32_t>(call.numbers[0]), out);
}

ArrayType infer_pad(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType result = shaped(call, a.dtype);
  check_pad(call.node.op(), unbacked_view(a), call.node.attributes.pad, unbacked_view(result));
  return result;
}

void run_pad(const Context& context, const NodeCall& call, const OperandView* operands,
             const tnr_view_mut& out) {
  pad(context, call.node.op(), *operands[0].view, call.node.attributes.pad, out);
}

ArrayType infer_take(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType& indices = array(operands[1], "indices");
  require_indices(indices);
  (void)axis_of(call.numbers[0], a.rank);
  const std::uint32_t rank = a.rank - 1 + indices.rank;
  if (rank > TNR_MAX_RANK) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the result has rank %" PRIu32 " but at most %d", rank,
         TNR_MAX_RANK);
  }
  return {a.dtype, rank, {}};
}

void run_take(const Context& context, const NodeCall& call, const OperandView* operands,
              const tnr_view_mut& out) {
  take(context, *operands[0].view, static_cast<std::uint32_t>(call.numbers[0]), *operands[1].view,
       out);
}

ArrayType infer_gather(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType& indices = array(operands[1], "indices");
  require_indices(indices);
  (void)axis_of(call.numbers[0], a.rank);
  return {a.dtype, indices.rank, {}};
}

void run_gather(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  gather(context, *operands[0].view, static_cast<std::uint32_t>(call.numbers[0]), *operands[1].view,
         out);
}

namespace {

using Put = void(const Context& context, tnr_binary_op op, const tnr_view& a, std::uint32_t axis,
                 const tnr_view& indices, const tnr_view_mut& out);

// The target, into which values are put: they have the dtype and the rank that reading has.
ArrayType putting(const NodeCall& call, const OperandType* operands, Put* put,
                  const ArrayType& read) {
  const ArrayType& values = array(operands[1], "values");
  require_type(values, "values", read.dtype);
  if (values.rank != read.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "values.rank is %" PRIu32 " but must be %" PRIu32,
         values.rank, read.rank);
  }
  const tnr_view nothing = of_nothing({values.dtype, 1, {}});
  put(kDefaultContext, call.node.op(), nothing, 0, of_nothing({operands[2].array->dtype, 1, {}}),
      {nothing});
  return *operands[0].array;
}

void run_putting(const Context& context, const NodeCall& call, const OperandView* operands,
                 const tnr_view_mut& out, Put* put) {
  if (operands[0].view->data != out.view.data) copy(context, *operands[0].view, out);
  put(context, call.node.op(), *operands[1].view, static_cast<std::uint32_t>(call.numbers[0]),
      *operands[2].view, out);
}

}  // namespace

ArrayType infer_put(const NodeCall& call, const OperandType* operands) {
  const OperandType taken[] = {operands[0], operands[2]};
  return putting(call, operands, put, infer_take(call, taken));
}

void run_put(const Context& context, const NodeCall& call, const OperandView* operands,
             const tnr_view_mut& out) {
  run_putting(context, call, operands, out, put);
}

ArrayType infer_scatter(const NodeCall& call, const OperandType* operands) {
  const OperandType gathered[] = {operands[0], operands[2]};
  return putting(call, operands, scatter, infer_gather(call, gathered));
}

void run_scatter(const Context& context, const NodeCall& call, const OperandView* operands,
                 const tnr_view_mut& out) {
  run_putting(context, call, operands, out, scatter);
}

ArrayType infer_triangular(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  if (a.rank < 2) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "a.rank is %" PRIu32 " but must be at least 2", a.rank);
  }
  if (call.node.op() != TNR_TRIANGLE_LOWER && call.node.op() != TNR_TRIANGLE_UPPER) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "part is %" PRId32 ", which names no triangle",
         call.node.op());
  }
  return a;
}

void run_triangular(const Context& context, const NodeCall& call, const OperandView* operands,
                    const tnr_view_mut& out) {
  triangular(context, call.node.op(), *operands[0].view, call.node.attributes.triangle.diagonal,
             out);
}

ArrayType infer_extent(const NodeCall& call, const OperandType*) {
  return {call.node.dtype, 0, {}};
}

void run_extent(const Context& context, const NodeCall& call, const OperandView*,
                const tnr_view_mut& out) {
  fill(context, tnr_scalar_f64(static_cast<double>(call.numbers[0])), out);
}

}  // namespace tenure
