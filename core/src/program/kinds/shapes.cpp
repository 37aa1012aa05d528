// The shape rules of kinds.
//
// They need no memory and throw nothing: preallocated runs compute with them the shapes that follow
// from counts in the data.
#include <algorithm>
#include <cinttypes>

#include "dense/reduce/walk.hpp"
#include "program/kinds/calls.hpp"
#include "tenure/shape.hpp"
#include "tenure/shape_rules.hpp"

namespace tenure {
namespace {

ShapeText text_of(const ArrayType& type) noexcept { return shape_text(type.rank, type.shape); }

// Both have the same rank.
void set_shape(ArrayType& result, const ArrayType& of) noexcept {
  std::copy_n(of.shape, of.rank, result.shape);
}

std::uint32_t first_number(const NodeCall& call) noexcept {
  return static_cast<std::uint32_t>(call.numbers[0]);
}

bool is_empty(const ArrayType& type) noexcept {
  return std::find(type.shape, type.shape + type.rank, 0) != type.shape + type.rank;
}

// The shape that take() gives; the rank of the result is set.
Refusal taken(const ArrayType& a, const ArrayType& indices, std::uint32_t axis,
              ArrayType& result) noexcept {
  std::int64_t* const behind = std::copy_n(a.shape, axis, result.shape);
  std::copy_n(a.shape + axis + 1, a.rank - axis - 1,
              std::copy_n(indices.shape, indices.rank, behind));
  return std::nullopt;
}

// The shape that gather() gives.
Refusal gathered(const ArrayType& a, const ArrayType& indices, std::uint32_t axis,
                 ArrayType& result) noexcept {
  ArrayType expected = a;
  expected.shape[axis] = indices.rank == a.rank ? indices.shape[axis] : 0;
  set_shape(result, indices);
  if (same_shape(expected, indices)) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "indices has shape %s but must have that of a, %s, but for axis %" PRIu32,
                  text_of(indices).text, text_of(a).text, axis);
}

// Values that are put into a target have the shape that the same indices read from it.
template <auto kRead>
Refusal putting(const NodeCall& call, const OperandType* operands, ArrayType& result) noexcept {
  const ArrayType& target = *operands[0].array;
  const ArrayType& values = *operands[1].array;
  const ArrayType& indices = *operands[2].array;
  ArrayType expected = values;
  if (Refusal refusal = kRead(target, indices, first_number(call), expected)) return refusal;
  set_shape(result, target);
  if (expected == values) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT, "values has shape %s but must have %s",
                  text_of(values).text, text_of(expected).text);
}

[[gnu::cold]] Error unsteady_error(std::size_t i, const char* axes) noexcept {
  return error_of(
      TNR_STATUS_UNSUPPORTED,
      "an extent of operands[%zu]%s is what a run finds, which no preallocated run takes", i, axes);
}

// Whether nothing that a run finds is an extent of the operand.
bool is_steady(const OperandType& operand, const OperandType& planned) noexcept {
  return operand.array == nullptr || *operand.array == *planned.array;
}

}  // namespace

Refusal shape_elementwise(const NodeCall& call, const OperandType* operands,
                          ArrayType& result) noexcept {
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < call.node.operands.size(); ++i) {
    const ArrayType* const operand = operands[i].array;
    if (operand == nullptr || broadcast_with(rank, result.shape, operand->rank, operand->shape)) {
      continue;
    }
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "operands[%zu] has shape %s, which does not broadcast with those before it", i,
                    text_of(*operand).text);
  }
  return std::nullopt;
}

Refusal shape_reduce(const NodeCall& call, const OperandType* operands,
                     ArrayType& result) noexcept {
  const ArrayType& a = *operands[0].array;
  const std::uint32_t axes = call.node.flags & ((1u << TNR_MAX_RANK) - 1);
  std::uint32_t rank = a.rank;
  set_shape(result, a);
  reduce_shape(rank, result.shape, axes, (call.node.flags & TNR_NODE_KEEP_AXES) != 0);
  if (!needs_an_element(call.node.op()) || !is_empty(a) || is_empty(result)) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "a.shape is %s, so that %s has no elements but needs one", text_of(a).text,
                  operation_name(call.node));
}

Refusal shape_as_first(const NodeCall&, const OperandType* operands, ArrayType& result) noexcept {
  set_shape(result, *operands[0].array);
  return std::nullopt;
}

Refusal shape_as_second(const NodeCall&, const OperandType* operands, ArrayType& result) noexcept {
  set_shape(result, *operands[1].array);
  return std::nullopt;
}

Refusal shape_sum_to(const NodeCall&, const OperandType* operands, ArrayType& result) noexcept {
  const ArrayType& a = *operands[0].array;
  const ArrayType& like = *operands[1].array;
  set_shape(result, like);
  if (!broadcast_to(like.rank, like.shape, a.rank, a.shape)) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "like has shape %s, which does not broadcast to %s of a", text_of(like).text,
                  text_of(a).text);
}

Refusal shape_matmul(const NodeCall&, const OperandType* operands, ArrayType& result) noexcept {
  const ArrayType& a = *operands[0].array;
  const ArrayType& b = *operands[1].array;
  const std::int64_t depth = a.shape[a.rank - 1];
  const std::int64_t b_depth = b.shape[b.rank == 1 ? 0 : b.rank - 2];
  if (depth != b_depth) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "a has %" PRId64 " columns but b %" PRId64 " rows: a has shape %s, b %s", depth,
                    b_depth, text_of(a).text, text_of(b).text);
  }
  std::uint32_t next = 0;
  const auto batch_rank = [](const ArrayType& type) { return type.rank < 2 ? 0 : type.rank - 2; };
  if (!broadcast_with(next, result.shape, batch_rank(a), a.shape) ||
      !broadcast_with(next, result.shape, batch_rank(b), b.shape)) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "the batch of a does not broadcast with that of b: a has shape %s, b %s",
                    text_of(a).text, text_of(b).text);
  }
  if (a.rank > 1) result.shape[next++] = a.shape[a.rank - 2];
  const std::int64_t columns = b.rank == 1 ? 1 : b.shape[b.rank - 1];
  if (b.rank > 1) result.shape[next++] = columns;
  const ArrayType* const bias = operands[2].array;
  if (bias == nullptr || bias->shape[0] == columns) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "bias has shape %s but must have one extent of %" PRId64, text_of(*bias).text,
                  columns);
}

Refusal shape_shaped(const NodeCall& call, const OperandType*, ArrayType& result) noexcept {
  std::copy_n(call.numbers, result.rank, result.shape);
  return std::nullopt;
}

Refusal shape_reshape(const NodeCall& call, const OperandType* operands,
                      ArrayType& result) noexcept {
  const ArrayType& a = *operands[0].array;
  std::copy_n(call.numbers, result.rank, result.shape);
  return reshaped(a.rank, a.shape, result.rank, result.shape);
}

Refusal shape_permute(const NodeCall& call, const OperandType* operands,
                      ArrayType& result) noexcept {
  for (std::uint32_t axis = 0; axis < result.rank; ++axis) {
    result.shape[axis] = operands[0].array->shape[call.numbers[axis]];
  }
  return std::nullopt;
}

Refusal shape_broadcast(const NodeCall& call, const OperandType* operands,
                        ArrayType& result) noexcept {
  const ArrayType& a = *operands[0].array;
  std::copy_n(call.numbers, result.rank, result.shape);
  return broadcast_to(a.rank, a.shape, result.rank, result.shape);
}

Refusal shape_slice(const NodeCall& call, const OperandType* operands, ArrayType& result) noexcept {
  set_shape(result, *operands[0].array);
  const std::int64_t* const numbers = call.numbers;
  return slice_extent(result.shape[numbers[0]], numbers[1], numbers[2], numbers[3]);
}

Refusal shape_concat(const NodeCall& call, const OperandType* operands,
                     ArrayType& result) noexcept {
  const std::uint32_t axis = first_number(call);
  set_shape(result, *operands[0].array);
  for (std::size_t i = 1; i < call.node.operands.size(); ++i) {
    const ArrayType& part = *operands[i].array;
    ArrayType without = part;
    without.shape[axis] = result.shape[axis];
    if (!same_shape(without, result)) {
      return error_of(TNR_STATUS_INVALID_ARGUMENT,
                      "operands[%zu] has shape %s, which cannot be joined along axis %" PRIu32
                      " to %s",
                      i, text_of(part).text, axis, text_of(result).text);
    }
    if (__builtin_add_overflow(result.shape[axis], part.shape[axis], &result.shape[axis])) {
      return error_of(TNR_STATUS_INVALID_ARGUMENT,
                      "extents of the parts add up to more than INT64_MAX");
    }
  }
  return std::nullopt;
}

Refusal shape_pad(const NodeCall& call, const OperandType* operands, ArrayType& result) noexcept {
  const ArrayType& a = *operands[0].array;
  std::copy_n(call.numbers, result.rank, result.shape);
  if (call.node.op() == TNR_PAD_MODE_CONSTANT || is_empty(result)) return std::nullopt;
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    if (a.shape[axis] != 0) continue;
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "a.shape[%" PRIu32 "] is 0 but out.shape[%" PRIu32 "] is %" PRId64
                    ", whose elements are some of a's",
                    axis, axis, result.shape[axis]);
  }
  return std::nullopt;
}

Refusal shape_take(const NodeCall& call, const OperandType* operands, ArrayType& result) noexcept {
  return taken(*operands[0].array, *operands[1].array, first_number(call), result);
}

Refusal shape_gather(const NodeCall& call, const OperandType* operands,
                     ArrayType& result) noexcept {
  return gathered(*operands[0].array, *operands[1].array, first_number(call), result);
}

Refusal shape_put(const NodeCall& call, const OperandType* operands, ArrayType& result) noexcept {
  return putting<taken>(call, operands, result);
}

Refusal shape_scatter(const NodeCall& call, const OperandType* operands,
                      ArrayType& result) noexcept {
  return putting<gathered>(call, operands, result);
}

Refusal shape_bincount(const NodeCall& call, const OperandType* operands,
                       ArrayType& result) noexcept {
  const ArrayType& a = *operands[0].array;
  const ArrayType* const weights = operands[1].array;
  std::copy_n(call.numbers, result.rank, result.shape);
  if (weights == nullptr || same_shape(*weights, a)) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT, "weights has shape %s but a has %s",
                  text_of(*weights).text, text_of(a).text);
}

Refusal shape_histogram(const NodeCall& call, const OperandType* operands,
                        ArrayType& result) noexcept {
  const ArrayType* const edges = operands[1].array;
  std::copy_n(call.numbers, result.rank, result.shape);
  if (edges == nullptr || edges->shape[0] - 1 == result.shape[0]) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "edges has shape %s but must be one longer than the result, %" PRId64,
                  text_of(*edges).text, result.shape[0]);
}

Refusal shape_found(const NodeCall& call, const OperandType* operands, ArrayType& result) noexcept {
  const ArrayType& a = *operands[0].array;
  result.shape[0] = call.numbers[0];
  if (result.rank == 2) result.shape[1] = a.rank;  // of nonzero
  const ArrayType* const mask = operands[1].array;
  return mask == nullptr ? Refusal() : broadcast_to(mask->rank, mask->shape, a.rank, a.shape);
}

namespace {

// The second number of a node is at most `most` below the extent of its axis.
Refusal require_along(const NodeCall& call, const ArrayType& a, const char* name,
                      std::int64_t most) noexcept {
  const std::uint32_t axis = first_number(call);
  const std::int64_t number = call.numbers[1];
  if (number >= 0 && number <= a.shape[axis] - most) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "%s is %" PRId64 " but a.shape[%" PRIu32 "] is %" PRId64, name, number, axis,
                  a.shape[axis]);
}

}  // namespace

Refusal shape_top_k(const NodeCall& call, const OperandType* operands, ArrayType& result) noexcept {
  set_shape(result, *operands[0].array);
  result.shape[first_number(call)] = call.numbers[1];
  return require_along(call, *operands[0].array, "k", 0);
}

Refusal shape_partition(const NodeCall& call, const OperandType* operands,
                        ArrayType& result) noexcept {
  set_shape(result, *operands[0].array);
  return require_along(call, *operands[0].array, "kth", 1);
}

Refusal adapt_normalize(const NodeCall& call, const OperandType* operands,
                        const OperandType* planned, ArrayType& result) noexcept {
  set_shape(result, *operands[0].array);
  // A weight and a bias have the extents of axes that are normalized.
  for (const std::size_t i : {1u, 2u}) {
    if (operands[i].array == nullptr) continue;
    for (std::uint32_t axis = 0; axis < result.rank; ++axis) {
      if ((call.node.flags >> axis & 1) == 0) continue;
      if (result.shape[axis] == planned[0].array->shape[axis] &&
          is_steady(operands[i], planned[i])) {
        continue;
      }
      return unsteady_error(0, " that is normalized with a weight or a bias");
    }
  }
  return std::nullopt;
}

// All extents must be as in the plan, except the first one of the first operand, which the result
// takes.
Refusal adapt_images(const NodeCall& call, const OperandType* operands, const OperandType* planned,
                     ArrayType& result) noexcept {
  ArrayType first = *operands[0].array;
  first.shape[0] = planned[0].array->shape[0];
  if (!(first == *planned[0].array)) return unsteady_error(0, " behind the first");
  for (std::size_t i = 1; i < call.node.operands.size(); ++i) {
    if (!is_steady(operands[i], planned[i])) return unsteady_error(i, "");
  }
  result.shape[0] = operands[0].array->shape[0];
  return std::nullopt;
}

// The numbers of images may differ from the plan.
Refusal adapt_pool2d_gradient(const NodeCall& call, const OperandType* operands,
                              const OperandType* planned, ArrayType& result) noexcept {
  if (Refusal refusal = adapt_conv2d_filters(call, operands, planned, result)) return refusal;
  result.shape[0] = operands[0].array->shape[0];
  return std::nullopt;
}

Refusal adapt_conv2d_filters(const NodeCall& call, const OperandType* operands,
                             const OperandType* planned, ArrayType&) noexcept {
  for (std::size_t i = 0; i < call.node.operands.size(); ++i) {
    ArrayType of = *operands[i].array;
    of.shape[0] = planned[i].array->shape[0];
    if (!(of == *planned[i].array)) return unsteady_error(i, " behind the first");
  }
  const std::int64_t images = operands[0].array->shape[0];
  const std::int64_t of_gradients = operands[1].array->shape[0];
  if (images == of_gradients) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "g.shape[0] is %" PRId64 " but must be %" PRId64 ", the images of a",
                  of_gradients, images);
}

}  // namespace tenure
