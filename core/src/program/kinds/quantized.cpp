// Quantized numbers and their products.
#include <cinttypes>
#include <optional>

#include "cpu/quantize.hpp"
#include "dense/product/epilogue.hpp"
#include "dense/product/packed_factor.hpp"
#include "dense/product/product_types.hpp"
#include "dense/quantize/product_parts.hpp"
#include "dense/quantize/quantized_matmul.hpp"
#include "dense/quantize/scales.hpp"
#include "program/kinds/calls.hpp"
#include "program/kinds/operand_types.hpp"
#include "program/kinds/quantized_types.hpp"
#include "tenure/dtype.hpp"
#include "tenure/quantize.hpp"
#include "tenure/shape.hpp"
#include "tenure/shape_rules.hpp"

namespace tenure {
namespace {

// Operands of a product.
enum : unsigned { kA, kB, kAScales, kBScales, kAZeros, kBZeros, kBias, kScale, kZero };

ArrayType scaled(const NodeCall& call, const OperandType* operands, tnr_dtype integers) {
  const ArrayType& a = array(operands[0], "a");
  require_scales(array(operands[1], "scales"), "scales", optional_array(operands[2], "zeros"),
                 "zeros", integers);
  return {call.node.dtype, a.rank, {}};
}

// ---- results of tnr_quantize_dynamic() ----

bool is_affine(const GraphNode& node) noexcept {
  return node.op() >= TNR_QUANTIZE_RESULT_AFFINE_VALUES &&
         node.op() <= TNR_QUANTIZE_RESULT_AFFINE_ZEROS;
}
bool gives_values(const GraphNode& node) noexcept {
  return node.op() == TNR_QUANTIZE_RESULT_VALUES ||
         node.op() == TNR_QUANTIZE_RESULT_AFFINE_VALUES ||
         node.op() == TNR_QUANTIZE_RESULT_FOUR_BIT_VALUES;
}
std::uint32_t bits_of(const GraphNode& node) noexcept {
  return node.op() >= TNR_QUANTIZE_RESULT_FOUR_BIT_VALUES ? 4 : 8;
}
tnr_dtype result_dtype(const GraphNode& node) {
  switch (node.op()) {
    case TNR_QUANTIZE_RESULT_VALUES:
    case TNR_QUANTIZE_RESULT_AFFINE_VALUES:
    case TNR_QUANTIZE_RESULT_AFFINE_ZEROS:
    case TNR_QUANTIZE_RESULT_FOUR_BIT_VALUES: return node.dtype;
    case TNR_QUANTIZE_RESULT_SCALES:
    case TNR_QUANTIZE_RESULT_AFFINE_SCALES:
    case TNR_QUANTIZE_RESULT_FOUR_BIT_SCALES: return TNR_DTYPE_F32;
    default: refuse_code("result", node.op());
  }
}

// ---- products by weights of 4 bits ----

Refusal grouped_refusal(const NodeCall& call, const OperandType* operands) noexcept {
  const char* given = nullptr;
  if (operands[kAScales].array != nullptr) given = "a_scales";
  if (operands[kBZeros].array != nullptr) given = "b_zeros";
  if ((call.node.attributes.matmul.flags & TNR_QUANTIZE_AFFINE_ROWS) != 0) {
    given = "TNR_QUANTIZE_AFFINE_ROWS";
  }
  if (given != nullptr) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "%s is given but b_scales has groups, of weights of 4 bits", given);
  }
  const tnr_dtype dtype = operands[kB].array->dtype;
  if (dtype == TNR_DTYPE_I8) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT, "b is %s but weights of 4 bits must be i8",
                  dtype_name(dtype));
}

}  // namespace

ArrayType infer_quantize(const NodeCall& call, const OperandType* operands) {
  (void)quantized_float(array(operands[0], "a").dtype, "a");
  (void)quantized_byte(call.node.dtype, "node");
  return scaled(call, operands, call.node.dtype);
}

void run_quantize(const Context& context, const NodeCall&, const OperandView* operands,
                  const tnr_view_mut& out) {
  quantize(context, *operands[0].view, *operands[1].view, operands[2].view, out);
}

ArrayType infer_dequantize(const NodeCall& call, const OperandType* operands) {
  const tnr_dtype integers = array(operands[0], "a").dtype;
  (void)quantized_byte(integers, "a");
  (void)quantized_float(call.node.dtype, "node");
  return scaled(call, operands, integers);
}

void run_dequantize(const Context& context, const NodeCall&, const OperandView* operands,
                    const tnr_view_mut& out) {
  dequantize(context, *operands[0].view, *operands[1].view, operands[2].view, out);
}

Refusal shape_quantized(const NodeCall&, const OperandType* operands, ArrayType& result) noexcept {
  const ArrayType& a = *operands[0].array;
  const ArrayType& scales = *operands[1].array;
  const ArrayType* const zeros = operands[2].array;
  std::copy_n(a.shape, a.rank, result.shape);
  if (zeros != nullptr) {
    if (Refusal refusal = same_refusal(*zeros, "zeros", scales)) return refusal;
  }
  return scales_refusal("scales", scales.rank, scales.shape, a.rank, a.shape);
}

ArrayType infer_quantize_dynamic(const NodeCall& call, const OperandType* operands) {
  const GraphNode& node = call.node;
  const ArrayType& a = array(operands[0], "a");
  (void)quantized_float(a.dtype, "a");
  (void)quantized_byte(node.dtype, "node");
  const ArrayType scales = shaped(call, result_dtype(node));
  if (!is_affine(node) && node.dtype != TNR_DTYPE_I8) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "node.dtype is u8, which needs zero points, but has none");
  }
  return {scales.dtype, gives_values(node) ? a.rank : scales.rank, {}};
}

Refusal shape_quantize_dynamic(const NodeCall& call, const OperandType* operands,
                               ArrayType& result) noexcept {
  const ArrayType& a = *operands[0].array;
  const auto rank = static_cast<std::uint32_t>(call.node.numbers.size());
  if (gives_values(call.node)) {
    std::copy_n(a.shape, a.rank, result.shape);
  } else {
    std::copy_n(call.numbers, rank, result.shape);
  }
  return scales_refusal("scales", rank, call.numbers, a.rank, a.shape);
}

void run_quantize_dynamic(const Context& context, const NodeCall& call, const OperandView* operands,
                          const tnr_view_mut& out) {
  const GraphNode& node = call.node;
  const tnr_view& a = *operands[0].view;
  const auto rank = static_cast<std::uint32_t>(node.numbers.size());
  // The results that the node does not give.
  std::optional<Dense> values;
  std::optional<Dense> scales;
  std::optional<Dense> zeros;
  if (!gives_values(node)) values.emplace(node.dtype, a.rank, a.shape);
  if (result_dtype(node) != TNR_DTYPE_F32) scales.emplace(TNR_DTYPE_F32, rank, call.numbers);
  const bool gives_zeros = node.op() == TNR_QUANTIZE_RESULT_AFFINE_ZEROS;
  if (is_affine(node) && !gives_zeros) zeros.emplace(node.dtype, rank, call.numbers);
  const tnr_view_mut* of_zeros = gives_zeros ? &out : nullptr;
  if (zeros) of_zeros = &zeros->out();
  quantize_dynamic(context, a, scales ? scales->out() : out, of_zeros, values ? values->out() : out,
                   bits_of(node));
}

ArrayType infer_quantized_matmul(const NodeCall& call, const OperandType* operands) {
  const tnr_dtype dtype = call.node.dtype;
  const ArrayType& a = array(operands[kA], "a");
  const ArrayType& b = array(operands[kB], "b");
  (void)quantized_byte(b.dtype, "b");
  require_scales(array(operands[kBScales], "b_scales"), "b_scales",
                 optional_array(operands[kBZeros], "b_zeros"), "b_zeros", b.dtype);
  const ArrayType* const a_zeros = optional_array(operands[kAZeros], "a_zeros");
  if (const ArrayType* const scales = optional_array(operands[kAScales], "a_scales")) {
    (void)quantized_byte(a.dtype, "a");
    require_scales(*scales, "a_scales", a_zeros, "a_zeros", a.dtype);
    if ((call.node.attributes.matmul.flags & TNR_QUANTIZE_AFFINE_ROWS) != 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "attributes->flags has TNR_QUANTIZE_AFFINE_ROWS but a_scales is given");
    }
  } else {
    (void)quantized_float(a.dtype, "a");
    require_no_zeros(a_zeros, "a_zeros", "a_scales");
  }
  if (a.rank == 0) fail(TNR_STATUS_INVALID_ARGUMENT, "a.rank is 0 but must be 1 at least");
  if (b.rank != 2) fail(TNR_STATUS_INVALID_ARGUMENT, "b.rank is %" PRIu32 " but must be 2", b.rank);
  if (const ArrayType* const bias = optional_array(operands[kBias], "bias")) {
    require_type(*bias, "bias", TNR_DTYPE_F32);
    require_vector(*bias, "bias");
  }
  require_result(dtype, optional_array(operands[kScale], "scale"), "scale",
                 optional_array(operands[kZero], "zero"), "zero");
  (void)Epilogue(activation_behind_rows(call.node.attributes.matmul), nullptr, TNR_DTYPE_F32,
                 TNR_DTYPE_F32);
  return {dtype, a.rank, {}};
}

Refusal shape_quantized_matmul(const NodeCall& call, const OperandType* operands,
                               ArrayType& result) noexcept {
  const ArrayType& a = *operands[kA].array;
  const ArrayType& b = *operands[kB].array;
  const std::int64_t columns[] = {1, b.shape[1]};
  std::int64_t rows[TNR_MAX_RANK];
  std::copy_n(a.shape, a.rank, rows);
  rows[a.rank - 1] = 1;
  std::copy_n(a.shape, a.rank, result.shape);
  result.shape[a.rank - 1] = columns[1];
  if (a.shape[a.rank - 1] != b.shape[0]) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "a has shape %s and b %s, but they must be [..., m, k] and [k, n]",
                    shape_text(a.rank, a.shape).text, shape_text(b.rank, b.shape).text);
  }
  const ArrayType& b_scales = *operands[kBScales].array;
  const bool has_groups =
      b_scales.rank == 2 && b_scales.shape[0] > 1 && are_group_scales(b_scales.shape, b.shape);
  if (has_groups) {
    if (Refusal refusal = grouped_refusal(call, operands)) return refusal;
  } else if (b.shape[0] > kMostExactDepth) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "b.shape[0] is %" PRId64 " but must be %" PRId64
                    " at most, where sums are exact",
                    b.shape[0], kMostExactDepth);
  }
  const auto checked = [&](unsigned of_scales, const char* name, unsigned of_zeros,
                           const char* zeros_name, std::uint32_t rank,
                           const std::int64_t* shape) -> Refusal {
    const ArrayType* const scales = operands[of_scales].array;
    const ArrayType* const zeros = operands[of_zeros].array;
    if (scales == nullptr) return std::nullopt;
    if (zeros != nullptr) {
      if (Refusal refusal = same_refusal(*zeros, zeros_name, *scales)) return refusal;
    }
    if (!broadcast_to(scales->rank, scales->shape, rank, shape)) return std::nullopt;
    return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s has shape %s but must broadcast to %s", name,
                    shape_text(scales->rank, scales->shape).text, shape_text(rank, shape).text);
  };
  if (Refusal refusal = checked(kAScales, "a_scales", kAZeros, "a_zeros", a.rank, rows)) {
    return refusal;
  }
  if (!has_groups) {
    if (Refusal refusal = checked(kBScales, "b_scales", kBZeros, "b_zeros", 2, columns)) {
      return refusal;
    }
  }
  const std::int64_t one[TNR_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  if (Refusal refusal = checked(kScale, "scale", kZero, "zero", TNR_MAX_RANK, one)) {
    return refusal;
  }
  const ArrayType* const bias = operands[kBias].array;
  if (bias == nullptr || bias->shape[0] == columns[1]) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "bias has shape %s but must have one extent of %" PRId64,
                  shape_text(bias->rank, bias->shape).text, columns[1]);
}

void run_quantized_matmul(const Context& context, const NodeCall& call, const OperandView* operands,
                          const tnr_view_mut& out) {
  const tnr_matmul_attributes& given = call.node.attributes.matmul;
  const tnr_quantized_matmul_attributes attributes = {sizeof attributes,
                                                      operands[kBias].view,
                                                      operands[kScale].view,
                                                      operands[kZero].view,
                                                      given.activation,
                                                      given.flags,
                                                      given.low,
                                                      given.high};
  const QuantizedFactor a = {*operands[kA].view, operands[kAScales].view, operands[kAZeros].view};
  const tnr_view* const b_scales = operands[kBScales].view;
  const tnr_view* const b_zeros = operands[kBZeros].view;
  if (call.node.factor != nullptr) {
    const PackedFactor& b = *call.node.factor;
    factor_quantized_matmul(context, a, b, b.has_groups() ? nullptr : b_scales, b_zeros, attributes,
                            out, call.node.column_sums);
  } else {
    quantized_matmul(context, a, {*operands[kB].view, b_scales, b_zeros}, attributes, out);
  }
}

}  // namespace tenure
