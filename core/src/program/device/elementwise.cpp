// Element-wise nodes on a device.
#include <optional>

#include "program/device/calls.hpp"
#include "program/unbacked.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"

namespace tenure {
namespace {

// A number for an operation that takes only views: an element in memory, which broadcasts.
class DeviceNumber {
 public:
  DeviceNumber(const Context& context, const tnr_scalar& number, tnr_dtype dtype)
      : queue_(*context.queue()), data_(queue_.allocate(sizeof number.bytes)) {
    view_ = unbacked_view({dtype, 0, {}});
    view_.device = queue_.device();
    view_.base = view_.data = data_;
    try {
      fill(context, number, {view_});
    } catch (...) {
      queue_.free(data_);
      throw;
    }
  }
  DeviceNumber(const DeviceNumber&) = delete;
  DeviceNumber& operator=(const DeviceNumber&) = delete;
  ~DeviceNumber() { queue_.free(data_); }

  [[nodiscard]] const tnr_view& view() const noexcept { return view_; }

 private:
  const DeviceQueue& queue_;
  void* data_;
  tnr_view view_;
};

// The operand of a call itself, or a number as one.
class DeviceOperand {
 public:
  DeviceOperand(const Context& context, const OperandView& operand, tnr_dtype dtype,
                const tnr_view& out)
      : view_(operand.view) {
    if (view_ != nullptr) return;
    if (is_empty(out)) {
      nothing_ = out;
      nothing_.dtype = dtype;
      view_ = &nothing_;
    } else {
      view_ = &number_.emplace(context, *operand.scalar, dtype).view();
    }
  }

  operator const tnr_view&() const noexcept { return *view_; }

 private:
  std::optional<DeviceNumber> number_;
  tnr_view nothing_;
  const tnr_view* view_;
};

// The dtype of the first operand that is an array, or of the first number where all are numbers.
tnr_dtype dtype_of(const OperandView* operands, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (operands[i].view != nullptr) return operands[i].view->dtype;
  }
  return operands[0].scalar->dtype;
}

}  // namespace

void run_device_unary(const Context& context, const NodeCall& call, const OperandView* operands,
                      const tnr_view_mut& out) {
  const DeviceOperand a(context, operands[0], dtype_of(operands, 1), out.view);
  unary(context, call.node.op(), a, out);
}

void run_device_cast(const Context& context, const NodeCall&, const OperandView* operands,
                     const tnr_view_mut& out) {
  const DeviceOperand a(context, operands[0], dtype_of(operands, 1), out.view);
  cast(context, a, out);
}

void run_device_binary(const Context& context, const NodeCall& call, const OperandView* operands,
                       const tnr_view_mut& out) {
  const tnr_binary_op op = call.node.op();
  const OperandView& a = operands[0];
  const OperandView& b = operands[1];
  if (a.view != nullptr && b.scalar != nullptr) return binary(context, op, *a.view, *b.scalar, out);
  if (a.scalar != nullptr && b.view != nullptr) return binary(context, op, *a.scalar, *b.view, out);
  const tnr_dtype dtype = dtype_of(operands, 2);
  const DeviceOperand left(context, a, dtype, out.view);
  const DeviceOperand right(context, b, dtype, out.view);
  binary(context, op, left, right, out);
}

void run_device_ternary(const Context& context, const NodeCall& call, const OperandView* operands,
                        const tnr_view_mut& out) {
  const tnr_dtype dtype = dtype_of(operands, 3);
  const DeviceOperand a(context, operands[0], dtype, out.view);
  const DeviceOperand b(context, operands[1], dtype, out.view);
  const DeviceOperand c(context, operands[2], dtype, out.view);
  ternary(context, call.node.op(), a, b, c, out);
}

void run_device_compare(const Context& context, const NodeCall& call, const OperandView* operands,
                        const tnr_view_mut& out) {
  const tnr_compare_op op = call.node.op();
  if (operands[0].view != nullptr && operands[1].scalar != nullptr) {
    return compare(context, op, *operands[0].view, *operands[1].scalar, out);
  }
  const tnr_dtype dtype = dtype_of(operands, 2);
  const DeviceOperand a(context, operands[0], dtype, out.view);
  const DeviceOperand b(context, operands[1], dtype, out.view);
  compare(context, op, a, b, out);
}

void run_device_select(const Context& context, const NodeCall&, const OperandView* operands,
                       const tnr_view_mut& out) {
  const DeviceOperand condition(context, operands[0], TNR_DTYPE_BOOL8, out.view);
  const DeviceOperand a(context, operands[1], out.view.dtype, out.view);
  const DeviceOperand b(context, operands[2], out.view.dtype, out.view);
  select(context, condition, a, b, out);
}

}  // namespace tenure
