// Element-wise operations, and movement.
#include <bit>

#include "cpu/dispatch.hpp"
#include "cpu/operations.hpp"
#include "cuda/operations/call.hpp"
#include "cuda/operations/families.hpp"
#include "cuda/operations/transfer.hpp"
#include "dense/elementwise/operations.hpp"
#include "dense/movement.hpp"
#include "dense/operands.hpp"
#include "tenure/dtype.hpp"
#include "tenure/view.hpp"

namespace tenure::cuda {
namespace {

using Op = std::uint32_t;

bool is_half(ElementType type) { return type == ElementType::kF16 || type == ElementType::kBF16; }

// As many elements as 16 bytes hold.
Vectors vectors_of(tnr_dtype dtype) { return {static_cast<unsigned>(16 / element_size(dtype))}; }
// The vectors of kernels that compute f32, f16 and bf16 as four floats.
Vectors vectors_of_floats(ElementType type) { return {type == ElementType::kF64 ? 2u : 4u}; }

ElementwiseArgument argument_of(Op op, ElementType type) {
  ElementwiseArgument argument = empty_argument();
  argument.op = op;
  argument.type = type;
  argument.out_type = type;
  return argument;
}

// A family has a kernel for each width of integers, ...
struct IntegerKernels {
  Kernel of_width[4];
};
constexpr IntegerKernels kUnaryIntegers = {
    {Kernel::unary_8, Kernel::unary_16, Kernel::unary_32, Kernel::unary_64}};
constexpr IntegerKernels kBinaryIntegers = {
    {Kernel::binary_8, Kernel::binary_16, Kernel::binary_32, Kernel::binary_64}};
constexpr IntegerKernels kTernaryIntegers = {
    {Kernel::ternary_8, Kernel::ternary_16, Kernel::ternary_32, Kernel::ternary_64}};
constexpr IntegerKernels kCompareIntegers = {
    {Kernel::compare_8, Kernel::compare_16, Kernel::compare_32, Kernel::compare_64}};

Kernel kernel_of(const IntegerKernels& kernels, tnr_dtype dtype) {
  return kernels.of_width[std::countr_zero(element_size(dtype))];
}

// ... and one each for f64, for f32 and for 16 bits, the last two often the same.
struct FloatKernels {
  Kernel f64;
  Kernel f32;
  Kernel halves;
};

Kernel kernel_of(const FloatKernels& kernels, ElementType type) {
  if (type == ElementType::kF64) return kernels.f64;
  return is_half(type) ? kernels.halves : kernels.f32;
}

struct UnaryKernel {
  FloatKernels kernels;
  bool takes_four;  // floats, also of 16 bits
};

UnaryKernel unary_kernel_of(kernels::Device device) {
  using enum kernels::Device;
  switch (device) {
    case kWords: return {{Kernel::unary_64, Kernel::unary_32, Kernel::unary_16}, false};
    case kQuestion:
      return {{Kernel::question_f64, Kernel::question_f32, Kernel::question_f16}, false};
    case kNumber: return {{Kernel::number_f64, Kernel::number_f32, Kernel::number_f32}, true};
    case kAngle: return {{Kernel::angle_f64, Kernel::angle_f32, Kernel::angle_f32}, true};
    case kNone:
    case kOfKind:
    case kFunction:
    case kFusedFunction: break;
  }
  return {{Kernel::function_f64, Kernel::function_f32, Kernel::function_f32}, true};
}

ElementType require_on_device(const Queue& queue, const kernels::OperationRow& row,
                              tnr_dtype dtype) {
  if (row.device == kernels::Device::kNone) refuse_on_device(queue, row.name, dtype);
  return require_real(queue, row.name, dtype);
}

void run_unary(const Call& call, tnr_unary_op op, tnr_dtype dtype) {
  const kernels::OperationRow& row = kernels::kUnaryRows[op - 1];
  const ElementType type = require_on_device(call.queue(), row, dtype);
  ElementwiseArgument argument = argument_of(static_cast<Op>(op), type);
  if (!is_float(type)) {
    return call.run(kernel_of(kUnaryIntegers, dtype), vectors_of(dtype), argument);
  }
  const UnaryKernel of = unary_kernel_of(row.device);
  const Vectors vectors = of.takes_four ? vectors_of_floats(type) : vectors_of(dtype);
  call.run(kernel_of(of.kernels, type), vectors, argument);
}

// Elements on the right that are a number have been checked; a view is looked at by the device, and
// waited for.
enum class Right : std::uint8_t { kNumber, kView };

// The type of operands that an operation takes here. Throws as binary_operation(), which is asked
// only where the answer is no.
ElementType binary_type(const Queue& queue, tnr_binary_op op, tnr_dtype dtype) {
  const auto row = static_cast<std::uint32_t>(op) - 1;
  const unsigned column = type_index(dtype);
  if (row < kernels::kBinaryCount && column != kNoType &&
      kernels::binary_kernels()[row][column].kernel != nullptr &&
      kernels::kBinaryRows[row].device != kernels::Device::kNone) [[likely]] {
    return static_cast<ElementType>(column);
  }
  static_cast<void>(binary_operation(op, dtype));
  return require_on_device(queue, kernels::kBinaryRows[row], dtype);
}

void run_binary(const Call& call, tnr_binary_op op, tnr_dtype dtype, Right right) {
  const ElementType type = binary_type(call.queue(), op, dtype);
  const auto operation = static_cast<kernels::Binary>(op);
  ElementwiseArgument argument = argument_of(static_cast<Op>(op), type);
  if (!is_float(type)) {
    const Kernel kernel = kernel_of(kBinaryIntegers, dtype);
    const kernels::Finding finding = finding_of(operation, type);
    if (right == Right::kNumber || finding == kernels::kNothing) {
      return call.run(kernel, vectors_of(dtype), argument);
    }
    if (call.run_and_find(kernel, vectors_of(dtype), argument)) refuse_finding(finding);
    return;
  }
  constexpr FloatKernels kNumbers = {Kernel::binary_f64, Kernel::binary_f32, Kernel::binary_f32};
  constexpr FloatKernels kFunctions = {Kernel::function2_f64, Kernel::function2_f32,
                                       Kernel::function2_f32};
  const bool is_number = device_of(operation) == kernels::Device::kNumber;
  call.run(kernel_of(is_number ? kNumbers : kFunctions, type), vectors_of_floats(type), argument);
}

// GT and GE are LT and LE of inputs that are exchanged.
kernels::Compare compared_as(tnr_compare_op op) {
  switch (static_cast<kernels::Compare>(op)) {
    case kernels::Compare::kGt: return kernels::Compare::kLt;
    case kernels::Compare::kGe: return kernels::Compare::kLe;
    case kernels::Compare::kEq:
    case kernels::Compare::kNe:
    case kernels::Compare::kLt:
    case kernels::Compare::kLe: break;
  }
  return static_cast<kernels::Compare>(op);
}

void run_compare(const Call& call, tnr_compare_op op, tnr_dtype dtype) {
  const ElementType type = require_real(call.queue(), kernels::kCompareRows[op - 1].name, dtype);
  ElementwiseArgument argument = argument_of(static_cast<Op>(compared_as(op)), type);
  argument.out_type = ElementType::kBool8;
  const FloatKernels floats = {Kernel::compare_f64, Kernel::compare_f32, Kernel::compare_f16};
  call.run(is_float(type) ? kernel_of(floats, type) : kernel_of(kCompareIntegers, dtype),
           vectors_of(dtype), argument);
}

// By the type that elements are converted from.
Kernel cast_kernel_of(ElementType from) {
  switch (from) {
    case ElementType::kF64: return Kernel::cast_f64;
    case ElementType::kF32:
    case ElementType::kF16:
    case ElementType::kBF16: return Kernel::cast_f32;
    default: return Kernel::cast_i64;
  }
}

// Integers of one width, which wrap.
bool are_same_bytes(tnr_dtype from, tnr_dtype to) {
  const auto is_integer = [](tnr_dtype dtype) {
    return code_of(dtype) == DtypeCode::kInt || code_of(dtype) == DtypeCode::kUint;
  };
  return is_integer(from) && is_integer(to) && element_size(from) == element_size(to);
}

Call::Bytes bytes_of_dtype(tnr_dtype dtype) {
  return dtype == TNR_DTYPE_BOOL8 ? Call::Bytes::kAsBools : Call::Bytes::kAsTheyAre;
}

// A copy between equal dtypes.
void move(const Call& call, tnr_dtype dtype, tnr_operation operation) {
  const Call::Bytes bytes = bytes_of_dtype(dtype);
  if (bytes == Call::Bytes::kAsTheyAre && call.is_in_place()) return count_call(operation, 0, 0);
  call.move(bytes);
  call.count(operation);
}

}  // namespace

void Queue::copy(const Context& context, const tnr_view& a, const tnr_view_mut& out) const {
  if (!(a.device == device()) || !(out.view.device == device())) {
    return transfer(*this, context, a, out);
  }
  Call call(*this, out);
  call.add(a, "a");
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  move(call, a.dtype, TNR_OPERATION_COPY);
}

void Queue::cast(const tnr_view& a, const tnr_view_mut& out) const {
  Call call(*this, out);
  call.add(a, "a");
  const bool to_complex = is_complex(out.view.dtype) && type_index(a.dtype) != kNoType;
  if (!to_complex) static_cast<void>(cast_operation(a.dtype, out.view.dtype));  // may refuse them
  if (a.dtype == out.view.dtype) return move(call, a.dtype, TNR_OPERATION_CAST);
  if (are_same_bytes(a.dtype, out.view.dtype)) {
    call.move(Call::Bytes::kAsTheyAre);
    return call.count(TNR_OPERATION_CAST);
  }
  const ElementType from = require_real(*this, "cast", a.dtype);
  ElementwiseArgument argument = argument_of(0, from);
  argument.out_type = require_real(*this, "cast", out.view.dtype);
  call.run(cast_kernel_of(from), {4}, argument);
  call.count(TNR_OPERATION_CAST);
}

void Queue::fill(const tnr_scalar& value, const tnr_view_mut& out) const {
  Call call(*this, out);
  call.add(to_element(value, out.view.dtype, "value"), out.view.dtype);
  call.move(Call::Bytes::kAsTheyAre);
  call.count(TNR_OPERATION_FILL);
}

void Queue::unary(tnr_unary_op op, const tnr_view& a, const tnr_view_mut& out) const {
  Call call(*this, out);
  call.add(a, "a");
  require_unary_dtypes(op, a, out.view);
  static_cast<void>(unary_operation(op, a.dtype));  // may refuse the dtype
  run_unary(call, op, a.dtype);
  call.count(TNR_OPERATION_UNARY);
}

void Queue::binary(tnr_binary_op op, const tnr_view& a, const tnr_view& b,
                   const tnr_view_mut& out) const {
  Call call(*this, out);
  call.add(a, "a");
  call.add(b, "b");
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  require_dtype(b, "b", out.view.dtype, "out.dtype is");
  run_binary(call, op, a.dtype, Right::kView);
  call.count(TNR_OPERATION_BINARY);
}

void Queue::binary(tnr_binary_op op, const tnr_view& a, const tnr_scalar& b,
                   const tnr_view_mut& out) const {
  Call call(*this, out);
  call.add(a, "a");
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  static_cast<void>(binary_operation(op, a.dtype));
  const tenure::Element element = to_element(b, a.dtype, "b");
  require_right_number(op, element, a.dtype);
  call.add(element, a.dtype);
  run_binary(call, op, a.dtype, Right::kNumber);
  call.count(TNR_OPERATION_BINARY);
}

void Queue::binary(tnr_binary_op op, const tnr_scalar& a, const tnr_view& b,
                   const tnr_view_mut& out) const {
  Call call(*this, out);
  static_cast<void>(binary_operation(op, out.view.dtype));
  call.add(to_element(a, out.view.dtype, "a"), out.view.dtype);
  call.add(b, "b");
  require_dtype(b, "b", out.view.dtype, "out.dtype is");
  run_binary(call, op, out.view.dtype, Right::kView);
  call.count(TNR_OPERATION_BINARY);
}

void Queue::ternary(tnr_ternary_op op, const tnr_view& a, const tnr_view& b, const tnr_view& c,
                    const tnr_view_mut& out) const {
  Call call(*this, out);
  call.add(a, "a");
  call.add(b, "b");
  call.add(c, "c");
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  require_dtype(b, "b", out.view.dtype, "out.dtype is");
  require_dtype(c, "c", out.view.dtype, "out.dtype is");
  static_cast<void>(ternary_operation(op, a.dtype));
  const ElementType type = require_real(*this, kernels::kTernaryRows[op - 1].name, a.dtype);
  ElementwiseArgument argument = argument_of(static_cast<Op>(op), type);
  if (is_float(type)) {
    call.run(kernel_of({Kernel::ternary_f64, Kernel::ternary_f32, Kernel::ternary_f32}, type),
             vectors_of_floats(type), argument);
  } else {
    call.run(kernel_of(kTernaryIntegers, a.dtype), vectors_of(a.dtype), argument);
  }
  call.count(TNR_OPERATION_TERNARY);
}

void Queue::compare(tnr_compare_op op, const tnr_view& a, const tnr_view& b,
                    const tnr_view_mut& out) const {
  const Sides sides = sides_of(op);
  const bool exchanged = sides == Sides::kExchanged;
  Call call(*this, out);
  call.add(exchanged ? b : a, exchanged ? "b" : "a");
  call.add(exchanged ? a : b, exchanged ? "a" : "b");
  require_dtype(b, "b", a.dtype, "a.dtype is");
  require_dtype(out.view, "out", TNR_DTYPE_BOOL8, "must be");
  static_cast<void>(compare_operation(op, a.dtype));
  run_compare(call, op, a.dtype);
  call.count(TNR_OPERATION_COMPARE);
}

void Queue::compare(tnr_compare_op op, const tnr_view& a, const tnr_scalar& b,
                    const tnr_view_mut& out) const {
  const Sides sides = sides_of(op);
  Call call(*this, out);
  static_cast<void>(compare_operation(op, a.dtype));
  const tenure::Element element = to_element(b, a.dtype, "b");
  if (sides == Sides::kExchanged) call.add(element, a.dtype);
  call.add(a, "a");
  if (sides == Sides::kAsGiven) call.add(element, a.dtype);
  require_dtype(out.view, "out", TNR_DTYPE_BOOL8, "must be");
  run_compare(call, op, a.dtype);
  call.count(TNR_OPERATION_COMPARE);
}

void Queue::select(const tnr_view& condition, const tnr_view& a, const tnr_view& b,
                   const tnr_view_mut& out) const {
  Call call(*this, out);
  call.add(condition, "condition");
  call.add(a, "a");
  call.add(b, "b");
  require_dtype(condition, "condition", TNR_DTYPE_BOOL8, "must be");
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  require_dtype(b, "b", out.view.dtype, "out.dtype is");
  call.select(bytes_of_dtype(out.view.dtype));
  call.count(TNR_OPERATION_SELECT);
}

}  // namespace tenure::cuda
