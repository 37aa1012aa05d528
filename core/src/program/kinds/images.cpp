// Operations on images.
#include <algorithm>
#include <cinttypes>
#include <iterator>

#include "dense/checks.hpp"
#include "dense/image/geometry.hpp"
#include "dense/image/pool_geometry.hpp"
#include "dense/image/wide_images.hpp"
#include "dense/product/epilogue.hpp"
#include "dense/product/packed_filters.hpp"
#include "program/kinds/calls.hpp"
#include "program/kinds/operand_types.hpp"
#include "program/unbacked.hpp"
#include "tenure/ops.hpp"

namespace tenure {
namespace {

// The extents of a result, which places of windows are.
ArrayType image_result(const ArrayType& a, std::int64_t channels, const WindowGeometry& g) {
  ArrayType result = {a.dtype, 4, {a.shape[0], channels, g.out[kHeight], g.out[kWidth]}};
  return result;
}

void require_image(const ArrayType& type, const char* name) {
  if (type.rank == 4) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is %" PRIu32 " but must be 4", name, type.rank);
}

// The operands of a convolution, either way: the dtype of its sums.
tnr_dtype require_factors(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType& weight = array(operands[1], "weight");
  require_image(a, "a");
  require_image(weight, "weight");
  const tnr_dtype computed = is_narrow(a.dtype) ? TNR_DTYPE_F32 : a.dtype;
  (void)require_image_type(operation_name(call.node), computed);
  require_type(weight, "weight", a.dtype);
  return computed;
}

void require_epilogue(const NodeCall& call, const OperandType* operands, const ArrayType& result,
                      tnr_dtype computed) {
  require_bias(optional_array(operands[2], "bias"), result, result.shape[1]);
  (void)Epilogue(Activation(call.node.attributes.conv2d), nullptr, result.dtype, computed);
}

// The fewest places from which windows take as many as `a` has; 0 where that is no number.
std::int64_t fewest_places(const tnr_conv2d_attributes& attributes, unsigned axis,
                           std::int64_t count, std::int64_t kernel) {
  const std::int64_t stride = given_or(attributes.strides[axis], 1, "strides", axis);
  const std::int64_t dilation = given_or(attributes.dilations[axis], 1, "dilations", axis);
  const std::int64_t* const around = attributes.padding + std::ptrdiff_t{2} * axis;
  std::int64_t places;
  std::int64_t reach;
  const bool overflows = __builtin_mul_overflow(count - 1, stride, &places) ||
                         __builtin_mul_overflow(kernel - 1, dilation, &reach) ||
                         __builtin_add_overflow(places, reach, &places) ||
                         __builtin_add_overflow(places, 1, &places) ||
                         __builtin_sub_overflow(places, around[0], &places) ||
                         __builtin_sub_overflow(places, around[1], &places);
  return overflows || places < 0 ? 0 : places;
}

void require_number_count(const NodeCall& call, std::size_t expected) {
  if (call.node.numbers.size() == expected) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "number_count is %zu but must be %zu", call.node.numbers.size(),
       expected);
}

}  // namespace

ArrayType infer_convolved(const ArrayType& a, const ArrayType& weight,
                          const tnr_conv2d_attributes& attributes) {
  require_image(a, "a");
  require_image(weight, "weight");
  WindowGeometry g = {};
  for (const unsigned axis : {kHeight, kWidth}) {
    g.in[axis] = a.shape[2 + axis];
    g.kernel[axis] = weight.shape[2 + axis];
    place_windows(g, axis, attributes, 1, "weight", "a");
  }
  const ArrayType result = image_result(a, weight.shape[0], g);
  (void)convolution_geometry(unbacked_view(a), unbacked_view(weight), attributes,
                             unbacked_view(result), "the result");
  return result;
}

ArrayType infer_conv2d(const NodeCall& call, const OperandType* operands) {
  const tnr_dtype computed = require_factors(call, operands);
  const ArrayType result =
      infer_convolved(*operands[0].array, *operands[1].array, call.node.attributes.conv2d);
  require_epilogue(call, operands, result, computed);
  return result;
}

ArrayType infer_conv2d_transposed(const NodeCall& call, const OperandType* operands) {
  const tnr_dtype computed = require_factors(call, operands);
  const ArrayType& a = *operands[0].array;
  const ArrayType& weight = *operands[1].array;
  const tnr_conv2d_attributes& attributes = call.node.attributes.conv2d;
  if (!call.node.numbers.empty()) require_number_count(call, 2);
  WindowGeometry g = {};
  for (const unsigned axis : {kHeight, kWidth}) {
    g.out[axis] = call.node.numbers.empty()
                      ? fewest_places(attributes, axis, a.shape[2 + axis], weight.shape[2 + axis])
                      : call.numbers[axis];
  }
  std::int64_t filters;
  if (__builtin_mul_overflow(weight.shape[1], std::max<std::int64_t>(attributes.groups, 1),
                             &filters)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->groups is %" PRId64, attributes.groups);
  }
  const ArrayType result = image_result(a, filters, g);
  (void)transposed_geometry(unbacked_view(a), unbacked_view(weight), attributes,
                            unbacked_view(result), "the result");
  require_epilogue(call, operands, result, computed);
  return result;
}

void run_conv2d_transposed(const Context& context, const NodeCall& call,
                           const OperandView* operands, const tnr_view_mut& out) {
  conv2d_transposed(context, *operands[0].view, *operands[1].view, operands[2].view,
                    call.node.attributes.conv2d, out);
}

void run_conv2d(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  const tnr_view& a = *operands[0].view;
  const tnr_view& weight = *operands[1].view;
  const tnr_conv2d_attributes& attributes = call.node.attributes.conv2d;
  if (const PackedFilters* const packed = call.node.filters; packed != nullptr) {
    conv2d_packed(context, a, weight, *packed, operands[2].view, attributes, out);
  } else {
    conv2d(context, a, weight, operands[2].view, attributes, out);
  }
}

ArrayType infer_pool2d(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const tnr_pool2d_attributes& attributes = call.node.attributes.pool2d;
  require_image(a, "a");
  (void)require_image_type("pool2d", is_narrow(a.dtype) ? TNR_DTYPE_F32 : a.dtype);
  const bool is_adaptive = (attributes.flags & TNR_POOL2D_ADAPTIVE) != 0;
  require_number_count(call, is_adaptive ? 2 : 0);
  WindowGeometry g = {};
  for (const unsigned axis : {kHeight, kWidth}) {
    g.in[axis] = a.shape[2 + axis];
    if (is_adaptive) {
      g.out[axis] = call.numbers[axis];
      continue;
    }
    g.kernel[axis] =
        given_or(attributes.kernel[axis], std::max<std::int64_t>(g.in[axis], 1), "kernel", axis);
    place_windows(g, axis, attributes, g.kernel[axis], "the kernel", "a", rounding_of(attributes));
  }
  const ArrayType result = image_result(a, a.shape[1], g);
  check_pool2d(call.node.op(), unbacked_view(a), attributes, unbacked_view(result));
  return result;
}

void run_pool2d(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  pool2d(context, call.node.op(), *operands[0].view, call.node.attributes.pool2d, out);
}

ArrayType infer_pool2d_gradient(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType& g = array(operands[1], "g");
  check_pool2d_gradient(call.node.op(), unbacked_view(a), unbacked_view(g),
                        call.node.attributes.pool2d, unbacked_view(a));
  return a;
}

void run_pool2d_gradient(const Context& context, const NodeCall& call, const OperandView* operands,
                         const tnr_view_mut& out) {
  pool2d_gradient(context, call.node.op(), *operands[0].view, *operands[1].view,
                  call.node.attributes.pool2d, out);
}

ArrayType infer_conv2d_filters(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  const ArrayType& g = array(operands[1], "g");
  require_image(a, "a");
  require_image(g, "g");
  const tnr_conv2d_attributes& attributes = call.node.attributes.conv2d;
  const std::int64_t groups = std::max<std::int64_t>(attributes.groups, 1);
  const ArrayType result = {
      a.dtype, 4, {g.shape[1], a.shape[1] / groups, call.numbers[0], call.numbers[1]}};
  check_conv2d_filters(unbacked_view(a), unbacked_view(g), attributes, unbacked_view(result));
  return result;
}

void run_conv2d_filters(const Context& context, const NodeCall& call, const OperandView* operands,
                        const tnr_view_mut& out) {
  conv2d_filters(context, *operands[0].view, *operands[1].view, call.node.attributes.conv2d, out);
}

ArrayType infer_batch_norm(const NodeCall& call, const OperandType* operands) {
  const ArrayType& a = array(operands[0], "a");
  static constexpr const char* kNames[] = {"a", "mean", "var", "weight", "bias"};
  tnr_view views[std::size(kNames)];
  const tnr_view* given[std::size(kNames)] = {};
  (void)array(operands[2], "var");
  for (unsigned i = 0; i < std::size(kNames); ++i) {
    const ArrayType* const operand = optional_array(operands[i], kNames[i]);
    if (operand == nullptr) continue;
    views[i] = unbacked_view(*operand);
    given[i] = &views[i];
  }
  check_batch_norm(views[0], given[1], views[2], given[3], given[4],
                   call.node.attributes.batch_norm.eps, views[0]);
  return a;
}

void run_batch_norm(const Context& context, const NodeCall& call, const OperandView* operands,
                    const tnr_view_mut& out) {
  batch_norm(context, *operands[0].view, operands[1].view, *operands[2].view, operands[3].view,
             operands[4].view, call.node.attributes.batch_norm.eps, out);
}

}  // namespace tenure
