// Operations on three operands.
#include "elementwise.cuh"
#include "floats.cuh"
#include "rules/ternary.cuh"

namespace tenure::cuda {

template <class U>
TENURE_DEVICE void ternary_integer(const ElementwiseArgument& argument) {
  const bool is_signed = argument.type < ElementType::kU8;
  map<3, sizeof(U), sizeof(U), kItemsOf<sizeof(U)>>(argument, [&](auto& in, auto& out) {
    compute_integers<U>(static_cast<Ternary>(argument.op), is_signed, in, out);
  });
}

}  // namespace tenure::cuda

using namespace tenure::cuda;  // NOLINT: a kernel stands outside of every namespace

TENURE_KERNEL(ternary_f64, ElementwiseArgument) {
  map_doubles<3>(argument, [&](auto& x) {
    compute_number(static_cast<Ternary>(argument.op), x[0], x[1], x[2]);
  });
}
TENURE_KERNEL(ternary_f32, ElementwiseArgument) {
  map_floats<3>(argument, [&](auto& x) {
    compute_number(static_cast<Ternary>(argument.op), x[0], x[1], x[2]);
  });
}
TENURE_KERNEL(ternary_8, ElementwiseArgument) { ternary_integer<uint8_t>(argument); }
TENURE_KERNEL(ternary_16, ElementwiseArgument) { ternary_integer<uint16_t>(argument); }
TENURE_KERNEL(ternary_32, ElementwiseArgument) { ternary_integer<uint32_t>(argument); }
TENURE_KERNEL(ternary_64, ElementwiseArgument) { ternary_integer<uint64_t>(argument); }
