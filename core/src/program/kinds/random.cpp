// Random numbers, whose seeds and offsets are operands.
#include <cinttypes>
#include <cstdint>
#include <cstring>

#include "dense/scalar.hpp"
#include "program/kinds/calls.hpp"
#include "program/kinds/operand_types.hpp"
#include "program/unbacked.hpp"
#include "tenure/ops.hpp"
#include "tenure/random.hpp"

namespace tenure {
namespace {

constexpr const char* kOperandNames[] = {"seed", "offset"};

void require_numbers(const OperandType* operands) {
  for (unsigned i = 0; i < 2; ++i) {
    if (operands[i].scalar != nullptr) {
      (void)to_element(*operands[i].scalar, TNR_DTYPE_U64, kOperandNames[i]);
      continue;
    }
    const ArrayType& number = array(operands[i], kOperandNames[i]);
    require_type(number, kOperandNames[i], TNR_DTYPE_U64);
    if (number.rank != 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is %" PRIu32 " but must be 0", kOperandNames[i],
           number.rank);
    }
  }
}

std::uint64_t number_of(const OperandView& operand) {
  std::uint64_t number;
  if (operand.scalar == nullptr) {
    std::memcpy(&number, operand.view->data, sizeof number);
  } else {
    const Element element = to_element(*operand.scalar, TNR_DTYPE_U64, "a number");
    std::memcpy(&number, element.bytes, sizeof number);
  }
  return number;
}

}  // namespace

ArrayType infer_random(const NodeCall& call, const OperandType* operands) {
  require_numbers(operands);
  const GraphNode& node = call.node;
  random(kDefaultContext, node.op(), 0, 0, node.attributes.random,
         {of_nothing({node.dtype, 1, {}})});
  return shaped(call, node.dtype);
}

void run_random(const Context& context, const NodeCall& call, const OperandView* operands,
                const tnr_view_mut& out) {
  random(context, call.node.op(), number_of(operands[0]), number_of(operands[1]),
         call.node.attributes.random, out);
}

ArrayType infer_random_permutation(const NodeCall& call, const OperandType* operands) {
  require_numbers(operands);
  const ArrayType result = shaped(call, call.node.dtype);
  if (result.dtype == TNR_DTYPE_I32 && result.shape[0] - 1 > INT32_MAX) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "there are %" PRId64 " numbers but i32 counts to 2147483648",
         result.shape[0]);
  }
  random_permutation(kDefaultContext, 0, 0, {of_nothing({result.dtype, 1, {}})});
  return result;
}

void run_random_permutation(const Context& context, const NodeCall&, const OperandView* operands,
                            const tnr_view_mut& out) {
  random_permutation(context, number_of(operands[0]), number_of(operands[1]), out);
}

}  // namespace tenure
