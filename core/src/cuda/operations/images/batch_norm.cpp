// Batch normalization by known statistics.
#include <cstring>

#include "cuda/operations/enqueue.hpp"
#include "cuda/queue.hpp"
#include "dense/checks.hpp"
#include "dense/image/channel_vectors.hpp"
#include "tenure/counters.hpp"
#include "tenure/dtype.hpp"

namespace tenure::cuda {
namespace {

using Location = DeviceExpression::Location;
using FormulaOperand = DeviceExpression::Operand;

constexpr FormulaOperand kLast = {Location::kLast, 0};

// Nodes one after the other, and the views that they read.
class Formula {
 public:
  FormulaOperand view(const tnr_view& view) noexcept {
    views_[expression_.view_count] = &view;
    return {Location::kView, static_cast<std::uint8_t>(expression_.view_count++)};
  }
  // In f64, or of a dtype that has it in its lowest bytes: 0.
  FormulaOperand number(double value, tnr_dtype dtype = TNR_DTYPE_F64) noexcept {
    DeviceExpression::Number& number = expression_.numbers[expression_.number_count];
    number.dtype = dtype;
    std::memcpy(number.bytes, &value, sizeof value);
    return {Location::kNumber, static_cast<std::uint8_t>(expression_.number_count++)};
  }
  // The result of the last node stays for later ones than the next.
  FormulaOperand keep() noexcept {
    expression_.nodes[expression_.node_count - 1].slot = slots_;
    return {Location::kSlot, slots_++};
  }
  FormulaOperand unary(tnr_unary_op op, tnr_dtype dtype, FormulaOperand a) noexcept {
    return add(TNR_NODE_UNARY + static_cast<std::uint32_t>(op), dtype, dtype, 1, a, {});
  }
  FormulaOperand binary(tnr_binary_op op, tnr_dtype dtype, FormulaOperand a,
                        FormulaOperand b) noexcept {
    return add(TNR_NODE_BINARY + static_cast<std::uint32_t>(op), dtype, dtype, 2, a, b);
  }
  FormulaOperand cast(tnr_dtype from, tnr_dtype to, FormulaOperand a) noexcept {
    return add(TNR_NODE_CAST, from, to, 1, a, {});
  }
  void compute(const Queue& queue, const tnr_view_mut& out, const Pins& pins) const {
    DeviceFindings findings;  // none on floats
    enqueue(queue, DeviceEvaluation{expression_, views_, out, pins, findings});
  }

 private:
  FormulaOperand add(std::uint32_t code, tnr_dtype dtype, tnr_dtype out_dtype, std::uint8_t count,
                     FormulaOperand a, FormulaOperand b) noexcept {
    expression_.nodes[expression_.node_count++] = {
        code, dtype, out_dtype, count, DeviceExpression::kNoSlot, {a, b, {}}};
    return kLast;
  }

  DeviceExpression expression_;
  const tnr_view* views_[DeviceExpression::kMostViews] = {};
  std::uint8_t slots_ = 0;
};

// A number of each channel, in f64, for later nodes; `otherwise` without a vector.
FormulaOperand wide(Formula& formula, const tnr_view* vector, double otherwise) noexcept {
  if (vector == nullptr) return formula.number(otherwise);
  formula.cast(vector->dtype, TNR_DTYPE_F64, formula.view(*vector));
  return formula.keep();
}

// weight / sqrt(var + eps), as the CPU computes it: in f64, and rounded.
void compute_scale(const Queue& queue, const tnr_view& var, const tnr_view* weight, double eps,
                   const tnr_view_mut& out, const Pins& pins) {
  Formula formula;
  const FormulaOperand numerator = wide(formula, weight, 1);
  const FormulaOperand variance = wide(formula, &var, 0);
  const FormulaOperand sum =
      formula.binary(TNR_BINARY_OP_ADD, TNR_DTYPE_F64, variance, formula.number(eps));
  const FormulaOperand root = formula.unary(TNR_UNARY_OP_SQRT, TNR_DTYPE_F64, sum);
  const FormulaOperand scale = formula.binary(TNR_BINARY_OP_DIV, TNR_DTYPE_F64, numerator, root);
  formula.cast(TNR_DTYPE_F64, out.view.dtype, scale);
  formula.compute(queue, out, pins);
}

// A vector of the call, its numbers those of the channels for each element.
tnr_view spread(const tnr_view& a, const tnr_view& vector) noexcept {
  tnr_view view = along_channels(a, vector.data);
  view.strides[1] = vector.strides[0];
  return view;
}

// The numbers of the channels as a vector, which compute_scale() writes.
tnr_view as_vector(tnr_view numbers) noexcept {
  numbers.shape[0] = numbers.shape[1];
  numbers.strides[0] = 1;
  numbers.rank = 1;
  return numbers;
}

}  // namespace

void enqueue(const Queue& queue, const DeviceBatchNorm& call) {
  const auto& [a, mean, var, weight, bias, eps, out] = call;
  check_view_mut(out, "out", queue.device());
  check_view(a, "a", queue.device());
  require_broadcast(a, "a", out.view);
  check_batch_norm(a, mean, var, weight, bias, eps, out.view);
  Pins pins;
  pins.add_mut(out, "out");
  pins.add(a, "a");
  require_alias(out.view, a, "a", SameView::kAllowed);
  pin_vectors(vectors_of(mean, var, weight, bias), out.view, pins);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_BATCH_NORM, 0, 0);
  const Queue::Scratch memory(queue, static_cast<std::size_t>(a.shape[1]) * element_size(a.dtype));
  const tnr_view scales = along_channels(a, memory.data());
  compute_scale(queue, var, weight, eps, {as_vector(scales)}, pins);

  const tnr_view means = mean == nullptr ? tnr_view{} : spread(a, *mean);
  const tnr_view biases = bias == nullptr ? tnr_view{} : spread(a, *bias);
  Formula formula;
  FormulaOperand x = formula.view(a);
  if (mean != nullptr) {
    x = formula.binary(TNR_BINARY_OP_SUB, a.dtype, x, formula.view(means));
  }
  x = formula.binary(TNR_BINARY_OP_MUL, a.dtype, x, formula.view(scales));
  formula.binary(TNR_BINARY_OP_ADD, a.dtype, x,
                 bias == nullptr ? formula.number(0, a.dtype) : formula.view(biases));
  formula.compute(queue, out, pins);
  const std::uint64_t vector_bytes = element_bytes(scales);
  count_call(TNR_OPERATION_BATCH_NORM, element_bytes(a) + 3 * vector_bytes,
             element_bytes(out.view));
}

}  // namespace tenure::cuda
