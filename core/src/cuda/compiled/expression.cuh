// The kernel of one expression: the interpreter's nodes, types and items as constants, so that the
// compiler leaves of the interpreter what they need. The rules are the interpreter's own, and with
// them the bits.
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

using Place = ExpressionPlace;

template <class Expression>
TENURE_DEVICE bool is_whole(const ExpressionMemory& memory, const Group& group) {
  return memory.is_vector != 0 && group.items == Expression::kItems;
}

// As read_elements() and write_elements(), of operand k.
template <class Expression, unsigned k>
TENURE_DEVICE void read_operand(const ExpressionArgument& argument, const Group& group,
                                Value& value) {
  constexpr ElementType kType = Expression::kTypes[k];
  const uint32_t width = width_of(kType);
  const ExpressionMemory& memory = argument.memory[k];
  const unsigned char* const from = memory.data + offset_of(argument, group.index, k);
  if (is_whole<Expression>(memory, group)) {
    switch (Expression::kItems << width) {
      case 2: value.of[0] = read<uint16_t>(from); break;
      case 4: value.of[0] = read<uint32_t>(from); break;
      case 8: {
        const auto words = read<Words<8>>(from);
        value.of[0] = words.of[0];
        value.of[1] = words.of[1];
        break;
      }
      default: value = read<Value>(from); break;
    }
    spread(width, value);
  } else {
    switch (width) {
      case 0: read_four<uint8_t>(memory, from, group.items, value); break;
      case 1: read_four<uint16_t>(memory, from, group.items, value); break;
      case 2: read_four<uint32_t>(memory, from, group.items, value); break;
      default: {
        const auto first = read<uint64_t>(from);
        const auto second = read<uint64_t>(group.items > 1 ? from + memory.step : from);
        value = {};
        put(value, 0, first);
        put(value, 1, second);
        break;
      }
    }
  }
  if (width < 3 && Expression::kItems == kLongItems) {
    value.of[2] = value.of[0];
    value.of[3] = value.of[1];
  }
  enter(kType, value);
}

template <class Expression>
TENURE_DEVICE void write_result(const ExpressionArgument& argument, const Group& group,
                                Value& value) {
  constexpr ElementType kType = Expression::kTypes[0];
  const uint32_t width = width_of(kType);
  const ExpressionMemory& memory = argument.memory[0];
  unsigned char* const to = memory.data + offset_of(argument, group.index, 0);
  leave(kType, value);
  if (is_whole<Expression>(memory, group)) {
    gather(width, value);
    switch (Expression::kItems << width) {
      case 2: return write(to, static_cast<uint16_t>(value.of[0]));
      case 4: return write(to, value.of[0]);
      case 8: return write(to, Words<8>{{value.of[0], value.of[1]}});
      default: return write(to, value);
    }
  }
  switch (width) {
    case 0: return write_four<uint8_t>(memory, to, group.items, value);
    case 1: return write_four<uint16_t>(memory, to, group.items, value);
    case 2: return write_four<uint32_t>(memory, to, group.items, value);
    default:
      write(to, get<uint64_t>(value, 0));
      if (group.items > 1) write(to + memory.step, get<uint64_t>(value, 1));
      return;
  }
}

// All that is read, before anything is computed: the memory is waited for once.
template <class Expression, unsigned l, unsigned count>
TENURE_DEVICE void read_leaves(const ExpressionArgument& argument, const Group& group,
                               Value (&leaves)[count]) {
  if constexpr (l < Expression::kLeafCount) {
    read_operand<Expression, 1 + l>(argument, group, leaves[l]);
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
  if constexpr (kOperand.place == Place::kLast) {
    value = held.last;
  } else if constexpr (kOperand.place == Place::kSlot) {
    value = held.slots[kOperand.index];
  } else if constexpr (kOperand.place == Place::kLeaf) {
    value = held.leaves[kOperand.index];
  } else {
    constexpr ElementType kType = Expression::kNumbers[kOperand.index];
    const uint64_t bits = argument.numbers[kOperand.index].bits;
    const auto low = static_cast<uint32_t>(bits);
    const uint32_t next = is_long(kType) ? static_cast<uint32_t>(bits >> 32) : low;
    value = {{low, next, low, next}};
    enter(kType, value);
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
  Group group = {blockIdx.x * kThreads + threadIdx.x, Expression::kItems};
  if (group.index >= argument.group_count) return;
  const uint32_t rows = argument.rank == 1 ? 0 : quotient_of(argument.axes[0].divider, group.index);
  if (group.index - rows * argument.inner_groups == argument.inner_groups - 1) {
    group.items = argument.last_items;
  }
  Held<Expression> held;
  read_leaves<Expression, 0>(argument, group, held.leaves);
  run_nodes<Expression, 0>(argument, held);
  write_result<Expression>(argument, group, held.last);
}

}  // namespace tenure::cuda
