// The shapes of what follows from counts, as infer() of a kind gives them, without an exception and
// without memory: for preallocated runs.
//
// Dtypes and ranks are those that were inferred for the most that may be found, so that only
// extents are left to ask about.
#include <algorithm>
#include <cinttypes>

#include "dense/movement.hpp"
#include "dense/reduce/walk.hpp"
#include "program/kinds/calls.hpp"
#include "tenure/shape.hpp"

namespace tenure {
namespace {

// Both have as many axes.
void set_shape(ArrayType& result, const ArrayType& of) noexcept {
  std::copy_n(of.shape, of.rank, result.shape);
}

ShapeText text_of(const ArrayType& type) noexcept { return shape_text(type.rank, type.shape); }

// Makes one extent of two of which either may be 1.
bool broadcasts(std::int64_t& extent, std::int64_t other) noexcept {
  if (extent == 1) extent = other;
  return other == 1 || other == extent;
}

[[gnu::cold]] Error unsteady_error(std::size_t i, const char* axes) noexcept {
  return error_of(
      TNR_STATUS_UNSUPPORTED,
      "an extent of operands[%zu]%s is what a run finds, which no preallocated run takes", i, axes);
}

// Whether nothing that a run finds is an extent of the operand.
bool is_steady(const DecidedCall& call, std::size_t i) noexcept {
  return !call.has(i) || call.operand(i) == call.planned(i);
}

// All extents as in the plan, but for the first one of the first operand, which is the result's.
Refusal decide_first_axis(const DecidedCall& call, ArrayType& result) noexcept {
  ArrayType first = call.operand(0);
  first.shape[0] = call.planned(0).shape[0];
  if (!(first == call.planned(0))) return unsteady_error(0, " behind the first");
  for (std::size_t i = 1; i < call.node.operands.size(); ++i) {
    if (!is_steady(call, i)) return unsteady_error(i, "");
  }
  result.shape[0] = call.operand(0).shape[0];
  return std::nullopt;
}

// The elements of a shape, of which there are no more than the plan has.
std::int64_t count_of(const ArrayType& type) noexcept {
  std::int64_t count = 1;
  for (std::uint32_t axis = 0; axis < type.rank; ++axis) count *= type.shape[axis];
  return count;
}

// The type that infer_take() gives.
Refusal taken(const ArrayType& a, const ArrayType& indices, std::uint32_t axis,
              ArrayType& result) noexcept {
  std::int64_t* const behind = std::copy_n(a.shape, axis, result.shape);
  std::copy_n(a.shape + axis + 1, a.rank - axis - 1,
              std::copy_n(indices.shape, indices.rank, behind));
  return std::nullopt;
}

// The type that infer_gather() gives.
Refusal gathered(const ArrayType& a, const ArrayType& indices, std::uint32_t axis,
                 ArrayType& result) noexcept {
  for (std::uint32_t i = 0; i < a.rank; ++i) {
    result.shape[i] = indices.shape[i];
    if (i == axis || indices.shape[i] == a.shape[i]) continue;
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "indices has shape %s but must have that of a, %s, but for axis %" PRIu32,
                    text_of(indices).text, text_of(a).text, axis);
  }
  return std::nullopt;
}

std::uint32_t first_number(const DecidedCall& call) noexcept {
  return static_cast<std::uint32_t>(call.numbers[0]);
}

}  // namespace

Refusal decide_elementwise(const DecidedCall& call, ArrayType& result) noexcept {
  std::fill_n(result.shape, result.rank, std::int64_t{1});
  for (std::size_t i = 0; i < call.node.operands.size(); ++i) {
    // A scalar has no axis.
    const ArrayType& operand = call.operand(i);
    const std::uint32_t added = result.rank - operand.rank;
    for (std::uint32_t axis = 0; axis < operand.rank; ++axis) {
      if (broadcasts(result.shape[added + axis], operand.shape[axis])) continue;
      return error_of(TNR_STATUS_INVALID_ARGUMENT,
                      "operands[%zu] has shape %s, which does not broadcast with those before it",
                      i, text_of(operand).text);
    }
  }
  return std::nullopt;
}

Refusal decide_reduce(const DecidedCall& call, ArrayType& result) noexcept {
  const ArrayType& a = call.operand(0);
  const std::uint32_t axes = call.node.flags & ((1u << TNR_MAX_RANK) - 1);
  const bool keeps = (call.node.flags & TNR_NODE_KEEP_AXES) != 0;
  std::int64_t reduced = 1;
  std::uint32_t next = 0;
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    if ((axes >> axis & 1) == 0) {
      result.shape[next++] = a.shape[axis];
      continue;
    }
    reduced *= a.shape[axis];
    if (keeps) result.shape[next++] = 1;
  }
  if (reduced != 0 || !needs_an_element(call.node.op()) || count_of(result) == 0) {
    return std::nullopt;
  }
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "a.shape is %s, so that %s has no elements but needs one", text_of(a).text,
                  operation_name(call.node));
}

Refusal decide_as_first(const DecidedCall& call, ArrayType& result) noexcept {
  set_shape(result, call.operand(0));
  return std::nullopt;
}

Refusal decide_as_second(const DecidedCall& call, ArrayType& result) noexcept {
  set_shape(result, call.operand(1));
  return std::nullopt;
}

Refusal decide_normalize(const DecidedCall& call, ArrayType& result) noexcept {
  set_shape(result, call.operand(0));
  // They have the extents of axes that are normalized.
  for (const std::size_t i : {1u, 2u}) {
    if (!call.has(i)) continue;
    for (std::uint32_t axis = 0; axis < result.rank; ++axis) {
      if ((call.node.flags >> axis & 1) == 0) continue;
      if (result.shape[axis] == call.planned(0).shape[axis] && is_steady(call, i)) continue;
      return unsteady_error(0, " that is normalized with a weight or a bias");
    }
  }
  return std::nullopt;
}

Refusal decide_matmul(const DecidedCall& call, ArrayType& result) noexcept {
  const ArrayType& a = call.operand(0);
  const ArrayType& b = call.operand(1);
  const std::int64_t depth = a.shape[a.rank - 1];
  const std::int64_t b_depth = b.shape[b.rank == 1 ? 0 : b.rank - 2];
  if (depth != b_depth) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "a has %" PRId64 " columns but b %" PRId64 " rows: a has shape %s, b %s", depth,
                    b_depth, text_of(a).text, text_of(b).text);
  }
  const std::uint32_t a_batch = a.rank < 2 ? 0 : a.rank - 2;
  const std::uint32_t b_batch = b.rank < 2 ? 0 : b.rank - 2;
  const std::uint32_t batch = std::max(a_batch, b_batch);
  std::uint32_t next = 0;
  for (std::uint32_t axis = 0; axis < batch; ++axis) {
    std::int64_t extent = axis + a_batch < batch ? 1 : a.shape[axis + a_batch - batch];
    if (!broadcasts(extent, axis + b_batch < batch ? 1 : b.shape[axis + b_batch - batch])) {
      return error_of(TNR_STATUS_INVALID_ARGUMENT,
                      "the batch of a does not broadcast with that of b: a has shape %s, b %s",
                      text_of(a).text, text_of(b).text);
    }
    result.shape[next++] = extent;
  }
  if (a.rank > 1) result.shape[next++] = a.shape[a.rank - 2];
  if (b.rank > 1) result.shape[next++] = b.shape[b.rank - 1];
  const std::int64_t columns = b.rank == 1 ? 1 : b.shape[b.rank - 1];
  if (call.has(2) && call.operand(2).shape[0] != columns) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "bias has shape %s but must have one extent of %" PRId64,
                    text_of(call.operand(2)).text, columns);
  }
  return std::nullopt;
}

Refusal decide_images(const DecidedCall& call, ArrayType& result) noexcept {
  return decide_first_axis(call, result);
}

Refusal decide_reshape(const DecidedCall& call, ArrayType& result) noexcept {
  const ArrayType& a = call.operand(0);
  std::copy_n(call.numbers, result.rank, result.shape);
  std::int64_t count = 1;
  bool fits = true;
  for (std::uint32_t axis = 0; axis < result.rank; ++axis) {
    fits = fits && !__builtin_mul_overflow(count, result.shape[axis], &count);
  }
  if (fits && count == count_of(a)) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT, "shape %s has another number of elements than %s",
                  text_of(result).text, text_of(a).text);
}

Refusal decide_permute(const DecidedCall& call, ArrayType& result) noexcept {
  const ArrayType& a = call.operand(0);
  for (std::uint32_t axis = 0; axis < result.rank; ++axis) {
    result.shape[axis] = a.shape[call.numbers[axis]];
  }
  return std::nullopt;
}

Refusal decide_broadcast(const DecidedCall& call, ArrayType& result) noexcept {
  const ArrayType& a = call.operand(0);
  std::copy_n(call.numbers, result.rank, result.shape);
  const std::uint32_t added = result.rank - a.rank;
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    const std::int64_t extent = a.shape[axis];
    if (extent == 1 || extent == result.shape[added + axis]) continue;
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "shape[%" PRIu32 "] is %" PRId64 " but the view's extent there is %" PRId64
                    ", and only 1 broadcasts",
                    added + axis, result.shape[added + axis], extent);
  }
  return std::nullopt;
}

Refusal decide_slice(const DecidedCall& call, ArrayType& result) noexcept {
  set_shape(result, call.operand(0));
  const std::uint32_t axis = first_number(call);
  const std::int64_t step = call.numbers[3];
  if (step == 0) return error_of(TNR_STATUS_INVALID_ARGUMENT, "step is 0 but must not be");
  const std::int64_t before_first = step > 0 ? 0 : -1;
  const std::int64_t last = result.shape[axis] + before_first;
  for (const std::int64_t bound : {call.numbers[1], call.numbers[2]}) {
    if (bound >= before_first && bound <= last) continue;
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "start is %" PRId64 " and stop is %" PRId64 " but must be at least %" PRId64
                    " and at most %" PRId64,
                    call.numbers[1], call.numbers[2], before_first, last);
  }
  const std::int64_t distance =
      step > 0 ? call.numbers[2] - call.numbers[1] : call.numbers[1] - call.numbers[2];
  const auto bits = static_cast<std::uint64_t>(step);
  const std::uint64_t stride = step > 0 ? bits : 0 - bits;
  result.shape[axis] =
      distance <= 0
          ? 0
          : static_cast<std::int64_t>(static_cast<std::uint64_t>(distance - 1) / stride) + 1;
  return std::nullopt;
}

Refusal decide_concat(const DecidedCall& call, ArrayType& result) noexcept {
  const std::uint32_t axis = first_number(call);
  set_shape(result, call.operand(0));
  for (std::size_t i = 1; i < call.node.operands.size(); ++i) {
    const ArrayType& part = call.operand(i);
    for (std::uint32_t other = 0; other < result.rank; ++other) {
      if (other == axis || part.shape[other] == result.shape[other]) continue;
      return error_of(TNR_STATUS_INVALID_ARGUMENT,
                      "operands[%zu] has shape %s, which cannot be joined along axis %" PRIu32
                      " to %s",
                      i, text_of(part).text, axis, text_of(result).text);
    }
    // No more than the plan has.
    result.shape[axis] += part.shape[axis];
  }
  return std::nullopt;
}

Refusal decide_pad(const DecidedCall& call, ArrayType& result) noexcept {
  const ArrayType& a = call.operand(0);
  std::copy_n(call.numbers, result.rank, result.shape);
  const bool takes_none = call.node.op() == TNR_PAD_MODE_CONSTANT || count_of(result) == 0;
  for (std::uint32_t axis = 0; axis < a.rank && !takes_none; ++axis) {
    if (a.shape[axis] != 0) continue;
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "a.shape[%" PRIu32 "] is 0 but out.shape[%" PRIu32 "] is %" PRId64
                    ", whose elements are some of a's",
                    axis, axis, result.shape[axis]);
  }
  return std::nullopt;
}

Refusal decide_take(const DecidedCall& call, ArrayType& result) noexcept {
  return taken(call.operand(0), call.operand(1), first_number(call), result);
}

Refusal decide_gather(const DecidedCall& call, ArrayType& result) noexcept {
  return gathered(call.operand(0), call.operand(1), first_number(call), result);
}

namespace {

// Values that are put into a target have the shape that the same indices read from it.
template <auto kRead>
Refusal decide_putting(const DecidedCall& call, ArrayType& result) noexcept {
  ArrayType expected = call.operand(1);
  if (Refusal refusal = kRead(call.operand(0), call.operand(2), first_number(call), expected)) {
    return refusal;
  }
  set_shape(result, call.operand(0));
  if (expected == call.operand(1)) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT, "values has shape %s but must have %s",
                  text_of(call.operand(1)).text, text_of(expected).text);
}

}  // namespace

Refusal decide_put(const DecidedCall& call, ArrayType& result) noexcept {
  return decide_putting<taken>(call, result);
}

Refusal decide_scatter(const DecidedCall& call, ArrayType& result) noexcept {
  return decide_putting<gathered>(call, result);
}

Refusal decide_shaped(const DecidedCall& call, ArrayType& result) noexcept {
  std::copy_n(call.numbers, result.rank, result.shape);
  return std::nullopt;
}

Refusal decide_bincount(const DecidedCall& call, ArrayType& result) noexcept {
  std::copy_n(call.numbers, result.rank, result.shape);
  if (!call.has(1)) return std::nullopt;
  ArrayType expected = call.operand(0);
  expected.dtype = call.operand(1).dtype;
  if (expected == call.operand(1)) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT, "weights has shape %s but a has %s",
                  text_of(call.operand(1)).text, text_of(expected).text);
}

Refusal decide_histogram(const DecidedCall& call, ArrayType& result) noexcept {
  std::copy_n(call.numbers, result.rank, result.shape);
  if (!call.has(1) || call.operand(1).shape[0] - 1 == result.shape[0]) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "edges has shape %s but must be one longer than the result, %" PRId64,
                  text_of(call.operand(1)).text, result.shape[0]);
}

Refusal decide_found(const DecidedCall& call, ArrayType& result) noexcept {
  result.shape[0] = call.numbers[0];
  if (!call.has(1)) return std::nullopt;
  const ArrayType& a = call.operand(0);
  const ArrayType& mask = call.operand(1);
  const std::uint32_t added = a.rank - mask.rank;
  for (std::uint32_t axis = 0; axis < mask.rank; ++axis) {
    if (mask.shape[axis] == 1 || mask.shape[axis] == a.shape[added + axis]) continue;
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "mask has shape %s, which does not broadcast to %s", text_of(mask).text,
                    text_of(a).text);
  }
  return std::nullopt;
}

Refusal decide_top_k(const DecidedCall& call, ArrayType& result) noexcept {
  const ArrayType& a = call.operand(0);
  const std::uint32_t axis = first_number(call);
  const std::int64_t k = call.numbers[1];
  set_shape(result, a);
  result.shape[axis] = k;
  if (k <= a.shape[axis]) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "k is %" PRId64 " but a.shape[%" PRIu32 "] is %" PRId64, k, axis, a.shape[axis]);
}

Refusal decide_partition(const DecidedCall& call, ArrayType& result) noexcept {
  const ArrayType& a = call.operand(0);
  const std::uint32_t axis = first_number(call);
  const std::int64_t kth = call.numbers[1];
  set_shape(result, a);
  if (kth < a.shape[axis]) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "kth is %" PRId64 " but a.shape[%" PRIu32 "] is %" PRId64, kth, axis,
                  a.shape[axis]);
}

}  // namespace tenure
