// Products of matrices.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "dense/operands.hpp"
#include "dense/product/epilogue.hpp"
#include "dense/product/matmul.hpp"
#include "dense/product/product_types.hpp"
#include "program/kinds/calls.hpp"
#include "program/kinds/operand_types.hpp"
#include "program/side_by_side.hpp"
#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"
#include "tenure/engine.hpp"
#include "tenure/ops.hpp"

namespace tenure {
namespace {

const char* spec_of(const GraphNode& node) {
  const auto& spec = node.attributes.einsum.spec;
  if (std::memchr(spec, 0, sizeof spec) == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->spec has no end in its %zu bytes", sizeof spec);
  }
  return spec;
}

}  // namespace

ArrayType infer_matmul(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType& b = array(operands[1], "b");
  const FactorDtype& left = kFactorDtypes[factor_type(a.dtype)];
  const FactorDtype& right = kFactorDtypes[factor_type(b.dtype)];
  ShapeText a_text;
  ShapeText b_text;
  if (a.dtype != b.dtype && !(is_byte(left.dtype) && is_byte(right.dtype))) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "b.dtype is %s but a.dtype is %s", dtype_name(b.dtype),
         dtype_name(a.dtype));
  }
  if (a.rank == 0 || b.rank == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is 0 but must be 1 at least",
         a.rank == 0 ? "a" : "b");
  }
  const std::int64_t depth = a.shape[a.rank - 1];
  const std::int64_t b_depth = b.shape[b.rank == 1 ? 0 : b.rank - 2];
  if (depth != b_depth) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "a has %" PRId64 " columns but b %" PRId64 " rows: a has shape %s, b %s", depth, b_depth,
         shape_of(a, a_text), shape_of(b, b_text));
  }
  ArrayType result = {left.result, 0, {}};
  const std::uint32_t a_batch = a.rank < 2 ? 0 : a.rank - 2;
  const std::uint32_t b_batch = b.rank < 2 ? 0 : b.rank - 2;
  const std::uint32_t batch = std::max(a_batch, b_batch);
  for (std::uint32_t axis = 0; axis < batch; ++axis) {
    const std::int64_t of_a = axis + a_batch < batch ? 1 : a.shape[axis + a_batch - batch];
    const std::int64_t of_b = axis + b_batch < batch ? 1 : b.shape[axis + b_batch - batch];
    if (of_a != of_b && of_a != 1 && of_b != 1) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "the batch of a does not broadcast with that of b: a has "
           "shape %s, b %s",
           shape_of(a, a_text), shape_of(b, b_text));
    }
    result.shape[result.rank++] = of_a == 1 ? of_b : of_a;
  }
  if (a.rank > 1) result.shape[result.rank++] = a.shape[a.rank - 2];
  if (b.rank > 1) result.shape[result.rank++] = b.shape[b.rank - 1];
  require_size(result);
  const std::int64_t columns = b.rank == 1 ? 1 : b.shape[b.rank - 1];
  require_bias(optional_array(operands[2], "bias"), result, columns);
  (void)Epilogue(Activation(call.node.attributes.matmul), nullptr, result.dtype, left.computed());
  return result;
}

void run_matmul(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  tnr_matmul_attributes attributes = call.node.attributes.matmul;
  attributes.bias = operands[2].view;
  const tnr_view& a = *operands[0].view;
  const tnr_scalar one = tnr_scalar_i64(1);
  const tnr_scalar zero = tnr_scalar_i64(0);
  // Another engine packs for itself, and adds up in another order.
  if (call.node.factor != nullptr && engine_of(context) == TNR_ENGINE_OWN) {
    factor_matmul(context, one, a, *call.node.factor, zero, out, attributes);
  } else {
    matmul(context, one, a, *operands[1].view, zero, out, attributes);
  }
}

ArrayType infer_einsum(const NodeCall& call, const OperandType* operands) {
  const std::size_t count = call.node.operands.size();
  SideBySide views(count);
  for (std::size_t i = 0; i < count; ++i) {
    views.data()[i] = unbacked_view(array(operands[i], "an operand"));
  }
  const EinsumShape shape =
      einsum_shape(spec_of(call.node), views.data(), static_cast<std::uint32_t>(count));
  ArrayType result = {shape.dtype, shape.rank, {}};
  std::copy_n(shape.extents, shape.rank, result.shape);
  require_size(result);
  return result;
}

void run_einsum(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  const SideBySide views(call.node, operands);
  einsum(context, spec_of(call.node), views.data(),
         static_cast<std::uint32_t>(call.node.operands.size()), out);
}

}  // namespace tenure
