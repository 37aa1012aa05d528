// The kernel of one expression: the interpreter's nodes, types and items as constants, so that the
// compiler keeps only the parts of the interpreter that they need. The rules are the interpreter's
// own, and so are the bits.
#pragma once

#include "cuda/compiled/interpreter.cuh"

// TENURE_EXPRESSION_KERNEL(name, Expression): the kernel `tenure_name`.
#if defined(__CUDACC__)
#define TENURE_EXPRESSION_KERNEL(name, Expression)                                 \
  extern "C" __global__ __launch_bounds__(TENURE_MOST_THREADS) void tenure_##name( \
      const __grid_constant__ ExpressionArgument argument) {                       \
    run_expression<Expression>(argument);                                          \
  }
#else
#define TENURE_EXPRESSION_KERNEL(name, Expression)                                     \
  static const simt::Registration tenure_##name##_registration(                        \
      "tenure_" #name, sizeof(ExpressionArgument), [](const void* argument) {          \
        run_expression<Expression>(*static_cast<const ExpressionArgument*>(argument)); \
      });
#endif

namespace tenure::cuda {

using Location = ExpressionLocation;

// All that is read, before anything is computed: the memory is waited for once.
template <class Expression, unsigned l, unsigned count>
TENURE_DEVICE void read_leaves(const ExpressionArgument& argument, const Group& group,
                               Value (&leaves)[count]) {
  if constexpr (l < Expression::kLeafCount) {
    const ExpressionMemory& memory = argument.memory[1 + l];
    read_elements(Expression::kTypes[1 + l], Expression::kItems, memory,
                  memory.data + offset_of(argument, group.index, 1 + l), group, leaves[l]);
    read_leaves<Expression, l + 1>(argument, group, leaves);
  }
}

// Results that later nodes take are in registers: which one it is is known.
template <class Expression>
struct Held {
  Value leaves[Expression::kLeafCount + 1] = {};
  Value slots[kExpressionSlots] = {};
  Value last = {};
};

template <class Expression, unsigned n, unsigned k>
TENURE_DEVICE void fetch_operand(const ExpressionArgument& argument, const Held<Expression>& held,
                                 Value& value) {
  constexpr ExpressionOperand kOperand = Expression::kNodes[n].operands[k];
  if constexpr (kOperand.location == Location::kLast) {
    value = held.last;
  } else if constexpr (kOperand.location == Location::kSlot) {
    value = held.slots[kOperand.index];
  } else if constexpr (kOperand.location == Location::kLeaf) {
    value = held.leaves[kOperand.index];
  } else {
    repeat_number(Expression::kNumbers[kOperand.index], argument.numbers[kOperand.index].bits,
                  value);
  }
}

template <class Expression, unsigned n>
TENURE_DEVICE void run_nodes(const ExpressionArgument& argument, Held<Expression>& held) {
  if constexpr (n < Expression::kNodeCount) {
    constexpr ExpressionNode kNode = Expression::kNodes[n];
    Value in[3] = {};
    if constexpr (kNode.operand_count > 2) fetch_operand<Expression, n, 2>(argument, held, in[2]);
    if constexpr (kNode.operand_count > 1) fetch_operand<Expression, n, 1>(argument, held, in[1]);
    fetch_operand<Expression, n, 0>(argument, held, in[0]);
    Value out = {};
    run_node(argument, kNode, in, out);
    held.last = out;
    if constexpr (kNode.slot != kNoSlot) held.slots[kNode.slot] = out;
    run_nodes<Expression, n + 1>(argument, held);
  }
}

template <class Expression>
TENURE_DEVICE void run_expression(const ExpressionArgument& argument) {
  const Group group = group_of_thread(argument, Expression::kItems);
  if (group.index >= argument.group_count) return;
  Held<Expression> held;
  read_leaves<Expression, 0>(argument, group, held.leaves);
  run_nodes<Expression, 0>(argument, held);
  const ExpressionMemory& memory = argument.memory[0];
  write_elements(Expression::kTypes[0], Expression::kItems, memory,
                 memory.data + offset_of(argument, group.index, 0), group, held.last);
}

}  // namespace tenure::cuda
