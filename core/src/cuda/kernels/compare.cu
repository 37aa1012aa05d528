// Comparisons, and questions to one operand: results are bool8.
#include "elementwise.cuh"
#include "rules/compare.cuh"

namespace tenure::cuda {

template <class T, class Value>
TENURE_DEVICE void compare_floats(const ElementwiseArgument& argument, const Value& value) {
  constexpr int kItems = kItemsOf<sizeof(T)>;
  map<2, sizeof(T), 1, kItems>(argument, [&](const auto& in, auto& out) {
    compare_values<T, uint8_t, kItems>(static_cast<Compare>(argument.op), in[0], in[1], out, value);
  });
}

template <class U>
TENURE_DEVICE void compare_integers(const ElementwiseArgument& argument) {
  constexpr int kItems = kItemsOf<sizeof(U)>;
  map<2, sizeof(U), 1, kItems>(argument, [&](auto& in, auto& out) {
    if constexpr (sizeof(U) == 1) {
      if (argument.type == ElementType::kBool8) {
        TENURE_UNROLL for (int i = 0; i < 4; ++i) {
          in[0].of[i] = as_bools(in[0].of[i]);
          in[1].of[i] = as_bools(in[1].of[i]);
        }
      }
    }
    compare_orders<U, uint8_t, kItems>(static_cast<Compare>(argument.op),
                                       argument.type < ElementType::kU8, in[0], in[1], out);
  });
}

template <class U>
TENURE_DEVICE void question_elements(const ElementwiseArgument& argument, U infinity) {
  constexpr int kItems = kItemsOf<sizeof(U)>;
  map<1, sizeof(U), 1, kItems>(argument, [&](const auto& in, auto& out) {
    each<U, uint8_t, kItems>(in[0], out, [&](U a) {
      return answer(static_cast<UnaryQuestion>(argument.op), a, infinity);
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
