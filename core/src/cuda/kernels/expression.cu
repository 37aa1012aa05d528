// Expressions: a thread runs the nodes one after the other on a group of adjacent elements, by the
// rules of single calls. Which rule it is is the same for all threads, so that no warp parts.
//
// A value is four words. An element of at most four bytes is one of them: integers are extended to
// it, truth values are 0 or 1, and 16-bit floats are its upper half, so that their signs and the
// order of their bits are those of f32. An element of eight bytes is two words, and a group then
// has two elements: those of shorter types are there twice, so that the same code computes them.
#include "expression_arguments.hpp"
#include "floats.cuh"
#include "rules/binary.cuh"
#include "rules/cast.cuh"
#include "rules/compare.cuh"
#include "rules/functions.cuh"
#include "rules/ternary.cuh"
#include "rules/unary.cuh"

namespace tenure::cuda {

using Family = ExpressionFamily;
using Value = Words<16>;

TENURE_DEVICE bool is_long(ElementType type) {
  return type == ElementType::kF64 || type == ElementType::kI64 || type == ElementType::kU64;
}
TENURE_DEVICE bool is_signed_integer(ElementType type) {
  return type >= ElementType::kI8 && type <= ElementType::kI64;
}

template <class Rule>
TENURE_DEVICE void each_word(Value& value, const Rule& rule) {
  TENURE_UNROLL for (int i = 0; i < 4; ++i) value.of[i] = rule(value.of[i]);
}

// ---- words of elements ----

// Removes the bits that arithmetic leaves outside of a type that is shorter than a word; extends
// the sign of signed integers.
TENURE_DEVICE void wrap(ElementType type, Value& value) {
  switch (type) {
    case ElementType::kF16:
    case ElementType::kBF16: return each_word(value, [](uint32_t a) { return a & 0xffff0000u; });
    case ElementType::kI8:
      return each_word(value,
                       [](uint32_t a) { return static_cast<uint32_t>(static_cast<int8_t>(a)); });
    case ElementType::kI16:
      return each_word(value,
                       [](uint32_t a) { return static_cast<uint32_t>(static_cast<int16_t>(a)); });
    case ElementType::kU8:
    case ElementType::kBool8: return each_word(value, [](uint32_t a) { return a & 0xffu; });
    case ElementType::kU16: return each_word(value, [](uint32_t a) { return a & 0xffffu; });
    default: return;
  }
}

// Bits of elements, in the lowest of each word, as they are computed with.
TENURE_DEVICE void enter(ElementType type, Value& value) {
  if (is_half(type)) return each_word(value, [](uint32_t a) { return a << 16; });
  wrap(type, value);
  if (type == ElementType::kBool8) {
    each_word(value, [](uint32_t a) { return a != 0 ? 1u : 0u; });
  }
}
// The other way.
TENURE_DEVICE void leave(ElementType type, Value& value) {
  if (is_half(type)) each_word(value, [](uint32_t a) { return a >> 16; });
}

TENURE_DEVICE float number_in(ElementType type, uint32_t word) {
  return type == ElementType::kF16 ? widen(F16{static_cast<uint16_t>(word >> 16)})
                                   : bit_copy<float>(word);
}
TENURE_DEVICE uint32_t word_with(ElementType type, float number) {
  if (type == ElementType::kF32) return bit_copy<uint32_t>(number);
  return static_cast<uint32_t>(type == ElementType::kF16 ? round_to_f16(number).bits
                                                         : round_to_bf16(number).bits)
         << 16;
}

// ---- memory ----

// A group: where it is, and how many of its elements there are.
struct Group {
  uint32_t index;
  uint32_t items;
};

// The thread's group: `items` elements, or fewer at the end of a row. Its index may be beyond the
// last group.
TENURE_DEVICE Group group_of_thread(const ExpressionArgument& argument, uint32_t items) {
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t rows = argument.rank == 1 ? 0 : quotient_of(argument.axes[0].divider, index);
  const bool is_last = index - rows * argument.inner_groups == argument.inner_groups - 1;
  return {index, is_last ? argument.last_items : items};
}

TENURE_DEVICE int64_t offset_of(const ExpressionArgument& argument, uint32_t group,
                                unsigned operand) {
  int64_t offset = 0;
  uint32_t left = group;
  const uint32_t last = argument.rank - 1;
  TENURE_ROLLED for (uint32_t i = 0; i < last; ++i) {
    const ExpressionAxis& axis = argument.axes[i];
    const uint32_t outer = quotient_of(axis.divider, left);
    offset += static_cast<int64_t>(left - outer * axis.divider.extent) * axis.steps[operand];
    left = outer;
  }
  return offset + static_cast<int64_t>(left) * argument.axes[last].steps[operand];
}

// The logarithm of an element's bytes.
TENURE_DEVICE uint32_t width_of(ElementType type) {
  switch (type) {
    case ElementType::kI8:
    case ElementType::kU8:
    case ElementType::kBool8: return 0;
    case ElementType::kF16:
    case ElementType::kBF16:
    case ElementType::kI16:
    case ElementType::kU16: return 1;
    case ElementType::kF32:
    case ElementType::kI32:
    case ElementType::kU32: return 2;
    default: return 3;
  }
}

// Spreads adjacent elements from the first words on to one element in each word.
TENURE_DEVICE void spread(uint32_t width, Value& value) {
  const uint32_t first = value.of[0];
  const uint32_t second = value.of[1];
  if (width == 0) {
    TENURE_UNROLL for (int i = 0; i < 4; ++i) value.of[i] = first >> (8 * i) & 0xffu;
  } else if (width == 1) {
    value = {{first & 0xffffu, first >> 16, second & 0xffffu, second >> 16}};
  }
}
// The other way.
TENURE_DEVICE void gather(uint32_t width, Value& value) {
  const Value from = value;
  if (width == 0) {
    Words<4> four = {};
    TENURE_UNROLL for (int i = 0; i < 4; ++i) put(four, i, static_cast<uint8_t>(from.of[i]));
    value.of[0] = four.of[0];
  } else if (width == 1) {
    Words<8> four = {};
    TENURE_UNROLL for (int i = 0; i < 4; ++i) put(four, i, static_cast<uint16_t>(from.of[i]));
    value.of[0] = four.of[0];
    value.of[1] = four.of[1];
  }
}

// A whole group has `items` elements.
TENURE_DEVICE bool is_read_at_once(uint32_t items, const ExpressionMemory& memory,
                                   const Group& group) {
  return memory.is_vector != 0 && group.items == items;
}

// Elements behind the last one are copies of it.
template <class Bits>
TENURE_DEVICE void read_four(const ExpressionMemory& memory, const unsigned char* from,
                             uint32_t items, Value& value) {
  TENURE_UNROLL for (uint32_t i = 0; i < 4; ++i) {
    value.of[i] = read<Bits>(from + static_cast<int64_t>(i < items ? i : items - 1) * memory.step);
  }
}
TENURE_DEVICE void read_elements(ElementType type, uint32_t items, const ExpressionMemory& memory,
                                 const unsigned char* from, const Group& group, Value& value) {
  const uint32_t width = width_of(type);
  if (is_read_at_once(items, memory, group)) {
    switch (items << width) {
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
  if (width < 3 && items == kLongItems) {
    value.of[2] = value.of[0];
    value.of[3] = value.of[1];
  }
  enter(type, value);
}

template <class Bits>
TENURE_DEVICE void write_four(const ExpressionMemory& memory, unsigned char* to, uint32_t items,
                              const Value& value) {
  TENURE_UNROLL for (uint32_t i = 0; i < 4; ++i) {
    if (i < items) {
      write(to + static_cast<int64_t>(i) * memory.step, static_cast<Bits>(value.of[i]));
    }
  }
}
TENURE_DEVICE void write_elements(ElementType type, uint32_t items, const ExpressionMemory& memory,
                                  unsigned char* to, const Group& group, Value& value) {
  const uint32_t width = width_of(type);
  leave(type, value);
  if (is_read_at_once(items, memory, group)) {
    gather(width, value);
    switch (items << width) {
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

// Repeats one number for all elements.
TENURE_DEVICE void repeat_number(ElementType type, uint64_t bits, Value& value) {
  const auto low = static_cast<uint32_t>(bits);
  const uint32_t next = is_long(type) ? static_cast<uint32_t>(bits >> 32) : low;
  value = {{low, next, low, next}};
  enter(type, value);
}

// Prefetches data that is read later, so that the thread waits for the memory once.
TENURE_DEVICE void ask_for([[maybe_unused]] const unsigned char* data) {
#if defined(__CUDACC__)
  asm volatile("prefetch.L2 [%0];" ::"l"(data));
#endif
}

// Results that later nodes take. Each thread has its own, so that no barrier is needed.
using Slots = Value[kExpressionSlots][kThreads];

TENURE_DEVICE void fetch(const ExpressionArgument& argument, const Slots& slots, const Group& group,
                         const ExpressionOperand& operand, const Value& last, Value& value) {
  const unsigned index = operand.index;
  switch (operand.location) {
    case ExpressionLocation::kLast: value = last; return;
    case ExpressionLocation::kSlot: value = slots[index][threadIdx.x]; return;
    case ExpressionLocation::kLeaf: {
      const ExpressionMemory& memory = argument.memory[1 + index];
      return read_elements(static_cast<ElementType>(memory.type), argument.items, memory,
                           memory.data + offset_of(argument, group.index, 1 + index), group, value);
    }
    default: {
      const ExpressionNumber& number = argument.numbers[index];
      return repeat_number(static_cast<ElementType>(number.type), number.bits, value);
    }
  }
}

// ---- nodes ----

TENURE_DEVICE float function_of(UnaryFunction op, float a) {
  float one[1] = {a};
  switch (op) {
#define TENURE_FUSED_FUNCTION(name) \
  case UnaryFunction::k##name: compute(UnaryFunction::k##name, one); break;
    TENURE_FUSED_FUNCTIONS(TENURE_FUSED_FUNCTION)
#undef TENURE_FUSED_FUNCTION
    default: break;
  }
  return one[0];
}

// Computes on numbers of at most four bytes. Functions take one element after the other, so that
// the code has each function once.
TENURE_DEVICE void compute_short_numbers(const ExpressionNode& node, const Value (&in)[3],
                                         Value& out) {
  const auto type = static_cast<ElementType>(node.type);
  float x[3][4];
  TENURE_UNROLL for (int k = 0; k < 3; ++k) {
    TENURE_UNROLL for (int i = 0; i < 4; ++i) x[k][i] = number_in(type, in[k].of[i]);
  }
  switch (node.family) {
    case Family::kNumber: compute_number(static_cast<UnaryNumber>(node.op), x[0]); break;
    case Family::kFunction: {
      const auto op = static_cast<UnaryFunction>(node.op);
      in_turn(x[0], [=](float a) { return function_of(op, a); });
      break;
    }
    case Family::kBinaryNumber:
      compute_number(static_cast<BinaryNumber>(node.op), x[0], x[1]);
      break;
    case Family::kPower: compute(BinaryFunction::kPow, x[0], x[1]); break;
    default: compute_number(static_cast<Ternary>(node.op), x[0], x[1], x[2]); break;
  }
  TENURE_UNROLL for (int i = 0; i < 4; ++i) out.of[i] = word_with(type, x[0][i]);
}
TENURE_DEVICE void compute_long_numbers(const ExpressionNode& node, const Value (&in)[3],
                                        Value& out) {
  double x[3][2];
  TENURE_UNROLL for (int k = 0; k < 3; ++k) {
    TENURE_UNROLL for (int i = 0; i < 2; ++i) x[k][i] = get<double>(in[k], i);
  }
  switch (node.family) {
    case Family::kNumber: compute_number(static_cast<UnaryNumber>(node.op), x[0]); break;
    case Family::kBinaryNumber:
      compute_number(static_cast<BinaryNumber>(node.op), x[0], x[1]);
      break;
    default: compute_number(static_cast<Ternary>(node.op), x[0], x[1], x[2]); break;
  }
  TENURE_UNROLL for (int i = 0; i < 2; ++i) put(out, i, x[0][i]);
}

TENURE_DEVICE void report(const ExpressionArgument& argument, BinaryWords op, bool is_found) {
  // Every thread that finds something stores the same.
  if (is_found && argument.findings != nullptr)
    argument.findings[op == BinaryWords::kPow ? 1 : 0] = 1;
}

TENURE_DEVICE uint32_t infinity_in_word(ElementType type) {
  return type == ElementType::kF16 ? 0x7c000000u : 0x7f800000u;
}

TENURE_DEVICE void compute_short_words(const ExpressionArgument& argument,
                                       const ExpressionNode& node, Value (&in)[3], Value& out) {
  const auto type = static_cast<ElementType>(node.type);
  const bool is_float = type <= ElementType::kBF16;
  const bool is_signed = type < ElementType::kU8;
  switch (node.family) {
    case Family::kUnaryWords:
      compute_words<int32_t, uint32_t>(static_cast<UnaryWords>(node.op), is_float, is_signed,
                                       infinity_in_word(type), in[0], out);
      return wrap(type, out);
    case Family::kBinaryWords: {
      const auto op = static_cast<BinaryWords>(node.op);
      compute_integers<int32_t, uint32_t>(op, is_signed, in[0], in[1], out,
                                          [&](bool is_found) { report(argument, op, is_found); });
      return wrap(type, out);
    }
    case Family::kTernaryWords:
      compute_integers<uint32_t>(static_cast<Ternary>(node.op), is_signed, in, out);
      return wrap(type, out);
    case Family::kQuestion:
      return each<uint32_t, uint32_t, 4>(in[0], out, [&](uint32_t a) {
        return answer(static_cast<UnaryQuestion>(node.op), a, infinity_in_word(type)) ? 1 : 0;
      });
    case Family::kCompare:
      if (is_float) {
        return compare_values<uint32_t, uint32_t, 4>(
            static_cast<Compare>(node.op), in[0], in[1], out,
            [type](uint32_t word) { return number_in(type, word); });
      }
      return compare_orders<uint32_t, uint32_t, 4>(static_cast<Compare>(node.op), is_signed, in[0],
                                                   in[1], out);
    case Family::kSelect:
      TENURE_UNROLL for (int i = 0; i < 4; ++i) {
        out.of[i] = in[0].of[i] != 0 ? in[1].of[i] : in[2].of[i];
      }
      return;
    default: out = in[0]; return;
  }
}

// Truth values of two elements.
TENURE_DEVICE void set_truths(const Words<8>& truths, Value& out) {
  out = {{truths.of[0], truths.of[1], truths.of[0], truths.of[1]}};
}

TENURE_DEVICE void compute_long_words(const ExpressionArgument& argument,
                                      const ExpressionNode& node, Value (&in)[3], Value& out) {
  const auto type = static_cast<ElementType>(node.type);
  const bool is_float = type == ElementType::kF64;
  const bool is_signed = type < ElementType::kU8;
  constexpr uint64_t kInfinity = uint64_t{0x7ff} << 52;
  Words<8> truths = {};
  switch (node.family) {
    case Family::kUnaryWords:
      return compute_words<int64_t, uint64_t>(static_cast<UnaryWords>(node.op), is_float, is_signed,
                                              kInfinity, in[0], out);
    case Family::kBinaryWords: {
      const auto op = static_cast<BinaryWords>(node.op);
      return compute_integers<int64_t, uint64_t>(
          op, is_signed, in[0], in[1], out, [&](bool is_found) { report(argument, op, is_found); });
    }
    case Family::kTernaryWords:
      return compute_integers<uint64_t>(static_cast<Ternary>(node.op), is_signed, in, out);
    case Family::kQuestion:
      each<uint64_t, uint32_t, 2>(in[0], truths, [&](uint64_t a) {
        return answer(static_cast<UnaryQuestion>(node.op), a, kInfinity) ? 1 : 0;
      });
      return set_truths(truths, out);
    case Family::kCompare:
      if (is_float) {
        compare_values<double, uint32_t, 2>(static_cast<Compare>(node.op), in[0], in[1], truths,
                                            [](double number) { return number; });
      } else {
        compare_orders<uint64_t, uint32_t, 2>(static_cast<Compare>(node.op), is_signed, in[0],
                                              in[1], truths);
      }
      return set_truths(truths, out);
    case Family::kSelect:
      TENURE_UNROLL for (int i = 0; i < 2; ++i) {
        const bool is_first = in[0].of[i] != 0;
        out.of[2 * i] = is_first ? in[1].of[2 * i] : in[2].of[2 * i];
        out.of[2 * i + 1] = is_first ? in[1].of[2 * i + 1] : in[2].of[2 * i + 1];
      }
      return;
    default: out = in[0]; return;
  }
}

// One element after the other, as 64 bits.
TENURE_DEVICE void cast_value(const ExpressionNode& node, const Value& in, Value& out) {
  const auto type = static_cast<ElementType>(node.type);
  const auto out_type = static_cast<ElementType>(node.out_type);
  const bool is_signed = is_signed_integer(type);
  uint64_t bits[4];
  TENURE_UNROLL for (int i = 0; i < 4; ++i) {
    const uint32_t word = in.of[i];
    const uint64_t extended =
        is_signed ? static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(word))) : word;
    bits[i] = is_long(type) ? get<uint64_t>(in, i % 2) : extended;
  }
  in_turn(bits, [=](uint64_t one) {
    uint64_t result[1] = {};
    if (type == ElementType::kF64) {
      const double x[1] = {bit_copy<double>(one)};
      convert_elements(out_type, x, result);
    } else if (type <= ElementType::kBF16) {
      const float x[1] = {number_in(type, static_cast<uint32_t>(one))};
      convert_elements(out_type, x, result);
    } else {
      const Integer x[1] = {{one, is_signed}};
      convert_elements(out_type, x, result);
    }
    return result[0];
  });
  if (is_long(out_type)) {
    TENURE_UNROLL for (int i = 0; i < 2; ++i) put(out, i, bits[i]);
    return;
  }
  TENURE_UNROLL for (int i = 0; i < 4; ++i) out.of[i] = static_cast<uint32_t>(bits[i]);
  enter(out_type, out);
}

TENURE_DEVICE void run_node(const ExpressionArgument& argument, const ExpressionNode& node,
                            Value (&in)[3], Value& out) {
  const bool is_number = node.family < Family::kUnaryWords;
  if (node.family == Family::kCast) return cast_value(node, in[0], out);
  if (is_long(static_cast<ElementType>(node.type))) {
    if (is_number) return compute_long_numbers(node, in, out);
    return compute_long_words(argument, node, in, out);
  }
  if (is_number) return compute_short_numbers(node, in, out);
  compute_short_words(argument, node, in, out);
}

}  // namespace tenure::cuda

using namespace tenure::cuda;  // NOLINT: a kernel stands outside of every namespace

TENURE_KERNEL(expression, ExpressionArgument) {
  __shared__ Slots slots;
  const Group group = group_of_thread(argument, argument.items);
  if (group.index >= argument.group_count) return;
  TENURE_ROLLED for (uint32_t i = 1; i <= argument.leaf_count; ++i) {
    ask_for(argument.memory[i].data + offset_of(argument, group.index, i));
  }
  Value last = {};
  TENURE_ROLLED for (uint32_t n = 0; n < argument.node_count; ++n) {
    const ExpressionNode& node = argument.nodes[n];
    // The last operand first: each goes up one place with those that are fetched after it.
    Value in[3] = {};
    TENURE_ROLLED for (uint32_t k = node.operand_count; k > 0; --k) {
      in[2] = in[1];
      in[1] = in[0];
      fetch(argument, slots, group, node.operands[k - 1], last, in[0]);
    }
    Value out = {};
    run_node(argument, node, in, out);
    last = out;
    if (node.slot != kNoSlot) slots[node.slot][threadIdx.x] = last;
  }
  const ExpressionMemory& memory = argument.memory[0];
  write_elements(static_cast<ElementType>(memory.type), argument.items, memory,
                 memory.data + offset_of(argument, group.index, 0), group, last);
}
