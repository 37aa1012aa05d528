// Operations on one operand that are a few instructions.
#include "elementwise.cuh"
#include "floats.cuh"
#include "rules/unary.cuh"

namespace tenure::cuda {

template <class S, class U>
TENURE_DEVICE void unary_words(const ElementwiseArgument& argument) {
  const bool is_float = sizeof(U) > 1 && argument.type <= ElementType::kBF16;
  const bool is_signed = argument.type < ElementType::kU8;
  const U infinity = infinity_of<U>(argument.type);
  map<1, sizeof(U), sizeof(U), kItemsOf<sizeof(U)>>(argument, [&](const auto& in, auto& out) {
    compute_words<S, U>(static_cast<UnaryWords>(argument.op), is_float, is_signed, infinity, in[0],
                        out);
  });
}

}  // namespace tenure::cuda

using namespace tenure::cuda;  // NOLINT: a kernel stands outside of every namespace

TENURE_KERNEL(number_f64, ElementwiseArgument) {
  map_doubles<1>(argument,
                 [&](auto& x) { compute_number(static_cast<UnaryNumber>(argument.op), x[0]); });
}
TENURE_KERNEL(number_f32, ElementwiseArgument) {
  map_floats<1>(argument,
                [&](auto& x) { compute_number(static_cast<UnaryNumber>(argument.op), x[0]); });
}
TENURE_KERNEL(unary_8, ElementwiseArgument) { unary_words<int8_t, uint8_t>(argument); }
TENURE_KERNEL(unary_16, ElementwiseArgument) { unary_words<int16_t, uint16_t>(argument); }
TENURE_KERNEL(unary_32, ElementwiseArgument) { unary_words<int32_t, uint32_t>(argument); }
TENURE_KERNEL(unary_64, ElementwiseArgument) { unary_words<int64_t, uint64_t>(argument); }
