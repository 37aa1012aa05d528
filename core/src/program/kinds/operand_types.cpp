#include "program/kinds/operand_types.hpp"

#include <algorithm>
#include <cinttypes>

#include "tenure/dtype.hpp"
#include "tenure/status.hpp"
#include "tenure/view.hpp"

namespace tenure {

const ArrayType& array(const OperandType& operand, const char* name) {
  if (operand.array == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s is %s but must be an array", name,
         operand.scalar == nullptr ? "not given" : "a scalar");
  }
  return *operand.array;
}

const ArrayType* optional_array(const OperandType& operand, const char* name) {
  return operand.array == nullptr && operand.scalar == nullptr ? nullptr : &array(operand, name);
}

const char* shape_of(const ArrayType& type, ShapeText& text) noexcept {
  text = shape_text(type.rank, type.shape);
  return text.text;
}

void require_type(const ArrayType& type, const char* name, tnr_dtype dtype) {
  if (type.dtype == dtype) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s.dtype is %s but must be %s", name, dtype_name(type.dtype),
       dtype_name(dtype));
}

std::uint32_t axis_of(std::int64_t number, std::uint32_t rank) {
  if (number < 0 || number >= static_cast<std::int64_t>(rank)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "axis is %" PRId64 " but the rank is %" PRIu32, number, rank);
  }
  return static_cast<std::uint32_t>(number);
}

std::uint32_t rank_of(const NodeCall& call) {
  if (call.node.numbers.size() > TNR_MAX_RANK) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "number_count is %zu, more axes than %d",
         call.node.numbers.size(), TNR_MAX_RANK);
  }
  return static_cast<std::uint32_t>(call.node.numbers.size());
}

ArrayType shaped(const NodeCall& call, tnr_dtype dtype) {
  ArrayType type = {dtype, rank_of(call), {}};
  std::copy_n(call.numbers, type.rank, type.shape);
  (void)row_major_bytes(type.dtype, type.rank, type.shape);
  return type;
}

void require_bias(const ArrayType* bias, const ArrayType& result, std::int64_t count) {
  if (bias == nullptr) return;
  require_type(*bias, "bias", result.dtype);
  if (bias->rank == 1 && bias->shape[0] == count) return;
  ShapeText text;
  fail(TNR_STATUS_INVALID_ARGUMENT, "bias has shape %s but must have one extent of %" PRId64,
       shape_of(*bias, text), count);
}

void require_indices(const ArrayType& indices) {
  if (indices.dtype == TNR_DTYPE_I32 || indices.dtype == TNR_DTYPE_I64) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "indices.dtype is %s but must be i32 or i64",
       dtype_name(indices.dtype));
}

void require_vector(const ArrayType& type, const char* name) {
  if (type.rank == 1) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is %" PRIu32 " but must be 1", name, type.rank);
}

}  // namespace tenure
