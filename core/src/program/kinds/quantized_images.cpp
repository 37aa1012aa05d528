// Convolutions of quantized images.
#include <algorithm>
#include <cinttypes>
#include <optional>

#include "base/arithmetic.hpp"
#include "dense/product/epilogue.hpp"
#include "dense/quantize/product_parts.hpp"
#include "dense/quantize/quantized_matmul.hpp"
#include "dense/quantize/scales.hpp"
#include "program/kinds/calls.hpp"
#include "program/kinds/operand_types.hpp"
#include "program/kinds/quantized_types.hpp"
#include "program/unbacked.hpp"
#include "tenure/quantize.hpp"
#include "tenure/shape.hpp"
#include "tenure/shape_rules.hpp"

namespace tenure {
namespace {

// Operands of a convolution.
struct Its {
  enum : unsigned { kA, kWeight, kAScale, kScales, kAZero, kZeros, kBias, kOutScale, kOutZero };
};

// Scales that broadcast to `shape`, and zeros of their shape.
void require_shapes(const ArrayType* scales, const char* name, const ArrayType* zeros,
                    const char* zeros_name, std::uint32_t rank, const std::int64_t* shape) {
  if (scales == nullptr) return;
  if (zeros != nullptr) require_none(same_refusal(*zeros, zeros_name, *scales));
  if (!broadcast_to(scales->rank, scales->shape, rank, shape)) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s has shape %s but must broadcast to %s", name,
       shape_text(scales->rank, scales->shape).text, shape_text(rank, shape).text);
}

// An image of numbers as integers, with one scale and one zero point.
class QuantizedImage {
 public:
  QuantizedImage(const Context& context, const tnr_view& a)
      : values_(TNR_DTYPE_U8, 4, a.shape),
        scale_(TNR_DTYPE_F32, 0, nullptr),
        zero_(TNR_DTYPE_U8, 0, nullptr) {
    if (is_channels_last(a)) values_.put_channels_last();
    quantize_dynamic(context, a, scale_.out(), &zero_.out(), values_.out());
  }
  [[nodiscard]] QuantizedFactor factor() const noexcept {
    return {values_.view(), &scale_.view(), &zero_.view()};
  }

 private:
  Dense values_;
  Dense scale_;
  Dense zero_;
};

}  // namespace

ArrayType infer_quantized_conv2d(const NodeCall& call, const OperandType* operands) {
  const tnr_dtype dtype = call.node.dtype;
  const tnr_conv2d_attributes& attributes = call.node.attributes.conv2d;
  const ArrayType& a = array(operands[Its::kA], "a");
  const ArrayType& weight = array(operands[Its::kWeight], "weight");
  const ArrayType& scales = array(operands[Its::kScales], "scales");
  const ArrayType* const zeros = optional_array(operands[Its::kZeros], "zeros");
  const ArrayType* const a_scale = optional_array(operands[Its::kAScale], "a_scale");
  const ArrayType* const a_zero = optional_array(operands[Its::kAZero], "a_zero");
  const ArrayType* const out_scale = optional_array(operands[Its::kOutScale], "out_scale");
  const ArrayType* const out_zero = optional_array(operands[Its::kOutZero], "out_zero");
  (void)quantized_byte(weight.dtype, "weight");
  require_scales(scales, "scales", zeros, "zeros", weight.dtype);
  if (a_scale != nullptr) {
    (void)quantized_byte(a.dtype, "a");
    require_scales(*a_scale, "a_scale", a_zero, "a_zero", a.dtype);
  } else {
    (void)quantized_float(a.dtype, "a");
    require_no_zeros(a_zero, "a_zero", "a_scale");
  }
  require_result(dtype, out_scale, "out_scale", out_zero, "out_zero");

  ArrayType result = infer_convolved(a, weight, attributes);
  result.dtype = dtype;
  const std::int64_t depth =
      product_or_most(product_or_most(weight.shape[1], weight.shape[2]), weight.shape[3]);
  if (depth > kMostExactDepth) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "weight has filters of %" PRId64 " elements but they must have %" PRId64
         " at most, where sums are exact",
         depth, kMostExactDepth);
  }
  const std::int64_t filters[] = {weight.shape[0], 1, 1, 1};
  const std::int64_t one[TNR_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  require_shapes(&scales, "scales", zeros, "zeros", 4, filters);
  require_shapes(a_scale, "a_scale", a_zero, "a_zero", TNR_MAX_RANK, one);
  require_shapes(out_scale, "out_scale", out_zero, "out_zero", TNR_MAX_RANK, one);
  ArrayType sums = result;
  sums.dtype = TNR_DTYPE_F32;
  require_bias(optional_array(operands[Its::kBias], "bias"), sums, filters[0]);
  (void)Epilogue(Activation(attributes), nullptr, TNR_DTYPE_F32, TNR_DTYPE_F32);
  return result;
}

void run_quantized_conv2d(const Context& context, const NodeCall& call, const OperandView* operands,
                          const tnr_view_mut& out) {
  const tnr_conv2d_attributes& given = call.node.attributes.conv2d;
  tnr_quantized_conv2d_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  std::ranges::copy(given.strides, attributes.strides);
  std::ranges::copy(given.padding, attributes.padding);
  std::ranges::copy(given.dilations, attributes.dilations);
  attributes.groups = given.groups;
  attributes.bias = operands[Its::kBias].view;
  attributes.out_scale = operands[Its::kOutScale].view;
  attributes.out_zero = operands[Its::kOutZero].view;
  attributes.activation = given.activation;
  attributes.flags = given.flags;
  attributes.low = given.low;
  attributes.high = given.high;
  const QuantizedFactor weight = {*operands[Its::kWeight].view, operands[Its::kScales].view,
                                  operands[Its::kZeros].view};
  std::optional<QuantizedImage> image;
  if (operands[Its::kAScale].view == nullptr) image.emplace(context, *operands[Its::kA].view);
  quantized_conv2d(context,
                   image ? image->factor()
                         : QuantizedFactor{*operands[Its::kA].view, operands[Its::kAScale].view,
                                           operands[Its::kAZero].view},
                   weight, attributes, out, call.node.factor, call.node.column_sums);
}

}  // namespace tenure
