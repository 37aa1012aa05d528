// Comparisons, element by element, with results of bool8.
#include <iterator>

#include "cpu/dispatch.hpp"
#include "cpu/operations.hpp"
#include "dense/elementwise/complex.hpp"
#include "dense/elementwise/operations.hpp"
#include "dense/elementwise_call.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/ops.hpp"

namespace tenure {
namespace {

struct Question {
  unsigned row;  // of the kernel table
  Sides sides;
};
constexpr Question question(kernels::Compare op) {
  switch (op) {
    case kernels::Compare::kEq: return {0, Sides::kAsGiven};
    case kernels::Compare::kNe: return {1, Sides::kAsGiven};
    case kernels::Compare::kLt: return {2, Sides::kAsGiven};
    case kernels::Compare::kLe: return {3, Sides::kAsGiven};
    case kernels::Compare::kGt: return {2, Sides::kExchanged};
    case kernels::Compare::kGe: return {3, Sides::kExchanged};
  }
  return {};
}
#define TENURE_QUESTION(Name, NAME) question(kernels::Compare::k##Name),
constexpr Question kQuestions[] = {TENURE_COMPARE_OPERATIONS(TENURE_QUESTION)};

const Question& question_of(tnr_compare_op op) {
  const auto row = static_cast<std::uint32_t>(op) - 1;
  if (row >= std::size(kQuestions)) [[unlikely]]
    refuse_code("compare", op);
  return kQuestions[row];
}

Operation operation_of(const Question& question, tnr_dtype dtype) {
  const unsigned column = type_index(dtype);
  if (column == kNoType) [[unlikely]] {
    return complex_comparison(static_cast<tnr_compare_op>(&question - kQuestions + 1), dtype);
  }
  return Operation(kernels::compare_kernels()[question.row][column]);
}

}  // namespace

Comparison compare_operation(tnr_compare_op op, tnr_dtype dtype) {
  const Question& question = question_of(op);
  return {operation_of(question, dtype), question.sides};
}

Sides sides_of(tnr_compare_op op) { return question_of(op).sides; }

void compare(const Context& context, tnr_compare_op op, const tnr_view& a, const tnr_view& b,
             const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out").enqueue(DeviceCompare{op, a, b, out});
  const Question& question = question_of(op);
  const bool exchanged = question.sides == Sides::kExchanged;
  ElementwiseCall operands(out);
  operands.add(exchanged ? b : a, exchanged ? "b" : "a");
  operands.add(exchanged ? a : b, exchanged ? "a" : "b");
  require_dtype(b, "b", a.dtype, "a.dtype is");
  require_dtype(out.view, "out", TNR_DTYPE_BOOL8, "must be");
  operands.run(context, operation_of(question, a.dtype));
  operands.count(TNR_OPERATION_COMPARE);
}

void compare(const Context& context, tnr_compare_op op, const tnr_view& a, const tnr_scalar& b,
             const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out").enqueue(DeviceCompare{op, a, b, out});
  const Question& question = question_of(op);
  ElementwiseCall operands(out);
  const Operation operation = operation_of(question, a.dtype);
  const Element element = to_element(b, a.dtype, "b");
  if (question.sides == Sides::kExchanged) operands.add(element, a.dtype);
  operands.add(a, "a");
  if (question.sides == Sides::kAsGiven) operands.add(element, a.dtype);
  require_dtype(out.view, "out", TNR_DTYPE_BOOL8, "must be");
  operands.run(context, operation);
  operands.count(TNR_OPERATION_COMPARE);
}

}  // namespace tenure
