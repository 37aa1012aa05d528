// Operations on two operands that are a few instructions, and integer division and powers.
#include "elementwise.cuh"
#include "floats.cuh"
#include "rules/binary.cuh"

namespace tenure::cuda {

template <class S, class U>
TENURE_DEVICE void binary_integer(const ElementwiseArgument& argument) {
  const bool is_signed = argument.type < ElementType::kU8;
  // Every thread that finds something stores the same.
  const auto found = [&](bool is_found) {
    if (is_found && argument.finding != nullptr) *argument.finding = 1;
  };
  map<2, sizeof(U), sizeof(U), kItemsOf<sizeof(U)>>(argument, [&](auto& in, auto& out) {
    compute_integers<S, U>(static_cast<BinaryWords>(argument.op), is_signed, in[0], in[1], out,
                           found);
  });
}

}  // namespace tenure::cuda

using namespace tenure::cuda;  // NOLINT: a kernel stands outside of every namespace

TENURE_KERNEL(binary_f64, ElementwiseArgument) {
  map_doubles<2>(argument, [&](auto& x) {
    compute_number(static_cast<BinaryNumber>(argument.op), x[0], x[1]);
  });
}
TENURE_KERNEL(binary_f32, ElementwiseArgument) {
  map_floats<2>(argument, [&](auto& x) {
    compute_number(static_cast<BinaryNumber>(argument.op), x[0], x[1]);
  });
}
TENURE_KERNEL(binary_8, ElementwiseArgument) { binary_integer<int8_t, uint8_t>(argument); }
TENURE_KERNEL(binary_16, ElementwiseArgument) { binary_integer<int16_t, uint16_t>(argument); }
TENURE_KERNEL(binary_32, ElementwiseArgument) { binary_integer<int32_t, uint32_t>(argument); }
TENURE_KERNEL(binary_64, ElementwiseArgument) { binary_integer<int64_t, uint64_t>(argument); }
