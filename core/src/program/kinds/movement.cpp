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
  ArrayType result = array(operands[0], "operands[0]");
  const std::uint32_t axis = axis_of(call.numbers[0], result.rank);
  for (std::size_t i = 1; i < call.node.operands.size(); ++i) {
    const ArrayType& part = array(operands[i], "an operand");
    require_type(part, "an operand", result.dtype);
    ArrayType without = part;
    if (part.rank == result.rank) without.shape[axis] = result.shape[axis];
    if (!(without == result)) {
      ShapeText first;
      ShapeText other;
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "operands[%zu] has shape %s, which cannot be joined along axis %" PRIu32 " to %s", i,
           shape_of(part, other), axis, shape_of(result, first));
    }
    if (__builtin_add_overflow(result.shape[axis], part.shape[axis], &result.shape[axis])) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "extents of the parts add up to more than INT64_MAX");
    }
  }
  require_size(result);
  return result;
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
  const std::uint32_t axis = axis_of(call.numbers[0], a.rank);
  if (a.rank - 1 + indices.rank > TNR_MAX_RANK) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the result has rank %" PRIu32 " but at most %d",
         a.rank - 1 + indices.rank, TNR_MAX_RANK);
  }
  ArrayType result = {a.dtype, a.rank - 1 + indices.rank, {}};
  std::int64_t* const behind = std::copy_n(a.shape, axis, result.shape);
  std::copy_n(a.shape + axis + 1, a.rank - axis - 1,
              std::copy_n(indices.shape, indices.rank, behind));
  require_size(result);
  return result;
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
  const std::uint32_t axis = axis_of(call.numbers[0], a.rank);
  ArrayType result = indices;
  result.dtype = a.dtype;
  ArrayType expected = a;
  if (indices.rank == a.rank) expected.shape[axis] = indices.shape[axis];
  if (!(expected == result)) {
    ShapeText a_text;
    ShapeText text;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "indices has shape %s but must have that of a, %s, but for axis %" PRIu32,
         shape_of(indices, text), shape_of(a, a_text), axis);
  }
  require_size(result);
  return result;
}

void run_gather(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  gather(context, *operands[0].view, static_cast<std::uint32_t>(call.numbers[0]), *operands[1].view,
         out);
}

namespace {

using Put = void(const Context& context, tnr_binary_op op, const tnr_view& a, std::uint32_t axis,
                 const tnr_view& indices, const tnr_view_mut& out);

// The target, into which values of this type are put.
ArrayType putting(const NodeCall& call, const OperandType* operands, Put* put,
                  const ArrayType& expected) {
  const ArrayType& values = array(operands[1], "values");
  if (!(values == expected)) {
    ShapeText text;
    ShapeText expected_text;
    fail(TNR_STATUS_INVALID_ARGUMENT, "values is %s of shape %s but must be %s of shape %s",
         dtype_name(values.dtype), shape_of(values, text), dtype_name(expected.dtype),
         shape_of(expected, expected_text));
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

}  // namespace tenure
