// Comparisons, and questions to one operand: results are bool8.
#include "cpu/operations.hpp"
#include "elementwise.cuh"

namespace tenure::cuda {

using kernels::Compare;
using kernels::Unary;

// GT and GE are LT and LE with the operands exchanged, by the host. `value` gives an element as it
// is compared.
template <class T, int kItems, class Value>
TENURE_DEVICE void compare_values(Compare op, const Words<16>& a, const Words<16>& b,
                                  Words<kItems>& out, const Value& value) {
  const auto of = [&](const auto& rule) {
    each<T, uint8_t, kItems>(a, b, out,
                             [&](T left, T right) { return rule(value(left), value(right)); });
  };
  switch (op) {
    case Compare::kEq: return of([](auto left, auto right) { return left == right ? 1 : 0; });
    case Compare::kNe: return of([](auto left, auto right) { return left != right ? 1 : 0; });
    case Compare::kLt: return of([](auto left, auto right) { return left < right ? 1 : 0; });
    case Compare::kLe: return of([](auto left, auto right) { return left <= right ? 1 : 0; });
    default: return;
  }
}

template <class T, class Value>
TENURE_DEVICE void compare_floats(const ElementwiseArgument& argument, const Value& value) {
  constexpr int kItems = kItemsOf<sizeof(T)>;
  map<2, sizeof(T), 1, kItems>(argument, [&](const auto& in, auto& out) {
    compare_values<T, kItems>(static_cast<Compare>(argument.op), in[0], in[1], out, value);
  });
}

// For integers a != b and a <= b are the negations of a == b and b < a.
template <class U>
TENURE_DEVICE void compare_integers(const ElementwiseArgument& argument) {
  constexpr int kItems = kItemsOf<sizeof(U)>;
  map<2, sizeof(U), 1, kItems>(argument, [&](auto& in, auto& out) {
    if (argument.type < ElementType::kU8) {
      exchange_orders<U>(in[0]);
      exchange_orders<U>(in[1]);
    }
    if constexpr (sizeof(U) == 1) {
      if (argument.type == ElementType::kBool8) {
        TENURE_UNROLL for (int i = 0; i < 4; ++i) {
          in[0].of[i] = as_bools(in[0].of[i]);
          in[1].of[i] = as_bools(in[1].of[i]);
        }
      }
    }
    const auto op = static_cast<Compare>(argument.op);
    const bool is_other = op == Compare::kNe || op == Compare::kLe;
    if (op == Compare::kEq || op == Compare::kNe) {
      each<U, uint8_t, kItems>(in[0], in[1], out,
                               [=](U a, U b) { return (a == b) != is_other ? 1 : 0; });
    } else {
      each<U, uint8_t, kItems>(in[0], in[1], out, [=](U a, U b) {
        return (is_other ? b < a : a < b) != is_other ? 1 : 0;
      });
    }
  });
}

// By the bits, of which those of infinity are above all finite ones and below those of NaN.
template <class U>
TENURE_DEVICE void question_elements(const ElementwiseArgument& argument, U infinity) {
  constexpr int kItems = kItemsOf<sizeof(U)>;
  map<1, sizeof(U), 1, kItems>(argument, [&](const auto& in, auto& out) {
    const auto op = static_cast<Unary>(argument.op);
    each<U, uint8_t, kItems>(in[0], out, [&](U a) {
      const auto magnitude = static_cast<U>(a & static_cast<U>(static_cast<U>(~U{0}) >> 1));
      return op == Unary::kIsNan   ? magnitude > infinity
             : op == Unary::kIsInf ? magnitude == infinity
                                   : magnitude < infinity;
    });
  });
}

}  // namespace tenure::cuda

using namespace tenure::cuda;  // NOLINT: a kernel stands outside of every namespace

TENURE_KERNEL(compare_f64, ElementwiseArgument) {
  compare_floats<double>(argument, [](double value) { return value; });
}
TENURE_KERNEL(compare_f32, ElementwiseArgument) {
  compare_floats<float>(argument, [](float value) { return value; });
}
TENURE_KERNEL(compare_f16, ElementwiseArgument) {
  const bool is_f16 = argument.type == ElementType::kF16;
  compare_floats<uint16_t>(
      argument, [is_f16](uint16_t bits) { return is_f16 ? widen(F16{bits}) : widen(BF16{bits}); });
}
TENURE_KERNEL(compare_8, ElementwiseArgument) { compare_integers<uint8_t>(argument); }
TENURE_KERNEL(compare_16, ElementwiseArgument) { compare_integers<uint16_t>(argument); }
TENURE_KERNEL(compare_32, ElementwiseArgument) { compare_integers<uint32_t>(argument); }
TENURE_KERNEL(compare_64, ElementwiseArgument) { compare_integers<uint64_t>(argument); }
TENURE_KERNEL(question_f64, ElementwiseArgument) {
  question_elements<uint64_t>(argument, uint64_t{0x7ff} << 52);
}
TENURE_KERNEL(question_f32, ElementwiseArgument) {
  question_elements<uint32_t>(argument, 0x7f800000u);
}
TENURE_KERNEL(question_f16, ElementwiseArgument) {
  question_elements<uint16_t>(argument, argument.type == ElementType::kF16 ? 0x7c00 : 0x7f80);
}
