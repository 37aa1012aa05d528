// Arithmetic, element by element: operations on one, two and three operands.
#include <algorithm>

#include "base/data_findings.hpp"
#include "cpu/dispatch.hpp"
#include "cpu/operations.hpp"
#include "dense/elementwise/complex.hpp"
#include "dense/elementwise/operations.hpp"
#include "dense/elementwise_call.hpp"
#include "dense/movement.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/dtype.hpp"
#include "tenure/ops.hpp"

namespace tenure {
namespace {

// Whether the result has the operand's dtype, also of an operation that is none.
bool gives_operand(tnr_unary_op op, tnr_dtype dtype) {
  const auto row = static_cast<std::uint32_t>(op) - 1;
  if (row >= kernels::kUnaryCount || kernels::kUnaryRows[row].gives == kernels::Gives::kOperand) {
    return true;
  }
  return kernels::kUnaryRows[row].gives == kernels::Gives::kPart && !is_complex(dtype);
}

bool is_integer(tnr_dtype dtype) {
  return code_of(dtype) == DtypeCode::kInt || code_of(dtype) == DtypeCode::kUint;
}

void run(const Context& context, const ElementwiseCall& operands, const Operation& operation) {
  require_no_finding(operands.run(context, operation));
}

// Part of each call, also of a small one.
[[gnu::always_inline]] inline Operation find_unary(tnr_unary_op op, tnr_dtype dtype) {
  const auto row = static_cast<std::uint32_t>(op) - 1;
  if (row >= kernels::kUnaryCount) [[unlikely]]
    refuse_code("unary", op);
  const unsigned column = type_index(dtype);
  if (column == kNoType) [[unlikely]]
    return complex_unary(op, dtype);
  const Operation operation(kernels::unary_kernels()[row][column]);
  if (operation.kernel() == nullptr) [[unlikely]]
    refuse_dtype(kernels::kUnaryRows[row].name, dtype);
  return operation;
}

[[gnu::always_inline]] inline Operation find_binary(tnr_binary_op op, tnr_dtype dtype) {
  const auto row = static_cast<std::uint32_t>(op) - 1;
  if (row >= kernels::kBinaryCount) [[unlikely]]
    refuse_code("binary", op);
  const unsigned column = type_index(dtype);
  if (column == kNoType) [[unlikely]]
    return complex_binary(op, dtype);
  const Operation operation(kernels::binary_kernels()[row][column]);
  if (operation.kernel() == nullptr) [[unlikely]]
    refuse_dtype(kernels::kBinaryRows[row].name, dtype);
  return operation;
}

}  // namespace

Operation unary_operation(tnr_unary_op op, tnr_dtype dtype) { return find_unary(op, dtype); }
Operation binary_operation(tnr_binary_op op, tnr_dtype dtype) { return find_binary(op, dtype); }

Operation ternary_operation(tnr_ternary_op op, tnr_dtype dtype) {
  const auto row = static_cast<std::uint32_t>(op) - 1;
  if (row >= kernels::kTernaryCount) refuse_code("ternary", op);
  const unsigned column = type_index(dtype);
  if (column == kNoType) refuse_dtype(kernels::kTernaryRows[row].name, dtype);
  const Operation operation(kernels::ternary_kernels()[row][column]);
  if (operation.kernel() == nullptr) refuse_dtype(kernels::kTernaryRows[row].name, dtype);
  return operation;
}

void require_unary_dtypes(tnr_unary_op op, const tnr_view& a, const tnr_view& out) {
  if (gives_operand(op, a.dtype)) [[likely]] {
    require_dtype(a, "a", out.dtype, "out.dtype is");
  } else {
    require_dtype(out, "out", result_dtype(kernels::kUnaryRows[op - 1].gives, a.dtype), "must be");
  }
}

void require_right_number(tnr_binary_op op, const Element& b, tnr_dtype dtype) {
  if (!is_integer(dtype)) return;
  const std::size_t width = element_size(dtype);
  if (op == TNR_BINARY_OP_DIV || op == TNR_BINARY_OP_REM) {
    if (std::all_of(b.bytes, b.bytes + width, [](auto byte) { return byte == 0; })) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "b is 0 but an integer divisor must not be 0");
    }
  } else if (op == TNR_BINARY_OP_POW && code_of(dtype) == DtypeCode::kInt) {
    if ((static_cast<unsigned>(b.bytes[width - 1]) & 0x80u) != 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "b is negative but a power of integers must not be");
    }
  }
}

void refuse_finding(kernels::Finding found) {
  refuse_data(TNR_STATUS_INVALID_ARGUMENT, "%s",
              found == kernels::kZeroDivisor
                  ? "b has an element 0 but integer divisors must not be 0; out holds a mixture"
                  : "b has a negative element but powers of integers must not be; out holds a "
                    "mixture");
}

void unary(const Context& context, tnr_unary_op op, const tnr_view& a, const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out").enqueue(DeviceUnary{op, a, out});
  ElementwiseCall operands(out);
  operands.add(a, "a");
  require_unary_dtypes(op, a, out.view);
  operands.run(context, find_unary(op, a.dtype));
  operands.count(TNR_OPERATION_UNARY);
}

void binary(const Context& context, tnr_binary_op op, const tnr_view& a, const tnr_view& b,
            const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out").enqueue(DeviceBinary{op, a, b, out});
  ElementwiseCall operands(out);
  operands.add(a, "a");
  operands.add(b, "b");
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  require_dtype(b, "b", out.view.dtype, "out.dtype is");
  run(context, operands, find_binary(op, a.dtype));
  operands.count(TNR_OPERATION_BINARY);
}

void binary(const Context& context, tnr_binary_op op, const tnr_view& a, const tnr_scalar& b,
            const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out").enqueue(DeviceBinary{op, a, b, out});
  ElementwiseCall operands(out);
  operands.add(a, "a");
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  const Operation operation = binary_operation(op, a.dtype);
  const Element element = to_element(b, a.dtype, "b");
  require_right_number(op, element, a.dtype);
  operands.add(element, out.view.dtype);
  run(context, operands, operation);
  operands.count(TNR_OPERATION_BINARY);
}

void binary(const Context& context, tnr_binary_op op, const tnr_scalar& a, const tnr_view& b,
            const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out").enqueue(DeviceBinary{op, a, b, out});
  ElementwiseCall operands(out);
  const Operation operation = binary_operation(op, out.view.dtype);
  const Element element = to_element(a, out.view.dtype, "a");
  operands.add(element, out.view.dtype);
  operands.add(b, "b");
  require_dtype(b, "b", out.view.dtype, "out.dtype is");
  run(context, operands, operation);
  operands.count(TNR_OPERATION_BINARY);
}

void ternary(const Context& context, tnr_ternary_op op, const tnr_view& a, const tnr_view& b,
             const tnr_view& c, const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out").enqueue(DeviceTernary{op, a, b, c, out});
  ElementwiseCall operands(out);
  operands.add(a, "a");
  operands.add(b, "b");
  operands.add(c, "c");
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  require_dtype(b, "b", out.view.dtype, "out.dtype is");
  require_dtype(c, "c", out.view.dtype, "out.dtype is");
  operands.run(context, ternary_operation(op, out.view.dtype));
  operands.count(TNR_OPERATION_TERNARY);
}

}  // namespace tenure
