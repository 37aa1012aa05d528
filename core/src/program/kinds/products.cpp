// Products of matrices.
#include <algorithm>
#include <cinttypes>
#include <cstring>

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
#include "view/operand_checks.hpp"

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
  if (a.dtype != b.dtype && !(is_byte(left.dtype) && is_byte(right.dtype))) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "b.dtype is %s but a.dtype is %s", dtype_name(b.dtype),
         dtype_name(a.dtype));
  }
  if (a.rank == 0 || b.rank == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is 0 but must be 1 at least",
         a.rank == 0 ? "a" : "b");
  }
  const auto batch_rank = [](const ArrayType& type) { return type.rank < 2 ? 0 : type.rank - 2; };
  const std::uint32_t rank =
      std::max(batch_rank(a), batch_rank(b)) + (a.rank > 1 ? 1 : 0) + (b.rank > 1 ? 1 : 0);
  const ArrayType result = {left.result, rank, {}};
  if (const ArrayType* const bias = optional_array(operands[2], "bias")) {
    require_type(*bias, "bias", result.dtype);
    require_vector(*bias, "bias");
  }
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
  return result;
}

void run_einsum(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  const SideBySide views(call.node, operands);
  einsum(context, spec_of(call.node), views.data(),
         static_cast<std::uint32_t>(call.node.operands.size()), out);
}

}  // namespace tenure
