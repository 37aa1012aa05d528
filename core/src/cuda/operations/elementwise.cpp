// Element-wise operations, and movement.
#include <algorithm>
#include <bit>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "cpu/operations.hpp"
#include "cuda/operations/elementwise_launch.hpp"
#include "cuda/operations/enqueue.hpp"
#include "cuda/operations/families.hpp"
#include "cuda/operations/grid.hpp"
#include "cuda/operations/transfer.hpp"
#include "dense/elementwise/operations.hpp"
#include "dense/movement.hpp"
#include "memory/queue_order.hpp"
#include "tenure/counters.hpp"
#include "tenure/dtype.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure::cuda {
namespace {

using Op = std::uint32_t;

bool is_half(ElementType type) { return type == ElementType::kF16 || type == ElementType::kBF16; }

// Vectors of 16 bytes.
Vectors vectors_of(tnr_dtype dtype) { return {static_cast<unsigned>(16 / element_size(dtype))}; }
// The vectors of kernels that compute f32, f16 and bf16 as four floats.
Vectors vectors_of_floats(ElementType type) { return {type == ElementType::kF64 ? 2u : 4u}; }

// The type of the elements of a dtype, where it is not complex and device_refusal() has nothing
// against it. `code` is a node's.
ElementType require_type(const Queue& queue, std::uint32_t code, tnr_dtype dtype) {
  require_none(device_refusal(queue.device(), code, dtype));
  return static_cast<ElementType>(type_index(dtype));
}

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

void run_unary(const ElementwiseLaunch& call, tnr_unary_op op, tnr_dtype dtype) {
  const ElementType type = require_type(call.queue(), TNR_NODE_UNARY + static_cast<Op>(op), dtype);
  ElementwiseArgument argument = argument_of(static_cast<Op>(op), type);
  if (!is_float(type)) {
    return call.run(kernel_of(kUnaryIntegers, dtype), vectors_of(dtype), argument);
  }
  const UnaryKernel of = unary_kernel_of(kernels::kUnaryRows[op - 1].device);
  const Vectors vectors = of.takes_four ? vectors_of_floats(type) : vectors_of(dtype);
  call.run(kernel_of(of.kernels, type), vectors, argument);
}

// Elements on the right that are a number have been checked; a view is looked at by the device, and
// waited for.
enum class Right : std::uint8_t { kNumber, kView };

// The type of operands that an operation takes here. Throws as binary_operation(), which is called
// only where the tables refuse the type.
ElementType binary_type(const Queue& queue, tnr_binary_op op, tnr_dtype dtype) {
  const auto row = static_cast<std::uint32_t>(op) - 1;
  const unsigned column = type_index(dtype);
  if (row < kernels::kBinaryCount && column != kNoType &&
      kernels::binary_kernels()[row][column].kernel != nullptr &&
      kernels::kBinaryRows[row].device != kernels::Device::kNone) [[likely]] {
    return static_cast<ElementType>(column);
  }
  static_cast<void>(binary_operation(op, dtype));
  return require_type(queue, TNR_NODE_BINARY + static_cast<Op>(op), dtype);
}

void run_binary(const ElementwiseLaunch& call, tnr_binary_op op, tnr_dtype dtype, Right right) {
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

void run_compare(const ElementwiseLaunch& call, tnr_compare_op op, tnr_dtype dtype) {
  const ElementType type =
      require_type(call.queue(), TNR_NODE_COMPARE + static_cast<Op>(op), dtype);
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

ElementwiseLaunch::Bytes bytes_of_dtype(tnr_dtype dtype) {
  return dtype == TNR_DTYPE_BOOL8 ? ElementwiseLaunch::Bytes::kAsBools
                                  : ElementwiseLaunch::Bytes::kAsTheyAre;
}

// A copy between equal dtypes.
void move(const ElementwiseLaunch& call, tnr_dtype dtype, tnr_operation operation) {
  const ElementwiseLaunch::Bytes bytes = bytes_of_dtype(dtype);
  if (bytes == ElementwiseLaunch::Bytes::kAsTheyAre && call.is_in_place(0))
    return count_call(operation, 0, 0);
  call.move(bytes);
  call.count(operation);
}

// A triangle has the elements whose key is at most 0. Keys are a third operand without memory: the
// column less the row less the diagonal, or for an upper triangle the opposite.
class Triangle {
 public:
  explicit Triangle(const DeviceTriangular& call) : call_(call), out_(call.out.view) {
    const std::int64_t rows = out_.shape[out_.rank - 2];
    const std::int64_t columns = out_.shape[out_.rank - 1];
    key_step_ = call.part == TNR_TRIANGLE_LOWER ? 1 : -1;
    // Beyond the corners one diagonal is as good as another.
    first_key_ = -key_step_ * std::clamp(call.diagonal, -rows, columns);
    // Kernels have elements of up to 8 bytes, and complex numbers may lie at halves of them.
    const std::uint64_t places = address_of(bytes_of(out_)) | address_of(bytes_of(call.a));
    unit_ = std::int64_t{1} << std::countr_zero(places | element_size(out_.dtype) | 8);
  }

  void run(const Queue& queue) const {
    const QueueOrder order(queue, call_.pins);
    ElementwiseArgument argument = empty_argument();
    if (call_.a.data != out_.data && transposed_copy(nest(call_.a)).has_value()) {
      // Reads along rows and writes along columns: by tiles, and then in place.
      ElementwiseLaunch copy(queue, call_.out);
      copy.add(call_.a, "a");
      copy.move(bytes_of_dtype(out_.dtype));
      return launch(queue, nest(out_), argument);
    }
    if (out_.dtype == TNR_DTYPE_BOOL8) argument.out_type = ElementType::kBool8;
    launch(queue, nest(call_.a), argument);
  }

 private:
  enum : unsigned { kOut, kIn, kKeys, kOperands };

  [[nodiscard]] LoopNest nest(const tnr_view& in) const noexcept {
    LoopNest nest(kOperands);
    nest.set(kOut, {bytes_of(out_), unit_});
    nest.set(kIn, {bytes_of(in), unit_});
    for (std::uint32_t axis = 0; axis < out_.rank; ++axis) {
      std::int64_t steps[kOperands] = {step_of(out_, axis), step_of(in, axis), 0};
      if (axis + 2 == out_.rank) steps[kKeys] = -key_step_;
      if (axis + 1 == out_.rank) steps[kKeys] = key_step_;
      nest.add(out_.shape[axis], steps);
    }
    const std::int64_t steps[kOperands] = {unit_, unit_, 0};
    nest.add(static_cast<std::int64_t>(element_size(out_.dtype)) / unit_, steps);
    nest.order();
    return nest;
  }

  void launch(const Queue& queue, const LoopNest& nest, ElementwiseArgument& argument) const {
    constexpr Kernel kKernels[] = {Kernel::triangle_1, Kernel::triangle_2, Kernel::triangle_4,
                                   Kernel::triangle_8};
    const std::int64_t first_key = first_key_ + nest.start(kKeys);
    std::memcpy(argument.number, &first_key, sizeof first_key);
    argument.op = static_cast<Op>(nest.inner_step(kKeys));
    const auto items = static_cast<unsigned>(kGroupBytes / unit_);
    if (const unsigned blocks = share_out(nest, items, argument); blocks != 0) {
      return queue.launch(kKernels[logarithm_of(unit_)], {blocks, kThreads}, argument);
    }
    const LoopNest::Halves halves = nest.halves();
    launch(queue, halves.low, argument);
    launch(queue, halves.high, argument);
  }

  const DeviceTriangular& call_;
  const tnr_view& out_;
  std::int64_t key_step_;
  std::int64_t first_key_;
  std::int64_t unit_;
};

}  // namespace

void enqueue(const Queue& queue, const DeviceCopy& call) {
  const auto& [context, a, out, is_async] = call;
  if (is_async) return transfer_async(queue, context, a, out);
  if (!(a.device == queue.device()) || !(out.view.device == queue.device())) {
    return transfer(queue, context, a, out);
  }
  ElementwiseLaunch operands(queue, out);
  operands.add(a, "a");
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  move(operands, a.dtype, TNR_OPERATION_COPY);
}

void enqueue(const Queue& queue, const DeviceCast& call) {
  const auto& [a, out] = call;
  ElementwiseLaunch operands(queue, out);
  operands.add(a, "a");
  const bool to_complex = is_complex(out.view.dtype) && type_index(a.dtype) != kNoType;
  if (!to_complex) static_cast<void>(cast_operation(a.dtype, out.view.dtype));  // may refuse them
  if (a.dtype == out.view.dtype) return move(operands, a.dtype, TNR_OPERATION_CAST);
  if (are_same_bytes(a.dtype, out.view.dtype)) {
    operands.move(ElementwiseLaunch::Bytes::kAsTheyAre);
    return operands.count(TNR_OPERATION_CAST);
  }
  const ElementType from = require_type(queue, TNR_NODE_CAST, a.dtype);
  ElementwiseArgument argument = argument_of(0, from);
  argument.out_type = require_type(queue, TNR_NODE_CAST, out.view.dtype);
  operands.run(cast_kernel_of(from), {4}, argument);
  operands.count(TNR_OPERATION_CAST);
}

void enqueue(const Queue& queue, const DeviceFill& call) {
  const auto& [value, out] = call;
  ElementwiseLaunch operands(queue, out);
  operands.add(to_element(value, out.view.dtype, "value"), out.view.dtype);
  operands.move(ElementwiseLaunch::Bytes::kAsTheyAre);
  operands.count(TNR_OPERATION_FILL);
}

void enqueue(const Queue& queue, const DeviceUnary& call) {
  const auto& [op, a, out] = call;
  ElementwiseLaunch operands(queue, out);
  operands.add(a, "a");
  require_unary_dtypes(op, a, out.view);
  static_cast<void>(unary_operation(op, a.dtype));  // may refuse the dtype
  run_unary(operands, op, a.dtype);
  operands.count(TNR_OPERATION_UNARY);
}

void enqueue(const Queue& queue, const DeviceBinary& call) {
  const auto& [op, a, b, out] = call;
  const tnr_dtype dtype = out.view.dtype;
  ElementwiseLaunch operands(queue, out);
  if (a.view != nullptr) {
    operands.add(*a.view, "a");
    require_dtype(*a.view, "a", dtype, "out.dtype is");
  } else {
    static_cast<void>(binary_operation(op, dtype));
    operands.add(to_element(*a.scalar, dtype, "a"), dtype);
  }
  if (b.view != nullptr) {
    operands.add(*b.view, "b");
    require_dtype(*b.view, "b", dtype, "out.dtype is");
  } else {
    static_cast<void>(binary_operation(op, dtype));
    const tenure::Element element = to_element(*b.scalar, dtype, "b");
    require_right_number(op, element, dtype);
    operands.add(element, dtype);
  }
  run_binary(operands, op, dtype, b.view != nullptr ? Right::kView : Right::kNumber);
  operands.count(TNR_OPERATION_BINARY);
}

void enqueue(const Queue& queue, const DeviceTernary& call) {
  const auto& [op, a, b, c, out] = call;
  ElementwiseLaunch operands(queue, out);
  operands.add(a, "a");
  operands.add(b, "b");
  operands.add(c, "c");
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  require_dtype(b, "b", out.view.dtype, "out.dtype is");
  require_dtype(c, "c", out.view.dtype, "out.dtype is");
  static_cast<void>(ternary_operation(op, a.dtype));
  const ElementType type = require_type(queue, TNR_NODE_TERNARY + static_cast<Op>(op), a.dtype);
  ElementwiseArgument argument = argument_of(static_cast<Op>(op), type);
  if (is_float(type)) {
    operands.run(kernel_of({Kernel::ternary_f64, Kernel::ternary_f32, Kernel::ternary_f32}, type),
                 vectors_of_floats(type), argument);
  } else {
    operands.run(kernel_of(kTernaryIntegers, a.dtype), vectors_of(a.dtype), argument);
  }
  operands.count(TNR_OPERATION_TERNARY);
}

void enqueue(const Queue& queue, const DeviceCompare& call) {
  const auto& [op, a, b, out] = call;
  const Comparison comparison = compare_operation(op, a.dtype);
  const auto add_b = [&](ElementwiseLaunch& operands) {
    if (b.view != nullptr) return operands.add(*b.view, "b");
    operands.add(to_element(*b.scalar, a.dtype, "b"), a.dtype);
  };
  ElementwiseLaunch operands(queue, out);
  if (comparison.sides == Sides::kExchanged) add_b(operands);
  operands.add(a, "a");
  if (comparison.sides == Sides::kAsGiven) add_b(operands);
  if (b.view != nullptr) require_dtype(*b.view, "b", a.dtype, "a.dtype is");
  require_dtype(out.view, "out", TNR_DTYPE_BOOL8, "must be");
  run_compare(operands, op, a.dtype);
  operands.count(TNR_OPERATION_COMPARE);
}

void enqueue(const Queue& queue, const DeviceSelect& call) {
  const auto& [condition, a, b, out] = call;
  ElementwiseLaunch operands(queue, out);
  operands.add(condition, "condition");
  operands.add(a, "a");
  operands.add(b, "b");
  require_dtype(condition, "condition", TNR_DTYPE_BOOL8, "must be");
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  require_dtype(b, "b", out.view.dtype, "out.dtype is");
  operands.select(bytes_of_dtype(out.view.dtype));
  operands.count(TNR_OPERATION_SELECT);
}

void enqueue(const Queue& queue, const DeviceTriangular& call) { Triangle(call).run(queue); }

}  // namespace tenure::cuda
