#include "program/kinds/quantized_types.hpp"

#include "dense/product/product_types.hpp"
#include "dense/quantize/scales.hpp"
#include "program/kinds/operand_types.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"

namespace tenure {

void require_scales(const ArrayType& scales, const char* name, const ArrayType* zeros,
                    const char* zeros_name, tnr_dtype integers) {
  require_type(scales, name, TNR_DTYPE_F32);
  if (zeros != nullptr) require_type(*zeros, zeros_name, integers);
}

void require_no_zeros(const ArrayType* zeros, const char* zeros_name, const char* name) {
  if (zeros == nullptr) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s is given but %s is not", zeros_name, name);
}

void require_result(tnr_dtype dtype, const ArrayType* scale, const char* name,
                    const ArrayType* zero, const char* zero_name) {
  if (!is_byte(dtype)) (void)quantized_float(dtype, "node");
  if (is_byte(dtype) != (scale != nullptr)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "node.dtype is %s but %s is %s", dtype_name(dtype), name,
         scale == nullptr ? "not given" : "given");
  }
  if (scale == nullptr) return require_no_zeros(zero, zero_name, name);
  require_scales(*scale, name, zero, zero_name, dtype);
}

Refusal same_refusal(const ArrayType& zeros, const char* name, const ArrayType& scales) noexcept {
  if (same_shape(zeros, scales)) return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s has shape %s but its scales have %s", name,
                  shape_text(zeros.rank, zeros.shape).text,
                  shape_text(scales.rank, scales.shape).text);
}

}  // namespace tenure
